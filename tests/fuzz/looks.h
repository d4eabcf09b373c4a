/* What fuzzers of joined models do with them: every analysis, every event, every row of the timeline. */
#ifndef RS_TESTS_FUZZ_LOOKS_H
#define RS_TESTS_FUZZ_LOOKS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/critical.h"
#include "analyse/hang.h"
#include "analyse/profile.h"
#include "conclude/report.h"
#include "events/events.h"
#include "timeline/timeline.h"

static inline void analyse(struct rs_model *m)
{
    struct rs_err err = {0};
    struct rs_filter all = {0};
    const struct rs_report_options options = {.filter = &all, .network = true, .warmup = RS_NONE, .every_steps = 1};
    struct rs_report report;
    if (rs_report_init(&report, m, &options, &err) == RS_OK) rs_report_free(&report);
    struct rs_hang hang;
    rs_hang_find(m, &all, &hang);
    rs_hang_free(&hang);
    struct rs_view view;
    struct rs_critical path;
    rs_view_init(&view, m, &all);
    rs_critical_find(&path, &view, &all, NULL);
    rs_critical_free(&path);
    rs_view_free(&view);
    const struct rs_profile_options profile = {.filter = &all, .warmup_steps = RS_NONE};
    struct rs_profile p;
    if (rs_profile_init(&p, m, &profile, &err) == RS_OK) rs_profile_free(&p);
}

static enum rs_status check_event(void *to, const struct rs_event *e, struct rs_err *err)
{
    (void)err;
    const struct rs_model *m = to;
    bool part = e->part == RS_NONE || e->part < m->parts.n, member = e->member == RS_NONE || e->member < m->nmembers;
    bool parent = e->parent == RS_NONE || e->parent < e->number;
    if (!part || !member || !parent || e->nstates > RS_EVENT_STATES) abort();
    if (e->call->handle != e->handle || strlen(e->thread) > 16) abort();
    return RS_OK;
}

/* Every event that is left, of every process. */
static inline void read_events(struct rs_model *m, struct rs_inputs *in)
{
    struct rs_err err = {0};
    for (uint32_t i = 0; i < in->n; i++)
        if (rs_events_read(m, in, i, UINT64_MAX, NULL, check_event, m, &err) != RS_OK && !err.msg[0]) abort();
}

/* Every row of every process: bars in order, inside of the span, without overlaps. */
static inline void draw(struct rs_model *m, struct rs_inputs *in)
{
    const struct rs_timeline_options options = {.rows = UINT64_MAX};
    struct rs_err err = {0};
    struct rs_timeline t;
    struct rs_bars b = {0};
    uint32_t n = 0;
    rs_timeline_init(&t, m, in, &options);
    for (uint32_t i = 0; i < t.nprocs && rs_timeline_process(&t, i, n, &b, &err) == RS_OK; i++, n += b.n)
        for (uint32_t k = 0; k < b.nlanes; k++) {
            int64_t end = 0;
            for (uint32_t bar = b.lanes[k].from; bar < b.lanes[k].from + b.lanes[k].n; bar++) {
                if (b.start[bar] < end || b.dur[bar] < 0 || b.fade[bar] < 0) abort();
                end = b.start[bar] + b.dur[bar];
                if (end + b.fade[bar] > t.span) abort();
            }
        }
    rs_bars_free(&b);
    rs_timeline_free(&t);
}

#endif
