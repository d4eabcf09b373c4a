/* The framework's marks of steps, process by process. Owned until rs_step_marks_free(). */
#ifndef RS_ANALYSE_STEP_MARKS_H
#define RS_ANALYSE_STEP_MARKS_H

#include "model/model.h"

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

/* Threads of a process that mark the same step do so once. */
enum rs_status rs_step_marks_find(struct rs_step_marks *s, const struct rs_model *m, struct rs_err *err);
/* That of a process; NULL: it has none. */
const struct rs_step_mark *rs_step_mark_of(const struct rs_step_marks *s, uint32_t again, uint32_t number,
                                           uint32_t proc);
void rs_step_marks_free(struct rs_step_marks *s);

#endif
