/* Speed and memory of reading a PyTorch profiler trace (Kineto) of a gigabyte into the model.
 *
 *   kineto [-m megabytes] [-r rounds] [-o results] TRACE FOLDER
 *
 * TRACE (plain JSON, as PyTorch writes it) is repeated, with later times and other ids, until there is enough of
 * it; the file lies in FOLDER and is removed at the end. Each round reads it in a process of its own. Rates are of
 * CPU time, the best of the rounds; MB are of 10^6 bytes. */
#include <getopt.h>
#include <sys/resource.h>

#include "foreign/formats.h"

#include "measure.h"

/* ---- the trace ---- */

/* What is moved from one repetition to the next: digits in front of the point. */
static const struct {
    const char *key;
    uint64_t by;
} moved[] = {{"\"ts\": ", 300000}, {"\"correlation\": ", 20000}, {"\"External id\": ", 10000}, {"\"id\": ", 20000}};

static char *read_whole(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END)) die("%s: %s", path, strerror(errno));
    *n = (size_t)ftell(f);
    rewind(f);
    char *text = malloc(*n + 1);
    if (!text || fread(text, 1, *n, f) != *n) die("%s: cannot be read", path);
    text[*n] = 0;
    fclose(f);
    return text;
}

static void write_events(FILE *to, const char *from, const char *end, uint64_t round)
{
    while (from < end) {
        const char *quote = memchr(from, '"', (size_t)(end - from));
        if (!quote) quote = end;
        fwrite(from, 1, (size_t)(quote - from), to);
        from = quote;
        for (size_t i = 0; i < sizeof moved / sizeof *moved && from < end; i++) {
            size_t n = strlen(moved[i].key);
            if ((size_t)(end - from) < n || memcmp(from, moved[i].key, n)) continue;
            char *behind;
            uint64_t v = strtoull(from + n, &behind, 10);
            fprintf(to, "%s%" PRIu64, moved[i].key, v + round * moved[i].by);
            from = behind;
            break;
        }
        if (from == quote && from < end) putc(*from++, to);
    }
}

static double make_trace(const char *sample, const char *path, double bytes)
{
    static const char begin[] = "\"traceEvents\": [", stop[] = "\n  ],\n  \"traceName\"";
    size_t n;
    char *text = read_whole(sample, &n), *events = strstr(text, begin), *end = strstr(text, stop);
    if (!events || !end || end < events) die("%s: no trace as PyTorch writes it", sample);
    events += sizeof begin - 1;
    FILE *f = fopen(path, "wb");
    if (!f) die("%s: %s", path, strerror(errno));
    fwrite(text, 1, (size_t)(events - text), f);
    for (uint64_t round = 0; (double)ftell(f) < bytes; round++) {
        if (round) putc(',', f);
        write_events(f, events, end, round);
    }
    fputs(end, f);
    double written = (double)ftell(f);
    if (fclose(f)) die("%s: %s", path, strerror(errno));
    free(text);
    return written;
}

/* ---- reading it ---- */

struct reading {
    double cpu_s;
    long rss_kib;
    uint32_t activities, parts;
};

static void read_once(void *to, const void *args)
{
    struct reading *r = to;
    char *paths[] = {(char *)(uintptr_t)args};
    struct rs_inputs in;
    struct rs_model m = {0};
    struct rs_err err;
    struct rusage usage;
    double begin = ns_of(CLOCK_PROCESS_CPUTIME_ID);
    if (rs_inputs_open(&in, paths, 1, NULL, &err) != RS_OK || rs_formats_recognise(&in, &err) != RS_OK ||
        rs_formats_fill(&m, &in, NULL, &err) != RS_OK)
        die("%s", err.msg);
    rs_model_link(&m);
    r->cpu_s = (ns_of(CLOCK_PROCESS_CPUTIME_ID) - begin) / 1e9;
    getrusage(RUSAGE_SELF, &usage);
    r->rss_kib = usage.ru_maxrss;
    r->activities = m.activities.n;
    r->parts = m.parts.n;
    rs_model_free(&m);
    rs_inputs_close(&in);
}

int main(int argc, char **argv)
{
    int o, rounds = 3;
    double megabytes = 1000;
    while ((o = getopt(argc, argv, "m:r:o:")) != -1) switch (o) {
        case 'm': megabytes = atof(optarg); break;
        case 'r': rounds = atoi(optarg); break;
        case 'o': bench_results = optarg; break;
        default: return 2;
        }
    if (argc - optind != 2 || rounds < 1) {
        fputs("usage: kineto [-m megabytes] [-r rounds] [-o results] TRACE FOLDER\n", stderr);
        return 2;
    }
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s/kineto_rank0.json", argv[optind + 1]) >= sizeof path)
        die("%s: too long a name", argv[optind + 1]);
    double bytes = make_trace(argv[optind], path, megabytes * 1e6), drained;
    struct reading best = {.cpu_s = 1e9};
    for (int i = 0; i < rounds; i++) {
        struct reading r;
        in_child(NULL, read_once, path, &r, sizeof r, &drained);
        if (r.cpu_s < best.cpu_s) best = r;
    }
    remove(path);
    printf("\nreading a Kineto trace of %.0f MB, %.2f M activities, %u operations: %.0f MB/s of CPU time; %.2f s, peak "
           "%.0f "
           "MiB; best of %d\n",
           bytes / 1e6, best.activities / 1e6, best.parts, bytes / best.cpu_s / 1e6, best.cpu_s,
           (double)best.rss_kib / 1024, rounds);
    result("kineto", "%.0f %.0f", bytes / best.cpu_s / 1e6, (double)best.rss_kib / 1024);
    return 0;
}
