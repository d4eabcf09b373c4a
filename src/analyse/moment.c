#include "analyse/moment.h"

#include <stdlib.h>

#include "base/memory.h"
#include "join/op_facts.h"
#include "join/waits.h"
#include "nccl/abi.h"

/* ---- one part ---- */

int64_t rs_moment_begin(const struct rs_model *m, uint32_t part, bool *started)
{
    const struct rs_parts *p = &m->parts;
    *started = p->start[part] != RS_TIME_NONE;
    if (*started) return p->start[part];
    return p->launched[part] != RS_TIME_NONE ? p->launched[part] : p->enqueued[part];
}

/* Until when a process is known to have existed: a part that had not ended was active until then. */
static int64_t heard(const struct rs_proc *p)
{
    return p->end > p->last ? p->end : p->last;
}

int64_t rs_moment_latest_end(const struct rs_model *m, uint32_t part)
{
    switch (rs_part_ending(m, part)) {
    case RS_ENDING_KNOWN: return m->parts.end[part];
    case RS_ENDING_BOUNDED: return m->parts.before[part];
    default: return INT64_MAX;
    }
}

/* Until when a part was certainly in its operation. */
static int64_t sure_end(const struct rs_model *m, uint32_t part)
{
    const struct rs_parts *p = &m->parts;
    int64_t end = p->end[part] != RS_TIME_NONE ? p->end[part] : p->after[part];
    if (rs_part_ending(m, part) == RS_ENDING_OPEN) end = heard(rs_part_proc(m, part));
    return end;
}

/* ---- one rank ---- */

/* The result for a rank so far. */
struct found {
    uint32_t sure, perhaps; /* the latest operation that it is in; that it may be in */
    uint32_t before, after;
};

static void look(struct found *f, const struct rs_model *m, uint32_t part, int64_t at)
{
    bool started;
    int64_t begin = rs_moment_begin(m, part, &started), latest = rs_moment_latest_end(m, part), other;
    if (begin == RS_TIME_NONE) return;
    if (begin > at) {
        if (f->after == RS_NONE || begin < (other = rs_moment_begin(m, f->after, &started))) f->after = part;
    } else if (latest <= at) {
        if (f->before == RS_NONE || latest > rs_moment_latest_end(m, f->before)) f->before = part;
    } else if (started && at < sure_end(m, part)) {
        if (f->sure == RS_NONE || begin > m->parts.start[f->sure]) f->sure = part;
    } else if (f->perhaps == RS_NONE || begin > (other = rs_moment_begin(m, f->perhaps, &started))) {
        f->perhaps = part;
    }
}

/* Waiting until the last rank arrives, then transferring; unknown within the clock error of the last start. */
static enum rs_doing doing_in(const struct rs_model *m, const struct rs_presence_index *presence, uint32_t part,
                              int64_t at)
{
    uint32_t op = m->parts.op[part];
    int32_t absent = 0;
    if (op == RS_NONE) return RS_DOING_RUN;
    if (rs_op_has_absent_ranks(m, op)) /* a recorded rank that did not arrive holds the others */
        return rs_op_next_absent(m, op, presence, true, &absent) >= 0 ? RS_DOING_WAIT : RS_DOING_RUN;
    if (!(m->ops.flags[op] & RS_OP_CLOCKED)) return RS_DOING_RUN;
    int64_t error = m->ops.error[op] > 0 ? m->ops.error[op] : 0, behind = rs_time_minus(at, m->ops.last[op]);
    if (behind < -error) return RS_DOING_WAIT;
    return behind >= error ? RS_DOING_TRANSFER : RS_DOING_RUN;
}

/* NULL if the process was recorded at a time; else why not. */
static const char *not_recorded(const struct rs_proc *p, int64_t at)
{
    const uint64_t ops = RS_COLL | RS_P2P;
    if (at < p->begin) return "before its recording";
    bool closed = p->ended == RS_END_WELL && rs_tool_has(p->tool, RS_CAP_PROCESS_END); /* the process was over */
    if (at > heard(p)) return closed ? NULL : "after the end of its recording";
    if (p->overwritten_until != RS_TIME_NONE && at <= p->overwritten_until) return "overwritten";
    if (p->cut_until != RS_TIME_NONE && at <= p->cut_until) return "cut off";
    uint64_t mask = p->ncovers ? 0 : ops; /* a tool without covers records what it can */
    for (uint32_t i = 0; i < p->ncovers; i++)
        if (at >= p->covers[i].from && at <= p->covers[i].to) mask = p->covers[i].mask;
    if (p->ncovers && at < p->covers[0].from) return "before its recording";
    if ((mask & ops) != ops) return "events were not requested then";
    for (uint32_t i = 0; i < p->ngaps && p->gaps[i].from <= at; i++)
        if (at <= p->gaps[i].to) return "callbacks were lost then";
    return p->drops ? "nothing is recorded, but the tool drops events silently" : NULL;
}

static void conclude(struct rs_moment *r, const struct found *f, const struct rs_model *m,
                     const struct rs_presence_index *presence, int64_t at)
{
    const struct rs_rank *rank = &m->ranks[r->rank_id];
    const struct rs_proc *p = &m->procs[rank->proc];
    r->before = f->before;
    r->after = f->after;
    uint32_t shown = f->sure != RS_NONE ? f->sure : f->perhaps;
    uint32_t clock = shown != RS_NONE ? rs_part_start_domain(m, shown) : RS_NONE;
    if (clock == RS_NONE) clock = rank->gpu != RS_NONE ? rank->gpu : m->hosts[rank->host].domain;
    r->error_ns = m->domains[clock].error_ns;
    r->part = shown;
    if (f->sure != RS_NONE) {
        r->doing = doing_in(m, presence, f->sure, at);
    } else if (f->perhaps != RS_NONE) {
        bool started;
        rs_moment_begin(m, f->perhaps, &started);
        r->why = started ? "its end is unknown" : "its start is unknown";
    } else {
        r->why = not_recorded(p, at);
        if (!r->why) r->doing = RS_DOING_NOTHING;
    }
}

/* ---- all ---- */

static uint32_t collect(struct rs_moment *rows, struct found *found, const struct rs_model *m,
                        const struct rs_presence_index *presence, const struct rs_filter *filter, int64_t at)
{
    for (uint32_t i = 0; i < m->nranks; i++) found[i] = (struct found){RS_NONE, RS_NONE, RS_NONE, RS_NONE};
    for (uint32_t i = 0; i < m->parts.n; i++) {
        uint32_t rank_id = m->members[m->parts.member[i]].rank_id, op = m->parts.op[i];
        if (rank_id == RS_NONE || (op != RS_NONE && !rs_filter_op(filter, m, op)) || rs_part_is_secondary(m, i))
            continue;
        look(&found[rank_id], m, i, at);
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->nranks; i++) {
        if (!rs_filter_rank_row(filter, m, i)) continue;
        rows[n] = (struct rs_moment){.rank_id = i, .part = RS_NONE};
        conclude(&rows[n++], &found[i], m, presence, at);
    }
    return n;
}

void rs_moment_find(struct rs_moment **rows, uint32_t *n, const struct rs_model *m, const struct rs_filter *filter,
                    int64_t at)
{
    struct rs_presence_index presence;
    *rows = NULL;
    *n = 0;
    rs_presence_init(&presence, m);
    *rows = rs_zalloc((size_t)m->nranks + 1, sizeof **rows);
    struct found *found = rs_zalloc((size_t)m->nranks + 1, sizeof *found);
    *n = collect(*rows, found, m, &presence, filter, at);
    free(found);
    rs_presence_free(&presence);
}
