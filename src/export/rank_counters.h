/* Counters of a rank, from all operations of a process: bytes in flight, operations waiting.
 *
 * An operation waits from its start until the last rank has started, as far as the clock error allows, and its bytes are
 * in flight from then to its end. Both counters begin and end at zero. Operations without a known start are not counted.
 * Owned by the exporter; one thread at a time. */
#ifndef RS_EXPORT_RANK_COUNTERS_H
#define RS_EXPORT_RANK_COUNTERS_H

#include "timeline/timeline.h"

enum rs_rank_counter { RS_COUNTER_BYTES, RS_COUNTER_WAITING, RS_RANK_COUNTERS };

extern const struct rs_rank_counter_text {
    const char *name; /* "bytes in flight" */
    const char *of, *series; /* the same in two parts, for Chrome's counters: tools show "OF SERIES" */
    const char *text;
} rs_rank_counter_texts[RS_RANK_COUNTERS];

/* An operation on a row; times are ns from the begin of the run. */
struct rs_rank_counter_bar {
    int64_t from, there, to; /* `there`: when the last rank started */
    uint64_t bytes;
    uint32_t row;
};

struct rs_rank_counter_change {
    int64_t at; /* ns from the begin */
    uint64_t amount; /* sums are modulo 2^64 */
};

struct rs_rank_counters {
    struct rs_rank_counter_bar *bars;
    struct rs_rank_counter_change *ups, *downs; /* of one counter */
    uint32_t n, cap;
};

/* An operation's bar on a row (export/rank_rows.h). */
void rs_rank_counters_add(struct rs_rank_counters *c, const struct rs_bars *b, uint32_t i, uint32_t row);
/* Calls `put` for all steps of what was added, counter by counter, in the order of time, and forgets them.
 * `first`: of a counter. */
void rs_rank_counters_put(struct rs_rank_counters *c,
                          void (*put)(void *to, uint32_t row, enum rs_rank_counter counter, bool first, int64_t at,
                                      uint64_t value),
                          void *to);
void rs_rank_counters_free(struct rs_rank_counters *c);

#endif
