/* What should be in a recording, and what is missing of it. Used by recording.c.
 *
 * Every chunk says how many callbacks came before it and the status how many there are in all, so whatever is not
 * there is counted. In a ring, what newer chunks wrote over is told apart from what is damaged: the oldest goes first,
 * so nothing that is newer than a whole chunk of the last two rounds was written over. */
#ifndef RS_TRACE_ACCOUNT_H
#define RS_TRACE_ACCOUNT_H

#include "trace/chunks.h"

/* What the newest status says that the file holds: at a kill it may be more, never less. */
struct rs_expected {
    uint64_t file_end, records;
    uint32_t event_chunks, fact_chunks; /* 0, 0: not counted */
};

/* Takes out what is there twice and, in a ring, remains of earlier rounds; sets `overwritten`, `damaged` and `unknown`.
 * `holes`: of all parts of the file. Pieces are in the order of their sequence numbers then. */
void rs_account(struct rs_recording *recording, const struct rs_expected *expected, const struct rs_holes *holes);

#endif
