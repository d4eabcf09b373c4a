/* What each rank's GPU and its host's threads did, as lists by time: what analyses of activities look at.
 *
 * A track is a rank of the job, as the tool that saw its GPU's work knows it; or a GPU that worked and is no rank's.
 * Tracks are by rank; those whose rank is not known come last. Work is what ran on the GPU's streams, host
 * activities are those of all threads of the process (several GPUs of one process share them); both by start. Without
 * work there are only the parts of NCCL's operations. Borrows the view; owns its tables until rs_rank_tracks_free().
 * One thread at a time. */
#ifndef RS_ANALYSE_TRACKS_H
#define RS_ANALYSE_TRACKS_H

#include "analyse/view.h"

struct rs_rank_track {
    uint32_t proc;
    uint32_t rank_id; /* row of model.ranks; RS_NONE: it is no rank */
    uint32_t member; /* one of its members; RS_NONE: it is in no communicator */
    int32_t rank; /* of the job; -1: not known */
    int32_t device; /* -1: not known */
    bool has_work; /* its tool sees what runs on the GPU besides NCCL */
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
    /* behind the lists: */
    uint32_t *work, *host, *parts;
};

/* Those that the filter lets through by rank. */
void rs_rank_tracks_init(struct rs_rank_tracks *t, const struct rs_view *view, const struct rs_filter *filter);
void rs_rank_tracks_free(struct rs_rank_tracks *t);

#endif
