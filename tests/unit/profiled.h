/* Models with activities made by hand, on top of joined.h: streams and threads, kernels, annotations and host calls. */
#ifndef RS_TESTS_PROFILED_H
#define RS_TESTS_PROFILED_H

#include "joined.h"

#include "analyse/profile.h"

static uint32_t streams[MOST_RANKS], threads[MOST_RANKS];

/* A stream on the GPU and a thread in the process of each rank. */
static inline void make_lanes(int ranks)
{
    for (int r = 0; r < ranks; r++) {
        struct rs_lane stream = {.proc = procs[r], .domain = gpus[r], .kind = RS_LANE_STREAM, .device = -1, .id = 7};
        struct rs_lane thread = {.proc = procs[r], .kind = RS_LANE_THREAD, .device = -1, .id = 1};
        rs_model_lane(&model, &stream, &streams[r]);
        fine(RS_OK);
        rs_model_lane(&model, &thread, &threads[r]);
        fine(RS_OK);
    }
}

/* A kernel with the call that launched it. */
static inline uint32_t launched(int rank, const char *name, int64_t call, int64_t start, int64_t end)
{
    uint32_t launch = act(threads[rank], RS_ACT_LAUNCH, "cudaLaunchKernel", call, call + 2 * US);
    uint32_t x = act(streams[rank], RS_ACT_COMPUTE, name, start, end);
    model.activities.launch[x] = launch;
    return x;
}

/* NCCL's kernels of an operation that is there: one for each of its parts, on the stream of its rank. */
static inline void comm_kernels(uint32_t op)
{
    for (uint32_t i = 0; i < model.ops.nparts[op]; i++) {
        uint32_t part = model.order[model.ops.part[op] + i];
        int32_t rank = model.members[model.parts.member[part]].global_rank;
        uint32_t x = act(streams[rank], RS_ACT_COMM, "ncclDevKernel_X", model.parts.start[part], model.parts.end[part]);
        model.activities.part[x] = part;
    }
}

static inline void profile(struct rs_profile *p, const struct rs_profile_options *o)
{
    struct rs_profile_options options = o ? *o : (struct rs_profile_options){0};
    if (!options.filter) options.filter = &everything;
    rs_waits_find(&model);
    fine(RS_OK);
    fine(rs_profile_init(p, &model, &options, NULL));
}

#endif
