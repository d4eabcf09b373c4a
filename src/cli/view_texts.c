#include "cli/view_texts.h"

#include <stdlib.h>

#include "analyse/report.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "cli/clocks_json.h"
#include "cli/comms_json.h"
#include "cli/report_json.h"
#include "trace/differences.h"

struct maker {
    struct rs_model *m;
    const struct rs_inputs *in;
    const struct rs_filters *filters;
};

typedef enum rs_status (*write_fn)(const struct maker *x, struct rs_json *j, struct rs_err *err);

/* The lines that a command prints, as text. */
static enum rs_status lines(struct rs_strbuf *out, write_fn write, const struct maker *x, struct rs_err *err)
{
    struct rs_json *j = malloc(sizeof *j); /* large: not for the stack */
    if (!j) return rs_fail(err, RS_NO_MEMORY, "out of memory");
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
    if (status == RS_OK) status = rs_strbuf_take(&out, text, err);
    rs_strbuf_free(&out);
    return status;
}

static enum rs_status write_comms(const struct maker *x, struct rs_json *j, struct rs_err *err)
{
    (void)err;
    for (uint32_t i = 0; i < x->m->ncomms && !rs_json_failed(j); i++) {
        if (x->m->comms[i].over != RS_NONE) continue;
        struct rs_life life = rs_comms_life(x->m, i);
        rs_comms_json(j, x->m, i, &life);
    }
    return RS_OK;
}

static enum rs_status write_clocks(const struct maker *x, struct rs_json *j, struct rs_err *err)
{
    struct rs_clock_rows rows;
    enum rs_status status = RS_OK;
    if (!rs_clock_rows_init(&rows, x->m, &x->filters->filter))
        status = rs_fail(err, RS_NO_MEMORY, "out of memory");
    else
        status = rs_clocks_json(j, x->m, &rows, err);
    rs_clock_rows_free(&rows);
    return status;
}

static enum rs_status write_report(const struct maker *x, struct rs_json *j, struct rs_err *err)
{
    struct rs_report_options options = {.filter = &x->filters->filter, .network = x->filters->level != RS_LEVEL_OPS};
    struct rs_differences settings;
    struct rs_report r;
    RS_TRY(rs_differences_find(&settings, x->in, err));
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
    if (status == RS_OK) status = array(&t->clocks, write_clocks, &x, err);
    if (status == RS_OK) status = lines(&report, write_report, &x, err);
    if (status == RS_OK) status = rs_strbuf_take(&report, &t->report, err);
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
