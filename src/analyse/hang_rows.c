#include "analyse/hang_rows.h"

#include <stdlib.h>

#include "analyse/hang_flight.h"
#include "base/memory.h"

static void place_row(struct rs_hang_state *s, uint32_t op, struct rs_hang_rank *row)
{
    const struct rs_model *m = s->m;
    row->since = RS_TIME_NONE;
    bool states = rs_hang_has_states(m, m->ops.comm[op]);
    if (states && row->member != RS_NONE && m->ops.kind[op] == RS_OP_PAIR && rs_hang_flight_pair(s, row)) return;
    if (row->part != RS_NONE) {
        row->stage = s->stage[row->part];
        row->since = row->stage == RS_STAGE_ENDED ? m->parts.end[row->part] : rs_hang_part_since(m, row->part);
        return;
    }
    if (row->member != RS_NONE && states && m->ops.kind[op] == RS_OP_COLL) {
        row->stage = rs_hang_flight_stage(s, op, row->member);
        return;
    }
    switch (rs_presence(&s->presence, m, op, row->rank)) {
    case RS_PRESENT:
    case RS_MISSING: row->stage = RS_STAGE_ABSENT; break;
    case RS_NOT_RECORDED: row->stage = RS_STAGE_NOT_RECORDED; break;
    case RS_NO_RECORDING: row->stage = RS_STAGE_UNSEEN; break;
    }
    if (row->member == RS_NONE) {
        row->stage = RS_STAGE_UNSEEN;
        return;
    }
    /* A whole recording of a rank that is in something else on this communicator: it is not here. */
    if (s->first[row->member] != RS_NONE && m->procs[m->members[row->member].proc].complete)
        row->stage = RS_STAGE_ABSENT;
    if (states && row->stage == RS_STAGE_ABSENT && rs_hang_is_older(s, row->member)) row->stage = RS_STAGE_NOT_RECORDED;
    uint32_t last = s->last[rs_hang_rank_of(m, row->member)];
    if (last == RS_NONE) return;
    row->since = m->parts.end[last] != RS_TIME_NONE ? m->parts.end[last] : rs_hang_part_since(m, last);
}

/* Operations that cannot be distinguished: where replays of a graph were lost, one may have been joined as two. */
static bool are_twins(const struct rs_model *m, uint32_t a, uint32_t b)
{
    const struct rs_ops *o = &m->ops;
    return a != b && b != RS_NONE && o->comm[a] == o->comm[b] && o->kind[a] == RS_OP_COLL && o->kind[b] == RS_OP_COLL &&
           o->func[a] == o->func[b] && o->seq[a] == o->seq[b] && o->seq[a] != UINT64_MAX;
}

void rs_hang_rows_find(struct rs_hang_state *s, uint32_t op)
{
    const struct rs_model *m = s->m;
    const struct rs_ops *o = &m->ops;
    bool pair = o->kind[op] == RS_OP_PAIR;
    int32_t nranks = m->comms[o->comm[op]].nranks;
    if (nranks > RS_HANG_MOST_RANKS) nranks = 0;
    for (uint32_t i = 0; i < o->nparts[op]; i++) { /* where the number of ranks is unknown: those that are there */
        int32_t rank = m->members[m->parts.member[m->order[o->part[op] + i]]].rank;
        if (rank >= nranks && rank < RS_HANG_MOST_RANKS) nranks = rank + 1;
    }
    uint32_t n = pair ? 2 : nranks > 0 ? (uint32_t)nranks : 0;
    if (n > s->cap_rows) {
        void *rows = rs_realloc(s->rows, n * sizeof *s->rows);
        s->rows = rows;
        s->cap_rows = n;
    }
    s->nrows = n;
    for (uint32_t i = 0; i < n; i++) {
        int32_t rank = !pair ? (int32_t)i : i ? o->dst[op] : o->root[op];
        s->rows[i] = (struct rs_hang_rank){.rank = rank, .member = RS_NONE, .part = RS_NONE};
    }
    for (uint32_t i = 0; i < n; i++) s->rows[i].member = rs_comm_member(m, o->comm[op], s->rows[i].rank);
    for (uint32_t i = 0; i < o->nparts[op]; i++) {
        uint32_t part = m->order[o->part[op] + i];
        int32_t rank = m->members[m->parts.member[part]].rank;
        uint32_t row = !pair ? (uint32_t)rank : m->parts.kind[part] == RS_PART_RECV;
        if (rank < 0 || row >= n) continue;
        s->rows[row].part = part;
        s->rows[row].member = m->parts.member[part];
    }
    for (uint32_t i = 0; i < n; i++) {
        struct rs_hang_rank *r = &s->rows[i];
        uint32_t first = r->member != RS_NONE ? s->first[r->member] : RS_NONE;
        if (r->part == RS_NONE && first != RS_NONE && are_twins(m, op, m->parts.op[first])) r->part = first;
        place_row(s, op, r);
    }
}
