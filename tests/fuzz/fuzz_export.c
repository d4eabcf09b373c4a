/* Small runs, real ones changed and described ones (made_runs.h), through the exporters: bytes of the header say which, and
 * with which filter. Everything is written to memory, but for folders, which are on a file system in memory. */
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/exporter.h"
#include "join/join.h"
#include "made_runs.h"
#include "whole.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64];

static void clean_up(void)
{
    rmdir(folder);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

/* Each can be opened, and says that it is a part. */
static void check_cuts(const char *out, const struct rs_inputs *in)
{
    struct rs_dir dir;
    must(rs_dir_list(&dir, out, NULL, NULL) == RS_OK && dir.count == in->n);
    for (size_t i = 0; i < dir.count; i++) {
        char path[256];
        struct rs_recording *r;
        snprintf(path, sizeof path, "%s/%s", out, dir.names[i]);
        must(rs_recording_open(&r, path, NULL) == RS_OK && rs_recording_is_cut(r) && !r->damaged);
        rs_recording_close(r);
    }
    rs_dir_free(&dir);
}

static const struct rs_exporter *exporter_of(const uint8_t *header)
{
    unsigned count = 0;
    while (rs_exporter_at(count)) count++;
    return rs_exporter_at(header[4] % count);
}

/* Most of its time is that of a library, which takes as long for every run. */
static bool is_slow(const struct rs_exporter *e)
{
    return e == &rs_exporter_sqlite || e == &rs_exporter_otf2;
}

/* Of mutants with a slow exporter one in SLOW_KEPT keeps it: ten with another one take as long. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    enum { SLOW_KEPT = 32 };
    size_t n = mutate_run(data, size, max, seed);
    bool kept = n < HEADER || rs_mix(seed, 4) % SLOW_KEPT == 0;
    for (uint64_t i = 0; !kept && is_slow(exporter_of(data)); i++) data[4] = (uint8_t)rs_mix(seed, 5 + i);
    return n;
}

static void export(const struct rs_exporter *e, struct rs_timeline *t, const char *table)
{
    char out[96], *text = NULL;
    size_t n = 0;
    struct rs_err err = {0};
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "/dev/shm/ringscope-fuzz.XXXXXX");
        must(mkdtemp(folder) != NULL && !atexit(clean_up));
    }
    snprintf(out, sizeof out, "%s/out", folder);
    struct rs_export x = {.timeline = t, .title = "made", .name = "out", .path = out, .table = table};
    bool in_folder = e->output == RS_EXPORT_FOLDER || (e->many && e->many(t->inputs, NULL));
    if (e->output == RS_EXPORT_PATH) x.path = ":memory:";
    if (e->output == RS_EXPORT_STREAM && !in_folder) must((x.file = open_memstream(&text, &n)) != NULL);
    if (in_folder) must(mkdir(out, 0700) == 0);
    bool fine = rs_export_run(e, &x, &err) == RS_OK;
    must(fine || err.msg[0]);
    if (x.file) fclose(x.file);
    if (fine && x.file && !e->binary) check_utf8(text, n);
    if (fine && (e == &rs_exporter_chrome || e == &rs_exporter_jsonl)) check_json(text, n);
    if (fine && e == &rs_exporter_csv) check_csv(text, n);
    if (fine && e == &rs_exporter_rsc) check_cuts(out, t->inputs);
    if (in_folder) nftw(out, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const wanted[] = {"AllReduce"};
    static const struct rs_range ranks[] = {{1, 1}};
    static const struct rs_filter filters[] = {
        {0}, {.funcs = wanted, .nfuncs = 1}, {.ranks = ranks, .nranks = 1}, {.has_to = true, .to = INT64_MAX / 2}};
    struct rs_model m;
    struct rs_inputs *in;
    struct rs_timeline t;
    struct rs_err err = {0};
    unsigned tables = 0;
    if (!make_run(&m, &in, data, size, SMALL_RUNS)) return 0;
    const struct rs_exporter *e = exporter_of(data);
    while (e->tables && e->tables[tables]) tables++;
    rs_model_link(&m);
    enum rs_status status = RS_OK;
    if (status == RS_OK) status = rs_join(&m, data[1] % 8 != 7, &err);
    const struct rs_timeline_options options = {.rows = data[6] & 1 ? e->rows : e->rows & rs_mix(data[6], 1),
                                                .filter = &filters[data[5] % 4],
                                                .piece = data[5] & 4 ? 3 : 0,
                                                .to_bound = e->to_bound,
                                                .begins = true};
    if (status == RS_OK && !e->lacks) rs_timeline_init(&t, &m, in, &options);
    must(status == RS_OK || err.msg[0]);
    if (status == RS_OK && !e->lacks) {
        export(e, &t, tables ? e->tables[data[7] % tables] : NULL);
        rs_timeline_free(&t);
    }
    rs_model_free(&m);
    return 0;
}
