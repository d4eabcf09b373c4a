#include "join/islands.h"

#include <math.h>
#include <stdlib.h>

#define NARROW 50e3 /* ns: half a corridor; wider ones are worse than pairs */
#define WIDE 1e10 /* ns: what says more than nothing */

#define MOST_TURN 1e-3 /* ns a ns: no clock is that wrong */

struct sea {
    struct rs_clockwork *w;
    struct rs_islands *out;
    uint32_t *members, *first; /* domains of component c: members[first[c] .. first[c + 1]) */
    uint32_t *queue; /* components of this island */
    uint32_t nqueue, head;
    uint32_t *waiting; /* by component: pairs with placed clocks */
    uint32_t ncomponents;
    uint32_t island; /* being made: one of its clocks */
};

static uint32_t size_of(const struct sea *s, uint32_t c)
{
    return s->first[c + 1] - s->first[c];
}

static void index_components(struct sea *s)
{
    const struct rs_track *t = s->w->tracks;
    uint32_t n = s->w->m->ndomains;
    for (uint32_t d = 0; d < n; d++) s->first[t[d].component + 2]++;
    for (uint32_t c = 0; c < s->ncomponents; c++) s->first[c + 2] += s->first[c + 1];
    for (uint32_t d = 0; d < n; d++) s->members[s->first[t[d].component + 1]++] = d;
}

/* ---- errors inside a component ---- */

/* `values` has room for every clock. */
static void set_errors(struct sea *s, uint32_t c, double *values)
{
    const struct rs_clockwork *w = s->w;
    const uint32_t *domains = &s->members[s->first[c]];
    uint32_t n = size_of(s, c);
    for (uint32_t i = 0; i < n; i++) values[i] = w->tracks[domains[i]].z_from;
    double from = rs_fit_quantile(values, n, 0.5);
    for (uint32_t i = 0; i < n; i++) values[i] = w->tracks[domains[i]].z_to;
    double to = rs_fit_quantile(values, n, 0.5);
    for (uint32_t i = 0; i < n; i++) {
        const struct rs_track *t = &w->tracks[domains[i]];
        /* Beyond its own ends a clock runs free. */
        double beyond = fmax(fmax(t->z_from - from, to - t->z_to), 0);
        w->errors[domains[i]] = t->n ? t->bias + t->doubt + t->rate_doubt * beyond : 0;
    }
}

/* ---- placing ---- */

static void count_pairs(struct sea *s, uint32_t domain)
{
    const struct rs_samples *p = s->w->pairs;
    for (uint32_t j = p->first[domain]; j < p->first[domain + 1]; j++) {
        const struct rs_moment *k = &p->moments[p->all[p->of[j]].moment];
        for (uint32_t i = 0; i < k->n; i++) s->waiting[s->w->tracks[p->all[k->first + i].domain].component]++;
    }
}

static void set_placed(struct sea *s, uint32_t c, double error, enum rs_clock_method method)
{
    for (uint32_t i = s->first[c]; i < s->first[c + 1]; i++) {
        uint32_t d = s->members[i];
        s->w->placed[d] = true;
        s->w->errors[d] += error;
        /* The clocks of a component were fitted to each other; how it was joined to the rest is said of lone ones, and of
         * all where it is the weaker way. */
        bool fitted = size_of(s, c) > 1 && method != RS_CLOCK_PAIRS;
        s->out->methods[d] = (uint8_t)(fitted ? RS_CLOCK_ENDS : method);
        s->out->islands[d] = s->island;
        count_pairs(s, d);
    }
    s->queue[s->nqueue++] = c;
}

static bool is_placed(const struct sea *s, uint32_t c)
{
    return s->w->placed[s->members[s->first[c]]];
}

/* Tries to place a component through bounds, or through pairs (`widest` 0). */
static enum rs_status place(struct sea *s, uint32_t c, double widest, bool *done, struct rs_err *err)
{
    struct rs_shift shift;
    const uint32_t *domains = &s->members[s->first[c]];
    enum rs_status status = widest > 0 ? rs_link_bounds(s->w, domains, size_of(s, c), widest, &shift, err)
                                       : rs_link_pairs(s->w, domains, size_of(s, c), &shift, err);
    *done = status == RS_OK && !isinf(shift.error);
    for (uint32_t i = 0; *done && i < size_of(s, c) && status == RS_OK; i++) {
        struct rs_track *t = &s->w->tracks[domains[i]];
        status = rs_track_move(t, &shift.curve, err);
        if (size_of(s, c) == 1 && shift.n) t->n = shift.n;
    }
    if (*done && status == RS_OK) set_placed(s, c, shift.error, widest > 0 ? RS_CLOCK_BOUNDS : RS_CLOCK_PAIRS);
    free(shift.curve.points);
    return status;
}

/* The components on the other side of a clock's bounds. */
static enum rs_status place_beside(struct sea *s, uint32_t domain, double widest, bool *any, struct rs_err *err)
{
    const struct rs_clockwork *w = s->w;
    bool done = false;
    if (w->m->domains[domain].kind == RS_DOMAIN_GPU) {
        uint32_t c = w->tracks[w->m->domains[domain].host_domain].component;
        if (!is_placed(s, c)) RS_TRY(place(s, c, widest, &done, err));
        *any |= done;
        return RS_OK;
    }
    for (uint32_t k = w->gpus_first[domain]; k < w->gpus_first[domain + 1]; k++) {
        uint32_t c = w->tracks[w->gpus[k]].component;
        if (is_placed(s, c)) continue;
        RS_TRY(place(s, c, widest, &done, err));
        *any |= done;
    }
    return RS_OK;
}

static enum rs_status place_near(struct sea *s, struct rs_err *err)
{
    bool any = false;
    for (; s->head < s->nqueue; s->head++) {
        uint32_t c = s->queue[s->head];
        for (uint32_t i = s->first[c]; i < s->first[c + 1]; i++)
            RS_TRY(place_beside(s, s->members[i], NARROW, &any, err));
    }
    return RS_OK;
}

static enum rs_status place_by_pairs(struct sea *s, bool *any, struct rs_err *err)
{
    uint32_t best = RS_NONE;
    for (uint32_t c = 0; c < s->ncomponents; c++)
        if (s->waiting[c] && !is_placed(s, c) && (best == RS_NONE || s->waiting[c] > s->waiting[best])) best = c;
    if (best == RS_NONE) return RS_OK;
    s->waiting[best] = 0;
    return place(s, best, 0, any, err);
}

static enum rs_status place_far(struct sea *s, bool *any, struct rs_err *err)
{
    for (uint32_t k = 0; k < s->nqueue && !*any; k++)
        for (uint32_t i = s->first[s->queue[k]]; i < s->first[s->queue[k] + 1]; i++)
            RS_TRY(place_beside(s, s->members[i], WIDE, any, err));
    return RS_OK;
}

/* A host whose own view of ends was fitted is better known through its GPUs, mostly: polling makes ends late. */
static enum rs_status better_hosts(struct sea *s, struct rs_err *err)
{
    for (uint32_t k = 0; k < s->nqueue; k++)
        for (uint32_t i = s->first[s->queue[k]]; i < s->first[s->queue[k] + 1]; i++) {
            uint32_t d = s->members[i];
            if (s->w->m->domains[d].kind != RS_DOMAIN_HOST || s->out->methods[d] != RS_CLOCK_ENDS) continue;
            struct rs_shift shift;
            enum rs_status status = rs_link_bounds(s->w, &d, 1, NARROW, &shift, err);
            if (status == RS_OK && shift.error < s->w->errors[d]) {
                status = rs_track_move(&s->w->tracks[d], &shift.curve, err);
                s->w->errors[d] = shift.error;
                s->out->methods[d] = RS_CLOCK_BOUNDS;
            }
            free(shift.curve.points);
            RS_TRY(status);
        }
    return RS_OK;
}

/* A host whose tool gives GPU times on the host's clock: it runs as they do, bends and all. */
static enum rs_status rigid_hosts(struct sea *s, struct rs_err *err)
{
    const struct rs_model *m = s->w->m;
    for (uint32_t d = 0; d < m->ndomains; d++) {
        uint32_t host = m->domains[d].host_domain;
        if (!m->domains[d].rigid || s->out->islands[d] != s->island || s->out->islands[host] != s->island) continue;
        if (s->w->errors[d] + RS_ATTACH_RIGID > s->w->errors[host]) continue; /* known better by another GPU */
        RS_TRY(rs_track_copy(&s->w->tracks[host], &s->w->tracks[d], err));
        s->w->errors[host] = s->w->errors[d] + RS_ATTACH_RIGID;
    }
    return RS_OK;
}

/* ---- the axis ---- */

/* The host whose time the axis shows: that of the clock the island grew from, else any of it; else that clock itself. */
static uint32_t find_anchor(const struct sea *s, uint32_t root)
{
    uint32_t host = s->w->m->domains[root].host_domain;
    if (s->out->islands[host] == s->island) return host;
    for (uint32_t k = 0; k < s->nqueue; k++)
        for (uint32_t i = s->first[s->queue[k]]; i < s->first[s->queue[k] + 1]; i++)
            if (s->w->m->domains[s->members[i]].kind == RS_DOMAIN_HOST) return s->members[i];
    return root;
}

/* Turns the axis so that the anchor's clock has nothing added to it in the middle of its run, nor a rate over the whole. */
static enum rs_status hang(struct sea *s, uint32_t root, struct rs_err *err)
{
    uint32_t anchor = find_anchor(s, root), near = 0;
    const struct rs_curve *c = &s->w->tracks[anchor].curve;
    double first = c->n ? c->points[0].x : 0, last = c->n ? c->points[c->n - 1].x : 0;
    if (last - first < 1e6) last = first + 1e6;
    double a = rs_curve_at(c, first, &near), b = rs_curve_at(c, last, &near);
    if (fabs(b - a) > MOST_TURN * (last - first)) b = a; /* a clock in doubt must not stretch all others */
    double lift = rs_curve_at(c, (first + last) / 2, &near) - (a + b) / 2;
    struct rs_point points[] = {{first + a, -a - lift}, {last + b, -b - lift}};
    struct rs_curve turn = {points, 2};
    for (uint32_t k = 0; k < s->nqueue; k++)
        for (uint32_t i = s->first[s->queue[k]]; i < s->first[s->queue[k] + 1]; i++) {
            RS_TRY(rs_track_move(&s->w->tracks[s->members[i]], &turn, err));
            s->out->anchors[s->members[i]] = anchor;
        }
    return RS_OK;
}

static enum rs_status make_island(struct sea *s, uint32_t c, bool main_one, struct rs_err *err)
{
    uint32_t root = s->members[s->first[c]];
    for (uint32_t i = s->first[c]; i < s->first[c + 1]; i++)
        if (s->w->tracks[s->members[i]].n && !s->w->tracks[s->members[i]].hops) root = s->members[i];
    s->island = root;
    s->nqueue = s->head = 0;
    set_placed(s, c, 0, RS_CLOCK_NONE);
    for (bool any = true; any;) {
        any = false;
        RS_TRY(place_near(s, err));
        RS_TRY(place_by_pairs(s, &any, err));
        if (!any) RS_TRY(place_far(s, &any, err));
    }
    RS_TRY(better_hosts(s, err));
    RS_TRY(rigid_hosts(s, err));
    s->out->methods[root] = main_one ? RS_CLOCK_REFERENCE : RS_CLOCK_WALL;
    if (!main_one && s->nqueue == 1 && size_of(s, c) == 1) s->w->errors[root] = NAN;
    for (uint32_t k = 0; k < s->ncomponents; k++) s->waiting[k] = 0; /* islands share no pairs */
    return hang(s, root, err);
}

static int by_size(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x > *y ? -1 : *x < *y;
}

static enum rs_status run(struct sea *s, uint64_t *order, double *values, struct rs_err *err)
{
    index_components(s);
    for (uint32_t c = 0; c < s->ncomponents; c++) {
        set_errors(s, c, values);
        order[c] = (uint64_t)size_of(s, c) << 32 | (UINT32_MAX - s->members[s->first[c]]);
    }
    for (uint32_t d = 0; d < s->w->m->ndomains; d++) s->out->islands[d] = RS_NONE;
    qsort(order, s->ncomponents, sizeof *order, by_size);
    bool main_one = true;
    for (uint32_t i = 0; i < s->ncomponents; i++) {
        uint32_t c = s->w->tracks[UINT32_MAX - (uint32_t)order[i]].component;
        if (is_placed(s, c)) continue;
        RS_TRY(make_island(s, c, main_one, err));
        main_one = false;
    }
    return RS_OK;
}

enum rs_status rs_islands_join(struct rs_clockwork *w, uint32_t ncomponents, struct rs_islands *out, struct rs_err *err)
{
    struct sea s = {.w = w, .out = out, .ncomponents = ncomponents};
    s.members = calloc((size_t)w->m->ndomains + 1, sizeof *s.members);
    s.first = calloc((size_t)ncomponents + 2, sizeof *s.first);
    s.queue = calloc((size_t)ncomponents + 1, sizeof *s.queue);
    s.waiting = calloc((size_t)ncomponents + 1, sizeof *s.waiting);
    uint64_t *order = calloc((size_t)ncomponents + 1, sizeof *order);
    double *values = calloc((size_t)w->m->ndomains + 1, sizeof *values);
    bool room = s.members && s.first && s.queue && s.waiting && order && values;
    enum rs_status status = room ? run(&s, order, values, err) : rs_fail(err, RS_NO_MEMORY, "out of memory");
    free(s.members);
    free(s.first);
    free(s.queue);
    free(s.waiting);
    free(order);
    free(values);
    return status;
}
