/* The callbacks of a recording in time order.
 *
 * The records of each thread are in order; a cursor merges them, together with init, finalize and captured parents. It
 * holds one decoded chunk per slot (64 KiB), so memory does not grow with the recording. Everything a callback points
 * to is valid until the next call. One thread at a time; only one cursor per recording at a time. */
#ifndef RS_TRACE_CALLBACKS_H
#define RS_TRACE_CALLBACKS_H

#include "trace/process.h"

enum rs_call { RS_CALL_INIT, RS_CALL_START, RS_CALL_STOP, RS_CALL_STATE, RS_CALL_FINALIZE, RS_CALL_LOST };

struct rs_callback {
    enum rs_call call;
    uint64_t tick;
    uint32_t tid;
    const char *thread_name; /* 16 bytes at most, always terminated */
    unsigned kind; /* enum rs_kind, of records */
    uint64_t type; /* event type bit(s) of a start */
    uint64_t handle; /* a start's own; a stop's or state's as passed */
    uint64_t parent, context; /* of a start, as passed; context also of init and finalize */
    int64_t rank; /* of a start, as passed */
    uint64_t small; /* of a start: see kinds.c */
    int state; /* of a state */
    bool has_arg; /* the state had an argument */
    const uint64_t *args; /* words, by kind; of LOST: counts by loss class */
    uint64_t lost_first, lost_last; /* ticks, of LOST */
    const struct rs_comm *comm; /* of init */
    bool recovered; /* an overwritten start that is also a fact (a captured parent): counted as overwritten */
};

struct rs_cursor;

void rs_cursor_open(struct rs_cursor **cursor, struct rs_recording *recording, const struct rs_process *process);
/* false: the end. What could not be decoded is noted as damage of the recording. */
bool rs_cursor_next(struct rs_cursor *cursor, struct rs_callback *callback);
void rs_cursor_close(struct rs_cursor *cursor);

/* One argument of a callback. Signed ones are sign-extended. */
uint64_t rs_callback_field(const struct rs_callback *callback, const struct rs_field *field);
/* The fields of a start or state; NULL: none. */
const struct rs_field *rs_callback_fields(const struct rs_callback *callback);

/* The communicator's hash that v1 to v3 put into each operation; 0 for all other callbacks. */
uint64_t rs_callback_comm_hash(const struct rs_callback *callback);

#endif
