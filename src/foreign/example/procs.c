#include "foreign/example/procs.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/mix.h"
#include "base/room.h"
#include "model/model.h"

enum {
    MOST_SPANS = 512, /* collectives of a file that are compared */
    MOST_TRIED = 4096, /* processes of one pid that a file is compared with */
    MOST_COMPARED = 64, /* of them, by all their collectives */
    ENOUGH = 2, /* collectives that must agree where numbers do not */
    NEAR_NS = 200000, /* by which two files of a process may see its GPU's clock differently... */
    DRIFT = 10000, /* ...and a ns more for each so many ns between them: 100 ppm */
};

/* When a rank was in a collective, by its host's clock. */
struct rs_example_span {
    uint64_t comm, seq;
    int64_t begin, end; /* end RS_TIME_NONE: not known */
    int32_t rank;
};

/* What a file says about the process that wrote it. */
struct rs_example_trait {
    int64_t first[2], last[2]; /* numbers of its group calls, and of what the proxy did by itself; first > last: none */
    int64_t d, at; /* host clock less GPU's, at most, and host ns of when; at RS_TIME_NONE: not known */
};

static uint64_t place_of(const struct rs_example *d)
{
    const char *slash = strrchr(d->path, '/');
    return rs_mix_bytes(d->pid, d->path, slash ? (size_t)(slash - d->path) : 0);
}

static uint64_t rank_key(uint64_t comm, int32_t rank)
{
    return rs_mix(rs_mix(comm, 1), (uint64_t)(int64_t)rank);
}

static uint64_t stream_key(const struct rs_example_rank *r)
{
    return rs_mix(rs_mix(r->comm, 4), r->stream);
}

static uint64_t coll_key(const struct rs_example *d, const struct rs_example_event *e)
{
    const char *name = rs_texts_at(&d->texts, e->name);
    return rs_mix_text(rs_mix(e->comm, e->work.seq), name);
}

/* ---- what a file says about its time axis ---- */

/* Ends of other functions, and of trees, are not after all starts. */
static bool ends_after_all_starts(const struct rs_example *d, const struct rs_example_event *e)
{
    const char *name = rs_texts_at(&d->texts, e->name);
    return e->kind == RS_EX_COLL && e->who == RS_EX_WHO_OWN && e->begin != RS_TIME_NONE && e->work.seq != UINT64_MAX &&
           strcmp(rs_texts_at(&d->texts, e->work.algo), "TREE") != 0 &&
           (!strcmp(name, "AllReduce") || !strcmp(name, "AllGather") || !strcmp(name, "ReduceScatter"));
}

/* The next collective at or after *at, with the latest end that the proxy thread reported for its kernel. */
static bool next_span(const struct rs_example *d, uint32_t *at, uint32_t *event, struct rs_example_span *span)
{
    while (*at < d->n) {
        uint32_t i = (*at)++;
        const struct rs_example_event *e = &d->events[i];
        if (!ends_after_all_starts(d, e)) continue;
        *span = (struct rs_example_span){e->comm, e->work.seq, e->begin, RS_TIME_NONE, e->rank};
        for (; *at < d->n && d->events[*at].op == i; ++*at)
            if (d->events[*at].kind == RS_EX_KERNEL && d->events[*at].end > span->end) span->end = d->events[*at].end;
        *event = i;
        return true;
    }
    return false;
}

static struct rs_example_trait trait_of(const struct rs_example *d)
{
    struct rs_example_trait t = {{INT64_MAX, INT64_MAX}, {INT64_MIN, INT64_MIN}, INT64_MAX, RS_TIME_NONE};
    uint64_t comm = 0;
    int32_t rank = -1; /* whose GPU: that of the first kernel */
    for (uint32_t i = 0; i < d->n; i++) {
        const struct rs_example_event *e = &d->events[i];
        if (e->kind == RS_EX_GROUP_API || e->kind == RS_EX_PROXY_CTRL) {
            int k = e->kind == RS_EX_PROXY_CTRL;
            if (e->id < t.first[k]) t.first[k] = e->id;
            if (e->id > t.last[k]) t.last[k] = e->id;
        }
        if (e->kind != RS_EX_KERNEL || e->begin == RS_TIME_NONE || !e->kernel.start || e->who == RS_EX_WHO_NONE)
            continue;
        if (rank < 0) {
            comm = e->comm;
            rank = e->rank;
        }
        int64_t apart = rs_time_minus(e->begin, (int64_t)e->kernel.start);
        if (e->comm != comm || e->rank != rank || apart >= t.d) continue;
        t.d = apart;
        t.at = e->begin;
    }
    return t;
}

/* ---- whether two files are of one process ---- */

static bool collides(const struct rs_example_proc *p, const struct rs_example_trait *a)
{
    for (uint32_t i = 0; i < p->n; i++)
        for (int k = 0; k < 2; k++)
            if (a->first[k] <= p->traits[i].last[k] && p->traits[i].first[k] <= a->last[k]) return true;
    return false;
}

/* By how much two see the GPU's clock differently, in ns; UINT64_MAX: by more than files of one process do. */
static uint64_t distance(const struct rs_example_proc *p, const struct rs_example_trait *a)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < p->n && a->at != RS_TIME_NONE; i++) {
        const struct rs_example_trait *b = &p->traits[i];
        if (b->at == RS_TIME_NONE) continue;
        uint64_t off = (uint64_t)rs_time_minus(a->d, b->d), between = (uint64_t)rs_time_minus(a->at, b->at);
        if ((int64_t)off < 0) off = -off;
        if ((int64_t)between < 0) between = -between;
        if (off <= NEAR_NS + between / DRIFT && off < least) least = off;
    }
    return least;
}

/* Whether they cannot be of one process. *agreed: collectives that show it. */
static bool denies(const struct rs_example_proc *p, const struct rs_example *d, uint32_t *agreed)
{
    *agreed = 0;
    if (d->rank >= 0 && rs_map_get(&p->ranks, rank_key(d->comm, d->rank), 0)) return true;
    for (uint32_t i = 0; i < d->nranks;
         i++) { /* two ranks of a communicator cannot wait for each other on one stream */
        const struct rs_example_rank *r = &d->ranks[i];
        uint64_t there = r->stream ? rs_map_get(&p->streams, stream_key(r), RS_NONE) : RS_NONE;
        if (there != RS_NONE && there != (uint32_t)r->rank) return true;
    }
    struct rs_example_span s;
    uint32_t at = 0, event;
    for (int n = 0; n < MOST_SPANS && next_span(d, &at, &event, &s); n++) {
        uint64_t row = rs_map_get(&p->colls, coll_key(d, &d->events[event]), 0);
        const struct rs_example_span *o = row ? &p->spans[row - 1] : NULL;
        if (!o || o->comm != s.comm || o->seq != s.seq) continue;
        bool ends = o->end != RS_TIME_NONE, s_ends = s.end != RS_TIME_NONE;
        if (o->rank == s.rank || (ends && o->end < s.begin) || (s_ends && s.end < o->begin)) return true;
        *agreed += ends && s_ends;
    }
    return false;
}

/* ---- processes ---- */

static void join(struct rs_example_proc *r, const struct rs_example_procs *p, uint32_t dump)
{
    const struct rs_example *d = &p->dumps[dump];
    RS_ROOM(r->dumps, r->n, r->cap);
    RS_ROOM(r->traits, r->n, r->cap_traits);
    r->traits[r->n] = trait_of(d);
    r->dumps[r->n++] = dump;
    for (uint32_t i = 0; i < d->nranks; i++) {
        uint64_t *own;
        rs_map_at(&r->ranks, rank_key(d->ranks[i].comm, d->ranks[i].rank), 0, &own);
        if (d->ranks[i].of_file) *own = 1;
        if (d->ranks[i].stream) rs_map_put(&r->streams, stream_key(&d->ranks[i]), (uint32_t)d->ranks[i].rank);
    }
    struct rs_example_span s;
    uint32_t at = 0, event;
    for (int n = 0; n < MOST_SPANS && next_span(d, &at, &event, &s); n++) {
        RS_ROOM(r->spans, r->nspans, r->cap_spans);
        r->spans[r->nspans++] = s;
        rs_map_put(&r->colls, coll_key(d, &d->events[event]), r->nspans);
    }
}

static void join_new(struct rs_example_procs *p, uint32_t dump)
{
    RS_ROOM(p->rows, p->n, p->cap);
    p->rows[p->n++] = (struct rs_example_proc){0};
    join(&p->rows[p->n - 1], p, dump);
}

static void proc_free(struct rs_example_proc *r)
{
    free(r->dumps);
    free(r->traits);
    free(r->spans);
    rs_map_free(&r->ranks);
    rs_map_free(&r->streams);
    rs_map_free(&r->colls);
}

/* All files of a pid as one process; *fits = false: they are not, and nothing was made. */
static void try_one(struct rs_example_procs *p, const uint32_t *dumps, uint32_t n, bool *fits)
{
    struct rs_example_proc r = {0};
    *fits = true;
    for (uint32_t i = 0; i < n && *fits; i++) {
        const struct rs_example *d = &p->dumps[dumps[i]];
        uint32_t agreed;
        const struct rs_example_trait t = trait_of(d);
        *fits = !denies(&r, d, &agreed) && (agreed >= ENOUGH || !collides(&r, &t));
        if (*fits) join(&r, p, dumps[i]);
    }
    void *rows = p->rows;
    if (*fits) rs_room(&rows, p->n, &p->cap, sizeof *p->rows);
    p->rows = rows;
    if (*fits)
        p->rows[p->n++] = r;
    else
        proc_free(&r);
}

/* The process that shows that the file is its own, best by the GPU's clock; RS_NONE: none does. */
static uint32_t find_own(const struct rs_example_procs *p, uint32_t first, const struct rs_example *d)
{
    const struct rs_example_trait t = trait_of(d);
    uint32_t agreed, best = RS_NONE;
    uint64_t least = UINT64_MAX;
    for (uint32_t k = first; k < p->n && k - first < MOST_TRIED; k++) {
        const struct rs_example_proc *r = &p->rows[k];
        uint64_t off = distance(r, &t);
        bool ranks = d->rank >= 0 && rs_map_find(&r->ranks, rank_key(d->comm, d->rank));
        for (uint32_t i = 0; i < d->nranks && !ranks; i++)
            ranks = rs_map_get(&r->ranks, rank_key(d->ranks[i].comm, d->ranks[i].rank), 0) != 0;
        bool better = best == RS_NONE || off < least;
        if (!better || (off == UINT64_MAX && !ranks && k - first >= MOST_COMPARED)) continue;
        if (denies(r, d, &agreed) || (off == UINT64_MAX && !ranks && agreed < ENOUGH)) continue;
        best = k;
        least = off;
    }
    return best;
}

/* The only process that a file without any sign can be of; RS_NONE: there are several, or none. */
static uint32_t find_only(const struct rs_example_procs *p, uint32_t first, const struct rs_example *d)
{
    const struct rs_example_trait t = trait_of(d);
    uint32_t only = RS_NONE, agreed;
    for (uint32_t k = first; k < p->n; k++) {
        if (denies(&p->rows[k], d, &agreed) || collides(&p->rows[k], &t)) continue;
        if (only != RS_NONE || k - first >= MOST_COMPARED) return RS_NONE;
        only = k;
    }
    return only;
}

/* Several processes of one pid. Files with kernels say most, so they come first. */
static void cluster(struct rs_example_procs *p, uint32_t *dumps, uint32_t n)
{
    uint32_t first = p->n, left = 0;
    for (int kernels = 1; kernels >= 0; kernels--)
        for (uint32_t i = 0; i < n; i++) {
            const struct rs_example *d = &p->dumps[dumps[i]];
            if ((d->counts[RS_EX_KERNEL] > 0) != kernels) continue;
            uint32_t row = find_own(p, first, d);
            if (row != RS_NONE)
                join(&p->rows[row], p, dumps[i]);
            else if (kernels)
                join_new(p, dumps[i]);
            else
                dumps[left++] = dumps[i]; /* those without kernels come in order, so nothing is lost */
        }
    for (uint32_t i = 0; i < left; i++) {
        uint32_t row = find_only(p, first, &p->dumps[dumps[i]]);
        if (row != RS_NONE)
            join(&p->rows[row], p, dumps[i]);
        else
            join_new(p, dumps[i]);
    }
}

/* ---- all of them ---- */

void rs_example_procs_add(struct rs_example_procs *p, struct rs_example *dump)
{
    void *dumps = p->dumps;
    rs_room(&dumps, p->ndumps, &p->cap_dumps, sizeof *p->dumps);
    p->dumps = dumps;
    p->dumps[p->ndumps++] = *dump;
    *dump = (struct rs_example){.rank = -1};
}

struct placed {
    uint64_t place;
    uint32_t dump;
};

static int by_place(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->place != y->place) return x->place < y->place ? -1 : 1;
    return x->dump < y->dump ? -1 : x->dump > y->dump;
}

/* Files of one folder and pid after the other. */
static void make_all(struct rs_example_procs *p, struct placed *placed, uint32_t *dumps)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->ndumps; i++)
        if (p->dumps[i].pid) placed[n++] = (struct placed){place_of(&p->dumps[i]), i};
    if (n) qsort(placed, n, sizeof *placed, by_place);
    for (uint32_t from = 0, to; from < n; from = to) {
        bool fits;
        for (to = from; to < n && placed[to].place == placed[from].place; to++) dumps[to - from] = placed[to].dump;
        try_one(p, dumps, to - from, &fits);
        if (!fits) cluster(p, dumps, to - from);
    }
}

static bool same_folder(const struct rs_example *a, const struct rs_example *b)
{
    const char *x = strrchr(a->path, '/'), *y = strrchr(b->path, '/');
    size_t n = x ? (size_t)(x - a->path) : 0, m = y ? (size_t)(y - b->path) : 0;
    return n == m && !memcmp(a->path, b->path, n);
}

/* Processes in the order of their first files. */
static int by_first(const void *a, const void *b)
{
    const struct rs_example_proc *x = a, *y = b;
    return x->dumps[0] < y->dumps[0] ? -1 : x->dumps[0] > y->dumps[0];
}

void rs_example_procs_finish(struct rs_example_procs *p)
{
    struct placed *placed = rs_alloc(((size_t)p->ndumps + 1) * sizeof *placed);
    uint32_t *dumps = rs_alloc(((size_t)p->ndumps + 1) * sizeof *dumps), agreed;
    make_all(p, placed, dumps);
    free(placed);
    free(dumps);
    if (p->n) qsort(p->rows, p->n, sizeof *p->rows, by_first);
    uint32_t nprocs = p->n;
    for (uint32_t i = 0; i < p->ndumps; i++) {
        const struct rs_example *d = &p->dumps[i];
        if (d->pid) continue;
        bool only = nprocs == 1 && same_folder(&p->dumps[p->rows[0].dumps[0]], d) && !denies(&p->rows[0], d, &agreed);
        if (only)
            join(&p->rows[0], p, i);
        else
            join_new(p, i);
    }
}

void rs_example_procs_free(struct rs_example_procs *p)
{
    for (uint32_t i = 0; i < p->ndumps; i++) rs_example_close(&p->dumps[i]);
    for (uint32_t i = 0; i < p->n; i++) proc_free(&p->rows[i]);
    free(p->dumps);
    free(p->rows);
    *p = (struct rs_example_procs){0};
}
