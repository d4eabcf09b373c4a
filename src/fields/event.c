#include "fields/event.h"

#include "fields/rows.h"

#define RS_ROW struct rs_event_row
#define RS_GET(id) event_##id
#define FIELD_AS RS_GETTER
#include "fields/event.inc"
#undef FIELD_AS
#define FIELD_AS RS_FIELD
/* clang-format off */
static const struct rs_out_field event[] = {
#include "fields/event.inc"
};
/* clang-format on */
#undef FIELD_AS
#undef RS_GET
#undef RS_ROW

const struct rs_out_table rs_out_event = {
    "event", "export --to csv --table events", event, sizeof event / sizeof *event, NULL, NULL};
