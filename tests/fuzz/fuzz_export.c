/* Real recordings with any words changed, through the exporters: the first byte says which, and with which filter.
 *
 * Text is whole: UTF-8, brackets of JSON that close, rows of CSV that are as long as the first. Cuts can be opened. */
#include <dirent.h>
#include <ftw.h>
#include <sys/stat.h>

#include "base/utf8.h"
#include "changed.h"
#include "export/exporter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const originals[FILES] = {"tests/data/sim-aggregate/host00.22643.rsc",
                                             "tests/data/sim-aggregate/host00.22644.rsc"};

static void must(bool fine)
{
    if (!fine) abort();
}

static void check_utf8(const char *s, size_t n)
{
    for (size_t i = 0, len; i < n; i += len) must((len = rs_utf8_length(s + i, n - i)) > 0);
}

/* Brackets match, and strings hold no raw control characters. */
static void check_json(const char *s, size_t n)
{
    char open[64];
    unsigned depth = 0;
    bool string = false;
    for (size_t i = 0; i < n; i++) {
        if (string) {
            must((unsigned char)s[i] >= 0x20);
            if (s[i] == '\\')
                i++;
            else
                string = s[i] != '"';
        } else if (s[i] == '"') {
            string = true;
        } else if (s[i] == '{' || s[i] == '[') {
            must(depth < sizeof open);
            open[depth++] = s[i] == '{' ? '}' : ']';
        } else if (s[i] == '}' || s[i] == ']') {
            must(depth && open[--depth] == s[i]);
        }
    }
    must(!depth && !string);
}

static void check_csv(const char *s, size_t n)
{
    size_t cells = 1, first = 0;
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '"') quoted = !quoted;
        if (quoted) continue;
        cells += s[i] == ',';
        if (s[i] != '\n') continue;
        must(i && s[i - 1] == '\r' && (!first || cells == first));
        first = cells;
        cells = 1;
    }
    must(!quoted && first && cells == 1);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void check_cuts(const char *out)
{
    struct rs_dir dir;
    must(rs_dir_list(&dir, out, NULL, NULL) == RS_OK && dir.count == FILES);
    for (size_t i = 0; i < dir.count; i++) {
        char path[256];
        struct rs_recording *r;
        snprintf(path, sizeof path, "%s/%s", out, dir.names[i]);
        must(rs_recording_open(&r, path, NULL) == RS_OK && rs_recording_is_cut(r) && !r->damaged);
        rs_recording_close(r);
    }
    rs_dir_free(&dir);
}

static void export(const struct rs_exporter *e, struct rs_timeline *t, const char *table)
{
    char out[96], *text = NULL;
    size_t n = 0;
    struct rs_err err = {0};
    snprintf(out, sizeof out, "%s/out", folder);
    struct rs_export x = {.timeline = t, .title = "changed", .name = "out", .path = out, .table = table};
    if (e->output == RS_EXPORT_PATH) x.path = ":memory:";
    if (e->output == RS_EXPORT_STREAM) must((x.file = open_memstream(&text, &n)) != NULL);
    if (e->output == RS_EXPORT_FOLDER) must(mkdir(out, 0700) == 0);
    bool fine = rs_export_run(e, &x, &err) == RS_OK;
    must(fine || err.msg[0]);
    if (x.file) fclose(x.file);
    if (fine && x.file && !e->binary) check_utf8(text, n);
    if (fine && (e == &rs_exporter_chrome || e == &rs_exporter_jsonl)) check_json(text, n);
    if (fine && e == &rs_exporter_csv) check_csv(text, n);
    if (fine && e == &rs_exporter_rsc) check_cuts(out);
    if (e->output == RS_EXPORT_FOLDER) nftw(out, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const functions[] = {"AllReduce"};
    static const struct rs_range ranks[] = {{1, 1}};
    static const struct rs_filter filters[] = {
        {0}, {.funcs = functions, .nfuncs = 1}, {.ranks = ranks, .nranks = 1}, {.has_to = true, .to = INT64_MAX / 2}};
    struct rs_inputs in;
    struct rs_model m;
    struct rs_timeline t;
    struct rs_err err = {0};
    if (!size || !read_changed(&in, &m, data + 1, size - 1)) return 0;
    unsigned which = data[0] >> 2, count = 0, tables = 0;
    while (rs_exporter_at(count)) count++;
    const struct rs_exporter *e = rs_exporter_at(which % count);
    while (e->tables && e->tables[tables]) tables++;
    const struct rs_timeline_options options = {
        .rows = e->rows, .filter = &filters[data[0] & 3], .piece = size & 1 ? 3 : 0, .begins = true};
    if (!e->lacks && rs_timeline_make(&t, &m, &in, &options, &err) == RS_OK) {
        export(e, &t, tables ? e->tables[which / count % tables] : NULL);
        rs_timeline_free(&t);
    }
    rs_model_free(&m);
    rs_inputs_close(&in);
    return 0;
}
