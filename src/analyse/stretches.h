/* The stretches of time in which a GPU waits for its host, the longest first.
 *
 * launch-bound  consecutive kernels, at least RS_STRETCH_KERNELS, each launched into a GPU that is idle or runs one of
 *               them only: between them are launch gaps (analyse/launches.h), which make up a third of the stretch or
 *               more
 * host-bound    one host gap: nothing was launched for more than RS_LAUNCH_GAP_NS
 * With what the host did meanwhile: of its calls and annotations, the innermost that covers half of the stretch. Owned
 * until rs_stretches_free(). One thread at a time. */
#ifndef RS_ANALYSE_STRETCHES_H
#define RS_ANALYSE_STRETCHES_H

#include "analyse/tracks.h"

enum { RS_STRETCH_KERNELS = 8, RS_STRETCHES = 16 };

struct rs_stretch {
    bool launch_bound; /* else host-bound */
    int64_t from, to; /* on the axis of the GPU */
    int64_t idle_ns;
    uint64_t kernels; /* launch-bound: kernels, copies and sets in it */
    uint32_t name; /* what the host did, see rs_model_name(); 0: unknown */
};

struct rs_stretches {
    struct rs_stretch *rows; /* by idle_ns; at most RS_STRETCHES */
    uint32_t n;
    uint64_t all; /* how many there are */
};

/* Of one track with work, inside the filter's span of time. */
void rs_stretches_find(struct rs_stretches *s, const struct rs_rank_tracks *t, const struct rs_rank_track *track,
                       const struct rs_filter *filter);
void rs_stretches_free(struct rs_stretches *s);

#endif
