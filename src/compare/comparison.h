/* How two sides of runs differ: every figure with its interval and verdict, settings, findings, and why steps take longer.
 *
 * Runs of the same job differ from launch to launch by more than their steps differ from each other, so the run is the
 * unit: a side is its runs' figures, and the noise is how much the runs of a side differ. With RS_COMPARISON_RUNS or more
 * runs on both sides that is measured: the standard deviation of both sides together, and Student's t with as many degrees
 * of freedom as there are. It is at least the error inside a run. With fewer it is not known, and taken to be at least
 * RS_COMPARISON_NOISE, of an AMOUNT as a share of the time that it is a part of.
 *
 * The first row (the step time; without steps, the mean time of operations) is what a gate is about: it has an interval of
 * its own level. All other rows are one family: their intervals hold together, so that with RS_COMPARISON_LEVEL none of
 * them is wrong. A verdict is an interval without zero. Rows of less than RS_COMPARISON_SHARE of the time are not judged.
 *
 * A report compares a rank with its equals, a link with links of its kind, in the same run: noise between launches is in
 * both, and does not hide them. So a rank, host or link that is late in every run of one side and in none of the other is
 * a difference, too, whatever the interval of the step time: by what the replay without it saves, or by what the step time
 * differs if that is more (a link of which the replay knows nothing, several that are slow together).
 *
 * Functions of figures alone; deterministic. Borrows the runs; owns the rest until rs_comparison_free(). One thread at a
 * time. */
#ifndef RS_COMPARE_COMPARISON_H
#define RS_COMPARE_COMPARISON_H

#include "compare/figures.h"

enum { RS_COMPARISON_RUNS = 3 }; /* on each side, to know the noise between launches */
#define RS_COMPARISON_LEVEL 0.05 /* of a wrong verdict in any row but the first */
#define RS_COMPARISON_FIRST_LEVEL 0.02 /* of one in the first row, both directions together: half of it is slower */
#define RS_COMPARISON_NOISE 0.08 /* standard deviation of a run, where it cannot be measured */
#define RS_COMPARISON_SHARE 0.01

struct rs_side {
    const struct rs_run_figures *runs;
    uint32_t n;
};

enum rs_compared_verdict {
    RS_NOT_JUDGED, /* only on one side, of a small share, or too few samples */
    RS_NO_DIFFERENCE,
    RS_FASTER,
    RS_SLOWER,
    RS_BETTER, /* of shares and scores */
    RS_WORSE,
    RS_VERDICTS
};
const char *rs_compared_verdict_name(enum rs_compared_verdict v); /* "no difference" */

struct rs_compared {
    enum rs_measure measure;
    const char *of;
    int32_t rank;
    uint32_t in_a, in_b; /* runs that have it */
    double a, b; /* the mean over the runs (of a RATIO, the geometric one); NAN: in none */
    double change, low, high; /* b against a, with its interval: 0.1 is 10 % more; of an AMOUNT: of the whole. NAN */
    double p; /* NAN: not judged */
    double share; /* the larger one of both sides */
    enum rs_compared_verdict verdict;
};

struct rs_compared_setting {
    const char *name;
    char *a, *b; /* NULL: not set */
    char *explains; /* what differs that this setting influences; NULL: nothing */
};

enum rs_finding_change { RS_FINDING_CAME, RS_FINDING_WENT, RS_FINDING_STAYED, RS_FINDING_VARIES, RS_FINDING_CHANGES };
const char *rs_finding_change_name(enum rs_finding_change c); /* "came" */

struct rs_compared_finding {
    const struct rs_run_finding *finding; /* of the first run that has it */
    uint32_t in_a, in_b; /* runs that have it */
    enum rs_finding_change change;
    bool certain; /* persistent, in every run of one side, and in none of the other */
    double cost, cost_low; /* by which share it makes the run longer: the mean, and the lowest end, over the runs of the
                              side that has it; NAN: unknown, or not certain */
};

/* Why the step time differs. */
enum rs_cause_kind {
    RS_CAUSE_GPU, /* ranks take longer between operations, and not because they launch late */
    RS_CAUSE_LAUNCH, /* ranks launch operations later */
    RS_CAUSE_RANK, /* one of these two; launches are not known (CUDA graphs) */
    RS_CAUSE_TRANSFER, /* operations take longer after the last rank arrived: network, links, NCCL */
    RS_CAUSE_WAIT, /* ranks wait longer for each other, and none of them is the reason: jitter */
    RS_CAUSES
};
const char *rs_cause_name(enum rs_cause_kind k); /* "launch" */

struct rs_step_cause {
    enum rs_cause_kind kind;
    double ns; /* by which this is longer per step (shorter: below 0) */
    int32_t *ranks; /* of the job; all: every rank */
    uint32_t nranks;
    bool all;
    const char *who; /* "host node1": of ranks that a report names together; NULL */
    const char *link; /* "link 3-4", slow in one side only; NULL */
    const char *of; /* of transfers: the function that takes most of it; NULL */
    char *text; /* a sentence */
};

struct rs_comparison {
    struct rs_side a, b;
    struct rs_compared *rows; /* in the order of measures, the largest share first */
    uint32_t nrows, cap;
    uint32_t first; /* RS_NONE: no time is known on both sides */
    uint32_t judged; /* rows of the family */
    bool few; /* a side has fewer than RS_COMPARISON_RUNS: the noise between launches is unknown */
    double seen; /* a change of the first row below this would not have been seen; NAN */
    struct rs_compared_setting *settings;
    uint32_t nsettings, cap_settings;
    struct rs_compared_finding *findings;
    uint32_t nfindings, cap_findings;
    struct rs_step_cause
        causes[RS_CAUSES]; /* the largest first; only if the first row differs, or a finding that costs more */
    uint32_t ncauses;
    char **conclusion;
    uint32_t nconclusion;
};

void rs_comparison_init(struct rs_comparison *c, struct rs_side a, struct rs_side b);
void rs_comparison_free(struct rs_comparison *c);

/* The row of a figure; NULL: there is none. `of` NULL: "". */
const struct rs_compared *rs_comparison_row(const struct rs_comparison *c, enum rs_measure measure, const char *of,
                                            int32_t rank);
/* What makes side B slower beyond noise and by more than `bound` (0.05 is 5 %): the first row, or a finding. NULL, NULL:
 * nothing. */
struct rs_regression {
    const struct rs_compared *row;
    const struct rs_compared_finding *finding;
};
struct rs_regression rs_comparison_regression(const struct rs_comparison *c, double bound);
static inline bool rs_comparison_regressed(const struct rs_comparison *c, double bound)
{
    struct rs_regression r = rs_comparison_regression(c, bound);
    return r.row || r.finding;
}

/* "3.21 ms", "41.2 GB/s", "12.3 %" */
void rs_compared_say(struct rs_strbuf *s, enum rs_measure m, double value);
/* "+12.3 %" */
void rs_compared_say_change(struct rs_strbuf *s, double change);
/* "AllReduce, 8.0 MiB, 8 ranks: transfer" */
void rs_compared_name(struct rs_strbuf *s, const struct rs_compared *row);

/* Why the first row differs (causes.c). A part of rs_comparison_init(). */
void rs_causes_find(struct rs_comparison *c);

#endif
