#include "bundle/meta.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/json.h"
#include "bundle/operations.h"

static void argument(struct rs_json *j, const char *label, enum rs_bar_unit unit)
{
    rs_json_object(j);
    rs_json_key_str(j, "label", label);
    if (rs_bar_units[unit]) rs_json_key_str(j, "unit", rs_bar_units[unit]);
    rs_json_end(j);
}

static void kind_json(struct rs_json *j, const struct rs_bar_kind *k)
{
    rs_json_object(j);
    rs_json_key_str(j, "id", k->id);
    rs_json_key_str(j, "label", k->label);
    rs_json_key_u64(j, "row", k->row);
    rs_json_key_str(j, "colour", k->colour);
    if (k->explain) rs_json_key_str(j, "explain", k->explain);
    if (k->marks[0]) {
        rs_json_key(j, "marks");
        rs_json_array(j);
        for (int i = 0; i < RS_BAR_MARKS && k->marks[i]; i++) rs_json_str(j, k->marks[i]);
        rs_json_end(j);
    }
    if (k->args[0]) {
        rs_json_key(j, "arguments");
        rs_json_array(j);
        for (unsigned i = 0; i < RS_BAR_ARGS && k->args[i]; i++)
            argument(j, rs_bar_arg(k, i)->label, rs_bar_arg(k, i)->unit);
        rs_json_end(j);
    }
    rs_json_end(j);
}

static void rows_json(struct rs_json *j)
{
    rs_json_key(j, "rows");
    rs_json_array(j);
    for (unsigned i = 0; i < RS_ROWS; i++) {
        rs_json_object(j);
        rs_json_key_str(j, "id", rs_row_kinds[i].id);
        rs_json_key_str(j, "label", rs_row_kinds[i].label);
        rs_json_key_bool(j, "on", rs_row_kinds[i].on);
        rs_json_key_bool(j, "summary", rs_row_kinds[i].summary);
        rs_json_end(j);
    }
    rs_json_end(j);
}

/* All but what comes as text. */
static void head_json(struct rs_json *j, const struct rs_timeline *t, const char *title)
{
    char begin[24];
    snprintf(begin, sizeof begin, "%" PRId64, t->begin);
    rs_json_object(j);
    rs_json_key_str(j, "title", title ? title : "");
    rs_json_key_str(j, "begin_ns", begin); /* exceeds 2^53 */
    rs_json_key(j, "focus_ns");
    rs_json_array(j);
    rs_json_i64(j, t->focus_from);
    rs_json_i64(j, t->focus_to);
    rs_json_end(j);
    rs_json_key(j, "kinds");
    rs_json_array(j);
    for (unsigned i = 0; i < t->kinds.n; i++) kind_json(j, &t->kinds.rows[i]);
    rs_json_end(j);
    rows_json(j);
    rs_json_key(j, "arguments");
    rs_json_object(j);
    for (unsigned i = 0; i < rs_operations_narguments; i++) {
        rs_json_key(j, rs_operations_arguments[i].column);
        argument(j, rs_operations_arguments[i].label, rs_operations_arguments[i].unit);
    }
    rs_json_end(j);
    rs_json_key(j, "notes");
    rs_json_array(j);
    for (uint32_t i = 0; i < t->model->nnotes; i++) rs_json_str(j, t->model->notes[i].text);
    rs_json_end(j);
    rs_json_end(j);
}

static void put_text(struct rs_strbuf *out, const char *key, const char *text, const char *without)
{
    rs_strbuf_printf(out, ",\"%s\":", key);
    rs_strbuf_puts(out, text ? text : without);
}

enum rs_status rs_meta_write(struct rs_strbuf *out, const struct rs_timeline *t, const struct rs_bundle_texts *texts,
                             struct rs_err *err)
{
    struct rs_json *j = malloc(sizeof *j);
    if (!j) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    rs_json_to_text(j, out, "the page's texts");
    head_json(j, t, texts->title);
    enum rs_status status = rs_json_finish(j, err);
    free(j);
    if (status != RS_OK) return status;
    out->data[--out->len] = 0; /* its last brace comes behind the texts */
    put_text(out, "comms", texts->comms, "[]");
    put_text(out, "clocks", texts->clocks, "[]");
    put_text(out, "report", texts->report, "{}");
    rs_strbuf_putc(out, '}');
    return rs_strbuf_check(out, err);
}
