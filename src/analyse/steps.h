/* The training steps of a run: one notion for all commands.
 *
 * Where a framework marked them (ProfilerStep#12, NVTX ranges of that sense) steps are its marks. Elsewhere they are what
 * repeats in the operations of the rank that has the most (analyse/repeats.h). A run may have both: a recording of the
 * whole job and a profile of some steps; then each step that the marks cover is a mark, and the rest is by the pattern.
 * All are in one sequence, numbered from 0; the framework's number of a mark is beside it.
 *
 * Marks say which operations are of which step, and not how long it took: programs run ahead of their GPUs, and a mark is
 * when its operations were called. A step starts with the earliest known start of its operations (of the rank with the
 * most) and lasts until the next one starts, the last until its last known end. So the same job has the same times however
 * its steps were found. Where no starts are known neither are times. On the common axis. Owned until rs_steps_free(). */
#ifndef RS_ANALYSE_STEPS_H
#define RS_ANALYSE_STEPS_H

#include "analyse/quantile.h"
#include "analyse/view.h"
#include "model/model.h"

/* ---- marks of the framework ----
 * The framework's marks of steps, process by process. */

struct rs_step_mark {
    int64_t from, to;
    uint32_t proc;
    uint32_t number; /* the framework's */
    uint32_t again; /* how many marks of this number the process has before it: a profiler that began anew */
};

struct rs_step_marks {
    struct rs_step_mark *rows; /* by `again`, number, process */
    uint32_t n, cap;
};
/* That of a process; NULL: it has none. */
const struct rs_step_mark *rs_step_mark_of(const struct rs_step_marks *s, uint32_t again, uint32_t number,
                                           uint32_t proc);

/* ---- steps ---- */

struct rs_step {
    int64_t from, to; /* its operations lie in this span; spans of steps do not overlap */
    int64_t begin, end; /* of the mark; by the pattern: the same span */
    int64_t start, length; /* by its operations; RS_TIME_NONE: not known */
    uint32_t unit; /* of the pattern, which is this step; RS_NONE: none */
    uint32_t mark; /* the framework's number; RS_NONE: by the pattern */
    uint32_t again; /* marks of this number before it: a profiler that began anew */
    bool counted; /* it begins in the window asked for (rs_steps_within()) */
};

struct rs_steps {
    struct rs_step *rows; /* by time */
    uint32_t n; /* 0: there are no marks and nothing repeats */
    uint32_t marked; /* those that are marks */
    uint32_t counted, counted_marked; /* those in the window asked for; the times below are of these */
    uint32_t ops; /* operations of a step on the rank with the most, as a rule; 0: not known */
    uint32_t rank_id; /* that rank; RS_NONE */
    int64_t usual_ns, spread_ns; /* median length, and the median distance from it; RS_TIME_NONE: not known */
    struct rs_quantiles time_ns;
    struct rs_step_marks marks; /* of all processes */
};

enum rs_status rs_steps_find(struct rs_steps *s, const struct rs_view *view, struct rs_err *err);
void rs_steps_free(struct rs_steps *s);

/* Counts, and takes the times of, the steps that begin in the filter's span of time; rs_steps_find() does so for all. */
void rs_steps_within(struct rs_steps *s, const struct rs_filter *filter);

/* How n steps, of which some are marked, were found, in JSON: "annotations", "pattern", "annotations and pattern"; NULL:
 * there are none. */
const char *rs_steps_how(uint32_t n, uint32_t marked);

/* The step of an operation at that moment; RS_NONE: none. */
uint32_t rs_steps_of(const struct rs_steps *s, int64_t ns);
/* The step of an operation: the mark that its call lies in where that is known, else that of its moment. */
uint32_t rs_steps_of_op(const struct rs_steps *s, const struct rs_model *m, uint32_t op);

/* Operations of a view by their steps: those of step i are ops[first[i] .. first[i + 1]), by time; those of none come
 * behind the last. Owned until rs_step_ops_free(). */
struct rs_step_ops {
    uint32_t *ops, *first;
};

void rs_step_ops_init(struct rs_step_ops *o, const struct rs_steps *s, const struct rs_view *view);
void rs_step_ops_free(struct rs_step_ops *o);

#endif
