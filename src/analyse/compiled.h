/* What a trace shows of torch.compile: compiled regions, graph breaks, and compilations during the profile.
 *
 * A compiled region is one call of code that Dynamo made ("Torch-Compiled Region: 0/1": frame 0, compiled for the second
 * time). At a graph break the rest of the function runs as a region of its own, called from the first: so a region inside
 * another one on the same thread is a break. Compiled modules that are called one after the other are not. Compilations
 * ("_compile.compile_inner") of a frame that had been compiled before are recompilations: the number after the slash of
 * the region that follows on the thread is above 0. Owns nothing; any thread. */
#ifndef RS_ANALYSE_COMPILED_H
#define RS_ANALYSE_COMPILED_H

#include "analyse/tracks.h"

struct rs_compiled {
    uint64_t regions; /* that are not inside another one */
    uint64_t breaks; /* regions inside these */
    uint64_t compilations, recompilations; /* recompilations are among the compilations */
    int64_t compile_ns, longest_ns; /* on the host */
    uint32_t longest_name; /* the region that the longest compilation made, see rs_model_name(); 0: unknown */
};

/* Of one track, by starts inside the filter's span of time. */
void rs_compiled_find(struct rs_compiled *c, const struct rs_rank_tracks *t, const struct rs_rank_track *track,
                      const struct rs_filter *filter);

#endif
