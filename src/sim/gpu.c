#include "sim/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
    LAUNCH_NS = 5000, /* from the launch to the first instruction */
    SHORTEST_NS = 6000, /* of a kernel that moves nothing to a peer */
    END_SPREAD_NS = 1500, /* kernels of one operation end within this */
    KEY_END = 101,
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static struct rs_sim_bell *bell(struct rs_sim_gpu *g)
{
    return &g->job->shared->ranks[g->rank].gpu;
}

static struct rs_sim_work *work_of(struct rs_sim_gpu *g, const struct rs_sim_kernel *k)
{
    return &g->job->shared->ranks[g->rank].work[k->work % RS_SIM_WORKS];
}

struct rs_sim_kernel *rs_sim_kernel_new(int ntransfers)
{
    size_t extra = (size_t)ntransfers * sizeof(struct rs_sim_transfer);
    struct rs_sim_kernel *k = rs_zalloc(1, sizeof *k + extra);
    atomic_store(&k->refs, 1);
    atomic_store(&k->gate, 1);
    k->ntransfers = ntransfers;
    return k;
}

void rs_sim_kernel_unref(struct rs_sim_kernel *k)
{
    if (atomic_fetch_sub(&k->refs, 1) == 1) free(k);
}

/* The mark of this kernel's rank (own) or of the other side in a send/receive pair. */
static struct rs_sim_mark *pair_mark(struct rs_sim_gpu *g, const struct rs_sim_kernel *k,
                                     const struct rs_sim_transfer *t, bool own)
{
    struct rs_sim_pair *p =
        t->send ? rs_sim_pair(g->job, k->comm, k->rank, t->peer) : rs_sim_pair(g->job, k->comm, t->peer, k->rank);
    return t->send == own ? &p->send[t->index % RS_SIM_MEETS] : &p->recv[t->index % RS_SIM_MEETS];
}

static void mark_started(struct rs_sim_mark *m, uint64_t ordinal, uint64_t ns)
{
    atomic_store(&m->start_ns, ns);
    atomic_store(&m->started, ordinal + 1);
}

static void mark_done(struct rs_sim_mark *m, uint64_t ordinal, uint64_t ns)
{
    atomic_store(&m->done_ns, ns);
    atomic_store(&m->done, ordinal + 1);
}

static void publish_start(struct rs_sim_gpu *g, struct rs_sim_kernel *k, uint64_t start)
{
    const struct rs_sim_comm_def *def = &g->job->plan->comms[k->comm];
    if (k->coll) mark_started(rs_sim_meet(g->job, k->comm, k->meet, k->rank), k->meet, start);
    for (int i = 0; i < k->ntransfers; i++) {
        const struct rs_sim_transfer *t = &k->transfers[i];
        mark_started(pair_mark(g, k, t, true), t->index, start);
    }
    atomic_store(&work_of(g, k)->started, k->work + 1);
    atomic_store(&k->start_ns, start);
    rs_sim_ring_host(g->job, def, k->rank);
}

static void publish_done(struct rs_sim_gpu *g, struct rs_sim_kernel *k, uint64_t done)
{
    const struct rs_sim_comm_def *def = &g->job->plan->comms[k->comm];
    struct rs_sim_rank *ranks = g->job->shared->ranks;
    if (k->coll) {
        mark_done(rs_sim_meet(g->job, k->comm, k->meet, k->rank), k->meet, done);
        struct rs_sim_area *area = rs_sim_area(g->job, k->comm);
        uint64_t n = atomic_fetch_add(&area->finished[k->meet % RS_SIM_MEETS], 1) + 1u;
        /* Only the last one wakes the others: before, some rank is missing. */
        if (n == (k->meet / RS_SIM_MEETS + 1) * (uint64_t)def->nranks) {
            for (int i = 0; i < def->nranks; i++) rs_sim_bell_ring(&ranks[def->ranks[i]].gpu);
        }
    }
    for (int i = 0; i < k->ntransfers; i++) {
        const struct rs_sim_transfer *t = &k->transfers[i];
        mark_done(pair_mark(g, k, t, true), t->index, done);
        rs_sim_bell_ring(&ranks[def->ranks[t->peer]].gpu);
    }
}

/* When the kernel ends, by the marks of all participants; 0 = one is not done. */
static uint64_t end_of(struct rs_sim_gpu *g, struct rs_sim_kernel *k, uint64_t start, uint64_t done)
{
    uint64_t end = later(start + SHORTEST_NS, done);
    if (k->coll) {
        uint64_t last_start = 0;
        for (int i = 0; i < g->job->plan->comms[k->comm].nranks; i++) {
            struct rs_sim_mark *m = rs_sim_meet(g->job, k->comm, k->meet, i);
            if (atomic_load(&m->done) != k->meet + 1) return 0;
            last_start = later(last_start, atomic_load(&m->start_ns));
            end = later(end, atomic_load(&m->done_ns));
        }
        end = later(end, last_start + k->transfer_ns);
    }
    for (int i = 0; i < k->ntransfers; i++) {
        struct rs_sim_mark *m = pair_mark(g, k, &k->transfers[i], false);
        if (atomic_load(&m->done) != k->transfers[i].index + 1) return 0;
        end = later(end, later(start, atomic_load(&m->start_ns)) + k->transfers[i].ns);
        end = later(end, atomic_load(&m->done_ns));
    }
    return end + rs_sim_random(g->job->plan->cfg.seed, KEY_END, (uint64_t)g->rank, k->work) % END_SPREAD_NS;
}

static bool sleep_to(struct rs_sim_gpu *g, uint64_t ns)
{
    while (rs_sim_now() < ns) {
        if (rs_sim_aborted(g->job, g->rank)) return false;
        rs_sim_bell_wait(bell(g), rs_sim_bell_read(bell(g)), ns);
    }
    return true;
}

/* Sleeps until the bell rings after `seen`. False = aborted. */
static bool await_bell(struct rs_sim_gpu *g, uint32_t seen)
{
    if (rs_sim_aborted(g->job, g->rank)) return false;
    rs_sim_bell_wait(bell(g), seen, UINT64_MAX);
    return true;
}

static bool run_kernel(struct rs_sim_gpu *g, struct rs_sim_kernel *k)
{
    uint32_t seen;
    for (;;) {
        seen = rs_sim_bell_read(bell(g));
        if (!k->never && atomic_load(&k->gate) != 0) break;
        if (!await_bell(g, seen)) return false;
    }
    uint64_t start =
        later(later(k->launch_ns, atomic_load(&k->gate)) + LAUNCH_NS, later(k->not_before_ns, g->free_ns + k->gap_ns));
    if (!sleep_to(g, start)) return false;
    publish_start(g, k, start);

    struct rs_sim_work *w = work_of(g, k);
    for (;;) {
        seen = rs_sim_bell_read(bell(g));
        if (atomic_load(&w->pending) == 0) break;
        if (!await_bell(g, seen)) return false;
    }
    uint64_t done = later(start, atomic_load(&w->net_done_ns));
    publish_done(g, k, done);
    uint64_t end;
    for (;;) {
        seen = rs_sim_bell_read(bell(g));
        if ((end = end_of(g, k, start, done)) != 0) break;
        if (!await_bell(g, seen)) return false;
    }
    if (!sleep_to(g, end)) return false;
    g->free_ns = end;
    atomic_store(&k->end_ns, end);
    atomic_fetch_add(&g->completed, 1);
    rs_sim_bell_ring(&g->job->shared->ranks[g->rank].proxy);
    rs_sim_bell_ring(&g->job->shared->ranks[g->rank].app);
    return true;
}

static struct rs_sim_kernel *take(struct rs_sim_gpu *g)
{
    pthread_mutex_lock(&g->lock);
    struct rs_sim_kernel *k = g->head;
    if (k) {
        g->head = k->next;
        if (!g->head) g->tail = NULL;
    }
    pthread_mutex_unlock(&g->lock);
    return k;
}

static void *gpu_main(void *arg)
{
    struct rs_sim_gpu *g = arg;
    for (;;) {
        uint32_t seen = rs_sim_bell_read(bell(g));
        struct rs_sim_kernel *k = take(g);
        bool go_on = true;
        if (k) {
            go_on = run_kernel(g, k);
            rs_sim_kernel_unref(k);
        } else if (atomic_load(&g->quit)) {
            go_on = false;
        } else {
            go_on = await_bell(g, seen);
        }
        if (!go_on) return NULL;
    }
}

enum rs_status rs_sim_gpu_open(struct rs_sim_gpu *g, const struct rs_sim_job *job, int rank, struct rs_err *err)
{
    memset(g, 0, sizeof *g);
    g->job = job;
    g->rank = rank;
    pthread_mutex_init(&g->lock, NULL);
    if (pthread_create(&g->thread, NULL, gpu_main, g) != 0)
        return rs_fail(err, RS_FAILED, "cannot start the thread of GPU %d", rank);
    return RS_OK;
}

void rs_sim_gpu_close(struct rs_sim_gpu *g)
{
    atomic_store(&g->quit, true);
    rs_sim_bell_ring(bell(g));
    pthread_join(g->thread, NULL);
    for (struct rs_sim_kernel *k; (k = take(g)) != NULL;) rs_sim_kernel_unref(k);
    pthread_mutex_destroy(&g->lock);
}

static bool await_completed(struct rs_sim_gpu *g, uint64_t open)
{
    struct rs_sim_bell *b = &g->job->shared->ranks[g->rank].app;
    for (;;) {
        uint32_t seen = rs_sim_bell_read(b);
        if (g->launched - atomic_load(&g->completed) <= open) return true;
        if (rs_sim_aborted(g->job, g->rank)) return false;
        rs_sim_bell_wait(b, seen, UINT64_MAX);
    }
}

bool rs_sim_gpu_launch(struct rs_sim_gpu *g, struct rs_sim_kernel *k, uint64_t nets)
{
    if (!await_completed(g, RS_SIM_WORKS / 2)) {
        rs_sim_kernel_unref(k);
        return false;
    }
    k->work = g->launched++;
    k->launch_ns = rs_sim_now();
    k->not_before_ns = g->compute_until;
    k->gap_ns = g->gap_ns;
    g->gap_ns = 0;
    struct rs_sim_work *w = work_of(g, k);
    atomic_store(&w->net_done_ns, 0);
    atomic_store(&w->pending, nets);
    k->next = NULL;
    pthread_mutex_lock(&g->lock);
    if (g->tail)
        g->tail->next = k;
    else
        g->head = k;
    g->tail = k;
    pthread_mutex_unlock(&g->lock);
    rs_sim_bell_ring(bell(g));
    return true;
}

void rs_sim_kernel_open_gate(struct rs_sim_gpu *g, struct rs_sim_kernel *k)
{
    atomic_store(&k->gate, rs_sim_now());
    rs_sim_bell_ring(bell(g));
}

void rs_sim_gpu_compute(struct rs_sim_gpu *g, uint64_t ns)
{
    g->compute_until = later(rs_sim_now(), g->compute_until) + ns;
}

void rs_sim_gpu_compute_behind(struct rs_sim_gpu *g, uint64_t ns)
{
    g->gap_ns += ns;
}

bool rs_sim_gpu_sync(struct rs_sim_gpu *g)
{
    return await_completed(g, 0);
}
