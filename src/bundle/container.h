/* The bundle as a file: header, directory, sections; and what they are collected in until their position is known.
 *
 * A spool is an unnamed file in the caller's folder for temporary files. Pieces are consecutive zstd frames in a spool,
 * with their index. The caller owns each struct until its free function, which accepts a zeroed one. One thread at a
 * time. */
#ifndef RS_BUNDLE_CONTAINER_H
#define RS_BUNDLE_CONTAINER_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "bundle/table.h"

/* ---- temporary files ---- */

struct rs_spool {
    FILE *file;
    const char *folder; /* the caller's; for messages */
    uint64_t bytes; /* written */
};

/* A file descriptor of an unnamed file in `folder`; -1: see err. */
int rs_spool_descriptor(const char *folder, struct rs_err *err);
enum rs_status rs_spool_open(struct rs_spool *s, const char *folder, struct rs_err *err);
enum rs_status rs_spool_write(struct rs_spool *s, const void *bytes, size_t n, struct rs_err *err);
/* From writing to reading, at its begin. */
enum rs_status rs_spool_rewind(struct rs_spool *s, struct rs_err *err);
enum rs_status rs_spool_read(struct rs_spool *s, void *to, size_t n, struct rs_err *err); /* exactly n bytes */
void rs_spool_close(struct rs_spool *s);

/* ---- zstd ---- */

/* One compressor for everything: it is large, and creating it takes time. */
struct rs_zip {
    void *context;
    uint8_t *out;
    size_t cap;
};

enum rs_status rs_zip_init(struct rs_zip *z, struct rs_err *err); /* fails if ringscope was built without zstd */
void rs_zip_free(struct rs_zip *z);

/* ---- pieces ---- */

struct rs_pieces {
    struct rs_spool spool;
    int64_t *offset; /* of each: position, stored and unpacked bytes */
    uint32_t *stored, *size;
    uint32_t n, cap, cap_stored, cap_size;
};

enum rs_status rs_pieces_open(struct rs_pieces *p, const char *folder, struct rs_err *err);
/* Packs the current `table`. */
enum rs_status rs_pieces_add(struct rs_pieces *p, struct rs_zip *z, struct rs_packer *table, struct rs_err *err);
/* The columns offset, stored, size of a table of p->n rows that was begun. */
void rs_pieces_columns(const struct rs_pieces *p, struct rs_packer *table);
void rs_pieces_free(struct rs_pieces *p);

/* ---- the whole ---- */

enum { RS_CONTAINER_HEAD = 64, RS_CONTAINER_ENTRY = 40, RS_CONTAINER_SECTIONS = 16 };

struct rs_container {
    int fd;
    const char *name; /* the caller's; for messages */
    uint64_t at; /* where the next section begins */
    unsigned n;
    uint8_t directory[RS_CONTAINER_SECTIONS * RS_CONTAINER_ENTRY];
};

enum rs_status rs_container_begin(struct rs_container *c, int fd, const char *name, struct rs_err *err);
enum rs_status rs_container_bytes(struct rs_container *c, struct rs_zip *z, const char *section, const void *bytes,
                                  size_t n, struct rs_err *err);
enum rs_status rs_container_table(struct rs_container *c, struct rs_zip *z, const char *section,
                                  struct rs_packer *table, struct rs_err *err);
enum rs_status rs_container_pieces(struct rs_container *c, const char *section, struct rs_pieces *pieces,
                                   struct rs_err *err);
/* Writes header and directory at the front. */
enum rs_status rs_container_end(struct rs_container *c, double span, uint32_t buckets, struct rs_err *err);

#endif
