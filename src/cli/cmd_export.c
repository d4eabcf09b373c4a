/* ringscope export: a joined run in the format of another tool. */
#include <ftw.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/options/filters.h"
#include "cli/print/output.h"
#include "cli/print/screen.h"
#include "cli/reading.h"
#include "cli/view_bundle.h"
#include "export/compress.h"
#include "export/exporter.h"
#include "export/output.h"
#include "join/totals.h"

struct options {
    struct rs_view_options view;
    const char *format, *out, *table, *kineto;
    bool force;
    const struct rs_exporter *exporter; /* of the format */
};

/* ---- which format ---- */

/* "chrome, perfetto, ...": for messages. */
static const char *names(char *text, size_t room)
{
    size_t n = 0;
    text[0] = 0;
    for (size_t i = 0; rs_exporter_at(i); i++)
        n += (size_t)snprintf(text + n, n < room ? room - n : 0, "%s%s", i ? ", " : "", rs_exporter_at(i)->name);
    return text;
}

/* The table of formats in --help. */
static void list_formats(void)
{
    printf("\nformats (--format; without it, the suffix of OUT selects one):\n");
    for (size_t i = 0; rs_exporter_at(i); i++) {
        const struct rs_exporter *e = rs_exporter_at(i);
        const char *suffix = e->suffixes ? e->suffixes : "";
        printf("  %-8s  %-8.*s  %s\n", e->name, (int)strcspn(suffix, " "), suffix, e->what);
    }
}

/* Whether the first `n` characters of `text` end in one of these, which have blanks between. */
static bool ends_in_one(const char *text, size_t n, const char *ends)
{
    char end[32];
    for (size_t m; *ends; ends += m + strspn(ends + m, " ")) {
        m = strcspn(ends, " ");
        snprintf(end, sizeof end, "%.*s", (int)m, ends);
        if (rs_name_ending(text, n, end)) return true;
    }
    return false;
}

/* The format that the name of the output suggests, packed or not; NULL: none. */
static const char *suggested(const char *out)
{
    size_t n = out ? rs_compression_stem(out) : 0;
    for (size_t i = 0; out && rs_exporter_at(i); i++) {
        const struct rs_exporter *e = rs_exporter_at(i);
        size_t stem = e->output == RS_EXPORT_STREAM ? n : strlen(out);
        if (e->suffixes && ends_in_one(out, stem, e->suffixes)) return e->name;
    }
    return NULL;
}

static const char *take_format(void *to, const char *text)
{
    struct options *o = to;
    if (o->format && strcmp(o->format, text) != 0) return "is a second format: give one";
    o->format = text;
    return NULL;
}

/* --to is the end of the span of time, as in all commands; the name of a format is taken too, as --format is. */
static const char *take_to(void *to, const char *text)
{
    struct options *o = to;
    if (rs_exporter_find(text)) return take_format(to, text);
    if (*text < '0' || *text > '9') {
        static char wrong[320];
        char all[256];
        snprintf(wrong, sizeof wrong, "neither a time (1.5s) nor a format (--format: %s)", names(all, sizeof all));
        return wrong;
    }
    return rs_filters_take_to(&o->view.common.filters, text);
}

static bool has_table(const struct rs_exporter *e, const char *table)
{
    for (const char *const *t = e->tables; t && *t; t++)
        if (!strcmp(*t, table)) return true;
    return false;
}

/* Whether its output can go where it is to; -1 to go on, else the exit status. */
static int check_place(const struct rs_command *self, const struct options *o)
{
    const struct rs_exporter *e = o->exporter;
    bool piped = !o->out || !strcmp(o->out, "-");
    if (o->out && !*o->out) return rs_opt_usage(self, "-o names nothing");
    if (piped && e->output != RS_EXPORT_STREAM)
        return rs_opt_usage(self, "%s cannot go to a pipe: name a %s with -o", e->name,
                            e->output == RS_EXPORT_FOLDER ? "folder" : "file");
    if (piped && e->binary && isatty(STDOUT_FILENO))
        return rs_opt_usage(self, "%s is nothing for a terminal: name a file with -o", e->name);
    return -1;
}

/* Refuses what the format would ignore; -1 to go on, else the exit status. */
static int check_used(const struct rs_command *self, const struct options *o)
{
    const struct rs_exporter *e = o->exporter;
    const struct rs_common *c = &o->view.common;
    if (o->table && !e->tables) return rs_opt_usage(self, "--table goes with --format csv");
    if (o->table && !has_table(e, o->table))
        return rs_opt_usage(self, "there is no table '%s'; there are operations, ranks and events", o->table);
    bool rows = e->rows && (!e->rows_table || (o->table && !strcmp(o->table, e->rows_table)));
    const char *of_rows = c->rows ? "--rows" : c->filters.has_level ? "--level" : NULL;
    if (of_rows && !e->rows)
        return rs_opt_usage(self, "%s changes nothing here: %s keeps all events of an operation", of_rows, e->name);
    if (of_rows && !rows)
        return rs_opt_usage(self, "%s changes nothing here: it goes with --table %s", of_rows, e->rows_table);
    if (c->title && !e->titled) return rs_opt_usage(self, "--title: %s has no place for one", e->name);
    return check_place(self, o);
}

/* -1 to go on, else the exit status. */
static int check(const struct rs_command *self, struct options *o)
{
    char all[256];
    if (o->kineto && o->format && strcmp(o->format, "kineto") != 0)
        return rs_opt_usage(self, "--kineto writes a Kineto trace back, not %s", o->format);
    if (o->kineto) o->format = "kineto";
    if (!o->format) o->format = suggested(o->out);
    if (!o->format)
        return rs_opt_usage(self,
                            "which format? --format one of %s; or an OUT with a suffix: x.json, .pftrace, .db, .csv...",
                            names(all, sizeof all));
    o->exporter = rs_exporter_find(o->format);
    if (!o->exporter) return rs_opt_usage(self, "unknown format '%s'; there are %s", o->format, names(all, sizeof all));
    if (o->exporter->lacks) {
        rs_warn(self->name, "--format %s: this ringscope was built without %s", o->format, o->exporter->lacks);
        return RS_EXIT_FAILURE;
    }
    return check_used(self, o);
}

/* ---- what cannot go well ---- */

/* Whether what would be replaced is `path`, or contains it. */
static bool would_lose(const struct stat *out, const char *real_out, const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0 && st.st_dev == out->st_dev && st.st_ino == out->st_ino) return true;
    char *real = S_ISDIR(out->st_mode) ? realpath(path, NULL) : NULL;
    size_t n = strlen(real_out);
    bool contains = real && !strncmp(real, real_out, n) && real[n] == '/';
    free(real);
    return contains;
}

/* An input that would be gone when OUT is in its place; NULL: none. */
static const char *endangered(const struct rs_inputs *in, const char *out)
{
    struct stat st;
    if (!out || !strcmp(out, "-") || lstat(out, &st) != 0) return NULL;
    char *real = realpath(out, NULL);
    const char *found = NULL;
    for (size_t i = 0; real && i < in->n && !found; i++)
        if (would_lose(&st, real, in->sources[i].recording->path)) found = in->sources[i].recording->path;
    for (size_t i = 0; real && i < in->nothers && !found; i++)
        if (would_lose(&st, real, in->others[i].path)) found = in->others[i].path;
    free(real);
    return found;
}

/* 0, or the exit status after the reason was printed. */
static int check_inputs(const struct rs_command *self, const struct rs_exporter *e, const struct options *o,
                        const struct rs_inputs *in)
{
    const char *lost = o->force ? endangered(in, o->out) : NULL;
    if (lost) {
        rs_warn(self->name, "%s: %s is read for this, and would be lost: name another place", o->out, lost);
        return RS_EXIT_FAILURE;
    }
    if (!e->recordings || !in->nothers) return 0;
    if (!in->n) {
        rs_warn(self->name,
                "%s: no recording of ringscope: %s contains the callbacks of recordings, which other tools' traces do "
                "not have (`ringscope ops --json` has their operations)",
                in->others[0].path, e->name);
        return RS_EXIT_FAILURE;
    }
    rs_warn(self->name, "%zu file%s of other tools skipped: %s contains the callbacks of recordings", in->nothers,
            in->nothers == 1 ? "" : "s", e->name);
    return 0;
}

/* ---- writing ---- */

/* Also where the reader of a pipe went away: half a trace is none. */
static int write_failed(const struct rs_command *self, const struct rs_err *err)
{
    rs_print_err(self->name, err);
    return RS_EXIT_FAILURE;
}

/* `v` NULL: without a join. */
static enum rs_status write_it(const struct rs_exporter *e, const struct options *o, struct rs_inputs *in,
                               struct rs_drawing *v, struct rs_output *place, struct rs_err *err)
{
    struct rs_export x = {
        .timeline = v ? &v->timeline : NULL,
        .title = v ? v->title : NULL,
        .file = place->file,
        .path = place->temporary,
        .name = o->out && strcmp(o->out, "-") ? o->out : "standard output",
        .table = o->table,
        .only = o->kineto,
        .progress = rs_reading_progress,
    };
    RS_TRY(v ? rs_export_run(e, &x, err) : e->unjoined(&x, in, err));
    return rs_output_commit(place, err);
}

static uint64_t written; /* bytes, of a walk */

static int add_size(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)path, (void)at;
    if (type == FTW_F) written += (uint64_t)st->st_size;
    return 0;
}

/* What is in OUT now; nothing of what went to a pipe. `v` NULL: whole recordings. */
static void say_written(const struct options *o, const struct rs_inputs *in, const struct rs_drawing *v)
{
    enum { OPEN_FILES = 8 };
    struct stat st;
    if (!o->out || !strcmp(o->out, "-") || stat(o->out, &st) || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))) return;
    written = 0;
    nftw(o->out, add_size, OPEN_FILES, FTW_PHYS);
    rs_screen_print("%s: %s, %s", o->out, o->exporter->name, rs_text_bytes(written).s);
    uint64_t ops = 0; /* as `ops` and `report` count them */
    for (uint32_t i = 0; v && i < v->model.ops.n; i++)
        ops += v->model.ops.over[i] == RS_NONE && rs_op_counts(&v->model, i) &&
               rs_filter_op(&o->view.common.filters.filter, &v->model, i);
    if (v)
        rs_screen_print(", %s operation%s of %" PRIu32 " rank%s\n", rs_text_count(ops).s, ops == 1 ? "" : "s",
                        v->model.nranks, v->model.nranks == 1 ? "" : "s");
    else
        rs_screen_print(", all of %zu recording%s\n", in->n, in->n == 1 ? "" : "s");
}

static int export_joined(const struct rs_command *self, const struct rs_exporter *e, struct options *o,
                         struct rs_inputs *in, struct rs_output *place)
{
    struct rs_err err;
    struct rs_drawing v;
    o->view.row_bits &= e->rows;
    int status = rs_drawing_make(self, &v, in, &o->view);
    if (status) return status;
    if (write_it(e, o, in, &v, place, &err) != RS_OK) status = write_failed(self, &err);
    if (!status) say_written(o, in, &v);
    if (!status && !v.timeline.nops)
        rs_warn(self->name, "no operation is in it: %s",
                v.model.ops.n ? "none passes the filters" : "there is none in these files");
    enum { EVEN_IF_EMPTY = 1 }; /* tables without rows are an answer, too */
    return rs_drawing_end(self, &v, &o->view, status, EVEN_IF_EMPTY);
}

static int export_inputs(const struct rs_command *self, struct rs_inputs *in, void *to)
{
    struct options *o = to;
    const struct rs_exporter *e = o->exporter;
    struct rs_err err;
    struct rs_output place; /* first of all: whether it can be written is not to be found out after minutes of work */
    enum rs_export_output kind = e->many && e->many(in, o->kineto) ? RS_EXPORT_FOLDER : e->output;
    int status = check_inputs(self, e, o, in);
    if (status) return status;
    if (rs_output_open(&place, kind, o->out, o->force, e->may_replace, &err) != RS_OK)
        return rs_print_err(self->name, &err);
    if (!e->unjoined || !rs_filter_is_empty(&o->view.common.filters.filter))
        status = export_joined(self, e, o, in, &place);
    else if (write_it(e, o, in, NULL, &place, &err) == RS_OK)
        say_written(o, in, NULL);
    else
        status = write_failed(self, &err);
    rs_output_abort(&place);
    return status;
}

/* Whether `path` is `file`, or the folder that it is in. */
static bool leads_to(const char *path, const char *file)
{
    if (rs_same_file(path, file)) return true;
    const char *slash = strrchr(file, '/');
    char *folder = slash ? rs_strndup(file, slash == file ? 1 : (size_t)(slash - file)) : rs_strdup(".");
    bool is = rs_same_file(path, folder);
    free(folder);
    return is;
}

/* The inputs, and the trace that is written back where it is not among them. */
static int export_named(const struct rs_command *self, struct options *o, char **named, int n)
{
    bool there = !o->kineto;
    for (int i = 0; i < n && !there; i++) there = leads_to(named[i], o->kineto);
    char **all = rs_alloc(((size_t)n + 1) * sizeof *all);
    if (!there) all[0] = (char *)o->kineto; /* in front: of two that are the same the first is read */
    memcpy(all + !there, named, (size_t)n * sizeof *all);
    int status = rs_reading_inputs(self, all, n + !there, o->view.common.run, export_inputs, o);
    free(all);
    return status;
}

static int run(const struct rs_command *self, int argc, char **argv)
{
    struct options o = {.view.begins = true}; /* the same operations as in `ops` */
    const struct rs_opt opts[] = {
        {RS_OPT_EACH, 't', "format", RS_EACH(take_format, &o), "FORMAT",
         "which format, see below (default: by the suffix of OUT)"},
        {RS_OPT_STRING, 'o', "output", &o.out, "OUT", "write here (default: standard output)"},
        {RS_OPT_FLAG, 'f', "force", &o.force, NULL, "overwrite OUT"},
        {RS_OPT_STRING, 0, "table", &o.table, "NAME", "csv: operations, ranks (operation x rank) or events"},
        {RS_OPT_STRING, 0, "kineto", &o.kineto, "FILE",
         "write this Kineto trace again, with waits and last ranks added"},
        {RS_OPT_EACH, 0, "to", RS_EACH(take_to, &o), "TIME",
         "only up to TIME, written as for --from (--to FORMAT is --format FORMAT)"},
        {.kind = RS_OPT_END},
    };
    int n, done = rs_common_parse(self, &o.view.common, opts, argc, argv, &n);
    if (done < 0) done = rs_view_options_check(self, &o.view);
    if (done < 0) done = check(self, &o);
    if (done >= 0) return done;
    o.view.to_bound = o.exporter->to_bound;
    return export_named(self, &o, argv + 1, n);
}

const struct rs_command rs_cmd_export = {
    .name = "export",
    .summary = "a joined run in the format of another tool",
    .usage = "[--format FORMAT] [options] IN... -o OUT",
    .text = "Writes what all ranks did, joined and on one axis, for other programs. OUT appears only when it is "
            "complete; an\n"
            "existing OUT is not overwritten without --force. Output whose name ends in .gz or .zst is compressed.",
    .lists = list_formats,
    .examples =
        "ringscope export rec -o run.pftrace                            # for ui.perfetto.dev\n"
        "ringscope export rec -o ops.csv.gz                             # one row per operation\n"
        "ringscope export --format csv --table events --rank 3 rec      # every event of rank 3\n"
        "ringscope export --format rsc --from 10s --to 12s rec -o part  # two seconds of it, to share\n"
        "ringscope export --kineto rank0.json.gz rec -o with.json.gz    # PyTorch's trace, with waits and last ranks",
    .takes = "draw filter level reading",
    .run = run,
};
