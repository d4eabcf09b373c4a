/* Layouts of jobs that were made by hand, so that the division of their ranks is known. */
#include "joined.h"

#include "base/memory.h"
#include "conclude/layout.h"
#include "join/classes.h"

static struct rs_view view;
static struct rs_steps steps;
static struct rs_job_layout layout;
static int64_t now;

static int forget(void **state)
{
    (void)state;
    rs_job_layout_free(&layout);
    free(steps.rows);
    steps = (struct rs_steps){0};
    rs_view_free(&view);
    rs_model_free(&model);
    now = 0;
    return 0;
}

static void coll(uint32_t comm, const char *func, uint64_t bytes)
{
    int64_t starts[MOST_RANKS];
    for (int i = 0; i < model.comms[comm].nranks; i++) starts[i] = now;
    now += 10 * US;
    add_coll(comm, func, bytes, starts, 5 * US);
}

static uint32_t member_of(uint32_t comm, int32_t rank)
{
    uint32_t x = model.comms[comm].first_member;
    while (model.members[x].rank != rank) x = model.members[x].next;
    return x;
}

static uint32_t pair(uint32_t comm, int32_t src, int32_t dst)
{
    uint32_t op = new_op(comm, RS_OP_PAIR, "Send", 4096);
    model.ops.root[op] = src;
    model.ops.dst[op] = dst;
    uint32_t send = add_part(op, member_of(comm, src), RS_PART_SEND, now, now + 5 * US);
    uint32_t receive = add_part(op, member_of(comm, dst), RS_PART_RECV, now, now + 5 * US);
    model.parts.peer[send] = dst;
    model.parts.peer[receive] = src;
    now += 10 * US;
    return op;
}

/* Groups of `n` ranks with a stride, for all ranks of the job. */
static uint32_t comms[8][MOST_RANKS], ncomms[8];

static void make_groups(int kind, int n, int stride, const char *name)
{
    static char names[8][MOST_RANKS][48];
    ncomms[kind] = 0;
    for (int first = 0; first < model.world; first++) {
        if (first / stride % n) continue;
        uint32_t i = ncomms[kind]++;
        comms[kind][i] = make_comm((uint64_t)kind * 1000 + (uint64_t)first + 1, first, stride, n);
        snprintf(names[kind][i], sizeof *names[kind], "%s:%d", name ? name : "undefined", kind * 100 + first);
        model.comms[comms[kind][i]].name = names[kind][i];
    }
}

static void on_groups(int kind, const char *func, uint64_t bytes, int times)
{
    for (int k = 0; k < times; k++)
        for (uint32_t i = 0; i < ncomms[kind]; i++) coll(comms[kind][i], func, bytes);
}

static void run(uint32_t n, void (*make)(uint32_t step))
{
    steps.rows = rs_zalloc(n + 1, sizeof *steps.rows);
    steps.n = n;
    for (uint32_t i = 0; i < n; i++) {
        struct rs_step *s = &steps.rows[i];
        s->from = s->begin = now;
        make(i);
        now += 100 * US;
        s->to = s->end = now;
        s->mark = RS_NONE;
        s->unit = i;
    }
}

static void expect(uint32_t tp, uint32_t pp, uint32_t dp, uint32_t ep, uint32_t cp)
{
    rs_classes_find(&model);
    look(&view);
    rs_job_layout_find(&layout, &view, &steps);
    assert_int_equal(layout.size[RS_DIM_TP], tp);
    assert_int_equal(layout.size[RS_DIM_PP], pp);
    assert_int_equal(layout.size[RS_DIM_DP], dp);
    assert_int_equal(layout.size[RS_DIM_EP], ep);
    assert_int_equal(layout.size[RS_DIM_CP], cp);
}

static const char *dimension_of(int kind)
{
    return rs_dimension_name(rs_job_layout_dimension(&layout, &model, comms[kind][0]));
}

/* A pipeline of the groups of a kind: forward, then backward, `batches` times. */
static void pipeline(int kind, int batches)
{
    int32_t n = model.comms[comms[kind][0]].nranks;
    for (int b = 0; b < batches; b++)
        for (uint32_t i = 0; i < ncomms[kind]; i++) {
            for (int32_t s = 0; s + 1 < n; s++) pair(comms[kind][i], s, s + 1);
            for (int32_t s = n - 1; s > 0; s--) pair(comms[kind][i], s, s - 1);
        }
}

/* ---- tensor x pipeline x data ---- */

static void three(uint32_t step)
{
    (void)step;
    pipeline(1, 4);
    on_groups(0, "AllReduce", 1 << 16, 8);
    on_groups(2, "AllReduce", 1 << 20, 2);
}

static void test_three(void **state)
{
    (void)state;
    make_job(2, 8, 0);
    make_groups(0, 2, 1, NULL);
    make_groups(1, 4, 2, NULL);
    make_groups(2, 2, 8, NULL);
    run(10, three);
    expect(2, 4, 2, 0, 0);
    assert_string_equal(layout.text,
                        "16 ranks = tp 2 × pp 4 × dp 2 (tp: consecutive ranks; pp: stride 2; dp: stride 8), "
                        "from operations");
    assert_string_equal(dimension_of(0), "tp");
    assert_string_equal(dimension_of(1), "pp");
    assert_string_equal(dimension_of(2), "dp");
    for (uint32_t i = 0; i < model.nranks; i++)
        assert_int_equal(rs_job_layout_stage(&layout, i), model.ranks[i].number / 2 % 4);
}

/* The same with Megatron's names, which say that the inner groups are of data: names decide. */
static void test_names(void **state)
{
    (void)state;
    make_job(2, 8, 0);
    make_groups(0, 2, 1, "DATA_PARALLEL_GROUP_WITH_CP");
    make_groups(1, 4, 2, "PIPELINE_MODEL_PARALLEL_GROUP");
    make_groups(2, 2, 8, "TENSOR_MODEL_PARALLEL_GROUP");
    make_groups(3, 16, 1, "default_pg");
    make_groups(4, 4, 4, "EXPERT_MODEL_PARALLEL_GROUP");
    make_groups(5, 2, 2, "EMBEDDING_GROUP");
    make_groups(6, 4, 1, "TENSOR_AND_DATA_PARALLEL_GROUP");
    run(10, three);
    expect(2, 4, 2, 4, 0);
    assert_string_equal(rs_job_layout_how(&layout), "names");
    assert_string_equal(dimension_of(0), "dp");
    assert_string_equal(dimension_of(2), "tp");
    assert_null(dimension_of(3));
    assert_null(dimension_of(5));
    assert_null(dimension_of(6));
    for (uint32_t i = 0; i < model.nranks; i++)
        assert_int_equal(rs_job_layout_stage(&layout, i), model.ranks[i].number / 2 % 4);
}

/* Device meshes: dp is sharded in groups of 2, and replicated 4 times; contexts have their own groups. */
static void test_meshes(void **state)
{
    (void)state;
    make_job(2, 8, 0);
    make_groups(0, 2, 1, "mesh_cp");
    make_groups(1, 2, 2, "mesh_dp_shard");
    make_groups(2, 4, 4, "mesh_dp_replicate");
    make_groups(3, 4, 1, "mesh_dp_shard_cp");
    run(0, NULL);
    expect(0, 0, 8, 0, 2);
    assert_null(dimension_of(3));
}

/* Names that cannot all be of one job's layout. */
static void test_contradiction(void **state)
{
    (void)state;
    make_job(1, 6, 0);
    make_groups(0, 2, 1, "tp");
    make_groups(1, 6, 1, "dp");
    run(0, NULL);
    expect(0, 0, 0, 0, 0);
    assert_null(layout.text);
    assert_null(dimension_of(0));
}

/* ---- pipelines on communicators of other kinds ---- */

/* One communicator of all ranks, four stages of two. */
static void in_world(uint32_t step)
{
    (void)step;
    for (int b = 0; b < 4; b++)
        for (int32_t r = 0; r < 2; r++)
            for (int32_t s = 0; s < 3; s++) {
                pair(comms[0][0], 2 * s + r, 2 * s + 2 + r);
                pair(comms[0][0], 2 * s + 2 + r, 2 * s + r);
            }
    on_groups(0, "AllReduce", 4, 1);
}

static void test_in_world(void **state)
{
    (void)state;
    make_job(1, 8, 0);
    make_groups(0, 8, 1, NULL);
    run(10, in_world);
    expect(0, 4, 0, 0, 0);
    assert_string_equal(layout.text, "8 ranks with pp 4 (pp: stride 2), from operations; a factor of 2 is unknown");
}

/* Interleaved stages: the last one also sends to the first, and back. */
static void interleaved(uint32_t step)
{
    (void)step;
    int32_t n = model.comms[comms[0][0]].nranks;
    for (int chunk = 0; chunk < 2; chunk++) {
        for (int32_t s = 0; s < n; s++) {
            if (s + 1 == n && chunk) break;
            pair(comms[0][0], s, (s + 1) % n);
            pair(comms[0][0], (s + 1) % n, s);
        }
    }
}

static void test_interleaved(void **state)
{
    (void)state;
    make_job(1, 4, 0);
    make_groups(0, 4, 1, NULL);
    run(10, interleaved);
    expect(0, 4, 0, 0, 0);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(rs_job_layout_stage(&layout, i), i);
}

/* Pairs of neighbours have communicators of their own, with the name of the pipeline. */
static void pairs_of_neighbours(uint32_t step)
{
    (void)step;
    for (uint32_t i = 0; i < ncomms[0]; i++) {
        pair(comms[0][i], 0, 1);
        pair(comms[0][i], 1, 0);
    }
}

static void test_pairs_of_neighbours(void **state)
{
    (void)state;
    make_job(1, 4, 0);
    ncomms[0] = 3;
    for (int i = 0; i < 3; i++) {
        comms[0][i] = make_comm(1 + (uint64_t)i, i, 1, 2);
        model.comms[comms[0][i]].name = "pp:1";
    }
    run(10, pairs_of_neighbours);
    expect(0, 4, 0, 0, 0);
    assert_string_equal(dimension_of(0), "pp");
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(rs_job_layout_stage(&layout, i), model.ranks[i].number);
}

/* A ring in one direction may be contexts, or a program's own. */
static void ring(uint32_t step)
{
    (void)step;
    int32_t n = model.comms[comms[0][0]].nranks;
    for (int32_t s = 0; s < n; s++) pair(comms[0][0], s, (s + 1) % n);
}

static void test_ring(void **state)
{
    (void)state;
    make_job(1, 4, 0);
    make_groups(0, 4, 1, NULL);
    run(10, ring);
    expect(0, 0, 0, 0, 0);
}

/* Two ranks that exchange in one call. */
static void exchange(uint32_t step)
{
    (void)step;
    uint32_t a = pair(comms[0][0], 0, 1), b = pair(comms[0][0], 1, 0),
             op = new_op(comms[0][0], RS_OP_FANOUT, "SendRecv", 8192);
    model.ops.fanout[a] = model.ops.fanout[b] = op;
    for (uint32_t i = 0; i < 4; i++) {
        rs_model_order(&model, model.order[model.ops.part[i < 2 ? a : b] + i % 2]);
        model.ops.nparts[op]++;
    }
}

static void test_exchange(void **state)
{
    (void)state;
    make_job(1, 2, 0);
    make_groups(0, 2, 1, NULL);
    run(10, exchange);
    expect(0, 0, 0, 0, 0);
}

/* ---- data ---- */

static void gradients(uint32_t step)
{
    (void)step;
    for (uint64_t i = 1; i <= 4; i++) coll(comms[0][0], "AllReduce", i << 20);
    on_groups(1, "AllReduce", 4, 1);
}

static void test_gradients(void **state)
{
    (void)state;
    make_job(1, 4, 0);
    make_groups(0, 4, 1, "default_pg");
    make_groups(1, 2, 1, "pairs");
    run(10, gradients);
    expect(0, 0, 4, 0, 0);
    assert_string_equal(layout.text, "4 ranks = dp 4, from operations");
    assert_null(dimension_of(1)); /* four bytes are no dimension */
}

/* Buckets of one size may be gradients, or tensors. */
static void buckets(uint32_t step)
{
    (void)step;
    on_groups(0, "AllReduce", 1 << 20, 8);
}

static void test_buckets(void **state)
{
    (void)state;
    make_job(1, 4, 0);
    make_groups(0, 4, 1, NULL);
    run(10, buckets);
    expect(0, 0, 0, 0, 0);
}

/* They are gradients where as many bytes of parameters were broadcast before the first step. */
static void test_broadcast_parameters(void **state)
{
    (void)state;
    make_job(1, 4, 0);
    make_groups(0, 4, 1, NULL);
    coll(comms[0][0], "Broadcast", 8 << 20);
    run(10, buckets);
    expect(0, 0, 4, 0, 0);
}

static void sharded(uint32_t step)
{
    (void)step;
    on_groups(0, "AllGather", 1 << 20, 16);
    on_groups(0, "ReduceScatter", 1 << 20, 8);
    on_groups(0, "AllReduce", 4, 1);
}

static void test_sharded(void **state)
{
    (void)state;
    make_job(1, 4, 0);
    make_groups(0, 4, 1, NULL);
    run(10, sharded);
    expect(0, 0, 4, 0, 0);
}

/* Shards in a node, which are then reduced across nodes. */
static void hybrid(uint32_t step)
{
    sharded(step);
    on_groups(1, "AllReduce", (1 << 20) / 4, 8);
}

static void test_hybrid(void **state)
{
    (void)state;
    make_job(2, 4, 0);
    make_groups(0, 4, 1, NULL);
    make_groups(1, 2, 4, NULL);
    run(10, hybrid);
    expect(0, 0, 8, 0, 0);
    assert_string_equal(dimension_of(0), "dp");
    assert_string_equal(dimension_of(1), "dp");
}

/* Inner groups that gather and scatter may be tensors or contexts. */
static void gathers(uint32_t step)
{
    (void)step;
    on_groups(0, "AllGather", 1 << 16, 12);
    on_groups(0, "ReduceScatter", 1 << 16, 8);
    on_groups(1, "AllReduce", 1 << 20, 2);
}

static void test_gathers(void **state)
{
    (void)state;
    make_job(2, 4, 0);
    make_groups(0, 4, 1, NULL);
    make_groups(1, 2, 4, NULL);
    run(10, gathers);
    expect(0, 0, 0, 0, 0);
}

/* ---- experts ---- */

static void experts(uint32_t step)
{
    gradients(step);
    for (uint64_t i = 0; i < 8; i++) coll(comms[0][0], "AlltoAll", 4096 + 64 * (8 * step + i));
}

static void test_experts(void **state)
{
    (void)state;
    make_job(1, 4, 0);
    make_groups(0, 4, 1, NULL);
    make_groups(1, 2, 1, NULL);
    run(10, experts);
    expect(0, 0, 4, 4, 0);
    assert_string_equal(layout.text, "4 ranks = dp 4, ep 4 inside dp, from operations");
}

/* Sizes that come again in each step are the program's; few that change may be sparse features. */
static void program_sizes(uint32_t step)
{
    gradients(step);
    for (uint64_t i = 0; i < 8; i++) coll(comms[0][0], "AlltoAll", 4096 + 64 * i);
}

static void sparse_features(uint32_t step)
{
    gradients(step);
    for (uint64_t i = 0; i < 3; i++) coll(comms[0][0], "AlltoAll", 4096 + 64 * (8 * step + i));
}

static void test_other_all_to_alls(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        make_job(1, 4, 0);
        make_groups(0, 4, 1, NULL);
        make_groups(1, 2, 1, NULL);
        run(10, i ? program_sizes : sparse_features);
        expect(0, 0, 4, 0, 0);
        forget(NULL);
    }
    make_job(1, 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_three, forget),
        cmocka_unit_test_teardown(test_names, forget),
        cmocka_unit_test_teardown(test_meshes, forget),
        cmocka_unit_test_teardown(test_contradiction, forget),
        cmocka_unit_test_teardown(test_in_world, forget),
        cmocka_unit_test_teardown(test_interleaved, forget),
        cmocka_unit_test_teardown(test_pairs_of_neighbours, forget),
        cmocka_unit_test_teardown(test_ring, forget),
        cmocka_unit_test_teardown(test_exchange, forget),
        cmocka_unit_test_teardown(test_gradients, forget),
        cmocka_unit_test_teardown(test_buckets, forget),
        cmocka_unit_test_teardown(test_broadcast_parameters, forget),
        cmocka_unit_test_teardown(test_sharded, forget),
        cmocka_unit_test_teardown(test_hybrid, forget),
        cmocka_unit_test_teardown(test_gathers, forget),
        cmocka_unit_test_teardown(test_experts, forget),
        cmocka_unit_test_teardown(test_other_all_to_alls, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
