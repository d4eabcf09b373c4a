#include "join/samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/room.h"

enum {
    MOST_OF_A_CLOCK = 3000, /* samples: medians of 32 then follow a clock at some 90 places */
    MOST_IN_ALL = 3000000,
    LEAST_OF_A_COMM = 32,
};

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 33) * 0xff51afd7ed558ccd;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53;
    return x ^ x >> 33;
}

bool rs_func_is_symmetric(const struct rs_model *m, uint16_t func)
{
    static const char *const names[] = {"AllReduce", "AllGather", "ReduceScatter", "AlltoAll"};
    const char *name = rs_model_text(m, func);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i])) return true;
    return false;
}

static void take_base(int64_t *bases, bool *known, uint32_t domain, int64_t t)
{
    if (domain == RS_NONE || t == RS_TIME_NONE || known[domain]) return;
    bases[domain] = t;
    known[domain] = true;
}

enum rs_status rs_samples_bases(const struct rs_model *m, int64_t **bases, struct rs_err *err)
{
    bool *known = calloc(m->ndomains + 1, sizeof *known);
    int64_t *b = *bases = calloc(m->ndomains + 1, sizeof *b);
    if (!known || !b) {
        free(known);
        return rs_fail(err, RS_NO_MEMORY, "out of memory");
    }
    for (uint32_t i = 0; i < m->nprocs; i++) {
        take_base(b, known, m->hosts[m->procs[i].host].domain, m->procs[i].first);
        take_base(b, known, m->hosts[m->procs[i].host].domain, m->procs[i].begin);
    }
    for (uint32_t i = 0; i < m->ndomains; i++)
        if (m->domains[i].bounds && m->domains[i].bounds->width) take_base(b, known, i, m->domains[i].bounds->base);
    for (uint32_t i = 0; i < m->parts.n; i++) {
        take_base(b, known, rs_part_start_domain(m, i), m->parts.start[i]);
        take_base(b, known, rs_part_end_domain(m, i), m->parts.end[i]);
    }
    free(known);
    return RS_OK;
}

/* The clock of a part's end, where it can be used; else RS_NONE. */
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

static enum rs_status begin_moment(struct rs_samples *s, uint32_t op, struct rs_err *err)
{
    RS_ROOM(s->moments, s->nmoments, s->cap_moments, err);
    s->moments[s->nmoments++] = (struct rs_moment){.op = op, .first = s->n};
    return RS_OK;
}

static enum rs_status add_sample(struct rs_samples *s, const struct rs_model *m, const int64_t *bases, uint32_t part,
                                 struct rs_err *err)
{
    uint32_t d = end_domain(m, part);
    if (d == RS_NONE) return RS_OK;
    RS_ROOM(s->all, s->n, s->cap, err);
    s->all[s->n++] = (struct rs_sample){
        .x = (double)rs_time_minus(m->parts.end[part], bases[d]), .domain = d, .moment = s->nmoments - 1};
    s->moments[s->nmoments - 1].n++;
    return RS_OK;
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
static enum rs_status index_domains(struct rs_samples *s, uint32_t ndomains, struct rs_err *err)
{
    s->first = calloc((size_t)ndomains + 2, sizeof *s->first);
    s->of = calloc((size_t)s->n + 1, sizeof *s->of);
    struct keyed *keys = calloc((size_t)s->n + 1, sizeof *keys);
    if (!s->first || !s->of || !keys) {
        free(keys);
        return rs_fail(err, RS_NO_MEMORY, "out of memory");
    }
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
    return RS_OK;
}

/* ---- collectives ---- */

static uint32_t most_of_a_clock(const struct rs_model *m)
{
    uint32_t most = MOST_IN_ALL / (m->ndomains + 1);
    return most > MOST_OF_A_CLOCK ? MOST_OF_A_CLOCK : most < 2 * LEAST_OF_A_COMM ? 2 * LEAST_OF_A_COMM : most;
}

/* counts[c] operations of communicator c can be used: every[c] of them one is taken. A clock's share is divided among
 * its communicators: the few operations of one may be all that ties two hosts together. */
static enum rs_status find_strides(const struct rs_model *m, const uint32_t *counts, uint32_t *every,
                                   struct rs_err *err)
{
    uint32_t *comms = calloc((size_t)m->ndomains + 1, sizeof *comms);
    if (!comms) return rs_fail(err, RS_NO_MEMORY, "out of memory");
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
    return RS_OK;
}

static enum rs_status take_collectives(struct rs_samples *s, const struct rs_model *m, const int64_t *bases,
                                       const bool *usable, const uint32_t *every, struct rs_err *err)
{
    for (uint32_t k = 0; k < m->ops.n; k++) {
        uint32_t e = usable[k] ? every[m->ops.comm[k]] : 0;
        if (!e || mix(k) % e) continue;
        RS_TRY(begin_moment(s, k, err));
        for (uint32_t i = 0; i < m->ops.nparts[k]; i++)
            RS_TRY(add_sample(s, m, bases, m->order[m->ops.part[k] + i], err));
    }
    return index_domains(s, m->ndomains, err);
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
        if (m->ops.func[k] != last) symmetric = rs_func_is_symmetric(m, last = m->ops.func[k]);
        if (!symmetric || !relates(m, k)) continue;
        usable[k] = true;
        counts[m->ops.comm[k]]++;
    }
}

enum rs_status rs_samples_collectives(struct rs_samples *s, const struct rs_model *m, const int64_t *bases,
                                      struct rs_err *err)
{
    *s = (struct rs_samples){0};
    bool *usable = calloc((size_t)m->ops.n + 1, sizeof *usable);
    uint32_t *counts = calloc((size_t)m->ncomms + 1, sizeof *counts);
    uint32_t *every = calloc((size_t)m->ncomms + 1, sizeof *every);
    enum rs_status status = RS_OK;
    if (!usable || !counts || !every)
        status = rs_fail(err, RS_NO_MEMORY, "out of memory");
    else
        find_usable(m, usable, counts);
    if (status == RS_OK) status = find_strides(m, counts, every, err);
    if (status == RS_OK) status = take_collectives(s, m, bases, usable, every, err);
    free(every);
    free(counts);
    free(usable);
    return status;
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

enum rs_status rs_samples_pairs(struct rs_samples *s, const struct rs_model *m, const int64_t *bases,
                                const uint32_t *component, struct rs_err *err)
{
    *s = (struct rs_samples){0};
    uint32_t *counts = calloc((size_t)m->nmembers + 1, sizeof *counts), send, recv;
    if (!counts) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t k = 0; k < m->ops.n; k++)
        if (is_pair(m, k, component, &send, &recv)) counts[m->parts.member[send]]++;
    enum rs_status status = RS_OK;
    for (uint32_t k = 0; k < m->ops.n && status == RS_OK; k++) {
        if (!is_pair(m, k, component, &send, &recv)) continue;
        uint32_t every = (counts[m->parts.member[send]] + most_of_a_clock(m) - 1) / most_of_a_clock(m);
        if (mix(k) % every) continue;
        status = begin_moment(s, k, err);
        if (status == RS_OK) status = add_sample(s, m, bases, send, err);
        if (status == RS_OK) status = add_sample(s, m, bases, recv, err);
    }
    free(counts);
    return status == RS_OK ? index_domains(s, m->ndomains, err) : status;
}

void rs_samples_free(struct rs_samples *s)
{
    free(s->moments);
    free(s->all);
    free(s->of);
    free(s->first);
    *s = (struct rs_samples){0};
}
