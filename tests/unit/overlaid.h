/* Hand-made jobs that several tools saw: RANKS ranks, each tool with processes, clocks and communicators of its own. The
 * model is one for the program; setup() empties it and teardown() frees it. */
#ifndef RS_TESTS_OVERLAID_H
#define RS_TESTS_OVERLAID_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "join/join.h"
#include "model/model.h"

enum { RANKS = 2 };
#define US INT64_C(1000)
#define MS INT64_C(1000000)

static struct rs_model m;

static inline void fine(enum rs_status status)
{
    assert_int_equal(status, RS_OK);
}

/* A tool's view of the job: a process and a clock of its own for each rank. */
struct tool {
    enum rs_tool tool;
    int64_t offset; /* of all its clocks, ns */
    uint32_t procs[RANKS], gpus[RANKS];
};

static inline struct tool add_tool(enum rs_tool tool, int64_t offset, uint32_t pid)
{
    struct tool t = {.tool = tool, .offset = offset};
    for (uint32_t r = 0; r < RANKS; r++) {
        char boot[32];
        uint32_t host;
        snprintf(boot, sizeof boot, "%d:%u", (int)tool, r);
        rs_model_host(&m, "", boot, &host);
        fine(RS_OK);
        rs_model_proc(&m, &t.procs[r]);
        fine(RS_OK);
        struct rs_proc *p = &m.procs[t.procs[r]];
        p->tool = (uint8_t)tool;
        p->host = host;
        p->pid = pid ? pid + r : 0;
        p->launcher_rank = (int32_t)r;
        p->begin = p->first = offset;
        p->end = p->last = offset + INT64_C(100000) * MS;
        p->ended = RS_END_WELL;
        p->complete = true;
        rs_model_gpu(&m, host, (uint8_t[16]){0}, &t.gpus[r]);
        fine(RS_OK);
        m.domains[t.gpus[r]].rigid = true;
    }
    return t;
}

static inline uint32_t add_comm(const struct tool *t, uint64_t hash, const char *name)
{
    uint32_t comm, member;
    rs_model_comm_of(&m, t->tool, hash, &comm);
    fine(RS_OK);
    m.comms[comm].nranks = RANKS;
    m.comms[comm].name = name;
    m.comms[comm].made_up = t->tool == RS_TOOL_KINETO || t->tool == RS_TOOL_FLIGHT;
    for (int r = 0; r < RANKS; r++) {
        rs_model_member(&m, comm, &member);
        fine(RS_OK);
        m.members[member].rank = r;
        m.members[member].proc = t->procs[r];
        m.members[member].gpu = t->gpus[r];
        m.members[member].device = 0;
        m.members[member].created = t->offset;
    }
    return comm;
}

static inline uint32_t member_of(uint32_t comm, int32_t rank)
{
    for (uint32_t i = 0; i < m.nmembers; i++)
        if (m.members[i].comm == comm && m.members[i].rank == rank) return i;
    fail();
    return RS_NONE;
}

/* How much later than in step 0 something is: steps are never of one length. */
static inline int64_t step_at(uint32_t step)
{
    int64_t at = 0;
    for (uint32_t i = 0; i < step; i++) at += 20 * MS + (int64_t)(i * 7919 % 11) * 300 * US;
    return at;
}

struct call {
    const char *func;
    uint64_t count;
    int64_t at; /* ns after the step began */
};

static const struct call calls[] = {
    {"AllReduce", 1 << 20, 1 * MS}, {"AllReduce", 1 << 20, 2 * MS}, {"AllGather", 4096, 3 * MS}};
enum { CALLS = sizeof calls / sizeof *calls };

static inline uint32_t add_part(const struct tool *t, uint32_t comm, int32_t rank, const struct call *c, uint32_t step,
                                uint64_t seq, bool kernel)
{
    uint32_t part;
    rs_model_part(&m, &part);
    fine(RS_OK);
    struct rs_parts *p = &m.parts;
    p->member[part] = member_of(comm, rank);
    p->kind[part] = RS_PART_COLL;
    p->seq[part] = seq;
    p->count[part] = c->count;
    p->handle[part] = part + 1;
    rs_model_string(&m, c->func, &p->func[part]);
    fine(RS_OK);
    rs_model_string(&m, "ncclFloat32", &p->dtype[part]);
    fine(RS_OK);
    int64_t at = t->offset + step_at(step) + c->at + (step * 31 + (uint32_t)rank * 17) % 7 * US;
    p->enqueued[part] = at + (t->tool == RS_TOOL_KINETO ? -20 * US : 0);
    if (!kernel) return part;
    p->start[part] = at + 50 * US + rank * 100 * US;
    p->end[part] = t->offset + step_at(step) + c->at + 900 * US;
    p->start_source[part] = p->end_source[part] = RS_FROM_KERNEL;
    return part;
}

/* Steps first .. last, on every rank. Kineto tells the step. */
static inline void add_steps(const struct tool *t, uint32_t comm, uint32_t first, uint32_t last)
{
    for (int32_t r = 0; r < RANKS; r++)
        for (uint32_t step = first; step < last; step++)
            for (uint32_t k = 0; k < CALLS; k++) {
                uint64_t seq = k == 2 ? step - first : 2 * (step - first) + k;
                uint32_t part = add_part(t, comm, r, &calls[k], step, seq, t->tool != RS_TOOL_FLIGHT);
                struct rs_tag tag = {.part = part, .step = step, .pg_seq = (int64_t)seq, .duration_ns = RS_TIME_NONE};
                if (t->tool == RS_TOOL_KINETO) {
                    rs_model_tag(&m, &tag);
                    fine(RS_OK);
                }
            }
}

static inline void join(void)
{
    rs_model_link(&m);
    fine(RS_OK);
    fine(rs_join(&m, true, NULL));
}

static inline int setup(void **state)
{
    (void)state;
    m = (struct rs_model){0};
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    rs_model_free(&m);
    return 0;
}

static inline uint32_t count_laid(enum rs_tool tool)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m.ops.n; i++) n += m.comms[m.ops.comm[i]].tool == tool && m.ops.over[i] != RS_NONE;
    return n;
}

static inline bool has_note(const char *text)
{
    for (uint32_t i = 0; i < m.nnotes; i++)
        if (strstr(m.notes[i].text, text)) return true;
    return false;
}

#endif
