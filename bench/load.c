/* How much load is kept whole: callbacks at a given rate, in a burst, and as fast as nothing is lost.
 *
 *   load [options] sustain RECORDER.so     -r callbacks/s for -s seconds from -t threads
 *   load [options] burst RECORDER.so       as many callbacks as fill RINGSCOPE_MEMORY, as fast as they come
 *   load [options] highest RECORDER.so     searches the highest rate that is kept whole for -s seconds
 *   options: -r rate -s seconds -t threads -d folder -o results -k (keeps sustain's recording as FOLDER/kept.N)
 *
 * A thread plays the collectives that are due each millisecond, then sleeps; late ones are made up for. The driver counts
 * its own calls and holds them against the recording. Rates are of all threads together. */
#include <getopt.h>
#include <math.h>
#include <pthread.h>

#define PLAY_PAUSES
#include "measure.h"

enum {
    SLICE_NS = 1000000,
    CALLBACK_BYTES = 12, /* in memory, to begin with; burst measures it */
    MEMORY = 64 << 20, /* the default of RINGSCOPE_MEMORY */
    TRIES = 6, /* runs of a search */
};

static const char *folder = ".";

struct load_args {
    const char *path;
    int threads;
    double rate, seconds; /* rate 0: as fast as they come, `total` callbacks */
    bool uneven; /* pauses of random length between callbacks: their times are harder to compress */
    uint64_t total;
};

struct load {
    uint64_t calls;
    double wall_ns; /* from first to last callback */
    double slice_ns; /* CPU time a callback, in the median slice */
    double longest_ns; /* a collective took, wall time: where a thread was held up, by the recorder or by others */
    uint64_t rss_before, rss_peak; /* bytes: before the plugin was loaded, and the most until the end */
};

static struct thread {
    const struct load_args *args;
    struct player player;
    pthread_t thread;
    uint64_t calls;
    double *slice_ns; /* CPU time a callback, by slice */
    double end_ns, longest_ns;
} threads_of[PLAY_THREADS];
static double begin_ns;

/* `field` of /proc/self/status, in bytes. */
static uint64_t memory_of_process(const char *field)
{
    char line[256];
    uint64_t kib = 0;
    size_t n = strlen(field);
    FILE *f = fopen("/proc/self/status", "r");
    if (!f) die("/proc/self/status: %s", strerror(errno));
    while (fgets(line, sizeof line, f))
        if (!strncmp(line, field, n) && line[n] == ':') kib = strtoull(line + n + 1, NULL, 10);
    fclose(f);
    return kib * 1024;
}

static uint64_t slices_of(const struct load_args *a)
{
    return a->rate > 0 ? (uint64_t)(a->seconds * 1e9 / SLICE_NS) : 1;
}

static void *load_thread(void *v)
{
    struct thread *t = v;
    const struct load_args *a = t->args;
    uint64_t seq = 0, slices = slices_of(a);
    double a_slice = a->rate / a->threads * SLICE_NS / 1e9; /* callbacks */
    if (!(t->slice_ns = calloc(slices, sizeof *t->slice_ns))) die("out of memory");
    for (uint64_t slice = 1; slice <= slices; slice++) {
        /* In integers: the sum of rounded slices must not drift from the rate. */
        uint64_t due = a->rate > 0 ? (uint64_t)(a_slice * (double)slice) / PLAY_CALLBACKS
                                   : a->total / (uint64_t)a->threads / PLAY_CALLBACKS;
        uint64_t before = t->calls;
        double cpu = ns_of(CLOCK_THREAD_CPUTIME_ID);
        double wall = ns_of(CLOCK_MONOTONIC);
        while (seq < due) {
            t->calls += play_collective(&t->player, seq++);
            double now = ns_of(CLOCK_MONOTONIC);
            if (now - wall > t->longest_ns) t->longest_ns = now - wall;
            wall = now;
        }
        cpu = ns_of(CLOCK_THREAD_CPUTIME_ID) - cpu;
        if (t->calls > before) t->slice_ns[slice - 1] = cpu / (double)(t->calls - before);
        if (a->rate <= 0) break;
        double next = begin_ns + (double)slice * SLICE_NS;
        struct timespec at = {.tv_sec = (time_t)(next / 1e9)};
        at.tv_nsec = (long)(next - (double)at.tv_sec * 1e9);
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    }
    t->end_ns = ns_of(CLOCK_MONOTONIC);
    return NULL;
}

static void load_work(void *to, const void *from)
{
    const struct load_args *a = from;
    struct load *out = to;
    const char *why = "?";
    memset(out, 0, sizeof *out);
    out->rss_before = memory_of_process("VmRSS");
    const struct rs_nccl_profiler_v6 *plugin = play_load(a->path, &why);
    if (!plugin) die("%s: %s", a->path, why);
    for (int i = 0; i < a->threads; i++) {
        threads_of[i].args = a;
        if (!play_init(&threads_of[i].player, plugin, i, a->threads)) die("%s: init failed", a->path);
        if (a->uneven) threads_of[i].player.noise = (uint64_t)i + 1;
    }
    begin_ns = ns_of(CLOCK_MONOTONIC);
    for (int i = 0; i < a->threads; i++)
        if (pthread_create(&threads_of[i].thread, NULL, load_thread, &threads_of[i])) die("cannot make a thread");
    double end = begin_ns;
    for (int i = 0; i < a->threads; i++) {
        pthread_join(threads_of[i].thread, NULL);
        out->calls += threads_of[i].calls;
        out->slice_ns += median(threads_of[i].slice_ns, slices_of(a)) / a->threads;
        if (threads_of[i].end_ns > end) end = threads_of[i].end_ns;
        if (threads_of[i].longest_ns > out->longest_ns) out->longest_ns = threads_of[i].longest_ns;
    }
    out->wall_ns = end - begin_ns;
    out->rss_peak = memory_of_process("VmHWM");
    for (int i = 0; i < a->threads; i++) plugin->finalize(threads_of[i].player.context);
}

struct outcome {
    struct load load;
    struct held held;
    double drain_ns;
};

static void check(const struct outcome *x)
{
    if (x->held.kept + x->held.lost != x->load.calls)
        die("%" PRIu64 " callbacks were made, but %" PRIu64 " are kept and %" PRIu64 " counted as lost", x->load.calls,
            x->held.kept, x->held.lost);
}

/* One run, its recording read; `keep`: where the recording goes, or NULL. */
static struct outcome run(const struct load_args *a, const char *keep)
{
    struct outcome x;
    char recording[4096];
    new_folder(recording, sizeof recording, folder);
    in_child(recording, load_work, a, &x.load, sizeof x.load, &x.drain_ns);
    held_in(recording, &x.held);
    check(&x);
    if (keep) {
        remove_folder(keep);
        if (rename(recording, keep)) die("%s: %s", keep, strerror(errno));
    } else {
        remove_folder(recording);
    }
    return x;
}

static double per(double bytes, uint64_t n)
{
    return n ? bytes / (double)n : 0;
}

/* Own cost at this rate, in ns a callback. Without pauses, whose length would drown it, and for a shorter time. */
static double cost_under_load(const struct load_args *from, double *tick)
{
    struct load_args a = *from;
    struct load floor;
    a.uneven = false;
    if (a.seconds > 2) a.seconds = 2;
    double before = tick_ns();
    struct outcome x = run(&a, NULL);
    a.path = NULL;
    in_child(NULL, load_work, &a, &floor, sizeof floor, NULL);
    double after = tick_ns();
    *tick = before < after ? before : after;
    return x.load.slice_ns - floor.slice_ns;
}

/* What the plugin added to the process, in MiB. */
static double memory_of(const struct load *l)
{
    return ((double)l->rss_peak - (double)l->rss_before) / (1 << 20);
}

static void sustain(const struct load_args *a, const char *keep)
{
    struct outcome x = run(a, keep);
    double rate = (double)x.load.calls / x.load.wall_ns * 1e9;
    double share = 100 * (double)x.held.sealer_cpu_ns / x.load.wall_ns;
    double disk = per((double)x.held.file_bytes, x.held.kept);
    printf("\n%.1f M callbacks/s asked for %.0f s from %d thread%s\n", a->rate / 1e6, a->seconds, a->threads,
           a->threads == 1 ? "" : "s");
    printf("  came                       %.2f M/s, %.1f M callbacks\n", rate / 1e6, (double)x.load.calls / 1e6);
    printf("  lost                       %" PRIu64 "%s\n", x.held.lost, x.held.complete ? "" : " (NOT complete)");
    printf("  background thread          %.0f %% of a core, %.1f ns a callback; %.0f ms to close\n", share,
           per((double)x.held.sealer_cpu_ns, x.held.kept), x.drain_ns / 1e6);
    printf("  on disk                    %.2f bytes a callback (%.1f in memory), %.0f %% not compressed\n", disk,
           per((double)x.held.words_bytes, x.held.kept),
           100 * (double)x.held.raw_bytes / (double)(x.held.words_bytes + 1));
    printf("  memory of the process      + %.1f MiB\n", memory_of(&x.load));
    printf("  longest collective         %.1f ms\n", x.load.longest_ns / 1e6);
    if (keep) return;
    double tick, cost = cost_under_load(a, &tick);
    printf("  own cost at this rate      %.1f ns a callback, %.2f x tick (median of slices of 1 ms)\n", cost,
           cost / tick);
    char name[64];
    snprintf(name, sizeof name, "sustain_%d", a->threads);
    result(name, "%.2f %" PRIu64 " %.0f %.2f %.1f %.2f", rate / 1e6, x.held.lost, share, disk, memory_of(&x.load),
           cost / tick);
}

static void burst(struct load_args *a)
{
    a->uneven = false;
    a->rate = 0;
    a->total = MEMORY / 4 / CALLBACK_BYTES; /* fits for certain: tells how much a callback takes */
    struct outcome x = run(a, NULL);
    double bytes = per((double)x.held.words_bytes, x.held.kept);
    a->total = (uint64_t)(MEMORY / bytes);
    x = run(a, NULL);
    printf("\nburst of RINGSCOPE_MEMORY (64 MiB, %.1f M callbacks of %.1f bytes) from %d thread%s: %.0f ms, "
           "%.0f M callbacks/s, %" PRIu64 " lost, memory + %.1f MiB\n",
           (double)x.load.calls / 1e6, bytes, a->threads, a->threads == 1 ? "" : "s", x.load.wall_ns / 1e6,
           (double)x.load.calls / x.load.wall_ns * 1e3, x.held.lost, memory_of(&x.load));
    char name[64];
    snprintf(name, sizeof name, "burst_%d", a->threads);
    result(name, "%" PRIu64 " %" PRIu64 " %.1f", x.held.lost, x.load.calls, memory_of(&x.load));
}

static void highest(struct load_args *a)
{
    a->uneven = false; /* the driver should not be what limits */
    double whole = 0, broken = 0;
    printf("\nhighest rate kept whole for %.0f s, %d thread%s\n", a->seconds, a->threads, a->threads == 1 ? "" : "s");
    for (int i = 0; i < TRIES; i++) {
        struct outcome x = run(a, NULL);
        double rate = (double)x.load.calls / x.load.wall_ns * 1e9;
        printf("  %6.1f M/s came of %6.1f M/s: %9" PRIu64 " lost, %3.0f %% not compressed, %4.0f ms to close\n",
               rate / 1e6, a->rate / 1e6, x.held.lost,
               100 * (double)x.held.raw_bytes / (double)(x.held.words_bytes + 1), x.drain_ns / 1e6);
        fflush(stdout);
        if (!x.held.lost && rate > whole) whole = rate;
        if (x.held.lost && (broken <= 0 || a->rate < broken)) broken = a->rate;
        if (!x.held.lost && rate < 0.9 * a->rate) break; /* the threads cannot make more */
        a->rate = broken > 0 ? (whole > 0 ? sqrt(whole * broken) : broken / 2) : a->rate * 2;
        if (broken > 0 && broken / a->rate < 1.05) break;
    }
    char name[64];
    snprintf(name, sizeof name, "highest_%d", a->threads);
    result(name, "%.1f %s", whole / 1e6, broken > 0 ? "lost-above" : "threads-make-no-more");
}

int main(int argc, char **argv)
{
    struct load_args a = {.threads = 1, .uneven = true, .rate = 5e6, .seconds = 10};
    int o;
    bool keep = false;
    char kept[4096];
    while ((o = getopt(argc, argv, "r:s:t:d:o:k")) != -1) switch (o) {
        case 'r': a.rate = atof(optarg); break;
        case 's': a.seconds = atof(optarg); break;
        case 't': a.threads = atoi(optarg); break;
        case 'd': folder = optarg; break;
        case 'o': bench_results = optarg; break;
        case 'k': keep = true; break;
        default: return 2;
        }
    bool fits = argc - optind == 2 && a.threads > 0 && a.threads <= PLAY_THREADS && a.rate > 0 && a.seconds > 0;
    const char *what = fits ? argv[optind] : "";
    a.path = fits ? argv[optind + 1] : NULL;
    snprintf(kept, sizeof kept, "%s/kept.%d", folder, a.threads);
    if (!strcmp(what, "sustain"))
        sustain(&a, keep ? kept : NULL);
    else if (!strcmp(what, "burst"))
        burst(&a);
    else if (!strcmp(what, "highest"))
        highest(&a);
    else {
        fputs("usage: load [-r rate] [-s seconds] [-t threads] [-d folder] [-o results] [-k] sustain|burst|highest "
              "RECORDER.so\n",
              stderr);
        return 2;
    }
    return 0;
}
