/* Clock samples: what ticks mean in ns, and how well that is known.
 *
 * A sample brackets a read of a clock between two reads of the tick counter and keeps the narrowest of five tries: the
 * clock had its value somewhere inside the bracket. Taken by the background thread at the start, about once a second and
 * at the end. RINGSCOPE_TEST_CLOCK makes them those of another host. */
#ifndef RS_PLUGIN_CLOCK_H
#define RS_PLUGIN_CLOCK_H

#include "format/layout.h"
#include "plugin/config.h"

void rs_clock_start(const struct rs_config *config);
/* Takes a sample and writes it as a fact; returns it. */
struct rs_fact_clock rs_clock_sample(void);

#endif
