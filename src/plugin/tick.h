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

static inline uint64_t rs_tick(void)
{
    if (__builtin_expect(rs_tick_counter, 1)) return rs_tick_hardware();
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif
