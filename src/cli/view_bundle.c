#include "cli/view_bundle.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "bundle/container.h"
#include "cli/output.h"
#include "cli/units.h"
#include "cli/view_texts.h"

/* ---- what is to be drawn ---- */

void rs_view_options_make(struct rs_view_options *o)
{
    *o = (struct rs_view_options){.align = true};
    rs_filters_make(&o->filters);
}

/* Rows that the level leaves out: all below operations; what is deeper than the network's steps. */
static uint64_t rows_of_level(enum rs_level level)
{
    uint64_t all = (1ull << RS_ROWS) - 1;
    uint64_t deepest = 1ull << RS_ROW_NETWORK | 1ull << RS_ROW_PROXY_THREAD;
    uint64_t net = deepest | 1ull << RS_ROW_CHANNELS | 1ull << RS_ROW_PROXY | 1ull << RS_ROW_STEPS;
    return level == RS_LEVEL_OPS ? all & ~net : level == RS_LEVEL_NET ? all & ~deepest : all;
}

static unsigned row_of(const char *id, size_t n)
{
    unsigned i = 0;
    while (i < RS_ROWS && (strlen(rs_row_kinds[i].id) != n || strncmp(rs_row_kinds[i].id, id, n) != 0)) i++;
    return i;
}

int rs_view_options_check(const struct rs_command *cmd, struct rs_view_options *o)
{
    o->row_bits = rows_of_level(o->filters.level);
    if (!o->rows) return -1;
    o->row_bits = 0;
    for (const char *at = o->rows; *at;) {
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

/* "rec: 64 ranks on 8 hosts", as far as that is known. */
static char *title_of(const struct rs_drawing *v, const struct rs_inputs *in)
{
    struct rs_strbuf s = {0};
    const char *path = in->n ? in->sources[0].recording->path : in->nothers ? in->others[0].path : "";
    const char *end = path + strlen(path), *begin;
    if (in->n + in->nothers > 1 && strrchr(path, '/')) end = strrchr(path, '/'); /* of several: their folder */
    while (end > path && end[-1] == '/') end--;
    for (begin = end; begin > path && begin[-1] != '/';) begin--;
    bool says_nothing = *begin == '.' && end - begin <= 2; /* "." or ".." */
    if (!says_nothing) rs_strbuf_add(&s, begin, (size_t)(end - begin));
    if (v->model.world > 0) rs_strbuf_printf(&s, "%s%d ranks", s.len ? ": " : "", v->model.world);
    bool told = true; /* many tools do not tell the host */
    for (uint32_t i = 0; i < v->model.nhosts; i++) told &= rs_host_name(&v->model, i) != NULL;
    if (v->model.nhosts > 1 && told) rs_strbuf_printf(&s, " on %u hosts", (unsigned)v->model.nhosts);
    char *title = NULL;
    if (rs_strbuf_take(&s, &title, NULL) != RS_OK) rs_strbuf_free(&s);
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

int rs_drawing_make(const struct rs_command *cmd, struct rs_drawing *v, struct rs_inputs *in, struct rs_view_options *o)
{
    struct rs_err err;
    *v = (struct rs_drawing){0};
    int bad = rs_reading_join(cmd, in, &v->model, o->align);
    if (bad) return bad;
    rs_filter_resolve(&o->filters.filter, &v->model);
    const struct rs_timeline_options options = {&o->filters.filter, o->row_bits};
    if (rs_timeline_make(&v->timeline, &v->model, in, &options, &err) != RS_OK) {
        rs_model_free(&v->model);
        return rs_print_err(cmd->name, &err);
    }
    if (!has_times(&v->timeline)) {
        rs_warn(cmd->name, "nothing in these files says when it happened, so there is no timeline to draw; "
                           "`ringscope report` shows what they hold");
        rs_drawing_free(v);
        return RS_EXIT_FAILURE;
    }
    v->title = o->title ? strdup(o->title) : title_of(v, in);
    return 0;
}

void rs_drawing_free(struct rs_drawing *v)
{
    rs_timeline_free(&v->timeline);
    rs_model_free(&v->model);
    free(v->title);
    *v = (struct rs_drawing){0};
}

/* ---- the bundle ---- */

static const char *temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

int rs_view_temporary(const struct rs_command *cmd)
{
    struct rs_err err;
    int fd = rs_spool_descriptor(temporary_folder(), &err);
    if (fd < 0) rs_print_err(cmd->name, &err);
    return fd;
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
    RS_TRY(rs_view_texts_make(&texts, &v->model, in, &o->filters, err));
    const struct rs_bundle_texts told = {v->title, texts.comms, texts.clocks, texts.report};
    const struct rs_bundle_place place = {fd, "the bundle (a temporary file)", temporary_folder(), o->most / 4 * 3};
    enum rs_status status = rs_bundle_write(&v->timeline, &told, &place, rs_reading_progress, sizes, err);
    rs_view_texts_free(&texts);
    return status;
}

int rs_view_bundle(const struct rs_command *cmd, struct rs_inputs *in, struct rs_view_options *o, int fd,
                   struct rs_bundle_sizes *sizes)
{
    struct rs_drawing v;
    struct rs_err err;
    int bad = rs_drawing_make(cmd, &v, in, o);
    if (bad) return bad;
    uint32_t said = v.model.nnotes;
    if (write_bundle(&v, in, o, fd, sizes, &err) != RS_OK)
        bad = o->most && sizes->bytes > o->most / 4 * 3 ? rs_view_too_large(cmd, o->most, true)
                                                        : rs_print_err(cmd->name, &err);
    for (uint32_t i = said; i < v.model.nnotes && !bad; i++) rs_warn(cmd->name, "%s", v.model.notes[i].text);
    rs_drawing_free(&v);
    if (!bad && !sizes->bars) {
        rs_warn(cmd->name, "nothing %s",
                o->filters.filter.nranks || o->filters.filter.ncomms || o->rows || o->filters.filter.nfuncs ||
                        o->filters.filter.has_from || o->filters.filter.has_to
                    ? "passes the filters"
                    : "is in these files that could be drawn");
        return RS_EXIT_FAILURE;
    }
    return bad;
}
