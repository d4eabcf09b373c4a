/* The state of walking a critical path backwards, and the one way to add to it: for src/analyse/critical*.c. */
#ifndef RS_ANALYSE_CRITICAL_WALK_H
#define RS_ANALYSE_CRITICAL_WALK_H

#include "analyse/critical.h"
#include "analyse/critical_trails.h"

struct rs_critical_walk {
    struct rs_critical *path; /* segments are added backwards */
    struct rs_view *view;
    const struct rs_critical_trails *trails;
    struct rs_map names; /* address of a name -> its index in path->names: equal names are one address */
    int64_t from; /* where the window begins */
    int64_t at; /* all behind it is explained */
    uint32_t rank; /* index into trails->ranks */
    const struct rs_span *next; /* what began at `at` on this rank; NULL: nothing that is known */
    bool tie;
    int64_t lead; /* ns before `at` in which the others were there already: this rank's own time alone */
};

/* What happened from `from` (or the window's begin) to `at`; nothing where that is no time. Moves `at` there. */
enum rs_status rs_critical_add(struct rs_critical_walk *w, uint8_t kind, const char *name, uint32_t op, int64_t from,
                               struct rs_err *err);
/* Explains why nothing that is known ran on the rank's GPU from `from` to `at`. */
enum rs_status rs_critical_explain(struct rs_critical_walk *w, int64_t from, struct rs_err *err);

#endif
