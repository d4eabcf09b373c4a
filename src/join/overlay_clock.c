#include "join/overlay_clock.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/room.h"
#include "join/overlay.h"

#define WALL INT64_C(1000000000000000000) /* ns since 1970: earlier is not wall time */
#define ONE_CLOCK 1e6 /* ns: two tools' readings of one wall clock agree within this */
enum {
    MOST_OPS = 20000, /* of a tool: more do not improve the result */
    ENOUGH = 3,
};

enum what { STARTS, ENDS, CALLS, WHATS };

/* One time on two clocks. */
struct row {
    uint32_t domain, lead;
    uint8_t what; /* enum what */
    double x, y; /* ns of the clock since its base; offset to the axis */
};

struct work {
    struct rs_clockwork *w;
    struct rs_islands *out;
    uint8_t *tool_of; /* by domain: the first tool that uses it */
    uint32_t *one; /* by domain: the primary source's clock that is the same wall clock; RS_NONE: unknown */
    struct row *rows;
    uint32_t n, cap;
    double *x, *y; /* working memory for the rows */
};

static int by_domain(const void *a, const void *b)
{
    const struct row *p = a, *q = b;
    if (p->domain != q->domain) return p->domain < q->domain ? -1 : 1;
    if (p->what != q->what) return p->what < q->what ? -1 : 1;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return p->y < q->y ? -1 : p->y > q->y;
}

/* ---- collecting ---- */

static void add_row(struct work *k, enum what what, uint32_t domain, int64_t t, uint32_t lead, int64_t u)
{
    struct rs_track *tracks = k->w->tracks;
    if (domain == RS_NONE || lead == RS_NONE || domain == lead || t == RS_TIME_NONE || u == RS_TIME_NONE) return;
    if (k->tool_of[lead] >= k->tool_of[domain] || k->out->islands[lead] == RS_NONE) return;
    RS_ROOM(k->rows, k->n, k->cap);
    double x = (double)rs_time_minus(t, tracks[domain].base), u_x = (double)rs_time_minus(u, tracks[lead].base);
    double y = rs_track_z(&tracks[lead], u_x) - x;
    k->rows[k->n++] = (struct row){.domain = domain, .lead = lead, .what = (uint8_t)what, .x = x, .y = y};
}

/* A process has one wall clock, whichever tool reads it. */
static void note_one(struct work *k, uint32_t domain, uint32_t host)
{
    const struct rs_track *tracks = k->w->tracks;
    if (domain == RS_NONE || domain == host || k->tool_of[host] >= k->tool_of[domain]) return;
    if (tracks[domain].base < WALL || tracks[host].base < WALL || k->out->islands[host] == RS_NONE) return;
    k->one[domain] = host;
}

static void add_part(struct work *k, uint32_t b, uint32_t a)
{
    const struct rs_model *m = k->w->m;
    const struct rs_parts *p = &m->parts;
    const struct rs_member *x = &m->members[p->member[b]], *y = &m->members[p->member[a]];
    if (m->procs[x->proc].same == y->proc) {
        uint32_t host = rs_member_host_domain(m, p->member[a]);
        note_one(k, rs_member_host_domain(m, p->member[b]), host);
        if (x->gpu != RS_NONE && m->domains[x->gpu].rigid) note_one(k, x->gpu, host);
    }
    bool stale = (p->flags[a] | p->flags[b]) & RS_PART_STALE;
    if (!stale && p->start_source[b] == RS_FROM_KERNEL && p->start_source[a] == RS_FROM_KERNEL)
        add_row(k, STARTS, x->gpu, p->start[b], y->gpu, p->start[a]);
    if (!stale && p->end_source[b] == RS_FROM_KERNEL && p->end_source[a] == RS_FROM_KERNEL && rs_part_has_ended(m, a))
        add_row(k, ENDS, x->gpu, p->end[b], y->gpu, p->end[a]);
    add_row(k, CALLS, rs_member_host_domain(m, p->member[b]), p->enqueued[b], rs_member_host_domain(m, p->member[a]),
            p->enqueued[a]);
}

static void collect(struct work *k, uint8_t tool)
{
    const struct rs_model *m = k->w->m;
    const struct rs_ops *o = &m->ops;
    uint32_t merged = 0, at = 0;
    k->n = 0;
    for (uint32_t i = 0; i < o->n; i++) merged += o->over[i] != RS_NONE && m->comms[o->comm[i]].tool == tool;
    uint32_t every = merged / MOST_OPS + 1;
    for (uint32_t i = 0; i < o->n; i++) {
        if (o->over[i] == RS_NONE || m->comms[o->comm[i]].tool != tool || at++ % every) continue;
        uint32_t a = o->over[i];
        for (uint32_t j = 0; j < o->nparts[i]; j++) {
            uint32_t part = m->order[o->part[i] + j];
            int32_t rank = rs_overlay_rank(m, o->comm[i], m->members[m->parts.member[part]].rank, o->comm[a]);
            uint32_t lead = rank < 0 ? RS_NONE : rs_op_part_of(m, a, rank);
            if (lead != RS_NONE && m->parts.kind[lead] == m->parts.kind[part]) add_part(k, part, lead);
        }
    }
    if (k->n) qsort(k->rows, k->n, sizeof *k->rows, by_domain);
}

/* ---- placing ---- */

static void settle(struct work *k, uint32_t domain, uint32_t lead, double error)
{
    k->w->placed[domain] = true;
    k->w->errors[domain] = error;
    k->out->methods[domain] = RS_CLOCK_OVERLAY;
    k->out->islands[domain] = k->out->islands[lead];
    k->out->anchors[domain] = k->out->anchors[lead];
}

/* Rows first .. first + n are of one clock and one kind. If the primary source read the same wall clock, GPU times are
 * shifted to those of its kernels, because each tool converts them to that clock in its own way; host times are
 * unchanged. */
static void place_one(struct work *k, uint32_t first, uint32_t n, bool *done)
{
    uint32_t domain = k->rows[first].domain, host = k->one[domain], kept = 0;
    const struct rs_track *lead = &k->w->tracks[host];
    double ahead = (double)rs_time_minus(lead->base, k->w->tracks[domain].base), error = k->w->errors[host];
    uint32_t near = lead->near;
    for (uint32_t i = first; i < first + n; i++) {
        const struct row *r = &k->rows[i];
        if (k->out->islands[r->lead] != k->out->islands[host] || isnan(k->w->errors[r->lead])) continue;
        k->y[kept++] = r->y - (rs_curve_at(&lead->curve, r->x - ahead, &near) - ahead);
        if (r->what != CALLS) error = fmax(error, k->w->errors[r->lead]);
    }
    if (kept < ENOUGH || isnan(error)) return;
    double apart = rs_fit_quantile(k->y, kept, 0.5);
    for (uint32_t i = 0; i < kept; i++) k->y[i] = fabs(k->y[i] - apart);
    double spread = rs_fit_quantile(k->y, kept, 0.5);
    if (fabs(apart) > ONE_CLOCK || spread > ONE_CLOCK) return;
    bool calls = k->rows[first].what == CALLS; /* a framework's call precedes NCCL's */
    struct rs_track *t = &k->w->tracks[domain];
    rs_track_copy(t, lead);
    for (uint32_t i = 0; i < t->curve.n && !calls; i++) t->curve.points[i].y += apart;
    t->n = kept;
    t->spread = spread;
    settle(k, domain, host, calls ? error + RS_ATTACH_RIGID : error + spread);
    *done = true;
}

/* Rows first .. first + n are of one clock and one kind. */
static void place(struct work *k, uint32_t first, uint32_t n, bool *done)
{
    uint32_t kept = 0, domain = k->rows[first].domain, lead = k->rows[first].lead;
    double error = 0;
    *done = false;
    for (uint32_t i = first; i < first + n; i++) {
        const struct row *r = &k->rows[i];
        if (k->out->islands[r->lead] != k->out->islands[lead]) continue;
        if (isnan(k->w->errors[r->lead])) k->w->errors[r->lead] = 0; /* not aligned yet: its own axis */
        error = fmax(error, k->w->errors[r->lead]);
        k->x[kept] = r->x;
        k->y[kept++] = r->y;
    }
    if (kept < ENOUGH) return;
    struct rs_fit fit = {0};
    rs_fit_init(&fit, k->x, k->y, kept);
    struct rs_track *t = &k->w->tracks[domain];
    free(t->curve.points);
    t->curve = fit.curve;
    fit.curve = (struct rs_curve){0};
    t->near = 0;
    t->n = fit.n;
    t->spread = fit.spread;
    t->doubt = fit.doubt;
    settle(k, domain, lead, error + fit.doubt + fit.spread);
    rs_fit_free(&fit);
    *done = true;
}

/* One clock with two names: copies what is known about `from` to `to`. */
static void copy(struct work *k, uint32_t from, uint32_t to)
{
    rs_track_copy(&k->w->tracks[to], &k->w->tracks[from]);
    settle(k, to, from, k->w->errors[from] + RS_ATTACH_RIGID);
}

/* A GPU's times on its host's clock, and that clock. */
static void place_rigid(struct work *k, uint32_t gpu, uint32_t host)
{
    const double *errors = k->w->errors;
    bool has_gpu = k->out->methods[gpu] == RS_CLOCK_OVERLAY, has_host = k->out->methods[host] == RS_CLOCK_OVERLAY;
    if (has_gpu && !has_host && k->one[gpu] != RS_NONE) {
        copy(k, k->one[gpu], host);
        return;
    }
    if (has_gpu && has_host && k->one[gpu] != RS_NONE) return; /* each from its own kind */
    /* Whichever is known better: NCCL's timers may belong to other operations. */
    if (has_gpu && (!has_host || errors[gpu] + RS_ATTACH_RIGID < errors[host])) {
        copy(k, gpu, host);
        return;
    }
    if (has_host && (!has_gpu || errors[host] + RS_ATTACH_RIGID < errors[gpu])) {
        copy(k, host, gpu);
        return;
    }
}

/* Processes with known calls only: NCCL turned all their operations into sends and receives. */
static void place_processes(struct work *k, uint8_t tool)
{
    const struct rs_model *m = k->w->m;
    for (uint32_t i = 0; i < m->nprocs; i++) {
        const struct rs_proc *p = &m->procs[i];
        uint32_t host = m->hosts[p->host].domain;
        if (p->tool != tool || p->same == RS_NONE || k->tool_of[host] != tool ||
            k->out->methods[host] == RS_CLOCK_OVERLAY || k->one[host] != RS_NONE)
            continue;
        note_one(k, host, m->hosts[m->procs[p->same].host].domain);
        if (k->one[host] != RS_NONE && !isnan(k->w->errors[k->one[host]])) copy(k, k->one[host], host);
    }
}

static void place_tool(struct work *k, uint8_t tool)
{
    const struct rs_model *m = k->w->m;
    collect(k, tool);
    uint32_t before = RS_NONE; /* the clock placed last: kinds are ordered by quality */
    for (uint32_t i = 0, n; i < k->n; i += n) {
        for (n = 1;
             i + n < k->n && k->rows[i + n].domain == k->rows[i].domain && k->rows[i + n].what == k->rows[i].what;)
            n++;
        uint32_t domain = k->rows[i].domain;
        bool done = false;
        if (domain == before) continue;
        if (k->one[domain] != RS_NONE) place_one(k, i, n, &done);
        if (!done) {
            k->one[domain] = RS_NONE;
            place(k, i, n, &done);
        }
        if (done) before = domain;
    }
    place_processes(k, tool);
    for (uint32_t d = 0; d < m->ndomains; d++) {
        const struct rs_domain *x = &m->domains[d];
        if (x->kind == RS_DOMAIN_GPU && x->rigid && k->tool_of[d] == tool && k->tool_of[x->host_domain] == tool)
            place_rigid(k, d, x->host_domain);
    }
}

/* There is one reference, the primary source. */
static void keep_reference(struct work *k)
{
    const struct rs_model *m = k->w->m;
    uint32_t island = RS_NONE;
    for (uint32_t d = 0; d < m->ndomains; d++) {
        if (k->out->methods[d] == RS_CLOCK_REFERENCE) return;
        if (island == RS_NONE && k->out->methods[d] == RS_CLOCK_OVERLAY) island = k->out->islands[d];
    }
    if (island != RS_NONE) k->out->methods[island] = RS_CLOCK_REFERENCE;
}

static void place_all(struct work *k)
{
    const struct rs_model *m = k->w->m;
    for (uint32_t d = 0; d < m->ndomains; d++) {
        k->tool_of[d] = RS_TOOLS;
        k->one[d] = RS_NONE;
    }
    for (uint32_t i = 0; i < m->nprocs; i++) {
        uint32_t d = m->hosts[m->procs[i].host].domain;
        if (m->procs[i].tool < k->tool_of[d]) k->tool_of[d] = m->procs[i].tool;
    }
    for (uint32_t i = 0; i < m->nmembers; i++) {
        uint32_t d = m->members[i].gpu;
        uint8_t tool = m->procs[m->members[i].proc].tool;
        if (d != RS_NONE && tool < k->tool_of[d]) k->tool_of[d] = tool;
    }
    for (uint32_t i = 0; i < m->nlanes; i++) {
        uint32_t d = m->lanes[i].domain;
        uint8_t tool = m->procs[m->lanes[i].proc].tool;
        if (d < m->ndomains && tool < k->tool_of[d]) k->tool_of[d] = tool;
    }
    for (uint8_t tool = 1; tool < RS_TOOLS; tool++) place_tool(k, tool);
    keep_reference(k);
}

void rs_overlay_place(struct rs_clockwork *w, struct rs_islands *out)
{
    const struct rs_ops *o = &w->m->ops;
    uint32_t most = 0;
    bool any = false;
    for (uint32_t i = 0; i < o->n; i++) {
        if (o->over[i] == RS_NONE) continue;
        any = true;
        most += o->nparts[i] < UINT32_MAX / 8 - most ? o->nparts[i] : 0;
    }
    for (uint32_t i = 0; i < w->m->nprocs; i++) any |= w->m->procs[i].same != RS_NONE;
    if (!any) return;
    struct work k = {.w = w,
                     .out = out,
                     .tool_of = rs_zalloc((size_t)w->m->ndomains + 1, sizeof *k.tool_of),
                     .one = rs_zalloc((size_t)w->m->ndomains + 1, sizeof *k.one),
                     .x = rs_zalloc((size_t)most + 1, sizeof *k.x),
                     .y = rs_zalloc((size_t)most + 1, sizeof *k.y)};
    place_all(&k);
    free(k.tool_of);
    free(k.one);
    free(k.x);
    free(k.y);
    free(k.rows);
}
