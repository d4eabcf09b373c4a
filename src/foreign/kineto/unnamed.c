#include "foreign/kineto/unnamed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/mix.h"
#include "base/room.h"
#include "base/strbuf.h"
#include "foreign/kineto/groups.h"
#include "foreign/torch.h"

/* ---- calls ---- */

/* Whether the trace says of any communication what it is: then it says so of all. */
static bool has_arguments(const struct rs_kineto *k)
{
    for (uint32_t i = 0; i < k->ncalls; i++)
        if (k->calls[i].source == RS_KINETO_RECORD && k->calls[i].func) return true;
    return false;
}

static int by_place(const void *a, const void *b)
{
    const struct rs_kineto_call *x = a, *y = b;
    if (x->lane != y->lane) return x->lane < y->lane ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->end != y->end) return x->end > y->end ? -1 : 1;
    return x->source < y->source ? -1 : x->source > y->source;
}

/* The calls around each annotation: it is of the record_param_comms that it is in, and of the operator around that. */
static void take_annotations(struct rs_kineto *k)
{
    const struct rs_kineto_call *record = NULL, *sizes = NULL;
    if (k->ncalls) qsort(k->calls, k->ncalls, sizeof *k->calls, by_place);
    for (uint32_t i = 0; i < k->ncalls; i++) {
        struct rs_kineto_call *c = &k->calls[i];
        if (c->source == RS_KINETO_RECORD) record = c;
        if (c->source == RS_KINETO_SIZES) sizes = c;
        if (c->source != RS_KINETO_ANNOTATION) continue;
        if (sizes && sizes->lane == c->lane && sizes->end >= c->end) c->group_size = sizes->group_size;
        if (!record || record->lane != c->lane || record->end < c->end) continue;
        c->start = record->start;
        c->end = record->end;
    }
}

static void keep_source(struct rs_kineto *k, uint8_t source)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < k->ncalls; i++)
        if (k->calls[i].source == source) k->calls[kept++] = k->calls[i];
    k->ncalls = kept;
}

/* Without annotations: NCCL's kernels whose names say what they do. */
static void take_kernels(struct rs_kineto *k)
{
    static const struct rs_kineto_call none = {RS_KINETO_CALL_UNKNOWN, .external = RS_KINETO_NO_ID, .unnamed = true};
    for (uint32_t i = 0; i < k->nrows; i++) {
        const struct rs_kineto_row *r = &k->rows[i];
        const struct rs_kernel_name *name = &k->names[r->name].kernel;
        if (r->kind != RS_ACT_COMM || !name->func || !strcmp(name->func, "SendRecv")) continue;
        struct rs_kineto_call c = none;
        c.start = r->start;
        c.end = r->end;
        c.func = name->func;
        c.row = i;
        c.event = r->event;
        rs_kineto_call(k, &c);
    }
}

void rs_kineto_unnamed_find(struct rs_kineto *k)
{
    if (has_arguments(k)) {
        keep_source(k, RS_KINETO_RECORD);
        return;
    }
    take_annotations(k);
    keep_source(k, RS_KINETO_ANNOTATION);
    for (uint32_t i = 0; i < k->ncalls; i++) {
        k->calls[i].unnamed = true;
        k->calls[i].external = RS_KINETO_NO_ID; /* those of old kernels are correlations */
    }
    if (!k->ncalls) take_kernels(k);
}

/* ---- streams ---- */

enum { MOST_RANKS = 1 << 20 };
enum { MOST_STREAMS = 64 }; /* that are distinguished; operations on further streams have no known stream */

/* The streams of a trace that have such operations, by number. */
struct streams {
    int64_t ids[MOST_STREAMS];
    uint32_t n;
};

static uint32_t place_of(const struct streams *s, int64_t id)
{
    uint32_t i = 0;
    while (i < s->n && s->ids[i] < id) i++;
    return i;
}

static void add_stream(struct streams *s, int64_t id)
{
    uint32_t at = place_of(s, id);
    if ((at < s->n && s->ids[at] == id) || s->n == MOST_STREAMS) return;
    memmove(s->ids + at + 1, s->ids + at, (s->n - at) * sizeof *s->ids);
    s->ids[at] = id;
    s->n++;
}

static int64_t stream_of(const struct rs_kineto *k, const struct rs_kineto_call *c)
{
    return k->lanes[k->rows[c->kernel].lane].id;
}

void rs_kineto_unnamed_group(struct rs_kineto *k)
{
    struct streams s = {0};
    uint32_t groups[MOST_STREAMS + 1], any = RS_KINETO_NONE;
    for (uint32_t i = 0; i < k->ncalls; i++)
        if (k->calls[i].unnamed && k->calls[i].kernel != RS_KINETO_NONE) add_stream(&s, stream_of(k, &k->calls[i]));
    for (uint32_t i = 0; i < s.n; i++) {
        char name[40];
        snprintf(name, sizeof name, "stream %" PRId64, s.ids[i]);
        groups[i] = rs_kineto_group_add(k, name);
    }
    for (uint32_t i = 0; i < k->ncalls; i++) {
        struct rs_kineto_call *c = &k->calls[i];
        if (!c->unnamed) continue;
        uint32_t at = c->kernel != RS_KINETO_NONE ? place_of(&s, stream_of(k, c)) : s.n == 1 ? 0 : s.n;
        if (at == s.n || (c->kernel != RS_KINETO_NONE && s.ids[at] != stream_of(k, c))) {
            if (any == RS_KINETO_NONE) any = rs_kineto_group_add(k, "");
            c->group = any;
        } else {
            c->group = groups[at];
        }
    }
    k->unnamed_streams = s.n;
}

/* ---- all ranks ---- */

/* The unnamed operations of a stream, on one rank. */
struct list {
    struct rs_kineto_file *file;
    uint32_t group;
    uint32_t *calls, n;
};

struct joining {
    struct list *lists; /* rank by rank, of each its streams by number */
    uint32_t n, cap;
    uint32_t traces, streams; /* of all ranks; how many each has, as the first */
    int32_t world; /* ranks of the job */
    int32_t *ranks; /* all of them: the model's */
    struct rs_strbuf why; /* why something is not joined: the first reason */
    uint64_t joined, apart; /* operations, on all ranks */
};

static void refuse(struct joining *j, const char *why)
{
    if (!j->why.len) rs_strbuf_puts(&j->why, why);
}

static struct rs_kineto_call *call_at(const struct list *l, uint32_t i)
{
    return &l->file->k.calls[l->calls[i]];
}

/* Makes the lists of a trace; its groups were added stream by stream. */
static void add_lists(struct joining *j, struct rs_kineto_file *f)
{
    struct rs_kineto *k = &f->k;
    uint32_t *of = rs_alloc(((size_t)k->ngroups + 1) * sizeof *of),
             *count = rs_zalloc((size_t)k->ngroups + 1, sizeof *count);
    for (uint32_t i = 0; i < k->ncalls; i++) count[k->calls[i].group] += k->calls[i].unnamed;
    for (uint32_t g = 0; g < k->ngroups; g++) {
        of[g] = j->n;
        if (!count[g]) continue;
        RS_ROOM(j->lists, j->n, j->cap);
        j->lists[j->n++] = (struct list){.file = f, .group = g, .calls = rs_alloc(count[g] * sizeof(uint32_t))};
    }
    for (uint32_t i = 0; i < k->ncalls; i++) {
        if (!k->calls[i].unnamed) continue;
        struct list *l = &j->lists[of[k->calls[i].group]];
        l->calls[l->n++] = i;
    }
    free(of);
    free(count);
}

/* The ranks of the job, as any trace says; else the ranks given, if they are several and 0, 1, 2, ...; -1: unknown. */
static int32_t world_of(struct rs_kineto_file *const *files, size_t n)
{
    int32_t world = -1, highest = -1;
    for (size_t i = 0; i < n; i++) {
        if (files[i]->k.world > world) world = files[i]->k.world;
        if (files[i]->k.rank > highest) highest = files[i]->k.rank;
    }
    if (world > highest) return world;
    return world < 0 && n > 1 && (size_t)highest + 1 == n ? highest + 1 : -1;
}

/* Whether anything can be joined at all. */
static bool may_join(struct joining *j, struct rs_kineto_file *const *files, size_t n)
{
    struct rs_map ranks = {0};
    uint32_t streams = UINT32_MAX;
    bool again = false, unknown = false, differ = false;
    for (size_t i = 0; i < n; i++) {
        const struct rs_kineto *k = &files[i]->k;
        uint64_t *at;
        if (!k->has_unnamed) continue;
        if (streams == UINT32_MAX) streams = k->unnamed_streams;
        differ |= streams != k->unnamed_streams;
        unknown |= k->rank < 0;
        if (k->rank < 0) continue;
        rs_map_at(&ranks, (uint64_t)k->rank + 1, 0, &at);
        again |= (*at)++ > 0;
    }
    rs_map_free(&ranks);
    j->streams = streams;
    if (unknown)
        refuse(j, "the rank of some traces is unknown");
    else if (again)
        refuse(j, "a rank has several traces");
    else if (differ)
        refuse(j, "ranks use different numbers of NCCL streams");
    else if (j->traces == 1 && j->world != 1)
        refuse(j, "only one rank is given");
    else if (j->world < 0 || j->world > MOST_RANKS)
        refuse(j, "the number of ranks is unknown");
    return !j->why.len;
}

static bool is_symmetric(const char *func)
{
    return !strcmp(func, "AllReduce") || !strcmp(func, "AllGather") || !strcmp(func, "ReduceScatter");
}

static bool are_same(const struct rs_kineto_call *a, const struct rs_kineto_call *b)
{
    if (strcmp(a->func, b->func)) return false;
    return !is_symmetric(a->func) || !a->in || !b->in || (a->in == b->in && !strcmp(a->dtype, b->dtype));
}

/* Whether the k-th streams of all ranks are of one group, which is all ranks. */
static bool is_world(struct joining *j, uint32_t stream)
{
    const struct list *first = &j->lists[stream];
    bool known = false;
    for (uint32_t t = 0; t < j->traces; t++) {
        const struct list *l = &j->lists[(size_t)t * j->streams + stream];
        const char *name = l->file->k.groups[l->group].name;
        bool same = l->n == first->n;
        for (uint32_t i = 0; i < l->n && same; i++) {
            int32_t size = call_at(l, i)->group_size;
            same = are_same(call_at(first, i), call_at(l, i));
            known |= size == j->world;
            if (size <= 0 || size == j->world) continue;
            char why[120];
            snprintf(why, sizeof why, "sizes say that the group of %s has %" PRId32 " of %" PRId32 " ranks", name, size,
                     j->world);
            refuse(j, why);
            return false;
        }
        if (same) continue;
        char why[120];
        snprintf(why, sizeof why, "operations on %s differ between ranks %" PRId32 " and %" PRId32, name,
                 first->file->k.rank, l->file->k.rank);
        refuse(j, why);
        return false;
    }
    if (known || j->streams == 1) return true;
    refuse(j, "there are several process groups (NCCL streams), and nothing says which ranks each has");
    return false;
}

/* Gives a group its ranks, or makes it one of its rank alone. */
static void settle(struct joining *j, struct list *l, const char *name, bool world)
{
    struct rs_kineto *k = &l->file->k;
    struct rs_kineto_group *g = &k->groups[l->group];
    if (world) {
        g->name = name;
        g->assumed = j->world > 1;
        g->nranks = (uint32_t)j->world;
        g->ranks = j->ranks;
        g->hash = rs_torch_group(name, strlen(name), g->ranks, g->nranks);
        g->rank = k->rank;
    } else {
        g->hash = rs_mix(rs_torch_group(g->name, strlen(g->name), NULL, 0), (uint64_t)l->file->order + 1);
    }
    *(world ? &j->joined : &j->apart) += l->n;
    for (uint32_t i = 0; i < l->n; i++) {
        struct rs_kineto_call *c = call_at(l, i);
        int32_t size = world ? j->world : c->group_size;
        if (!strcmp(c->func, "ReduceScatter") && size > 0) c->out = c->in / (uint64_t)size;
    }
}

static enum rs_status say(const struct joining *j, struct rs_model *m, const char *stream, struct rs_err *err)
{
    const char *traces = j->traces == 1 ? "trace does" : "traces do";
    if (j->joined && j->world > 1)
        RS_TRY(rs_model_note(m, err,
                             "%" PRIu32
                             " %s not name process groups: operations on NCCL's %s are joined by their order, as of a "
                             "group of all %" PRId32 " ranks (confidence %.1f)",
                             j->traces, traces, stream, j->world, RS_ASSUMED_CONFIDENCE / 100.0));
    if (j->apart)
        RS_TRY(rs_model_note(
            m, err, "%" PRIu32 " %s not name process groups: %" PRIu64 " operations are not joined between ranks: %s",
            j->traces, traces, j->apart, rs_strbuf_borrow((struct rs_strbuf *)&j->why)));
    return RS_OK;
}

enum rs_status rs_kineto_unnamed_join(struct rs_kineto_file *const *files, size_t n, struct rs_model *m,
                                      struct rs_err *err)
{
    struct joining j = {.world = world_of(files, n)};
    for (size_t i = 0; i < n; i++) {
        struct rs_kineto *k = &files[i]->k;
        for (uint32_t c = 0; c < k->ncalls && !k->has_unnamed; c++) k->has_unnamed = k->calls[c].unnamed;
        if (!k->has_unnamed) continue;
        add_lists(&j, files[i]);
        j.traces++;
    }
    if (!j.traces) return RS_OK;
    bool may = may_join(&j, files, n);
    if (may && j.n != (uint64_t)j.traces * j.streams) {
        refuse(&j, "of some operations the kernel is not in the trace");
        may = false;
    }
    if (may) {
        j.ranks = rs_arena_alloc(&m->arena, (size_t)j.world * sizeof *j.ranks);
        for (int32_t i = 0; i < j.world; i++) j.ranks[i] = i;
    }
    const char *joined = "";
    for (uint32_t s = 0; s < (may ? j.streams : 0); s++) {
        const struct list *first = &j.lists[s];
        bool world = is_world(&j, s);
        const char *name = rs_arena_text(&m->arena, first->file->k.groups[first->group].name,
                                         strlen(first->file->k.groups[first->group].name));
        if (world && !*joined) joined = name;
        for (uint32_t t = 0; t < j.traces; t++) settle(&j, &j.lists[(size_t)t * j.streams + s], name, world);
    }
    for (uint32_t i = 0; i < j.n && !may; i++) settle(&j, &j.lists[i], "", false);
    enum rs_status status = say(&j, m, joined, err);
    for (uint32_t i = 0; i < j.n; i++) free(j.lists[i].calls);
    free(j.lists);
    rs_strbuf_free(&j.why);
    return status;
}
