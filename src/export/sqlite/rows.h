/* Rows of the tables that only the database has: what their columns (TABLE.inc) are computed from. Constant tables of
 * fields; the caller fills in a row and keeps what it points to until the row is written. */
#ifndef RS_EXPORT_SQLITE_ROWS_H
#define RS_EXPORT_SQLITE_ROWS_H

#include "fields/field.h"
#include "timeline/timeline.h"

extern const struct rs_out_table rs_sql_meta, rs_sql_notes, rs_sql_ranks, rs_sql_lanes, rs_sql_events,
    rs_sql_network_steps, rs_sql_launches, rs_sql_statistics, rs_sql_strings;
/* All tables of src/fields (rs_out_table()), and after them these; NULL after the last. */
const struct rs_out_table *rs_sql_each_table(size_t index);

struct rs_sql_meta_row {
    const char *key;
    struct rs_value value;
};

struct rs_sql_rank_row {
    const struct rs_model *m;
    uint32_t id; /* of model.ranks */
    const char *uuid, *bus_id; /* NULL: not known */
    char uuid_text[37];
};
void rs_sql_rank_row_make(struct rs_sql_rank_row *r, const struct rs_model *m, uint32_t id);

struct rs_sql_statistic_row {
    const struct rs_model *m;
    const struct rs_stat *stat;
};

struct rs_sql_string_row {
    uint32_t id;
    const char *text;
    size_t n;
};

/* A lane, and what all its events share. */
struct rs_sql_lane_row {
    const struct rs_timeline *t;
    const struct rs_bar_lane *of; /* for a row of lanes: all pieces together, `from` counted through all processes */
    int64_t id;
    uint32_t proc, rank_id, comm; /* RS_NONE: none */
};

/* Arguments of bars that have a column of their own. */
enum rs_sql_arg {
#define ARG(...)
#define COLUMN_ARG(id, ...) RS_SQL_ARG_##id,
#include "timeline/event_args.inc"
#undef ARG
#undef COLUMN_ARG
    RS_SQL_ARGS
};

/* A bar: an event or a network step. */
struct rs_sql_bar_row {
    const struct rs_sql_lane_row *lane;
    const struct rs_bars *b;
    uint32_t i;
    uint32_t comm; /* RS_NONE: none */
    /* events only */
    const char *kind;
    int64_t args[RS_SQL_ARGS]; /* RS_TIME_NONE: none */
    const char *more; /* JSON of all other arguments; NULL: none */
    size_t more_len;
};

#endif
