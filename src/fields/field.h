/* Output fields: each is one row of a table, with its name, type, unit, documentation and getter. Every output iterates over
 * these tables: JSON, CSV, the columns and rows of SQLite, arguments of slices, attributes of OTF2, the terms of `explain`,
 * the tables of docs/json.md and docs/sql.md.
 *
 * A table is a file NAME.inc of rows FIELD(name, type, unit, outputs, value, .doc = "..."). NAME.c makes it an array
 * (fields/table.inc), and where single fields are referred to, NAME.h makes it an enum (RS_OP_seq). FIELD_AS(id, "name",
 * ...) is for a name that occurs twice in a table, once inside an object. `value` is an expression over `r`, the row struct
 * that NAME.h declares and the caller sets once per row. Constant data; any thread. */
#ifndef RS_FIELDS_FIELD_H
#define RS_FIELDS_FIELD_H

#include "base/json.h"
#include "model/model.h"

enum rs_out_type {
    RS_OUT_NULL, /* of a value */
    RS_OUT_ANY = RS_OUT_NULL, /* of a field: values of several types */
    RS_OUT_INT,
    RS_OUT_UINT,
    RS_OUT_DOUBLE,
    RS_OUT_BOOL,
    RS_OUT_HEX, /* "0x" and 16 digits */
    RS_OUT_TEXT,
    RS_OUT_NUMBERS, /* a list, item by item: rs_out_field.next */
    RS_OUT_TEXTS,
    RS_OUT_OBJECT, /* of JSON: the following rows with `inside` are its keys; null: the whole object is */
    RS_OUT_ROWS, /* of JSON: other lists and objects: rs_out_field.write */
};

enum rs_out_unit { RS_OUT_PLAIN, RS_OUT_NS, RS_OUT_BYTES, RS_OUT_GBS, RS_OUT_SHARE, RS_OUT_PPM, RS_OUT_UNITS };

enum rs_out_format {
    RS_IN_JSON = 1,
    RS_IN_CSV = 2,
    RS_IN_SQL = 4,
    RS_IN_SLICES = 8, /* arguments of the slices of Chrome and Perfetto traces */
    RS_IN_OTF2 = 16, /* attributes */
    RS_IN_KINETO = 32, /* arguments added to the events of a Kineto trace, as "ringscope NAME" */
    RS_IN_TABLES = RS_IN_JSON | RS_IN_CSV | RS_IN_SQL,
};

/* A value; texts are owned by the row. Passed in two registers. */
struct rs_value {
    union {
        int64_t i;
        uint64_t u;
        double d;
        const char *text;
    };
    uint32_t n; /* bytes of a text */
    uint8_t type; /* enum rs_out_type */
    bool literal; /* a text in UTF-8 that stays until the output is complete: need not be copied */
};

struct rs_out_field {
    const char *name; /* in JSON, CSV and slices */
    uint8_t name_len;
    uint8_t type; /* enum rs_out_type */
    uint8_t unit; /* enum rs_out_unit */
    uint8_t in; /* enum rs_out_format, or-ed */
    char section; /* see rs_out_table.order */
    bool null; /* JSON has null where it is not known or does not apply */
    bool optional; /* JSON omits it if it is null or false */
    bool inside; /* in JSON it is in the object before it */
    bool (*when)(const void *row); /* JSON omits it if this is false; NULL: never */
    const char *doc; /* for docs/json.md, and for what has no text of its own below */
    const char *term; /* for `explain`; NULL: `doc`, or the text of another table for this name */
    const char *column,
        *column_term; /* its name in the database, if that is another, and the text of `explain` for that */
    const char *sql; /* what follows the type in the schema: "NOT NULL", "REFERENCES ranks" */
    const char *comment; /* in the schema; NULL: `doc` */
    struct rs_value (*get)(const void *row); /* NULL of RS_OUT_ROWS */
    bool (*next)(const void *row, uint32_t *at, struct rs_value *item); /* of lists: *at from 0; false: no more */
    void (*write)(struct rs_json *j, const void *row); /* JSON: writes the value; set in all RS_OUT_ROWS */
};

struct rs_out_table {
    const char *name; /* "operation" */
    const char *where; /* "ops --json" */
    const struct rs_out_field *fields;
    uint32_t n;
    /* The order of sections, for outputs whose order is not that of the table; NULL: as in the table. */
    const char *csv_order, *sql_order;
};

/* All tables by index; NULL after the last. */
const struct rs_out_table *rs_out_table(size_t index);
extern const struct rs_out_table rs_out_operation, rs_out_op_rank, rs_out_event, rs_out_process, rs_out_communicator,
    rs_out_member, rs_out_clock, rs_out_straggler, rs_out_lateness, rs_out_finding, rs_out_network, rs_out_slow_link,
    rs_out_function;
extern const struct rs_out_table rs_out_run, rs_out_coverage, rs_out_gap, rs_out_setting, rs_out_setting_value,
    rs_out_input, rs_out_damage, rs_out_note, rs_out_init, rs_out_layout, rs_out_role, rs_out_compute, rs_out_slow_gpu,
    rs_out_steps, rs_out_outlier_step, rs_out_course, rs_out_change, rs_out_reference_file, rs_out_reference_point,
    rs_out_statistics, rs_out_stat_process, rs_out_stat_operation, rs_out_stat_call, rs_out_stat_range,
    rs_out_stat_kernel, rs_out_stat_cell, rs_out_metric, rs_out_overlap, rs_out_kernel, rs_out_stage, rs_out_bubble,
    rs_out_stretch, rs_out_host_call, rs_out_annotation, rs_out_critical, rs_out_critical_row, rs_out_critical_segment,
    rs_out_whatif, rs_out_whatif_case, rs_out_diff, rs_out_diff_run, rs_out_diff_row, rs_out_diff_setting,
    rs_out_diff_finding, rs_out_diff_cause;

/* The fields of a table that an output has, in its order. */
enum { RS_OUT_MOST = 96 }; /* fields of a table */
struct rs_out_columns {
    const struct rs_out_field *all[RS_OUT_MOST];
    uint32_t n;
};
void rs_out_columns_make(struct rs_out_columns *c, const struct rs_out_table *table, enum rs_out_format output);

/* Writes a row as keys of the open object; as an object. */
void rs_out_keys_json(struct rs_json *j, const struct rs_out_table *table, const void *row);
void rs_out_json(struct rs_json *j, const struct rs_out_table *table, const void *row);
/* Only fields [from, to) of a table. */
void rs_out_some_json(struct rs_json *j, const struct rs_out_table *table, uint32_t from, uint32_t to, const void *row);

/* For files of rows; FIELD_AS is defined by the including file. */
#define FIELD(id, ...) FIELD_AS(id, #id, __VA_ARGS__)

/* ---- values ---- */

static inline struct rs_value rs_v_null(void)
{
    return (struct rs_value){.type = RS_OUT_NULL};
}
static inline struct rs_value rs_v_int(int64_t v)
{
    return (struct rs_value){.i = v, .type = RS_OUT_INT};
}
static inline struct rs_value rs_v_uint(uint64_t v)
{
    return (struct rs_value){.u = v, .type = RS_OUT_UINT};
}
static inline struct rs_value rs_v_double(double v) /* NaN is written as null */
{
    return (struct rs_value){.d = v, .type = RS_OUT_DOUBLE};
}
static inline struct rs_value rs_v_bool(bool v)
{
    return (struct rs_value){.u = v, .type = RS_OUT_BOOL};
}
static inline struct rs_value rs_v_hex(uint64_t v)
{
    return (struct rs_value){.u = v, .type = RS_OUT_HEX};
}
static inline struct rs_value rs_v_textn(const char *text, size_t n) /* NULL: null */
{
    return (struct rs_value){.text = text, .n = (uint32_t)n, .type = text ? RS_OUT_TEXT : RS_OUT_NULL};
}
struct rs_value rs_v_text(const char *text); /* NULL: null */
struct rs_value rs_v_literal(const char *text); /* see rs_value.literal */
/* For lists, objects and rows: not null. */
static inline struct rs_value rs_v_some(void)
{
    return (struct rs_value){.type = RS_OUT_ROWS};
}
/* Null if RS_TIME_NONE; if below 0; if RS_NONE; if 0. */
static inline struct rs_value rs_v_time(int64_t ns)
{
    return ns == RS_TIME_NONE ? rs_v_null() : rs_v_int(ns);
}
static inline struct rs_value rs_v_known(int64_t v)
{
    return v < 0 ? rs_v_null() : rs_v_int(v);
}
static inline struct rs_value rs_v_rate(double v)
{
    return v < 0 ? rs_v_null() : rs_v_double(v);
}
static inline struct rs_value rs_v_id(uint32_t id)
{
    return id == RS_NONE ? rs_v_null() : rs_v_uint(id);
}
static inline struct rs_value rs_v_hash(uint64_t hash)
{
    return hash ? rs_v_hex(hash) : rs_v_null();
}
static inline struct rs_value rs_v_pid(uint32_t pid)
{
    return pid ? rs_v_uint(pid) : rs_v_null();
}
/* A text of the model (rs_model_text()), a name (rs_model_name_text()); null if 0. */
static inline struct rs_value rs_v_string(const struct rs_model *m, uint16_t id)
{
    return id ? rs_v_text(rs_model_text(m, id)) : rs_v_null();
}
static inline struct rs_value rs_v_name(const struct rs_model *m, uint32_t id)
{
    return id ? rs_v_text(rs_model_name_text(m, id)) : rs_v_null();
}
/* A GPU's uuid with dashes into `to`; NULL: all its bytes are 0, or it is NULL. */
const char *rs_uuid_text(const uint8_t *uuid, char to[37]);
/* The next tool of a set, for lists. */
bool rs_v_next_tool(uint32_t tools, uint32_t *at, struct rs_value *item);

#endif
