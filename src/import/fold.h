/* Folds kernels and proxy operations into their operation while a process is read.
 *
 * One row per part of the current process; rs_folds_finish() writes start, end and their sources into the model, by
 * these rules: start = earliest KernelCh, else the first ProxyOp in progress. End = the last KernelCh, if every one
 * that started has stopped and as many as announced were seen, else the last ProxyOp stop, unless a kernel is seen to
 * run on, else unknown. A stale timer is not used: the start then comes from the other channels, which begin at the
 * same time, and kernels do not give the end.
 *
 * Timers can be stale by a few launches and still look right when the program is far ahead of its GPU: they are after
 * their launch, and in order. The network tells: kernels of a communicator run one after the other, and one that
 * receives cannot end before its proxy thread begins to receive. So a send or receive whose kernel starts before an
 * earlier launch had begun to receive has the timers of older work. */
#ifndef RS_IMPORT_FOLD_H
#define RS_IMPORT_FOLD_H

#include "model/model.h"

struct rs_fold {
    int64_t kernel_start, kernel_end; /* GPU ns, or host ns of the callbacks if there are no timers */
    int64_t proxy_start, proxy_end; /* host ns */
    uint16_t kernels, kernels_ended; /* channels */
    uint16_t stale; /* channels with timers of other operations */
    uint16_t proxies, proxies_ended;
    bool timers; /* kernel times are the GPU's */
};

/* A timer of a send or receive. */
struct rs_fold_timer {
    uint32_t part;
    uint64_t timer; /* its number in the recording */
};

struct rs_folds {
    struct rs_fold *rows;
    uint32_t first; /* part of row 0 */
    uint32_t n, cap;
    struct rs_fold_timer *timers; /* in use, of sends and receives */
    uint32_t ntimers, cap_timers;
};

/* Adds a row for the next part of the process. Parts come without gaps from `first` on. */
void rs_folds_add(struct rs_folds *f);
static inline struct rs_fold *rs_fold_of(struct rs_folds *f, uint32_t part)
{
    return &f->rows[part - f->first];
}
/* RS_TIME_NONE: started, or ended, without a time. */
void rs_fold_kernel_start(struct rs_fold *f, int64_t ns, bool timer);
void rs_fold_kernel_end(struct rs_fold *f, int64_t ns);
/* A timer of a send or receive that may turn out to be stale. */
void rs_folds_timer(struct rs_folds *f, uint32_t part, uint64_t timer);
/* Its timers are of another operation. */
void rs_fold_kernel_stale(struct rs_fold *f);
void rs_fold_proxy_start(struct rs_fold *f, int64_t ns);
void rs_fold_proxy_end(struct rs_fold *f, int64_t ns);

/* Drops the kernel times of sends and receives that the network contradicts, and marks their timers as stale. Of process
 * `proc`; before rs_folds_finish(). */
void rs_folds_drop_stale(struct rs_folds *f, struct rs_model *m, uint32_t proc);
/* `lossy`: callbacks of the process were lost, so stops may be among them. */
void rs_folds_finish(struct rs_folds *f, struct rs_model *m, bool lossy);
void rs_folds_free(struct rs_folds *f);

#endif
