/* Output fields: each is one row of a table, with its name, type, unit, documentation and getter. All outputs are
 * generated from these tables: JSON, CSV, the columns and rows of SQLite, arguments of slices, attributes of OTF2, the
 * terms of `explain`, the tables of docs/json.md and docs/sql.md.
 *
 * A table is a file NAME.inc of rows FIELD(name, type, unit, outputs, value, .doc = "..."), which fields/NAME.c
 * includes as data, and its header as an enum (RS_OP_seq) if single fields are needed. FIELD_AS(id, "name", ...): a
 * name that occurs twice in the table, in an object. `value` is an expression over `r`, the row struct that NAME.h
 * declares and the caller fills in once per line. Constant data; any thread. */
#ifndef RS_FIELDS_FIELD_H
#define RS_FIELDS_FIELD_H

#include "base/json.h"
#include "model/model.h"

enum rs_out_type {
    RS_OUT_NULL, /* of a value only */
    RS_OUT_INT,
    RS_OUT_UINT,
    RS_OUT_DOUBLE,
    RS_OUT_BOOL,
    RS_OUT_HEX, /* "0x" and 16 digits */
    RS_OUT_TEXT,
    RS_OUT_NUMBERS, /* a list, item by item: rs_out_field.next */
    RS_OUT_TEXTS,
    RS_OUT_OBJECT, /* of JSON: the following rows with `inside` are its keys; null: the whole object is null */
    RS_OUT_ROWS, /* of JSON: lists and objects of another kind: rs_out_field.write */
};

enum rs_out_unit { RS_OUT_PLAIN, RS_OUT_NS, RS_OUT_BYTES, RS_OUT_GBS, RS_OUT_SHARE, RS_OUT_PPM, RS_OUT_UNITS };

enum rs_output {
    RS_IN_JSON = 1,
    RS_IN_CSV = 2,
    RS_IN_SQL = 4,
    RS_IN_SLICES = 8, /* arguments of the slices of Chrome and Perfetto traces */
    RS_IN_OTF2 = 16, /* attributes */
    RS_IN_TABLES = RS_IN_JSON | RS_IN_CSV | RS_IN_SQL,
};

/* A value; texts are the row's. In two registers. */
struct rs_value {
    union {
        int64_t i;
        uint64_t u;
        double d;
        const char *text;
    };
    uint32_t n; /* bytes of a text */
    uint8_t type; /* enum rs_out_type */
};

struct rs_out_field {
    const char *name; /* in JSON, CSV and slices */
    uint8_t name_len;
    uint8_t type; /* enum rs_out_type */
    uint8_t unit; /* enum rs_out_unit */
    uint8_t in; /* enum rs_output, or-ed */
    char section; /* see rs_out_table.order */
    bool null; /* JSON has null if it is unknown or does not apply */
    bool optional; /* JSON omits it if null or false */
    bool inside; /* JSON has it in the object before it */
    bool (*when)(const void *row); /* JSON omits it if false; NULL: never */
    const char *doc; /* of docs/json.md; by default also of `explain` and the schema of the database */
    const char *term; /* text of `explain`; NULL: `doc`, or that of another table for the name */
    const char *column, *column_term; /* its name in the database, if different, and the text of `explain` for that */
    const char *sql; /* follows the type in the schema: "NOT NULL", "REFERENCES ranks" */
    const char *comment; /* in the schema; NULL: `doc` */
    struct rs_value (*get)(const void *row); /* NULL of RS_OUT_ROWS */
    bool (*next)(const void *row, uint32_t *at, struct rs_value *item); /* of lists: *at from 0; false: no more */
    void (*write)(struct rs_json *j, const void *row); /* JSON: the value after the key; always for RS_OUT_ROWS */
};

struct rs_out_table {
    const char *name; /* "operation" */
    const char *where; /* "ops --json" */
    const struct rs_out_field *fields;
    uint32_t n;
    /* Outputs with another order of fields name the sections in theirs; NULL: the order of the table. */
    const char *csv_order, *sql_order;
};

/* The fields of an output, in its order. */
enum { RS_OUT_MOST = 64 }; /* fields of a table */
struct rs_out_columns {
    const struct rs_out_field *all[RS_OUT_MOST];
    uint32_t n;
};
void rs_out_columns_make(struct rs_out_columns *c, const struct rs_out_table *table, enum rs_output output);

/* A row as the keys of the object that is open; as an object. */
void rs_out_keys_json(struct rs_json *j, const struct rs_out_table *table, const void *row);
void rs_out_json(struct rs_json *j, const struct rs_out_table *table, const void *row);
/* Fields [from, to) of a table alone. */
void rs_out_some_json(struct rs_json *j, const struct rs_out_table *table, uint32_t from, uint32_t to, const void *row);

/* In files of rows; the including file defines FIELD_AS. */
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
/* A list, an object or rows exist. */
static inline struct rs_value rs_v_some(void)
{
    return (struct rs_value){.type = RS_OUT_ROWS};
}
/* Null if it is RS_TIME_NONE; below 0; RS_NONE; 0. */
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
/* The next of the tools in a set. */
bool rs_v_next_tool(uint32_t tools, uint32_t *at, struct rs_value *item);

#endif
