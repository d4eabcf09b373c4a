#include "plugin/clock.h"

#include <time.h>

#include "plugin/facts.h"
#include "plugin/tick.h"

enum { TRIES = 5, RATE_JUMP_PPM = 100 };

static int64_t test_offset_ns;
static double test_ppm;
static bool test;
static struct rs_fact_clock before; /* the previous sample; raw.ns = 0: none */
static double first_rate; /* ns per tick between the previous samples */

void rs_clock_start(const struct rs_config *config)
{
    test = config->test_clock;
    test_offset_ns = config->test_offset_ns;
    test_ppm = config->test_ppm;
    before = (struct rs_fact_clock){0};
    first_rate = 0;
}

static struct rs_clock_bracket bracket(clockid_t clock)
{
    struct rs_clock_bracket best = {0, UINT64_MAX, 0};
    for (int i = 0; i < TRIES; i++) {
        struct timespec ts;
        uint64_t a = rs_tick();
        clock_gettime(clock, &ts);
        uint64_t b = rs_tick();
        if (b - a < best.after - best.before)
            best = (struct rs_clock_bracket){a, b, (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec};
    }
    return best;
}

struct rs_fact_clock rs_clock_sample(void)
{
    struct rs_fact_clock s = {.raw = bracket(CLOCK_MONOTONIC_RAW), .real = bracket(CLOCK_REALTIME)};
    if (test) {
        /* Drift since boot, so that all processes of a test host agree. */
        uint64_t shift = (uint64_t)(test_offset_ns + (int64_t)((double)s.raw.ns * test_ppm * 1e-6));
        s.raw.ns += shift;
        s.real.ns += shift;
    }
    uint64_t ticks = s.raw.before - before.raw.before;
    /* Over a short time the brackets alone have an error of 100 ppm. */
    if (before.raw.ns && s.raw.ns - before.raw.ns > 200000000u && ticks) {
        double rate = (double)(s.raw.ns - before.raw.ns) / (double)ticks;
        if (first_rate > 0) {
            double change = (rate - first_rate) / first_rate * 1e6;
            s.rate_jump = change > RATE_JUMP_PPM || change < -RATE_JUMP_PPM;
        }
        first_rate = rate;
    }
    before = s;
    rs_fact(RS_FACT_CLOCK, s.raw.before, &s, sizeof s, NULL, 0);
    return s;
}
