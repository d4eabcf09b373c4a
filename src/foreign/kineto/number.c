#include "foreign/kineto/number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/mix.h"
#include "foreign/kineto/align.h"

enum { MOST_SAME = 256 }; /* operations of one function with one sequence number: a coalesced group */

/* A group as one trace knows it. */
struct side {
    uint64_t hash; /* of the group: the same in all traces */
    uint32_t file, group;
    uint32_t *calls; /* its collectives, by time */
    uint32_t ncalls;
    uint32_t cluster; /* windows whose places mean the same */
    struct rs_align_item *items; /* of the same calls */
};

struct numbering {
    struct rs_kineto_file *const *files;
    struct rs_model *m;
    struct side *sides; /* by group */
    uint32_t nsides;
    uint32_t clusters; /* of the current group */
    uint32_t unsure, missing, extra;
    const struct side *unsure_side, *missing_side; /* the first of each, for the notes */
};

static struct rs_kineto_call *call_of(const struct numbering *x, const struct side *s, uint32_t i)
{
    return &x->files[s->file]->k.calls[s->calls[i]];
}

static bool is_coll(const struct rs_kineto_call *c)
{
    return strcmp(c->func, "Send") && strcmp(c->func, "Recv");
}

/* ---- sequence numbers ---- */

/* Numbers in the order of one trace; `same` is how often a function had its number before. */
static void count_same(const struct numbering *x, const struct side *s, bool write, bool *repeats)
{
    struct rs_map counts = {0};
    for (uint32_t i = 0; i < s->ncalls; i++) {
        struct rs_kineto_call *c = call_of(x, s, i);
        uint64_t *at;
        rs_map_at(&counts, rs_mix_text((uint64_t)c->seq, c->func), 0, &at);
        if (*at) *repeats = true;
        if (write) c->number = (uint64_t)c->seq * MOST_SAME + (*at < MOST_SAME ? *at : MOST_SAME - 1);
        ++*at;
    }
    rs_map_free(&counts);
}

/* PyTorch's own numbers. Coalesced operations share one: then all of the group are spread out to make room between
 * them. */
static void number_by_seq(const struct numbering *x, struct side *s, uint32_t n)
{
    bool repeats = false;
    for (uint32_t k = 0; k < n; k++) count_same(x, &s[k], false, &repeats);
    for (uint32_t k = 0; k < n; k++) {
        if (repeats) count_same(x, &s[k], true, &repeats);
        for (uint32_t i = 0; i < s[k].ncalls && !repeats; i++) {
            struct rs_kineto_call *c = call_of(x, &s[k], i);
            c->number = (uint64_t)c->seq;
        }
    }
}

/* ---- order ---- */

static int64_t begin_of(const struct side *s)
{
    return rs_align_begin(s->items);
}

static int64_t end_of(const struct side *s)
{
    return s->items[s->ncalls - 1].at;
}

static int by_begin(const void *a, const void *b)
{
    const struct side *x = a, *y = b;
    if (begin_of(x) != begin_of(y)) return begin_of(x) < begin_of(y) ? -1 : 1;
    return x->file < y->file ? -1 : x->file > y->file;
}

/* Whether a rank has several windows. */
static void has_windows(const struct numbering *x, const struct side *s, uint32_t n, bool *several)
{
    struct rs_map seen = {0};
    *several = false;
    for (uint32_t i = 0; i < n && !*several; i++) {
        int32_t rank = x->files[s[i].file]->k.rank;
        uint64_t *at;
        if (rank < 0) continue;
        rs_map_at(&seen, (uint32_t)rank, i, &at);
        *several = *at != i;
    }
    rs_map_free(&seen);
}

/* From a place in a reference to a place in what the reference was aligned with. */
static int64_t place_through(const struct side *ref, int64_t place)
{
    int64_t i = place >= 0 ? place / RS_ALIGN_APART : -((RS_ALIGN_APART - 1 - place) / RS_ALIGN_APART);
    int64_t more = place - i * RS_ALIGN_APART, last = (int64_t)ref->ncalls - 1, k = i < 0 ? 0 : i > last ? last : i;
    return ref->items[k].place + (i - k) * RS_ALIGN_APART + more;
}

/* Aligns a window with one whose places are known. */
static void align_window(struct numbering *x, struct side *s, const struct side *ref)
{
    struct rs_aligned a = rs_align(s->items, s->ncalls, ref->items, ref->ncalls);
    s->cluster = ref->cluster;
    if (!a.sure) {
        if (!x->unsure++) x->unsure_side = s;
        s->cluster = x->clusters++;
        for (uint32_t i = 0; i < s->ncalls; i++) s->items[i].place = (int64_t)i * RS_ALIGN_APART;
        return;
    }
    if ((a.missing || a.extra) && !x->missing && !x->extra) x->missing_side = s;
    x->missing += a.missing;
    x->extra += a.extra;
    for (uint32_t i = 0; i < s->ncalls; i++) s->items[i].place = place_through(ref, s->items[i].place);
}

/* Whether a window shares at least half of the shorter one's time with another. */
static bool shares_time(const struct side *a, const struct side *b)
{
    int64_t from = begin_of(a) > begin_of(b) ? begin_of(a) : begin_of(b);
    int64_t to = end_of(a) < end_of(b) ? end_of(a) : end_of(b);
    int64_t v = rs_time_minus(end_of(a), begin_of(a)), w = rs_time_minus(end_of(b), begin_of(b));
    return from <= to && rs_time_minus(to, from) >= (v < w ? v : w) / 2;
}

/* Windows of one time, by begin: the longest is the reference. Windows that hardly overlap it are aligned with the
 * placed window that reaches furthest towards them. */
static void align_cluster(struct numbering *x, struct side *s, uint32_t n, bool several)
{
    struct side *ref = s;
    uint32_t cluster = x->clusters++;
    for (uint32_t k = 1; k < n; k++)
        if (s[k].ncalls > ref->ncalls) ref = &s[k];
    for (uint32_t i = 0; i < ref->ncalls; i++) ref->items[i].place = (int64_t)i * RS_ALIGN_APART;
    for (uint32_t k = 0; k < n; k++) s[k].cluster = UINT32_MAX;
    ref->cluster = cluster;
    struct side *earliest = ref, *latest = ref;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < n; i++) {
            /* Going away from the reference: back in time first, then on. */
            struct side *k = pass && &s[i] < ref ? &s[ref - s - 1 - i] : &s[i];
            if (k->cluster != UINT32_MAX || (several && !pass && !shares_time(k, ref))) continue;
            align_window(x, k, !pass ? ref : begin_of(k) < begin_of(ref) ? earliest : latest);
            if (k->cluster != cluster) continue;
            if (begin_of(k) < begin_of(earliest)) earliest = k;
            if (end_of(k) > end_of(latest)) latest = k;
        }
}

/* A collective on its way to its number. */
struct placed {
    uint64_t func;
    uint32_t cluster;
    int64_t place;
    struct rs_kineto_call *call;
};

static int by_place(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->func != y->func) return x->func < y->func ? -1 : 1;
    if (x->cluster != y->cluster) return x->cluster < y->cluster ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Ordinals of each function, over all places that it has on any rank. */
static void number_places(const struct numbering *x, const struct side *s, uint32_t n)
{
    size_t all = 0, k = 0;
    for (uint32_t i = 0; i < n; i++) all += s[i].ncalls;
    struct placed *p = rs_alloc((all + 1) * sizeof *p);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < s[i].ncalls; j++) {
            struct rs_kineto_call *c = call_of(x, &s[i], j);
            p[k++] = (struct placed){rs_mix_text(0, c->func), s[i].cluster, s[i].items[j].place, c};
        }
    qsort(p, all, sizeof *p, by_place);
    uint64_t number = 0;
    for (size_t i = 0; i < all; i++) {
        if (i && p[i].func != p[i - 1].func)
            number = 0;
        else if (i && by_place(&p[i], &p[i - 1]))
            number++;
        p[i].call->number = number;
    }
    free(p);
}

/* Who waits for whom: all for all, or by the root, of which a rank may leave before others come. */
static void set_waits(struct rs_align_item *item, const struct rs_kineto_call *c, const struct rs_kineto_group *g)
{
    bool from_root = !strcmp(c->func, "Broadcast") || !strcmp(c->func, "Scatter");
    bool to_root = !strcmp(c->func, "Reduce") || !strcmp(c->func, "Gather");
    bool known = g->rank >= 0 && c->lane != RS_KINETO_NONE, root = c->rank == g->rank;
    item->waits = from_root ? known && !root : to_root ? known && root : true;
    item->awaited = from_root ? known && root : to_root ? known && !root : true;
}

static void make_items(const struct numbering *x, struct side *s)
{
    s->items = rs_alloc(s->ncalls * sizeof *s->items);
    for (uint32_t i = 0; i < s->ncalls; i++) {
        const struct rs_kineto_call *c = call_of(x, s, i);
        uint64_t what = rs_mix_text(rs_mix_text(0, c->func), c->dtype);
        /* Of these the shares of ranks may differ. */
        bool uneven = !strcmp(c->func, "AlltoAll") || !strcmp(c->func, "Gather") || !strcmp(c->func, "Scatter");
        bool known = c->kernel != RS_KINETO_NONE;
        int64_t at = known ? c->kernel_end : c->start;
        s->items[i] = (struct rs_align_item){
            .what = uneven ? what : rs_mix(what, c->in),
            .at = i && s->items[i - 1].at > at ? s->items[i - 1].at : at,
            .start = known ? c->kernel_start : INT64_MIN,
            .end = known ? c->kernel_end : INT64_MIN,
            .step = c->step,
        };
        set_waits(&s->items[i], c, &x->files[s->file]->k.groups[s->group]);
    }
}

/* With one window per rank all belong together, whatever their clocks say; else those that overlap do. */
static void number_by_order(struct numbering *x, struct side *s, uint32_t n)
{
    bool several;
    has_windows(x, s, n, &several);
    for (uint32_t k = 0; k < n; k++) make_items(x, &s[k]);
    qsort(s, n, sizeof *s, by_begin);
    x->clusters = 0;
    for (uint32_t k = 0, next; k < n; k = next) {
        int64_t end = end_of(&s[k]);
        for (next = k + 1; next < n && (!several || begin_of(&s[next]) <= end); next++)
            if (end_of(&s[next]) > end) end = end_of(&s[next]);
        align_cluster(x, &s[k], next - k, several);
    }
    number_places(x, s, n);
}

/* ---- all groups ---- */

static int by_group(const void *a, const void *b)
{
    const struct side *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    if (x->file != y->file) return x->file < y->file ? -1 : 1;
    return x->group < y->group ? -1 : x->group > y->group;
}

/* One side for each group of each trace that has collectives. */
static void make_sides(struct numbering *x, size_t n)
{
    size_t most = 0, cap = 0;
    for (size_t f = 0; f < n; f++) {
        if (x->files[f]->k.ngroups > most) most = x->files[f]->k.ngroups;
        cap += x->files[f]->k.ngroups;
    }
    x->sides = rs_zalloc(cap + 1, sizeof *x->sides);
    uint32_t *of = rs_alloc((most + 1) * sizeof *of); /* group of the current trace -> side */
    for (size_t f = 0; f < n; f++) {
        const struct rs_kineto *k = &x->files[f]->k;
        struct side *first = &x->sides[x->nsides];
        memset(of, 0xff, (most + 1) * sizeof *of);
        for (uint32_t i = 0; i < k->ncalls; i++) {
            if (!is_coll(&k->calls[i])) continue;
            uint32_t g = k->calls[i].group;
            if (of[g] == UINT32_MAX) {
                of[g] = x->nsides;
                x->sides[x->nsides++] = (struct side){
                    .hash = k->groups[g].hash,
                    .file = (uint32_t)f,
                    .group = g,
                };
            }
            x->sides[of[g]].ncalls++;
        }
        for (struct side *s = first; s < &x->sides[x->nsides]; s++) {
            s->calls = rs_alloc(s->ncalls * sizeof *s->calls);
            s->ncalls = 0;
        }
        for (uint32_t i = 0; i < k->ncalls; i++) {
            if (!is_coll(&k->calls[i])) continue;
            struct side *s = &x->sides[of[k->calls[i].group]];
            s->calls[s->ncalls++] = i;
        }
    }
    free(of);
    qsort(x->sides, x->nsides, sizeof *x->sides, by_group);
}

static enum rs_status say(const struct numbering *x, struct rs_err *err)
{
    if (x->unsure) {
        const struct side *s = x->unsure_side;
        const struct rs_kineto *k = &x->files[s->file]->k;
        RS_TRY(rs_model_note(
            x->m, err,
            "%s: which operations of process group %s are the same as on other ranks is unknown: they are not "
            "joined (%" PRIu32 " such window%s)",
            x->m->procs[x->files[s->file]->process->proc].path, k->groups[s->group].name, x->unsure,
            x->unsure == 1 ? "" : "s"));
    }
    if (x->missing || x->extra) {
        const struct side *s = x->missing_side;
        RS_TRY(rs_model_note(
            x->m, err,
            "%s: operations of process group %s differ from other ranks'; missing in such traces: %" PRIu32
            ", only in them: %" PRIu32,
            x->m->procs[x->files[s->file]->process->proc].path, x->files[s->file]->k.groups[s->group].name, x->missing,
            x->extra));
    }
    return RS_OK;
}

static enum rs_status number_all(struct numbering *x, struct rs_err *err)
{
    for (uint32_t i = 0, next; i < x->nsides; i = next) {
        bool numbered = true;
        for (next = i; next < x->nsides && x->sides[next].hash == x->sides[i].hash; next++)
            for (uint32_t k = 0; k < x->sides[next].ncalls && numbered; k++)
                numbered = call_of(x, &x->sides[next], k)->seq >= 0;
        if (numbered)
            number_by_seq(x, &x->sides[i], next - i);
        else
            number_by_order(x, &x->sides[i], next - i);
    }
    return say(x, err);
}

enum rs_status rs_kineto_number(struct rs_kineto_file *const *files, size_t n, struct rs_model *m, struct rs_err *err)
{
    struct numbering x = {.files = files, .m = m};
    make_sides(&x, n);
    enum rs_status status = RS_OK;
    status = number_all(&x, err);
    for (uint32_t i = 0; i < x.nsides; i++) {
        free(x.sides[i].calls);
        free(x.sides[i].items);
    }
    free(x.sides);
    return status;
}
