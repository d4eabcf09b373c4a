/* What kernels and proxy operations say of the operation they belong to, folded together while a process is read.
 *
 * One row a part of the process at hand; rs_folds_finish() writes start, end and their sources into the model, by these
 * rules: start = earliest KernelCh, else the first ProxyOp in progress. End = when every KernelCh that started has
 * stopped and as many as announced were seen, else the last ProxyOp stop, unless a kernel is seen to run on, else not known. A stale timer is not used:
 * a start then comes from the other channels, which begin with it, and the end is not known from kernels. */
#ifndef RS_IMPORT_FOLD_H
#define RS_IMPORT_FOLD_H

#include "model/model.h"

struct rs_fold {
    int64_t kernel_start, kernel_end; /* GPU ns, or host ns of the callbacks where there are no timers */
    int64_t proxy_start, proxy_end; /* host ns */
    uint16_t kernels, kernels_ended; /* channels */
    uint16_t stale; /* of them with timers that are not theirs */
    uint16_t proxies, proxies_ended;
    bool timers; /* kernel times are the GPU's */
};

struct rs_folds {
    struct rs_fold *rows;
    uint32_t first; /* part of row 0 */
    uint32_t n, cap;
};

/* For the next part of the process. Parts come without gaps from `first` on. */
void rs_folds_add(struct rs_folds *f);
static inline struct rs_fold *rs_fold_of(struct rs_folds *f, uint32_t part)
{
    return &f->rows[part - f->first];
}
/* RS_TIME_NONE: started, or ended, without a time. */
void rs_fold_kernel_start(struct rs_fold *f, int64_t ns, bool timer);
void rs_fold_kernel_end(struct rs_fold *f, int64_t ns);
/* Its timers are another operation's. */
void rs_fold_kernel_stale(struct rs_fold *f);
void rs_fold_proxy_start(struct rs_fold *f, int64_t ns);
void rs_fold_proxy_end(struct rs_fold *f, int64_t ns);

/* `lossy`: callbacks of the process were lost, so that what did not stop may have. */
void rs_folds_finish(struct rs_folds *f, struct rs_model *m, bool lossy);
void rs_folds_free(struct rs_folds *f);

#endif
