/* Models made by hand as an importer leaves them, for the tests of the join: ranks in processes of their own, on one clock
 * with a known error, and parts that no operation holds yet.
 *
 * Times are in us, to be read easily; the model has ns. */
#ifndef RS_TESTS_UNJOINED_H
#define RS_TESTS_UNJOINED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"
#include "nccl/abi.h"

enum { UNKNOWN = INT32_MIN }; /* a time */

static struct rs_model model;

static inline void fine(enum rs_status status)
{
    assert_int_equal(status, RS_OK);
}

static inline int64_t ns(int32_t us)
{
    return us == UNKNOWN ? RS_TIME_NONE : us * INT64_C(1000);
}

/* One communicator of `n` ranks; member and process r are rank r's. All end well, at 1 s. */
static inline void make_ranks(int n, int32_t error_us)
{
    model = (struct rs_model){0};
    uint32_t host, comm;
    rs_model_host(&model, "h", "b", &host);
    fine(RS_OK);
    rs_model_comm(&model, 0xabc, &comm);
    fine(RS_OK);
    model.comms[comm].nranks = n;
    model.comms[comm].first_member = 0;
    model.comms[comm].nmembers = (uint32_t)n;
    for (int r = 0; r < n; r++) {
        uint8_t uuid[16] = {1, (uint8_t)r};
        uint32_t proc, member, gpu;
        rs_model_proc(&model, &proc);
        fine(RS_OK);
        rs_model_member(&model, comm, &member);
        fine(RS_OK);
        rs_model_gpu(&model, host, uuid, &gpu);
        fine(RS_OK);
        model.procs[proc].pid = (uint32_t)r + 1;
        model.procs[proc].end = ns(1000000);
        model.members[member].proc = proc;
        model.members[member].rank = r;
        model.members[member].gpu = gpu;
        model.members[member].created = 0;
        if (r) model.members[member - 1].next = member;
    }
    for (uint32_t i = 0; i < model.ndomains; i++) {
        model.domains[i].error_ns = ns(error_us);
        model.domains[i].island = 0;
    }
}

static inline uint16_t text(const char *s)
{
    uint16_t id;
    rs_model_string(&model, s, &id);
    fine(RS_OK);
    return id;
}

/* A part that was asked for at `asked` and ran from `start` to `end`, in a launch of its own. */
static inline uint32_t make_part(uint8_t kind, int rank, const char *func, int32_t asked, int32_t start, int32_t end)
{
    static uint64_t handle;
    uint32_t i;
    rs_model_part(&model, &i);
    fine(RS_OK);
    struct rs_parts *t = &model.parts;
    t->kind[i] = kind;
    t->member[i] = (uint32_t)rank;
    t->func[i] = text(func);
    t->dtype[i] = text("ncclFloat32");
    t->count[i] = 100;
    t->handle[i] = ++handle;
    t->launch[i] = t->group[i] = 1000000 + handle;
    t->enqueued[i] = ns(asked);
    t->start[i] = ns(start);
    t->end[i] = ns(end);
    t->start_source[i] = start == UNKNOWN ? RS_FROM_NOTHING : RS_FROM_KERNEL;
    t->end_source[i] = end == UNKNOWN ? RS_FROM_NOTHING : RS_FROM_KERNEL;
    return i;
}

static inline uint32_t make_coll(int rank, const char *func, uint64_t seq, int32_t asked, int32_t start, int32_t end)
{
    uint32_t i = make_part(RS_PART_COLL, rank, func, asked, start, end);
    model.parts.seq[i] = seq;
    return i;
}

static inline uint32_t make_send(int src, int dst, int32_t asked, int32_t start, int32_t end)
{
    uint32_t i = make_part(RS_PART_SEND, src, "Send", asked, start, end);
    model.parts.peer[i] = dst;
    return i;
}

static inline uint32_t make_recv(int dst, int src, int32_t asked, int32_t start, int32_t end)
{
    uint32_t i = make_part(RS_PART_RECV, dst, "Recv", asked, start, end);
    model.parts.peer[i] = src;
    return i;
}

/* What was lost of a process between two moments. */
static inline void make_gap(int rank, int32_t from, int32_t to, uint32_t colls, uint32_t p2ps)
{
    struct rs_proc *p = &model.procs[rank];
    p->gaps = realloc(p->gaps, (p->ngaps + 1) * sizeof *p->gaps);
    assert_non_null(p->gaps);
    p->gaps[p->ngaps++] = (struct rs_gap){ns(from), ns(to), colls, p2ps, 0};
}

static inline uint32_t op_of(uint32_t part)
{
    return model.parts.op[part];
}

#endif
