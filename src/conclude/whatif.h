/* What a cure would save: the run replayed without the lateness of a rank, a host or a link, or of all.
 *
 * Taken out is what a rank takes longer between operations than its equals in the same place (conclude/excess.h), the
 * rest of its noise stays:
 *
 *   rank, host    what each of these ranks takes longer in every step: the location of its excess over the steps,
 *                 compared with equals outside of the host
 *   link          what operations of its two ranks take longer after the last start than those of the same kind over
 *                 other links (same function, size and shape; one host or several), in the median
 *   persistent    what all ranks take longer in every step, where it is beyond the noise of the steps
 *   sporadic      what is above the equals in single steps, without the persistent part: of one rank, or all
 *   waits         every gap becomes the mean of its equals: ranks arrive together (the bubbles of a pipeline stay)
 *
 * A case has an interval: steps are resampled, and what is taken out is replayed at the ends of its own interval; the
 * error of the replay is added. A rank or host without equals is compared with all ranks that do the same operations
 * in the same places (`equals` is false then: stages of a pipeline differ by design); if there are none, `unknown` says so.
 *
 * With windows of detail (rs_op_not_measured()) the graph has the operations in windows, and what a case saves in them is
 * extrapolated to all operations: by their number, with an interval that also contains how far windows differ from each
 * other.
 *
 * Borrows view and steps until rs_whatif_free(). One thread at a time. */
#ifndef RS_CONCLUDE_WHATIF_H
#define RS_CONCLUDE_WHATIF_H

#include "conclude/excess.h"
#include "conclude/replay.h"

enum rs_cure {
    RS_CURE_RANK,
    RS_CURE_RANKS,
    RS_CURE_HOST,
    RS_CURE_LINK,
    RS_CURE_PERSISTENT,
    RS_CURE_SPORADIC,
    RS_CURE_WAITS
};

struct rs_whatif_case {
    enum rs_cure cure;
    uint32_t rank_id, peer_id; /* of a rank; of a link, both; RS_NONE */
    uint32_t host; /* RS_NONE */
    char *take_out; /* "rank 5", "host node1", "persistent" */
    bool equals; /* compared with ranks of its role; else (mostly) with others that do the same operations */
    char *unknown; /* why its saving is unknown; NULL: it is known */
    int64_t makespan_ns, step_ns; /* of the replay; RS_TIME_NONE: unknown */
    int64_t saving_ns, saving_low_ns, saving_high_ns;
};

struct rs_whatif {
    const struct rs_view *view;
    const struct rs_steps *steps;
    struct rs_graph graph;
    struct rs_excess excess, any; /* against equals; against all ranks at the same place */
    struct rs_replay replay; /* of the case that was added last */
    uint64_t measured, all; /* operations in which something can be taken out: of the graph; with those not measured */
    double scale; /* all / measured */
    int64_t begin, end; /* of the run; with windows of detail, from the first call to the last */
    int64_t makespan_ns, step_ns; /* as recorded; step: median distance of the ends of steps, RS_TIME_NONE: unknown */
    int64_t *step_ends; /* by step, as recorded; NULL: no steps */
    int64_t steps_ns; /* the length of all steps that count; without steps, of the run */
    double error_pct; /* of the makespan: the replay of the unchanged run against the recorded one */
    const char *refused; /* why the run cannot be replayed; NULL: it can */
    struct rs_whatif_case *cases;
    uint32_t ncases, cap_cases;
};

/* Steps of the warm-up, and those that are not counted, stay as they are. */
void rs_whatif_init(struct rs_whatif *w, const struct rs_view *view, const struct rs_steps *steps,
                    const struct rs_roles *roles);
void rs_whatif_free(struct rs_whatif *w);

/* Adds a case: `who` is a rank's row (of RS_CURE_SPORADIC: or RS_NONE), or a host. Valid until the next one is added. */
const struct rs_whatif_case *rs_whatif_add(struct rs_whatif *w, enum rs_cure cure, uint32_t who);
/* Those of at most `most` ranks that are late in every step beyond its noise, the latest first, if that saves anything. */
void rs_whatif_add_late(struct rs_whatif *w, uint32_t most);
/* A link between two ranks. */
const struct rs_whatif_case *rs_whatif_add_link(struct rs_whatif *w, uint32_t a, uint32_t b);
/* The same for several ranks together. */
const struct rs_whatif_case *rs_whatif_add_ranks(struct rs_whatif *w, const uint32_t *ranks, uint32_t n);

#endif
