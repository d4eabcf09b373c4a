#include "events/gpu_times.h"

#include <stdlib.h>

#include "base/room.h"
#include "events/parts.h"
#include "import/timers.h"

enum { ROUNDING_NS = 2 };

struct rs_gpu_member {
    struct rs_timers timers;
    uint32_t copy; /* of its GPU; RS_NONE: none */
};

enum rs_status rs_gpu_times_make(struct rs_gpu_times *g, struct rs_model *m, uint32_t proc, struct rs_err *err)
{
    struct rs_event_span span = rs_event_members_of(m, proc);
    *g = (struct rs_gpu_times){.model = m,
                               .host = &m->domains[m->hosts[m->procs[proc].host].domain].axis,
                               .first = span.first,
                               .n = span.end - span.first,
                               .part = RS_NONE};
    g->members = calloc((size_t)g->n + 1, sizeof *g->members);
    if (!g->members) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t gpu = m->members[span.first + i].gpu;
        g->members[i].copy = RS_NONE;
        if (gpu == RS_NONE) continue;
        uint64_t *at;
        RS_TRY(rs_map_at(&g->domains, gpu, g->ncopies, &at, err));
        g->members[i].copy = (uint32_t)*at;
        if (*at < g->ncopies) continue;
        RS_ROOM(g->copies, g->ncopies, g->cap_copies, err);
        struct rs_bounds *bounds = calloc(1, sizeof *bounds);
        if (!bounds) return rs_fail(err, RS_NO_MEMORY, "out of memory");
        g->copies[g->ncopies] = m->domains[gpu];
        g->copies[g->ncopies++].bounds = bounds;
    }
    return RS_OK;
}

void rs_gpu_times_free(struct rs_gpu_times *g)
{
    for (uint32_t i = 0; g->members && i < g->n; i++) rs_timers_free(&g->members[i].timers);
    for (uint32_t i = 0; i < g->ncopies; i++) free(g->copies[i].bounds);
    free(g->members);
    free(g->copies);
    rs_map_free(&g->domains);
    *g = (struct rs_gpu_times){0};
}

static struct rs_gpu_member *member_of(struct rs_gpu_times *g, uint32_t member)
{
    return member != RS_NONE && member >= g->first && member - g->first < g->n ? &g->members[member - g->first] : NULL;
}

int64_t rs_gpu_times_at(struct rs_gpu_times *g, uint32_t member, uint64_t timer)
{
    uint32_t gpu = member_of(g, member) ? g->model->members[member].gpu : RS_NONE;
    if (gpu == RS_NONE || !timer || timer > INT64_MAX) return RS_TIME_NONE;
    return rs_axis_common(&g->model->domains[gpu].axis, (int64_t)timer);
}

/* What the model says of a start: 1 it is the part's own, -1 it was dropped, 0 nothing. */
static int as_the_model(const struct rs_parts *p, uint32_t part, int64_t at)
{
    bool kept = p->start_source[part] == RS_FROM_KERNEL && !(p->flags[part] & RS_PART_LENT_START);
    if (!kept) return p->flags[part] & RS_PART_STALE ? -1 : 0;
    int64_t before = rs_time_minus(p->start[part], at); /* a part starts with the first of its channels */
    return before > ROUNDING_NS ? -1 : before >= -ROUNDING_NS;
}

enum rs_status rs_gpu_times_start(struct rs_gpu_times *g, const struct rs_gpu_start *s, int64_t *at, bool *stale,
                                  struct rs_err *err)
{
    struct rs_gpu_member *x = member_of(g, s->member);
    *stale = false;
    *at = rs_gpu_times_at(g, s->member, s->timer);
    if (*at == RS_TIME_NONE || x->copy == RS_NONE || s->part == RS_NONE) return RS_OK;
    const struct rs_parts *p = &g->model->parts;
    struct rs_domain *gpu = &g->copies[x->copy];
    if (s->part != g->part) {
        bool replay = p->captured[s->part] || p->launched[s->part] == RS_TIME_NONE;
        g->launched = replay ? RS_TIME_NONE : rs_axis_local(g->host, p->launched[s->part]);
        g->part = s->part;
    }
    const struct rs_timer timer = {s->channel, p->launch[s->part], g->launched, (int64_t)s->timer, s->now};
    bool good;
    RS_TRY(rs_timers_start(&x->timers, gpu, &timer, &good, err));
    if (good) rs_bounds_add_upper(gpu->bounds, timer.gpu_ns, s->now);
    int told = as_the_model(p, s->part, *at);
    if (told > 0 || (good && !told)) return RS_OK;
    *stale = true;
    *at = RS_TIME_NONE;
    return RS_OK;
}

int64_t rs_gpu_times_stop(struct rs_gpu_times *g, const struct rs_gpu_start *s, uint64_t timer, int64_t now)
{
    struct rs_gpu_member *x = member_of(g, s->member);
    int64_t at = rs_gpu_times_at(g, s->member, timer);
    if (at == RS_TIME_NONE || timer < s->timer) return RS_TIME_NONE;
    if (x->copy == RS_NONE || s->part == RS_NONE) return at;
    rs_bounds_add_upper(g->copies[x->copy].bounds, (int64_t)timer, now);
    rs_timers_end(&x->timers, g->model->parts.launch[s->part], (int64_t)timer);
    return at;
}
