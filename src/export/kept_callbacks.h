/* Which events of a process a cut keeps: a set of handles.
 *
 * Operations that pass are kept completely, with all their ranks, children and ancestors (calls, groups, plans,
 * launches), so that each has its parents and times as in the original. Events that belong to no operation are kept if
 * they pass the filters themselves. Handles of one thread are consecutive, so a set of them is a bitmap, in pages. Owned
 * by the caller until rs_keep_free(); one thread at a time. */
#ifndef RS_EXPORT_KEPT_CALLBACKS_H
#define RS_EXPORT_KEPT_CALLBACKS_H

#include "timeline/timeline.h"

struct rs_keep_set {
    struct rs_map pages; /* handle / handles of a page -> page */
    uint64_t *bits;
    uint32_t npages, cap;
    uint64_t last_key; /* found last, and its page */
    uint32_t last_page;
};

struct rs_keep {
    bool all; /* no filter: everything is kept */
    struct rs_keep_set set;
    uint64_t *stale; /* KernelCh events among them whose timers are of other operations */
    uint32_t nstale, cap_stale;
};

/* Which operations are kept, by operation of the model: those that pass, and with a send or receive of a fan-out the
 * whole fan-out. The caller frees it. */
void rs_keep_ops(uint8_t **ops, const struct rs_timeline *t);
/* What is kept of process `proc`. `ops`: by operation of the model, whether it is. */
enum rs_status rs_keep_find(struct rs_keep *k, struct rs_timeline *t, uint32_t proc, const uint8_t *ops,
                            struct rs_err *err);
bool rs_keep_has(struct rs_keep *k, uint64_t handle);
void rs_keep_free(struct rs_keep *k);

#endif
