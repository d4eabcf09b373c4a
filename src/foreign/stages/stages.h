/* Times of the stages of a pipeline, as a program wrote them down: a CSV file with a heading, or JSON Lines.
 *
 * Columns (or keys), in any order and case, others are skipped:
 *   rank, chunk          whole numbers; without a chunk the i-th occurrence of a stage on a rank is chunk i
 *   name (or stage)      of the stage
 *   start, end           of the stage; or
 *   event, time          begin or end, and when. Without an event, a name that ends in _begin (_start) or _end
 *                        (_stop) decides; else the stage lasts until the next time of its chunk, and the last time of
 *                        a chunk only ends it
 *   or time stamps with the names tA0, tA1, tSend, tRecv, tDecode, tB0, tB1 and tEmit, one per line or as columns: the
 *                        stages A (tA0 to tA1), send (tA1 to tSend), receive (tSend to tRecv, where both are of one
 *                        rank), decode (tRecv to tDecode), B (tB0 to tB1) and emit (tB1 to tEmit)
 * Times have their unit as a suffix: start_us, time_ms, end_s; without one they are ns. Their zero is arbitrary, one
 * per rank. Lines that make no sense are left out and counted; the first is reported with its number. Owns its
 * tables until rs_stage_file_free(). */
#ifndef RS_FOREIGN_STAGES_STAGES_H
#define RS_FOREIGN_STAGES_STAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"

struct rs_stage_row {
    int32_t rank; /* -1: unknown */
    uint32_t name; /* index into names */
    int64_t chunk;
    int64_t start, end; /* ns */
};

struct rs_stage_file {
    struct rs_stage_row *rows; /* by rank, chunk, name and start */
    uint32_t nrows, cap_rows;
    const char **names; /* in the order in which they occur; stages of time stamps in the order above */
    uint32_t nnames, cap_names;
    bool has_stamps; /* then names[stamp_stage] is the first stage of time stamps */
    uint32_t stamp_stage;
    uint64_t bad; /* lines left out */
    char why[256]; /* the first of them: "line 7: ..." */
    struct rs_arena arena;
};

/* Fails when there is no row at all, or the heading is none. */
enum rs_status rs_stage_file_read(struct rs_stage_file *f, struct rs_bytes *bytes, struct rs_err *err);
void rs_stage_file_free(struct rs_stage_file *f);

#endif
