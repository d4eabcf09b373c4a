/* Whether a profile was taken with a wait for the GPU behind each block: then nothing overlaps in it, whatever the
 * program does without the profiler.
 *
 * A block is an annotation, or a kernel, and what it put on the GPU. Its host waited for it when a call that waits
 * began after the block's last launch and before the next launch of the process, and lasted until the block's work was
 * over. Nearly all: nine of ten, and at least RS_SYNC_LEAST. */
#ifndef RS_ANALYSE_SYNCHRONISED_H
#define RS_ANALYSE_SYNCHRONISED_H

#include "analyse/tracks.h"

enum { RS_SYNC_LEAST = 8 };

enum rs_synchronised {
    RS_SYNC_UNKNOWN, /* no host calls were recorded, or too little to tell */
    RS_SYNC_FREE,
    RS_SYNC_RANGES, /* the host waited for the GPU after nearly every annotation... */
    RS_SYNC_KERNELS, /* ...after nearly every kernel */
};

enum rs_status rs_synchronised_find(enum rs_synchronised *found, const struct rs_model *m,
                                    const struct rs_rank_track *track, const struct rs_filter *filter,
                                    struct rs_err *err);

#endif
