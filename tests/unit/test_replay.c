/* The graph of a run and its replay, against graphs computed by hand. */
#include "joined.h"

#include "conclude/replay.h"

static struct rs_view view;
static struct rs_graph graph;
static struct rs_replay replay;
static int64_t take[256], cut[256];

static int forget(void **state)
{
    (void)state;
    rs_replay_free(&replay);
    rs_graph_free(&graph);
    rs_view_free(&view);
    rs_model_free(&model);
    memset(take, 0, sizeof take);
    memset(cut, 0, sizeof cut);
    return 0;
}

/* Replayed unchanged, each time is the recorded one. */
static void make_graph_with_launches(void)
{
    look(&view);
    rs_graph_init(&graph, &view, NULL, NULL);
    rs_replay_init(&replay, &graph);
    assert_int_equal(rs_replay_run(&replay, &graph, NULL, NULL), rs_graph_makespan(&graph));
    for (uint32_t i = 0; i < graph.nnodes; i++) {
        assert_int_equal(replay.starts[i], graph.nodes[i].start);
        assert_int_equal(replay.ends[i], graph.nodes[i].end);
    }
}

static void make_graph(void)
{
    for (uint32_t i = 0; i < model.parts.n; i++) model.parts.launched[i] = model.parts.enqueued[i] = RS_TIME_NONE;
    make_graph_with_launches();
}

/* The node of a rank in the n-th operation that was added. */
static uint32_t node(uint32_t rank_id, uint32_t op)
{
    for (uint32_t i = 0; i < graph.nnodes; i++)
        if (graph.nodes[i].rank_id == rank_id && graph.ops[graph.nodes[i].op].op == op) return i;
    fail_msg("rank %u has no node in operation %u", rank_id, op);
    return RS_NONE;
}

static int64_t saved(void)
{
    return rs_graph_makespan(&graph) - rs_replay_run(&replay, &graph, take, cut);
}

static uint32_t member_of(uint32_t comm, int rank)
{
    uint32_t member = model.comms[comm].first_member;
    while (rank-- > 0) member = model.members[member].next;
    return member;
}

static uint32_t add_pair(uint32_t comm, int src, int dst, int64_t send, int64_t sent, int64_t recv, int64_t received)
{
    uint32_t op = new_op(comm, RS_OP_PAIR, "Send", 1 << 20);
    model.ops.root[op] = src;
    model.ops.dst[op] = dst;
    for (int k = 0; k < 2; k++) { /* by rank */
        bool is_src = (k == 0) == (src < dst);
        uint32_t part = add_part(op, member_of(comm, is_src ? src : dst), is_src ? RS_PART_SEND : RS_PART_RECV,
                                 is_src ? send : recv, is_src ? sent : received);
        model.parts.peer[part] = is_src ? dst : src;
    }
    return op;
}

/* Three collectives of two ranks. Rank 1 computes 3 ms longer before the second; of these, 1 ms are hidden: rank 0 computes
 * 2 ms longer before the third. */
static void test_collectives(void **state)
{
    (void)state;
    make_job(1, 2, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 2);
    int64_t first[] = {0, 0}, second[] = {6 * MS, 9 * MS}, third[] = {17 * MS, 15 * MS};
    add_coll(world, "AllReduce", 1 << 20, first, 1 * MS);
    add_coll(world, "AllReduce", 1 << 20, second, 1 * MS);
    add_coll(world, "AllGather", 1 << 20, third, 2 * MS);
    make_graph();
    assert_null(graph.refused);
    assert_int_equal(graph.nnodes, 6);
    assert_int_equal(replay.cycles, 0);
    assert_int_equal(rs_graph_makespan(&graph), 19 * MS);
    const struct rs_node *x = &graph.nodes[node(1, 1)], *y = &graph.nodes[node(0, 1)];
    assert_int_equal(x->gap, 8 * MS);
    assert_int_equal(y->gap, 5 * MS);
    assert_int_equal(x->tail, 1 * MS);
    assert_int_equal(y->tail, 1 * MS);
    assert_true(x->whole && x->synchronous && x->end_known);
    assert_int_equal(x->pred, node(1, 0));
    assert_int_equal(x->signature, y->signature);
    assert_int_not_equal(x->signature, graph.nodes[node(1, 0)].signature); /* the first has no predecessor */
    assert_int_not_equal(x->signature, graph.nodes[node(1, 2)].signature);
    take[node(1, 1)] = 3 * MS;
    assert_int_equal(saved(), 3 * MS);
    assert_int_equal(replay.starts[node(1, 1)], 6 * MS);
    assert_int_equal(replay.ends[node(0, 1)], 7 * MS);
    take[node(1, 1)] = 5 * MS; /* then rank 0 is the last */
    assert_int_equal(saved(), 3 * MS);
    take[node(1, 1)] = 100 * MS; /* no gap becomes negative */
    assert_int_equal(saved(), 3 * MS);
    assert_int_equal(replay.starts[node(1, 1)], 1 * MS);
    take[node(1, 1)] = 0;
    take[node(0, 2)] = 5 * MS; /* rank 1 is 2 ms earlier there */
    assert_int_equal(saved(), 2 * MS);
    cut[node(0, 2)] = cut[node(1, 2)] = MS;
    assert_int_equal(saved(), 3 * MS);
}

/* An eager send is over when its receive begins: the sender goes on, and does not gain if the receiver comes earlier. A
 * receive waits for its send; a send that ended behind its receiver's start waited for it. */
static void test_sends(void **state)
{
    (void)state;
    make_job(1, 2, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 2);
    uint32_t eager = add_pair(world, 0, 1, 0, 1 * MS, 5 * MS, 6 * MS);
    uint32_t late = add_pair(world, 0, 1, 10 * MS, 12 * MS, 7 * MS, 13 * MS); /* the receiver waits */
    uint32_t waits = add_pair(world, 1, 0, 14 * MS, 21 * MS, 20 * MS, 22 * MS); /* the sender waits */
    make_graph();
    assert_int_equal(replay.cycles, 0);
    const struct rs_node *send = &graph.nodes[node(0, eager)], *recv = &graph.nodes[node(1, eager)];
    assert_false(send->synchronous);
    assert_int_equal(send->tail, 1 * MS);
    assert_true(recv->synchronous);
    assert_int_equal(recv->tail, 1 * MS);
    assert_int_not_equal(send->signature, recv->signature);
    assert_int_equal(graph.nodes[node(1, late)].tail, 3 * MS); /* since 10 */
    assert_int_equal(graph.nodes[node(0, late)].tail, 2 * MS);
    assert_int_equal(graph.nodes[node(1, waits)].tail, 1 * MS); /* since 20 */
    assert_int_equal(graph.nodes[node(0, waits)].gap, 8 * MS);
    take[node(1, eager)] = 4 * MS;
    assert_int_equal(saved(), 0);
    assert_int_equal(replay.ends[node(1, eager)], 2 * MS);
    assert_int_equal(replay.starts[node(1, late)], 3 * MS);
    assert_int_equal(replay.ends[node(1, late)], 13 * MS);
    take[node(1, eager)] = 5 * MS; /* the receiver is there first, and its data comes with the sender */
    saved();
    assert_int_equal(replay.ends[node(1, eager)], 1 * MS);
    take[node(0, late)] = 4 * MS; /* of the 9 ms in which the sender computed */
    assert_int_equal(saved(), 4 * MS);
    assert_int_equal(replay.ends[node(1, waits)], 17 * MS);
}

/* Two eager sends in opposite directions, each before the receive: operations depend on each other, nodes do not. */
static void test_exchange(void **state)
{
    (void)state;
    make_job(1, 2, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 2);
    uint32_t a = add_pair(world, 0, 1, 0, 1 * MS, 4 * MS, 5 * MS);
    uint32_t b = add_pair(world, 1, 0, 1 * MS, 2 * MS, 4 * MS, 5 * MS);
    make_graph();
    assert_int_equal(replay.cycles, 0);
    assert_int_equal(graph.nodes[node(1, a)].pred, node(1, b));
    assert_int_equal(graph.nodes[node(0, b)].pred, node(0, a));
    take[node(1, a)] = 2 * MS;
    assert_int_equal(saved(), 0);
    take[node(0, b)] = 2 * MS;
    assert_int_equal(saved(), 2 * MS);
}

/* A ring of four: each sends to the next and receives from the one before. Rank 2 is late: 1 and 3 wait, 0 does not. */
static void test_fanout(void **state)
{
    (void)state;
    static const int64_t starts[] = {0, 0, 10 * MS, 0}, ends[] = {2 * MS, 12 * MS, 12 * MS, 11 * MS};
    make_job(1, 4, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 4);
    uint32_t op = new_op(world, RS_OP_FANOUT, "SendRecv", 1 << 20);
    for (int r = 0; r < 4; r++)
        for (int send = 0; send < 2; send++) {
            uint32_t part = add_part(op, member_of(world, r), send ? RS_PART_SEND : RS_PART_RECV, starts[r],
                                     send ? starts[r] + 1 * MS : ends[r]);
            model.parts.peer[part] = (r + (send ? 1 : 3)) % 4;
        }
    int64_t after[] = {20 * MS, 20 * MS, 20 * MS, 20 * MS};
    uint32_t end = add_coll(world, "AllReduce", 1 << 20, after, 1 * MS);
    make_graph();
    assert_int_equal(graph.nnodes, 8);
    const struct rs_node *x[4];
    for (uint32_t r = 0; r < 4; r++) x[r] = &graph.nodes[node(r, op)];
    assert_int_equal(x[0]->nneeds, 2);
    assert_int_equal(x[0]->tail, 2 * MS); /* since 0: rank 2 is no peer */
    assert_int_equal(x[1]->tail, 2 * MS); /* since 10 */
    assert_int_equal(x[3]->tail, 1 * MS);
    assert_false(x[0]->whole);
    take[node(2, op)] = 4 * MS;
    for (uint32_t r = 1; r < 4; r++) take[node(r, end)] = 2 * MS;
    take[node(0, end)] = 12 * MS;
    assert_int_equal(saved(), 6 * MS);
    assert_int_equal(replay.ends[node(0, op)], 2 * MS);
    assert_int_equal(replay.ends[node(1, op)], 8 * MS);
    assert_int_equal(replay.ends[node(3, op)], 7 * MS);
}

/* An all-to-all in which everybody waits for everybody keeps no lists. */
static void test_alltoall(void **state)
{
    (void)state;
    make_job(1, 4, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 4);
    uint32_t op = new_op(world, RS_OP_FANOUT, "AlltoAll", 1 << 20);
    for (int r = 0; r < 4; r++)
        for (int k = 0; k < 8; k++) {
            uint32_t part = add_part(op, member_of(world, r), k % 2 ? RS_PART_SEND : RS_PART_RECV, r * MS, 5 * MS);
            model.parts.peer[part] = k / 2;
            if (k / 2 == r) {
                model.parts.flags[part] |= RS_PART_SELF;
                model.parts.start[part] = model.parts.end[part] = RS_TIME_NONE;
            }
        }
    make_graph();
    assert_int_equal(graph.nnodes, 4);
    assert_int_equal(graph.nneeds, 0);
    for (uint32_t r = 0; r < 4; r++) {
        assert_true(graph.nodes[node(r, op)].whole);
        assert_int_equal(graph.nodes[node(r, op)].tail, 2 * MS);
    }
}

/* Two streams of two ranks: a long operation on the one, two short ones on the other meanwhile. */
static void test_streams(void **state)
{
    (void)state;
    make_job(1, 2, 1 * US);
    uint32_t one = make_comm(1, 0, 1, 2), other = make_comm(2, 0, 1, 2);
    int64_t a[] = {0, 0}, b[] = {1 * MS, 1 * MS}, c[] = {4 * MS, 5 * MS}, d[] = {12 * MS, 12 * MS};
    uint32_t slow = add_coll(one, "AllReduce", 1 << 24, a, 10 * MS);
    uint32_t quick = add_coll(other, "AllGather", 1 << 10, b, 1 * MS);
    uint32_t next = add_coll(other, "AllGather", 1 << 10, c, 1 * MS);
    uint32_t last = add_coll(other, "AllGather", 1 << 10, d, 1 * MS);
    make_graph();
    assert_int_equal(graph.nodes[node(0, quick)].pred, RS_NONE); /* nothing had ended */
    assert_int_equal(graph.nodes[node(0, next)].pred, node(0, quick));
    assert_int_equal(graph.nodes[node(1, next)].gap, 3 * MS);
    assert_int_equal(graph.nodes[node(0, last)].pred, node(0, slow));
    take[node(1, next)] = 2 * MS;
    assert_int_equal(saved(), 0); /* hidden behind the long one */
    assert_int_equal(replay.starts[node(1, next)], 3 * MS);
    cut[node(0, slow)] = cut[node(1, slow)] = 3 * MS;
    assert_int_equal(saved(), 3 * MS);
}

/* Operations that begin within the resolution of the clock before the one before ended follow it. */
static void test_resolution(void **state)
{
    (void)state;
    make_job(1, 2, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 2);
    int64_t a[] = {0, 0}, b[] = {1 * MS - 1 * US, 1 * MS - 1 * US}, c[] = {2 * MS, 1 * MS + 900 * US};
    add_coll(world, "AllReduce", 4, a, 1 * MS);
    uint32_t near = add_coll(world, "AllReduce", 4, b, 1 * MS + 1 * US), over = add_coll(world, "AllReduce", 4, c, MS);
    make_graph();
    assert_int_equal(graph.nodes[node(0, near)].gap, -1 * US);
    assert_int_equal(graph.nodes[node(0, over)].pred, node(0, near));
    assert_int_equal(graph.nodes[node(1, over)].pred, node(1, near - 1)); /* 100 us are no resolution */
    take[node(0, near)] = 1 * MS; /* nothing to take */
    assert_int_equal(saved(), 0);
}

/* A pipeline of two stages and four micro-batches of 2 and 3 ms: the first stage is hidden but for its first micro-batch, the
 * second determines the time. */
static void test_pipeline(void **state)
{
    (void)state;
    make_job(1, 2, 1 * US);
    uint32_t pp = make_comm(1, 0, 1, 2);
    uint32_t sends[4], all[2];
    int64_t done = 0, ready = 0, both[] = {0, 0};
    all[0] = add_coll(pp, "AllReduce", 4, both, 0);
    for (int i = 0; i < 4; i++) { /* sends take 1 ms, and wait for their receive */
        int64_t send = done + 2 * MS, at = send > ready ? send : ready;
        sends[i] = add_pair(pp, 0, 1, send, at + 1 * MS, ready, at + 1 * MS);
        done = at + 1 * MS;
        ready = done + 3 * MS; /* the second stage receives again when it has computed */
    }
    both[0] = done;
    both[1] = ready;
    all[1] = add_coll(pp, "AllReduce", 4, both, 1 * MS);
    make_graph();
    assert_int_equal(replay.cycles, 0);
    assert_int_equal(rs_graph_makespan(&graph), (2 + 4 * (1 + 3) + 1) * MS);
    for (int i = 1; i < 4; i++) take[node(0, sends[i])] = 1 * MS;
    assert_int_equal(saved(), 0);
    take[node(0, sends[0])] = 1 * MS; /* fills the pipeline earlier */
    assert_int_equal(saved(), 1 * MS);
    memset(take, 0, sizeof take);
    take[node(1, sends[1])] = take[node(1, sends[2])] = take[node(1, sends[3])] = take[node(1, all[1])] = 1 * MS;
    assert_int_equal(saved(), 4 * MS);
    take[node(1, sends[1])] = take[node(1, sends[2])] = take[node(1, sends[3])] = 3 * MS;
    assert_int_equal(saved(), 4 * MS); /* the first stage takes 3 ms for each */
}

/* Ends before starts, by wrong clocks: each operation precedes the other on one of the ranks. */
static void test_cycle(void **state)
{
    (void)state;
    make_job(1, 2, 1 * US);
    uint32_t one = make_comm(1, 0, 1, 2), other = make_comm(2, 0, 1, 2);
    uint32_t a = new_op(one, RS_OP_COLL, "AllReduce", 4);
    add_part(a, 0, RS_PART_COLL, 0, 10 * MS);
    add_part(a, 1, RS_PART_COLL, 9 * MS, 10 * MS);
    uint32_t b = new_op(other, RS_OP_COLL, "AllReduce", 4);
    add_part(b, 2, RS_PART_COLL, 10 * MS + 1, 12 * MS);
    add_part(b, 3, RS_PART_COLL, 0, 9 * MS); /* before rank 0 began: impossible */
    model.domains[gpus[1]].error_ns = model.domains[gpus[0]].error_ns = 2 * MS;
    make_graph();
    assert_int_equal(replay.cycles, 1);
    assert_int_equal(replay.norder, 2 * graph.nnodes + graph.nops);
}

/* The end of a rank is unknown: that of the other, if its next operation allows it. */
static void test_unknown_ends(void **state)
{
    (void)state;
    make_job(1, 2, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 2);
    int64_t a[] = {0, 1 * MS}, b[] = {5 * MS, 5 * MS}, c[] = {8 * MS, 8 * MS};
    add_coll(world, "AllReduce", 4, a, 1 * MS);
    add_coll(world, "AllReduce", 4, b, 1 * MS);
    add_coll(world, "AllReduce", 4, c, 1 * MS);
    model.parts.end[0] = RS_TIME_NONE;
    model.parts.after[0] = 0;
    model.parts.before[0] = 5 * MS;
    model.parts.end[2] = RS_TIME_NONE;
    model.parts.after[2] = 5 * MS;
    model.parts.before[2] = 5 * MS + 500 * US;
    make_graph();
    assert_null(graph.refused);
    assert_int_equal(graph.unknown_ends, 2);
    assert_int_equal(graph.nodes[node(0, 0)].end, 2 * MS);
    assert_int_equal(graph.nodes[node(0, 1)].end, 5 * MS + 500 * US);
    assert_false(graph.nodes[node(0, 1)].end_known);
}

/* Positions within a step, on ranks whose steps end at different times. */
static void test_positions(void **state)
{
    (void)state;
    make_job(1, 4, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 4), pair = make_comm(2, 2, 1, 2);
    int64_t t = 0;
    struct rs_step rows[12];
    for (int s = 0; s < 12; s++) {
        rows[s] = (struct rs_step){.from = t, .to = t + 20 * MS};
        for (int i = 0; i < 3; i++) {
            int64_t at[] = {t + (2 + i) * MS, t + (2 + i) * MS, t + (2 + i) * MS, t + (2 + i) * MS};
            add_coll(world, "AllReduce", 1 << 20, at, 500 * US);
        }
        /* the last of a step, on two ranks: sometimes after the end that the others have */
        int64_t end = t + 20 * MS + (s % 3 == 1 ? 500 * US : -500 * US), at[] = {end, end};
        add_coll(pair, "ReduceScatter", 1 << 10, at, 100 * US);
        t += 20 * MS;
    }
    const struct rs_steps steps = {.rows = rows, .n = 12};
    look(&view);
    rs_graph_init(&graph, &view, &steps, NULL);
    for (uint32_t i = 0; i < graph.nnodes; i++) {
        const struct rs_node *x = &graph.nodes[i];
        uint32_t op = graph.ops[x->op].op;
        assert_int_equal(x->step, op / 4);
        if (op % 4 == 3) assert_int_equal(x->position, 0);
        if (x->rank_id >= 2 && op % 4 == 2) assert_int_equal(x->position, 1);
        if (x->rank_id >= 2 && op % 4 == 1) assert_int_equal(x->position, 0);
        if (x->rank_id >= 2 && op % 4 == 0 && op) assert_int_equal(x->ordinal, op / 4 - 1);
    }
}

/* On rank 0 an operation of an earlier step begins after one of the next step: other ranks began it late, or it in no
 * step at all. Still each place (step, signature, position) occurs once on a rank. */
static void test_steps_in_order(void **state)
{
    (void)state;
    enum { STEPS = 6 };
    make_job(1, 2, 1 * US);
    uint32_t a = make_comm(1, 0, 1, 2), b = make_comm(2, 0, 1, 2);
    struct rs_step rows[STEPS] = {0};
    for (int i = 0; i < STEPS; i++) {
        int64_t t = i * 10 * MS;
        rows[i] = (struct rs_step){.from = t, .to = t + 10 * MS, .begin = t, .end = t + 10 * MS, .mark = RS_NONE};
        /* By its latest start the second is of the next step; rank 0 begins it before the third, which is of this one. */
        add_coll(a, "AllReduce", 8, (const int64_t[]){t + 1 * MS, t + 1 * MS}, 1 * MS);
        add_coll(b, "AllReduce", 8, (const int64_t[]){t + 3 * MS, t + 12 * MS}, 1 * MS);
        add_coll(a, "AllReduce", 8, (const int64_t[]){t + 5 * MS, t + 5 * MS}, 1 * MS);
    }
    const struct rs_steps steps = {.rows = rows, .n = STEPS};
    look(&view);
    rs_graph_init(&graph, &view, &steps, NULL);
    for (uint32_t i = 0; i < graph.nnodes; i++)
        for (uint32_t k = 0; k < i; k++) {
            const struct rs_node *x = &graph.nodes[i], *y = &graph.nodes[k];
            bool same = x->rank_id == y->rank_id && x->signature == y->signature && x->position == y->position;
            if (same && x->step != RS_NONE && x->step == y->step)
                fail_msg("rank %u: step %u, signature %u, position %u twice", x->rank_id, x->step, x->signature,
                         x->position);
        }
}

/* One in twenty parts lost: refused. Not recorded of some ranks: refused, too. Not measured at all: no loss. */
static void test_losses(void **state)
{
    (void)state;
    enum { NOT_MEASURED, NOT_RECORDED, LOST };
    for (int what = NOT_MEASURED; what <= LOST; what++) {
        make_job(1, 2, 1 * US);
        uint32_t world = make_comm(1, 0, 1, 2);
        for (int i = 0; i < 20; i++) {
            int64_t none = i % 10 == 5 ? RS_TIME_NONE : i * MS, at[] = {what == NOT_MEASURED ? none : i * MS, none};
            add_coll(world, "AllReduce", 4, at, 100 * US);
        }
        model.procs[procs[1]].lost = what == LOST ? 2 : 0;
        look(&view);
        rs_graph_init(&graph, &view, NULL, NULL);
        assert_int_equal(graph.lost, what == LOST ? 2 : 0);
        assert_int_equal(graph.absent, what == NOT_MEASURED ? 0 : 2);
        assert_int_equal(graph.nnodes, what == NOT_MEASURED ? 36 : 40);
        if (what == NOT_MEASURED)
            assert_null(graph.refused);
        else if (what == LOST)
            assert_string_equal(graph.refused, "the records of 2 of 40 parts of operations (5 %) were lost");
        else
            assert_int_equal(strncmp(graph.refused, "5 % of the parts of operations were not recorded", 48), 0);
        forget(NULL);
    }
}

/* Three ranks compute 1 ms before the second bucket and 1 ms before the third, while the buckets are reduced (0.8 ms each), on
 * one stream; 3 ms after the last of them the next step begins. Rank 2 begins 5 ms late in each step. */
static void test_hidden_compute(void **state)
{
    (void)state;
    enum { STEPS = 12 };
    make_job(1, 3, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 3);
    static struct rs_step rows[STEPS];
    int64_t t = 0;
    for (int s = 0; s < STEPS; s++) {
        int64_t end = t, starts[3], noise = s % 3 * 10 * US;
        rows[s].from = t;
        for (int b = 0; b < 3; b++) { /* computed at 3, 4 and 5 ms */
            int64_t last = 0;
            for (int r = 0; r < 3; r++) {
                int64_t computed = t + (3 + b) * MS + b * noise + (r == 2 ? 5 * MS : 0);
                starts[r] = b && computed < end ? end : computed;
                if (starts[r] > last) last = starts[r];
            }
            add_coll(world, b ? "ReduceScatter" : "AllReduce", (uint64_t)1 << (20 + b), starts, 800 * US);
            end = last + 800 * US;
        }
        t = end;
        rows[s].to = t;
    }
    const struct rs_steps steps = {.rows = rows, .n = STEPS};
    look(&view);
    rs_graph_init(&graph, &view, &steps, NULL);
    rs_replay_init(&replay, &graph);
    assert_int_equal(rs_replay_run(&replay, &graph, NULL, NULL), rs_graph_makespan(&graph));
    for (uint32_t s = 0; s < STEPS; s++) {
        for (uint32_t b = 1; b < 3; b++)
            for (uint32_t r = 0; r < 3; r++) { /* all compute as long, although the others start right at the end */
                const struct rs_node *x = &graph.nodes[node(r, 3 * s + b)];
                assert_int_equal(x->head, node(r, 3 * s));
                assert_in_range(x->gap, b * 1 * MS, b * 1 * MS + 40 * US);
            }
        assert_int_equal(graph.nodes[node(2, 3 * s)].head, RS_NONE);
        take[node(2, 3 * s)] = 5 * MS;
    }
    assert_in_range(saved(), STEPS * 5 * MS - 500 * US, STEPS * 5 * MS + 500 * US);
    for (uint32_t s = 1; s < STEPS; s++) /* what was hidden is seen */
        assert_in_range(replay.starts[node(0, 3 * s + 1)] - replay.starts[node(0, 3 * s)], 1 * MS, 1 * MS + 40 * US);
}

/* Two streams: on the one an operation after 4 ms of compute each time, on the other operations of any length meanwhile. */
static void test_other_stream(void **state)
{
    (void)state;
    enum { N = 12 };
    make_job(1, 2, 1 * US);
    uint32_t main = make_comm(1, 0, 1, 2), side = make_comm(2, 0, 1, 2);
    int64_t t = 0;
    for (int i = 0; i < N; i++) {
        int64_t first[] = {t, t}, beside[] = {t + 1 * MS, t + 1 * MS};
        add_coll(main, "AllReduce", 4, first, 1 * MS);
        add_coll(side, "ReduceScatter", 1 << 20, beside, 1 * MS + i * 7 % 5 * 300 * US);
        t += 5 * MS;
    }
    make_graph();
    for (uint32_t i = 1; i < N; i++) {
        assert_int_equal(graph.nodes[node(0, 2 * i)].pred, node(0, 2 * i - 2));
        assert_int_equal(graph.nodes[node(0, 2 * i)].gap, 4 * MS);
        assert_int_equal(graph.nodes[node(0, 2 * i - 1)].pred, node(0, 2 * i - 2));
    }
}

/* Nothing is known of rank 1 in the second and third of four operations. All-gathers usually take 1 ms; the second took as
 * long, the third waited for rank 1 until 24. */
static void test_absent(void **state)
{
    (void)state;
    make_job(1, 3, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 3);
    int64_t a[] = {0, 0, 0}, b[] = {2 * MS, RS_TIME_NONE, 9 * MS}, c[] = {12 * MS, RS_TIME_NONE, 12 * MS};
    int64_t d[] = {27 * MS, 27 * MS, 27 * MS};
    add_coll(world, "AllGather", 4, a, 1 * MS);
    uint32_t second = add_coll(world, "AllGather", 4, b, 1 * MS), third = add_coll(world, "AllGather", 4, c, 13 * MS);
    uint32_t fourth = add_coll(world, "AllGather", 4, d, 1 * MS);
    make_graph();
    const struct rs_node *x = &graph.nodes[node(1, second)], *y = &graph.nodes[node(1, third)];
    assert_false(x->recorded);
    assert_int_equal(x->start, 1 * MS); /* or later */
    assert_int_equal(x->end, 10 * MS);
    assert_int_equal(y->start, 24 * MS);
    assert_int_equal(y->gap, 14 * MS);
    assert_int_equal(graph.nodes[node(0, third)].tail, 1 * MS);
    assert_int_equal(graph.nodes[node(1, fourth)].pred, node(1, third));
    take[node(2, second)] = 5 * MS;
    assert_int_equal(saved(), 5 * MS);
    take[node(0, third)] = take[node(2, third)] = 1 * MS;
    assert_int_equal(saved(), 5 * MS);
}

/* Two ranks, steps of three all-reduces of 1 ms. GPU 1 computes 7 ms before the first of each step (GPU 0: 1 ms) and both 1 ms before
 * the others. Both programs wait for the end of a step, and then take 2 ms to each launch: while rank 0 waits for rank 1, its
 * program is ahead. Without the 6 ms of rank 1, a step would still take 2 + 2 + 2 ms to launch, and 1 ms for the last all-reduce. */
static void test_launches(void **state)
{
    (void)state;
    enum { STEPS = 12, STEP = 12 };
    make_job(1, 2, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 2), ops[3 * STEPS];
    static const char *const funcs[] = {"AllReduce", "AllGather", "ReduceScatter"};
    for (int i = 0; i < STEPS; i++)
        for (int k = 0; k < 3; k++) {
            int64_t from = i * STEP * MS, start = from + (7 + 2 * k) * MS;
            int64_t starts[] = {k ? start : from + 2 * MS + 5 * US, start};
            uint32_t op = ops[3 * i + k] = add_coll(world, funcs[k], 1 << 20, starts, 1 * MS);
            for (uint32_t r = 0; r < 2; r++)
                model.parts.launched[model.order[model.ops.part[op] + r]] = from + 2 * (k + 1) * MS;
        }
    make_graph_with_launches();
    const struct rs_node *x = &graph.nodes[node(0, ops[4])], *first = &graph.nodes[node(0, ops[3])];
    assert_int_equal(x->launch, 16 * MS);
    assert_int_equal(x->called_after, node(0, ops[3]));
    assert_int_equal(x->host, 2 * MS);
    assert_int_equal(x->awaited, RS_NONE); /* nothing ended since 14 */
    assert_int_equal(first->awaited, node(0, ops[2])); /* which ended at 12 */
    assert_int_equal(first->resumed, 2 * MS);
    assert_int_equal(first->latency, 5 * US);
    assert_int_equal(graph.nodes[node(1, ops[3])].latency, 10 * US); /* it started 5 ms after its launch */
    assert_int_equal(graph.nodes[node(1, ops[3])].host_late, 0); /* its GPU is late, not its program */
    for (int i = 0; i < STEPS; i++) take[node(1, ops[3 * i])] = 6 * MS;
    assert_int_equal(saved(), STEPS * 5 * MS - STEPS * 10 * US);
    assert_int_equal(replay.starts[node(0, ops[2])], 6 * MS + 10 * US);
    assert_int_equal(replay.launches[node(0, ops[3])], 9 * MS + 10 * US);
    assert_int_equal(replay.launches[node(1, ops[3])], 9 * MS + 10 * US);
}

/* The same all-reduces without a late rank; in the last step the programs wait for the end of the first one (at 8 ms) before they
 * launch the second, at 10 ms instead of 4. They waited for it, and would take their 2 ms after the launch before in any case. */
static void test_waiting_program(void **state)
{
    (void)state;
    enum { STEPS = 12, STEP = 20 };
    make_job(1, 2, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 2), ops[3 * STEPS];
    static const char *const funcs[] = {"AllReduce", "AllGather", "ReduceScatter"};
    for (int i = 0; i < STEPS; i++)
        for (int k = 0; k < 3; k++) {
            int64_t from = i * STEP * MS, late = i == STEPS - 1 && k ? 6 * MS : 0;
            int64_t starts[] = {from + (7 + 2 * k) * MS + late, from + (7 + 2 * k) * MS + late};
            uint32_t op = ops[3 * i + k] = add_coll(world, funcs[k], 1 << 20, starts, 1 * MS);
            for (uint32_t r = 0; r < 2; r++)
                model.parts.launched[model.order[model.ops.part[op] + r]] = from + 2 * (k + 1) * MS + late;
        }
    make_graph_with_launches();
    const struct rs_node *x = &graph.nodes[node(0, ops[3 * STEPS - 2])];
    assert_int_equal(x->awaited, node(0, ops[3 * STEPS - 3]));
    assert_int_equal(x->resumed, 2 * MS);
    assert_int_equal(x->host, 2 * MS);
}

/* The program of rank 1 launches 6 ms late in each step: what is taken out of its gaps is taken out of its launches. */
static void test_late_program(void **state)
{
    (void)state;
    make_job(1, 2, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 2), ops[12];
    for (int i = 0; i < 12; i++) {
        int64_t starts[] = {i * 10 * MS + 2 * MS, i * 10 * MS + 8 * MS};
        ops[i] = add_coll(world, "AllReduce", 1 << 20, starts, 2 * MS);
    }
    make_graph_with_launches();
    assert_int_equal(graph.nodes[node(1, ops[1])].host_late, 6 * MS);
    for (int i = 0; i < 12; i++) take[node(1, ops[i])] = 3 * MS;
    assert_int_equal(saved(), 36 * MS);
    for (int i = 0; i < 12; i++) take[node(1, ops[i])] = 9 * MS;
    assert_int_equal(saved(), 72 * MS);
}

/* A receive that ended before its send began, by the clocks: it did not wait for it. */
static void test_before_its_send(void **state)
{
    (void)state;
    make_job(1, 2, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 2);
    uint32_t pair = add_pair(world, 0, 1, 2 * MS, 3 * MS, 0, 1 * MS);
    make_graph();
    const struct rs_node *x = &graph.nodes[node(1, pair)];
    assert_int_equal(x->nneeds, 0);
    assert_int_equal(x->tail, 1 * MS);
    assert_false(x->synchronous);
}

/* All-gathers end 1 ms after the last start, some 1.5 ms: 2.5 ms is not yet so long that an absent rank must have been last. */
static void test_absent_in_time(void **state)
{
    (void)state;
    make_job(1, 3, 1 * US);
    uint32_t world = make_comm(1, 0, 1, 3), absent;
    for (int i = 0; i < 10; i++) {
        int64_t at = 10 * i * MS, starts[] = {at, at, at};
        add_coll(world, "AllGather", 4, starts, i < 8 ? MS : 1500 * US);
    }
    int64_t starts[] = {100 * MS, RS_TIME_NONE, 100 * MS};
    absent = add_coll(world, "AllGather", 4, starts, 2500 * US);
    make_graph();
    assert_int_equal(graph.ops[graph.nodes[node(0, absent)].op].waited, false);
    assert_int_equal(graph.nodes[node(0, absent)].tail, 2500 * US);
    assert_int_equal(graph.nodes[node(1, absent)].start, 91500 * US); /* or later */
}

static void test_nothing(void **state)
{
    (void)state;
    make_job(1, 2, 1 * US);
    make_graph();
    assert_string_equal(graph.refused, "no operation has a known start");
    assert_int_equal(rs_replay_run(&replay, &graph, NULL, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_collectives, forget),
        cmocka_unit_test_teardown(test_sends, forget),
        cmocka_unit_test_teardown(test_exchange, forget),
        cmocka_unit_test_teardown(test_fanout, forget),
        cmocka_unit_test_teardown(test_alltoall, forget),
        cmocka_unit_test_teardown(test_streams, forget),
        cmocka_unit_test_teardown(test_resolution, forget),
        cmocka_unit_test_teardown(test_pipeline, forget),
        cmocka_unit_test_teardown(test_cycle, forget),
        cmocka_unit_test_teardown(test_unknown_ends, forget),
        cmocka_unit_test_teardown(test_positions, forget),
        cmocka_unit_test_teardown(test_steps_in_order, forget),
        cmocka_unit_test(test_losses),
        cmocka_unit_test_teardown(test_absent, forget),
        cmocka_unit_test_teardown(test_hidden_compute, forget),
        cmocka_unit_test_teardown(test_other_stream, forget),
        cmocka_unit_test_teardown(test_before_its_send, forget),
        cmocka_unit_test_teardown(test_absent_in_time, forget),
        cmocka_unit_test_teardown(test_launches, forget),
        cmocka_unit_test_teardown(test_waiting_program, forget),
        cmocka_unit_test_teardown(test_late_program, forget),
        cmocka_unit_test_teardown(test_nothing, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
