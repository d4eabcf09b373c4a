/* Jobs of four ranks on two hosts that hang, made by hand: who called what, how far it came, which network steps are open. */
#ifndef RS_TESTS_HANGING_H
#define RS_TESTS_HANGING_H

#include "analyse/hang.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "join/collectives.h"
#include "join/family.h"
#include "join/pairs.h"
#include "join/ranks.h"
#include "nccl/abi.h"

enum { RANKS = 4, BEFORE = 3 }; /* operations that went well before */
#define MS INT64_C(1000000)
#define SEC (1000 * MS)
static const int64_t stuck_at = 10 * SEC, over = 30 * SEC; /* of the operation that hangs; of all processes */

struct job {
    struct rs_model m;
    uint32_t world, second; /* communicators of all ranks */
    uint16_t allreduce, allgather, send, recv, f32;
    uint64_t handle;
};

static inline uint32_t member_of(const struct job *j, uint32_t comm, int32_t rank)
{
    uint32_t x = rs_comm_member(&j->m, comm, rank);
    assert_int_not_equal(x, RS_NONE);
    return x;
}

static inline uint32_t add_comm(struct job *j, uint64_t hash, const char *name, int32_t recorded)
{
    struct rs_model *m = &j->m;
    uint32_t c, x;
    rs_model_comm(m, hash, &c);
    m->comms[c].nranks = RANKS;
    m->comms[c].name = name;
    for (int32_t r = 0; r < recorded; r++) {
        rs_model_member(m, c, &x);
        m->members[x].rank = r;
        m->members[x].proc = (uint32_t)r;
        m->members[x].device = 0;
        m->members[x].created = (int64_t)hash;
    }
    return c;
}

/* A call of a rank, launched and running since `at`; its end is not known. */
static inline uint32_t add_part(struct job *j, uint32_t comm, int32_t rank, uint16_t func, uint64_t seq, int64_t at)
{
    struct rs_parts *t = &j->m.parts;
    uint32_t i;
    rs_model_part(&j->m, &i);
    t->member[i] = member_of(j, comm, rank);
    t->handle[i] = t->launch[i] = t->group[i] = ++j->handle;
    t->kind[i] = func == j->send ? RS_PART_SEND : func == j->recv ? RS_PART_RECV : RS_PART_COLL;
    t->func[i] = func;
    t->seq[i] = seq;
    t->count[i] = 1000;
    t->dtype[i] = j->f32;
    t->enqueued[i] = at - 2 * MS;
    t->launched[i] = at - MS;
    t->start[i] = t->after[i] = at;
    t->start_source[i] = RS_FROM_KERNEL;
    t->channels[i] = 2;
    t->flags[i] = RS_PART_STOPPED | RS_PART_LAUNCHED | RS_PART_OPEN | RS_PART_KERNEL_OPEN | RS_PART_UNFINISHED;
    return i;
}

static inline void ended(struct job *j, uint32_t part, int64_t at)
{
    j->m.parts.end[part] = at;
    j->m.parts.end_source[part] = RS_FROM_KERNEL;
    j->m.parts.channels_seen[part] = 2;
    j->m.parts.flags[part] = RS_PART_STOPPED | RS_PART_LAUNCHED;
}

static inline void not_started(struct job *j, uint32_t part)
{
    j->m.parts.start[part] = j->m.parts.after[part] = RS_TIME_NONE;
    j->m.parts.start_source[part] = RS_FROM_NOTHING;
    j->m.parts.flags[part] = RS_PART_STOPPED | RS_PART_LAUNCHED;
}

static inline void open_step(struct job *j, uint32_t part, bool is_send, int32_t peer, int32_t step, int32_t state)
{
    struct rs_open o = {.part = part,
                        .proc = j->m.members[j->m.parts.member[part]].proc,
                        .type = RS_PROXY_OP,
                        .since = stuck_at + MS,
                        .channel = 1,
                        .peer = peer,
                        .step = -1,
                        .state = -1,
                        .steps = 16,
                        .done = step,
                        .is_send = is_send};
    rs_model_open(&j->m, &o);
    o.type = RS_PROXY_STEP;
    o.state = state;
    for (o.step = step; o.step < step + 2; o.step++) rs_model_open(&j->m, &o);
    j->m.parts.flags[part] |= RS_PART_NET;
}

/* Processes of two hosts that were killed at the end; some all-reduces that went well, on both communicators. */
static inline void begin(struct job *j, int32_t recorded)
{
    *j = (struct job){0};
    struct rs_model *m = &j->m;
    for (int32_t r = 0; r < recorded; r++) {
        uint32_t host, p;
        rs_model_host(m, r < 2 ? "n0" : "n1", r < 2 ? "b0" : "b1", &host);
        rs_model_proc(m, &p);
        m->procs[p].host = host;
        m->procs[p].pid = 100 + (uint32_t)r;
        m->procs[p].ended = RS_END_KILLED;
        m->procs[p].complete = true;
        m->procs[p].first = m->procs[p].begin = SEC;
        m->procs[p].end = over + r * MS;
        m->procs[p].last = stuck_at + MS;
        m->procs[p].covers = calloc(1, sizeof *m->procs[p].covers);
        assert_non_null(m->procs[p].covers);
        m->procs[p].covers[0] = (struct rs_cover){0, INT64_MAX, 0xfff};
        m->procs[p].ncovers = 1;
    }
    j->world = add_comm(j, 1, "world", recorded);
    j->second = add_comm(j, 2, "second", recorded);
    rs_model_link(m);
    rs_model_string(m, "AllReduce", &j->allreduce);
    rs_model_string(m, "AllGather", &j->allgather);
    rs_model_string(m, "Send", &j->send);
    rs_model_string(m, "Recv", &j->recv);
    rs_model_string(m, "ncclFloat32", &j->f32);
    for (uint64_t k = 0; k < BEFORE; k++)
        for (int32_t r = 0; r < recorded; r++)
            for (int c = 0; c < 2; c++) {
                int64_t at = (int64_t)(k + 1) * SEC + c * 100 * MS;
                ended(j, add_part(j, c ? j->second : j->world, r, j->allreduce, k, at), at + 10 * MS);
            }
}

static inline uint32_t stuck(struct job *j, int32_t rank)
{
    return add_part(j, j->world, rank, j->allreduce, BEFORE, stuck_at);
}

static inline void find(struct job *j, struct rs_hang *h)
{
    rs_ranks_find(&j->m);
    assert_int_equal(rs_family_find(&j->m, NULL), RS_OK);
    rs_collectives_join(&j->m);
    rs_hang_find(&j->m, &(struct rs_filter){0}, h);
    for (uint32_t i = 0; i < h->nconclusion; i++) print_message("    %s\n", h->conclusion[i]);
}

/* The verdict is about the operation that hangs, and blames one rank. */
static inline void check(const struct job *j, const struct rs_hang *h, enum rs_verdict verdict, int32_t rank,
                         uint32_t waiting)
{
    assert_string_equal(rs_verdict_name(h->findings[0].verdict), rs_verdict_name(verdict));
    assert_int_equal(h->findings[0].comm, j->world);
    assert_int_equal(j->m.ops.seq[h->findings[0].op], BEFORE);
    assert_int_equal(h->findings[0].nguilty, 1);
    assert_int_equal(h->findings[0].guilty[0].rank, rank);
    assert_int_equal(h->findings[0].nwaiting, waiting);
    assert_true(h->nconclusion >= 1);
}

static inline void finish(struct job *j, struct rs_hang *h)
{
    rs_hang_free(h);
    rs_model_free(&j->m);
}

/* A ring 0 - 1 - 2 - 3: the hop from 1 to 2 is at step 5, those behind it a step further each. */
static inline void ring(struct job *j, int32_t send_state, int32_t recv_state)
{
    for (int32_t r = 0; r < RANKS; r++) {
        uint32_t part = stuck(j, r);
        int32_t out = 5 + (r + 3) % 4, in = 5 + (r + 2) % 4;
        open_step(j, part, true, (r + 1) % 4, out, r == 1 ? send_state : RS_ST_STEP_SEND_GPU_WAIT);
        open_step(j, part, false, (r + 3) % 4, in, r == 2 ? recv_state : RS_ST_STEP_RECV_WAIT);
    }
}

#endif
