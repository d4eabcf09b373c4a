#include "foreign/kineto/streams.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/mix.h"
#include "base/room.h"

#define FAR_NS INT64_C(2000000000) /* clocks of hosts are seconds apart at most */
enum {
    MOST_AGREE = 4, /* all but one in so many marks must agree */
    MOST_LATE = 8, /* no more than one in so many may end too early */
    TOLERANCE_NS = 100000, /* of times */
};

/* A send or receive. */
struct end {
    struct rs_kineto_call *call;
    uint32_t file, place; /* of the call in its trace */
    uint32_t stream;
    uint32_t mate; /* index of its counterpart; RS_NONE: none */
    bool known; /* whether it has a mate is known */
};

/* What one rank sends to another in a group. */
struct stream {
    uint64_t group; /* hash */
    int32_t src, dst;
    uint32_t first[2], n[2]; /* of sends, receives; in the order of their ranks */
};

/* The collectives of a trace, group by group. */
struct colls {
    uint32_t *first; /* of each group, in calls; one more than groups */
    uint32_t *calls;
};

struct streams {
    struct rs_kineto_file *const *files;
    struct colls *colls; /* by file */
    struct stream *rows;
    uint32_t n, cap;
    struct rs_map ids; /* hash of group, source and destination -> row */
    struct end *ends; /* stream by stream: sends, receives */
    uint32_t unknown; /* ends without a known mate */
    const struct stream *unknown_row;
};

static bool is_coll(const struct rs_kineto_call *c)
{
    return strcmp(c->func, "Send") && strcmp(c->func, "Recv");
}

/* ---- streams ---- */

static void find(struct streams *s, uint64_t group, int32_t src, int32_t dst, uint32_t *row)
{
    uint64_t key = rs_mix(rs_mix(rs_mix(0, group), (uint32_t)src), (uint32_t)dst), *at;
    for (;; key++) {
        rs_map_at(&s->ids, key, s->n, &at);
        *row = (uint32_t)*at;
        if (*at == s->n) break;
        const struct stream *r = &s->rows[*at];
        if (r->group == group && r->src == src && r->dst == dst) return;
    }
    RS_ROOM(s->rows, s->n, s->cap);
    s->rows[s->n++] = (struct stream){.group = group, .src = src, .dst = dst};
}

/* 0: a send, 1: a receive, -1: neither, or the peer is unknown. */
static int side_of(const struct rs_kineto *k, const struct rs_kineto_call *c, int32_t *peer)
{
    bool send = !strcmp(c->func, "Send");
    if (!send && strcmp(c->func, "Recv")) return -1;
    *peer = rs_kineto_peer(c, &k->groups[c->group]);
    return k->groups[c->group].rank < 0 || *peer < 0 ? -1 : !send;
}

/* Two passes: how many there are, then which. */
static void collect(struct streams *s, size_t n, bool fill)
{
    for (size_t f = 0; f < n; f++) {
        struct rs_kineto *k = &s->files[f]->k;
        for (uint32_t i = 0; i < k->ncalls; i++) {
            struct rs_kineto_call *c = &k->calls[i];
            const struct rs_kineto_group *g = &k->groups[c->group];
            int32_t peer;
            uint32_t row;
            int side = side_of(k, c, &peer);
            if (side < 0) continue;
            find(s, g->hash, side ? peer : g->rank, side ? g->rank : peer, &row);
            struct stream *r = &s->rows[row];
            if (fill)
                s->ends[r->first[side] + r->n[side]] =
                    (struct end){.call = c, .file = (uint32_t)f, .place = i, .stream = row, .mate = RS_NONE};
            r->n[side]++;
        }
    }
}

static void make(struct streams *s, size_t n)
{
    uint32_t at = 0;
    collect(s, n, false);
    for (uint32_t i = 0; i < s->n; i++)
        for (int side = 0; side < 2; side++) {
            s->rows[i].first[side] = at;
            at += s->rows[i].n[side];
            s->rows[i].n[side] = 0;
        }
    s->ends = rs_alloc(((size_t)at + 1) * sizeof *s->ends);
    collect(s, n, true);
}

/* ---- runs ---- */

/* The ends of one trace in a stream, all single or all in groups. */
struct run {
    const struct rs_kineto_file *file;
    struct end **ends;
    uint32_t n;
    bool open; /* with a run of the other side it is not known which belong together */
};

struct runs {
    struct run *rows[2]; /* sends, receives; by time */
    uint32_t n[2], cap[2];
    struct end **ends[2];
};

static void split(struct streams *s, const struct stream *r, bool batched, struct runs *to)
{
    for (int side = 0; side < 2; side++) {
        struct end **at = to->ends[side];
        to->n[side] = 0;
        for (uint32_t i = r->first[side]; i < r->first[side] + r->n[side]; i++) {
            if (s->ends[i].call->batched != batched) continue;
            const struct rs_kineto_file *file = s->files[s->ends[i].file];
            bool first = !to->n[side] || to->rows[side][to->n[side] - 1].file != file;
            struct rs_kineto_call *c = s->ends[i].call;
            c->queued = !first && c->kernel != RS_KINETO_NONE && c->kernel == at[-1]->call->kernel;
            if (first) {
                RS_ROOM(to->rows[side], to->n[side], to->cap[side]);
                to->rows[side][to->n[side]++] = (struct run){.file = file, .ends = at};
            }
            *at++ = &s->ends[i];
            to->rows[side][to->n[side] - 1].n++;
        }
    }
}

static bool are_of_one_time(const struct run *a, const struct run *b)
{
    return a->file->begin <= b->file->end && b->file->begin <= a->file->end;
}

/* ---- marks ---- */

/* What collectives of both ranks say about the sends of the one and the receives of the other. */
struct marks {
    uint32_t n; /* that both have */
    uint32_t agree; /* of those, with the shift */
    int64_t shift; /* place of a receive less that of its send */
    bool same; /* each has what the other has */
    int64_t most; /* how far the sender's clock can be ahead */
};

/* The collectives of a group in a trace. */
struct list {
    const struct rs_kineto *k;
    const uint32_t *calls;
    uint32_t n, at;
};

static struct list list_of(const struct streams *s, uint32_t file, uint32_t group)
{
    const struct colls *c = &s->colls[file];
    return (struct list){
        .k = &s->files[file]->k, .calls = c->calls + c->first[group], .n = c->first[group + 1] - c->first[group]};
}

/* The next one of a function; NULL: no more. */
static const struct rs_kineto_call *look(struct list *l, const char *func)
{
    while (l->at < l->n && strcmp(l->k->calls[l->calls[l->at]].func, func)) l->at++;
    return l->at < l->n ? &l->k->calls[l->calls[l->at]] : NULL;
}

/* The group that both ranks did most collectives in. False: there is none. */
static bool find_lists(const struct streams *s, uint32_t a, uint32_t b, struct list *in_a, struct list *in_b)
{
    const struct rs_kineto *k = &s->files[a]->k, *q = &s->files[b]->k;
    uint32_t most = 0;
    for (uint32_t g = 0; g < k->ngroups; g++) {
        struct list l = list_of(s, a, g);
        for (uint32_t h = 0; l.n > most && h < q->ngroups; h++) {
            struct list other = list_of(s, b, h);
            if (k->groups[g].hash != q->groups[h].hash || !other.n) continue;
            most = l.n;
            *in_a = l;
            *in_b = other;
        }
    }
    return most > 0;
}

/* Its most frequent function: more than half of them if one has as many, else one of the more frequent ones. */
static const char *frequent(const struct list *l)
{
    const char *best = "";
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        const char *func = l->k->calls[l->calls[i]].func;
        if (!n) best = func;
        n = strcmp(func, best) ? n - 1 : n + 1;
    }
    return best;
}

/* All ranks wait for all in it. */
static bool is_symmetric(const char *func)
{
    return !strcmp(func, "AllReduce") || !strcmp(func, "AllGather") || !strcmp(func, "ReduceScatter");
}

/* Goes through the marks that both have; `last` is the second time, when the shift is known. */
static void pass_marks(struct marks *m, struct list a, struct list b, const struct run *sends, const struct run *recvs,
                       bool last)
{
    const char *func = frequent(&a);
    uint32_t ns = 0, nr = 0, ahead = 0;
    for (;; a.at++, b.at++) {
        const struct rs_kineto_call *x = look(&a, func), *y = look(&b, func);
        while (x && y && x->number != y->number) {
            struct list *behind = x->number < y->number ? &a : &b;
            m->same = false;
            behind->at++;
            x = look(&a, func);
            y = look(&b, func);
        }
        if (!x || !y) {
            m->same &= !x && !y;
            return;
        }
        while (ns < sends->n && sends->ends[ns]->place < a.calls[a.at]) ns++;
        while (nr < recvs->n && recvs->ends[nr]->place < b.calls[b.at]) nr++;
        int64_t shift = (int64_t)nr - (int64_t)ns;
        if (last) {
            m->n++;
            m->agree += shift == m->shift;
            continue;
        }
        if (!ahead) m->shift = shift; /* in the end the one of more than half, if there is one */
        ahead = shift == m->shift ? ahead + 1 : ahead - 1;
        if (!is_symmetric(func) || x->kernel == RS_KINETO_NONE || y->kernel == RS_KINETO_NONE) continue;
        int64_t most = rs_time_minus(x->kernel_end, y->kernel_start);
        if (most < m->most) m->most = most;
    }
}

static struct marks count_marks(const struct streams *s, const struct run *sends, const struct run *recvs)
{
    struct marks m = {.same = true, .most = FAR_NS};
    struct list a, b;
    if (!find_lists(s, sends->ends[0]->file, recvs->ends[0]->file, &a, &b)) return m;
    pass_marks(&m, a, b, sends, recvs, false);
    pass_marks(&m, a, b, sends, recvs, true);
    return m;
}

/* ---- matching ---- */

/* The evidence for and against a shift between sends and receives. */
struct fit {
    bool possible;
    uint32_t late; /* receives that would have ended before their sends started */
    double transfer; /* what receives took once both were there, on average */
};

static struct fit try_shift(const struct run *a, const struct run *b, int64_t shift, int64_t most)
{
    struct fit f = {.possible = true};
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        int64_t k = (int64_t)i + shift;
        if (k < 0 || k >= (int64_t)b->n) continue;
        const struct rs_kineto_call *x = a->ends[i]->call, *y = b->ends[k]->call;
        if (x->in != y->out || strcmp(x->dtype, y->dtype)) return (struct fit){.possible = false};
        if (x->kernel == RS_KINETO_NONE || y->kernel == RS_KINETO_NONE) continue;
        int64_t ready = x->kernel_start > y->kernel_start ? x->kernel_start : y->kernel_start;
        f.transfer += (double)rs_time_minus(y->kernel_end, ready);
        f.late += rs_time_minus(x->kernel_start, y->kernel_end) > most + TOLERANCE_NS;
        n++;
    }
    if (n) f.transfer /= n;
    f.possible = f.late * MOST_LATE <= n;
    return f;
}

/* How far the receives of `b` are behind their sends in `a`. Collectives count sends and receives between them;
 * as many on both sides, with the same collectives, are in order. Where these differ, times decide: windows may begin
 * between two collectives, and a receive may be called before a collective and its send after it. */
static bool find_shift(const struct streams *s, const struct run *a, const struct run *b, int64_t *shift)
{
    struct marks m = count_marks(s, a, b);
    struct fit marked = {0}, in_order = {0};
    if (m.n && m.agree * MOST_AGREE >= m.n * (MOST_AGREE - 1)) marked = try_shift(a, b, m.shift, m.most);
    if (a->n == b->n && (m.n ? m.same : are_of_one_time(a, b))) in_order = try_shift(a, b, 0, m.most);
    if (marked.possible && in_order.possible && m.shift) {
        bool by_late = !marked.late != !in_order.late;
        bool better = by_late ? !marked.late : marked.transfer < in_order.transfer / 2;
        if (!by_late && !better && in_order.transfer >= marked.transfer / 2) return false;
        marked.possible = better;
    }
    *shift = marked.possible ? m.shift : 0;
    return marked.possible || in_order.possible;
}

static void match(struct streams *s, struct run *a, struct run *b)
{
    int64_t shift;
    if (!find_shift(s, a, b, &shift)) {
        a->open = b->open = true;
        return;
    }
    for (uint32_t i = 0; i < a->n; i++) {
        int64_t k = (int64_t)i + shift;
        if (k < 0 || k >= (int64_t)b->n) continue;
        if (a->ends[i]->mate != RS_NONE || b->ends[k]->mate != RS_NONE) continue;
        a->ends[i]->mate = (uint32_t)(b->ends[k] - s->ends);
        b->ends[k]->mate = (uint32_t)(a->ends[i] - s->ends);
    }
}

/* Windows of a process follow each other: each is compared with those of the other side that overlap it. */
static void match_runs(struct streams *s, struct runs *r)
{
    bool one = r->n[0] == 1 && r->n[1] == 1; /* whatever the clocks say */
    for (uint32_t i = 0, first = 0; i < r->n[0]; i++) {
        struct run *a = &r->rows[0][i];
        while (!one && first < r->n[1] && r->rows[1][first].file->end < a->file->begin) first++;
        for (uint32_t k = first; k < r->n[1]; k++) {
            if (!one && !are_of_one_time(a, &r->rows[1][k])) break;
            match(s, a, &r->rows[1][k]);
        }
    }
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < r->n[side]; i++)
            for (uint32_t k = 0; k < r->rows[side][i].n; k++) {
                struct end *e = r->rows[side][i].ends[k];
                e->known = e->mate != RS_NONE || !r->rows[side][i].open;
            }
}

/* Numbers in the order of the sends, with receives that have none between them. */
static void number(struct streams *s, const struct stream *r)
{
    struct end *sends = s->ends + r->first[0], *recvs = s->ends + r->first[1];
    uint64_t n = 0;
    uint32_t k = 0;
    for (uint32_t i = 0; i <= r->n[0]; i++) {
        uint32_t to = i == r->n[0] ? r->n[1] : sends[i].mate != RS_NONE ? sends[i].mate - r->first[1] : 0;
        for (; k < to; k++)
            if (recvs[k].mate == RS_NONE) recvs[k].call->number = recvs[k].known ? n++ : UINT64_MAX;
        if (i == r->n[0]) break;
        sends[i].call->number = sends[i].known ? n++ : UINT64_MAX;
        if (sends[i].mate != RS_NONE) s->ends[sends[i].mate].call->number = sends[i].call->number;
    }
    for (int side = 0; side < 2; side++)
        for (uint32_t i = r->first[side]; i < r->first[side] + r->n[side]; i++) {
            if (s->ends[i].known) continue;
            if (!s->unknown++) s->unknown_row = r;
        }
}

static void match_all(struct streams *s)
{
    struct runs r = {0};
    uint32_t most = 0;
    for (uint32_t i = 0; i < s->n; i++)
        for (int side = 0; side < 2; side++)
            if (s->rows[i].n[side] > most) most = s->rows[i].n[side];
    for (int side = 0; side < 2; side++) {
        r.ends[side] = rs_alloc(((size_t)most + 1) * sizeof *r.ends[side]);
    }
    for (uint32_t i = 0; i < s->n; i++) {
        for (int batched = 0; batched < 2; batched++) {
            split(s, &s->rows[i], batched, &r);
            match_runs(s, &r);
        }
        number(s, &s->rows[i]);
    }
    for (int side = 0; side < 2; side++) {
        free(r.rows[side]);
        free(r.ends[side]);
    }
}

/* ---- all streams ---- */

static void list_colls(struct colls *c, const struct rs_kineto *k)
{
    c->first = rs_zalloc((size_t)k->ngroups + 2, sizeof *c->first);
    c->calls = rs_alloc(((size_t)k->ncalls + 1) * sizeof *c->calls);
    for (uint32_t i = 0; i < k->ncalls; i++)
        if (is_coll(&k->calls[i])) c->first[k->calls[i].group + 2]++;
    for (uint32_t g = 0; g < k->ngroups; g++) c->first[g + 2] += c->first[g + 1];
    for (uint32_t i = 0; i < k->ncalls; i++)
        if (is_coll(&k->calls[i])) c->calls[c->first[k->calls[i].group + 1]++] = i;
}

static enum rs_status say(const struct streams *s, struct rs_model *m, struct rs_err *err)
{
    if (!s->unknown) return RS_OK;
    const struct rs_kineto_file *f = s->files[s->ends[s->unknown_row->first[0]].file];
    const struct rs_kineto_call *c = s->ends[s->unknown_row->first[0]].call;
    return rs_model_note(m, err,
                         "%s: windows of ranks differ, and nothing says which sends and receives of process group %s "
                         "belong together (%" PRIu32 " such in all): paired by time where that is clear",
                         m->procs[f->process->proc].path, f->k.groups[c->group].name, s->unknown);
}

enum rs_status rs_kineto_streams_number(struct rs_kineto_file *const *files, size_t n, struct rs_model *m,
                                        struct rs_err *err)
{
    struct streams s = {.files = files, .colls = rs_zalloc(n + 1, sizeof *s.colls)};
    enum rs_status status = RS_OK;
    make(&s, n);
    for (size_t i = 0; i < n && s.n; i++) list_colls(&s.colls[i], &files[i]->k);
    match_all(&s);
    status = say(&s, m, err);
    for (size_t i = 0; i < n && s.colls; i++) {
        free(s.colls[i].first);
        free(s.colls[i].calls);
    }
    free(s.colls);
    free(s.rows);
    free(s.ends);
    rs_map_free(&s.ids);
    return status;
}
