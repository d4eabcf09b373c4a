#include "fields/event.h"

#define RS_ROWS_FILE "fields/event.inc"
#define RS_ROW struct rs_event_row
#define RS_GET(id) event_##id
#define RS_FIELDS static const struct rs_out_field event[]
#include "fields/table.inc"

const struct rs_out_table rs_out_event = {
    "event", "export --to csv --table events", event, sizeof event / sizeof *event, NULL, NULL};
