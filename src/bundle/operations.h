/* Operations, what each rank did in them, and who the ranks are: sections "ops", "partidx", "parts" and "members".
 *
 * All numbers are those of `ringscope ops --json`. To be written when all processes were drawn: until then it is not
 * known which bar a part is. Owned by the caller until rs_operations_free(); one thread at a time. */
#ifndef RS_BUNDLE_OPERATIONS_H
#define RS_BUNDLE_OPERATIONS_H

#include "bundle/container.h"
#include "timeline/timeline.h"

struct rs_operations {
    struct rs_timeline *t;
    uint32_t *comm; /* by communicator of the model: its place in meta.comms; RS_NONE: laid over another */
    uint32_t *member; /* by member of the model: its row in "members"; RS_NONE: likewise */
    uint64_t parts; /* rows of "parts" */
    struct rs_pieces pieces;
    int64_t *first; /* by piece: its first part */
    uint32_t cap_first;
};

enum rs_status rs_operations_open(struct rs_operations *o, struct rs_timeline *t, const char *folder,
                                  struct rs_err *err);
/* Packs the parts. */
enum rs_status rs_operations_pack(struct rs_operations *o, struct rs_packer *table, struct rs_zip *z,
                                  struct rs_err *err);
/* The tables "ops" (its strings become texts of the timeline), "partidx" and "members". */
void rs_operations_table(struct rs_operations *o, struct rs_packer *table);
void rs_operations_index(const struct rs_operations *o, struct rs_packer *table);
void rs_operations_members(const struct rs_operations *o, struct rs_packer *table);
void rs_operations_free(struct rs_operations *o);

/* The further columns of "ops", as meta.arguments names them. */
struct rs_operations_argument {
    const char *column, *label;
    enum rs_bar_unit unit;
};
extern const struct rs_operations_argument rs_operations_arguments[];
extern const unsigned rs_operations_narguments;

#endif
