/* Whether a profile was taken with a wait for the GPU behind each block: then nothing overlaps in it, whatever the
 * program does without the profiler.
 *
 * A block is an annotation, or a kernel, and what it put on the GPU. Its host waited for it when a call that waits
 * began after the block's last launch and before the next launch of the process, and lasted until the block's work was
 * over. Nearly all: nine of ten, and at least RS_BLOCKS_LEAST. */
#ifndef RS_ANALYSE_BLOCKS_H
#define RS_ANALYSE_BLOCKS_H

#include "analyse/launches.h"
#include "analyse/tracks.h"

enum { RS_BLOCKS_LEAST = 8 };

enum rs_status rs_blocks_find(enum rs_synchronised *found, const struct rs_model *m, const struct rs_rank_track *track,
                              const struct rs_filter *filter, struct rs_err *err);

#endif
