/* The arguments of an operation's start, in any version of NCCL's interface.
 *
 * The versions have the same facts in different fields; this finds each by name, once per kind, and returns all
 * operations in one form. One struct per process (it has its own string ids); one thread at a time. */
#ifndef RS_IMPORT_SHAPES_H
#define RS_IMPORT_SHAPES_H

#include "model/model.h"
#include "trace/callbacks.h"

enum rs_shape_field {
    RS_SH_SEQ,
    RS_SH_FUNC,
    RS_SH_COUNT,
    RS_SH_ROOT,
    RS_SH_PEER,
    RS_SH_DTYPE,
    RS_SH_ALGO,
    RS_SH_PROTO,
    RS_SH_CHANNELS,
    RS_SH_GROUP,
    RS_SH_HASH,
    RS_SH_CAPTURED,
    RS_SH_SYMMETRIC,
    RS_SH_NAME,
    RS_SH_FIELDS
};

struct rs_shapes {
    const struct rs_process *process;
    struct rs_model *model;
    const struct rs_field *fields[RS_K_START_END - RS_K_START][RS_SH_FIELDS]; /* NULL: this kind has none */
    uint16_t *strings; /* the process's string id -> the model's, + 1; 0: not looked up yet */
    size_t nstrings;
};

/* One operation. What a version does not report is "unknown": the value given here (0 for texts). */
struct rs_shape {
    uint64_t seq; /* UINT64_MAX */
    uint64_t count;
    uint64_t hash; /* communicator; 0 */
    uint64_t group; /* Group event; 0 */
    int32_t root, peer; /* -1 */
    unsigned channels; /* 0 */
    uint16_t func, dtype, algo, proto;
    bool captured, symmetric;
};

void rs_shapes_init(struct rs_shapes *s, struct rs_model *model, const struct rs_process *process);
void rs_shapes_free(struct rs_shapes *s);

void rs_shape_of(struct rs_shapes *s, const struct rs_callback *start, struct rs_shape *out);
/* The communicator's name, which v1 to v3 pass with each operation; NULL: none. */
const char *rs_shape_comm_name(const struct rs_shapes *s, const struct rs_callback *start);

#endif
