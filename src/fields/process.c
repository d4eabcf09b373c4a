#include "fields/process.h"

static bool is_recording(const void *row)
{
    const struct rs_process_row *r = row;
    return r->recording;
}

static bool is_other(const void *row)
{
    return !is_recording(row);
}

static void write_calls(struct rs_json *j, const void *row)
{
    const struct rs_process_row *r = row;
    r->write(j, r, RS_PROCESS_CALLS);
}

static void write_events(struct rs_json *j, const void *row)
{
    const struct rs_process_row *r = row;
    r->write(j, r, RS_PROCESS_EVENTS);
}

static void write_unknown(struct rs_json *j, const void *row)
{
    const struct rs_process_row *r = row;
    r->write(j, r, RS_PROCESS_UNKNOWN);
}

static void write_communicators(struct rs_json *j, const void *row)
{
    const struct rs_process_row *r = row;
    r->write(j, r, RS_PROCESS_COMMUNICATORS);
}

#define RS_ROWS_FILE "fields/process.inc"
#define RS_ROW struct rs_process_row
#define RS_GET(id) process_##id
#define RS_FIELDS static const struct rs_out_field process[]
#include "fields/table.inc"

const struct rs_out_table rs_out_process = {"process", "info --json: process_list[]",
                                            process,   sizeof process / sizeof *process,
                                            NULL,      .sql_order = "atplvfscnez"};
