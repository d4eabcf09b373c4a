/* The tick counter: the cheapest clock that all threads of the process agree on.
 *
 * TSC where the CPU says that it is invariant (and the kernel has not given up on it), cntvct_el0 on arm64, else
 * CLOCK_MONOTONIC_RAW in ns. What ticks mean in ns is found by the reader from clock samples (clock.h). */
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

/* The hardware counter; only where rs_tick_counter is true. */
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

/* The same in two halves: the CPU has them so, and a record's head wants the lower one. */
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

/* Where heads count from, in 32 bits: a multiple of 2^32, so that the lower half of the counter is what they hold. */
static inline uint64_t rs_tick_base(void)
{
    return rs_tick() & ~(uint64_t)UINT32_MAX;
}

#endif
