#include "fields/event.h"

#include "fields/rows.h"

#define RS_ROW struct rs_event_row
#define RS_GET(id) get_##id
#define FIELD RS_GETTER
#include "fields/event.inc"
#undef FIELD
#define FIELD RS_FIELD
/* clang-format off */
static const struct rs_out_field event[] = {
#include "fields/event.inc"
};
/* clang-format on */

const struct rs_out_table rs_out_event = {
    "event", "export --to csv --table events", event, sizeof event / sizeof *event, NULL, NULL};
