/* The offset of a GPU's timer from its host's clock: d = host - GPU is between lower and upper bounds.
 *
 * A kernel starts after its launch began: launch - start <= d. The proxy thread reads a timer after the GPU wrote it: d
 * <= callback - timer. Of millions of bounds, the tightest of each window of GPU time are kept, at most RS_BOUNDS_MAX
 * windows: when there would be more, windows become twice as long. Every bound kept holds at its time. A few samples of
 * callback - timer show how late timers are read. Zeroed = empty; plain data. */
#ifndef RS_MODEL_BOUNDS_H
#define RS_MODEL_BOUNDS_H

#include <stddef.h>
#include <stdint.h>

enum { RS_BOUNDS_MAX = 256, RS_BOUNDS_SAMPLES = 512 };

struct rs_bound {
    int64_t at; /* GPU ns */
    int64_t d; /* ns; RS_TIME_NONE: none in this window */
};

struct rs_bounds {
    int64_t base, width; /* GPU ns of window 0; ns per window */
    uint32_t n; /* windows in use */
    struct rs_bound lower[RS_BOUNDS_MAX], upper[RS_BOUNDS_MAX];
    uint32_t nsamples, stride, skip; /* every stride-th is kept */
    struct rs_bound samples[RS_BOUNDS_SAMPLES]; /* callback - timer */
};

void rs_bounds_add_lower(struct rs_bounds *b, int64_t gpu_ns, int64_t host_ns);
void rs_bounds_add_upper(struct rs_bounds *b, int64_t gpu_ns, int64_t host_ns);

/* An estimate of d at a time, from the windows so far: the upper bound of its window or of the previous one.
 * RS_TIME_NONE: unknown. */
int64_t rs_bounds_near(const struct rs_bounds *b, int64_t gpu_ns);

#endif
