#include "join/rank_numbers.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define MANY (RS_NONE - 1)

/* Numbers according to one tool; arrays are by rank. */
struct work {
    struct rs_model *m;
    uint8_t tool;
    int32_t *number; /* -1: unknown */
    bool *joined; /* in a communicator of the tool */
    bool *mark; /* in the current communicator */
    uint32_t *of_proc; /* by process of the tool: its rank; RS_NONE; MANY */
    uint32_t nranks, njoined; /* seen by the tool; of these, in a communicator */
    bool alone; /* only communicators of one rank */
};

static bool is_mine(const struct work *w, uint32_t member)
{
    const struct rs_member *x = &w->m->members[member];
    return w->m->comms[x->comm].tool == w->tool && x->rank_id != RS_NONE;
}

static void begin(struct work *w)
{
    const struct rs_model *m = w->m;
    w->nranks = w->njoined = 0;
    w->alone = true;
    for (uint32_t i = 0; i < m->nprocs; i++) w->of_proc[i] = RS_NONE;
    for (uint32_t i = 0; i < m->nranks; i++) {
        w->number[i] = -1;
        w->joined[i] = false;
        w->nranks += m->ranks[i].tools >> w->tool & 1;
        if (m->ranks[i].member == RS_NONE && m->procs[m->ranks[i].proc].tool == w->tool)
            w->of_proc[m->ranks[i].proc] = w->of_proc[m->ranks[i].proc] == RS_NONE ? i : MANY;
    }
    for (uint32_t i = 0; i < m->nmembers; i++) {
        if (!is_mine(w, i)) continue;
        uint32_t row = m->members[i].rank_id, *at = &w->of_proc[m->members[i].proc];
        w->njoined += !w->joined[row];
        w->joined[row] = true;
        *at = *at == RS_NONE || *at == row ? row : MANY;
        w->alone &= m->comms[m->members[i].comm].nranks == 1;
    }
}

/* A member's number according to its communicator: the ranks it consists of, if PyTorch reports them. */
static int32_t number_in(const struct rs_model *m, uint32_t member)
{
    const struct rs_member *x = &m->members[member];
    const struct rs_comm_row *c = &m->comms[x->comm];
    return c->ranks && x->rank >= 0 && x->rank < c->nranks ? c->ranks[x->rank] : x->rank;
}

static void by_groups(struct work *w)
{
    for (uint32_t i = 0; i < w->m->nmembers; i++)
        if (is_mine(w, i) && w->m->comms[w->m->members[i].comm].ranks && w->number[w->m->members[i].rank_id] < 0)
            w->number[w->m->members[i].rank_id] = number_in(w->m, i);
}

/* The numbers that processes report, for ranks without one: all or, with `some`, as far as known. */
static void by_processes(struct work *w, bool some)
{
    const struct rs_model *m = w->m;
    struct rs_map taken = {0};
    uint32_t fits = 0, known = 0;
    bool unique = true;
    for (uint32_t i = 0; i < m->nranks; i++) {
        if (w->number[i] < 0) continue;
        rs_map_put(&taken, (uint32_t)w->number[i], i);
        known++;
    }
    for (uint32_t p = 0; p < m->nprocs; p++) {
        uint32_t row = w->of_proc[p], said = (uint32_t)m->procs[p].launcher_rank;
        uint64_t *at;
        if (row >= MANY || m->procs[p].launcher_rank < 0 || w->number[row] >= 0) continue;
        rs_map_at(&taken, said, row, &at);
        fits += *at == row;
        unique &= *at == row;
    }
    if (unique && (some || known + fits >= w->nranks))
        for (uint32_t p = 0; p < m->nprocs; p++)
            if (w->of_proc[p] < MANY && w->number[w->of_proc[p]] < 0)
                w->number[w->of_proc[p]] = m->procs[p].launcher_rank;
    rs_map_free(&taken);
}

/* How many ranks a communicator contains; 0: its ranks are not all known, or contradict known numbers. */
static uint32_t contained(struct work *w, uint32_t comm)
{
    const struct rs_model *m = w->m;
    uint32_t n = 0;
    bool fits = true;
    for (uint32_t i = m->comms[comm].first_member; i != RS_NONE; i = m->members[i].next) {
        uint32_t row = m->members[i].rank_id;
        if (row == RS_NONE) continue;
        int32_t number = number_in(m, i);
        fits &= number >= 0 && (w->number[row] < 0 || w->number[row] == number);
        n += !w->mark[row];
        w->mark[row] = true;
    }
    for (uint32_t i = m->comms[comm].first_member; i != RS_NONE; i = m->members[i].next)
        if (m->members[i].rank_id != RS_NONE) w->mark[m->members[i].rank_id] = false;
    return fits ? n : 0;
}

/* When a rank created a communicator, on its own clock. */
static int64_t created_by(const struct rs_model *m, uint32_t comm, uint32_t rank)
{
    for (uint32_t i = m->comms[comm].first_member; i != RS_NONE; i = m->members[i].next)
        if (m->members[i].rank_id == rank) return m->members[i].created;
    return RS_TIME_NONE;
}

static bool counts(const struct work *w, uint32_t comm)
{
    const struct rs_comm_row *c = &w->m->comms[comm];
    return c->tool == w->tool && (c->nranks != 1 || w->alone);
}

/* The first communicator that contains every rank; RS_NONE: none. */
static uint32_t whole(struct work *w)
{
    const struct rs_model *m = w->m;
    uint32_t best = RS_NONE, first = 0;
    int64_t when = RS_TIME_NONE;
    while (first < m->nranks && !w->joined[first]) first++;
    for (uint32_t c = 0; c < m->ncomms; c++) {
        if (!counts(w, c) || m->comms[c].nmembers < w->njoined || contained(w, c) < w->njoined) continue;
        int64_t t = created_by(m, c, first);
        if (best != RS_NONE && (t == RS_TIME_NONE || (when != RS_TIME_NONE && t >= when))) continue;
        best = c;
        when = t;
    }
    return best;
}

static void by_comm(struct work *w, uint32_t comm)
{
    const struct rs_model *m = w->m;
    for (uint32_t i = m->comms[comm].first_member; i != RS_NONE; i = m->members[i].next)
        if (m->members[i].rank_id != RS_NONE && w->number[m->members[i].rank_id] < 0)
            w->number[m->members[i].rank_id] = number_in(m, i);
}

static bool launcher_agrees(const struct rs_model *m, uint32_t comm)
{
    for (uint32_t i = m->comms[comm].first_member; i != RS_NONE; i = m->members[i].next)
        if (m->procs[m->members[i].proc].launcher_rank != m->members[i].rank) return false;
    return true;
}

static bool is_within(const struct rs_model *m, uint32_t comm, const bool *mark)
{
    for (uint32_t i = m->comms[comm].first_member; i != RS_NONE; i = m->members[i].next)
        if (m->members[i].rank_id != RS_NONE && !mark[m->members[i].rank_id]) return false;
    return true;
}

/* By the largest communicators, if there is one with most of the ranks (later ones may have the same ranks), or the
 * launcher agrees with all of them. */
static void by_largest(struct work *w)
{
    const struct rs_model *m = w->m;
    uint32_t first = RS_NONE;
    bool agree = true, single = true;
    for (uint32_t c = 0; c < m->ncomms; c++)
        if (counts(w, c) && m->comms[c].nranks > (first == RS_NONE ? 1 : m->comms[first].nranks)) first = c;
    if (first == RS_NONE) return;
    for (uint32_t i = m->comms[first].first_member; i != RS_NONE; i = m->members[i].next)
        if (m->members[i].rank_id != RS_NONE) w->mark[m->members[i].rank_id] = true;
    for (uint32_t c = first; c < m->ncomms; c++) {
        if (!counts(w, c) || m->comms[c].nranks < m->comms[first].nranks) continue;
        single &= is_within(m, c, w->mark);
        agree &= launcher_agrees(m, c);
    }
    memset(w->mark, 0, m->nranks * sizeof *w->mark);
    if (single && contained(w, first) > w->njoined / 2) by_comm(w, first);
    for (uint32_t c = first; agree && c < m->ncomms; c++)
        if (counts(w, c) && m->comms[c].nranks == m->comms[first].nranks && contained(w, c)) by_comm(w, c);
}

static void number_tool(struct work *w)
{
    begin(w);
    by_groups(w);
    if (rs_tool_has(w->tool, RS_CAP_JOB_RANK)) by_processes(w, true);
    uint32_t world = w->njoined ? whole(w) : RS_NONE;
    if (world != RS_NONE) by_comm(w, world);
    by_processes(w, false);
    if (world == RS_NONE) by_largest(w);
    for (uint32_t i = 0; i < w->m->nranks; i++)
        if (w->m->ranks[i].number < 0) w->m->ranks[i].number = w->number[i];
}

void rs_ranks_number(struct rs_model *m)
{
    size_t n = (size_t)m->nranks + 1;
    struct work w = {.m = m,
                     .number = rs_alloc(n * sizeof *w.number),
                     .joined = rs_alloc(n * sizeof *w.joined),
                     .mark = rs_zalloc(n, sizeof *w.mark),
                     .of_proc = rs_alloc(((size_t)m->nprocs + 1) * sizeof *w.of_proc)};
    uint32_t tools = 0;
    for (uint32_t i = 0; i < m->nranks; i++) tools |= m->ranks[i].tools;
    for (w.tool = 0; w.tool < RS_TOOLS; w.tool++)
        if (tools >> w.tool & 1) number_tool(&w);
    free(w.number);
    free(w.joined);
    free(w.mark);
    free(w.of_proc);
}
