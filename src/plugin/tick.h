/* The tick counter: the cheapest clock that all threads of the process agree on.
 *
 * TSC if the CPU reports it as invariant (and the kernel has not marked it unstable), cntvct_el0 on arm64, else
 * CLOCK_MONOTONIC_RAW in ns. The reader converts ticks to ns with clock samples (clock.h). */
#ifndef RS_PLUGIN_TICK_H
#define RS_PLUGIN_TICK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "format/layout.h"

/* Set once by rs_tick_choose(), before the first recording is opened; false reads the system clock. */
extern bool rs_tick_counter;

extern enum rs_tick_source rs_tick_source;

void rs_tick_choose(void);

/* The hardware counter; only if rs_tick_counter. */
static inline uint64_t rs_tick_hardware(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t t;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
    return t;
#else
    return 0;
#endif
}

/* The same in two halves, as the CPU returns them; a record's head contains the lower one. */
static inline uint32_t rs_tick_hardware_low(uint32_t *high)
{
#if defined(__x86_64__)
    uint32_t low;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(*high));
    return low;
#else
    uint64_t t = rs_tick_hardware();
    *high = (uint32_t)(t >> 32);
    return (uint32_t)t;
#endif
}

static inline uint64_t rs_tick(void)
{
    if (__builtin_expect(rs_tick_counter, 1)) return rs_tick_hardware();
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The base of the 32-bit ticks in heads: a multiple of 2^32, so that they are the lower half of the counter. */
static inline uint64_t rs_tick_base(void)
{
    return rs_tick() & ~(uint64_t)UINT32_MAX;
}

#endif
