/* The fields of an event of NCCL, or of an activity that another tool saw. */
#ifndef RS_FIELDS_EVENT_H
#define RS_FIELDS_EVENT_H

#include "fields/field.h"

/* Times are RS_TIME_NONE, numbers below 0, hashes 0 and texts NULL or "" where they are not known. */
struct rs_event_row {
    const char *host, *type, *thread, *states, *args;
    size_t thread_len;
    uint64_t number, op, comm, handle, parent_handle;
    int64_t parent, tid, bytes;
    int64_t start, end, gpu_start, gpu_end;
    uint32_t pid;
    int32_t rank, global_rank, channel, peer, step, steps;
    int8_t is_send;
    bool stale, open;
};

#endif
