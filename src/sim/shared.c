#include "sim/shared.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static size_t round_up(size_t n)
{
    return (n + 63) & ~(size_t)63;
}

/* The parts of a communicator's area, in order. */
struct layout {
    size_t meets, pairs, links, received, inboxes, end;
};

static struct layout lay_out(const struct rs_sim_plan *plan, int comm)
{
    size_t n = (size_t)plan->comms[comm].nranks;
    size_t ch = (size_t)plan->cfg.channels;
    struct layout l;
    l.meets = round_up(sizeof(struct rs_sim_area));
    l.pairs = l.meets + round_up(n * RS_SIM_MEETS * sizeof(struct rs_sim_mark));
    l.links = l.pairs + round_up(n * n * sizeof(struct rs_sim_pair));
    l.received = l.links + round_up(n * n * ch * sizeof(struct rs_sim_link));
    l.inboxes = l.received + round_up(n * ch * sizeof(uint64_t));
    l.end = l.inboxes + round_up(n * sizeof(struct rs_sim_inbox));
    return l;
}

enum rs_status rs_sim_shared_init(const struct rs_sim_plan *plan, struct rs_sim_shared **out, struct rs_err *err)
{
    size_t size = round_up(sizeof(struct rs_sim_shared));
    size_t at[RS_SIM_MAX_COMMS];
    for (int c = 0; c < plan->ncomms; c++) {
        at[c] = size;
        size += lay_out(plan, c).end;
    }
    /* Most of it is never used: n x n places of which a ring uses n. */
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return rs_fail_errno(err, "cannot map %zu bytes of shared memory", size);
    struct rs_sim_shared *sh = p;
    memcpy(sh->comm_at, at, sizeof at);
    sh->size = size;
    sh->t0 = rs_sim_now();
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    sh->wall0 = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
    atomic_store(&sh->abort_first, -1);
    *out = sh;
    return RS_OK;
}

void rs_sim_shared_free(struct rs_sim_shared *sh)
{
    if (sh) munmap(sh, sh->size);
}

struct rs_sim_area *rs_sim_area(const struct rs_sim_job *job, int comm)
{
    return (struct rs_sim_area *)((char *)job->shared + job->shared->comm_at[comm]);
}

static void *part(const struct rs_sim_job *job, int comm, size_t at)
{
    return (char *)job->shared + job->shared->comm_at[comm] + at;
}

struct rs_sim_mark *rs_sim_meet(const struct rs_sim_job *job, int comm, uint64_t ordinal, int rank)
{
    struct rs_sim_mark *m = part(job, comm, lay_out(job->plan, comm).meets);
    return &m[(size_t)rank * RS_SIM_MEETS + ordinal % RS_SIM_MEETS];
}

struct rs_sim_pair *rs_sim_pair(const struct rs_sim_job *job, int comm, int src, int dst)
{
    struct rs_sim_pair *p = part(job, comm, lay_out(job->plan, comm).pairs);
    return &p[(size_t)src * (size_t)job->plan->comms[comm].nranks + (size_t)dst];
}

struct rs_sim_link *rs_sim_link(const struct rs_sim_job *job, int comm, int src, int dst, int channel)
{
    struct rs_sim_link *l = part(job, comm, lay_out(job->plan, comm).links);
    size_t pair = (size_t)src * (size_t)job->plan->comms[comm].nranks + (size_t)dst;
    return &l[pair * (size_t)job->plan->cfg.channels + (size_t)channel];
}

_Atomic uint64_t *rs_sim_received(const struct rs_sim_job *job, int comm, int rank, int channel)
{
    _Atomic uint64_t *r = part(job, comm, lay_out(job->plan, comm).received);
    return &r[(size_t)rank * (size_t)job->plan->cfg.channels + (size_t)channel];
}

struct rs_sim_inbox *rs_sim_inbox(const struct rs_sim_job *job, int comm, int rank)
{
    struct rs_sim_inbox *in = part(job, comm, lay_out(job->plan, comm).inboxes);
    return &in[rank];
}

bool rs_sim_inbox_put(struct rs_sim_inbox *in, const struct rs_sim_netop *op)
{
    uint64_t at = atomic_load(&in->tail);
    do {
        if (at - atomic_load(&in->head) >= RS_SIM_INBOX) return false;
    } while (!atomic_compare_exchange_weak(&in->tail, &at, at + 1));
    in->slot[at % RS_SIM_INBOX].op = *op;
    atomic_store(&in->slot[at % RS_SIM_INBOX].turn, at + 1);
    return true;
}

bool rs_sim_inbox_take(struct rs_sim_inbox *in, struct rs_sim_netop *op)
{
    uint64_t at = atomic_load(&in->head);
    if (atomic_load(&in->slot[at % RS_SIM_INBOX].turn) != at + 1) return false;
    *op = in->slot[at % RS_SIM_INBOX].op;
    atomic_store(&in->head, at + 1);
    return true;
}

uint64_t rs_sim_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static struct timespec to_timespec(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
}

void rs_sim_sleep_until(uint64_t ns)
{
    struct timespec ts = to_timespec(ns);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR) {
    }
}

uint64_t rs_sim_gpu_clock(const struct rs_sim_job *job, int rank, uint64_t ns)
{
    const struct rs_sim_rank_def *d = &job->plan->ranks[rank];
    int64_t since = (int64_t)(ns - job->shared->t0);
    int64_t drift = (int64_t)((double)since * d->gpu_ppm * 1e-6);
    uint64_t t = (uint64_t)((int64_t)job->shared->wall0 + d->gpu_offset_ns + since + drift);
    return t - t % d->gpu_grain_ns;
}

uint32_t rs_sim_bell_read(struct rs_sim_bell *b)
{
    return atomic_load(&b->word);
}

void rs_sim_bell_wait(struct rs_sim_bell *b, uint32_t seen, uint64_t deadline_ns)
{
    uint64_t latest = rs_sim_now() + 50000000u;
    struct timespec ts = to_timespec(deadline_ns < latest ? deadline_ns : latest);
    atomic_fetch_add(&b->waiters, 1);
    syscall(SYS_futex, &b->word, FUTEX_WAIT_BITSET, seen, &ts, NULL, FUTEX_BITSET_MATCH_ANY);
    atomic_fetch_sub(&b->waiters, 1);
}

void rs_sim_bell_ring(struct rs_sim_bell *b)
{
    atomic_fetch_add(&b->word, 1);
    if (atomic_load(&b->waiters) > 0) syscall(SYS_futex, &b->word, FUTEX_WAKE, 0x7fffffff, NULL, NULL, 0);
}

void rs_sim_ring_host(const struct rs_sim_job *job, const struct rs_sim_comm_def *comm, int rank)
{
    int host = job->plan->ranks[comm->ranks[rank]].host;
    for (int i = 0; i < comm->nranks; i++) {
        int r = comm->ranks[i];
        if (job->plan->ranks[r].host == host) rs_sim_bell_ring(&job->shared->ranks[r].proxy);
    }
}

bool rs_sim_aborted(const struct rs_sim_job *job, int rank)
{
    uint64_t at = atomic_load(&job->shared->abort_at);
    if (at == 0) return false;
    int first = atomic_load(&job->shared->abort_first);
    if (first >= 0 && job->plan->ranks[first].process != job->plan->ranks[rank].process) at += RS_SIM_ABORT_LEAD_NS;
    return rs_sim_now() >= at;
}

void rs_sim_failure(const struct rs_sim_job *job, const char *fmt, ...)
{
    int none = 0;
    if (!atomic_compare_exchange_strong(&job->shared->failed, &none, 1)) return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(job->shared->failure, sizeof job->shared->failure, fmt, ap);
    va_end(ap);
    atomic_store(&job->shared->failed, 2);
}
