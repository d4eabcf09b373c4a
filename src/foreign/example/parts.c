#include "foreign/example/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/memory.h"
#include "base/mix.h"
#include "base/room.h"

/* ---- members ---- */

enum {
    MOST_RANKS = 1 << 20, /* a rank beyond that is damaged */
    LEAST_STREAM = 0x1000, /* smaller ones are the default streams: every device has its own */
};

static uint64_t key_of(uint64_t hash, int32_t rank)
{
    return rs_mix(rs_mix(hash, 2), (uint64_t)(int64_t)rank);
}

static uint32_t find(const struct rs_example_members *x, const struct rs_model *m, uint64_t hash, int32_t rank)
{
    for (uint64_t key = key_of(hash, rank);; key++) {
        const uint64_t *at = rs_map_find(&x->index, key);
        if (!at) return RS_NONE;
        const struct rs_member *r = &m->members[*at];
        if (r->rank == rank && m->comms[r->comm].hash == hash) return (uint32_t)*at;
    }
}

/* Whose an event is; RS_NONE: that is not known. */
static uint32_t example_member_of(const struct rs_example_members *x, const struct rs_model *m,
                                  const struct rs_example_event *e)
{
    return e->who == RS_EX_WHO_NONE || e->rank < 0 ? RS_NONE : find(x, m, e->comm, e->rank);
}

static void add_one(struct rs_example_members *x, struct rs_model *m, uint32_t proc, uint64_t hash, int32_t rank,
                    uint32_t *member)
{
    *member = find(x, m, hash, rank);
    if (*member != RS_NONE) return;
    uint32_t comm;
    rs_model_comm_of(m, RS_TOOL_EXAMPLE, hash, &comm);
    rs_model_member(m, comm, member);
    struct rs_member *r = &m->members[*member];
    r->rank = rank;
    r->proc = proc;
    r->gpu = RS_NONE;
    r->device = -1;
    r->created = r->destroyed = RS_TIME_NONE;
    if (m->comms[comm].nranks <= rank) m->comms[comm].nranks = rank + 1;
    x->n = *member + 1 - x->first;
    uint64_t key = key_of(hash, rank);
    while (rs_map_find(&x->index, key)) key++;
    rs_map_put(&x->index, key, *member);
}

static void members_add_all(struct rs_example_members *x, struct rs_model *m, const struct rs_example_procs *p,
                            const struct rs_example_proc *row, uint32_t proc)
{
    for (uint32_t k = 0; k < row->n; k++) {
        const struct rs_example *d = &p->dumps[row->dumps[k]];
        for (uint32_t i = 0; i < d->nranks; i++) {
            uint32_t member;
            if (d->ranks[i].rank < 0 || d->ranks[i].rank >= MOST_RANKS) continue;
            add_one(x, m, proc, d->ranks[i].comm, d->ranks[i].rank, &member);
        }
    }
    x->own = rs_alloc(((size_t)x->n + 1) * sizeof *x->own);
    for (uint32_t i = 0; i < x->n; i++) x->own[i] = RS_NONE;
    for (uint32_t k = 0; k < row->n; k++) {
        const struct rs_example *d = &p->dumps[row->dumps[k]];
        uint32_t member = d->rank < 0 ? RS_NONE : find(x, m, d->comm, d->rank);
        if (member != RS_NONE) x->own[member - x->first] = row->dumps[k];
    }
}

/* Peers are ranks of the communicator too, recorded or not. */
static void learn_sizes(const struct rs_example_members *x, struct rs_model *m, const struct rs_example *d)
{
    for (uint32_t i = 0; i < d->n; i++) {
        const struct rs_example_event *e = &d->events[i];
        int32_t peer = e->kind == RS_EX_P2P ? e->work.peer : e->kind == RS_EX_PROXY_OP ? e->proxy.peer : -1;
        uint32_t member = peer < 0 || peer >= MOST_RANKS ? RS_NONE : example_member_of(x, m, e);
        if (member == RS_NONE) continue;
        struct rs_comm_row *c = &m->comms[m->members[member].comm];
        if (c->nranks <= peer) c->nranks = peer + 1;
    }
}

/* ---- devices ---- */

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static uint64_t stream_of(const struct rs_example_event *e)
{
    bool call = e->kind == RS_EX_COLL_API || e->kind == RS_EX_P2P_API;
    uint64_t stream = call ? e->call.stream : e->kind == RS_EX_LAUNCH ? e->launch.stream : 0;
    return stream < LEAST_STREAM ? 0 : stream;
}

static void join_streams(const struct rs_example_members *x, const struct rs_model *m, const struct rs_example *d,
                         struct rs_map *streams, uint32_t *parent)
{
    for (uint32_t i = 0; i < d->n; i++) {
        uint64_t stream = stream_of(&d->events[i]), *at;
        uint32_t member = stream ? example_member_of(x, m, &d->events[i]) : RS_NONE;
        if (member == RS_NONE) continue;
        rs_map_at(streams, stream, member, &at);
        parent[root_of(parent, member - x->first)] = root_of(parent, (uint32_t)*at - x->first);
    }
}

/* Whether no communicator has two ranks in this process. */
static void is_single(const struct rs_example_members *x, const struct rs_model *m, bool *single)
{
    struct rs_map comms = {0};
    *single = true;
    for (uint32_t i = 0; i < x->n && *single; i++) {
        uint64_t *at;
        rs_map_at(&comms, m->members[x->first + i].comm, i, &at);
        *single = *at == i;
    }
    rs_map_free(&comms);
}

static void find_gpus(const struct rs_example_members *x, struct rs_model *m, const struct rs_example_procs *p,
                      const struct rs_example_proc *row, uint32_t *parent)
{
    static const uint8_t none[16];
    bool single;
    struct rs_map streams = {0};
    is_single(x, m, &single);
    for (uint32_t i = 0; i < x->n; i++) parent[i] = single ? 0 : i;
    for (uint32_t k = 0; k < row->n && !single; k++) join_streams(x, m, &p->dumps[row->dumps[k]], &streams, parent);
    rs_map_free(&streams);
    for (uint32_t i = 0; i < x->n; i++) {
        struct rs_member *r = &m->members[x->first + i], *of = &m->members[x->first + root_of(parent, i)];
        if (of->gpu == RS_NONE) rs_model_gpu(m, m->procs[r->proc].host, none, &of->gpu);
        r->gpu = of->gpu;
    }
}

/* ---- lives ---- */

static void earliest(int64_t *to, int64_t ns)
{
    if (ns != RS_TIME_NONE && (*to == RS_TIME_NONE || ns < *to)) *to = ns;
}

/* The clock of the process is 0 at its first init. That was of the communicator that we hear of first. */
static void find_lives(const struct rs_example_members *x, struct rs_model *m, const struct rs_example_procs *p,
                       const struct rs_example_proc *row)
{
    int64_t *heard = rs_alloc(((size_t)x->n + 1) * sizeof *heard), soonest = RS_TIME_NONE;
    uint32_t first = RS_NONE;
    for (uint32_t i = 0; i < x->n; i++) heard[i] = RS_TIME_NONE;
    for (uint32_t k = 0; k < row->n; k++) {
        const struct rs_example *d = &p->dumps[row->dumps[k]];
        for (uint32_t i = 0; i < d->n; i++) {
            uint32_t member = example_member_of(x, m, &d->events[i]);
            if (member != RS_NONE) earliest(&heard[member - x->first], d->events[i].begin);
        }
    }
    for (uint32_t i = 0; i < x->n; i++) {
        if (heard[i] == RS_TIME_NONE || (first != RS_NONE && heard[i] >= soonest)) continue;
        soonest = heard[i];
        first = m->members[x->first + i].comm;
    }
    for (uint32_t i = 0; i < x->n; i++) {
        struct rs_member *r = &m->members[x->first + i];
        r->created_from = RS_LIFE_FIRST_INIT;
        r->destroyed_from = RS_LIFE_LAST_SLEEP;
        if (r->comm == first) r->created = 0;
        if (x->own[i] != RS_NONE) r->destroyed = rs_example_destroyed(&p->dumps[x->own[i]]);
    }
    free(heard);
}

void rs_example_members_add(struct rs_example_members *x, struct rs_model *m, const struct rs_example_procs *p,
                            const struct rs_example_proc *row, uint32_t proc)
{
    *x = (struct rs_example_members){.first = m->nmembers};
    members_add_all(x, m, p, row, proc);
    for (uint32_t k = 0; k < row->n; k++) learn_sizes(x, m, &p->dumps[row->dumps[k]]);
    uint32_t *parent = rs_alloc(((size_t)x->n + 1) * sizeof *parent);
    find_gpus(x, m, p, row, parent);
    free(parent);
    find_lives(x, m, p, row);
}

void rs_example_members_free(struct rs_example_members *x)
{
    free(x->own);
    rs_map_free(&x->index);
    *x = (struct rs_example_members){0};
}

/* ---- launches ----
 * Kernel launches of one dump, and which operation each is of.
 *
 * A launch and its operations are in the same group call and of the same rank; operations are reported after their
 * launch. The struct is the caller's to free. */

struct example_launch {
    uint64_t comm;
    int32_t rank;
    uint32_t group; /* outermost event around it */
    uint32_t event;
    int64_t begin, end; /* host ns; begin RS_TIME_NONE: unknown */
    int64_t low; /* it cannot have begun before this; RS_TIME_NONE: not known */
};

struct example_launches {
    struct example_launch *rows; /* by group, communicator, rank and end */
    uint32_t n;
};

/* The outermost event around one; itself where nothing is. */
static uint32_t example_outermost(const struct rs_example *d, uint32_t event)
{
    while (d->events[event].parent != RS_NONE) event = d->events[event].parent;
    return event;
}

static int launches_by_time(const void *a, const void *b)
{
    const struct example_launch *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->end != y->end) return x->end < y->end ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

static int compare_owner(const struct example_launch *x, const struct example_launch *y)
{
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->comm != y->comm) return x->comm < y->comm ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int by_owner(const void *a, const void *b)
{
    int order = compare_owner(a, b);
    return order ? order : launches_by_time(a, b);
}

static void example_launches_find(struct example_launches *x, const struct rs_example *d)
{
    *x = (struct example_launches){.rows = rs_alloc(((size_t)d->counts[RS_EX_LAUNCH] + 1) * sizeof *x->rows)};
    for (uint32_t i = 0; i < d->n; i++) {
        const struct rs_example_event *e = &d->events[i];
        if (e->kind != RS_EX_LAUNCH || (e->begin == RS_TIME_NONE && e->end == RS_TIME_NONE)) continue;
        x->rows[x->n++] = (struct example_launch){.comm = e->comm,
                                                  .rank = e->who == RS_EX_WHO_NONE ? -1 : e->rank,
                                                  .group = example_outermost(d, i),
                                                  .event = i,
                                                  .begin = e->begin,
                                                  .end = e->end != RS_TIME_NONE ? e->end : e->begin};
    }
    if (!x->n) return;
    /* One thread makes the launches of a group, one after the other, after the group's call began. */
    qsort(x->rows, x->n, sizeof *x->rows, launches_by_time);
    for (uint32_t i = 0; i < x->n; i++) {
        struct example_launch *l = &x->rows[i];
        bool again = i && x->rows[i - 1].group == l->group;
        int64_t before = again ? x->rows[i - 1].end : l->group != l->event ? d->events[l->group].begin : RS_TIME_NONE;
        l->low = l->begin != RS_TIME_NONE ? l->begin : before;
    }
    qsort(x->rows, x->n, sizeof *x->rows, by_owner);
}

static void example_launches_free(struct example_launches *x)
{
    free(x->rows);
    *x = (struct example_launches){0};
}

/* The launch of an operation; NULL: not known. */
static const struct example_launch *example_launch_of(const struct example_launches *x, const struct rs_example *d,
                                                      uint32_t event)
{
    const struct rs_example_event *e = &d->events[event];
    struct example_launch key = {.comm = e->comm,
                                 .rank = e->rank,
                                 .group = example_outermost(d, event),
                                 .end = e->begin == RS_TIME_NONE ? INT64_MAX : e->begin,
                                 .event = RS_NONE};
    if (e->rank < 0 || e->who == RS_EX_WHO_NONE) return NULL;
    uint32_t low = 0, high = x->n;
    RS_BISECT(low, high, mid, by_owner(&x->rows[mid], &key) <= 0); /* the first after the operation's begin */
    if (low && !compare_owner(&x->rows[low - 1], &key)) return &x->rows[low - 1];
    return low < x->n && !compare_owner(&x->rows[low], &key) ? &x->rows[low] : NULL;
}

/* ---- parts ---- */

/* An operation, a call without one, or a group call that holds nothing of what it launched. */
struct item {
    int64_t at; /* host ns, or a substitute by order */
    uint32_t dump; /* of the process: rows of rs_example_proc.dumps */
    uint32_t event;
};

struct work {
    struct rs_example_parts *x;
    struct rs_model *m;
    const struct rs_example_procs *p;
    const struct rs_example_proc *row;
    const struct rs_example_members *members;
    struct example_launches *launches; /* by dump */
    struct item *items;
    uint32_t nitems, cap_items;
    struct rs_map recorded; /* (communicator, function) of which there are operations */
    struct rs_map captured; /* captured call -> ordinal << 32 | operations so far */
    struct rs_map ordinals; /* member -> captured calls so far */
    struct rs_gap *gaps;
    uint32_t ngaps, cap_gaps;
};

static bool is_op(const struct rs_example_event *e)
{
    return e->kind == RS_EX_COLL || e->kind == RS_EX_P2P || e->kind == RS_EX_CE_COLL;
}
static bool is_call(const struct rs_example_event *e)
{
    return e->kind == RS_EX_COLL_API || e->kind == RS_EX_P2P_API;
}

static const struct rs_example *dump_of(const struct work *w, uint32_t k)
{
    return &w->p->dumps[w->row->dumps[k]];
}

static uint64_t name_key(const struct rs_example *d, const struct rs_example_event *e)
{
    uint64_t h = rs_mix_text(rs_mix(e->comm, 3), rs_texts_at(&d->texts, e->name));
    return h;
}

/* ---- what there is, in order ---- */

static int by_time(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    if (x->dump != y->dump) return x->dump < y->dump ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

/* When it, or what contains it, began; else it follows what is before it in the file. */
static int64_t time_of(const struct rs_example *d, uint32_t i, int64_t before)
{
    for (; i != RS_NONE; i = d->events[i].parent)
        if (d->events[i].begin != RS_TIME_NONE) return d->events[i].begin;
    return before;
}

/* Marks in `holds` what has an operation (calls), or a call or an operation (group calls) in it. */
static void mark(const struct rs_example *d, uint8_t *holds)
{
    for (uint32_t i = 0; i < d->n; i++) {
        const struct rs_example_event *e = &d->events[i];
        if (is_op(e) && e->parent != RS_NONE) holds[e->parent] = 1;
        if (is_op(e) || is_call(e)) holds[example_outermost(d, i)] = 1;
    }
}

static void add_row(struct work *w, int64_t at, uint32_t dump, uint32_t event)
{
    RS_ROOM(w->items, w->nitems, w->cap_items);
    w->items[w->nitems++] = (struct item){at, dump, event};
}

static void list_dump(struct work *w, uint32_t k)
{
    const struct rs_example *d = dump_of(w, k);
    uint8_t *holds = rs_zalloc((size_t)d->n + 1, 1);
    int64_t now = INT64_MIN;
    mark(d, holds);
    for (uint32_t i = 0; i < w->launches[k].n; i++) /* 2: it launched something, and holds nothing */
        if (!holds[w->launches[k].rows[i].group]) holds[w->launches[k].rows[i].group] = 2;
    for (uint32_t i = 0; i < d->n; i++) {
        const struct rs_example_event *e = &d->events[i];
        bool empty = e->kind == RS_EX_GROUP_API && holds[i] == 2;
        if (!is_op(e) && !(is_call(e) && !holds[i]) && !empty) continue;
        now = time_of(d, i, now);
        add_row(w, now, k, i);
        if (e->kind == RS_EX_COLL) rs_map_put(&w->recorded, name_key(d, e), 1);
    }
    free(holds);
}

/* ---- losses ---- */

static void lose(struct work *w, const struct item *it)
{
    const struct rs_example *d = dump_of(w, it->dump);
    const struct rs_example_event *e = &d->events[it->event];
    const struct rs_example_event *top = &d->events[example_outermost(d, it->event)];
    int64_t from = it->at, to = e->end > top->end ? e->end : top->end;
    struct rs_gap gap = {from, to > from ? to : from, e->kind != RS_EX_P2P_API, e->kind != RS_EX_COLL_API, 0};
    if (from == INT64_MIN) gap.from = gap.to = 0;
    RS_ROOM(w->gaps, w->ngaps, w->cap_gaps);
    w->gaps[w->ngaps++] = gap;
}

/* ---- parts ---- */

static void string_of(struct work *w, const struct rs_example *d, uint16_t text, uint16_t *id)
{
    rs_model_string(w->m, rs_texts_at(&d->texts, text), id);
}

static bool has_root(const char *func)
{
    return !strcmp(func, "Broadcast") || !strcmp(func, "Reduce") || !strcmp(func, "Gather") || !strcmp(func, "Scatter");
}

static void plan_of(struct work *w, uint64_t key, uint64_t *plan)
{
    uint64_t *at;
    rs_map_at(&w->x->plans, key, rs_map_count(&w->x->plans) + 1, &at);
    *plan = *at;
}

/* A captured call runs again and again: its first run gives it its number on the member. */
static void set_captured(struct work *w, uint32_t i, uint32_t k, uint32_t call)
{
    struct rs_parts *t = &w->m->parts;
    uint64_t *ordinal, *runs;
    rs_map_at(&w->captured, (uint64_t)k << 32 | call, 0, &runs);
    if (!*runs) {
        rs_map_at(&w->ordinals, t->member[i], 0, &ordinal);
        *runs = ++*ordinal << 32;
    }
    t->captured[i] = (uint32_t)(*runs >> 32);
    t->replay[i] = (uint32_t)*runs;
    ++*runs;
    t->flags[i] |= RS_PART_CAPTURED;
}

static void set_launch(struct work *w, uint32_t i, const struct item *it)
{
    const struct rs_example *d = dump_of(w, it->dump);
    struct rs_parts *t = &w->m->parts;
    uint32_t group = example_outermost(d, it->event);
    uint64_t here = ((uint64_t)it->dump + 1) << 32;
    const struct example_launch *l = t->captured[i] ? NULL : example_launch_of(&w->launches[it->dump], d, it->event);
    bool old = d->events[group].kind == RS_EX_GROUP; /* before calls were recorded: the group is the plan */
    uint64_t key = here | (l ? l->event : group);
    /* Without a launch it is unknown whether others of the call were in the same kernel. */
    if (!l && !old) key = rs_mix(key, t->member[i]);
    plan_of(w, key, &w->x->plan[i - w->x->first]);
    uint64_t plan = w->x->plan[i - w->x->first];
    if (group != it->event) t->group[i] = old ? plan : here + group + 1;
    if (l || old) t->launch[i] = plan;
    if (!l) return;
    t->launched[i] = l->begin != RS_TIME_NONE ? l->begin : l->end;
    t->flags[i] |= RS_PART_LAUNCHED;
    if (l->begin == RS_TIME_NONE) t->flags[i] |= RS_PART_LAUNCH_END;
    w->x->low[i - w->x->first] = l->low;
}

static void describe(struct work *w, uint32_t i, const struct item *it)
{
    const struct rs_example *d = dump_of(w, it->dump);
    const struct rs_example_event *e = &d->events[it->event];
    const struct rs_example_event *call = e->parent != RS_NONE && is_call(&d->events[e->parent]) ? &d->events[e->parent]
                                          : is_call(e)                                           ? e
                                                                                                 : NULL;
    struct rs_parts *t = &w->m->parts;
    const char *func = rs_texts_at(&d->texts, e->name);
    string_of(w, d, e->name, &t->func[i]);
    if (call && call != e && call->call.captured > 0) set_captured(w, i, it->dump, e->parent);
    int64_t asked = call ? time_of(d, call == e ? it->event : e->parent, RS_TIME_NONE) : e->begin;
    t->enqueued[i] = t->captured[i] || asked == RS_TIME_NONE ? e->begin : asked;
    if (call && has_root(func)) t->peer[i] = call->call.root;
    switch (e->kind) {
    case RS_EX_COLL:
    case RS_EX_P2P:
        t->kind[i] = e->kind == RS_EX_COLL ? RS_PART_COLL : e->work.is_send ? RS_PART_SEND : RS_PART_RECV;
        t->seq[i] = e->kind == RS_EX_COLL ? e->work.seq : UINT64_MAX;
        t->count[i] = e->work.count;
        if (e->kind == RS_EX_P2P) {
            t->peer[i] = e->work.peer;
            if (e->work.peer == e->rank) t->flags[i] |= RS_PART_SELF;
        }
        /* Before there were calls: how many may be used, not how many are. */
        if (call && e->work.nchannels > 0)
            t->channels[i] = (uint8_t)(e->work.nchannels < 255 ? e->work.nchannels : 255);
        string_of(w, d, e->work.dtype, &t->dtype[i]);
        string_of(w, d, e->work.algo, &t->algo[i]);
        string_of(w, d, e->work.proto, &t->proto[i]);
        if (e->kind == RS_EX_COLL && !strcmp(func, "AllReduce") &&
            !strcmp(rs_texts_at(&d->texts, e->work.algo), "TREE"))
            t->flags[i] |= RS_PART_END_EARLY;
        break;
    case RS_EX_CE_COLL:
        t->kind[i] = RS_PART_CE;
        t->count[i] = e->ce.count;
        string_of(w, d, e->ce.dtype, &t->dtype[i]);
        break;
    default:
        t->kind[i] = RS_PART_API;
        t->count[i] = e->call.count;
        string_of(w, d, e->call.dtype, &t->dtype[i]);
    }
    t->flags[i] |= RS_PART_STOPPED; /* dumps are written when the communicator ends */
    set_launch(w, i, it);
}

static void add_item(struct work *w, const struct item *it)
{
    const struct rs_example *d = dump_of(w, it->dump);
    const struct rs_example_event *e = &d->events[it->event];
    uint32_t i, member = example_member_of(w->members, w->m, e);
    bool lost = e->kind == RS_EX_GROUP_API || e->kind == RS_EX_P2P_API ||
                (e->kind == RS_EX_COLL_API && (member == RS_NONE || rs_map_find(&w->recorded, name_key(d, e))));
    if (lost) {
        lose(w, it);
        return;
    }
    if (member == RS_NONE) return;
    rs_model_part(w->m, &i);
    w->x->n++;
    w->x->of[it->dump][it->event] = i;
    w->x->low[i - w->x->first] = RS_TIME_NONE;
    w->m->parts.member[i] = member;
    w->m->parts.handle[i] = ((uint64_t)it->dump + 1) << 32 | (it->event + 1);
    describe(w, i, it);
}

/* By time: they came in the order of the items. */
static void keep_gaps(struct work *w, uint32_t proc)
{
    struct rs_proc *p = &w->m->procs[proc];
    p->lost = p->ngaps = w->ngaps;
    p->gaps = w->gaps;
    w->gaps = NULL;
}

static void add_all(struct work *w, uint32_t proc)
{
    struct rs_example_parts *x = w->x;
    x->of = rs_zalloc((size_t)x->ndumps + 1, sizeof *x->of);
    w->launches = rs_zalloc((size_t)x->ndumps + 1, sizeof *w->launches);
    for (uint32_t k = 0; k < x->ndumps; k++) {
        const struct rs_example *d = dump_of(w, k);
        x->of[k] = rs_alloc(((size_t)d->n + 1) * sizeof *x->of[k]);
        for (uint32_t i = 0; i < d->n; i++) x->of[k][i] = RS_NONE;
        example_launches_find(&w->launches[k], d);
        list_dump(w, k);
    }
    x->low = rs_alloc(((size_t)w->nitems + 1) * sizeof *x->low);
    x->plan = rs_zalloc((size_t)w->nitems + 1, sizeof *x->plan);
    if (w->nitems) qsort(w->items, w->nitems, sizeof *w->items, by_time);
    for (uint32_t i = 0; i < w->nitems; i++) add_item(w, &w->items[i]);
    keep_gaps(w, proc);
}

void rs_example_parts_add(struct rs_example_parts *x, struct rs_model *m, const struct rs_example_procs *p,
                          const struct rs_example_proc *row, const struct rs_example_members *members, uint32_t proc)
{
    *x = (struct rs_example_parts){.first = m->parts.n, .ndumps = row->n};
    struct work w = {.x = x, .m = m, .p = p, .row = row, .members = members};
    add_all(&w, proc);
    for (uint32_t k = 0; w.launches && k < x->ndumps; k++) example_launches_free(&w.launches[k]);
    free(w.launches);
    free(w.items);
    free(w.gaps);
    rs_map_free(&w.recorded);
    rs_map_free(&w.captured);
    rs_map_free(&w.ordinals);
}

void rs_example_parts_free(struct rs_example_parts *x)
{
    for (uint32_t k = 0; x->of && k < x->ndumps; k++) free(x->of[k]);
    free(x->of);
    free(x->low);
    free(x->plan);
    rs_map_free(&x->plans);
    *x = (struct rs_example_parts){0};
}

/* ---- numbers of calls ---- */

/* What members of a communicator made of one function. */
struct tally {
    uint32_t members, least, most;
};

static uint64_t call_key(const struct rs_model *m, uint32_t i, bool member)
{
    uint64_t who = member ? m->parts.member[i] : m->members[m->parts.member[i]].comm;
    return who << 24 | (uint64_t)m->parts.func[i] << 8 | m->parts.kind[i];
}

static bool is_numbered(const struct rs_model *m, uint32_t i)
{
    return m->parts.kind[i] == RS_PART_API || m->parts.kind[i] == RS_PART_CE;
}

static void number(struct rs_model *m, uint32_t first, struct rs_map *counts, struct rs_map *index,
                   struct tally *tallies)
{
    uint64_t *at;
    uint32_t n = 0;
    for (uint32_t i = first; i < m->parts.n; i++) {
        if (!is_numbered(m, i)) continue;
        rs_map_at(counts, call_key(m, i, true), 0, &at);
        m->parts.seq[i] = (*at)++;
    }
    for (uint32_t i = first; i < m->parts.n; i++) {
        if (!is_numbered(m, i) || m->parts.seq[i]) continue; /* once per member */
        uint32_t calls = (uint32_t)rs_map_get(counts, call_key(m, i, true), 0);
        rs_map_at(index, call_key(m, i, false), n, &at);
        if (*at == n) tallies[n++] = (struct tally){0, calls, calls};
        struct tally *t = &tallies[*at];
        t->members++;
        if (calls < t->least) t->least = calls;
        if (calls > t->most) t->most = calls;
    }
    for (uint32_t i = first; i < m->parts.n; i++) {
        if (!is_numbered(m, i)) continue;
        const struct tally *t = &tallies[rs_map_get(index, call_key(m, i, false), 0)];
        int32_t nranks = m->comms[m->members[m->parts.member[i]].comm].nranks;
        if (t->least != t->most || (int64_t)t->members != nranks) m->parts.seq[i] = UINT64_MAX;
    }
}

void rs_example_number_calls(struct rs_model *m, uint32_t first)
{
    uint32_t n = 0;
    for (uint32_t i = first; i < m->parts.n; i++) n += is_numbered(m, i);
    if (!n) return;
    struct rs_map counts = {0}, index = {0};
    struct tally *tallies = rs_alloc(n * sizeof *tallies);
    number(m, first, &counts, &index, tallies);
    free(tallies);
    rs_map_free(&counts);
    rs_map_free(&index);
}
