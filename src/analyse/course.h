/* The run over time: the same values for each window, and where they change permanently.
 *
 * Windows are a span of time or a number of steps. Changes are those of the function with the most time: a change point
 * is between two stretches of windows (three or more each) whose medians differ by more than 5 % and more than 5 median
 * deviations, found by ranks, so that single outliers do not count. Owns its tables until rs_course_free(). */
#ifndef RS_ANALYSE_COURSE_H
#define RS_ANALYSE_COURSE_H

#include "analyse/bandwidth.h"
#include "analyse/steps.h"
#include "analyse/stragglers.h"

struct rs_course_row {
    int64_t from_ns, to_ns;
    uint32_t first_step, steps; /* steps that begin here */
    uint64_t calls; /* operations */
    uint64_t timed; /* of the leading function: ranks whose time is known */
    int64_t p50_ns; /* of its time, as those ranks saw it */
    double wait_share; /* of all time in operations; NAN: unknown */
    double busbw; /* of the leading function, without wait; NAN: unknown */
    uint32_t worst; /* the rank with the largest cost; RS_NONE: none */
    int64_t worst_ns;
};

struct rs_change {
    int64_t at_ns;
    int64_t before_ns, after_ns; /* p50 of the leading function */
    uint32_t rank_id; /* late since then; RS_NONE: none */
    char *text;
};

struct rs_course {
    struct rs_course_row *rows;
    uint32_t nrows;
    uint32_t leading; /* row of bandwidth: the function with the most time; RS_NONE: no times */
    struct rs_change *changes; /* by time */
    uint32_t nchanges;
};

/* `every_ns` > 0, or `every_steps` > 0. RS_BAD_INPUT if there are no steps, or too many windows. */
enum rs_status rs_course_find(struct rs_course *c, struct rs_view *view, const struct rs_steps *steps,
                              const struct rs_stragglers *stragglers, const struct rs_bandwidth *bandwidth,
                              int64_t every_ns, uint32_t every_steps, struct rs_err *err);
void rs_course_free(struct rs_course *c);

#endif
