/* What exports cost: time, memory and bytes of the whole command, and of its writing alone.
 *
 *   export [-r rounds] [-o results] RINGSCOPE IN FOLDER FORMAT...    FORMAT: perfetto, chrome, csv, otf2, sqlite, rsc
 *
 * Of each format the command runs in its own process: its CPU time and peak memory are the kernel's. Streams go
 * through a pipe into /dev/null and are counted on their way, so that no disk is measured; what a library writes goes to
 * FOLDER and is removed. Then the same export is driven by the library's calls, and CPU time is taken around those of
 * the exporter: that is writing, as against reading, joining and arranging, which all formats share. The two take turns;
 * of each the cheapest round counts. */
#include <fcntl.h>
#include <getopt.h>
#include <sys/mman.h>
#include <sys/resource.h>
#ifndef RS_NO_SQLITE
#include <sqlite3.h>
#endif

#include "export/exporter.h"
#include "foreign/formats.h"
#include "import/import.h"
#include "join/join.h"
#include "measure.h"

struct exported {
    double cpu_s, wall_s; /* of the process */
    double write_s; /* CPU time of the exporter's calls; 0 of a command */
    uint64_t bars, callbacks, rows; /* rows: of a database; an exporter that takes no bars counts callbacks */
    uint64_t bytes;
    long rss_kib;
};

struct job {
    char *ringscope, *in, *format;
    char out[4096]; /* "": a stream */
};

/* ---- writing alone ---- */

static const struct rs_exporter *inner;
static double write_ns;
static uint64_t bars_seen;

static enum rs_status timed_begin(struct rs_export *x, struct rs_err *err)
{
    double begin = ns_of(CLOCK_PROCESS_CPUTIME_ID);
    enum rs_status status = inner->begin(x, err);
    write_ns += ns_of(CLOCK_PROCESS_CPUTIME_ID) - begin;
    return status;
}

static enum rs_status timed_piece(struct rs_export *x, uint32_t proc, const struct rs_bars *bars, struct rs_err *err)
{
    double begin = ns_of(CLOCK_PROCESS_CPUTIME_ID);
    enum rs_status status = inner->piece(x, proc, bars, err);
    write_ns += ns_of(CLOCK_PROCESS_CPUTIME_ID) - begin;
    bars_seen += bars->n;
    return status;
}

static enum rs_status timed_end(struct rs_export *x, struct rs_err *err)
{
    double begin = ns_of(CLOCK_PROCESS_CPUTIME_ID);
    enum rs_status status = inner->end(x, err);
    write_ns += ns_of(CLOCK_PROCESS_CPUTIME_ID) - begin;
    return status;
}

/* In a child: standard output is the stream. */
static void drive(const struct job *job, struct exported *to)
{
    char *paths[] = {job->in};
    struct rs_inputs in;
    struct rs_model m = {0};
    struct rs_timeline t;
    struct rs_err err;
    inner = rs_exporter_find(job->format);
    if (!inner) die("there is no format %s", job->format);
    const struct rs_timeline_options options = {.rows = inner->rows, .begins = true};
    if (rs_inputs_open(&in, paths, 1, NULL, &err) != RS_OK || rs_formats_recognise(&in, &err) != RS_OK ||
        rs_import(&m, &in, NULL, &err) != RS_OK || rs_formats_fill(&m, &in, NULL, &err) != RS_OK)
        die("%s", err.msg);
    rs_model_link(&m);
    if (rs_join(&m, true, &err) != RS_OK) die("%s", err.msg);
    rs_timeline_init(&t, &m, &in, &options);
    struct rs_exporter timed = *inner;
    timed.begin = timed_begin;
    if (inner->piece) timed.piece = timed_piece;
    if (inner->end) timed.end = timed_end;
    struct rs_export x = {.timeline = &t, .title = "bench", .file = stdout, .path = job->out, .name = job->format};
    if (inner->output == RS_EXPORT_FOLDER && mkdir(job->out, 0777)) die("%s: %s", job->out, strerror(errno));
    if (inner->tables) x.table = "events";
    if (rs_export_run(&timed, &x, &err) != RS_OK) die("%s", err.msg);
    to->write_s = write_ns / 1e9;
    to->bars = bars_seen;
    to->callbacks = m.callbacks;
}

/* ---- one run ---- */

static uint64_t sum_bytes;

static int add_bytes(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)path, (void)ftw;
    if (type == FTW_F) sum_bytes += (uint64_t)st->st_size;
    return 0;
}

/* Rows of all tables. */
static uint64_t count_rows(const char *path)
{
    uint64_t rows = 0;
#ifndef RS_NO_SQLITE
    sqlite3 *db;
    sqlite3_stmt *tables = NULL, *count = NULL;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "SELECT 'SELECT count(*) FROM ' || name FROM sqlite_schema WHERE type = 'table'", -1,
                           &tables, NULL) != SQLITE_OK)
        die("%s: %s", path, sqlite3_errmsg(db));
    while (sqlite3_step(tables) == SQLITE_ROW) {
        const char *sql = (const char *)sqlite3_column_text(tables, 0);
        if (sqlite3_prepare_v2(db, sql, -1, &count, NULL) != SQLITE_OK || sqlite3_step(count) != SQLITE_ROW)
            die("%s: %s", path, sqlite3_errmsg(db));
        rows += (uint64_t)sqlite3_column_int64(count, 0);
        sqlite3_finalize(count);
    }
    sqlite3_finalize(tables);
    sqlite3_close(db);
#else
    (void)path;
#endif
    return rows;
}

static void in_the_child(const struct job *job, bool command, struct exported *to)
{
    bool csv = !strcmp(job->format, "csv");
    char *args[12] = {job->ringscope, "export", "--to", job->format, job->in};
    int n = 5;
    if (csv) args[n++] = "--table", args[n++] = "events";
    if (*job->out) args[n++] = "-o", args[n++] = (char *)(uintptr_t)job->out;
    if (command) {
        execv(args[0], args);
        _exit(127);
    }
    drive(job, to);
    exit(fflush(stdout) ? 1 : 0);
}

static struct exported run_once(const struct job *job, bool command)
{
    int fd[2], nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC), status;
    if (nowhere < 0 || pipe2(fd, O_CLOEXEC)) die("pipe: %s", strerror(errno));
    struct exported *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), r;
    if (shared == MAP_FAILED) die("mmap: %s", strerror(errno));
    fflush(NULL);
    double begin = ns_of(CLOCK_MONOTONIC);
    pid_t pid = fork();
    if (pid < 0) die("fork: %s", strerror(errno));
    if (!pid) {
        dup2(fd[1], STDOUT_FILENO);
        in_the_child(job, command, shared);
    }
    close(fd[1]);
    ssize_t n;
    sum_bytes = 0;
    while ((n = splice(fd[0], NULL, nowhere, NULL, 1 << 20, 0)) > 0) sum_bytes += (uint64_t)n;
    struct rusage usage;
    if (wait4(pid, &status, 0, &usage) != pid || status) die("export --to %s failed", job->format);
    r = *shared;
    r.wall_s = (ns_of(CLOCK_MONOTONIC) - begin) / 1e9;
    r.cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
              (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    r.rss_kib = usage.ru_maxrss;
    if (*job->out) {
        nftw(job->out, add_bytes, 16, FTW_PHYS);
        if (!command && !strcmp(job->format, "sqlite")) r.rows = count_rows(job->out);
        remove_folder(job->out);
    }
    r.bytes = sum_bytes;
    munmap(shared, sizeof *shared);
    close(fd[0]);
    close(nowhere);
    return r;
}

static void measure(struct job *job, const char *folder, int rounds)
{
    const struct rs_exporter *e = rs_exporter_find(job->format);
    if (!e) die("there is no format %s", job->format);
    job->out[0] = 0;
    if (e->output != RS_EXPORT_STREAM &&
        (size_t)snprintf(job->out, sizeof job->out, "%s/out.%s", folder, job->format) >= sizeof job->out)
        die("%s: too long a name", folder);
    struct exported whole = {.cpu_s = 1e9}, own = {.write_s = 1e9};
    for (int i = 0; i < rounds; i++) {
        struct exported w = run_once(job, true), o = run_once(job, false);
        if (w.cpu_s < whole.cpu_s) whole = w;
        if (o.write_s < own.write_s) own = o;
    }
    const char *what = own.rows ? "rows" : own.bars ? "bars" : "callbacks";
    double n = (double)(own.rows ? own.rows : own.bars ? own.bars : own.callbacks);
    printf(
        "  %-8s %5.1f M %s, %.2f M/s of CPU time, %.2f M/s of writing alone, %6.1f bytes each, peak %.0f MiB; %.1f s "
        "(%.1f s wall)\n",
        job->format, n / 1e6, what, n / whole.cpu_s / 1e6, n / own.write_s / 1e6, (double)whole.bytes / n,
        (double)whole.rss_kib / 1024, whole.cpu_s, whole.wall_s);
    char key[64];
    snprintf(key, sizeof key, "export_%s", job->format);
    result(key, "%.2f %.2f %.1f %.0f %.3f %.3f", n / whole.cpu_s / 1e6, n / own.write_s / 1e6, (double)whole.bytes / n,
           (double)whole.rss_kib / 1024, whole.cpu_s, own.write_s);
}

int main(int argc, char **argv)
{
    int o, rounds = 1;
    while ((o = getopt(argc, argv, "r:o:")) != -1) switch (o) {
        case 'r': rounds = atoi(optarg); break;
        case 'o': bench_results = optarg; break;
        default: return 2;
        }
    if (argc - optind < 4 || rounds < 1) {
        fputs("usage: export [-r rounds] [-o results] RINGSCOPE IN FOLDER FORMAT...\n", stderr);
        return 2;
    }
    struct job job = {.ringscope = argv[optind], .in = argv[optind + 1]};
    printf("\nexports of a generated job; best of %d\n", rounds);
    for (int i = optind + 3; i < argc; i++) {
        job.format = argv[i];
        measure(&job, argv[optind + 2], rounds);
    }
    return 0;
}
