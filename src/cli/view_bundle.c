#include "cli/view_bundle.h"
#include "cli/matches.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "bundle/container.h"
#include "bundle/page.h"
#include "cli/json.h"
#include "cli/print/output.h"
#include "conclude/report.h"
#include "trace/differences.h"

/* ---- texts for the page ----
 * What the page of the timeline also contains: the JSON of `comms`, `clocks` and `report`, by the same writers. */

struct maker {
    struct rs_model *m;
    const struct rs_inputs *in;
    const struct rs_filters *filters;
};

typedef enum rs_status (*write_fn)(const struct maker *x, struct rs_json *j, struct rs_err *err);

/* The lines that a command prints, as text. */
static enum rs_status lines(struct rs_strbuf *out, write_fn write, const struct maker *x, struct rs_err *err)
{
    struct rs_json *j = rs_alloc(sizeof *j); /* large: not for the stack */
    rs_json_to_text(j, out, "the page's texts");
    enum rs_status status = write(x, j, err);
    if (status == RS_OK) status = rs_json_finish(j, err);
    free(j);
    return status;
}

/* JSON Lines as an array: each line ends with the only newline in it. */
static enum rs_status array(char **text, write_fn write, const struct maker *x, struct rs_err *err)
{
    struct rs_strbuf out = {0};
    rs_strbuf_putc(&out, '[');
    enum rs_status status = lines(&out, write, x, err);
    for (size_t i = 0; i < out.len; i++)
        if (out.data[i] == '\n') out.data[i] = ',';
    if (status == RS_OK && out.len > 1)
        out.data[out.len - 1] = ']';
    else
        rs_strbuf_putc(&out, ']');
    if (status == RS_OK) rs_strbuf_take(&out, text);
    rs_strbuf_free(&out);
    return status;
}

static enum rs_status write_comms(const struct maker *x, struct rs_json *j, struct rs_err *err)
{
    struct rs_job_layout layout;
    RS_TRY(rs_job_layout_of(&layout, x->m, err));
    for (uint32_t i = 0; i < x->m->ncomms && !rs_json_failed(j); i++) {
        if (x->m->comms[i].over != RS_NONE) continue;
        struct rs_life life = rs_comms_life(x->m, i);
        rs_comms_json(j, x->m, &layout, i, &life);
    }
    rs_job_layout_free(&layout);
    return RS_OK;
}

static enum rs_status write_clocks(const struct maker *x, struct rs_json *j, struct rs_err *err)
{
    (void)err;
    struct rs_clock_rows rows;
    rs_clock_rows_init(&rows, x->m, &x->filters->filter);
    rs_clocks_json(j, x->m, &rows);
    rs_clock_rows_free(&rows);
    return RS_OK;
}

static struct rs_report_options report_options(const struct rs_filters *filters)
{
    return (struct rs_report_options){
        .filter = &filters->filter, .network = filters->level != RS_LEVEL_OPS, .warmup = RS_NONE};
}

static enum rs_status write_report(const struct maker *x, struct rs_json *j, struct rs_err *err)
{
    struct rs_report_options options = report_options(x->filters);
    struct rs_differences settings;
    struct rs_report r;
    rs_differences_find(&settings, x->in);
    enum rs_status status = rs_report_init(&r, x->m, &options, err);
    if (status == RS_OK) {
        rs_report_json(j, &r, &settings, NULL);
        rs_report_free(&r);
    }
    rs_differences_free(&settings);
    return status;
}

enum rs_status rs_view_texts_init(struct rs_view_texts *t, struct rs_model *m, const struct rs_inputs *in,
                                  const struct rs_filters *filters, struct rs_err *err)
{
    const struct maker x = {m, in, filters};
    struct rs_strbuf report = {0};
    *t = (struct rs_view_texts){0};
    enum rs_status status = array(&t->comms, write_comms, &x, err);
    if (status == RS_OK && filters) status = array(&t->clocks, write_clocks, &x, err);
    if (status == RS_OK && filters) status = lines(&report, write_report, &x, err);
    if (status == RS_OK && filters) rs_strbuf_take(&report, &t->report);
    rs_strbuf_free(&report);
    if (status != RS_OK) rs_view_texts_free(t);
    return status;
}

void rs_view_texts_free(struct rs_view_texts *t)
{
    free(t->comms);
    free(t->clocks);
    free(t->report);
    *t = (struct rs_view_texts){0};
}

enum rs_status rs_view_conclude(struct rs_view_conclusion *c, struct rs_model *m, const struct rs_filters *filters,
                                struct rs_err *err)
{
    struct rs_report_options options = report_options(filters);
    struct rs_report r;
    *c = (struct rs_view_conclusion){0};
    RS_TRY(rs_report_init(&r, m, &options, err));
    c->sentences = r.conclusion;
    c->n = r.nconclusion;
    r.conclusion = NULL;
    r.nconclusion = 0;
    rs_report_free(&r);
    return RS_OK;
}

void rs_view_conclusion_free(struct rs_view_conclusion *c)
{
    for (uint32_t i = 0; i < c->n; i++) free(c->sentences[i]);
    free(c->sentences);
    *c = (struct rs_view_conclusion){0};
}

/* ---- what is to be drawn ---- */

uint64_t rs_view_rows(enum rs_level level)
{
    static const uint8_t depths[] = {
        [RS_LEVEL_OPS] = RS_DEPTH_OPS, [RS_LEVEL_NET] = RS_DEPTH_NET, [RS_LEVEL_ALL] = RS_DEPTH_ALL};
    uint64_t bits = 0;
    for (unsigned i = 0; i < RS_ROWS; i++)
        if (rs_row_kinds[i].depth <= depths[level]) bits |= 1ull << i;
    return bits;
}

static unsigned row_of(const char *id, size_t n)
{
    unsigned i = 0;
    while (i < RS_ROWS && (strlen(rs_row_kinds[i].id) != n || strncmp(rs_row_kinds[i].id, id, n) != 0)) i++;
    return i;
}

int rs_view_options_check(const struct rs_command *cmd, struct rs_view_options *o)
{
    o->row_bits = rs_view_rows(o->common.filters.level);
    if (!o->common.rows) return -1;
    if (o->common.filters.has_level) return rs_opt_usage(cmd, "--rows replaces --level: give one of them");
    o->row_bits = 0;
    for (const char *at = o->common.rows; *at;) {
        size_t n = strcspn(at, ",");
        unsigned row = row_of(at, n);
        if (row == RS_ROWS) {
            char known[256];
            size_t len = 0;
            for (unsigned i = 0; i < RS_ROWS && len < sizeof known; i++)
                len += (size_t)snprintf(known + len, sizeof known - len, "%s%s", i ? ", " : "", rs_row_kinds[i].id);
            return rs_opt_usage(cmd, "--rows: there is no kind of row '%.*s'; there are: %s", (int)n, at, known);
        }
        o->row_bits |= 1ull << row;
        at += n + (at[n] == ',');
    }
    return o->row_bits ? -1 : rs_opt_usage(cmd, "--rows names no kind of row");
}

/* ---- the timeline ---- */

char *rs_view_title(const struct rs_model *m, const struct rs_inputs *in)
{
    struct rs_strbuf s = {0};
    const char *path = in->n ? in->sources[0].recording->path : in->nothers ? in->others[0].path : "";
    const char *end = path + strlen(path), *begin;
    if (in->n + in->nothers > 1 && strrchr(path, '/')) end = strrchr(path, '/'); /* of several: their folder */
    while (end > path && end[-1] == '/') end--;
    for (begin = end; begin > path && begin[-1] != '/';) begin--;
    bool says_nothing = *begin == '.' && end - begin <= 2; /* "." or ".." */
    if (!says_nothing) rs_strbuf_add(&s, begin, (size_t)(end - begin));
    uint32_t n = m->nranks;
    if (n) rs_strbuf_printf(&s, "%s%u", s.len ? ": " : "", n);
    if (n && (int64_t)n < m->world) rs_strbuf_printf(&s, " of %d", m->world);
    if (n) rs_strbuf_puts(&s, n == 1 && m->world <= 1 ? " rank" : " ranks");
    bool named = true; /* many tools do not record the host */
    for (uint32_t i = 0; i < m->nhosts; i++) named &= rs_host_name(m, i) != NULL;
    if (m->nhosts > 1 && named) rs_strbuf_printf(&s, " on %u hosts", (unsigned)m->nhosts);
    char *title = NULL;
    rs_strbuf_take(&s, &title);
    return title;
}

/* Whether anything has a time: an operation that is drawn, or an activity of another tool. */
static bool has_times(const struct rs_timeline *t)
{
    const struct rs_model *m = t->model;
    if (m->activities.n || t->inputs->n) return true;
    for (uint32_t i = 0; i < m->parts.n; i++)
        if (m->parts.start[i] != RS_TIME_NONE || m->parts.enqueued[i] != RS_TIME_NONE ||
            m->parts.launched[i] != RS_TIME_NONE)
            return true;
    return false;
}

static void free_drawing(struct rs_drawing *v)
{
    rs_timeline_free(&v->timeline);
    rs_model_free(&v->model);
    free(v->title);
    *v = (struct rs_drawing){0};
}

int rs_drawing_make(const struct rs_command *cmd, struct rs_drawing *v, struct rs_inputs *in, struct rs_view_options *o)
{
    *v = (struct rs_drawing){0};
    int bad = rs_reading_join(cmd, in, &v->model, &o->common);
    if (bad) return bad;
    bad = rs_matches_check(cmd, &o->common.filters.filter, &v->model);
    if (bad) {
        rs_model_free(&v->model);
        return bad;
    }
    const struct rs_timeline_options options = {.filter = &o->common.filters.filter,
                                                .rows = o->row_bits,
                                                .piece = rs_reading_piece(),
                                                .to_bound = o->to_bound,
                                                .begins = o->begins};
    rs_timeline_init(&v->timeline, &v->model, in, &options);
    v->title = o->common.title ? rs_strdup(o->common.title) : rs_view_title(&v->model, in);
    v->said = v->model.nnotes;
    return 0;
}

int rs_drawing_refuse_empty(const struct rs_command *cmd, struct rs_drawing *v, const struct rs_view_options *o)
{
    const struct rs_filter *f = &o->common.filters.filter;
    const char *why = NULL;
    if (!has_times(&v->timeline))
        why =
            "these files contain no times, so there is no timeline to draw; `ringscope report` shows what they contain";
    else if ((f->nfuncs || f->ncomms) && !v->timeline.nops)
        why = "no operation passes the filters; `ringscope comms` lists communicators, `ringscope report` functions";
    if (!why) return 0;
    rs_warn(cmd->name, "%s", why);
    free_drawing(v);
    return RS_EXIT_FAILURE;
}

int rs_drawing_end(const struct rs_command *cmd, struct rs_drawing *v, const struct rs_view_options *o, int status,
                   uint64_t bars)
{
    int64_t span = v->timeline.span;
    for (uint32_t i = v->said; i < v->model.nnotes && !status; i++) rs_warn(cmd->name, "%s", v->model.notes[i].text);
    free_drawing(v);
    if (status || bars) return status;
    const struct rs_filter *f = &o->common.filters.filter;
    bool filtered = f->nranks || f->ncomms || f->nfuncs || f->has_from || f->has_to || o->common.rows;
    if (f->has_from || f->has_to)
        rs_warn(cmd->name, "nothing passes the filters; the run lasts %s", rs_text_ns(span).s);
    else
        rs_warn(cmd->name, "nothing %s", filtered ? "passes the filters" : "to draw in these files");
    return RS_EXIT_FAILURE;
}

/* ---- the bundle ---- */

const char *rs_view_temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

int rs_view_temporary(const struct rs_command *cmd)
{
    struct rs_err err;
    int fd = rs_spool_descriptor(rs_view_temporary_folder(), &err);
    if (fd < 0) rs_print_err(cmd->name, &err);
    return fd;
}

const char *rs_view_page(const struct rs_command *cmd, size_t *bytes)
{
    const char *page = rs_page(bytes);
    if (!page)
        rs_warn(cmd->name,
                "this ringscope was built without the page of the timeline, which needs Node 18 or later to build; "
                "pictures (`ringscope view -o x.svg`, x.png) and `ringscope view --text` need no page");
    return page;
}

/* Base64 makes four bytes of three: of a page of so many, this is a bundle that is sure not to fit. 0: any does. */
static uint64_t most_of_bundle(const struct rs_view_options *o)
{
    return o->most / 4 * 3;
}

int rs_view_too_large(const struct rs_command *cmd, uint64_t bytes, bool more)
{
    rs_warn(cmd->name,
            "the page would be %s%s, which browsers open slowly or not at all: look at it with `ringscope serve`, draw "
            "less of it (--rank, --from and --to, --level ops), or allow it with --most",
            more ? "larger than " : "", rs_text_bytes(bytes).s);
    return RS_EXIT_FAILURE;
}

static enum rs_status write_bundle(struct rs_drawing *v, const struct rs_inputs *in, const struct rs_view_options *o,
                                   int fd, struct rs_bundle_sizes *sizes, struct rs_err *err)
{
    struct rs_view_texts texts;
    RS_TRY(rs_view_texts_init(&texts, &v->model, in, &o->common.filters, err));
    rs_parts_drop_group(&v->model.parts);
    const struct rs_bundle_texts shown = {v->title, texts.comms, texts.clocks, texts.report};
    const struct rs_bundle_place place = {fd, "the bundle (a temporary file)", rs_view_temporary_folder(),
                                          most_of_bundle(o)};
    enum rs_status status = rs_bundle_write(&v->timeline, &shown, &place, rs_reading_progress, sizes, err);
    rs_view_texts_free(&texts);
    return status;
}

int rs_view_bundle(const struct rs_command *cmd, struct rs_inputs *in, struct rs_view_options *o, int fd,
                   struct rs_bundle_sizes *sizes)
{
    struct rs_drawing v;
    struct rs_err err;
    *sizes = (struct rs_bundle_sizes){0};
    int bad = rs_drawing_make(cmd, &v, in, o);
    if (!bad) bad = rs_drawing_refuse_empty(cmd, &v, o);
    if (bad) return bad;
    if (write_bundle(&v, in, o, fd, sizes, &err) != RS_OK)
        bad = o->most && sizes->bytes > most_of_bundle(o) ? rs_view_too_large(cmd, o->most, true)
                                                          : rs_print_err(cmd->name, &err);
    return rs_drawing_end(cmd, &v, o, bad, sizes->bars);
}
