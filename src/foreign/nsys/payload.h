/* What NCCL put beside its NVTX ranges: the communicator, the size, the root, the peer.
 *
 * A payload is bytes laid out as its schema says (header of 32 bytes, then fields; as a blob or in hex), or JSON with
 * the same names. Fields are found by their names, whose order and types differ between versions. The schemas own their
 * list until rs_nsys_schemas_free(); one thread at a time. */
#ifndef RS_FOREIGN_NSYS_PAYLOAD_H
#define RS_FOREIGN_NSYS_PAYLOAD_H

#include "foreign/nsys/db.h"

enum rs_nsys_field {
    RS_NF_COMM,
    RS_NF_BYTES,
    RS_NF_ROOT,
    RS_NF_PEER,
    RS_NF_RANK,
    RS_NF_NRANKS,
    RS_NF_DEVICE,
    RS_NF_PARENT,
    RS_NF_COLOR,
    RS_NF_KEY,
    RS_NSYS_FIELDS
};

struct rs_nsys_payload {
    uint32_t has; /* bit f: the field is there */
    uint64_t value[RS_NSYS_FIELDS]; /* negative ones as two's complement */
};

struct rs_nsys_entry {
    uint64_t schema; /* domain << 32 | schema */
    uint32_t idx, offset;
    uint8_t type, field;
};

struct rs_nsys_schemas {
    struct rs_nsys_entry *rows; /* by schema, then idx; only fields that are known */
    uint32_t n, cap;
};

enum rs_status rs_nsys_schemas_read(struct rs_nsys_schemas *s, struct rs_nsys_db *db, struct rs_err *err);
void rs_nsys_schemas_free(struct rs_nsys_schemas *s);

/* From bytes (blob, or hex), and from JSON. What cannot be understood leaves `p` empty. */
void rs_nsys_payload_bytes(const struct rs_nsys_schemas *s, const char *text, size_t n, bool blob,
                           struct rs_nsys_payload *p);
void rs_nsys_payload_json(const char *text, size_t n, struct rs_nsys_payload *p);

static inline bool rs_nsys_told(const struct rs_nsys_payload *p, enum rs_nsys_field f)
{
    return p->has >> f & 1;
}
/* The field as a rank or device; -1: not told, or it is none. */
static inline int32_t rs_nsys_number(const struct rs_nsys_payload *p, enum rs_nsys_field f)
{
    return rs_nsys_told(p, f) && p->value[f] <= INT32_MAX ? (int32_t)p->value[f] : -1;
}

#endif
