/* Signs of a host-bound program: many short kernels, a GPU that runs out of work because the next launch is late, and
 * calls that make the host wait.
 *
 * A gap is a time in which nothing runs on the GPU. It is attributed to the host if the call that launched the work
 * which ends it was not over when the gap began: up to RS_LAUNCH_GAP_NS the host could not launch faster, beyond that
 * it did something else. Other gaps (work was launched and did not start) are dependencies between streams, or the
 * GPU's own. Gaps shorter than RS_GAP_NS occur between any two kernels and are not counted. Owns its table until
 * rs_launches_free(). */
#ifndef RS_ANALYSE_LAUNCHES_H
#define RS_ANALYSE_LAUNCHES_H

#include "analyse/markers.h"
#include "analyse/tracks.h"

/* ---- profiles with a synchronisation after each block ----
 * Whether the host waited for the GPU after each block while profiling: then nothing overlaps, whatever the program
 * does without the profiler.
 *
 * A block is an annotation or a kernel, with the work it launched. The host waited for it if a synchronising call began
 * after the block's last launch and before the next launch of the process, and lasted until the block's work was over.
 * "Nearly every": nine of ten, and at least SYNC_LEAST. */

enum rs_synchronised {
    RS_SYNC_UNKNOWN, /* no host calls were recorded, or too few */
    RS_SYNC_FREE,
    RS_SYNC_RANGES, /* the host waited for the GPU after nearly every annotation... */
    RS_SYNC_KERNELS, /* ...after nearly every kernel */
};

/* ---- launches ---- */

enum { RS_GAP_NS = 2000, RS_LAUNCH_GAP_NS = 100000 };

/* A host call that waits for the GPU, or allocates or frees its memory. */
struct rs_host_call {
    uint32_t name; /* see rs_model_name() */
    uint8_t kind; /* RS_ACT_SYNC or RS_ACT_MEMORY */
    uint64_t calls;
    int64_t total_ns, longest_ns;
};

struct rs_launches {
    uint64_t kernels, launched; /* kernels that ran; those with a known launch */
    double kernels_a_step; /* of steps that the trace covers; NAN: none */
    int64_t median_kernel_ns; /* of kernels other than NCCL's; RS_TIME_NONE: none */
    uint64_t launch_gaps, host_gaps, other_gaps;
    int64_t launch_gap_ns, host_gap_ns, other_gap_ns;
    int64_t longest_host_gap_ns;
    struct rs_host_call *calls; /* by cost */
    uint32_t ncalls, cap_calls;
    int64_t calls_ns; /* all of them */
    enum rs_synchronised synchronised;
};

/* Of one track with work, inside the filter's span of time. */
void rs_launches_find(struct rs_launches *l, const struct rs_rank_tracks *t, const struct rs_rank_track *track,
                      const struct rs_markers *steps, const struct rs_filter *filter);
void rs_launches_free(struct rs_launches *l);

/* Why the GPU was idle from `from` until a piece of work began. */
enum rs_gap_kind {
    RS_GAP_NONE, /* shorter than RS_GAP_NS */
    RS_GAP_LAUNCH, /* the launch was late, up to RS_LAUNCH_GAP_NS */
    RS_GAP_HOST, /* the launch was late, longer */
    RS_GAP_OTHER,
};
enum rs_gap_kind rs_gap_before(const struct rs_activities *a, uint32_t work, int64_t from);

/* When the host launched an activity; its own start if unknown. */
int64_t rs_launch_time(const struct rs_model *m, uint32_t activity);

#endif
