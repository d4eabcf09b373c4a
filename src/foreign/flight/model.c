#include "foreign/flight/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/memory.h"
#include "base/mix.h"
#include "foreign/formats.h"
#include "foreign/torch.h"
#include "nccl/abi.h"
#include "nccl/comms_id.h"

/* A process group of the dump. */
struct place {
    uint32_t member;
    const struct rs_flight_group *group; /* NULL: the dump does not describe it */
    int64_t start, stride; /* of its ranks, as comms_id has them */
    /* Operations since the last coalesced one that may belong to the next: same numbers, one after another. */
    uint32_t last; /* part; RS_NONE: none */
    int64_t collective_seq, p2p_seq;
    bool is_p2p;
    /* Of a dump of pending operations: the last listed number of a send or receive that may be complete, and whether one
     * before it is not listed. */
    int64_t listed;
    bool hole;
};

struct work {
    struct rs_model *m;
    const struct rs_flight *f;
    uint32_t proc, first_part;
    bool wrapped; /* the ring has dropped what was before its first entry */
    struct place *places;
    uint32_t nplaces;
    struct rs_map by_name; /* hash of a group's name -> place */
    struct rs_map by_comm;
    struct rs_map frames; /* text of the dump -> text of the model */
    uint32_t *before; /* by part of this dump: the one before it in its run; RS_NONE */
};

static uint64_t name_hash(const char *name)
{
    uint64_t h = 7;
    for (; *name; name++) h = rs_mix(h, (unsigned char)*name);
    return h;
}

/* ---- the process ---- */

static void later(int64_t *last, int64_t t)
{
    if (t > *last) *last = t;
}

/* What its watchdog has discovered are signs of life, though not times of the operations. */
static void add_proc(struct work *w, const char *path)
{
    const struct rs_flight *f = w->f;
    uint32_t host;
    char boot[256];
    snprintf(boot, sizeof boot, "flight:%s", path);
    rs_model_host(w->m, "", boot, &host); /* whose clock it is, the dump does not say */
    rs_model_proc(w->m, &w->proc);
    struct rs_proc *p = &w->m->procs[w->proc];
    p->host = host;
    p->tool = RS_TOOL_FLIGHT;
    p->launcher_rank = f->rank >= 0 && f->rank < INT32_MAX ? (int32_t)f->rank : -1;
    p->path = rs_arena_text(&w->m->arena, path, strlen(path));
    if (*f->comm_version) p->nccl_version = rs_arena_text(&w->m->arena, f->comm_version, strlen(f->comm_version));
    p->covers = rs_zalloc(1, sizeof *p->covers);
    p->gaps = rs_zalloc(1, sizeof *p->gaps);
    uint64_t mask = RS_COLL | RS_P2P;
    p->end = RS_TIME_NONE;
    for (uint32_t i = 0; i < f->n_entries; i++) {
        const struct rs_flight_entry *e = &f->entries[i];
        if (e->created_ns > 0) {
            if (p->first == RS_TIME_NONE || e->created_ns < p->first) p->first = e->created_ns;
            later(&p->last, e->created_ns);
        }
        later(&p->end, e->created_ns);
        later(&p->end, e->discovered.started_ns);
        later(&p->end, e->discovered.completed_ns);
        /* Starts are recorded only where timing is switched on; else it goes from scheduled to completed. */
        if (e->state == RS_FLIGHT_STARTED || e->discovered.started_ns > 0) mask |= RS_KERNEL_CH;
    }
    p->begin = p->first == RS_TIME_NONE ? 0 : p->first;
    if (p->end < p->begin) p->end = p->begin;
    p->ended = RS_END_ALIVE; /* it could write a dump; how it ended is unknown */
    p->callbacks = f->n_entries;
    p->damaged = f->bad_entries;
    p->active_only = f->active_only;
    p->complete = !w->wrapped && !f->active_only && !f->bad_entries && f->damage.code == RS_OK;
    if (w->wrapped) {
        p->overwritten = f->n_entries && f->entries[0].record_id > 0 ? (uint64_t)f->entries[0].record_id : 0;
        p->overwritten_until = p->begin - 1;
    }
    p->covers[p->ncovers++] = (struct rs_cover){p->begin, INT64_MAX, mask};
    if (f->damage.code != RS_OK) /* how much follows is unknown */
        p->gaps[p->ngaps++] = (struct rs_gap){p->last == RS_TIME_NONE ? p->begin : p->last, INT64_MAX, UINT32_MAX,
                                              UINT32_MAX, UINT32_MAX};
    w->m->callbacks += f->n_entries;
}

/* ---- groups ---- */

static void describe_comm(struct work *w, uint32_t comm, const struct rs_flight_group *g, const char *name,
                          const char *desc)
{
    struct rs_comm_row *c = &w->m->comms[comm];
    if (c->name) return;
    char text[512];
    int n = snprintf(text, sizeof text, "%s:%s", desc, name);
    c->name = rs_arena_text(&w->m->arena, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
    c->made_up = true;
    if (!g || !g->n || g->n >= INT32_MAX) return;
    int32_t *ranks = rs_arena_alloc(&w->m->arena, g->n * sizeof *ranks);
    memcpy(ranks, g->ranks, g->n * sizeof *ranks);
    c->ranks = ranks;
    c->nranks = (int32_t)g->n;
}

static int32_t rank_in(const struct rs_flight_group *g, int64_t rank)
{
    uint32_t low = 0, high = g ? g->n : 0;
    RS_BISECT(low, high, mid, g->ranks[mid] < rank);
    return g && low < g->n && g->ranks[low] == rank ? (int32_t)low : -1;
}

static void add_place(struct work *w, const struct rs_flight_group *g, const char *name, const char *desc,
                      uint32_t *place)
{
    struct rs_model *m = w->m;
    uint32_t comm, member;
    uint64_t *at, hash = rs_torch_group(name, strlen(name), g ? g->ranks : NULL, g ? g->n : 0);
    rs_model_comm_of(m, RS_TOOL_FLIGHT, hash, &comm);
    rs_map_at(&w->by_comm, comm, w->nplaces, &at);
    *place = (uint32_t)*at;
    if (*place < w->nplaces) return; /* the same group under two keys */
    describe_comm(w, comm, g, name, desc);
    rs_model_member(m, comm, &member);
    struct rs_member *x = &m->members[member];
    const struct rs_proc *p = &m->procs[w->proc];
    x->proc = w->proc;
    x->rank = w->f->rank >= 0 ? rank_in(g, w->f->rank) : -1;
    /* The dump is complete from the first operation on, unless the ring has wrapped or it lists pending ones only. */
    if (!w->wrapped && !w->f->active_only && w->f->damage.code == RS_OK) {
        x->created = p->begin;
        x->asked = 1; /* PyTorch counts from 1 */
    }
    w->places[w->nplaces++] = (struct place){.member = member, .group = g, .last = RS_NONE, .listed = -1};
    if (g) rs_comms_shape(g->ranks, g->n, &w->places[*place].start, &w->places[*place].stride);
}

/* Every group that the dump lists has a member, also without operations. */
static void add_places(struct work *w)
{
    for (uint32_t i = 0; i < w->f->n_groups; i++) {
        const struct rs_flight_group *g = &w->f->groups[i];
        uint64_t *at;
        rs_map_at(&w->by_name, name_hash(g->name), RS_NONE, &at);
        if (*at != RS_NONE) continue;
        uint32_t place;
        add_place(w, g, g->name, g->desc, &place);
        *at = place; /* add_place() leaves this map alone */
    }
}

static void place_of(struct work *w, const struct rs_flight_entry *e, uint32_t *place)
{
    uint64_t *at;
    rs_map_at(&w->by_name, name_hash(e->pg_name), RS_NONE, &at);
    if (*at == RS_NONE) {
        add_place(w, NULL, e->pg_name, e->pg_desc, place);
        *at = *place;
    }
    *place = (uint32_t)*at;
}

/* A text of digits as a number; UINT64_MAX: it is none. */
static uint64_t number_of(const char *text)
{
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end ? n : UINT64_MAX;
}

struct numbered {
    uint64_t number;
    uint32_t member;
};

static int by_number(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Groups without an entry: both a process's numbers of its groups (pg_id) and their names rise in the order in which
 * the groups were made. Where there are as many of both, and those with entries agree, the n-th is the n-th. */
static void add_ids(const struct work *w, struct rs_map *ids)
{
    const struct rs_flight *f = w->f;
    if (!f->n_status || f->n_status != w->nplaces || f->n_groups != w->nplaces) return;
    struct numbered *names = rs_alloc(2 * (size_t)w->nplaces * sizeof *names), *keys = names + w->nplaces;
    bool fits = true;
    for (uint32_t i = 0; i < w->nplaces; i++) {
        const struct place *s = &w->places[i];
        names[i] = (struct numbered){s->group ? number_of(s->group->name) : UINT64_MAX, s->member};
        keys[i] = (struct numbered){number_of(f->status[i].id), 0};
    }
    qsort(names, w->nplaces, sizeof *names, by_number);
    qsort(keys, w->nplaces, sizeof *keys, by_number);
    for (uint32_t i = 0; i < w->nplaces && fits; i++) {
        const uint64_t *known = rs_map_find(ids, keys[i].number);
        fits = names[i].number != UINT64_MAX && keys[i].number != UINT64_MAX && (!known || *known == names[i].member);
        fits &= !i || (names[i].number != names[i - 1].number && keys[i].number != keys[i - 1].number);
    }
    for (uint32_t i = 0; i < w->nplaces && fits; i++) rs_map_put(ids, keys[i].number, names[i].member);
    free(names);
}

/* How far each group had come, as the dump's summary says; its keys are the entries' pg_id. */
static void take_status(struct work *w)
{
    struct rs_map ids = {0}; /* pg_id -> member */
    for (uint32_t i = 0; i < w->f->n_entries; i++) {
        uint32_t place;
        place_of(w, &w->f->entries[i], &place);
        if (w->f->entries[i].pg_id >= 0) rs_map_put(&ids, (uint64_t)w->f->entries[i].pg_id, w->places[place].member);
    }
    add_ids(w, &ids);
    for (uint32_t i = 0; i < w->f->n_status; i++) {
        const struct rs_flight_status *s = &w->f->status[i];
        uint64_t id = number_of(s->id);
        const uint64_t *member = id != UINT64_MAX ? rs_map_find(&ids, id) : NULL;
        if (!member) continue;
        struct rs_member *x = &w->m->members[*member];
        if (s->enqueued >= 0) x->enqueued = (uint64_t)s->enqueued + 1;
        if (s->completed >= 0) x->completed = (uint64_t)s->completed + 1;
    }
    rs_map_free(&ids);
}

/* ---- operations ---- */

static uint32_t flags_of(const struct rs_flight_entry *e)
{
    bool done = e->state == RS_FLIGHT_COMPLETED || e->retired;
    bool started = done || e->state == RS_FLIGHT_STARTED || e->discovered.started_ns > 0;
    return (done ? RS_PART_DONE : 0u) | (started ? RS_PART_STARTED : 0u) | (e->retired ? RS_PART_SETTLED : 0u);
}

/* As NCCL counts: of all-gather and reduce-scatter one rank's share, of all-to-all what goes to one (where that is
 * uneven: on average). */
static uint64_t count_of(const char *func, int64_t in, int64_t out, uint32_t nranks)
{
    bool by_output = !strcmp(func, "ReduceScatter") || !strcmp(func, "Scatter") || !strcmp(func, "Recv");
    int64_t n = by_output ? out : in;
    if (nranks && !strcmp(func, "AlltoAll")) n /= nranks;
    return n < 0 ? 0 : (uint64_t)n;
}

/* The stack of an entry as a text of the model's; entries share one text of the dump. */
static const char *frames_of(struct work *w, const char *frames)
{
    if (!*frames) return NULL;
    uint64_t *at;
    rs_map_at(&w->frames, (uint64_t)(uintptr_t)frames, 0, &at);
    if (!*at) *at = (uint64_t)(uintptr_t)rs_arena_text(&w->m->arena, frames, strlen(frames));
    return (const char *)(uintptr_t)*at;
}

static void add_tag(struct work *w, uint32_t part, const struct place *s, const struct rs_flight_entry *e)
{
    int64_t in = rs_flight_elements(&e->in), out = rs_flight_elements(&e->out);
    struct rs_tag tag = {.part = part,
                         .step = RS_NONE,
                         .pg_seq = e->is_p2p ? e->p2p_seq : e->collective_seq,
                         .duration_ns = e->duration_ns >= 0 ? e->duration_ns : RS_TIME_NONE,
                         .in_count = in > 0 ? (uint64_t)in : 0,
                         .out_count = out > 0 ? (uint64_t)out : 0,
                         .frames = frames_of(w, e->frames),
                         .is_p2p = e->is_p2p};
    if (s->group && tag.pg_seq >= 0) {
        tag.has_comms_id = true;
        tag.comms_id = rs_comms_id(e->pg_name, strlen(e->pg_name), tag.pg_seq, e->is_p2p, s->start, s->stride,
                                   (int64_t)s->group->n);
    }
    rs_model_tag(w->m, &tag);
}

/* What was called between the beginning and the end of a coalesced call: one group, one kernel, one state. */
static void close_run(struct work *w, struct place *s, const struct rs_flight_entry *e, uint64_t handle)
{
    struct rs_parts *t = &w->m->parts;
    if (s->collective_seq == e->collective_seq && s->p2p_seq == e->p2p_seq)
        for (uint32_t i = s->last; i != RS_NONE; i = w->before[i - w->first_part]) {
            t->group[i] = t->launch[i] = handle;
            t->flags[i] |= flags_of(e);
        }
    s->last = RS_NONE;
}

static void add_entry(struct work *w, uint32_t index)
{
    const struct rs_flight_entry *e = &w->f->entries[index];
    const char *func = rs_torch_func(e->op, strlen(e->op));
    uint64_t handle = (uint64_t)index + 1;
    uint32_t place, i;
    place_of(w, e, &place);
    struct place *s = &w->places[place];
    if (!strcmp(e->op, "coalesced")) close_run(w, s, e, handle);
    if (!func) return;
    bool send = !strcmp(func, "Send"), recv = !strcmp(func, "Recv");
    rs_model_part(w->m, &i);
    struct rs_parts *t = &w->m->parts;
    struct rs_member *x = &w->m->members[s->member];
    const char *dtype = e->in.n_dtypes ? e->in.dtypes[0] : e->out.n_dtypes ? e->out.dtypes[0] : "";
    t->handle[i] = t->group[i] = t->launch[i] = handle;
    t->member[i] = s->member;
    t->kind[i] = send ? RS_PART_SEND : recv ? RS_PART_RECV : RS_PART_COLL;
    t->flags[i] = flags_of(e);
    t->count[i] = count_of(func, rs_flight_elements(&e->in), rs_flight_elements(&e->out), s->group ? s->group->n : 0);
    if (e->created_ns > 0) t->enqueued[i] = e->created_ns;
    if (send || recv) {
        /* It bears the number of the last collective before it. */
        uint64_t before = e->is_p2p && e->collective_seq >= 0 ? (uint64_t)e->collective_seq + 1 : 0;
        if (before > x->asked && w->f->damage.code == RS_OK) x->asked = before;
        t->peer[i] = send ? e->dst : e->src;
        if (t->peer[i] >= 0 && t->peer[i] == x->rank) t->flags[i] |= RS_PART_SELF;
    } else if (e->collective_seq >= 0) {
        t->seq[i] = (uint64_t)e->collective_seq;
        if (t->seq[i] >= x->asked && w->f->damage.code == RS_OK) x->asked = t->seq[i] + 1;
    }
    rs_model_string(w->m, func, &t->func[i]);
    rs_model_string(w->m, rs_torch_dtype(dtype, strlen(dtype)), &t->dtype[i]);
    bool goes_on = s->last != RS_NONE && s->is_p2p == e->is_p2p && s->collective_seq == e->collective_seq &&
                   s->p2p_seq == e->p2p_seq;
    w->before[i - w->first_part] = goes_on ? s->last : RS_NONE;
    s->last = i;
    s->is_p2p = e->is_p2p;
    s->collective_seq = e->collective_seq;
    s->p2p_seq = e->p2p_seq;
    add_tag(w, i, s, e);
}

/* Sends and receives of a batch stay "scheduled" for good: only the entry of the whole batch is updated, which a dump of
 * pending operations does not list when it is complete. Where a group lists all its numbers up to the last completed
 * one, none of these is pending; where each is updated by itself, those that completed are not listed. */
static void end_batches(struct work *w)
{
    struct rs_parts *t = &w->m->parts;
    for (int marking = 0; marking < 2 && w->f->active_only; marking++)
        for (uint32_t i = w->first_part; i < t->n; i++) {
            const struct rs_tag *tag = rs_part_tag(w->m, i);
            struct place *s = &w->places[t->member[i] - w->places[0].member]; /* each place has added one member */
            int64_t completed = (int64_t)w->m->members[s->member].completed - 1;
            if (!tag || !tag->is_p2p || tag->pg_seq > completed) continue;
            if (marking && !s->hole && s->listed == completed) t->flags[i] |= RS_PART_DONE | RS_PART_STARTED;
            s->hole |= !marking && s->listed >= 0 && tag->pg_seq > s->listed + 1;
            if (!marking) s->listed = tag->pg_seq;
        }
}

static enum rs_status fill(struct work *w, const char *path, struct rs_err *err)
{
    (void)err;
    add_proc(w, path);
    add_places(w);
    take_status(w);
    for (uint32_t i = 0; i < w->f->n_entries; i++) add_entry(w, i);
    end_batches(w);
    return RS_OK;
}

enum rs_status rs_flight_to_model(struct rs_model *m, const struct rs_flight *f, const char *path, uint32_t *proc,
                                  struct rs_err *err)
{
    struct work w = {.m = m, .f = f, .first_part = m->parts.n};
    w.wrapped = !f->active_only && f->n_entries && f->entries[0].record_id > 0;
    w.places = rs_zalloc((size_t)f->n_groups + f->n_entries + 1, sizeof *w.places);
    w.before = rs_alloc(((size_t)f->n_entries + 1) * sizeof *w.before);
    enum rs_status status = fill(&w, path, err);
    *proc = w.proc;
    free(w.places);
    free(w.before);
    rs_map_free(&w.by_name);
    rs_map_free(&w.by_comm);
    rs_map_free(&w.frames);
    return status;
}

/* ---- all files ---- */

/* A file, and whose dump it is. */
struct dump {
    struct rs_other *file;
    int64_t rank; /* -1: not known */
    bool looked; /* the rest is known */
    uint32_t entries;
    int64_t first, last; /* when its first and its last operation were asked for */
};

/* What is reported once, whatever the number of ranks. */
struct said {
    const struct dump *same[2], *older[2]; /* the first of each: a dump, and the dump that is read instead */
    size_t nsame, nolder, nwrapped, nactive;
    struct rs_other *wrapped, *active;
    int64_t overwritten;
};

/* A file that cannot be used is no failure of the others. */
static void failed(struct rs_other *file, const struct rs_err *err)
{
    rs_other_incomplete(file, err);
}

static void look(struct dump *d, const struct rs_flight *f)
{
    d->looked = true;
    d->rank = f->rank;
    d->entries = f->n_entries;
    d->first = d->last = RS_TIME_NONE;
    for (uint32_t i = 0; i < f->n_entries; i++) {
        if (d->first == RS_TIME_NONE) d->first = f->entries[i].created_ns;
        if (f->entries[i].created_ns > d->last) d->last = f->entries[i].created_ns;
    }
}

static int by_rank(const void *a, const void *b)
{
    const struct dump *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return strcmp(x->file->path, y->file->path);
}

/* Reads the files whose rank, or which of several dumps of one rank, is not known by name. */
static void look_at(struct dump *d, struct rs_err *err)
{
    struct rs_flight f;
    enum rs_status status = rs_flight_read(&f, d->file->path, err);
    if (status != RS_OK) {
        failed(d->file, err);
        return;
    }
    look(d, &f);
    rs_flight_free(&f);
}

/* Of several dumps of a rank the one to read: the newest; of one dump in two forms the first. */
static void choose(struct said *said, struct dump *dumps, size_t n, size_t *chosen, struct rs_err *err)
{
    *chosen = 0;
    for (size_t i = 0; i < n && n > 1; i++)
        if (!dumps[i].looked) look_at(&dumps[i], err);
    for (size_t i = 1; i < n; i++) {
        const struct dump *x = &dumps[i], *best = &dumps[*chosen];
        if (x->looked &&
            (!best->looked || x->last > best->last || (x->last == best->last && x->entries > best->entries)))
            *chosen = i;
    }
    const struct dump *best = &dumps[*chosen];
    for (size_t i = 0; i < n; i++) {
        const struct dump *x = &dumps[i];
        if (i == *chosen || !x->looked) continue;
        bool same = x->entries == best->entries && x->first == best->first && x->last == best->last;
        const struct dump **first = same ? said->same : said->older;
        if (!first[0]) first[0] = x, first[1] = best;
        said->nsame += same;
        said->nolder += !same;
    }
}

static enum rs_status add(struct rs_model *m, struct said *said, struct dump *d, struct rs_err *err)
{
    struct rs_flight f;
    struct rs_other *file = d->file;
    enum rs_status status = rs_flight_read(&f, file->path, err);
    if (status != RS_OK) {
        failed(file, err);
        return RS_OK;
    }
    if (f.damage.code != RS_OK) rs_other_incomplete(file, &f.damage);
    status = rs_flight_to_model(m, &f, file->path, &file->proc, err);
    if (status == RS_OK && f.rank_inside >= 0 && f.rank_inside != f.rank)
        status = rs_model_note(m, err, "%s: its name says rank %" PRId64 ", its content rank %" PRId64, file->path,
                               f.rank, f.rank_inside);
    if (f.active_only && !said->nactive++) said->active = file;
    if (!f.active_only && f.n_entries && f.entries[0].record_id > 0 && !said->nwrapped++) {
        said->wrapped = file;
        said->overwritten = f.entries[0].record_id;
    }
    rs_flight_free(&f);
    return status;
}

/* "; so it is with 3 more" */
static const char *more(size_t n, char *text, size_t size)
{
    *text = 0;
    if (n > 1) snprintf(text, size, "; so it is with %zu more", n - 1);
    return text;
}

static enum rs_status say(struct rs_model *m, const struct said *s, struct rs_err *err)
{
    char text[64];
    if (s->nsame)
        RS_TRY(rs_model_note(m, err, "%s and %s are the same dump of rank %" PRId64 ": read once%s",
                             s->same[0]->file->path, s->same[1]->file->path, s->same[1]->rank,
                             more(s->nsame, text, sizeof text)));
    if (s->nolder)
        RS_TRY(rs_model_note(m, err, "%s is not used: %s is a newer dump of rank %" PRId64 "%s",
                             s->older[0]->file->path, s->older[1]->file->path, s->older[1]->rank,
                             more(s->nolder, text, sizeof text)));
    if (s->nactive)
        RS_TRY(rs_model_note(m, err, "%s: lists pending operations only: operations that had completed are not in it%s",
                             s->active->path, more(s->nactive, text, sizeof text)));
    if (!s->nwrapped) return RS_OK;
    return rs_model_note(m, err,
                         "%s: the %" PRId64 " operations before its first were overwritten, and are not recorded "
                         "(TORCH_FR_BUFFER_SIZE)%s",
                         s->wrapped->path, s->overwritten, more(s->nwrapped, text, sizeof text));
}

static enum rs_status fill_all(struct rs_fill *fill, struct dump *dumps, struct rs_err *err)
{
    for (size_t i = 0; i < fill->n; i++) {
        dumps[i] = (struct dump){.file = fill->files[i], .rank = rs_flight_rank_of_name(fill->files[i]->path)};
        if (dumps[i].rank < 0) look_at(&dumps[i], err);
    }
    qsort(dumps, fill->n, sizeof *dumps, by_rank);
    struct said said = {0};
    for (size_t i = 0, n; i < fill->n; i += n) {
        size_t chosen = 0;
        for (n = 1; i + n < fill->n && dumps[i].rank >= 0 && dumps[i + n].rank == dumps[i].rank; n++) {
        }
        choose(&said, dumps + i, n, &chosen, err);
        RS_TRY(add(fill->model, &said, &dumps[i + chosen], err));
        for (size_t k = 0; k < n; k++) dumps[i + k].file->proc = dumps[i + chosen].file->proc;
        if (fill->progress) fill->progress(i + n, fill->n);
    }
    return say(fill->model, &said, err);
}

enum rs_status rs_flight_fill(struct rs_fill *fill, struct rs_err *err)
{
    struct dump *dumps = rs_zalloc(fill->n + 1, sizeof *dumps);
    enum rs_status status = fill_all(fill, dumps, err);
    free(dumps);
    return status;
}
