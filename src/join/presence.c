#include "join/presence.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/memory.h"
#include "base/room.h"
#include "nccl/abi.h"

/* ---- possible losses of a process ---- */

static bool is_overwritten(const struct rs_proc *p, int64_t at)
{
    return p->overwritten_until != RS_TIME_NONE && p->overwritten_until >= at;
}

/* A cut contains all of an operation or nothing: what is absent is not missing, what is present is complete. */
static bool is_cut_off(const struct rs_proc *p, int64_t at)
{
    return p->cut_until != RS_TIME_NONE && p->cut_until >= at;
}

static uint32_t lost_of(const struct rs_gap *g, uint64_t type)
{
    return type == RS_COLL ? g->colls : type == RS_P2P ? g->p2ps : g->others;
}

int64_t rs_recorded_until(const struct rs_proc *p, int64_t from, uint64_t type)
{
    if (from == RS_TIME_NONE) return INT64_MIN;
    if (is_overwritten(p, from)) return INT64_MIN;
    int64_t until = INT64_MAX;
    for (uint32_t i = 0; i < p->ncovers; i++) /* nothing was requested before the first */
        if (!(p->covers[i].mask & type) && p->covers[i].to > from && p->covers[i].from < until)
            until = p->covers[i].from;
    for (uint32_t i = 0; i < p->ngaps && p->gaps[i].from < until; i++)
        if (p->gaps[i].to >= from && lost_of(&p->gaps[i], type)) until = p->gaps[i].from;
    return until;
}

/* How many events of a type may have been lost since a time; UINT64_MAX: any number. */
static uint64_t lost_since(const struct rs_proc *p, int64_t from, uint64_t type)
{
    enum { THREADS = 16 }; /* gaps overlap if several threads lose events; earlier ones are over */
    if (p->drops || is_overwritten(p, from) || is_cut_off(p, from)) return UINT64_MAX;
    for (uint32_t i = 0; i < p->ncovers; i++)
        if (!(p->covers[i].mask & type) && p->covers[i].to > from) return UINT64_MAX;
    uint32_t low = 0, high = p->ngaps;
    RS_BISECT(low, high, mid, p->gaps[mid].from < from);
    uint64_t lost = 0;
    for (uint32_t i = low; i < p->ngaps; i++) lost += lost_of(&p->gaps[i], type);
    for (uint32_t i = low, n = 0; i-- > 0 && n < THREADS; n++)
        if (p->gaps[i].to >= from) lost += lost_of(&p->gaps[i], type);
    /* Losses at an unknown time span the process, so they are first. */
    if (low > THREADS && p->gaps[0].to >= from) lost += lost_of(&p->gaps[0], type);
    return lost;
}

/* ---- numbered streams of a member ---- */

/* Numbered streams of a member: collectives of a function, replays of a captured call, sends to a peer... */
enum stream {
    SEQS = 1,
    CES,
    APIS,
    REPLAYS, /* of a captured call: numbered by replay, too low after losses */
    SENDS,
    RECVS,
    NOTHING, /* of a type: since the member's creation */
};

struct rs_presence_row {
    uint32_t member;
    uint32_t what; /* function, captured call with function, peer, or type */
    uint8_t stream;
    uint64_t last; /* the highest recorded number */
    int64_t at; /* host ns of the latest that was not captured; RS_TIME_NONE: unknown */
    bool apart; /* a send or receive that could not be joined: its numbers are not reliable */
    uint64_t lost; /* events that may have been lost after it; UINT64_MAX: any number */
};

static uint64_t key_of(uint32_t member, enum stream stream, uint32_t what)
{
    uint64_t h = ((uint64_t)member << 32 | what) * 0x9e3779b97f4a7c15u;
    return (h ^ h >> 29 ^ (uint64_t)stream << 40) * 0xd6e8feb86659fd93u;
}

static bool is_row(const struct rs_presence_row *r, uint32_t member, enum stream stream, uint32_t what)
{
    return r->member == member && r->stream == stream && r->what == what;
}

static const struct rs_presence_row *find_row(const struct rs_presence_index *x, uint32_t member, enum stream stream,
                                              uint32_t what)
{
    for (uint64_t key = key_of(member, stream, what);; key++) {
        const uint64_t *at = rs_map_find(&x->streams, key);
        if (!at) return NULL;
        if (is_row(&x->rows[*at], member, stream, what)) return &x->rows[*at];
    }
}

static void make_row(struct rs_presence_index *x, uint32_t member, enum stream stream, uint32_t what,
                     struct rs_presence_row **row)
{
    for (uint64_t key = key_of(member, stream, what);; key++) {
        uint64_t *at;
        rs_map_at(&x->streams, key, x->nrows, &at);
        if (*at < x->nrows) {
            *row = &x->rows[*at];
            if (is_row(*row, member, stream, what)) return;
            continue;
        }
        RS_ROOM(x->rows, x->nrows, x->cap);
        *row = &x->rows[x->nrows++];
        **row = (struct rs_presence_row){member, what, (uint8_t)stream, 0, RS_TIME_NONE, false, 0};
        return;
    }
}

static uint64_t type_of(enum stream stream)
{
    switch (stream) {
    case SEQS:
    case REPLAYS: return RS_COLL;
    case CES: return RS_CE_COLL;
    case APIS: return RS_COLL_API;
    default: return RS_P2P;
    }
}

static enum stream stream_of(uint8_t op_kind)
{
    return op_kind == RS_OP_CE ? CES : op_kind == RS_OP_API ? APIS : SEQS;
}

static void note(struct rs_presence_index *x, const struct rs_model *m, uint32_t part, enum stream stream,
                 uint32_t what, uint64_t number)
{
    struct rs_presence_row *row;
    make_row(x, m->parts.member[part], stream, what, &row);
    if (number > row->last) row->last = number;
    if ((stream == SENDS || stream == RECVS) && m->ops.nparts[m->parts.op[part]] == 1) row->apart = true;
    /* Replays are reported by another thread, later than calls that were made after them. */
    bool late = m->parts.captured[part] && stream != REPLAYS;
    if (!late && m->parts.enqueued[part] > row->at) row->at = m->parts.enqueued[part];
}

/* A captured call of a function, as one number: further calls in one communicator share a row. */
static uint32_t captured_what(uint32_t captured, uint16_t func)
{
    return (captured & 0xffff) << 16 | func;
}

static void note_part(struct rs_presence_index *x, const struct rs_model *m, uint32_t part)
{
    const struct rs_parts *t = &m->parts;
    uint32_t op = t->op[part];
    if (t->member[part] == RS_NONE || op == RS_NONE) return;
    if (t->kind[part] == RS_PART_SEND || t->kind[part] == RS_PART_RECV) {
        note(x, m, part, t->kind[part] == RS_PART_SEND ? SENDS : RECVS, (uint32_t)t->peer[part], m->ops.index[op]);
        return;
    }
    if (t->captured[part]) note(x, m, part, REPLAYS, captured_what(t->captured[part], t->func[part]), t->replay[part]);
    if (t->seq[part] == UINT64_MAX) return;
    enum stream stream = t->kind[part] == RS_PART_CE ? CES : t->kind[part] == RS_PART_API ? APIS : SEQS;
    note(x, m, part, stream, t->func[part], t->seq[part]);
}

static void find_lost(struct rs_presence_index *x, const struct rs_model *m)
{
    static const enum stream streams[] = {SEQS, CES, APIS, SENDS};
    for (uint32_t i = 0; i < x->nrows; i++) {
        struct rs_presence_row *row = &x->rows[i];
        const struct rs_member *member = &m->members[row->member];
        int64_t from = row->stream == REPLAYS || row->at == RS_TIME_NONE ? member->created : row->at;
        row->lost = lost_since(&m->procs[member->proc], from, type_of(row->stream));
    }
    for (uint32_t i = 0; i < m->nmembers; i++) {
        const struct rs_member *member = &m->members[i];
        for (size_t k = 0; k < sizeof streams / sizeof *streams; k++) {
            uint64_t type = type_of(streams[k]);
            struct rs_presence_row *row;
            make_row(x, i, NOTHING, (uint32_t)type, &row);
            row->lost = member->created == RS_TIME_NONE ? UINT64_MAX
                                                        : lost_since(&m->procs[member->proc], member->created, type);
        }
    }
}

void rs_presence_init(struct rs_presence_index *x, const struct rs_model *m)
{
    *x = (struct rs_presence_index){0};
    x->first = rs_alloc(((size_t)m->ncomms + 1) * sizeof *x->first);
    x->members = rs_alloc(((size_t)m->nmembers + 1) * sizeof *x->members);
    uint32_t n = 0;
    for (uint32_t c = 0; c < m->ncomms; c++) {
        x->first[c] = n;
        for (uint32_t i = m->comms[c].first_member; i != RS_NONE && n < m->nmembers; i = m->members[i].next)
            x->members[n++] = i;
    }
    x->first[m->ncomms] = n;
    for (uint32_t i = 0; i < m->parts.n; i++) note_part(x, m, i);
    find_lost(x, m);
}

void rs_presence_free(struct rs_presence_index *x)
{
    free(x->members);
    free(x->first);
    free(x->rows);
    rs_map_free(&x->streams);
    *x = (struct rs_presence_index){0};
}

/* ---- queries ---- */

static uint32_t find_member(const struct rs_presence_index *x, const struct rs_model *m, uint32_t comm, int32_t rank)
{
    uint32_t low = x->first[comm], high = x->first[comm + 1];
    RS_BISECT(low, high, mid, m->members[x->members[mid]].rank < rank);
    bool found = low < x->first[comm + 1] && m->members[x->members[low]].rank == rank;
    return found ? x->members[low] : RS_NONE;
}

static int32_t rank_of(const struct rs_model *m, uint32_t part)
{
    return m->members[m->parts.member[part]].rank;
}

static bool has_rank(const struct rs_model *m, uint32_t op, int32_t rank)
{
    uint32_t low = m->ops.part[op], end = low + m->ops.nparts[op], high = end;
    RS_BISECT(low, high, mid, rank_of(m, m->order[mid]) < rank);
    return low < end && rank_of(m, m->order[low]) == rank;
}

/* A member that reached row->last in this stream: whether it can have done this one too. */
static enum rs_presence ask_row(const struct rs_presence_index *x, uint32_t member, enum stream stream, uint32_t what,
                                uint64_t number)
{
    const struct rs_presence_row *row = find_row(x, member, stream, what);
    uint64_t done = 0; /* those below are done, recorded or not */
    if (row) {
        if (row->apart) return RS_NOT_RECORDED;
        done = row->last + 1;
    } else {
        row = find_row(x, member, NOTHING, (uint32_t)type_of(stream));
    }
    if (!row || row->lost == UINT64_MAX) return RS_NOT_RECORDED;
    return number < done || number - done < row->lost ? RS_NOT_RECORDED : RS_MISSING;
}

/* A fan-out follows from its pairs. */
static enum rs_presence ask_fanout(const struct rs_presence_index *x, const struct rs_model *m, uint32_t op,
                                   int32_t rank)
{
    enum rs_presence found = RS_NOT_RECORDED;
    for (uint32_t i = 0; i < m->ops.nparts[op]; i++) {
        uint32_t pair = m->parts.op[m->order[m->ops.part[op] + i]];
        if (m->ops.nparts[pair] == 1 && (m->ops.root[pair] == rank || m->ops.dst[pair] == rank) &&
            rs_presence(x, m, pair, rank) == RS_MISSING)
            found = RS_MISSING;
    }
    return found;
}

enum rs_presence rs_presence(const struct rs_presence_index *x, const struct rs_model *m, uint32_t op, int32_t rank)
{
    const struct rs_ops *o = &m->ops;
    if (o->kind[op] == RS_OP_PAIR && o->root[op] == o->dst[op] && rank == o->dst[op]) {
        if (o->nparts[op] == 2) return RS_PRESENT; /* to itself: both sides are the same rank */
    } else if (has_rank(m, op, rank)) {
        return RS_PRESENT;
    }
    uint32_t member = find_member(x, m, o->comm[op], rank);
    if (member == RS_NONE) return RS_NO_RECORDING;
    if (o->kind[op] == RS_OP_FANOUT) return ask_fanout(x, m, op, rank);
    if (o->kind[op] == RS_OP_PAIR) {
        bool sends = m->parts.kind[m->order[o->part[op]]] == RS_PART_RECV;
        return ask_row(x, member, sends ? SENDS : RECVS, (uint32_t)(sends ? o->dst[op] : o->root[op]), o->index[op]);
    }
    enum stream stream = stream_of(o->kind[op]);
    if (o->captured[op]) {
        const struct rs_presence_row *row = find_row(x, member, stream, o->func[op]);
        if (row && o->seq[op] < row->last && o->seq[op] != UINT64_MAX) return RS_NOT_RECORDED;
        return ask_row(x, member, REPLAYS, captured_what(o->captured[op], o->func[op]), o->replay[op]);
    }
    if (o->seq[op] == UINT64_MAX) return RS_NOT_RECORDED;
    return ask_row(x, member, stream, o->func[op], o->seq[op]);
}
