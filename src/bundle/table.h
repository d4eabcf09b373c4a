/* A table of named columns as bytes: the unit in which everything large is stored in a bundle (viewer/FORMAT.md).
 *
 * rs_packer_begin(), then a column at a time from the caller's arrays, then rs_packer_bytes(). Integers take the
 * narrowest type that fits. The packer is reused for the next table, keeps its memory and owns the bytes, which are
 * valid until the next rs_packer_begin(). One thread at a time. */
#ifndef RS_BUNDLE_TABLE_H
#define RS_BUNDLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum rs_column_type {
    RS_COLUMN_U8,
    RS_COLUMN_U16,
    RS_COLUMN_U32,
    RS_COLUMN_I32,
    RS_COLUMN_F64,
    RS_COLUMN_U64,
    RS_COLUMN_F32,
};

enum rs_column_coding {
    RS_COLUMN_PLAIN,
    RS_COLUMN_PLANES, /* all first bytes, then all second bytes... */
    RS_COLUMN_DELTA, /* differences, then planes; integers only */
};

enum { RS_TABLE_HEAD = 8, RS_TABLE_ENTRY = 24, RS_TABLE_NAME = 12, RS_TABLE_COLUMNS = 32 };

struct rs_packer {
    uint8_t *bytes; /* room for the longest head, then the columns */
    size_t n, cap; /* of bytes */
    uint64_t *values; /* one column, as it will be stored, before its bytes are distributed */
    size_t cap_values;
    uint32_t rows;
    unsigned ncolumns;
    uint8_t head[RS_TABLE_HEAD + RS_TABLE_COLUMNS * RS_TABLE_ENTRY];
};

void rs_packer_begin(struct rs_packer *p, uint32_t rows);
void rs_packer_u8(struct rs_packer *p, const char *name, const uint8_t *values);
void rs_packer_u32(struct rs_packer *p, const char *name, const uint32_t *values, enum rs_column_coding coding);
/* 1 + each, and 0 for UINT32_MAX: how a bar refers to an operation or its parent. Omitted if none has one. */
void rs_packer_next(struct rs_packer *p, const char *name, const uint32_t *values);
void rs_packer_u64(struct rs_packer *p, const char *name, const uint64_t *values); /* unchanged: identities */
/* Each minus `base`: u8 to u32, i32, else f64. */
void rs_packer_i64(struct rs_packer *p, const char *name, const int64_t *values, int64_t base,
                   enum rs_column_coding coding);
/* INT64_MIN is "none": NONE in a u32, else NaN. `hex`: bits of an unsigned number. */
void rs_packer_sparse(struct rs_packer *p, const char *name, const int64_t *values, const bool *hex);
void rs_packer_f64(struct rs_packer *p, const char *name, const double *values);
void rs_packer_f32(struct rs_packer *p, const char *name, const double *values);

/* The whole table. */
enum rs_status rs_packer_bytes(struct rs_packer *p, const uint8_t **bytes, size_t *n, struct rs_err *err);
void rs_packer_free(struct rs_packer *p);

#endif
