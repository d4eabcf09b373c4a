#include "plugin/masks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>

#include "format/settings.h"
#include "plugin/buffers.h"
#include "plugin/facts.h"
#include "plugin/log.h"
#include "plugin/tick.h"

enum {
    NCCLS = 14, /* in one process; masks of further ones are set at init and never change */
    NO_NCCL = NCCLS + 1, /* a context that is alive but whose NCCL has no row */
    SHM_LEAST_MIB = 256, /* with less NCCL crashes when KernelCh is on */
    KERNEL = RS_KERNEL_CH | RS_KERNEL_PHASE,
    QUIET_MS = 10, /* since a thread's last group call: it is unlikely to be about to begin one */
    ENDS = 1, /* slot.group_state: the group call is over when the event is stopped */
    STOPPED = 2,
    LAUNCHED = 4,
};

struct nccl {
    _Atomic(int *) mask; /* NULL: this row is free */
    rs_nccl_logger logger;
    int api;
    int kernel; /* KernelCh bits at the first init, for versions that keep them */
    uint32_t communicators; /* alive */
    _Atomic int target; /* the events to request */
    _Atomic int detailed; /* the same in a window of detail */
    _Atomic int applied; /* what its mask was set to */
    _Atomic uint32_t since; /* now_ms() of the target */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nccl nccls[NCCLS];
static uint32_t communicators; /* alive, in all */
static int wanted, ordered = -1; /* by the environment; by the control file (-1: nothing) */
static bool mute, no_detail;
static _Atomic int recorded = -1; /* what the last mask fact said */

/* ---- context -> NCCL: a byte each (row + 1, 0 = not alive), in parts that double and never move ---- */

enum { FIRST_PART = 8 }; /* log2 of its bytes */
static _Atomic(uint8_t *) parts[64 - FIRST_PART];

static _Atomic uint8_t *entry_of(uint64_t index, bool make)
{
    index += UINT64_C(1) << FIRST_PART;
    int high = 63 - __builtin_clzll(index);
    _Atomic(uint8_t *) *part = &parts[high - FIRST_PART];
    uint8_t *p = atomic_load_explicit(part, memory_order_acquire);
    if (!p && make && (p = calloc(1, (size_t)1 << high))) atomic_store_explicit(part, p, memory_order_release);
    return p ? (_Atomic uint8_t *)(p + (index ^ UINT64_C(1) << high)) : NULL;
}

static struct nccl *nccl_of(uint64_t index)
{
    _Atomic uint8_t *e = index >> 32 ? NULL : entry_of(index, false);
    unsigned row = e ? atomic_load_explicit(e, memory_order_acquire) : 0;
    return row && row != NO_NCCL ? &nccls[row - 1] : NULL;
}

/* ---- changing a mask: on threads of its NCCL ---- */

enum state { IDLE, PROPOSED, WRITING };
/* The change that is under way: bits 0-1 state, 2-32 the mask, 33-36 row of the NCCL, 37-63 a unique ticket. */
static _Atomic uint64_t change;
static _Atomic bool barriers; /* rs_barrier() is refused: threads execute their own when they open a group */
static _Atomic uint32_t untracked; /* group calls of threads without a slot */
static _Thread_local uint64_t untracked_group; /* of this thread; one that ends inside it leaves the count too high */

static enum state state_of(uint64_t c)
{
    return (enum state)(c & 3);
}
static int mask_of(uint64_t c)
{
    return (int)(c >> 2 & INT32_MAX);
}
static const struct nccl *row_of(uint64_t c)
{
    return &nccls[c >> 33 & 15];
}
static uint64_t with_state(uint64_t c, enum state state)
{
    return (c & ~UINT64_C(3)) | state;
}
static uint64_t after(uint64_t c, const struct nccl *n, int mask, enum state state)
{
    return ((c >> 37) + 1) << 37 | (uint64_t)(n - nccls) << 33 | (uint64_t)(unsigned)mask << 2 | state;
}

static void store_mask(const struct nccl *n, int mask)
{
    int *m = atomic_load_explicit(&n->mask, memory_order_relaxed);
    if (m) __atomic_store_n(m, mask, __ATOMIC_RELAXED);
}

static void record(int mask)
{
    uint64_t word = (uint64_t)mask;
    if (atomic_exchange(&recorded, mask) != mask) rs_fact(RS_FACT_MASK, rs_tick(), &word, sizeof word, NULL, 0);
}

static uint32_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (uint32_t)((uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000);
}

/* Whether another thread may have loaded the mask for a group call that still accepts operations. NCCL loads it some
 * instructions before it starts the GroupApi event, so a thread that has none open may have done so just now. It has
 * not if its group call is being launched, and probably not if it has made no group call for a while. The ends of group
 * calls are noted only while a change is wanted: a new change waits, unless there is no other thread. */
static bool group_may_be_open(const struct nccl *n)
{
    struct rs_pool *p = &rs_pool;
    if (atomic_load(&untracked)) return true;
    uint32_t made = atomic_load(&p->slots_made), now = now_ms();
    bool just_wanted = now - atomic_load(&n->since) < QUIET_MS;
    for (uint32_t i = 0; i < made && i < p->nslots; i++) {
        struct rs_slot *s = &p->slots[i];
        if (s != rs_own.slot && just_wanted && __atomic_load_n(&s->tid, __ATOMIC_RELAXED)) return true;
        if (__atomic_load_n(&s->group, __ATOMIC_SEQ_CST)) {
            if (!(__atomic_load_n(&s->group_state, __ATOMIC_ACQUIRE) & LAUNCHED)) return true;
        } else if (s != rs_own.slot && __atomic_load_n(&s->tid, __ATOMIC_RELAXED) &&
                   now - __atomic_load_n(&s->group_context, __ATOMIC_RELAXED) < QUIET_MS) {
            return true;
        }
    }
    return false;
}

/* A group call begins or ends while a change is under way. */
static void meet_change(const struct nccl *n)
{
    uint64_t c = atomic_load(&change);
    while (state_of(c) == PROPOSED && !atomic_compare_exchange_weak(&change, &c, with_state(c, IDLE))) {
    }
    if (state_of(c) == WRITING && row_of(c) == n) store_mask(n, mask_of(c));
}

static void change_if_due(struct nccl *n)
{
    uint64_t c = atomic_load(&change);
    int mask = atomic_load(&n->target), differs = mask ^ atomic_load(&n->applied);
    if ((differs & KERNEL) && group_may_be_open(n)) { /* the other bits may change at any time */
        mask ^= differs & KERNEL;
        differs &= ~KERNEL;
    }
    if (!differs || state_of(c) != IDLE) return;
    uint64_t mine = after(c, n, mask, differs & KERNEL ? PROPOSED : WRITING);
    if (!atomic_compare_exchange_strong(&change, &c, mine)) return; /* another thread makes the change */
    if (state_of(mine) == PROPOSED) {
        /* A thread that opens a group from here on sees the proposal, and one that opened one before is seen. The
         * barrier is here, for all threads, and not in each group call. */
        bool passed = atomic_load(&barriers) || rs_barrier();
        if (!passed) atomic_store(&barriers, true); /* the next attempt may succeed */
        uint64_t next = with_state(mine, !passed || group_may_be_open(n) ? IDLE : WRITING);
        if (!atomic_compare_exchange_strong(&change, &mine, next) || state_of(next) == IDLE) return;
        mine = next;
    }
    store_mask(n, mask);
    atomic_store(&n->applied, mask);
    atomic_store(&change, with_state(mine, IDLE));
    record(mask);
}

/* ---- group calls ---- */

static struct rs_slot *slot_of(uint64_t handle)
{
    struct rs_pool *p = &rs_pool;
    uint32_t i = rs_handle_slot(handle);
    return p->slots && i < p->nslots && rs_handle_nonce(handle) == rs_nonce ? &p->slots[i] : NULL;
}

void rs_group_opened(void *context, void *handle, int depth)
{
    uint64_t h = (uintptr_t)handle, index = (uintptr_t)context - rs_context_base;
    struct rs_slot *s = slot_of(h);
    if (s) {
        __atomic_store_n(&s->group_context, (uint32_t)index, __ATOMIC_RELAXED);
        __atomic_store_n(&s->group_state, depth <= 1 ? ENDS : 0, __ATOMIC_RELAXED);
        if (atomic_load_explicit(&barriers, memory_order_relaxed))
            __atomic_exchange_n(&s->group, h, __ATOMIC_SEQ_CST);
        else
            __atomic_store_n(&s->group, h, __ATOMIC_RELEASE);
        atomic_signal_fence(memory_order_seq_cst);
    } else {
        if (!untracked_group) atomic_fetch_add(&untracked, 1);
        untracked_group = h;
    }
    if (state_of(atomic_load(&change)) != IDLE) meet_change(nccl_of(index));
}

/* The group call of slot `s` is over, or another thread found so first. */
static void ended(struct rs_slot *s, uint64_t handle)
{
    struct nccl *n = nccl_of(__atomic_load_n(&s->group_context, __ATOMIC_RELAXED));
    if (!n || atomic_load(&n->target) == atomic_load(&n->applied)) {
        __atomic_store_n(&s->group_context, 0, __ATOMIC_RELAXED);
        if (s == rs_own.slot)
            __atomic_store_n(&s->group, 0, __ATOMIC_RELEASE);
        else
            __atomic_compare_exchange_n(&s->group, &handle, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
        return;
    }
    __atomic_store_n(&s->group_context, now_ms(), __ATOMIC_RELAXED); /* from now on it holds the time */
    if (!__atomic_compare_exchange_n(&s->group, &handle, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) return;
    if (state_of(atomic_load(&change)) != IDLE) meet_change(n);
    change_if_due(n);
}

void rs_group_stopped(void *handle)
{
    uint64_t h = (uintptr_t)handle;
    struct rs_slot *s = slot_of(h);
    if (!s) {
        if (h && h == untracked_group) {
            untracked_group = 0;
            atomic_fetch_sub(&untracked, 1);
        }
        return;
    }
    if (__atomic_load_n(&s->group, __ATOMIC_RELAXED) != h) return;
    if (__atomic_load_n(&s->group_state, __ATOMIC_ACQUIRE) & ENDS ||
        __atomic_fetch_or(&s->group_state, STOPPED, __ATOMIC_SEQ_CST) & ENDS)
        ended(s, h);
}

void rs_group_launched(void *parent)
{
    /* Usually the thread that called. In a group call that NCCL reports in several GroupApi events, the parent may be
     * an earlier one. */
    struct rs_slot *s = rs_own.slot;
    uint64_t h = s ? __atomic_load_n(&s->group, __ATOMIC_RELAXED) : 0;
    if (h) {
        uint32_t state = __atomic_load_n(&s->group_state, __ATOMIC_RELAXED);
        __atomic_store_n(&s->group_state, state | ENDS | LAUNCHED, __ATOMIC_RELEASE);
        if (state & STOPPED) ended(s, h);
        return;
    }
    /* Else a thread of NCCL, for a non-blocking communicator: the calling thread may be stopping the event at this
     * moment. */
    h = (uintptr_t)parent;
    s = slot_of(h);
    if (h && s && __atomic_load_n(&s->group, __ATOMIC_RELAXED) == h &&
        __atomic_fetch_or(&s->group_state, ENDS | LAUNCHED, __ATOMIC_SEQ_CST) & STOPPED)
        ended(s, h);
}

void rs_group_legacy(void *context)
{
    struct nccl *n = nccl_of((uintptr_t)context - rs_context_base);
    if (n) change_if_due(n);
}

/* ---- the wanted mask ---- */

static bool keeps_kernel_bits(const struct nccl *n)
{
    return n->api < 5;
}

/* KernelCh needs shared memory in NCCL itself. */
static int mask_for_machine(int mask)
{
    struct statvfs shm;
    if (!(mask & KERNEL) || statvfs("/dev/shm", &shm)) return mask;
    uint64_t mib = (uint64_t)shm.f_bavail * shm.f_frsize >> 20;
    if (mib >= SHM_LEAST_MIB) return mask;
    rs_warn_once(
        RS_MESSAGE_SHM,
        "only %llu MiB are free in /dev/shm: GPU times (KernelCh) are not recorded, since NCCL may crash. Give "
        "the container a larger /dev/shm (--shm-size).",
        (unsigned long long)mib);
    return mask & ~KERNEL;
}

/* With the lock held. */
static void set_target(struct nccl *n, bool first)
{
    int mask = mask_for_machine(ordered >= 0 ? ordered : wanted);
    if (first) n->kernel = mask & KERNEL;
    int detail = no_detail ? mask & RS_MASK_DETAIL : 0; /* to leave out */
    if (keeps_kernel_bits(n)) {
        if ((mask & KERNEL) != n->kernel)
            rs_warn_once(RS_MESSAGE_KERNEL,
                         "KernelCh stays as it was at the first init of this NCCL: before version 2.28 it cannot be "
                         "changed safely while a job runs");
        mask = (mask & ~KERNEL) | n->kernel | RS_MASK_ALWAYS_V1;
    } else {
        mask |= RS_MASK_ALWAYS;
    }
    if (keeps_kernel_bits(n)) detail &= ~KERNEL;
    if (mute) mask = 0;
    atomic_store(&n->detailed, mask);
    mask &= ~detail;
    if (atomic_exchange(&n->target, mask) != mask) atomic_store(&n->since, now_ms());
}

static void set_targets(void)
{
    for (struct nccl *n = nccls; n < nccls + NCCLS; n++)
        if (n->communicators) set_target(n, false);
}

void rs_masks_order(int mask)
{
    pthread_mutex_lock(&lock);
    ordered = mask;
    set_targets();
    pthread_mutex_unlock(&lock);
}

void rs_masks_detail(bool on)
{
    pthread_mutex_lock(&lock);
    no_detail = !on;
    set_targets();
    pthread_mutex_unlock(&lock);
}

/* No lock: a row that is being set at this moment gets what the background thread wants, which sees the trigger next. */
void rs_masks_detail_now(void)
{
    for (struct nccl *n = nccls; n < nccls + NCCLS; n++) {
        int mask = atomic_load(&n->detailed);
        if (!atomic_load_explicit(&n->mask, memory_order_relaxed)) continue;
        if (atomic_exchange(&n->target, mask) != mask) atomic_store(&n->since, now_ms());
    }
}

void rs_masks_mute(void)
{
    pthread_mutex_lock(&lock);
    mute = true;
    set_targets();
    pthread_mutex_unlock(&lock);
}

/* ---- the NCCLs ---- */

/* With the lock held. The row of this mask, else a free one, else NULL. */
static struct nccl *find(const int *mask)
{
    struct nccl *free_row = NULL;
    for (struct nccl *n = nccls; n < nccls + NCCLS; n++) {
        int *m = atomic_load_explicit(&n->mask, memory_order_relaxed);
        if (m && m == mask) return n;
        if (!m && !free_row) free_row = n;
    }
    return free_row;
}

bool rs_masks_known(const int *mask)
{
    pthread_mutex_lock(&lock);
    struct nccl *n = find(mask);
    bool known = n && n->communicators;
    pthread_mutex_unlock(&lock);
    return known;
}

void rs_masks_join(int *mask, int api, rs_nccl_logger logger, uint64_t index, int by_environment)
{
    pthread_mutex_lock(&lock);
    wanted = by_environment;
    struct nccl *n = mask ? find(mask) : NULL;
    _Atomic uint8_t *e = entry_of(index, true);
    communicators++;
    if (e) atomic_store_explicit(e, (uint8_t)(n ? n - nccls + 1 : NO_NCCL), memory_order_release);
    struct nccl none = {.api = api}, *row = n ? n : &none;
    /* An empty mask: NCCL was loaded again, at the same place, and the one before was never finalized. */
    bool empty = mask && !__atomic_load_n(mask, __ATOMIC_RELAXED), first = n ? !n->communicators++ || empty : empty;
    if (logger || first) row->logger = logger;
    if (first) {
        row->api = api;
        atomic_store(&row->mask, mask);
    }
    set_target(row, first);
    if (first) {
        int target = atomic_load(&row->target);
        atomic_store(&row->applied, target);
        store_mask(row, target);
        record(target);
    }
    pthread_mutex_unlock(&lock);
    if (n) change_if_due(n);
}

bool rs_masks_leave(uint64_t index, rs_nccl_logger *logger, bool *last)
{
    *logger = NULL;
    *last = false;
    if (index >> 32) return false; /* a stranger's */
    pthread_mutex_lock(&lock);
    _Atomic uint8_t *e = entry_of(index, false);
    unsigned row = e ? atomic_exchange(e, 0) : 0;
    if (row && row != NO_NCCL) {
        struct nccl *n = &nccls[row - 1];
        *logger = n->logger;
        if (!--n->communicators) {
            atomic_store(&n->mask, NULL);
            n->logger = NULL;
        }
    }
    if (row) *last = !--communicators;
    pthread_mutex_unlock(&lock);
    return row != 0;
}

void rs_masks_reset(void)
{
    pthread_mutex_init(&lock, NULL);
    memset(nccls, 0, sizeof nccls);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        uint8_t *p = atomic_load(&parts[i]);
        if (p) memset(p, 0, (size_t)1 << (i + FIRST_PART));
    }
    communicators = 0;
    ordered = -1;
    mute = no_detail = false;
    atomic_store(&recorded, -1);
    atomic_store(&change, 0);
    atomic_store(&untracked, 0);
    untracked_group = 0;
}
