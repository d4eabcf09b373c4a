#include "join/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/room.h"
#include "join/fit.h"
#include "join/flow.h"

enum {
    MOST_OF_A_CLOCK = 3000, /* samples: medians of 32 follow a clock at about 90 places */
    MOST_IN_ALL = 3000000,
    LEAST_OF_A_COMM = 32,
    ENOUGH_QUICK = 8, /* operations */
};

#define LONGEST_RUN (INT64_C(366) * 86400 * 1000000000) /* ns */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 33) * 0xff51afd7ed558ccd;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53;
    return x ^ x >> 33;
}

struct spans {
    int64_t *first, *last;
    bool *known;
};

static void take_time(const struct spans *s, uint32_t domain, int64_t t)
{
    if (domain == RS_NONE || t == RS_TIME_NONE) return;
    if (!s->known[domain]) s->first[domain] = s->last[domain] = t;
    s->known[domain] = true;
    /* Damaged times are years away. */
    if (t > s->last[domain] && rs_time_minus(t, s->first[domain]) < LONGEST_RUN) s->last[domain] = t;
}

void rs_samples_spans(const struct rs_model *m, int64_t **bases, int64_t **lasts)
{
    size_t n = (size_t)m->ndomains + 1;
    struct spans s = {rs_zalloc(n, sizeof *s.first), rs_zalloc(n, sizeof *s.last), rs_zalloc(n, sizeof *s.known)};
    *bases = s.first;
    *lasts = s.last;
    if (!s.first || !s.last || !s.known) rs_memory_out();
    for (uint32_t i = 0; i < m->nprocs; i++) {
        take_time(&s, m->hosts[m->procs[i].host].domain, m->procs[i].first);
        take_time(&s, m->hosts[m->procs[i].host].domain, m->procs[i].begin);
    }
    for (uint32_t i = 0; i < m->ndomains; i++)
        if (m->domains[i].bounds && m->domains[i].bounds->width) take_time(&s, i, m->domains[i].bounds->base);
    for (uint32_t i = 0; i < m->parts.n; i++) {
        take_time(&s, rs_part_start_domain(m, i), m->parts.start[i]);
        take_time(&s, rs_part_end_domain(m, i), m->parts.end[i]);
    }
    free(s.known);
}

/* The clock of a part's end, if it can be used; else RS_NONE. */
static uint32_t end_domain(const struct rs_model *m, uint32_t part)
{
    if (!rs_part_has_ended(m, part) || (m->parts.flags[part] & RS_PART_STALE)) return RS_NONE;
    return rs_part_end_domain(m, part);
}

/* Whether an operation relates at least two clocks. */
static bool relates(const struct rs_model *m, uint32_t op)
{
    uint32_t seen = RS_NONE;
    for (uint32_t i = 0; i < m->ops.nparts[op]; i++) {
        uint32_t d = end_domain(m, m->order[m->ops.part[op] + i]);
        if (d == RS_NONE || d == seen) continue;
        if (seen != RS_NONE) return true;
        seen = d;
    }
    return false;
}

/* ---- collecting ---- */

static void begin_moment(struct rs_samples *s, uint32_t op)
{
    RS_ROOM(s->moments, s->nmoments, s->cap_moments);
    s->moments[s->nmoments++] = (struct rs_moment){.op = op, .first = s->n};
}

static void add_sample(struct rs_samples *s, const struct rs_model *m, const int64_t *bases, uint32_t part)
{
    uint32_t d = end_domain(m, part);
    if (d == RS_NONE) return;
    RS_ROOM(s->all, s->n, s->cap);
    s->all[s->n++] = (struct rs_sample){
        .x = (double)rs_time_minus(m->parts.end[part], bases[d]), .domain = d, .moment = s->nmoments - 1};
    s->moments[s->nmoments - 1].n++;
}

struct keyed {
    double x;
    uint32_t sample;
};

static int by_x(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    return x->x < y->x ? -1 : x->x > y->x ? 1 : x->sample < y->sample ? -1 : x->sample > y->sample;
}

/* Fills of and first. */
static void index_domains(struct rs_samples *s, uint32_t ndomains)
{
    s->first = rs_zalloc((size_t)ndomains + 2, sizeof *s->first);
    s->of = rs_zalloc((size_t)s->n + 1, sizeof *s->of);
    struct keyed *keys = rs_zalloc((size_t)s->n + 1, sizeof *keys);
    for (uint32_t i = 0; i < s->n; i++) s->first[s->all[i].domain + 2]++;
    for (uint32_t d = 0; d < ndomains; d++) s->first[d + 2] += s->first[d + 1];
    for (uint32_t i = 0; i < s->n; i++) keys[s->first[s->all[i].domain + 1]++] = (struct keyed){s->all[i].x, i};
    for (uint32_t d = 0; d < ndomains; d++) {
        uint32_t from = s->first[d], n = s->first[d + 1] - from;
        bool sorted = true;
        for (uint32_t i = 1; i < n && sorted; i++) sorted = keys[from + i - 1].x <= keys[from + i].x;
        if (!sorted) qsort(&keys[from], n, sizeof *keys, by_x);
    }
    for (uint32_t i = 0; i < s->n; i++) s->of[i] = keys[i].sample;
    free(keys);
}

/* ---- collectives ---- */

static uint32_t most_of_a_clock(const struct rs_model *m)
{
    uint32_t most = MOST_IN_ALL / (m->ndomains + 1);
    return most > MOST_OF_A_CLOCK ? MOST_OF_A_CLOCK : most < 2 * LEAST_OF_A_COMM ? 2 * LEAST_OF_A_COMM : most;
}

/* counts[c] operations of communicator c can be used: one in every[c] is taken. A clock's share is divided among its
 * communicators: the few operations of one may be all that connects two hosts. */
static void find_strides(const struct rs_model *m, const uint32_t *counts, uint32_t *every)
{
    uint32_t *comms = rs_zalloc((size_t)m->ndomains + 1, sizeof *comms);
    for (uint32_t i = 0; i < m->nmembers; i++)
        if (counts[m->members[i].comm] && m->members[i].gpu != RS_NONE) comms[m->members[i].gpu]++;
    for (uint32_t i = 0; i < m->nmembers; i++) {
        const struct rs_member *x = &m->members[i];
        uint32_t shares = x->gpu != RS_NONE && comms[x->gpu] ? comms[x->gpu] : 1;
        uint32_t share = most_of_a_clock(m) / shares;
        if (share < LEAST_OF_A_COMM) share = LEAST_OF_A_COMM;
        uint32_t e = (counts[x->comm] + share - 1) / share;
        if (e > every[x->comm]) every[x->comm] = e;
    }
    free(comms);
}

static void take_collectives(struct rs_samples *s, const struct rs_model *m, const int64_t *bases, const bool *usable,
                             const uint32_t *every)
{
    for (uint32_t k = 0; k < m->ops.n; k++) {
        uint32_t e = usable[k] ? every[m->ops.comm[k]] : 0;
        if (!e || mix(k) % e) continue;
        begin_moment(s, k);
        for (uint32_t i = 0; i < m->ops.nparts[k]; i++) add_sample(s, m, bases, m->order[m->ops.part[k] + i]);
    }
    index_domains(s, m->ndomains);
}

/* ---- fast operations ---- */

/* About what an operation took after its last start: the shortest duration of a rank, each on its own clock. NAN:
 * unknown. */
static double transfer_of(const struct rs_model *m, uint32_t op)
{
    double least = NAN;
    for (uint32_t i = 0; i < m->ops.nparts[op]; i++) {
        uint32_t part = m->order[m->ops.part[op] + i];
        if (m->parts.start[part] == RS_TIME_NONE || end_domain(m, part) == RS_NONE ||
            rs_part_start_domain(m, part) != rs_part_end_domain(m, part))
            continue;
        least = fmin(least, (double)rs_time_minus(m->parts.end[part], m->parts.start[part]));
    }
    return least;
}

/* Ends of one operation differ by a part of its transfer. So if a communicator has enough fast operations throughout,
 * only those are used. ops[0 .. n) are its usable ones, in the order of the model; `values` holds n numbers. */
static void keep_quick(const struct rs_model *m, const uint32_t *ops, uint32_t n, bool *usable, uint32_t *count,
                       double *transfers, double *values)
{
    uint32_t known = 0, quick = 0, first = n, last = 0;
    for (uint32_t i = 0; i < n; i++) {
        transfers[i] = transfer_of(m, ops[i]);
        if (!isnan(transfers[i])) values[known++] = transfers[i];
    }
    double most = RS_QUICK * fmax(rs_fit_quantile(values, known, 0.05), RS_LEAST_TRANSFER);
    for (uint32_t i = 0; i < n; i++) {
        if (!(transfers[i] <= most)) continue;
        if (first == n) first = i;
        last = i;
        quick++;
    }
    if (quick < ENOUGH_QUICK || last - first < n / 2) return;
    for (uint32_t i = 0; i < n; i++) usable[ops[i]] = transfers[i] <= most;
    *count = quick;
}

/* Marks the operations whose ends coincide and that relate clocks; counts them by communicator. */
static void find_usable(const struct rs_model *m, bool *usable, uint32_t *counts)
{
    uint16_t last = 0;
    bool symmetric = false;
    for (uint32_t k = 0; k < m->ops.n; k++) {
        if (m->ops.kind[k] != RS_OP_COLL || m->ops.comm[k] == RS_NONE || (m->ops.flags[k] & RS_OP_DOUBLE) ||
            m->ops.over[k] != RS_NONE)
            continue;
        if (m->ops.func[k] != last) symmetric = rs_func_flow(m, last = m->ops.func[k]) == RS_FLOW_ALL;
        if (!symmetric || !relates(m, k)) continue;
        usable[k] = true;
        counts[m->ops.comm[k]]++;
    }
}

static void find_quick(const struct rs_model *m, bool *usable, uint32_t *counts)
{
    uint32_t *first = rs_zalloc((size_t)m->ncomms + 2, sizeof *first), most = 0, all = 0;
    for (uint32_t c = 0; c < m->ncomms; c++) {
        all += counts[c];
        if (counts[c] > most) most = counts[c];
    }
    uint32_t *ops = rs_zalloc((size_t)all + 1, sizeof *ops);
    double *room = rs_zalloc((size_t)most + 1, 2 * sizeof *room);
    for (uint32_t c = 0; c < m->ncomms; c++) first[c + 2] = first[c + 1] + counts[c];
    for (uint32_t k = 0; k < m->ops.n; k++)
        if (usable[k]) ops[first[m->ops.comm[k] + 1]++] = k;
    for (uint32_t c = 0; c < m->ncomms; c++)
        keep_quick(m, &ops[first[c]], counts[c], usable, &counts[c], room, room + most);
    free(first);
    free(ops);
    free(room);
}

void rs_samples_collectives(struct rs_samples *s, const struct rs_model *m, const int64_t *bases)
{
    *s = (struct rs_samples){0};
    bool *usable = rs_zalloc((size_t)m->ops.n + 1, sizeof *usable);
    uint32_t *counts = rs_zalloc((size_t)m->ncomms + 1, sizeof *counts);
    uint32_t *every = rs_zalloc((size_t)m->ncomms + 1, sizeof *every);
    find_usable(m, usable, counts);
    find_quick(m, usable, counts);
    find_strides(m, counts, every);
    take_collectives(s, m, bases, usable, every);
    free(every);
    free(counts);
    free(usable);
}

/* ---- pairs ---- */

static bool is_pair(const struct rs_model *m, uint32_t k, const uint32_t *component, uint32_t *send, uint32_t *recv)
{
    if (m->ops.kind[k] != RS_OP_PAIR || m->ops.nparts[k] != 2 || m->ops.over[k] != RS_NONE) return false;
    *send = m->order[m->ops.part[k]], *recv = m->order[m->ops.part[k] + 1];
    if (m->parts.kind[*send] == RS_PART_RECV) {
        uint32_t t = *send;
        *send = *recv;
        *recv = t;
    }
    if (m->parts.kind[*send] != RS_PART_SEND || m->parts.kind[*recv] != RS_PART_RECV) return false;
    uint32_t a = end_domain(m, *send), b = end_domain(m, *recv);
    return a != RS_NONE && b != RS_NONE && component[a] != component[b];
}

void rs_samples_pairs(struct rs_samples *s, const struct rs_model *m, const int64_t *bases, const uint32_t *component)
{
    *s = (struct rs_samples){0};
    uint32_t *counts = rs_zalloc((size_t)m->nmembers + 1, sizeof *counts), send, recv;
    for (uint32_t k = 0; k < m->ops.n; k++)
        if (is_pair(m, k, component, &send, &recv)) counts[m->parts.member[send]]++;
    for (uint32_t k = 0; k < m->ops.n; k++) {
        if (!is_pair(m, k, component, &send, &recv)) continue;
        uint32_t every = (counts[m->parts.member[send]] + most_of_a_clock(m) - 1) / most_of_a_clock(m);
        if (mix(k) % every) continue;
        begin_moment(s, k);
        add_sample(s, m, bases, send);
        add_sample(s, m, bases, recv);
    }
    free(counts);
    index_domains(s, m->ndomains);
}

void rs_samples_free(struct rs_samples *s)
{
    free(s->moments);
    free(s->all);
    free(s->of);
    free(s->first);
    *s = (struct rs_samples){0};
}
