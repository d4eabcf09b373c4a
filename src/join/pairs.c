#include "join/pairs.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/room.h"
#include "join/collectives.h"
#include "join/presence.h"
#include "nccl/abi.h"

uint64_t rs_part_bytes(const struct rs_model *m, uint32_t part)
{
    return m->parts.count[part] * rs_dtype_bytes(rs_model_text(m, m->parts.dtype[part]));
}

/* ---- streams ---- */

static bool is_p2p(const struct rs_parts *t, uint32_t i)
{
    return t->member[i] != RS_NONE && (t->kind[i] == RS_PART_SEND || t->kind[i] == RS_PART_RECV);
}

/* A rank that has two recordings counts with its first. */
static uint8_t *find_second_members(const struct rs_model *m)
{
    uint8_t *second = rs_zalloc((size_t)m->nmembers + 1, 1);
    for (uint32_t c = 0; c < m->ncomms; c++) {
        uint32_t before = RS_NONE;
        for (uint32_t i = m->comms[c].first_member; i != RS_NONE; before = i, i = m->members[i].next)
            if (before != RS_NONE && m->members[before].rank == m->members[i].rank) second[i] = 1;
    }
    return second;
}

static void find_stream(struct rs_streams *s, struct rs_map *index, const struct rs_stream *key, uint32_t *found)
{
    uint64_t h = ((uint64_t)key->comm << 40 ^ (uint64_t)(uint32_t)key->src << 20 ^ (uint32_t)key->dst) + 1;
    for (;; h += 0x9e3779b97f4a7c15u) { /* streams with the same slot take another */
        uint64_t *at;
        rs_map_at(index, h, s->n, &at);
        if (*at < s->n) {
            const struct rs_stream *r = &s->rows[*at];
            if (r->comm != key->comm || r->src != key->src || r->dst != key->dst) continue;
            *found = (uint32_t)*at;
            return;
        }
        RS_ROOM(s->rows, s->n, s->cap);
        s->rows[s->n] = *key;
        *found = s->n++;
        return;
    }
}

/* Two passes: the stream of each part, then the parts by stream. */
static void fill(struct rs_streams *s, const struct rs_model *m, const uint8_t *second, uint32_t *stream_of,
                 struct rs_map *index)
{
    const struct rs_parts *t = &m->parts;
    uint32_t n = 0, at = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        if (!is_p2p(t, i)) continue;
        if (rs_part_cut_number(m, i)) { /* its recording was cut out of one that was joined */
            stream_of[n++] = RS_NONE;
            continue;
        }
        const struct rs_member *x = &m->members[t->member[i]];
        bool send = t->kind[i] == RS_PART_SEND;
        struct rs_stream key = {
            .comm = x->comm, .src = send ? x->rank : t->peer[i], .dst = send ? t->peer[i] : x->rank};
        stream_of[n] = RS_NONE;
        if (key.src >= 0 && key.dst >= 0 && !second[t->member[i]]) {
            find_stream(s, index, &key, &stream_of[n]);
            if (send)
                s->rows[stream_of[n]].nsends++;
            else
                s->rows[stream_of[n]].nrecvs++;
        }
        n++;
    }
    for (uint32_t k = 0; k < s->n; k++) {
        struct rs_stream *r = &s->rows[k];
        r->sends = at;
        r->recvs = at + r->nsends;
        at = r->recvs + r->nrecvs;
        r->nsends = r->nrecvs = 0;
    }
    n = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        if (!is_p2p(t, i)) continue;
        uint32_t k = stream_of[n++];
        if (k == RS_NONE) continue;
        struct rs_stream *r = &s->rows[k];
        s->parts[t->kind[i] == RS_PART_SEND ? r->sends + r->nsends++ : r->recvs + r->nrecvs++] = i;
    }
}

void rs_streams_init(struct rs_streams *s, const struct rs_model *m)
{
    *s = (struct rs_streams){0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->parts.n; i++) n += is_p2p(&m->parts, i);
    if (!n) return;
    uint8_t *second = find_second_members(m);
    uint32_t *stream_of = rs_alloc(n * sizeof *stream_of);
    s->parts = rs_alloc(n * sizeof *s->parts);
    struct rs_map index = {0};
    fill(s, m, second, stream_of, &index);
    free(second);
    free(stream_of);
    rs_map_free(&index);
}

void rs_streams_free(struct rs_streams *s)
{
    free(s->rows);
    free(s->parts);
    *s = (struct rs_streams){0};
}

/* ---- operations ---- */

void rs_pair_add(struct rs_model *m, uint32_t send, uint32_t recv, uint32_t index, uint8_t confidence)
{
    uint32_t op;
    uint16_t func;
    rs_model_string(m, "SendRecv", &func);
    rs_model_op(m, &op);
    struct rs_ops *o = &m->ops;
    struct rs_parts *t = &m->parts;
    uint32_t one = send != RS_NONE ? send : recv;
    const struct rs_member *x = &m->members[t->member[one]];
    o->kind[op] = RS_OP_PAIR;
    o->func[op] = func;
    o->comm[op] = x->comm;
    o->root[op] = send != RS_NONE ? x->rank : t->peer[recv];
    o->dst[op] = send != RS_NONE ? t->peer[send] : x->rank;
    o->index[op] = index;
    o->confidence[op] = confidence;
    o->count[op] = t->count[one];
    o->dtype[op] = t->dtype[one];
    o->bytes[op] = rs_part_bytes(m, one);
    o->captured[op] = t->captured[one];
    o->replay[op] = t->replay[one];
    o->id[op] = rs_op_id(m, x->comm, "SendRecv", (uint64_t)(uint32_t)o->root[op] << 32 | (uint32_t)o->dst[op],
                         index + (recv == RS_NONE   ? 1ull << 32
                                  : send == RS_NONE ? 1ull << 33
                                                    : 0));
    o->part[op] = m->norder;
    bool swapped = send != RS_NONE && recv != RS_NONE && o->dst[op] < o->root[op];
    uint32_t parts[2] = {swapped ? recv : send, swapped ? send : recv};
    for (int i = 0; i < 2; i++) {
        if (parts[i] == RS_NONE) continue;
        rs_model_order(m, parts[i]);
        o->nparts[op]++;
        t->op[parts[i]] = op;
    }
    if (o->nparts[op] == 2 && rs_part_bytes(m, send) != rs_part_bytes(m, recv)) {
        o->flags[op] |= RS_OP_MISMATCH;
        t->flags[send] |= RS_PART_MISMATCH;
        t->flags[recv] |= RS_PART_MISMATCH;
    }
}

/* ---- order ---- */

#define ALONE (RS_NONE - 1) /* a part whose counterpart was certainly not recorded */

/* How many of a list precede the first possible loss. A part has the time of its call. NCCL reports it later, but
 * before the next group call: so the last group call before `sure` does not count. */
static uint32_t certain(const struct rs_model *m, const uint32_t *parts, uint32_t n, int64_t sure)
{
    const struct rs_parts *t = &m->parts;
    if (sure == INT64_MAX) return n;
    uint32_t last = n;
    while (last > 0 && (t->enqueued[parts[last - 1]] == RS_TIME_NONE || t->enqueued[parts[last - 1]] >= sure)) last--;
    if (!last) return 0;
    uint32_t k = last - 1, of = parts[k];
    while (k > 0 && ((t->group[of] && t->group[parts[k - 1]] == t->group[of]) ||
                     (t->launch[of] && t->launch[parts[k - 1]] == t->launch[of]) || !t->group[parts[k - 1]]))
        k--;
    return k;
}

/* Whether the importer has compared and numbered both sides: a profiler may begin anywhere. */
static bool is_numbered(const struct rs_model *m, uint32_t part)
{
    return rs_tool_has(rs_part_proc(m, part)->tool, RS_CAP_PAIR_NUMBERS);
}

/* Joins sends and receives with equal numbers; one without a counterpart is an operation by itself. */
static void match_numbers(struct rs_model *m, const struct rs_streams *s, const struct rs_stream *r, uint32_t *mate,
                          uint32_t *place)
{
    const uint32_t *sends = s->parts + r->sends, *recvs = s->parts + r->recvs;
    const uint64_t *seq = m->parts.seq;
    struct rs_map of = {0}; /* number -> receive */
    for (uint32_t i = 0; i < r->nrecvs; i++)
        if (seq[recvs[i]] != UINT64_MAX) rs_map_put(&of, seq[recvs[i]], recvs[i]);
    for (uint32_t i = 0; i < r->nsends; i++) {
        if (seq[sends[i]] == UINT64_MAX) continue;
        uint64_t *at;
        place[sends[i]] = (uint32_t)seq[sends[i]];
        rs_map_at(&of, seq[sends[i]], RS_NONE, &at);
        mate[sends[i]] = *at == RS_NONE ? ALONE : (uint32_t)*at;
        *at = RS_NONE; /* taken */
    }
    for (uint32_t i = 0; i < r->nrecvs; i++) {
        if (seq[recvs[i]] == UINT64_MAX || rs_map_get(&of, seq[recvs[i]], RS_NONE) != recvs[i]) continue;
        place[recvs[i]] = (uint32_t)seq[recvs[i]];
        mate[recvs[i]] = ALONE;
    }
    rs_map_free(&of);
}

/* mate[part of a send] = its receive; place[] = its number in the stream. */
static void match(struct rs_model *m, const struct rs_streams *s, const int64_t *sure, uint32_t *mate, uint32_t *place)
{
    for (uint32_t k = 0; k < s->n; k++) {
        const struct rs_stream *r = &s->rows[k];
        const uint32_t *sends = s->parts + r->sends, *recvs = s->parts + r->recvs;
        if (is_numbered(m, r->nsends ? sends[0] : recvs[0])) {
            match_numbers(m, s, r, mate, place);
            continue;
        }
        if (!r->nsends || !r->nrecvs) continue;
        uint32_t n = certain(m, sends, r->nsends, sure[m->parts.member[sends[0]]]);
        uint32_t n_recvs = certain(m, recvs, r->nrecvs, sure[m->parts.member[recvs[0]]]);
        if (n_recvs < n) n = n_recvs;
        for (uint32_t i = 0; i < n; i++) {
            mate[sends[i]] = recvs[i];
            place[sends[i]] = i;
        }
    }
}

static bool is_cut_pair(const struct rs_model *m, const struct rs_cut_number *cut)
{
    return is_p2p(&m->parts, cut->part) && m->parts.peer[cut->part] >= 0 &&
           m->members[m->parts.member[cut->part]].rank >= 0;
}

/* Recordings that were cut from a larger one: joined as in that one. */
static void join_cut(struct rs_model *m)
{
    struct rs_map other = {0}; /* operation -> the side that came first */
    for (uint32_t k = 0; k < m->ncut_numbers; k++) {
        const struct rs_cut_number *cut = &m->cut_numbers[k];
        uint64_t *at;
        if (!is_cut_pair(m, cut)) continue;
        rs_map_at(&other, cut->id, k, &at);
        if (*at == k) continue;
        uint32_t sides[2] = {m->cut_numbers[*at].part, cut->part};
        bool swapped = m->parts.kind[sides[0]] != RS_PART_SEND;
        bool pair = m->parts.kind[sides[swapped]] == RS_PART_SEND && m->parts.kind[sides[!swapped]] == RS_PART_RECV &&
                    m->parts.op[sides[0]] == RS_NONE;
        if (!pair || m->members[m->parts.member[sides[0]]].comm != m->members[m->parts.member[sides[1]]].comm) continue;
        rs_pair_add(m, sides[swapped], sides[!swapped], cut->index, cut->confidence);
        m->ops.id[m->ops.n - 1] = cut->id;
    }
    rs_map_free(&other);
    for (uint32_t k = 0; k < m->ncut_numbers; k++) {
        const struct rs_cut_number *cut = &m->cut_numbers[k];
        if (!is_cut_pair(m, cut) || m->parts.op[cut->part] != RS_NONE) continue;
        bool send = m->parts.kind[cut->part] == RS_PART_SEND;
        rs_pair_add(m, send ? cut->part : RS_NONE, send ? RS_NONE : cut->part, cut->index, cut->confidence);
        m->ops.id[m->ops.n - 1] = cut->id;
    }
}

void rs_pairs_join(struct rs_model *m)
{
    struct rs_streams s;
    join_cut(m);
    rs_streams_init(&s, m);
    if (!s.n) {
        rs_streams_free(&s);
        return;
    }
    uint32_t n = m->parts.n;
    int64_t *sure = rs_alloc(((size_t)m->nmembers + 1) * sizeof *sure);
    uint32_t *mate = rs_alloc(n * sizeof *mate), *place = rs_alloc(n * sizeof *place);
    for (uint32_t i = 0; i < m->nmembers; i++) {
        const struct rs_proc *p = &m->procs[m->members[i].proc];
        int64_t from = m->members[i].created != RS_TIME_NONE ? m->members[i].created : p->begin;
        sure[i] = rs_recorded_until(p, from, RS_P2P);
    }
    for (uint32_t i = 0; i < n; i++) mate[i] = RS_NONE;
    match(m, &s, sure, mate, place);
    rs_streams_free(&s);
    /* By part, not by stream, so that the operations of a rank are in time order. */
    for (uint32_t i = 0; i < n; i++) {
        if (mate[i] == RS_NONE) continue;
        if (mate[i] != ALONE)
            rs_pair_add(m, i, mate[i], place[i], 100);
        else if (m->parts.kind[i] == RS_PART_SEND)
            rs_pair_add(m, i, RS_NONE, place[i], 100);
        else
            rs_pair_add(m, RS_NONE, i, place[i], 100);
    }
    free(sure);
    free(mate);
    free(place);
}
