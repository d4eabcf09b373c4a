/* Why nothing ran: a rank without work on its GPU, as its host threads or its launches tell. */
#include "analyse/critical_walk.h"

#include "base/bisect.h"

static const char IN_STEP[] = "in a step, outside its ranges and calls";
static const char NO_EVENT[] = "no work on the GPU, no event on its host thread";
static const char OUTSIDE[] = "outside NCCL";
static const char NOT_LAUNCHED[] = "outside NCCL, next operation not launched yet";
static const char QUEUED[] = "outside NCCL, next operation launched and queued";
static const char UNTIMED[] = "in operations whose times are not known, or outside NCCL";
static const char LAUNCH[] = "launch of a NCCL operation";
static const char BETWEEN[] = "launched, not started";

static const char *name_of(const struct rs_model *m, uint32_t activity)
{
    if (m->activities.kind[activity] == RS_ACT_STEP) return IN_STEP; /* steps are numbered: one name for all */
    const char *name = rs_model_name_text(m, m->activities.name[activity]);
    return *name ? name : NO_EVENT;
}

/* What a thread was in from `from` to w->at: the innermost range or call at each moment. */
static enum rs_status explain_by_thread(struct rs_critical_walk *w, const struct rs_trail *thread, uint32_t op,
                                        int64_t from, struct rs_err *err)
{
    const struct rs_model *m = w->view->model;
    while (w->at > from) {
        uint32_t i = rs_trail_begun(thread, w->at);
        int64_t since = from; /* what covers w->at does so from here on, as the innermost */
        for (; i != RS_NONE && thread->spans[i].latest < w->at; i = thread->spans[i].under)
            if (thread->spans[i].latest > since) since = thread->spans[i].latest;
        const struct rs_span *inner = i == RS_NONE ? NULL : &thread->spans[i];
        if (inner && inner->start > since) since = inner->start;
        if (inner)
            RS_TRY(rs_critical_add(w, RS_CRITICAL_HOST, name_of(m, inner->ref), op, since, err));
        else
            RS_TRY(rs_critical_add(w, RS_CRITICAL_GAP, NO_EVENT, op, since, err));
        if (w->at <= w->from) break;
    }
    return RS_OK;
}

/* The host call that launched what came next; RS_NONE: not known. */
static uint32_t launch_of(const struct rs_critical_walk *w)
{
    const struct rs_activities *a = &w->view->model->activities;
    if (!w->next) return RS_NONE;
    uint64_t work =
        w->next->kind == RS_SPAN_OP ? rs_map_get(&w->trails->kernels, w->next->part, RS_NONE) : w->next->ref;
    uint32_t launch = work < a->n ? a->launch[work] : RS_NONE;
    return launch < a->n ? launch : RS_NONE;
}

static enum rs_status explain_by_host(struct rs_critical_walk *w, const struct rs_trail *thread, uint32_t op,
                                      int64_t from, struct rs_err *err)
{
    const struct rs_model *m = w->view->model;
    uint32_t launch = launch_of(w);
    int64_t called = launch != RS_NONE ? m->activities.start[launch]
                     : op != RS_NONE   ? m->parts.launched[w->next->part] /* as a recording knows it */
                                       : RS_TIME_NONE;
    if (called != RS_TIME_NONE) {
        const char *name = launch != RS_NONE ? name_of(m, launch) : LAUNCH;
        if (called <= from) return rs_critical_add(w, RS_CRITICAL_GAP, BETWEEN, op, from, err);
        if (called < w->at) RS_TRY(rs_critical_add(w, RS_CRITICAL_LAUNCH, name, op, called, err));
    }
    if (launch != RS_NONE) {
        uint32_t lane = m->activities.lane[launch];
        if (lane < m->nlanes && w->trails->thread_of[lane] != RS_NONE)
            thread = &w->trails->threads[w->trails->thread_of[lane]];
    }
    return explain_by_thread(w, thread, op, from, err);
}

/* All that recordings of operations alone can say, where no operation without a start may have run. */
static enum rs_status explain_timed(struct rs_critical_walk *w, uint32_t op, int64_t from, struct rs_err *err)
{
    const struct rs_model *m = w->view->model;
    if (from >= w->at) return RS_OK;
    int64_t launched = op == RS_NONE ? RS_TIME_NONE : m->parts.launched[w->next->part];
    if (launched == RS_TIME_NONE || launched > w->at)
        return rs_critical_add(w, RS_CRITICAL_OUTSIDE, OUTSIDE, op, from, err);
    RS_TRY(rs_critical_add(w, RS_CRITICAL_OUTSIDE, QUEUED, op, launched > from ? launched : from, err));
    return rs_critical_add(w, RS_CRITICAL_OUTSIDE, NOT_LAUNCHED, op, from, err);
}

static enum rs_status explain_outside(struct rs_critical_walk *w, uint32_t op, int64_t from, struct rs_err *err)
{
    const struct rs_rank_trail *r = &w->trails->ranks[w->rank];
    for (uint32_t low = 0, high = r->nuntimed; w->at > from;) { /* the last that begins before w->at */
        RS_BISECT(low, high, mid, r->untimed[mid].from < w->at);
        if (!low || r->untimed[low - 1].to <= from) break;
        const struct rs_untimed *u = &r->untimed[low - 1];
        if (u->to < w->at) RS_TRY(explain_timed(w, op, u->to, err));
        RS_TRY(rs_critical_add(w, RS_CRITICAL_UNSURE, UNTIMED, op, u->from > from ? u->from : from, err));
        high = low - 1;
        low = 0;
        if (w->at <= w->from) return RS_OK;
    }
    return explain_timed(w, op, from, err);
}

enum rs_status rs_critical_explain(struct rs_critical_walk *w, int64_t from, struct rs_err *err)
{
    const struct rs_rank_trail *r = &w->trails->ranks[w->rank];
    uint32_t op = w->next && w->next->kind == RS_SPAN_OP ? w->next->ref : RS_NONE;
    if (from < w->from) from = w->from;
    if (from >= w->at) return RS_OK;
    /* A framework's trace is often a window of a longer recording: that it shows nothing elsewhere says nothing. */
    bool seen = r->seen_to != RS_TIME_NONE && r->seen_to > from && r->seen_from < w->at;
    if (!seen) return explain_outside(w, op, from, err);
    RS_TRY(explain_outside(w, op, r->seen_to, err));
    int64_t since = r->seen_from > from ? r->seen_from : from;
    if (r->thread != RS_NONE)
        RS_TRY(explain_by_host(w, &w->trails->threads[r->thread], op, since, err));
    else
        RS_TRY(rs_critical_add(w, RS_CRITICAL_GAP, NO_EVENT, op, since, err));
    return explain_outside(w, op, from, err);
}
