#include "conclude/findings.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/quantile.h"
#include "analyse/words.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/mix.h"
#include "base/room.h"
#include "conclude/chance.h"
#include "conclude/recurrent.h"
#include "join/ranks.h"
#include "join/waits.h"

static const char *const kinds[] = {"persistent", "sporadic", "one_off"};
static const char *const scopes[] = {"rank", "host", "link", "group", "run"};

const char *rs_finding_kind_name(enum rs_finding_kind kind)
{
    return kinds[kind];
}

const char *rs_finding_scope_name(enum rs_finding_scope scope)
{
    return scopes[scope];
}

enum { WORTH_A_LOOK = 20 }; /* of a step: a rank that is later now and then */

struct work {
    struct rs_findings *out;
    const struct rs_findings_of *of;
    const struct rs_model *m;
    float *late; /* [rank_id * steps + step] */
    struct rs_chance ranks, hosts;
    struct rs_recurrent recurrent;
};

static struct rs_finding *add(struct rs_findings *f, enum rs_finding_kind kind, enum rs_finding_scope scope)
{
    RS_ROOM(f->rows, f->n, f->cap);
    struct rs_finding *x = &f->rows[f->n++];
    *x = (struct rs_finding){.kind = kind,
                             .scope = scope,
                             .rank_id = RS_NONE,
                             .host = RS_NONE,
                             .peer_id = RS_NONE,
                             .late_ns = RS_TIME_NONE,
                             .late_low_ns = RS_TIME_NONE,
                             .late_high_ns = RS_TIME_NONE,
                             .cost_ns = RS_TIME_NONE,
                             .saving_ns = RS_TIME_NONE,
                             .saving_low_ns = RS_TIME_NONE,
                             .saving_high_ns = RS_TIME_NONE,
                             .at_ns = RS_TIME_NONE,
                             .p_value = NAN};
    return x;
}

/* ---- savings ---- */

static void set_saving(struct rs_finding *f, const struct rs_whatif_case *c)
{
    f->saving_ns = c->saving_ns;
    f->saving_low_ns = c->saving_low_ns;
    f->saving_high_ns = c->saving_high_ns;
}

/* What a cure saves at most, if it cannot be replayed: every late step is shorter. */
static int64_t worth(const struct rs_finding *f)
{
    if (f->kind == RS_ONE_OFF) return f->cost_ns;
    if (f->scope == RS_SCOPE_LINK && f->saving_ns == RS_TIME_NONE) return 0;
    return f->saving_ns != RS_TIME_NONE ? f->saving_ns : f->late_ns * (int64_t)f->late_steps;
}

/* Operations of the run for each one that was measured. */
static double scale(const struct rs_findings *f)
{
    return f->measured ? (double)f->operations / (double)f->measured : 1;
}

/* The median lateness must be worth it, too: a saving that comes from some steps only is not persistent. */
static bool matters(const struct rs_findings *f, const struct rs_finding *x)
{
    double least = RS_FINDING_SHARE * (double)f->run_ns;
    return (double)worth(x) >= least && (double)x->late_ns * x->late_steps * scale(f) >= least;
}

/* ---- who ---- */

static void set_rank(struct rs_finding *f, const struct rs_model *m, uint32_t rank_id)
{
    struct rs_strbuf s = {0};
    int32_t number = m->ranks[rank_id].number;
    f->rank_id = rank_id;
    f->host = m->ranks[rank_id].host;
    f->ranks = rs_alloc(sizeof *f->ranks);
    f->ranks[f->nranks++] = rank_id;
    if (number >= 0)
        rs_strbuf_printf(&s, "rank %" PRId32, number);
    else
        rs_rank_words(&s, m, rank_id);
    rs_strbuf_take(&s, &f->name);
}

static const char *advice_of(enum rs_why why, bool host)
{
    switch (why) {
    case RS_WHY_LAUNCHED_LATE:
        return host ? "its processes launch late: check the CPUs of that host (other load, data loading, storage)"
                    : "it launches late, and is not slow on the GPU: check that process (data loading, Python, other "
                      "load on its cores)";
    case RS_WHY_QUEUED:
        return host ? "its processes launch in time, and its GPUs are late: check them (power, cooling, clocks)"
                    : "it launches in time, and its GPU is late: check that GPU (clocks, thermals) or its share of the "
                      "work";
    default: return NULL;
    }
}

/* Why a rank or host is late, and the upper bound of its cost, as the stragglers have it: if one cause is most of what is
 * its own. */
static void set_why(const struct work *w, struct rs_finding *f)
{
    const struct rs_stragglers *s = w->of->stragglers;
    bool host = f->scope == RS_SCOPE_HOST;
    for (uint32_t i = 0; i < s->nrows; i++) {
        const struct rs_straggler *x = &s->rows[i];
        if (host ? x->rank_id != RS_NONE || x->host != f->host : x->rank_id != f->rank_id) continue;
        f->cost_ns = x->cost_ns;
        if (x->why >= RS_WHY_HELD || x->why_ns[x->why] <= x->cost_ns / 2) continue;
        f->why = rs_why_text(x->why);
        f->advice = advice_of(x->why, host);
    }
}

static void take_row(struct rs_finding *f, const struct rs_chance_row *r)
{
    f->steps = r->steps;
    f->late_steps = r->late;
    f->late_ns = (int64_t)r->effect_ns;
    f->late_low_ns = (int64_t)r->low_ns;
    f->late_high_ns = (int64_t)r->high_ns;
    f->p_value = r->p;
}

/* ---- ranks ---- */

static void find_ranks(struct work *w)
{
    const struct rs_roles *roles = w->of->roles;
    struct rs_chance_table t = {.late = w->late,
                                .group = roles->of,
                                .units = w->m->nranks,
                                .groups = roles->n,
                                .steps = w->of->steps->n,
                                .error_ns = RS_ONE_CLOCK_NS};
    rs_chance_init(&w->ranks, &t);
    w->out->compared = w->ranks.compared;
    w->out->steps = w->ranks.steps;
    w->out->seen_ns = w->ranks.seen_ns;
    w->out->is_compared = rs_zalloc((size_t)w->m->nranks + 1, sizeof *w->out->is_compared);
    for (uint32_t r = 0; r < w->m->nranks; r++)
        w->out->is_compared[r] = w->ranks.rows[r].steps >= RS_CHANCE_LEAST_STEPS;
    for (uint32_t r = 0; r < w->m->nranks; r++) {
        if (!w->ranks.rows[r].found) continue;
        struct rs_finding *f = add(w->out, RS_PERSISTENT, RS_SCOPE_RANK);
        set_rank(f, w->m, r);
        take_row(f, &w->ranks.rows[r]);
        set_why(w, f);
        set_saving(f, rs_whatif_add(w->of->whatif, RS_CURE_RANK, r));
        f->named = matters(w->out, f);
    }
}

/* ---- hosts ---- */

/* Hosts with ranks of the same roles can be compared: they get the same group. */
static uint32_t group_hosts(const struct work *w, uint32_t *group)
{
    const struct rs_roles *roles = w->of->roles;
    struct rs_map groups = {0};
    uint32_t n = 0;
    uint64_t *sums = rs_zalloc((size_t)w->m->nhosts + 1, sizeof *sums);
    uint32_t *ranks = rs_zalloc((size_t)w->m->nhosts + 1, sizeof *ranks);
    for (uint32_t r = 0; r < w->m->nranks; r++) {
        if (roles->of[r] == RS_NONE) continue;
        sums[w->m->ranks[r].host] += rs_mix(0x517cc1b727220a95u, roles->of[r]); /* the order of ranks does not matter */
        ranks[w->m->ranks[r].host]++;
    }
    for (uint32_t h = 0; h < w->m->nhosts; h++) {
        group[h] = RS_NONE;
        if (ranks[h] < 2) continue; /* a host of one rank is that rank */
        group[h] = (uint32_t)rs_map_get(&groups, sums[h], n);
        if (group[h] == n) rs_map_put(&groups, sums[h], n++);
    }
    rs_map_free(&groups);
    free(sums);
    free(ranks);
    return n;
}

/* [host * steps + step]: the lower median of its ranks, so that one late rank is not its host. */
static float *late_hosts(const struct work *w)
{
    const struct rs_model *m = w->m;
    uint32_t steps = w->of->steps->n, *first = rs_zalloc((size_t)m->nhosts + 2, sizeof *first);
    uint32_t *ranks = rs_alloc(((size_t)m->nranks + 1) * sizeof *ranks);
    int64_t *values = rs_alloc(((size_t)m->nranks + 1) * sizeof *values);
    float *late = rs_alloc(((size_t)m->nhosts * steps + 1) * sizeof *late);
    for (uint32_t r = 0; r < m->nranks; r++) first[m->ranks[r].host + 2]++;
    for (uint32_t h = 0; h < m->nhosts; h++) first[h + 2] += first[h + 1];
    for (uint32_t r = 0; r < m->nranks; r++) ranks[first[m->ranks[r].host + 1]++] = r;
    for (uint32_t h = 0; h < m->nhosts; h++)
        for (uint32_t s = 0; s < steps; s++) {
            uint32_t n = 0;
            for (uint32_t i = first[h]; i < first[h + 1]; i++) {
                float x = w->late[(size_t)ranks[i] * steps + s];
                if (!isnan(x)) values[n++] = (int64_t)x;
            }
            bool most = 2 * n > first[h + 1] - first[h];
            late[(size_t)h * steps + s] = most ? (float)rs_median(values, n) : NAN;
        }
    free(first);
    free(ranks);
    free(values);
    return late;
}

/* A host is what its ranks have in common, if none of them explains most of it. */
static void take_host(struct work *w, uint32_t host)
{
    struct rs_findings *out = w->out;
    struct rs_finding *f = add(out, RS_PERSISTENT, RS_SCOPE_HOST);
    f->host = host;
    f->ranks = rs_alloc(((size_t)w->m->nranks + 1) * sizeof *f->ranks);
    for (uint32_t r = 0; r < w->m->nranks; r++)
        if (w->m->ranks[r].host == host) f->ranks[f->nranks++] = r;
    rs_asprintf(&f->name, "host %s", rs_host_label(w->m, host));
    take_row(f, &w->hosts.rows[host]);
    set_why(w, f);
    set_saving(f, rs_whatif_add(w->of->whatif, RS_CURE_HOST, host));
    f->named = matters(out, f);
    for (uint32_t i = 0; i + 1 < out->n; i++) {
        const struct rs_finding *x = &out->rows[i];
        if (x->scope == RS_SCOPE_RANK && x->host == host && (double)worth(x) >= 0.8 * (double)worth(f))
            f->named = false;
    }
    for (uint32_t i = 0; f->named && i + 1 < out->n; i++)
        if (out->rows[i].scope == RS_SCOPE_RANK && out->rows[i].host == host) out->rows[i].named = false;
}

static void find_hosts(struct work *w)
{
    uint32_t *group = rs_alloc(((size_t)w->m->nhosts + 1) * sizeof *group);
    struct rs_chance_table t = {.group = group,
                                .units = w->m->nhosts,
                                .groups = group_hosts(w, group),
                                .steps = w->of->steps->n,
                                .error_ns = RS_ONE_CLOCK_NS};
    float *late = late_hosts(w);
    t.late = late;
    rs_chance_init(&w->hosts, &t);
    w->out->hosts = w->hosts.compared;
    for (uint32_t h = 0; h < w->m->nhosts; h++)
        if (w->hosts.rows[h].found) take_host(w, h);
    free(late);
    free(group);
}

/* ---- groups ---- */

/* Whether n late ranks are most of the `all` that share something. */
static bool are_most(uint32_t n, uint32_t all)
{
    return n >= 2 && 3 * n >= 2 * all;
}

/* What late ranks share: the same GPU of their hosts (a rail), or a communicator. NULL: neither. */
static char *shared_by(const struct rs_model *m, const struct rs_finding *f)
{
    char *text;
    int32_t device = m->ranks[f->ranks[0]].device;
    uint32_t same = 0, *host = rs_zalloc((size_t)m->nhosts + 1, sizeof *host);
    bool *late = rs_zalloc((size_t)m->nranks + 1, sizeof *late), rail = device >= 0;
    for (uint32_t r = 0; r < m->nranks; r++) same += m->ranks[r].device == device;
    for (uint32_t i = 0; i < f->nranks; i++) {
        const struct rs_rank *r = &m->ranks[f->ranks[i]];
        late[f->ranks[i]] = true;
        rail &= r->device == device && ++host[r->host] == 1;
    }
    free(host);
    if (rail && are_most(f->nranks, same)) {
        rs_asprintf(&text, "all have GPU %" PRId32 " of their hosts", device);
        free(late);
        return text;
    }
    for (uint32_t c = 0; c < m->ncomms; c++) {
        const struct rs_comm_row *comm = &m->comms[c];
        uint32_t n = 0;
        if (comm->over != RS_NONE || comm->nmembers >= m->nranks || !are_most(f->nranks, comm->nmembers)) continue;
        for (uint32_t i = comm->first_member; i != RS_NONE; i = m->members[i].next)
            n += m->members[i].rank_id != RS_NONE && late[m->members[i].rank_id];
        if (n < f->nranks) continue;
        rs_asprintf(&text, "all are in communicator %s", comm->name ? comm->name : "of their own");
        free(late);
        return text;
    }
    free(late);
    return NULL;
}

/* Of those of the first n findings that are `in`; the best saving of one of them is `best`. */
static void make_group(struct work *w, const bool *in, uint32_t n, uint32_t late, int64_t best)
{
    struct rs_findings *out = w->out;
    struct rs_finding *f = add(out, RS_PERSISTENT, RS_SCOPE_GROUP);
    f->ranks = rs_alloc(((size_t)late + 1) * sizeof *f->ranks);
    f->late_ns = f->late_low_ns = f->late_high_ns = INT64_MAX;
    f->p_value = 0;
    f->steps = f->late_steps = UINT32_MAX;
    struct rs_strbuf name = {0};
    rs_strbuf_puts(&name, "ranks ");
    for (uint32_t i = 0; i < n; i++) {
        const struct rs_finding *x = &out->rows[i];
        if (!in[i]) continue;
        rs_strbuf_printf(&name, "%s%" PRId32, f->nranks ? "," : "", w->m->ranks[x->rank_id].number);
        f->ranks[f->nranks++] = x->rank_id;
        if (x->late_ns < f->late_ns) { /* each of them is late by this or more */
            f->late_ns = x->late_ns;
            f->late_low_ns = x->late_low_ns;
            f->late_high_ns = x->late_high_ns;
        }
        if (x->late_steps < f->late_steps) {
            f->late_steps = x->late_steps;
            f->steps = x->steps;
        }
        if (x->p_value > f->p_value) f->p_value = x->p_value;
    }
    rs_strbuf_take(&name, &f->name);
    f->shared = shared_by(w->m, f);
    f->why = f->shared;
    set_saving(f, rs_whatif_add_ranks(w->of->whatif, f->ranks, f->nranks));
    f->named = matters(out, f) && (double)best < 0.8 * (double)worth(f);
    for (uint32_t i = 0; f->named && i < n; i++)
        if (in[i]) out->rows[i].named = false;
}

/* Ranks that are late together: fixing one of them shows the next. One finding, if together they explain more than the
 * worst of them alone. */
static void find_group(struct work *w)
{
    struct rs_findings *out = w->out;
    uint32_t late = 0, n = out->n;
    int64_t best = 0;
    bool *by_host = rs_zalloc((size_t)w->m->nhosts + 1, sizeof *by_host), *in = rs_zalloc((size_t)n + 1, sizeof *in);
    for (uint32_t i = 0; i < n; i++)
        if (out->rows[i].scope == RS_SCOPE_HOST && out->rows[i].named) by_host[out->rows[i].host] = true;
    for (uint32_t i = 0; i < n; i++) {
        in[i] = out->rows[i].scope == RS_SCOPE_RANK && !by_host[out->rows[i].host];
        late += in[i];
        if (in[i] && worth(&out->rows[i]) > best) best = worth(&out->rows[i]);
    }
    free(by_host);
    if (late >= 2) make_group(w, in, n, late, best);
    free(in);
}
/* ---- links ---- */

static const char *link_advice(const struct rs_slow_link *x)
{
    if (x->place == RS_LINK_IN_HOST) return "it is inside one host: check why NCCL uses the network there";
    if (x->place != RS_LINK_BETWEEN_HOSTS) return NULL;
    return x->scope == RS_SLOW_LINK ? "check that path (NIC, cable, switch port)"
                                    : "check its NIC, cable and switch port";
}

static void take_links(struct work *w)
{
    const struct rs_matrix *n = w->of->network;
    for (uint32_t i = 0; i < n->nslow; i++) {
        const struct rs_slow_link *x = &n->slow[i];
        const struct rs_link_row *row = &n->rows[x->row];
        struct rs_finding *f = add(w->out, RS_PERSISTENT, RS_SCOPE_LINK);
        f->slow = x;
        f->link = row;
        f->rank_id = x->rank_id;
        f->peer_id = x->peer_id;
        f->host = x->host;
        f->ranks = rs_alloc(2 * sizeof *f->ranks);
        if (x->rank_id != RS_NONE) f->ranks[f->nranks++] = x->rank_id;
        if (x->peer_id != RS_NONE) f->ranks[f->nranks++] = x->peer_id;
        rs_asprintf(&f->name, "link %" PRId32 "-%" PRId32, w->m->ranks[row->rank_id].number,
                    row->peer_id != RS_NONE ? w->m->ranks[row->peer_id].number : -1);
        f->p_value = x->p_value;
        f->advice = link_advice(x);
        if (row->peer_id != RS_NONE) set_saving(f, rs_whatif_add_link(w->of->whatif, row->rank_id, row->peer_id));
        f->named = f->saving_ns == RS_TIME_NONE ? x->place != RS_LINK_IN_HOST
                                                : (double)f->saving_ns >= RS_FINDING_SHARE * (double)w->out->run_ns;
    }
}

/* ---- compute ---- */

/* GPUs that compute longer than their equals: why a rank is late, or, if that is hidden, a finding of its own. */
static void take_compute(struct work *w)
{
    const struct rs_compute *c = w->of->compute;
    for (uint32_t i = 0; i < c->n; i++) {
        const struct rs_compute_row *x = &c->rows[i];
        struct rs_finding *f = NULL;
        for (uint32_t k = 0; k < w->out->n && !f; k++)
            if (w->out->rows[k].scope == RS_SCOPE_RANK && w->out->rows[k].rank_id == x->rank_id) f = &w->out->rows[k];
        if (!f) {
            f = add(w->out, RS_PERSISTENT, RS_SCOPE_RANK);
            set_rank(f, w->m, x->rank_id);
            f->steps = x->steps;
            f->late_steps = x->late;
            f->late_ns = x->excess_ns;
            f->late_low_ns = x->low_ns;
            f->late_high_ns = x->high_ns;
            f->p_value = x->p;
            f->compute = x;
            set_saving(f, rs_whatif_add(w->of->whatif, RS_CURE_RANK, x->rank_id));
            f->named = matters(w->out, f);
        }
        f->why = rs_compute_why(x);
        f->advice = rs_compute_is_slower(x)
                        ? "its kernels take longer than those of its equals: check that GPU (clocks, thermals, other "
                          "programs on it)"
                        : "it runs more kernels than its equals: check its share of the work";
    }
}

/* ---- sporadic ---- */

/* A rank that is late again and again, but not in most steps. */
static void take_recurrent(struct work *w)
{
    const struct rs_recurrent *x = &w->recurrent;
    if (x->rank_id == RS_NONE || x->p > RS_CHANCE_LEVEL || w->ranks.rows[x->rank_id].found) return;
    struct rs_finding *f = add(w->out, RS_SPORADIC, RS_SCOPE_RANK);
    set_rank(f, w->m, x->rank_id);
    f->steps = x->steps;
    f->late_steps = x->late;
    f->late_ns = x->late_ns;
    f->p_value = x->p;
    if (x->every) rs_asprintf(&f->shared, "every %" PRIu32 " steps", x->every);
    f->why = f->shared;
    f->advice = "check what it does there: data loading, garbage collection, logging, checkpoints";
    set_saving(f, rs_whatif_add(w->of->whatif, RS_CURE_SPORADIC, x->rank_id));
    free(f->name);
    rs_asprintf(&f->name, "sporadic rank %" PRId32, w->m->ranks[x->rank_id].number);
    f->named = matters(w->out, f);
}

/* What every step waits for whoever is last: beyond what is due to one rank. */
static void find_sporadic(struct work *w)
{
    const struct rs_recurrent *r = &w->recurrent;
    const struct rs_finding *one = w->out->n ? &w->out->rows[w->out->n - 1] : NULL;
    bool due = one && one->kind == RS_SPORADIC && one->named;
    int64_t explained = due ? one->saving_ns : 0;
    const struct rs_whatif_case *c = rs_whatif_add(w->of->whatif, RS_CURE_SPORADIC, RS_NONE);
    if (c->saving_ns == RS_TIME_NONE || (double)c->saving_ns < 2 * RS_FINDING_SHARE * (double)w->out->run_ns) return;
    if (explained >= c->saving_ns / 2) return;
    struct rs_finding *f = add(w->out, RS_SPORADIC, RS_SCOPE_RUN);
    f->name = rs_strdup("run");
    set_saving(f, c);
    f->steps = w->out->steps;
    if (f->steps) f->late_ns = (int64_t)((double)c->saving_ns / scale(w->out)) / f->steps;
    if (!due && r->hits > 2 && 2 * r->hits > r->all && !w->ranks.rows[r->rank_id].found)
        rs_asprintf(&f->shared,
                    "rank %" PRId32 " was last in %" PRIu32 " of the %" PRIu32 " worst, which may be chance",
                    w->m->ranks[r->rank_id].number, r->hits, r->all);
    f->why = f->shared;
}

/* ---- one-offs ---- */

static void take_one_offs(struct work *w)
{
    const struct rs_one_offs *o = w->of->one_offs;
    for (uint32_t i = 0; i < o->n; i++) {
        const struct rs_one_off *x = &o->rows[i];
        if ((double)x->excess_ns < RS_FINDING_SHARE * (double)w->out->run_ns) continue;
        struct rs_finding *f = add(w->out, RS_ONE_OFF, x->rank_id != RS_NONE ? RS_SCOPE_RANK : RS_SCOPE_RUN);
        if (x->rank_id != RS_NONE)
            set_rank(f, w->m, x->rank_id);
        else
            f->name = rs_strdup("run");
        f->at_ns = x->at_ns;
        f->cost_ns = x->excess_ns;
        f->why = x->text;
    }
}

/* ---- the pace of a pipeline ---- */

static void find_pace(struct work *w)
{
    const struct rs_graph *g = &w->of->whatif->graph;
    const struct rs_steps *steps = w->of->steps;
    int64_t *sums = rs_alloc(((size_t)steps->n + 1) * sizeof *sums),
            *medians = rs_alloc(((size_t)g->nranks + 1) * sizeof *medians);
    uint32_t ranks = 0, most = RS_NONE;
    struct rs_pace *p = &w->out->pace;
    for (uint32_t r = 0; r < g->nranks; r++) {
        uint32_t n = 0;
        for (uint32_t s = 0; s < steps->n; s++) sums[s] = RS_TIME_NONE;
        for (uint32_t k = g->first[r]; k < g->first[r + 1]; k++) {
            const struct rs_node *x = &g->nodes[g->by_rank[k]];
            if (x->step == RS_NONE || x->step < steps->warmup || !steps->rows[x->step].counted || !x->recorded)
                continue;
            if (sums[x->step] == RS_TIME_NONE) sums[x->step] = 0;
            if (x->gap > 0) sums[x->step] = rs_time_plus(sums[x->step], x->gap);
        }
        for (uint32_t s = 0; s < steps->n; s++)
            if (sums[s] != RS_TIME_NONE) sums[n++] = sums[s];
        if (n < RS_CHANCE_LEAST_STEPS) continue;
        medians[ranks] = rs_median(sums, n);
        if (most == RS_NONE || medians[ranks] > p->own_ns) {
            most = ranks;
            p->own_ns = medians[ranks];
            p->rank_id = r;
        }
        ranks++;
    }
    if (most != RS_NONE) medians[most] = medians[--ranks];
    p->others_ns = ranks ? rs_median(medians, ranks) : RS_TIME_NONE;
    if (!ranks || (double)p->own_ns < (1 + RS_PACE_SHARE) * (double)p->others_ns) p->rank_id = RS_NONE;
    free(sums);
    free(medians);
}

/* ---- all of them ---- */

static int by_importance(const void *a, const void *b)
{
    const struct rs_finding *x = a, *y = b;
    if (x->named != y->named) return x->named ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    int64_t p = worth(x), q = worth(y);
    return p != q ? (p > q ? -1 : 1) : (int)(x->rank_id > y->rank_id) - (int)(x->rank_id < y->rank_id);
}

/* A step in which one rank paused says nothing about what is persistent; unless there are many of them. */
static void leave_pauses_out(struct work *w)
{
    const struct rs_one_offs *o = w->of->one_offs;
    uint32_t steps = w->of->steps->n, n = 0;
    for (uint32_t i = 0; i < o->n; i++) n += !o->rows[i].left_out && o->rows[i].rank_id != RS_NONE;
    if (3 * n > steps - w->of->steps->warmup) return;
    for (uint32_t i = 0; i < o->n; i++)
        for (uint32_t r = 0; o->rows[i].rank_id != RS_NONE && o->rows[i].step < steps && r < w->m->nranks; r++)
            w->late[(size_t)r * steps + o->rows[i].step] = NAN;
}

void rs_findings_init(struct rs_findings *f, const struct rs_findings_of *of)
{
    *f = (struct rs_findings){.seen_ns = NAN, .pace = {.rank_id = RS_NONE}};
    const struct rs_graph *g = &of->whatif->graph;
    struct work w = {.out = f, .of = of, .m = of->view->model};
    f->run_ns = of->whatif->makespan_ns;
    f->steps_ns = of->whatif->steps_ns;
    f->measured = of->whatif->measured;
    f->operations = of->whatif->all;
    f->refused = of->whatif->refused;
    take_links(&w);
    if (!g->nnodes || !of->steps->n) return;
    if (of->steps->warmup && of->steps->warmup < of->steps->n)
        f->run_ns = rs_time_minus(of->whatif->end, of->steps->rows[of->steps->warmup].from);
    struct rs_excess excess;
    rs_excess_init(&excess, g, of->roles);
    w.late = rs_alloc(((size_t)g->nranks * of->steps->n + 1) * sizeof *w.late);
    rs_excess_by_step(&excess, of->roles, of->steps, w.late);
    rs_excess_free(&excess);
    int64_t least = of->whatif->step_ns != RS_TIME_NONE ? of->whatif->step_ns / WORTH_A_LOOK : RS_ONE_CLOCK_NS;
    rs_recurrent_find(&w.recurrent, w.late, of->roles, g->nranks, of->steps->n, least);
    leave_pauses_out(&w);
    find_ranks(&w);
    if (w.m->nhosts > 1) find_hosts(&w);
    find_group(&w);
    take_compute(&w);
    if (!f->compared) find_pace(&w);
    if (f->compared) take_recurrent(&w);
    if (f->compared) find_sporadic(&w);
    take_one_offs(&w);
    if (f->n) qsort(f->rows, f->n, sizeof *f->rows, by_importance);
    rs_chance_free(&w.ranks);
    rs_chance_free(&w.hosts);
    free(w.late);
}

void rs_findings_free(struct rs_findings *f)
{
    for (uint32_t i = 0; i < f->n; i++) {
        free(f->rows[i].name);
        free(f->rows[i].ranks);
        free(f->rows[i].shared);
    }
    free(f->rows);
    free(f->is_compared);
    *f = (struct rs_findings){0};
}

/* ---- sentences ---- */

static void say_share(struct rs_strbuf *s, const struct rs_findings *f, int64_t ns)
{
    rs_words_share(s, f->steps_ns > 0 ? 100 * (double)ns / (double)f->steps_ns : 0);
    if (f->operations > f->measured)
        rs_strbuf_printf(s, ", extrapolated from %" PRIu64 " of %" PRIu64 " operations", f->measured, f->operations);
}

/* What a cure saves, the command that shows it, and what to check. */
static void say_saving(struct rs_strbuf *s, const struct rs_findings *f, const struct rs_finding *x)
{
    if (x->saving_ns == RS_TIME_NONE) {
        rs_strbuf_printf(s, "what that costs is unknown: %s", f->refused ? f->refused : "it cannot be replayed");
    } else {
        rs_strbuf_puts(s, "without that the run takes ");
        rs_words_interval(s, x->saving_ns, x->saving_low_ns, x->saving_high_ns);
        rs_strbuf_puts(s, " less");
        say_share(s, f, x->saving_ns);
    }
    rs_strbuf_printf(s, " (`ringscope whatif --take-out '%s'`).", x->name);
    if (x->advice) rs_strbuf_printf(s, " %c%s.", toupper((unsigned char)x->advice[0]), x->advice + 1);
}

static void say_persistent(struct rs_strbuf *s, const struct rs_findings *f, const struct rs_finding *x,
                           const struct rs_model *m)
{
    if (x->scope == RS_SCOPE_RANK)
        rs_rank_words(s, m, x->rank_id);
    else
        rs_strbuf_puts(s, x->name);
    if (x->shared) rs_strbuf_printf(s, " (%s)", x->shared);
    bool several = x->scope == RS_SCOPE_GROUP;
    rs_strbuf_puts(s, x->scope == RS_SCOPE_HOST ? ": its ranks start " : several ? " each start " : " starts ");
    rs_words_interval(s, x->late_ns, x->late_low_ns, x->late_high_ns);
    rs_strbuf_printf(s, "%s later than %s, in %" PRIu32 " of %" PRIu32 "%s steps; ", several ? " or more" : "",
                     x->scope == RS_SCOPE_HOST ? "equal ranks of other hosts"
                     : several                 ? "their equals"
                                               : "its equals",
                     x->late_steps, x->steps, f->operations > f->measured ? " measured" : "");
    say_saving(s, f, x);
}

/* "Rank 3 starts 30 ms later than its equals in 5 of 40 steps, every 8 steps; ..." */
static void say_recurrent(struct rs_strbuf *s, const struct rs_findings *f, const struct rs_finding *x,
                          const struct rs_model *m)
{
    rs_rank_words(s, m, x->rank_id);
    rs_strbuf_puts(s, " starts ");
    rs_words_ns(s, x->late_ns);
    rs_strbuf_printf(s, " later than its equals in %" PRIu32 " of %" PRIu32 " steps%s%s; ", x->late_steps, x->steps,
                     x->shared ? ", " : "", x->shared ? x->shared : "");
    say_saving(s, f, x);
}

static void host_words(struct rs_strbuf *s, const struct rs_model *m, uint32_t host)
{
    const char *name = rs_host_name(m, host);
    rs_strbuf_printf(s, "host %s", name ? name : "?");
}

/* Who: "the link from rank 1 to rank 2", "rank 1 is slow sending to 3 peers: the network". */
static void slow_words(struct rs_strbuf *s, const struct rs_model *m, const struct rs_slow_link *x,
                       const struct rs_link_row *row)
{
    switch (x->scope) {
    case RS_SLOW_LINK:
        rs_strbuf_puts(s, "the link from ");
        rs_rank_words(s, m, row->rank_id);
        rs_strbuf_puts(s, " to ");
        if (row->peer_id != RS_NONE)
            rs_rank_words(s, m, row->peer_id);
        else
            rs_strbuf_puts(s, "a rank without a recording");
        return;
    case RS_SLOW_SENDER: rs_rank_words(s, m, row->rank_id); break;
    case RS_SLOW_RECEIVER: rs_rank_words(s, m, row->peer_id); break;
    case RS_SLOW_SENDING_HOST: host_words(s, m, m->ranks[row->rank_id].host); break;
    case RS_SLOW_RECEIVING_HOST: host_words(s, m, m->ranks[row->peer_id].host); break;
    }
    bool sends = x->scope == RS_SLOW_SENDER || x->scope == RS_SLOW_SENDING_HOST;
    uint32_t other = sends ? x->peer_host : x->host;
    rs_strbuf_printf(s, " is slow %s ", sends ? "sending to" : "receiving from");
    if (other != RS_NONE && x->place == RS_LINK_BETWEEN_HOSTS)
        host_words(s, m, other);
    else if (x->scope == RS_SLOW_SENDER || x->scope == RS_SLOW_RECEIVER)
        rs_strbuf_printf(s, "%" PRIu32 " peers", x->links);
    else
        rs_strbuf_puts(s, "other hosts");
    rs_strbuf_printf(s, " (%" PRIu32 " links): the network", x->links);
}

static void say_link(struct rs_strbuf *s, const struct rs_findings *f, const struct rs_finding *x,
                     const struct rs_model *m)
{
    slow_words(s, m, x->slow, x->link);
    rs_strbuf_printf(s, " takes %.1f times (%.1f to %.1f) as long per message as the median of similar links",
                     x->slow->slower, x->slow->low, x->slow->high);
    if (x->saving_ns != RS_TIME_NONE) {
        rs_strbuf_puts(s, "; without that the run takes ");
        rs_words_interval(s, x->saving_ns, x->saving_low_ns, x->saving_high_ns);
        rs_strbuf_puts(s, " less");
        say_share(s, f, x->saving_ns);
    }
    if (x->advice) rs_strbuf_printf(s, ": %s", x->advice);
    rs_strbuf_puts(s, " (`ringscope report --json | jq .slow_links`).");
}

void rs_finding_say(struct rs_strbuf *s, const struct rs_findings *f, const struct rs_finding *x,
                    const struct rs_model *m)
{
    if (x->slow) {
        say_link(s, f, x, m);
    } else if (x->compute) {
        rs_compute_say(s, m, x->compute);
    } else if (x->kind == RS_PERSISTENT) {
        say_persistent(s, f, x, m);
    } else if (x->kind == RS_SPORADIC && x->scope == RS_SCOPE_RANK) {
        say_recurrent(s, f, x, m);
    } else if (x->kind == RS_SPORADIC) {
        rs_strbuf_puts(s, "every step waits ");
        rs_words_ns(s, x->late_ns);
        rs_strbuf_puts(s, " for whoever is last, together ");
        rs_words_ns(s, x->saving_ns);
        say_share(s, f, x->saving_ns);
        rs_strbuf_printf(s, "; %s (`ringscope whatif --take-out sporadic`).",
                         x->shared ? x->shared : "that moves from rank to rank");
    }
}
