#include "plugin/detail.h"

#include <stdbool.h>
#include <time.h>

#include "plugin/clock.h"
#include "plugin/facts.h"
#include "plugin/masks.h"
#include "plugin/tick.h"

/* Compiled without floating point, as all that runs in callbacks. */
enum {
    WARM_CALLS = 100, /* of a thread: before, nothing is unusual */
    TIMES_USUAL = 2, /* unusual: this many times as long */
    LEAST_MS = 1, /* a shorter interval is never unusual */
    FORGET_MS = 60000, /* what is usual shrinks to 37 % in this time (rounded to a power of two of ticks) */
    SETTLE_MS = 200, /* until the length of a tick is known well enough */
    HOUR_MS = 3600000,
};

_Atomic uint32_t rs_detail_watching;

/* ---- triggers: threads of the program ---- */

static _Atomic uint64_t least_ticks; /* of an unusual interval */
static _Atomic uint32_t forget_shift; /* 2^shift ticks: FORGET_MS */
/* ARMED: the next unusual interval opens a window; the thread that does writes `trigger`, and the background thread
 * records it. */
enum { OFF, ARMED, TAKEN, FIRED };
static _Atomic uint32_t state;
static struct {
    uint64_t tick;
    struct rs_fact_trigger fact;
} trigger;

static _Thread_local struct {
    uint64_t last; /* tick of the group call before */
    uint64_t usual; /* ticks */
    uint32_t calls;
} mine;

void rs_detail_called(uint64_t tick)
{
    if (!tick) return;
    uint64_t interval = tick > mine.last ? tick - mine.last : 0, usual = mine.usual;
    mine.last = tick;
    if (!mine.calls++) return; /* there was none before */
    if (!mine.calls) mine.calls = UINT32_MAX;
    unsigned shift = atomic_load_explicit(&forget_shift, memory_order_relaxed);
    bool unusual = mine.calls > WARM_CALLS && interval > TIMES_USUAL * usual &&
                   interval > atomic_load_explicit(&least_ticks, memory_order_relaxed);
    uint64_t forgotten =
        interval >> shift ? usual : (uint64_t)((unsigned __int128)usual * interval >> shift); /* of what was usual */
    uint64_t counts = unusual ? TIMES_USUAL * usual : interval;
    mine.usual = counts > usual - forgotten ? counts : usual - forgotten;
    if (!unusual || !atomic_compare_exchange_strong(&state, &(uint32_t){ARMED}, TAKEN)) return;
    trigger.tick = tick;
    trigger.fact = (struct rs_fact_trigger){interval, usual};
    atomic_store(&state, FIRED);
    rs_masks_detail_now();
}

/* ---- windows: the background thread, and init before it runs ---- */

static const struct rs_config *config;
static struct rs_detail detail; /* period 0: detail all the time */
static bool open; /* what was ordered last */
static uint64_t opened_until; /* CLOCK_REALTIME ns: a window that a trigger opened */
static uint64_t hour; /* rs_clock_ms(): began */
static uint32_t left; /* triggers of this hour */
static uint64_t begun_ms, begun_tick;

static uint64_t wall_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void set_open(bool on)
{
    if (on != open) rs_masks_detail(on);
    open = on;
}

static void arm(bool on)
{
    atomic_compare_exchange_strong(&state, &(uint32_t){on ? OFF : ARMED}, on ? ARMED : OFF);
}

static void measure_ticks(uint64_t now_ms)
{
    uint64_t ms = now_ms - begun_ms, ticks = rs_tick() - begun_tick;
    if (ms < SETTLE_MS || atomic_load(&rs_detail_watching)) return;
    uint64_t per_ms = ticks / ms;
    if (!per_ms) return;
    atomic_store(&least_ticks, per_ms * LEAST_MS);
    atomic_store(&forget_shift, 63 - (uint32_t)__builtin_clzll(per_ms * FORGET_MS));
    atomic_store(&rs_detail_watching, 1);
}

/* Whether a trigger has opened a window that still lasts. */
static bool look_at_triggers(uint64_t now)
{
    uint64_t now_ms = rs_clock_ms();
    if (now_ms - hour >= HOUR_MS) {
        hour = now_ms;
        left = config->triggers;
    }
    if (config->triggers) measure_ticks(now_ms);
    if (atomic_load(&state) == FIRED) {
        rs_fact(RS_FACT_TRIGGER, trigger.tick, &trigger.fact, sizeof trigger.fact, NULL, 0);
        opened_until = now + detail.window_ns;
        left -= left > 0;
        atomic_store(&state, OFF);
        open = true; /* the thread did that; once more, since an order may have come between */
        rs_masks_detail(true);
    }
    return now < opened_until && opened_until - now <= detail.window_ns; /* else the clock was set back */
}

uint64_t rs_detail_look(void)
{
    if (!detail.period_ns) {
        set_open(true);
        return UINT64_MAX;
    }
    uint64_t now = wall_ns(), from, to;
    bool triggered = look_at_triggers(now);
    rs_detail_window(&detail, now, &from, &to);
    bool inside = now >= from && now < to;
    set_open(inside || triggered);
    arm(!open && left > 0);
    uint64_t next = now < from ? from : now < to ? to : (now / detail.period_ns + 1) * detail.period_ns;
    if (triggered && opened_until < next) next = opened_until;
    return (next - now) / 1000000 + 1;
}

void rs_detail_order(const struct rs_detail *wanted)
{
    detail = wanted ? *wanted : config->detail;
    if (!detail.period_ns) arm(false);
    rs_detail_look();
}

void rs_detail_start(const struct rs_config *c)
{
    config = c;
    detail = c->detail;
    open = true;
    opened_until = 0;
    begun_ms = hour = rs_clock_ms();
    begun_tick = rs_tick();
    left = c->triggers;
    rs_detail_look();
}

void rs_detail_reset(void)
{
    atomic_store(&rs_detail_watching, 0);
    atomic_store(&state, OFF);
}
