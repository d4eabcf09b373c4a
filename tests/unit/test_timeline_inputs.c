/* Timelines of real and generated inputs of every tool: everything recorded is drawn, once, in order, and hangs
 * together. */
#include <ftw.h>
#include <unistd.h>

#include "bundle/runs.h"
#include "drawn.h"
#include "gen/gen.h"
#include "join/op_facts.h"
#include "join/waits.h"
#include "nccl/abi.h"
#include "timeline/stretch.h"
#include "trace/callbacks.h"

#define BIT(row) (1u << (row))

/* ---- other tools ---- */

static const struct {
    const char *paths[3];
    unsigned rows; /* that must have something */
} inputs[] = {
    {{"tests/data/h200-ddp"},
     BIT(RS_ROW_OPERATIONS) | BIT(RS_ROW_CALLS) | BIT(RS_ROW_LAUNCHES) | BIT(RS_ROW_CHANNELS) | BIT(RS_ROW_STEPS)},
    {{"tests/data/h200-mix"}, BIT(RS_ROW_OPERATIONS) | BIT(RS_ROW_PROXY) | BIT(RS_ROW_PROXY_THREAD)},
    {{"tests/data/h200-overlay/rec", "tests/data/h200-overlay/kineto", "tests/data/h200-overlay/flight"},
     BIT(RS_ROW_OPERATIONS) | BIT(RS_ROW_STEPS) | BIT(RS_ROW_COMPUTE) | BIT(RS_ROW_COMM) | BIT(RS_ROW_ANNOTATIONS)},
    {{"tests/data/kineto"},
     BIT(RS_ROW_OPERATIONS) | BIT(RS_ROW_COMPUTE) | BIT(RS_ROW_COMM) | BIT(RS_ROW_COPIES) | BIT(RS_ROW_ANNOTATIONS) |
         BIT(RS_ROW_HOST) | BIT(RS_ROW_LAUNCHES)},
    {{"tests/data/example/ddp4"},
     BIT(RS_ROW_OPERATIONS) | BIT(RS_ROW_CALLS) | BIT(RS_ROW_CHANNELS) | BIT(RS_ROW_PROXY) | BIT(RS_ROW_STEPS)},
    {{"tests/data/example/oneprocess4"}, BIT(RS_ROW_OPERATIONS) | BIT(RS_ROW_CALLS)},
    {{"tests/data/example/ring4"}, BIT(RS_ROW_OPERATIONS)},
    {{"tests/data/flight/ddp4"}, BIT(RS_ROW_OPERATIONS) | BIT(RS_ROW_CALLS)},
    {{"tests/data/flight/hang-stalled"}, BIT(RS_ROW_OPERATIONS) | BIT(RS_ROW_CALLS)},
    {{"tests/data/nsys"}, BIT(RS_ROW_OPERATIONS) | BIT(RS_ROW_COMM) | BIT(RS_ROW_LAUNCHES)},
    {{"tests/data/nvprof/nvprof_gpu_trace.csv"}, BIT(RS_ROW_OPERATIONS) | BIT(RS_ROW_COPIES)},
    {{"tests/data/inspector"}, BIT(RS_ROW_OPERATIONS)},
    {{"tests/data/comma"}, BIT(RS_ROW_OPERATIONS)},
    {{"tests/data/ncclsee"}, 0},
};

static void every_tool(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        struct drawn_input d;
        char *paths[3];
        size_t n = 0;
        for (; n < 3 && inputs[i].paths[n]; n++) paths[n] = (char *)inputs[i].paths[n];
        open_input(&d, paths, n);
        struct tally y = check_timeline(&d.model, &d.in, NULL);
        for (unsigned row = 0; row < RS_ROWS; row++)
            if (inputs[i].rows & BIT(row) && !y.rows[row]) fail_msg("%s: no %s", paths[0], rs_row_kinds[row].label);
        if (!inputs[i].rows) assert_int_equal(y.bars, 0);
        close_input(&d);
    }
}

/* Three tools saw one job: members of communicators that are merged into others have no rows and no numbers of their own,
 * and what ran on a GPU is drawn below its rank. */
static void merged_inputs(void **state)
{
    (void)state;
    char *paths[] = {"tests/data/h200-overlay/rec", "tests/data/h200-overlay/kineto", "tests/data/h200-overlay/flight"};
    const struct rs_timeline_options all = {.rows = UINT64_MAX};
    struct drawn_input d;
    struct rs_timeline t;
    struct rs_runs runs;
    struct rs_bars b = {0};
    open_input(&d, paths, 3);
    const struct rs_model *m = &d.model;
    rs_timeline_init(&t, &d.model, &d.in, &all);
    rs_runs_init(&runs, (struct rs_timeline *[]){&t}, (int64_t[]){0}, 1);
    uint32_t merged = 0, leading = 0, streams = 0;
    for (uint32_t i = 0; i < m->nmembers; i++) {
        bool leads = m->comms[m->members[i].comm].over == RS_NONE;
        assert_int_equal(runs.rows[0].member[i], leads ? leading : RS_NONE);
        leading += leads;
        merged += !leads;
    }
    assert_true(merged > 0 && leading > 0);
    for (uint32_t i = 0; i < t.ngroups; i++)
        if (t.groups[i].level == RS_GROUP_COMM)
            assert_int_equal(m->comms[m->members[t.groups[i].member].comm].over, RS_NONE);
    for (uint32_t i = 0, n = 0; i < t.nprocs; i++, n += b.n) {
        assert_int_equal(rs_timeline_process(&t, i, n, &b, NULL), RS_OK);
        for (uint32_t k = 0; k < b.nlanes; k++) {
            if (b.lanes[k].row != RS_ROW_COMPUTE && b.lanes[k].row != RS_ROW_COMM) continue;
            assert_int_equal(t.groups[b.lanes[k].group].level, RS_GROUP_RANK);
            streams++;
        }
    }
    assert_true(streams > 0);
    rs_bars_free(&b);
    rs_runs_free(&runs);
    rs_timeline_free(&t);
    close_input(&d);
}

/* ---- everything that was recorded is drawn ---- */

/* Starts of each type, counted callback by callback. */
static void count_starts(struct rs_inputs *in, uint64_t *types)
{
    memset(types, 0, RS_NCCL_TYPE_BITS * sizeof *types);
    for (size_t i = 0; i < in->n; i++) {
        struct rs_cursor *cursor;
        struct rs_callback cb;
        rs_cursor_open(&cursor, in->sources[i].recording, &in->sources[i].process);
        while (rs_cursor_next(cursor, &cb))
            for (int bit = 0; cb.call == RS_CALL_START && bit < RS_NCCL_TYPE_BITS; bit++)
                if (cb.type == UINT64_C(1) << bit) types[bit]++;
        rs_cursor_close(cursor);
    }
}

static uint64_t of(const uint64_t *types, uint64_t mask)
{
    uint64_t sum = 0;
    for (int bit = 0; bit < RS_NCCL_TYPE_BITS; bit++)
        if (mask >> bit & 1) sum += types[bit];
    return sum;
}

static void check_counts(struct drawn_input *d)
{
    static const struct {
        uint8_t row;
        uint64_t types;
    } rows[] = {
        {RS_ROW_CALLS, RS_GROUP_API | RS_COLL_API | RS_P2P_API},
        {RS_ROW_LAUNCHES, RS_KERNEL_LAUNCH | RS_GROUP},
        {RS_ROW_CHANNELS, RS_KERNEL_CH | RS_KERNEL_PHASE},
        {RS_ROW_PROXY, RS_PROXY_OP},
        {RS_ROW_STEPS, RS_PROXY_STEP},
        {RS_ROW_NETWORK, RS_NET_PLUGIN},
        {RS_ROW_PROXY_THREAD, RS_PROXY_CTRL},
        {RS_ROW_COPY_ENGINE, RS_CE_COLL | RS_CE_SYNC | RS_CE_BATCH},
    };
    uint64_t types[RS_NCCL_TYPE_BITS];
    count_starts(&d->in, types);
    struct tally y = check_timeline(&d->model, &d->in, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        /* Launches that no event tells of are moments besides. */
        if (rows[i].row == RS_ROW_LAUNCHES && !types[11]) continue;
        assert_int_equal(y.rows[rows[i].row], of(types, rows[i].types));
    }
    uint64_t parts = 0;
    for (uint32_t i = 0; i < d->model.parts.n; i++) parts += d->model.parts.start[i] != RS_TIME_NONE;
    assert_true(y.parts >= parts);
    /* Everything but group calls, plans and the proxy thread hangs on something. */
    uint64_t roots = of(types, RS_GROUP_API | RS_GROUP | RS_PROXY_CTRL);
    assert_int_equal(y.with_parent, y.bars - roots - y.flags[1] - y.flags[6]);
}

static void recordings_are_complete(void **state)
{
    (void)state;
    static char *const paths[] = {"tests/data/h200-ddp", "tests/data/h200-mix"};
    for (int i = 0; i < 2; i++) {
        struct drawn_input d;
        char *path = paths[i];
        open_input(&d, &path, 1);
        check_counts(&d);
        close_input(&d);
    }
}

/* ---- whose threads ---- */

/* Calls and launches of a thread that works for one rank alone are on that rank's rows; else on the process's. */
static void rows_of_threads(void **state)
{
    (void)state;
    static const struct {
        char *path;
        uint8_t level;
        unsigned lanes; /* of calls */
    } cases[] = {{"tests/data/sim-threads", RS_GROUP_RANK, 4}, {"tests/data/sim-one-thread", RS_GROUP_PROCESS, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct drawn_input d;
        struct rs_timeline t;
        struct rs_bars bars = {0};
        struct rs_err err;
        char *path = cases[i].path;
        uint64_t ranks = 0;
        unsigned lanes = 0;
        open_input(&d, &path, 1);
        const struct rs_timeline_options all = {.rows = UINT64_MAX};
        rs_timeline_init(&t, &d.model, &d.in, &all);
        assert_int_equal(rs_timeline_process(&t, 0, 0, &bars, &err), RS_OK);
        for (uint32_t k = 0; k < bars.nlanes; k++) {
            const struct rs_bar_lane *lane = &bars.lanes[k];
            if (lane->row != RS_ROW_CALLS && lane->row != RS_ROW_LAUNCHES) continue;
            assert_int_equal(t.groups[lane->group].level, cases[i].level);
            if (lane->row == RS_ROW_CALLS && !(ranks >> lane->group & 1)) lanes++;
            ranks |= UINT64_C(1) << lane->group;
        }
        assert_int_equal(lanes, cases[i].lanes);
        rs_bars_free(&bars);
        rs_timeline_free(&t);
        close_input(&d);
    }
}

/* ---- generated runs ---- */

static char folder[64];

static int remove_it(const char *path, const struct stat *s, int type, struct FTW *f)
{
    (void)s, (void)type, (void)f;
    return remove(path);
}

static void generate(struct drawn_input *d, struct rs_gen_config *cfg)
{
    struct rs_gen_result result;
    struct rs_err err = {0};
    char *path = folder;
    snprintf(folder, sizeof folder, "/dev/shm/ringscope-timeline.XXXXXX");
    assert_non_null(mkdtemp(folder));
    cfg->dir = folder;
    cfg->no_truth = true;
    if (rs_gen_run(cfg, &result, &err) != RS_OK) fail_msg("%s", err.msg);
    open_input(d, &path, 1);
}

static void forget(struct drawn_input *d)
{
    close_input(d);
    nftw(folder, remove_it, 8, FTW_DEPTH | FTW_PHYS);
}

static struct rs_gen_config config(enum rs_gen_workload workload)
{
    struct rs_gen_config cfg;
    rs_gen_config_default(&cfg);
    cfg.workload = workload;
    cfg.steps = 5;
    return cfg;
}

static void workloads(void **state)
{
    (void)state;
    for (int w = 0; w < RS_GEN_WORKLOADS; w++) {
        struct rs_gen_config cfg = config((enum rs_gen_workload)w);
        struct drawn_input d;
        if (w == RS_GEN_TPDP) cfg.devices_per_process = 4;
        generate(&d, &cfg);
        struct tally y = check_timeline(&d.model, &d.in, NULL);
        assert_true(y.parts > 0 && y.rows[RS_ROW_STEPS] > 0);
        if (w != RS_GEN_GRAPH && w != RS_GEN_MIX) check_counts(&d); /* replays have no call of their own */
        forget(&d);
    }
}

/* Bars against the model: waits as `ops --json` has them, a launch's edges, steps inside of their operations. */
static void hangs_together(void **state)
{
    (void)state;
    struct rs_gen_config cfg = config(RS_GEN_DDP);
    struct drawn_input d;
    struct rs_timeline t;
    struct rs_bars b = {0};
    cfg.ranks = 4;
    cfg.steps = 8;
    cfg.slow[cfg.nslow++] = (struct rs_gen_amount){2, 500}; /* us */
    generate(&d, &cfg);
    const struct rs_model *m = &d.model;
    const struct rs_timeline_options all = {.rows = UINT64_MAX};
    rs_timeline_init(&t, &d.model, &d.in, &all);
    uint64_t waits = 0, lasts = 0, inside = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < t.nprocs; i++, n += b.n) {
        assert_int_equal(rs_timeline_process(&t, i, n, &b, NULL), RS_OK);
        for (uint32_t part = 0; part < m->parts.n; part++) {
            uint32_t bar = t.bar_of_part[part] - n, op = m->parts.op[part];
            if (t.bar_of_part[part] == RS_NONE || t.bar_of_part[part] < n || bar >= b.n) continue;
            int64_t wait = rs_part_wait(m, part);
            if (wait < 2 * m->ops.error[op]) wait = 0; /* each of two clocks errs */
            assert_int_equal(b.wait[bar], wait < b.dur[bar] ? wait : b.dur[bar]);
            waits += wait > 0;
            bool last = m->ops.last_part[op] == part && !(m->ops.flags[op] & RS_OP_TIE);
            assert_int_equal(!!(b.flags[bar] & RS_BAR_LAST), last);
            lasts += last;
            assert_int_equal(b.dur[bar], m->parts.end[part] - m->parts.start[part]);
            assert_string_equal(t.kinds.rows[b.kind[bar]].label, rs_model_text(m, m->parts.func[part]));
        }
        for (uint32_t k = 0; k < b.n; k++) {
            uint32_t parent = b.parent[k] == RS_BAR_NONE ? RS_BAR_NONE : b.parent[k] - n;
            uint8_t row = t.kinds.rows[b.kind[k]].row;
            if (row != RS_ROW_STEPS && row != RS_ROW_CHANNELS) continue;
            assert_true(parent < b.n && b.op[parent] == b.op[k] && b.op[k] != RS_BAR_NONE);
            assert_true(b.start[parent] <= b.start[k]);
            assert_true(b.start[k] + b.dur[k] <= b.start[parent] + b.dur[parent] + 20000); /* polling */
            inside++;
        }
        /* Each launch names the operations that it launched, and they were launched when it began. */
        for (uint32_t k = 0; k < b.nedges; k++) {
            uint32_t from = b.edges[k].from - n, to = b.edges[k].to - n;
            assert_int_equal(b.kind[from], RS_BAR_LAUNCH);
            assert_int_equal(b.a6[to], b.start[from]);
        }
        assert_true(b.nedges > 0);
    }
    assert_true(waits > 20 && lasts > 5 && inside > 1000);
    assert_int_equal(n, check_timeline(&d.model, &d.in, NULL).bars);
    rs_bars_free(&b);
    rs_timeline_free(&t);
    forget(&d);
}

/* One of four ranks does not come: the other three wait as long as they are seen, whichever it is. */
static void waits_for_a_rank(void **state)
{
    (void)state;
    for (int rank = 0; rank < 4; rank += 3) {
        struct drawn_input d;
        struct rs_gen_config cfg = config(RS_GEN_DDP);
        cfg.ranks = 4;
        cfg.hang = RS_GEN_NOT_JOINED;
        cfg.hang_at = (struct rs_gen_moment){rank, 3};
        generate(&d, &cfg);
        const struct rs_model *m = &d.model;
        const struct rs_timeline_options all = {.rows = UINT64_MAX};
        struct rs_timeline t;
        rs_timeline_init(&t, &d.model, &d.in, &all);
        uint32_t waiting = 0;
        for (uint32_t part = 0; part < m->parts.n; part++) {
            struct rs_stretch s;
            if (rs_part_ending(m, part) != RS_ENDING_OPEN || m->parts.start[part] == RS_TIME_NONE) continue;
            assert_true(rs_stretch_of(&t, part, &s));
            assert_int_equal(rs_stretch_wait(&t, part), s.to - s.from);
            waiting++;
        }
        assert_int_equal(waiting, 3);
        rs_timeline_free(&t);
        forget(&d);
    }
}

static void what_is_missing(void **state)
{
    (void)state;
    struct drawn_input d;
    struct rs_gen_config cfg = config(RS_GEN_DDP);
    cfg.drop = 0.05;
    generate(&d, &cfg);
    assert_true(check_timeline(&d.model, &d.in, NULL).flags[1] > 0); /* lost */
    forget(&d);

    cfg = config(RS_GEN_DDP);
    cfg.steps = 20;
    cfg.late[cfg.nlate++] = (struct rs_gen_moment){2, 8};
    generate(&d, &cfg);
    assert_int_equal(check_timeline(&d.model, &d.in, NULL).flags[6], 1); /* not recorded, on one rank */
    forget(&d);

    cfg = config(RS_GEN_DDP);
    cfg.steps = 400;
    cfg.ring[cfg.nring++] = (struct rs_gen_amount){1, 64 << 10};
    generate(&d, &cfg);
    assert_int_equal(check_timeline(&d.model, &d.in, NULL).flags[6], 1);
    forget(&d);

    cfg = config(RS_GEN_DDP);
    cfg.hang = RS_GEN_STALLED_NET;
    cfg.hang_at = (struct rs_gen_moment){-1, 3};
    generate(&d, &cfg);
    assert_true(check_timeline(&d.model, &d.in, NULL).flags[2] > 0); /* open */
    forget(&d);
}

/* ---- filters ---- */

static void filters(void **state)
{
    (void)state;
    struct drawn_input d;
    struct rs_gen_config cfg = config(RS_GEN_DDP);
    generate(&d, &cfg);
    struct tally all = check_timeline(&d.model, &d.in, NULL);
    const struct rs_range one = {3, 3};
    struct rs_filter f = {.ranks = &one, .nranks = 1};
    struct tally y = check_timeline(&d.model, &d.in, &f);
    assert_int_equal(y.parts * (uint64_t)cfg.ranks, all.parts);
    assert_true(y.rows[RS_ROW_STEPS] > 0 && y.rows[RS_ROW_CALLS] < all.rows[RS_ROW_CALLS]);

    const char *none = "Broadcast";
    f = (struct rs_filter){.funcs = &none, .nfuncs = 1};
    y = check_timeline(&d.model, &d.in, &f);
    assert_int_equal(y.parts, 0);
    assert_int_equal(y.rows[RS_ROW_CHANNELS] + y.rows[RS_ROW_PROXY] + y.rows[RS_ROW_STEPS], 0);

    const char *nowhere = "0xfeedfeedfeed";
    f = (struct rs_filter){.comms = &nowhere, .ncomms = 1};
    y = check_timeline(&d.model, &d.in, &f);
    assert_int_equal(y.rows[RS_ROW_OPERATIONS] + y.rows[RS_ROW_CHANNELS] + y.rows[RS_ROW_STEPS], 0);

    uint32_t nops = d.model.ops.n;
    f = (struct rs_filter){.has_from = true, .has_to = true, .from = d.model.ops.first[nops / 4]};
    f.to = d.model.ops.first[nops / 2];
    struct rs_timeline t;
    struct rs_bars b = {0};
    const struct rs_timeline_options options = {.filter = &f, .rows = UINT64_MAX};
    rs_timeline_init(&t, &d.model, &d.in, &options);
    uint32_t n = 0;
    for (uint32_t i = 0; i < t.nprocs; i++, n += b.n) {
        assert_int_equal(rs_timeline_process(&t, i, n, &b, NULL), RS_OK);
        for (uint32_t k = 0; k < b.n; k++)
            assert_true(b.start[k] < f.to - t.begin && b.start[k] + b.dur[k] >= f.from - t.begin);
    }
    assert_true(n > all.bars / 8 && n < all.bars / 2);
    rs_bars_free(&b);
    rs_timeline_free(&t);
    forget(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tool),      cmocka_unit_test(merged_inputs),
        cmocka_unit_test(rows_of_threads), cmocka_unit_test(recordings_are_complete),
        cmocka_unit_test(workloads),       cmocka_unit_test(hangs_together),
        cmocka_unit_test(what_is_missing), cmocka_unit_test(waits_for_a_rank),
        cmocka_unit_test(filters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
