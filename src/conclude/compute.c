#include "conclude/compute.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/quantile.h"
#include "analyse/tracks.h"
#include "analyse/words.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/mix.h"
#include "base/room.h"
#include "conclude/chance.h"
#include "join/ranks.h"

#define LEAST_OF_STEP 0.005 /* of a step's length */
#define LEAST_RATIO 1.05
#define KERNEL_ERROR_NS 1000.0 /* of a step's compute: tools time kernels to a us or better */

/* The launches of one kernel by a rank in a step. */
struct cell {
    uint32_t unit, step, name;
    uint32_t n;
    int64_t sum;
};

struct finder {
    const struct rs_model *m;
    const struct rs_steps *steps;
    const struct rs_roles *roles;
    struct rs_rank_tracks tracks;
    const struct rs_rank_track **units;
    uint32_t *group; /* by unit; RS_NONE: it has no equals */
    uint32_t nunits, ngroups;
    struct cell *cells; /* by unit, name, step */
    uint32_t ncells, cap;
    /* [unit * steps + step]: */
    int64_t *ends;
    float *compute; /* ns; NAN: unknown */
};

/* ---- units: ranks whose kernels were recorded, in groups of equals ---- */

static void find_units(struct finder *f)
{
    struct rs_map index = {0};
    f->units = rs_alloc(((size_t)f->tracks.n + 1) * sizeof *f->units);
    f->group = rs_alloc(((size_t)f->tracks.n + 1) * sizeof *f->group);
    for (uint32_t i = 0; i < f->tracks.n; i++) {
        const struct rs_rank_track *t = &f->tracks.rows[i];
        if (!t->has_work || t->rank_id == RS_NONE || f->roles->of[t->rank_id] == RS_NONE) continue;
        uint64_t *at;
        rs_map_at(&index, rs_mix(rs_mix(1, f->roles->of[t->rank_id]), f->m->procs[t->proc].tool), f->ngroups, &at);
        f->ngroups += *at == f->ngroups;
        f->group[f->nunits] = (uint32_t)*at;
        f->units[f->nunits++] = t;
    }
    rs_map_free(&index);
    uint32_t *size = rs_zalloc((size_t)f->ngroups + 1, sizeof *size);
    for (uint32_t i = 0; i < f->nunits; i++) size[f->group[i]]++;
    for (uint32_t i = 0; i < f->nunits; i++)
        if (size[f->group[i]] < 2) f->group[i] = RS_NONE;
    free(size);
}

/* ---- kernels by step ---- */

/* When the unit's last operation of each step starts, by step: a kernel is of the first step that is not over by then.
 * Of the same tool, so on the same clock. RS_TIME_NONE: there is none in this step. */
static void find_ends(struct finder *f)
{
    const struct rs_model *m = f->m;
    uint32_t *unit_of = rs_alloc(((size_t)m->nranks + 1) * sizeof *unit_of); /* by rank_id */
    size_t n = (size_t)f->nunits * f->steps->n;
    f->ends = rs_alloc((n + 1) * sizeof *f->ends);
    for (size_t i = 0; i < n; i++) f->ends[i] = RS_TIME_NONE;
    for (uint32_t i = 0; i < m->nranks; i++) unit_of[i] = RS_NONE;
    for (uint32_t u = 0; u < f->nunits; u++) unit_of[f->units[u]->rank_id] = u;
    for (uint32_t part = 0; part < m->parts.n; part++) {
        if (m->parts.member[part] == RS_NONE) continue;
        const struct rs_member *x = &m->members[m->parts.member[part]];
        uint32_t op = m->parts.op[part], unit = x->rank_id == RS_NONE ? RS_NONE : unit_of[x->rank_id];
        if (unit == RS_NONE || f->units[unit]->proc != x->proc) continue;
        if (op == RS_NONE || m->parts.start[part] == RS_TIME_NONE) continue;
        if (m->ops.over[op] != RS_NONE) op = m->ops.over[op];
        uint32_t step = rs_steps_of_op(f->steps, m, op);
        if (step == RS_NONE) continue;
        int64_t *end = &f->ends[(size_t)unit * f->steps->n + step];
        if (m->parts.start[part] > *end) *end = m->parts.start[part];
    }
    free(unit_of);
}

static int by_cell(const void *a, const void *b)
{
    const struct cell *x = a, *y = b;
    if (x->unit != y->unit) return x->unit < y->unit ? -1 : 1;
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    return x->step < y->step ? -1 : x->step > y->step;
}

static void add_kernels(struct finder *f, uint32_t unit)
{
    const struct rs_rank_track *t = f->units[unit];
    const struct rs_activities *a = &f->m->activities;
    const int64_t *ends = &f->ends[(size_t)unit * f->steps->n];
    uint32_t step = 0;
    struct rs_map index = {0};
    for (uint32_t i = 0; i < t->nwork && step < f->steps->n; i++) { /* by start */
        uint32_t k = t->work[i];
        while (step < f->steps->n && (ends[step] == RS_TIME_NONE || a->start[k] > ends[step])) step++;
        if (step == f->steps->n || a->kind[k] != RS_ACT_COMPUTE || !rs_time_is_span(a->start[k], a->end[k])) continue;
        uint64_t *at;
        rs_map_at(&index, (uint64_t)step << 32 | a->name[k], f->ncells, &at);
        if (*at == f->ncells) {
            RS_ROOM(f->cells, f->ncells, f->cap);
            f->cells[f->ncells++] = (struct cell){.unit = unit, .step = step, .name = a->name[k]};
        }
        f->cells[*at].n++;
        f->cells[*at].sum += rs_time_minus(a->end[k], a->start[k]);
    }
    rs_map_free(&index);
}

static void find_compute(struct finder *f)
{
    size_t n = (size_t)f->nunits * f->steps->n;
    f->compute = rs_alloc((n + 1) * sizeof *f->compute);
    for (size_t i = 0; i < n; i++) f->compute[i] = NAN;
    for (uint32_t u = 0; u < f->nunits; u++)
        if (f->group[u] != RS_NONE) add_kernels(f, u);
    for (uint32_t i = 0; i < f->ncells; i++) {
        const struct cell *c = &f->cells[i];
        float *at = &f->compute[(size_t)c->unit * f->steps->n + c->step];
        *at = (isnan(*at) ? 0 : *at) + (float)c->sum;
    }
    if (f->ncells) qsort(f->cells, f->ncells, sizeof *f->cells, by_cell);
}

/* ---- what differs ---- */

/* The median over the equals, of all their steps that the unit has too. */
static int64_t usual_of(const struct finder *f, uint32_t unit)
{
    int64_t *values = NULL;
    uint32_t n = 0, cap = 0;
    for (uint32_t u = 0; u < f->nunits; u++) {
        if (u == unit || f->group[u] != f->group[unit]) continue;
        for (uint32_t s = 0; s < f->steps->n; s++) {
            float own = f->compute[(size_t)unit * f->steps->n + s], x = f->compute[(size_t)u * f->steps->n + s];
            if (isnan(own) || isnan(x)) continue;
            RS_ROOM(values, n, cap);
            values[n++] = (int64_t)x;
        }
    }
    int64_t median = rs_median(values, n);
    free(values);
    return median;
}

/* A kernel's use by one unit: cells of one name. */
struct use {
    uint32_t unit, name;
    double launches, ns; /* per step */
};

static int by_name(const void *a, const void *b)
{
    const struct use *x = a, *y = b;
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

static uint32_t steps_of(const struct finder *f, uint32_t unit)
{
    uint32_t n = 0;
    for (uint32_t s = 0; s < f->steps->n; s++)
        if (!isnan(f->compute[(size_t)unit * f->steps->n + s])) n++;
    return n;
}

/* The kernels of a group, by name and unit. */
static struct use *find_uses(const struct finder *f, uint32_t group, uint32_t *count)
{
    struct use *uses = NULL;
    uint32_t n = 0, cap = 0;
    for (uint32_t i = 0, k; i < f->ncells; i = k) {
        const struct cell *c = &f->cells[i];
        struct use use = {.unit = c->unit, .name = c->name};
        for (k = i; k < f->ncells && f->cells[k].unit == c->unit && f->cells[k].name == c->name; k++) {
            use.launches += f->cells[k].n;
            use.ns += (double)f->cells[k].sum;
        }
        if (f->group[c->unit] != group) continue;
        double steps = steps_of(f, c->unit);
        use.launches /= steps;
        use.ns /= steps;
        RS_ROOM(uses, n, cap);
        uses[n++] = use;
    }
    if (n) qsort(uses, n, sizeof *uses, by_name);
    *count = n;
    return uses;
}

static double median_of(double *values, uint32_t n)
{
    int64_t *scaled = rs_alloc(((size_t)n + 1) * sizeof *scaled);
    for (uint32_t i = 0; i < n; i++) scaled[i] = (int64_t)(values[i] * 1000);
    double median = (double)rs_median(scaled, n) / 1000;
    free(scaled);
    return median;
}

static void add_kernel(struct rs_compute_row *r, const struct rs_compute_kernel *k)
{
    uint32_t at = r->nkernels;
    while (at > 0 && r->kernels[at - 1].excess_ns < k->excess_ns) at--;
    if (at == RS_COMPUTE_KERNELS) return;
    if (r->nkernels < RS_COMPUTE_KERNELS) r->nkernels++;
    memmove(&r->kernels[at + 1], &r->kernels[at], (r->nkernels - at - 1) * sizeof *r->kernels);
    r->kernels[at] = *k;
}

/* Which kernels the excess of a unit is of. Those that it launches more often than the equals are more work; the launches
 * that they have in common may be slower, too, but that cannot be separated. */
static void explain(const struct finder *f, uint32_t unit, struct rs_compute_row *r)
{
    uint32_t n, equals = r->equals;
    struct use *uses = find_uses(f, f->group[unit], &n);
    double *ns = rs_alloc(2 * ((size_t)f->nunits + 1) * sizeof *ns), *launches = ns + f->nunits + 1;
    double slower = 0, all = 0;
    for (uint32_t i = 0, k; i < n; i = k) {
        const struct use *own = NULL;
        uint32_t others = 0;
        for (k = i; k < n && uses[k].name == uses[i].name; k++) {
            if (uses[k].unit == unit) {
                own = &uses[k];
                continue;
            }
            ns[others] = uses[k].ns;
            launches[others++] = uses[k].launches;
        }
        for (; others < equals; others++) ns[others] = launches[others] = 0; /* who does not launch it */
        double usual_ns = median_of(ns, others), usual = median_of(launches, others);
        double excess = (own ? own->ns : 0) - usual_ns;
        bool as_often = own && own->launches < 1.1 * usual + 0.1;
        all += excess;
        if (as_often) slower += excess;
        struct rs_compute_kernel kernel = {uses[i].name, (int64_t)excess, own ? own->launches : 0, usual};
        if (excess > 0) add_kernel(r, &kernel);
    }
    r->slower_ns = all > 0 ? (int64_t)((double)r->excess_ns * fmin(1, fmax(0, slower / all))) : 0;
    free(ns);
    free(uses);
}

/* ---- all ---- */

static int by_excess(const void *a, const void *b)
{
    const struct rs_compute_row *x = a, *y = b;
    if (x->excess_ns != y->excess_ns) return x->excess_ns > y->excess_ns ? -1 : 1;
    return x->rank_id < y->rank_id ? -1 : x->rank_id > y->rank_id;
}

static void judge(struct rs_compute *c, const struct finder *f)
{
    struct rs_chance_table table = {.late = f->compute,
                                    .group = f->group,
                                    .units = f->nunits,
                                    .groups = f->ngroups,
                                    .steps = f->steps->n,
                                    .error_ns = KERNEL_ERROR_NS};
    struct rs_chance chance;
    uint32_t cap = 0;
    rs_chance_init(&chance, &table);
    c->compared = chance.compared;
    c->steps = chance.steps;
    for (uint32_t u = 0; u < f->nunits; u++) {
        const struct rs_chance_row *x = &chance.rows[u];
        if (f->group[u] == RS_NONE || !x->found) continue;
        struct rs_compute_row r = {.rank_id = f->units[u]->rank_id,
                                   .equals = x->equals,
                                   .steps = x->steps,
                                   .late = x->late,
                                   .usual_ns = usual_of(f, u),
                                   .excess_ns = (int64_t)x->effect_ns,
                                   .low_ns = (int64_t)x->low_ns,
                                   .high_ns = (int64_t)x->high_ns,
                                   .p = x->p};
        double usual = (double)r.usual_ns;
        if (usual <= 0 || x->effect_ns < (LEAST_RATIO - 1) * usual) continue;
        if (f->steps->usual_ns != RS_TIME_NONE && x->effect_ns < LEAST_OF_STEP * (double)f->steps->usual_ns) continue;
        r.ratio = 1 + x->effect_ns / usual;
        r.ratio_low = 1 + x->low_ns / usual;
        r.ratio_high = 1 + x->high_ns / usual;
        explain(f, u, &r);
        RS_ROOM(c->rows, c->n, cap);
        c->rows[c->n++] = r;
    }
    if (c->n) qsort(c->rows, c->n, sizeof *c->rows, by_excess);
    rs_chance_free(&chance);
}

void rs_compute_find(struct rs_compute *c, const struct rs_view *view, const struct rs_steps *steps,
                     const struct rs_roles *roles)
{
    const struct rs_filter everything = {0};
    struct finder f = {.m = view->model, .steps = steps, .roles = roles};
    *c = (struct rs_compute){0};
    if (!view->model->activities.n || steps->n < RS_CHANCE_LEAST_STEPS) return;
    rs_rank_tracks_init(&f.tracks, view, &everything, false);
    find_units(&f);
    find_ends(&f);
    find_compute(&f);
    judge(c, &f);
    free(f.units);
    free(f.group);
    free(f.cells);
    free(f.ends);
    free(f.compute);
    rs_rank_tracks_free(&f.tracks);
}

void rs_compute_free(struct rs_compute *c)
{
    free(c->rows);
    *c = (struct rs_compute){0};
}

/* "gemm" of "void ns::gemm<float>(float const*)". */
static void say_kernel(struct rs_strbuf *s, const char *name)
{
    enum { MOST = 48 };
    const char *anonymous = "(anonymous namespace)::", *at = strstr(name, anonymous);
    if (at) name = at + strlen(anonymous);
    if (!strncmp(name, "void ", 5)) name += 5;
    size_t n = strcspn(name, "<(");
    rs_strbuf_printf(s, "%.*s", (int)(n < MOST ? n : MOST), name);
}

void rs_compute_say(struct rs_strbuf *s, const struct rs_model *m, const struct rs_compute_row *r)
{
    rs_rank_words(s, m, r->rank_id);
    rs_strbuf_puts(s, " computes ");
    rs_words_ns(s, r->excess_ns);
    rs_strbuf_puts(s, " (95 % interval ");
    rs_words_ns(s, r->low_ns);
    rs_strbuf_puts(s, " to ");
    rs_words_ns(s, r->high_ns);
    rs_strbuf_printf(s,
                     ") longer per step than its %" PRIu32 " equal%s, in %" PRIu32 " of %" PRIu32 " steps: ", r->equals,
                     r->equals == 1 ? "" : "s", r->late, r->steps);
    bool slower = rs_compute_is_slower(r);
    rs_strbuf_puts(s, slower ? "the same kernels take longer" : "it runs more kernels");
    if (r->nkernels) {
        rs_strbuf_puts(s, ", above all ");
        say_kernel(s, rs_model_name_text(m, r->kernels[0].name));
    }
    rs_strbuf_puts(s, slower ? "; check that GPU (clocks, thermals, other programs on it)."
                             : "; check its share of the work.");
}
