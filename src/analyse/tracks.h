/* What each rank's GPU and its host's threads did, as lists by time: the input of analyses of activities.
 *
 * A track is a rank of the job, in the tool that recorded its GPU's work; or a GPU that was active and belongs to no
 * rank. Tracks are by rank, unknown ranks last. Work is what ran on the GPU's streams, host activities are those of all
 * threads of the process (shared by several GPUs of one process); both by start. Without work there are only the parts
 * of NCCL's operations. Borrows the view; owns its tables until rs_rank_tracks_free(). One thread at a time. */
#ifndef RS_ANALYSE_TRACKS_H
#define RS_ANALYSE_TRACKS_H

#include "analyse/view.h"

struct rs_rank_track {
    uint32_t proc;
    uint32_t rank_id; /* row of model.ranks; RS_NONE: not a rank */
    uint32_t member; /* one of its members; RS_NONE: in no communicator */
    int32_t rank; /* of the job; -1: unknown */
    int32_t device; /* -1: unknown */
    bool has_work; /* its tool records GPU work besides NCCL's */
    const uint32_t *work; /* activities, by start */
    uint32_t nwork;
    const uint32_t *host; /* activities of the threads of its process, by start */
    uint32_t nhost;
    const uint32_t *parts; /* of NCCL's operations on it */
    uint32_t nparts;
};

struct rs_rank_tracks {
    const struct rs_view *view;
    struct rs_rank_track *rows;
    uint32_t n, cap;
    /* memory of the lists: */
    uint32_t *work, *host, *parts;
};

/* The tracks whose rank passes the filter. `hosts`: also processes with annotations on the host and no GPU. */
void rs_rank_tracks_init(struct rs_rank_tracks *t, const struct rs_view *view, const struct rs_filter *filter,
                         bool hosts);
void rs_rank_tracks_free(struct rs_rank_tracks *t);

#endif
