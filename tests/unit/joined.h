/* Joined models made by hand: hosts with GPUs, communicators, and operations whose starts and ends are given.
 *
 * All clocks are aligned, with the same error. Launches are `LAUNCH_NS` before starts unless a test sets them. */
#ifndef RS_TESTS_JOINED_H
#define RS_TESTS_JOINED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/view.h"
#include "join/waits.h"
#include "model/model.h"

enum { MOST_RANKS = 64, LAUNCH_NS = 5000 };
#define US INT64_C(1000)
#define MS INT64_C(1000000)

static struct rs_model model;
static uint32_t gpus[MOST_RANKS], procs[MOST_RANKS];
static const struct rs_filter everything;

static inline void fine(enum rs_status status)
{
    assert_int_equal(status, RS_OK);
}

static inline void make_job(int hosts, int per_host, int64_t error_ns)
{
    model = (struct rs_model){.aligned = true, .world = hosts * per_host};
    for (int h = 0; h < hosts; h++) {
        char name[16];
        uint32_t host;
        snprintf(name, sizeof name, "node%02d", h);
        rs_model_host(&model, name, name, &host);
        fine(RS_OK);
        for (int i = 0; i < per_host; i++) {
            int rank = h * per_host + i;
            uint8_t uuid[16] = {1, (uint8_t)rank};
            rs_model_gpu(&model, host, uuid, &gpus[rank]);
            fine(RS_OK);
            rs_model_proc(&model, &procs[rank]);
            fine(RS_OK);
            model.procs[procs[rank]].host = host;
            model.procs[procs[rank]].pid = 100 + (uint32_t)rank;
            model.procs[procs[rank]].first = 0;
        }
    }
    for (uint32_t i = 0; i < model.ndomains; i++) {
        model.domains[i].error_ns = error_ns;
        model.domains[i].island = 0;
    }
}

/* The row of a rank of the job: one for each process that is in a communicator. */
static inline uint32_t make_rank(int rank, uint32_t member)
{
    uint32_t row = 0;
    while (row < model.nranks && model.ranks[row].proc != procs[rank]) row++;
    if (row < model.nranks) return row;
    rs_model_rank(&model, &row);
    fine(RS_OK);
    struct rs_rank *r = &model.ranks[row];
    r->number = rank;
    r->proc = procs[rank];
    r->host = model.procs[procs[rank]].host;
    r->gpu = gpus[rank];
    r->member = member;
    return row;
}

/* A communicator of `n` ranks first, first + stride, ... of the job. */
static inline uint32_t make_comm(uint64_t hash, int first, int stride, int n)
{
    uint32_t comm, class, member, before = RS_NONE;
    rs_model_comm(&model, hash, &comm);
    fine(RS_OK);
    for (class = 0; class < model.nclasses; class ++)
        if (model.classes[class].nranks == n && model.classes[class].stride == stride) break;
    if (class == model.nclasses) {
        rs_model_class(&model, &class);
        fine(RS_OK);
    }
    model.classes[class].nranks = n;
    model.classes[class].stride = stride;
    model.classes[class].comms++;
    model.classes[class].text = "a class";
    model.comms[comm].nranks = n;
    model.comms[comm].class = class;
    model.comms[comm].nmembers = (uint32_t)n;
    for (int i = 0; i < n; i++) {
        int rank = first + i * stride;
        rs_model_member(&model, comm, &member);
        fine(RS_OK);
        struct rs_member *x = &model.members[member];
        x->rank = i;
        x->global_rank = rank;
        x->proc = procs[rank];
        x->gpu = gpus[rank];
        x->device = (int32_t)model.procs[procs[rank]].pid % 8;
        uint32_t row = make_rank(rank, member);
        x = &model.members[member];
        x->rank_id = x->place = row;
        model.ranks[row].device = x->device;
        if (before == RS_NONE)
            model.comms[comm].first_member = member;
        else
            model.members[before].next = member;
        before = member;
    }
    return comm;
}

static inline uint32_t add_part(uint32_t op, uint32_t member, uint8_t kind, int64_t start, int64_t end)
{
    uint32_t part;
    rs_model_part(&model, &part);
    fine(RS_OK);
    model.parts.member[part] = member;
    model.parts.op[part] = op;
    model.parts.kind[part] = kind;
    model.parts.start[part] = start;
    model.parts.end[part] = end;
    model.parts.launched[part] = start == RS_TIME_NONE ? start : start - LAUNCH_NS;
    model.parts.start_source[part] = start == RS_TIME_NONE ? RS_FROM_NOTHING : RS_FROM_KERNEL;
    model.parts.end_source[part] = end == RS_TIME_NONE ? RS_FROM_NOTHING : RS_FROM_KERNEL;
    rs_model_order(&model, part);
    fine(RS_OK);
    model.ops.nparts[op]++;
    return part;
}

static inline uint32_t new_op(uint32_t comm, uint8_t kind, const char *func, uint64_t bytes)
{
    uint32_t op;
    rs_model_op(&model, &op);
    fine(RS_OK);
    rs_model_string(&model, func, &model.ops.func[op]);
    fine(RS_OK);
    model.ops.comm[op] = comm;
    model.ops.kind[op] = kind;
    model.ops.bytes[op] = bytes;
    model.ops.part[op] = model.norder;
    return op;
}

/* A collective: starts by rank in the communicator, ended `transfer` behind the last of them. A start of RS_TIME_NONE
 * leaves the rank's part out: its record was lost. */
static inline uint32_t add_coll(uint32_t comm, const char *func, uint64_t bytes, const int64_t *starts,
                                int64_t transfer)
{
    uint32_t op = new_op(comm, RS_OP_COLL, func, bytes), i = 0;
    int64_t last = RS_TIME_NONE;
    for (int k = 0; k < model.comms[comm].nranks; k++)
        if (starts[k] > last) last = starts[k];
    for (uint32_t x = model.comms[comm].first_member; x != RS_NONE; x = model.members[x].next, i++)
        if (starts[i] != RS_TIME_NONE) add_part(op, x, RS_PART_COLL, starts[i], last + transfer);
    return op;
}

/* What ran on a lane; launch and part are not told. */
static inline uint32_t act(uint32_t lane, uint8_t kind, const char *name, int64_t start, int64_t end)
{
    uint32_t i;
    rs_model_activity(&model, &i);
    fine(RS_OK);
    model.activities.lane[i] = lane;
    model.activities.kind[i] = kind;
    model.activities.start[i] = start;
    model.activities.end[i] = end;
    fine(rs_model_name(&model, name, strlen(name), &model.activities.name[i], NULL));
    return i;
}

/* The view of everything that was added. */
static inline void look(struct rs_view *view)
{
    rs_waits_find(&model);
    fine(RS_OK);
    rs_view_init(view, &model, &everything);
    fine(RS_OK);
}

#endif
