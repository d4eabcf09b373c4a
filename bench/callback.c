/* Own cost of a callback: thread CPU time of a collective's callbacks, the driver's own part taken off, in units of one
 * read of the tick counter.
 *
 *   callback [-r rounds] [-n collectives] [-d folder] [-o results] EMPTY.so RECORDER.so
 *
 * Each round takes the floor (callbacks that do nothing), the empty plugin and the recorder in turns, each in a fresh
 * process, so that a ratio holds on a noisy machine. "best": the cheapest round of each, since what disturbs only adds;
 * "median": of the rounds' own ratios. After each round of the recorder its recording is read: a cost is only a cost
 * if every callback was kept. */
#include <getopt.h>
#include <pthread.h>

#include "measure.h"

enum {
    PLUGINS = 3, /* floor, empty, recorder */
    MAX_ROUNDS = 200,
    KIND_CALLS = 100000,
    FULL_COLLECTIVES = 20000,
    BURST_BYTES = 48 << 20, /* what a round may write: within the default RINGSCOPE_MEMORY of 64 MiB */
    CALLBACK_BYTES = 13, /* in memory, about */
};

static const char *const plugin_names[PLUGINS] = {"floor (the driver itself)", "empty plugin", "ringscope"};
static const char *paths[PLUGINS]; /* the first one is NULL */
static const char *folder = ".";
static int rounds = 15;

static const struct rs_nccl_profiler_v6 *load_or_die(const char *path)
{
    const char *why = "?";
    const struct rs_nccl_profiler_v6 *plugin = play_load(path, &why);
    if (!plugin) die("%s: %s", path, why);
    return plugin;
}

/* ---- a collective's callbacks, from several threads ---- */

struct cost_args {
    const char *path;
    int threads, collectives; /* a thread */
};
struct cost {
    double ns; /* CPU time of all threads */
    uint64_t calls;
};

static struct thread {
    struct player player;
    pthread_t thread;
    struct cost cost;
} threads_of[PLAY_THREADS];
static pthread_barrier_t all_ready;
static int collectives_of_thread;

static void *cost_thread(void *v)
{
    struct thread *t = v;
    uint64_t calls = 0;
    pthread_barrier_wait(&all_ready);
    double begin = ns_of(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < collectives_of_thread; i++) calls += play_collective(&t->player, (uint64_t)i);
    t->cost = (struct cost){ns_of(CLOCK_THREAD_CPUTIME_ID) - begin, calls};
    return NULL;
}

static void cost_work(void *to, const void *from)
{
    const struct cost_args *a = from;
    struct cost *sum = to;
    const struct rs_nccl_profiler_v6 *plugin = load_or_die(a->path);
    collectives_of_thread = a->collectives;
    pthread_barrier_init(&all_ready, NULL, (unsigned)a->threads);
    for (int i = 0; i < a->threads; i++)
        if (!play_init(&threads_of[i].player, plugin, i, a->threads)) die("%s: init failed", a->path);
    for (int i = 0; i < a->threads; i++)
        if (pthread_create(&threads_of[i].thread, NULL, cost_thread, &threads_of[i])) die("cannot make a thread");
    *sum = (struct cost){0, 0};
    for (int i = 0; i < a->threads; i++) {
        pthread_join(threads_of[i].thread, NULL);
        sum->ns += threads_of[i].cost.ns;
        sum->calls += threads_of[i].cost.calls;
    }
    for (int i = 0; i < a->threads; i++) plugin->finalize(threads_of[i].player.context);
}

/* Reads what the recorder kept of `calls`; returns how many are missing. Whether lost or gone, the cost is not the cost. */
static uint64_t missing_in(const char *recording, uint64_t calls)
{
    struct held h;
    held_in(recording, &h);
    if (h.kept + h.lost != calls)
        die("%" PRIu64 " callbacks were made, but %" PRIu64 " are kept and %" PRIu64 " counted as lost", calls, h.kept,
            h.lost);
    return h.lost;
}

static void cost_table(int threads, int collectives, const char *suffix)
{
    static double ns[PLUGINS][MAX_ROUNDS], ratio[PLUGINS][MAX_ROUNDS], ticks[MAX_ROUNDS];
    double best[PLUGINS], best_tick = 1e9;
    uint64_t lost = 0, kept = 0;
    for (int r = 0; r < rounds; r++) {
        ticks[r] = tick_ns();
        for (int i = 0; i < PLUGINS; i++) {
            char recording[4096];
            struct cost c;
            struct cost_args a = {paths[i], threads, collectives};
            new_folder(recording, sizeof recording, folder);
            in_child(recording, cost_work, &a, &c, sizeof c, NULL);
            if (i == PLUGINS - 1) {
                uint64_t missing = missing_in(recording, c.calls);
                lost += missing;
                kept += c.calls - missing;
            }
            remove_folder(recording);
            ns[i][r] = c.ns / (double)c.calls;
            double t = tick_ns();
            if (t < ticks[r]) ticks[r] = t;
        }
        for (int i = 0; i < PLUGINS; i++) ratio[i][r] = (ns[i][r] - ns[0][r]) / ticks[r];
        if (ticks[r] < best_tick) best_tick = ticks[r];
    }
    printf("\n%d thread%s, %d collectives of %d callbacks each a thread, %d rounds; one tick read %.1f ns\n", threads,
           threads == 1 ? "" : "s", collectives, PLAY_CALLBACKS, rounds, best_tick);
    printf("  %-28s %12s %14s %14s\n", "", "ns/callback", "x tick, best", "x tick, median");
    for (int i = 0; i < PLUGINS; i++) {
        best[i] = 1e9;
        for (int r = 0; r < rounds; r++)
            if (ns[i][r] < best[i]) best[i] = ns[i][r];
        double own = (best[i] - best[0]) / best_tick, mid = median(ratio[i], (size_t)rounds);
        printf("  %-28s %12.1f %14.2f %14.2f\n", plugin_names[i], best[i], own, mid);
        if (i < PLUGINS - 1) continue;
        char name[64];
        snprintf(name, sizeof name, "cost_%s", suffix);
        result(name, "%.3f %.3f", own, mid);
        snprintf(name, sizeof name, "cost_lost_%s", suffix);
        result(name, "%" PRIu64, lost);
    }
    printf("  of ringscope's callbacks %" PRIu64 " were kept and %" PRIu64 " lost%s\n", kept, lost,
           lost ? ": NOT THE COST OF RECORDING" : "");
    if (!strcmp(suffix, "1")) result("tick_ns", "%.1f", best_tick);
}

/* ---- one kind of callback after the other ---- */

enum kind { STEP, STOP, STATE, STATE_ARG, OP, KERNEL, COLL_API, COLL, KINDS };
static const char *const kind_names[KINDS] = {
    "start ProxyStep", "stop",           "state without argument",           "state with argument",
    "start ProxyOp",   "start KernelCh", "start CollApi with its 2 strings", "start Coll with its 4 strings",
};
struct kinds {
    double ns[KINDS];
    uint64_t calls;
};

/* A descriptor is filled anew for each start, as NCCL does; the floor does it too. */
static void kinds_work(void *to, const void *path)
{
    struct kinds *out = to;
    static struct player p; /* the plugin keeps the address of its mask */
    const struct rs_nccl_profiler_v6 *plugin = load_or_die(path);
    if (!play_init(&p, plugin, 0, 1)) die("init failed");
    struct rs_nccl_descr_v6 d;
    uint64_t n = 0;
    play_op_descr(&p, &d, NULL, 1);
    void *op = play_start(&p, &d, &n);
    for (int k = 0; k < KINDS; k++) {
        double begin = ns_of(CLOCK_THREAD_CPUTIME_ID);
        for (int i = 0; i < KIND_CALLS; i++) {
            switch ((enum kind)k) {
            case STEP:
                play_descr(&p, &d, RS_PROXY_STEP, op);
                d.proxyStep.step = i & 7;
                play_start(&p, &d, &n);
                break;
            case STOP: play_stop(&p, op, &n); break;
            case STATE: play_state(&p, op, RS_ST_OP_IN_PROGRESS, 0, &n); break;
            case STATE_ARG: play_state(&p, op, RS_ST_STEP_SEND_WAIT, PLAY_CHUNK, &n); break;
            case OP:
                play_op_descr(&p, &d, op, 1);
                play_start(&p, &d, &n);
                break;
            case KERNEL:
                play_descr(&p, &d, RS_KERNEL_CH, op);
                d.kernelCh.pTimer = (uint64_t)i * 1000;
                play_start(&p, &d, &n);
                break;
            case COLL_API:
                play_descr(&p, &d, RS_COLL_API, op);
                d.collApi = (struct rs_nccl_coll_api_v5){"AllReduce", 16, "ncclFloat32", 0, &p, false};
                play_start(&p, &d, &n);
                break;
            case COLL:
                play_coll_descr(&p, &d, op, op, (uint64_t)i);
                play_start(&p, &d, &n);
                break;
            case KINDS: break;
            }
        }
        out->ns[k] = (ns_of(CLOCK_THREAD_CPUTIME_ID) - begin) / KIND_CALLS;
    }
    out->calls = n;
    plugin->finalize(p.context);
}

static void kinds_table(void)
{
    double best[2][KINDS], tick = 1e9;
    uint64_t lost = 0;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < KINDS; k++) best[i][k] = 1e9;
    for (int r = 0; r < rounds; r++) {
        double t = tick_ns();
        if (t < tick) tick = t;
        for (int i = 0; i < 2; i++) {
            char recording[4096];
            struct kinds kinds;
            new_folder(recording, sizeof recording, folder);
            in_child(recording, kinds_work, i ? paths[PLUGINS - 1] : NULL, &kinds, sizeof kinds, NULL);
            if (i) lost += missing_in(recording, kinds.calls);
            remove_folder(recording);
            for (int k = 0; k < KINDS; k++)
                if (kinds.ns[k] < best[i][k]) best[i][k] = kinds.ns[k];
        }
    }
    printf("\nby kind: 1 thread, %d in a row, best of %d rounds, %" PRIu64 " lost\n", KIND_CALLS, rounds, lost);
    printf("  %-34s %9s %8s\n", "", "own ns", "x tick");
    for (int k = 0; k < KINDS; k++) {
        double own = best[1][k] - best[0][k];
        printf("  %-34s %9.1f %8.2f\n", kind_names[k], own, own / tick);
    }
}

/* ---- with all memory full ---- */

struct full {
    double ns;
    uint64_t calls, measured;
};

/* A small memory and a small limit on disk: when both are full, nothing gets free again. */
static void full_work(void *to, const void *path)
{
    struct full *out = to;
    static struct player p;
    setenv("RINGSCOPE_MEMORY", "4M", 1);
    setenv("RINGSCOPE_LIMIT", "1M", 1);
    const struct rs_nccl_profiler_v6 *plugin = load_or_die(path);
    if (!play_init(&p, plugin, 0, 1)) die("init failed");
    *out = (struct full){0, 0, 0};
    for (int fill = 0; fill < 2; fill++) {
        for (int i = 0; i < FULL_COLLECTIVES; i++) out->calls += play_collective(&p, (uint64_t)i);
        nanosleep(&(struct timespec){.tv_nsec = 250000000}, NULL); /* the background thread writes what it can */
    }
    double begin = ns_of(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < FULL_COLLECTIVES / 4; i++) out->measured += play_collective(&p, (uint64_t)i);
    out->ns = (ns_of(CLOCK_THREAD_CPUTIME_ID) - begin) / (double)out->measured;
    out->calls += out->measured;
    plugin->finalize(p.context);
}

static void full_table(void)
{
    double best[2] = {1e9, 1e9}, tick = 1e9;
    for (int r = 0; r < (rounds + 4) / 5; r++) {
        double t = tick_ns();
        if (t < tick) tick = t;
        for (int i = 0; i < 2; i++) {
            char recording[4096];
            struct full full;
            new_folder(recording, sizeof recording, folder);
            in_child(recording, full_work, i ? paths[PLUGINS - 1] : NULL, &full, sizeof full, NULL);
            if (i && missing_in(recording, full.calls) < full.measured)
                die("memory should have been full, and callbacks were still kept");
            remove_folder(recording);
            if (full.ns < best[i]) best[i] = full.ns;
        }
    }
    double own = (best[1] - best[0]) / tick;
    printf("\nmemory and disk limit full: %.1f ns/callback, %.2f x tick, all of them counted as lost (best of %d)\n",
           best[1], own, (rounds + 4) / 5);
    result("cost_full", "%.2f", own);
}

int main(int argc, char **argv)
{
    int o, collectives = 20000;
    while ((o = getopt(argc, argv, "r:n:d:o:")) != -1) switch (o) {
        case 'r': rounds = atoi(optarg); break;
        case 'n': collectives = atoi(optarg); break;
        case 'd': folder = optarg; break;
        case 'o': bench_results = optarg; break;
        default: return 2;
        }
    if (argc - optind != 2 || rounds < 1 || rounds > MAX_ROUNDS || collectives < 1) {
        fputs("usage: callback [-r rounds] [-n collectives] [-d folder] [-o results] EMPTY.so RECORDER.so\n", stderr);
        return 2;
    }
    paths[1] = argv[optind];
    paths[2] = argv[optind + 1];
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (cores > PLAY_THREADS) cores = PLAY_THREADS;
    int counts[2] = {1, (int)cores};
    for (int i = 0; i < (cores > 1 ? 2 : 1); i++) {
        int fit = BURST_BYTES / (counts[i] * PLAY_CALLBACKS * CALLBACK_BYTES);
        cost_table(counts[i], collectives < fit ? collectives : fit, i ? "all" : "1");
    }
    result("cores", "%ld", cores);
    kinds_table();
    full_table();
    return 0;
}
