/* Operations, each rank in them, and the ranks: sections "ops", "partidx", "parts" and "members".
 *
 * All values are those of `ringscope ops --json`. Written when all processes are drawn, because only then the bar of
 * each part is known. Owned by the caller until rs_operations_free(); one thread at a time. */
#ifndef RS_BUNDLE_OPERATIONS_H
#define RS_BUNDLE_OPERATIONS_H

#include "bundle/container.h"
#include "bundle/runs.h"

struct rs_operations {
    struct rs_runs *runs;
    uint64_t parts; /* rows of "parts" */
    struct rs_pieces pieces;
    int64_t *first; /* by piece: its first part */
    uint32_t cap_first;
};

enum rs_status rs_operations_open(struct rs_operations *o, struct rs_runs *runs, const char *folder,
                                  struct rs_err *err);
/* Packs the parts. */
enum rs_status rs_operations_pack(struct rs_operations *o, struct rs_packer *table, struct rs_zip *z,
                                  struct rs_err *err);
/* The tables "ops" (its strings become texts of the timeline), "partidx" and "members". */
void rs_operations_table(struct rs_operations *o, struct rs_packer *table);
void rs_operations_index(const struct rs_operations *o, struct rs_packer *table);
void rs_operations_members(const struct rs_operations *o, struct rs_packer *table);
void rs_operations_free(struct rs_operations *o);

/* The further columns of "ops", as in meta.arguments. */
struct rs_operations_argument {
    const char *column, *label;
    enum rs_bar_unit unit;
};
extern const struct rs_operations_argument rs_operations_arguments[];
extern const unsigned rs_operations_narguments;

#endif
