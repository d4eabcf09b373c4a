#include "fields/field.h"

#include <assert.h>
#include <string.h>

struct rs_value rs_v_text(const char *text)
{
    return rs_v_textn(text, text ? strlen(text) : 0);
}

struct rs_value rs_v_literal(const char *text)
{
    struct rs_value v = rs_v_text(text);
    v.literal = true;
    return v;
}

const char *rs_uuid_text(const uint8_t *uuid, char to[37])
{
    static const char hex[] = "0123456789abcdef";
    bool known = false;
    size_t at = 0;
    for (int b = 0; uuid && b < 16; b++) {
        known |= uuid[b] != 0;
        if (b == 4 || b == 6 || b == 8 || b == 10) to[at++] = '-';
        to[at++] = hex[uuid[b] >> 4];
        to[at++] = hex[uuid[b] & 15];
    }
    to[at] = 0;
    return known ? to : NULL;
}

bool rs_v_next_tool(uint32_t tools, uint32_t *at, struct rs_value *item)
{
    for (; *at < RS_TOOLS; ++*at)
        if (tools >> *at & 1) {
            *item = rs_v_text(rs_tool_name((uint8_t)(*at)++));
            return true;
        }
    return false;
}

/* ---- tables, columns ---- */

const struct rs_out_table *rs_out_table(size_t index)
{
    static const struct rs_out_table *const tables[] = {&rs_out_process,        &rs_out_operation,
                                                        &rs_out_op_rank,        &rs_out_event,
                                                        &rs_out_communicator,   &rs_out_member,
                                                        &rs_out_clock,          &rs_out_function,
                                                        &rs_out_straggler,      &rs_out_lateness,
                                                        &rs_out_finding,        &rs_out_network,
                                                        &rs_out_slow_link,      &rs_out_run,
                                                        &rs_out_coverage,       &rs_out_gap,
                                                        &rs_out_setting,        &rs_out_setting_value,
                                                        &rs_out_input,          &rs_out_damage,
                                                        &rs_out_note,           &rs_out_init,
                                                        &rs_out_layout,         &rs_out_role,
                                                        &rs_out_compute,        &rs_out_slow_gpu,
                                                        &rs_out_steps,          &rs_out_outlier_step,
                                                        &rs_out_course,         &rs_out_change,
                                                        &rs_out_reference_file, &rs_out_reference_point,
                                                        &rs_out_statistics,     &rs_out_stat_process,
                                                        &rs_out_stat_operation, &rs_out_stat_call,
                                                        &rs_out_stat_range,     &rs_out_stat_kernel,
                                                        &rs_out_stat_cell,      &rs_out_metric,
                                                        &rs_out_overlap,        &rs_out_stage,
                                                        &rs_out_bubble,         &rs_out_stretch,
                                                        &rs_out_kernel,         &rs_out_host_call,
                                                        &rs_out_annotation,     &rs_out_critical,
                                                        &rs_out_critical_row,   &rs_out_critical_segment,
                                                        &rs_out_whatif,         &rs_out_whatif_case,
                                                        &rs_out_diff,           &rs_out_diff_run,
                                                        &rs_out_diff_row,       &rs_out_diff_setting,
                                                        &rs_out_diff_finding,   &rs_out_diff_cause};
    return index < sizeof tables / sizeof *tables ? tables[index] : NULL;
}

void rs_out_columns_make(struct rs_out_columns *c, const struct rs_out_table *t, enum rs_out_format output)
{
    const char *order = output == RS_IN_CSV ? t->csv_order : output == RS_IN_SQL ? t->sql_order : NULL;
    c->n = 0;
    assert(t->n <= RS_OUT_MOST);
    for (const char *section = order; !order || *section; section++) {
        for (uint32_t i = 0; i < t->n; i++)
            if (t->fields[i].in & output && (!order || t->fields[i].section == *section))
                c->all[c->n++] = &t->fields[i];
        if (!order) break;
    }
}

/* ---- JSON ---- */

static void value_json(struct rs_json *j, const struct rs_value *v)
{
    switch (v->type) {
    case RS_OUT_INT: rs_json_i64(j, v->i); break;
    case RS_OUT_UINT: rs_json_u64(j, v->u); break;
    case RS_OUT_DOUBLE: rs_json_double(j, v->d); break;
    case RS_OUT_BOOL: rs_json_bool(j, v->u); break;
    case RS_OUT_HEX: rs_json_hex(j, v->u); break;
    case RS_OUT_TEXT: rs_json_strn(j, v->text, v->n); break;
    default: rs_json_null(j); break;
    }
}

static void list_json(struct rs_json *j, const struct rs_out_field *f, const void *row)
{
    struct rs_value item;
    rs_json_array(j);
    for (uint32_t at = 0; f->next(row, &at, &item);) value_json(j, &item);
    rs_json_end(j);
}

void rs_out_some_json(struct rs_json *j, const struct rs_out_table *t, uint32_t from, uint32_t to, const void *row)
{
    bool open = false, skip = false; /* the rows of an object */
    for (const struct rs_out_field *f = t->fields + from; f < t->fields + to; f++) {
        if (!(f->in & RS_IN_JSON) || (f->when && !f->when(row))) continue;
        if (f->inside && skip) continue;
        if (!f->inside && open) rs_json_end(j);
        if (!f->inside) open = skip = false;
        if (f->write) {
            rs_json_plain_key(j, f->name, f->name_len);
            f->write(j, row);
            continue;
        }
        struct rs_value v = f->get(row);
        if (f->optional && (v.type == RS_OUT_NULL || (v.type == RS_OUT_BOOL && !v.u))) continue;
        rs_json_plain_key(j, f->name, f->name_len);
        if (f->type == RS_OUT_OBJECT && v.type != RS_OUT_NULL) {
            rs_json_object(j);
            open = true;
        } else if (v.type == RS_OUT_ROWS) {
            list_json(j, f, row);
        } else {
            skip = f->type == RS_OUT_OBJECT;
            value_json(j, &v);
        }
    }
    if (open) rs_json_end(j);
}

void rs_out_keys_json(struct rs_json *j, const struct rs_out_table *t, const void *row)
{
    rs_out_some_json(j, t, 0, t->n, row);
}

void rs_out_json(struct rs_json *j, const struct rs_out_table *t, const void *row)
{
    rs_json_object(j);
    rs_out_keys_json(j, t, row);
    rs_json_end(j);
}
