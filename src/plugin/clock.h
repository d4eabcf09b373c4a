/* Clock samples: what ticks mean in ns, and how well that is known.
 *
 * A sample brackets a read of a clock between two reads of the tick counter and keeps the narrowest of five tries: the
 * clock had its value somewhere inside the bracket. Taken by the background thread at the start, about once a second
 * and at the end. RINGSCOPE_TEST_CLOCK simulates the clocks of another host. Also the clock for timeouts of the
 * recorder. */
#ifndef RS_PLUGIN_CLOCK_H
#define RS_PLUGIN_CLOCK_H

#include <time.h>

#include "format/layout.h"
#include "plugin/config.h"

void rs_clock_start(const struct rs_config *config);
/* Takes a sample and writes it as a fact; returns it. */
struct rs_fact_clock rs_clock_sample(void);

/* CLOCK_MONOTONIC in ms: for timeouts, not for records. */
static inline uint64_t rs_clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

#endif
