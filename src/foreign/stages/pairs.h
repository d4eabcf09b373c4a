/* Begins and ends of stages put together to spans: the second half of foreign/stages/stages.h, which alone uses it. */
#ifndef RS_FOREIGN_STAGES_PAIRS_H
#define RS_FOREIGN_STAGES_PAIRS_H

#include "foreign/stages/stages.h"

enum rs_stage_event_kind {
    RS_STAGE_SPAN, /* at .. until */
    RS_STAGE_BEGIN,
    RS_STAGE_END,
    RS_STAGE_MARK, /* lasts until the next mark of its chunk */
};

struct rs_stage_event {
    int32_t rank;
    uint32_t name;
    int64_t chunk; /* -1: not told */
    int64_t at, until;
    uint64_t line;
    enum rs_stage_event_kind kind;
};

struct rs_stage_events {
    struct rs_stage_event *rows;
    uint32_t n, cap;
};

enum rs_status rs_stage_events_add(struct rs_stage_events *s, const struct rs_stage_event *e, struct rs_err *err);
/* Fills f->rows; what has no other half is counted in f->bad. */
enum rs_status rs_stage_events_pair(struct rs_stage_events *s, struct rs_stage_file *f, struct rs_err *err);
void rs_stage_events_free(struct rs_stage_events *s);

#endif
