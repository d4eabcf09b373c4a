/* Arguments of events by NCCL's names, from the callbacks of a recording: the position of each in each kind of record
 * is looked up once. Texts of a process become texts of the timeline. Owned by the collector; one thread at a time. */
#ifndef RS_TIMELINE_ARGUMENTS_H
#define RS_TIMELINE_ARGUMENTS_H

#include "events/events.h"
#include "timeline/index.h"

enum rs_argument {
    RS_ARG_FUNC,
    RS_ARG_COUNT,
    RS_ARG_DATATYPE,
    RS_ARG_ROOT,
    RS_ARG_STREAM,
    RS_ARG_CAPTURED,
    RS_ARG_DEPTH,
    RS_ARG_CHUNK,
    RS_ARG_PID,
    RS_ARG_PHASE,
    RS_ARG_QP,
    RS_ARG_WORK_REQUEST,
    RS_ARG_OPCODE,
    RS_ARG_DEVICE,
    RS_ARG_FD,
    RS_ARG_OP,
    RS_ARG_ID,
    RS_ARG_SYNC,
    RS_ARG_BATCHES,
    RS_ARG_RANKS,
    RS_ARG_COMPLETE,
    RS_ARG_COPIES,
    RS_ARG_TOTAL,
    RS_ARG_SEND_BUFFER,
    RS_ARG_RECV_BUFFER,
    RS_ARG_BUFFER, /* of a send or receive */
    RS_ARG_WARPS,
    RS_ARGUMENTS
};

struct rs_arguments {
    const struct rs_field *fields[RS_K_START_END - RS_K_START][RS_ARGUMENTS]; /* NULL: the kind does not have it */
    uint32_t *texts; /* by string of the process; RS_NONE: not requested yet */
    size_t ntexts;
};

void rs_arguments_init(struct rs_arguments *a);
void rs_arguments_free(struct rs_arguments *a);

/* An argument as a number; RS_BAR_NO_ARG: the event has none, or it is a NULL pointer. */
int64_t rs_argument(const struct rs_arguments *a, const struct rs_event *e, enum rs_argument which);
/* A text: its id on the timeline; 0: none. */
void rs_argument_text(struct rs_arguments *a, struct rs_timeline *t, const struct rs_event *e, enum rs_argument which,
                      uint32_t *text);

#endif
