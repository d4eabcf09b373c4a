/* The training steps of a run: one definition for all commands.
 *
 * If a framework marked them (ProfilerStep#12, NVTX ranges of that meaning), steps are its marks. Otherwise they are
 * what repeats in the operations of the rank with the most (analyse/repeats.h). A run may have both: a recording of the
 * whole job and a profile of some steps; then each step that the marks cover is a mark, and the rest is by the pattern.
 * All are in one sequence, numbered from 0; a mark also has the framework's number.
 *
 * Marks say which operations belong to which step, but not how long it took: programs run ahead of their GPUs, and a
 * mark is when its operations were called. A step lasts from when the operations of the previous step are over to when
 * its own are (those of the rank with the most). So the same job has the same times however its steps were found. If no
 * starts are known, times are unknown; with windows of detail, steps outside of them last from call to call. On the common axis. Owned until rs_steps_free().
 *
 * The first steps of a job are its start-up (libraries load, kernels are compiled and selected, caches fill): they say
 * nothing about the others, and are left out of times and analyses unless the user says otherwise. Steps are start-up
 * while two of three take more than twice as long as the median of the last two thirds of the steps, longer by more than
 * 8 median deviations, and half as long again as nine of ten of these: at most a third of the run, and none of fewer than 6 steps.
 * What is before the first step is start-up, too, if it takes as long as that, or if the first step is. */
#ifndef RS_ANALYSE_STEPS_H
#define RS_ANALYSE_STEPS_H

#include "analyse/quantile.h"
#include "analyse/view.h"
#include "model/model.h"

/* ---- marks of the framework ----
 * The framework's marks of steps, by process. */

struct rs_step_mark {
    int64_t from, to;
    uint32_t proc;
    uint32_t number; /* the framework's */
    uint32_t again; /* earlier marks of this number in the process: a profiler that was restarted */
};

struct rs_step_marks {
    struct rs_step_mark *rows; /* by `again`, number, process */
    uint32_t n, cap;
};
/* Of a process; NULL: none. */
const struct rs_step_mark *rs_step_mark_of(const struct rs_step_marks *s, uint32_t again, uint32_t number,
                                           uint32_t proc);

/* ---- steps ---- */

struct rs_step {
    int64_t from, to; /* contains its operations; spans of steps do not overlap */
    int64_t begin, end; /* of the mark; by the pattern: the same span */
    int64_t start, length; /* from its operations; RS_TIME_NONE: unknown */
    uint32_t unit; /* of the pattern, for this step; RS_NONE: none */
    uint32_t mark; /* the framework's number; RS_NONE: by the pattern */
    uint32_t again; /* earlier marks of this number: a profiler that was restarted */
    bool
        measured; /* it and the step before have no operation outside of a window of detail (rs_op_not_measured()); else
                    * its length is the distance of calls, which says nothing about single steps */
    bool counted; /* begins in the requested window (rs_steps_within()) */
};

struct rs_steps {
    struct rs_step *rows; /* by time */
    uint32_t n; /* 0: no marks, and nothing repeats */
    uint32_t marked; /* steps that are marks */
    uint32_t counted, counted_marked; /* in the requested window; the times below are of these, without the warm-up */
    uint32_t startup; /* steps at the beginning that are start-up */
    bool early; /* what is before the first step is start-up */
    uint32_t warmup; /* steps at the beginning that are left out: `startup`, or what the user says */
    bool warmup_given; /* the user says it */
    int64_t begin_ns, after_ns; /* the first operation; what is before `after_ns` is left out, RS_TIME_NONE: nothing */
    char *
        left_out; /* "the first 3 of 40 steps (start-up) are left out: 1.3 s; --warmup 0 includes them"; NULL: nothing */
    uint32_t ops; /* usual number of operations per step, on the rank with the most; 0: unknown */
    uint32_t rank_id; /* that rank; RS_NONE */
    int64_t usual_ns, spread_ns; /* median length, and the median distance from it; RS_TIME_NONE: unknown */
    struct rs_quantiles time_ns;
    struct rs_step_marks marks; /* of all processes */
};

enum rs_status rs_steps_find(struct rs_steps *s, const struct rs_view *view, struct rs_err *err);
void rs_steps_free(struct rs_steps *s);

/* Counts the steps that begin in the filter's span, and times those of them after the first `warmup` steps of the run.
 * RS_NONE: after the start-up, or all of them if the filter has a time. rs_steps_find() does so for the whole run. */
void rs_steps_within(struct rs_steps *s, const struct rs_filter *filter, uint32_t warmup);

/* The filter, from the end of what is left out on. */
struct rs_filter rs_steps_filter(const struct rs_steps *s, const struct rs_filter *filter);

/* How n steps, some of them marked, were found, in JSON: "annotations", "pattern", "annotations and pattern"; NULL:
 * none. */
const char *rs_steps_how(uint32_t n, uint32_t marked);

/* The step of an operation at that time; RS_NONE: none. */
uint32_t rs_steps_of(const struct rs_steps *s, int64_t ns);
/* The step of an operation: the mark that contains its call, if known, else that of its time. */
uint32_t rs_steps_of_op(const struct rs_steps *s, const struct rs_model *m, uint32_t op);

/* Operations of a view by step: those of step i are ops[first[i] .. first[i + 1]), by time; those of no step are last.
 * Owned until rs_step_ops_free(). */
struct rs_step_ops {
    uint32_t *ops, *first;
};

void rs_step_ops_init(struct rs_step_ops *o, const struct rs_steps *s, const struct rs_view *view);
void rs_step_ops_free(struct rs_step_ops *o);

#endif
