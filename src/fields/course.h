/* The fields of the steps of a run, of steps that took longer than usual, and of the course of the run. */
#ifndef RS_FIELDS_COURSE_H
#define RS_FIELDS_COURSE_H

#include "conclude/report.h"
#include "fields/field.h"

struct rs_steps_fields {
    const struct rs_report *report;
};

struct rs_one_off_fields {
    const struct rs_report *report;
    const struct rs_one_off *row;
};

struct rs_course_fields {
    const struct rs_report *report;
    const struct rs_course_row *row;
};

struct rs_change_fields {
    const struct rs_report *report;
    const struct rs_change *row;
};

#endif
