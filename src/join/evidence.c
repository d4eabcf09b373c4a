#include "join/evidence.h"

#include "base/bisect.h"

enum {
    NEAR = 2, /* times what is usual: as far away as the nearest may be... */
    CLEAR = 4, /* the next nearest is at least so many times as far away... */
    VERY_CLEAR = 16, /* ...and so many where nothing tells what is usual */
    REACH = 6, /* neighbours to either side that are looked at */
};

bool rs_evidence_fits(const struct rs_item *send, const struct rs_item *recv)
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

/* How far apart the ends are at least; RS_TIME_NONE: the two cannot be the same, or nothing is known. */
static int64_t distance(const struct rs_p2p_stream *sends, const struct rs_p2p_stream *recvs, const struct rs_burst *a,
                        const struct rs_burst *b)
{
    const struct rs_item *s = &sends->items[a->first], *r = &recvs->items[b->first];
    if (a->n != b->n || s->island == RS_NONE || s->island != r->island) return RS_TIME_NONE;
    if (s->early == RS_TIME_NONE || r->early == RS_TIME_NONE) return RS_TIME_NONE;
    for (uint32_t i = 0; i < a->n; i++)
        if (!rs_evidence_fits(s + i, r + i)) return RS_TIME_NONE;
    if (s->early > r->late) return rs_time_minus(s->early, r->late);
    if (r->early > s->late) return rs_time_minus(r->early, s->late);
    return 0;
}

static int64_t middle_of(int64_t a, int64_t b, int64_t c)
{
    int64_t low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* Times to search by, which must not fall. One time that is wrong by far must not spoil those behind it: each is the
 * middle of three neighbours. */
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

/* Where several go at once and some may be missing, those that are left need not be the same ones on both sides. */
static bool is_doubtful(const struct rs_p2p_stream *sends, const struct rs_p2p_stream *recvs, const struct rs_burst *a,
                        const struct rs_burst *b)
{
    return (sends->longest > 1 || recvs->longest > 1) && (a->touched || b->touched);
}

/* Each the nearest of the other, and nothing else near. */
static bool is_clear(const struct rs_p2p_stream *sends, const struct rs_p2p_stream *recvs, const struct rs_burst *a,
                     uint32_t index, struct rs_usual usual)
{
    if (a->best == RS_NONE) return false;
    const struct rs_burst *b = &recvs->bursts[a->best];
    if (b->best != index || is_doubtful(sends, recvs, a, b)) return false;
    const struct rs_item *s = &sends->items[a->first], *r = &recvs->items[b->first];
    /* An end that is only bounded may be hiding another one that is missing. */
    if (!s->tight && (s->late == INT64_MAX || a->touched)) return false;
    if (!r->tight && (r->late == INT64_MAX || b->touched)) return false;
    int64_t second = a->second < b->second ? a->second : b->second;
    int64_t error = s->error + r->error;
    if (usual.ns != RS_TIME_NONE) {
        /* What is usual in the same stream has the error of these two clocks in it already, as it was then. */
        int64_t scale = most(usual.ns, usual.own ? error / 4 : error);
        /* What is alone in time is not near for that. */
        return a->distance <= NEAR * most(usual.ns, error) && second / CLEAR >= most(scale, a->distance);
    }
    return second / VERY_CLEAR >= most(a->distance, error) && (second != INT64_MAX || a->distance <= CLEAR * error);
}

static void vote_for(struct rs_p2p_stream *sends, const struct rs_burst *a, const struct rs_burst *b)
{
    for (uint32_t k = 0; k < a->n; k++) sends->items[a->first + k].vote = b->first + k;
}

static void vote_by_time(struct rs_p2p_stream *sends, struct rs_p2p_stream *recvs, struct rs_usual usual)
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

void rs_evidence_of_calls(const struct rs_model *m, struct rs_p2p_stream *sends, const struct rs_p2p_stream *recvs)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < sends->nbursts; i++) {
        const struct rs_burst *a = &sends->bursts[i];
        uint32_t part = sends->items[a->first].part;
        /* Parts are in the order of time: those of the same call are the nearest, before or behind. */
        while (k < recvs->nbursts && recvs->items[recvs->bursts[k].first].part < part) k++;
        for (uint32_t x = k ? k - 1 : k; x <= k && x < recvs->nbursts; x++) {
            const struct rs_burst *b = &recvs->bursts[x];
            bool same = rs_launched_together(&m->parts, part, recvs->items[b->first].part) && a->n == b->n;
            if (same && !is_doubtful(sends, recvs, a, b)) vote_for(sends, a, b);
        }
    }
}

/* ---- collectives around ---- */

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
    /* What is before the first of them is not known here: the order is followed up to the first loss. */
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

void rs_evidence_find(struct rs_p2p_stream *sends, struct rs_p2p_stream *recvs, struct rs_usual usual)
{
    vote_by_time(sends, recvs, usual);
    vote_by_order(sends, recvs);
}
