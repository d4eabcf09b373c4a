#include "join/resync.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/memory.h"
#include "join/p2p_streams.h"
#include "join/pairs.h"

/* ---- evidence ----
 * Which receive matches a send, judging by the two alone.
 *
 * The ends of a send and its receive nearly coincide; those of its neighbours are as far away as the program's rhythm.
 * A pair is clear if each is by far the nearest to the other: nearer than anything else by a factor, where distances
 * below the clock error and the usual distance of ends (of certain pairs) count as that. In addition, a send and its
 * receive are between the same collectives of their communicator, and if one side lost nothing between two of them and
 * both have equally many there, order decides. All memory is the caller's. */

/* How far the ends of certain pairs are apart (nine in ten are closer). */
struct usual {
    int64_t ns; /* RS_TIME_NONE: unknown */
    bool own; /* of the same stream: includes the error of the two clocks */
};

enum {
    NEAR = 2, /* times the usual distance: the farthest that the nearest may be... */
    CLEAR = 4, /* the next nearest is at least this many times as far away... */
    VERY_CLEAR = 16, /* ...and this many times if the usual distance is unknown */
    REACH = 6, /* neighbours examined on either side */
};

/* Whether a send and a receive can match at all: size, adjacent collectives, and no effect before its cause. */
static bool evidence_fits(const struct rs_item *send, const struct rs_item *recv)
{
    if (send->bytes != recv->bytes) return false;
    int64_t before = send->before > recv->before ? send->before : recv->before;
    int64_t after = send->after < recv->after ? send->after : recv->after;
    if (before >= after) return false;
    if (send->island != recv->island || send->island == RS_NONE) return true;
    /* Data cannot arrive before it is sent. */
    return send->start == RS_TIME_NONE || recv->late == INT64_MAX ||
           rs_time_minus(send->start, recv->late) <= send->error + recv->error;
}

/* The minimum distance of the ends; RS_TIME_NONE: the two cannot match, or times are unknown. */
static int64_t distance(const struct rs_p2p_stream *sends, const struct rs_p2p_stream *recvs, const struct rs_burst *a,
                        const struct rs_burst *b)
{
    const struct rs_item *s = &sends->items[a->first], *r = &recvs->items[b->first];
    if (a->n != b->n || s->island == RS_NONE || s->island != r->island) return RS_TIME_NONE;
    if (s->early == RS_TIME_NONE || r->early == RS_TIME_NONE) return RS_TIME_NONE;
    for (uint32_t i = 0; i < a->n; i++)
        if (!evidence_fits(s + i, r + i)) return RS_TIME_NONE;
    if (s->early > r->late) return rs_time_minus(s->early, r->late);
    if (r->early > s->late) return rs_time_minus(r->early, s->late);
    return 0;
}

static int64_t middle_of(int64_t a, int64_t b, int64_t c)
{
    int64_t low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* Times for searching, which must not decrease. One wrong time must not affect later ones: each is the median of three
 * neighbours. */
static void set_times(struct rs_p2p_stream *side)
{
    int64_t before = RS_TIME_NONE, now = RS_TIME_NONE, latest = RS_TIME_NONE;
    for (uint32_t i = 0; i <= side->nbursts; i++) {
        int64_t next = i < side->nbursts ? side->items[side->bursts[i].first].early : now;
        if (next == RS_TIME_NONE) next = now;
        if (i) {
            int64_t at = i == 1 ? now : middle_of(before, now, next);
            if (at > latest) latest = at;
            side->bursts[i - 1].at = latest;
        }
        before = now;
        now = next;
    }
}

static uint32_t search(const struct rs_p2p_stream *side, int64_t at)
{
    uint32_t low = 0, high = side->nbursts;
    RS_BISECT(low, high, mid, side->bursts[mid].at < at);
    return low;
}

/* For each burst of `of`: the nearest and the next nearest of the other side. */
static void find_nearest(struct rs_p2p_stream *of, const struct rs_p2p_stream *others, bool sends)
{
    for (uint32_t i = 0; i < of->nbursts; i++) {
        struct rs_burst *a = &of->bursts[i];
        a->best = RS_NONE;
        a->distance = a->second = INT64_MAX;
        uint32_t at = search(others, a->at);
        uint32_t from = at > REACH ? at - REACH : 0, to = others->nbursts - at > REACH ? at + REACH : others->nbursts;
        for (uint32_t k = from; k < to; k++) {
            const struct rs_burst *b = &others->bursts[k];
            int64_t d = sends ? distance(of, others, a, b) : distance(others, of, b, a);
            if (d == RS_TIME_NONE || d < 0) continue;
            if (d < a->distance) {
                a->second = a->distance;
                a->distance = d;
                a->best = k;
            } else if (d < a->second) {
                a->second = d;
            }
        }
    }
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* If several were launched at once and some may be missing, the remaining ones need not be the same on both sides. */
static bool is_doubtful(const struct rs_p2p_stream *sends, const struct rs_p2p_stream *recvs, const struct rs_burst *a,
                        const struct rs_burst *b)
{
    return (sends->longest > 1 || recvs->longest > 1) && (a->touched || b->touched);
}

/* Each is the nearest of the other, and nothing else is near. */
static bool is_clear(const struct rs_p2p_stream *sends, const struct rs_p2p_stream *recvs, const struct rs_burst *a,
                     uint32_t index, struct usual usual)
{
    if (a->best == RS_NONE) return false;
    const struct rs_burst *b = &recvs->bursts[a->best];
    if (b->best != index || is_doubtful(sends, recvs, a, b)) return false;
    const struct rs_item *s = &sends->items[a->first], *r = &recvs->items[b->first];
    /* A bounded end may hide another one that is missing. */
    if (!s->tight && (s->late == INT64_MAX || a->touched)) return false;
    if (!r->tight && (r->late == INT64_MAX || b->touched)) return false;
    int64_t second = a->second < b->second ? a->second : b->second;
    int64_t error = s->error + r->error;
    if (usual.ns != RS_TIME_NONE) {
        /* The usual distance in the same stream already includes the error of these two clocks. */
        int64_t scale = most(usual.ns, usual.own ? error / 4 : error);
        /* Being alone in time does not make it near. */
        return a->distance <= NEAR * most(usual.ns, error) && second / CLEAR >= most(scale, a->distance);
    }
    return second / VERY_CLEAR >= most(a->distance, error) && (second != INT64_MAX || a->distance <= CLEAR * error);
}

static void vote_for(struct rs_p2p_stream *sends, const struct rs_burst *a, const struct rs_burst *b)
{
    for (uint32_t k = 0; k < a->n; k++) sends->items[a->first + k].vote = b->first + k;
}

static void vote_by_time(struct rs_p2p_stream *sends, struct rs_p2p_stream *recvs, struct usual usual)
{
    if (!sends->nbursts || !recvs->nbursts) return;
    set_times(sends);
    set_times(recvs);
    find_nearest(sends, recvs, true);
    find_nearest(recvs, sends, false);
    for (uint32_t i = 0; i < sends->nbursts; i++) {
        const struct rs_burst *a = &sends->bursts[i];
        if (is_clear(sends, recvs, a, i, usual)) vote_for(sends, a, &recvs->bursts[a->best]);
    }
}

/* ---- group calls ---- */

/* The same for sends to itself: they have no times, but both sides are in one group call. */
static void evidence_of_calls(const struct rs_model *m, struct rs_p2p_stream *sends, const struct rs_p2p_stream *recvs)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < sends->nbursts; i++) {
        const struct rs_burst *a = &sends->bursts[i];
        uint32_t part = sends->items[a->first].part;
        /* Parts are in time order: those of the same call are the nearest, before or after. */
        while (k < recvs->nbursts && recvs->items[recvs->bursts[k].first].part < part) k++;
        for (uint32_t x = k ? k - 1 : k; x <= k && x < recvs->nbursts; x++) {
            const struct rs_burst *b = &recvs->bursts[x];
            bool same = rs_launched_together(&m->parts, part, recvs->items[b->first].part) && a->n == b->n;
            if (same && !is_doubtful(sends, recvs, a, b)) vote_for(sends, a, b);
        }
    }
}

/* ---- adjacent collectives ---- */

/* The end of the run of items between the same two collectives. */
static uint32_t run_end(const struct rs_p2p_stream *side, uint32_t i)
{
    uint32_t end = i + 1;
    while (end < side->n && side->items[end].before == side->items[i].before &&
           side->items[end].after == side->items[i].after)
        end++;
    return end;
}

/* Nothing is missing in it, nor next to it. */
static bool run_whole(const struct rs_p2p_stream *side, uint32_t from, uint32_t end)
{
    for (uint32_t i = from; i < end; i++)
        if (side->bursts[side->items[i].burst].touched) return false;
    /* What precedes the first of them is unknown here: order is valid up to the first loss. */
    return from && side->items[from - 1].segment == side->items[from].segment &&
           (end == side->n || side->items[end].segment == side->items[end - 1].segment);
}

static void vote_by_order(struct rs_p2p_stream *sends, struct rs_p2p_stream *recvs)
{
    uint32_t i = 0, k = 0;
    while (i < sends->n && k < recvs->n) {
        struct rs_item *s = &sends->items[i];
        const struct rs_item *r = &recvs->items[k];
        if (s->before != r->before || s->after != r->after) {
            bool first = s->before != r->before ? s->before < r->before : s->after < r->after;
            if (first)
                i = run_end(sends, i);
            else
                k = run_end(recvs, k);
            continue;
        }
        uint32_t i_end = run_end(sends, i), k_end = run_end(recvs, k);
        bool bounded = s->before >= 0 && s->after != INT64_MAX;
        bool good = bounded && i_end - i == k_end - k && (run_whole(sends, i, i_end) || run_whole(recvs, k, k_end));
        for (uint32_t x = i; good && x < i_end; x++) good = sends->items[x].bytes == recvs->items[k + (x - i)].bytes;
        for (uint32_t x = i; good && x < i_end; x++) sends->items[x].vote = k + (x - i);
        i = i_end;
        k = k_end;
    }
}

/* Sets `vote` of the sends' items. */
static void evidence_find(struct rs_p2p_stream *sends, struct rs_p2p_stream *recvs, struct usual usual)
{
    vote_by_time(sends, recvs, usual);
    vote_by_order(sends, recvs);
}

/* ---- shifted pairs ---- */

/* Results by part. */
struct found {
    uint32_t *mate; /* of a send: its receive; of a receive: RS_NONE, or its send */
    uint32_t *place; /* number in the stream */
    uint8_t *confidence;
};

/* Votes for one shift between two segments. */
struct vote {
    uint32_t segment_s, segment_r;
    int64_t shift; /* index of the receive minus that of the send */
    uint32_t count;
};

struct resync {
    struct rs_model *m;
    struct rs_p2p_streams sides;
    struct rs_p2p_stream sends, recvs;
    struct vote *votes;
    uint32_t cap; /* of items, bursts and votes: the longest stream's */
    int64_t usual; /* distance of the ends of pairs in all streams; RS_TIME_NONE: unknown */
    struct found found;
};

/* ---- usual distances ---- */

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Distance of the ends of a pair; RS_TIME_NONE: unknown. */
static int64_t ends_apart(const struct rs_model *m, uint32_t op)
{
    if (m->ops.kind[op] != RS_OP_PAIR || m->ops.nparts[op] != 2 || m->ops.root[op] == m->ops.dst[op])
        return RS_TIME_NONE;
    uint32_t a = m->order[m->ops.part[op]], b = m->order[m->ops.part[op] + 1];
    uint32_t x = rs_part_end_domain(m, a), y = rs_part_end_domain(m, b);
    if (m->parts.end[a] == RS_TIME_NONE || m->parts.end[b] == RS_TIME_NONE || x == RS_NONE || y == RS_NONE)
        return RS_TIME_NONE;
    if (m->domains[x].island != m->domains[y].island || m->domains[x].error_ns == RS_TIME_NONE ||
        m->domains[y].error_ns == RS_TIME_NONE)
        return RS_TIME_NONE;
    int64_t d = rs_time_minus(m->parts.end[a], m->parts.end[b]);
    return d < 0 ? (d == INT64_MIN ? INT64_MAX : -d) : d;
}

enum { FEW = 8, ENOUGH = 64, MANY = 4096 }; /* pairs that define the usual distance */
enum { SURE = 3 }; /* votes */

static int64_t nine_tenths(int64_t *values, uint32_t n)
{
    if (n < FEW) return RS_TIME_NONE;
    qsort(values, n, sizeof *values, by_value);
    int64_t v = values[n - 1 - n / 10];
    return v > RS_ERROR_MOST ? RS_ERROR_MOST : v;
}

static int64_t usual_anywhere(const struct rs_model *m)
{
    static const uint32_t most = MANY;
    int64_t *values = rs_alloc(most * sizeof *values);
    uint32_t n = 0, step = m->ops.n / most + 1;
    for (uint32_t op = 0; op < m->ops.n && n < most; op += step) {
        int64_t d = ends_apart(m, op);
        if (d != RS_TIME_NONE) values[n++] = d;
    }
    int64_t usual = nine_tenths(values, n);
    free(values);
    return usual;
}

static struct usual usual_of(const struct resync *x, const uint32_t *sends, uint32_t n)
{
    int64_t values[ENOUGH];
    uint32_t k = 0;
    for (uint32_t i = 0; i < n && k < ENOUGH && x->m->parts.op[sends[i]] != RS_NONE; i++) {
        int64_t d = ends_apart(x->m, x->m->parts.op[sends[i]]);
        if (d != RS_TIME_NONE) values[k++] = d;
    }
    int64_t own = nine_tenths(values, k);
    return own == RS_TIME_NONE ? (struct usual){x->usual, false} : (struct usual){own, true};
}

/* ---- matching ---- */

static int by_pieces(const void *a, const void *b)
{
    const struct vote *x = a, *y = b;
    if (x->segment_s != y->segment_s) return x->segment_s < y->segment_s ? -1 : 1;
    if (x->segment_r != y->segment_r) return x->segment_r < y->segment_r ? -1 : 1;
    return x->shift < y->shift ? -1 : x->shift > y->shift;
}

/* The shift of each two segments with at least this many votes; returns how many there are. One vote in eight may be
 * wrong. */
static uint32_t count_votes(struct resync *x, uint32_t least)
{
    enum { AGREE = 8 };
    struct vote *v = x->votes;
    uint32_t n = 0, kept = 0;
    for (uint32_t i = 0; i < x->sends.n; i++) {
        const struct rs_item *s = &x->sends.items[i];
        if (s->vote == RS_NONE) continue;
        v[n++] = (struct vote){s->segment, x->recvs.items[s->vote].segment, (int64_t)s->vote - (int64_t)i, 1};
    }
    qsort(v, n, sizeof *v, by_pieces);
    for (uint32_t i = 0, next; i < n; i = next) {
        uint32_t all = 0;
        struct vote best = {0};
        for (next = i; next < n && v[next].segment_s == v[i].segment_s && v[next].segment_r == v[i].segment_r;) {
            struct vote one = v[next];
            for (one.count = 0; next < n && !by_pieces(&v[next], &one); next++) one.count++;
            all += one.count;
            if (one.count > best.count) best = one;
        }
        if ((all - best.count) * AGREE <= best.count && best.count >= least) v[kept++] = best;
    }
    return kept;
}

/* Pieces must have the same order on both sides. Of two that cross, the one with far more votes is kept. */
static uint32_t drop_crossing(struct vote *v, uint32_t n)
{
    enum { FAR_MORE = 8 };
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool keep = true;
        while (keep && kept) {
            const struct vote *before = &v[kept - 1];
            /* Votes are by segment of the sends, then of the receives. Within one segment of the sends, a later segment
             * of the receives can only have lost receives before it: the shift decreases; else it increases. */
            bool fine = before->segment_r < v[i].segment_r ||
                        (before->segment_r == v[i].segment_r && before->shift <= v[i].shift);
            if (before->segment_s == v[i].segment_s && before->shift < v[i].shift) fine = false;
            if (fine) break;
            if (before->count >= FAR_MORE * v[i].count) {
                keep = false;
            } else {
                if (v[i].count < FAR_MORE * before->count) keep = false;
                kept--;
            }
        }
        if (keep) v[kept++] = v[i];
    }
    return kept;
}

static uint32_t first_of_segment(const struct rs_p2p_stream *side, uint32_t segment)
{
    uint32_t low = 0, high = side->n;
    RS_BISECT(low, high, mid, side->items[mid].segment < segment);
    return low;
}

static void take(struct resync *x, const struct vote *v)
{
    int64_t first = (int64_t)first_of_segment(&x->recvs, v->segment_r) - v->shift;
    uint32_t i = first_of_segment(&x->sends, v->segment_s);
    if (first > (int64_t)i) i = (uint32_t)first;
    for (; i < x->sends.n && x->sends.items[i].segment == v->segment_s; i++) {
        const struct rs_item *s = &x->sends.items[i];
        int64_t k = (int64_t)i + v->shift;
        if (k >= (int64_t)x->recvs.n || x->recvs.items[k].segment != v->segment_r) break;
        const struct rs_item *r = &x->recvs.items[k];
        if ((s->vote != RS_NONE && s->vote != k) || !evidence_fits(s, r)) continue;
        if (x->found.mate[s->part] != RS_NONE || x->found.mate[r->part] != RS_NONE) continue;
        x->found.mate[s->part] = r->part;
        x->found.mate[r->part] = s->part;
        int own = s->vote != RS_NONE;
        x->found.confidence[s->part] = v->count >= SURE ? (own ? 99 : 97) : own ? 95 : 90;
    }
}

/* Numbers pairs and unpaired parts, in the order of the stream. */
static void number(struct resync *x, uint32_t first)
{
    uint32_t i = 0, k = 0, n = first;
    while (i < x->sends.n || k < x->recvs.n) {
        uint32_t s = i < x->sends.n ? x->sends.items[i].part : RS_NONE;
        uint32_t r = k < x->recvs.n ? x->recvs.items[k].part : RS_NONE;
        if (s != RS_NONE && x->found.mate[s] == RS_NONE) {
            x->found.place[s] = n++;
            i++;
        } else if (r != RS_NONE && x->found.mate[r] == RS_NONE) {
            x->found.place[r] = n++;
            k++;
        } else {
            if (s != RS_NONE) x->found.place[s] = n;
            n++;
            i++;
            k++;
        }
    }
}

static void match(struct resync *x, const struct rs_streams *streams, const struct rs_stream *r)
{
    const uint32_t *sends = streams->parts + r->sends, *recvs = streams->parts + r->recvs;
    rs_p2p_streams_load(&x->sides, &x->sends, sends, r->nsends);
    rs_p2p_streams_load(&x->sides, &x->recvs, recvs, r->nrecvs);
    if (x->sends.n && x->recvs.n) {
        struct usual usual = usual_of(x, sends, r->nsends);
        if (r->src == r->dst)
            evidence_of_calls(x->m, &x->sends, &x->recvs);
        else
            evidence_find(&x->sends, &x->recvs, usual);
        /* If the usual distance is unknown, a single one may be near by chance. */
        uint32_t least = r->src == r->dst || usual.ns != RS_TIME_NONE ? 1 : SURE;
        uint32_t n = drop_crossing(x->votes, count_votes(x, least));
        for (uint32_t i = 0; i < n; i++) take(x, &x->votes[i]);
    }
    number(x, r->nsends - x->sends.n);
}

/* ---- all streams ---- */

static bool is_left(const struct rs_parts *t, uint32_t i)
{
    return t->op[i] == RS_NONE && t->member[i] != RS_NONE && (t->kind[i] == RS_PART_SEND || t->kind[i] == RS_PART_RECV);
}

static void make(struct resync *x, const struct rs_streams *streams)
{
    const struct rs_model *m = x->m;
    uint32_t n = m->parts.n;
    for (uint32_t i = 0; i < streams->n; i++) {
        const struct rs_stream *r = &streams->rows[i];
        if (r->nsends > x->cap) x->cap = r->nsends;
        if (r->nrecvs > x->cap) x->cap = r->nrecvs;
    }
    size_t cap = (size_t)x->cap + 1;
    x->votes = rs_alloc(cap * sizeof *x->votes);
    x->sends.items = rs_alloc(cap * sizeof *x->sends.items);
    x->recvs.items = rs_alloc(cap * sizeof *x->recvs.items);
    x->sends.bursts = rs_alloc(cap * sizeof *x->sends.bursts);
    x->recvs.bursts = rs_alloc(cap * sizeof *x->recvs.bursts);
    x->found.mate = rs_alloc(n * sizeof *x->found.mate);
    x->found.place = rs_zalloc(n, sizeof *x->found.place);
    x->found.confidence = rs_alloc(n);
    if (!x->sends.items || !x->sends.bursts) rs_memory_out();
    for (uint32_t i = 0; i < n; i++) x->found.mate[i] = RS_NONE;
    x->usual = usual_anywhere(m);
    rs_p2p_streams_init(&x->sides, m);
}

static void unmake(struct resync *x)
{
    rs_p2p_streams_free(&x->sides);
    free(x->votes);
    free(x->sends.items);
    free(x->recvs.items);
    free(x->sends.bursts);
    free(x->recvs.bursts);
    free(x->found.mate);
    free(x->found.place);
    free(x->found.confidence);
}

void rs_pairs_resync(struct rs_model *m)
{
    uint32_t n = 0;
    while (n < m->parts.n && !is_left(&m->parts, n)) n++;
    if (n == m->parts.n) return;
    struct resync x = {.m = m};
    struct rs_streams streams;
    rs_streams_init(&streams, m);
    make(&x, &streams);
    for (uint32_t i = 0; i < streams.n; i++) match(&x, &streams, &streams.rows[i]);
    rs_streams_free(&streams);
    for (uint32_t i = n; i < m->parts.n; i++) {
        if (!is_left(&m->parts, i)) continue;
        uint32_t mate = x.found.mate[i];
        if (m->parts.kind[i] == RS_PART_SEND)
            rs_pair_add(m, i, mate, x.found.place[i], mate == RS_NONE ? 100 : x.found.confidence[i]);
        else if (mate == RS_NONE)
            rs_pair_add(m, RS_NONE, i, x.found.place[i], 100);
    }
    unmake(&x);
}
