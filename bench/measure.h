/* What the programs of bench/ share besides play.h: clocks, one read of the tick counter, child processes, folders,
 * what a recording holds, and the file of results.
 *
 * A measured plugin always runs in a process of its own, as NCCL would load it anew; its figures come back through a
 * pipe. A result is a line `name value` appended to the file of -o, for the table of run.sh. Whatever cannot be measured
 * ends the program with status 1. One thread at a time. */
#ifndef RS_BENCH_MEASURE_H
#define RS_BENCH_MEASURE_H

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "play.h"
#include "trace/inputs.h"
#include "trace/summary.h"

__attribute__((format(printf, 1, 2), noreturn)) static inline void die(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fputs("bench: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

static inline double ns_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ns of one read of the tick counter; where there is none, of the clock that the recorder then reads. */
static inline double tick_ns(void)
{
    enum { READS = 1000000 };
    uint64_t sum = 0;
    double begin = ns_of(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < READS; i++) {
#if defined(__x86_64__)
        sum += __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
        uint64_t t;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
        sum += t;
#else
        sum += (uint64_t)ns_of(CLOCK_MONOTONIC_RAW);
#endif
    }
    double ns = (ns_of(CLOCK_THREAD_CPUTIME_ID) - begin) / READS;
    return sum ? ns : 1;
}

static inline int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts `v`. */
static inline double median(double *v, size_t n)
{
    qsort(v, n, sizeof *v, by_value);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* ---- folders and results ---- */

static const char *bench_results; /* -o; NULL = none wanted */

__attribute__((format(printf, 2, 3))) static inline void result(const char *name, const char *fmt, ...)
{
    if (!bench_results) return;
    FILE *f = fopen(bench_results, "a");
    if (!f) die("%s: %s", bench_results, strerror(errno));
    va_list args;
    va_start(args, fmt);
    fprintf(f, "%s ", name);
    vfprintf(f, fmt, args);
    fputc('\n', f);
    va_end(args);
    if (fclose(f)) die("%s: %s", bench_results, strerror(errno));
}

static inline int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static inline void remove_folder(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A new folder below `parent`, for one recording. */
static inline void new_folder(char *path, size_t bytes, const char *parent)
{
    if ((size_t)snprintf(path, bytes, "%s/rec.XXXXXX", parent) >= bytes || !mkdtemp(path))
        die("cannot make a folder in %s: %s", parent, strerror(errno));
}

/* ---- child processes ---- */

/* Runs `work` in a child whose recordings go to `folder`; it fills `to`, which comes back. The child leaves through its
 * exit handlers, so that the recording is closed. *drain_ns: from the end of `work` to the end of the process. */
static inline void in_child(const char *folder, void (*work)(void *to, const void *args), const void *args, void *to,
                            size_t bytes, double *drain_ns)
{
    int fd[2];
    fflush(NULL);
    if (pipe(fd)) die("pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid < 0) die("fork: %s", strerror(errno));
    if (!pid) {
        close(fd[0]);
        if (folder) setenv("RINGSCOPE_DIR", folder, 1);
        work(to, args);
        if (write(fd[1], to, bytes) != (ssize_t)bytes) die("pipe: %s", strerror(errno));
        close(fd[1]);
        exit(0);
    }
    close(fd[1]);
    bool whole = read(fd[0], to, bytes) == (ssize_t)bytes;
    double end = ns_of(CLOCK_MONOTONIC);
    int status;
    close(fd[0]);
    if (waitpid(pid, &status, 0) != pid) die("waitpid: %s", strerror(errno));
    if (drain_ns) *drain_ns = ns_of(CLOCK_MONOTONIC) - end;
    if (WIFSIGNALED(status)) die("the process with the plugin was killed by signal %d", WTERMSIG(status));
    if (!whole || status) die("the process with the plugin failed");
}

/* ---- what a recording holds ---- */

struct held {
    uint64_t kept, lost; /* callbacks: start, stop, state; lost ones as counted by the recorder */
    uint64_t file_bytes; /* on disk: the .rsc file */
    uint64_t words_bytes; /* the kept records as they lay in memory */
    uint64_t raw_bytes; /* of them, stored without compression because the recorder was behind */
    uint64_t sealer_cpu_ns;
    bool complete; /* nothing lost, nothing damaged, closed well */
};

static inline void held_in_one(struct rs_source *s, struct held *h)
{
    struct rs_recording *r = s->recording;
    struct rs_summary sum;
    rs_summary_init(&sum, s);
    h->kept += sum.calls[RS_CALL_START] + sum.calls[RS_CALL_STOP] + sum.calls[RS_CALL_STATE];
    h->lost += rs_recording_lost(r);
    h->file_bytes += r->file.size;
    for (size_t i = 0; i < r->nevents; i++) {
        uint64_t bytes = UINT64_C(8) * (r->events[i].header.to - r->events[i].header.from);
        h->words_bytes += bytes;
        if (r->events[i].header.coding == RS_CODING_RAW) h->raw_bytes += bytes;
    }
    h->sealer_cpu_ns += r->header.status.sealer_cpu_ns;
    h->complete &= rs_source_complete(s);
    rs_summary_free(&sum);
}

/* Reads the recordings of `folder` with the reader's own library. */
static inline void held_in(const char *folder, struct held *h)
{
    struct rs_inputs inputs;
    struct rs_err err = {.code = RS_OK};
    char *path = (char *)(uintptr_t)folder;
    *h = (struct held){.complete = true};
    if (rs_inputs_open(&inputs, &path, 1, NULL, &err)) die("%s", err.msg);
    for (size_t i = 0; i < inputs.n; i++) held_in_one(&inputs.sources[i], h);
    rs_inputs_close(&inputs);
}

#endif
