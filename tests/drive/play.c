#include "play.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 60 }; /* callbacks between two looks at the clock */

double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void start_thread(pthread_t *thread, void *(*run)(void *), void *arg)
{
    int failed = pthread_create(thread, NULL, run, arg);
    if (!failed) return;
    fprintf(stderr, "cannot start a thread: %d\n", failed);
    exit(9);
}

void play(struct player *p, uint64_t until)
{
    for (; p->k < until; p->k++) {
        union rs_nccl_args_v4 args = {.proxyStep = {p->k}};
        switch (p->k % PERIOD) {
        case 0:
            p->handle = plugin_start_step(p->plugin, p->context, p->parent, p->rank, (int)(p->k / PERIOD & 0x7fffffff));
            break;
        case 1: plugin_state(p->plugin, p->handle, RS_ST_STEP_SEND_GPU_WAIT, &args); break;
        case 2: plugin_state(p->plugin, p->handle, RS_ST_STEP_SEND_PEER_WAIT, &args); break;
        case 3: plugin_state(p->plugin, p->handle, RS_ST_STEP_SEND_WAIT, &args); break;
        case 4: plugin_state(p->plugin, p->handle, RS_ST_OP_IN_PROGRESS, NULL); break;
        case 5:
            plugin_stop(p->plugin, p->handle);
            p->parent = p->handle;
            break;
        }
        __atomic_store_n(&p->truth->returned, p->k + 1, __ATOMIC_RELEASE);
    }
}

struct worker {
    const struct load *load;
    struct player player;
    double begin;
    pthread_t thread;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    const struct load *l = w->load;
    w->player.truth->tid = (uint32_t)syscall(SYS_gettid);
    double rate = l->rate / l->threads;
    for (;;) {
        double t = now_seconds() - w->begin;
        uint64_t until = w->player.k + BATCH;
        if (l->seconds > 0 && t >= l->seconds) break;
        if (l->count && w->player.k >= l->count) break;
        if (l->count && until > l->count) until = l->count;
        if (l->rate > 0) {
            if ((double)w->player.k > t * rate) { /* ahead of time */
                nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
                continue;
            }
            /* A thread that was kept from running catches up with a burst, which is bounded: a machine that was
             * away for long is not a load that anybody asked for. */
            if (t * rate - (double)w->player.k > rate / 20) w->begin = now_seconds() - (double)w->player.k / rate;
        }
        play(&w->player, until);
    }
    return NULL;
}

static struct worker *start_workers(const struct load *l)
{
    struct worker *workers = calloc(l->threads, sizeof *workers);
    l->truth->nthreads = l->first + l->threads;
    double begin = now_seconds();
    for (unsigned i = 0; i < l->threads; i++) {
        workers[i] = (struct worker){.load = l,
                                     .begin = begin,
                                     .player = {.plugin = l->plugin,
                                                .context = l->context,
                                                .truth = &l->truth->threads[l->first + i],
                                                .rank = (int)(l->first + i)}};
        start_thread(&workers[i].thread, work, &workers[i]);
    }
    return workers;
}

double play_load(const struct load *l)
{
    double begin = now_seconds();
    struct worker *workers = start_workers(l);
    for (unsigned i = 0; i < l->threads; i++) pthread_join(workers[i].thread, NULL);
    free(workers);
    return now_seconds() - begin;
}

static const struct load *going;
static struct worker *kept;

void play_forever(const struct load *l)
{
    going = l;
    kept = start_workers(l);
}

void play_join(void)
{
    for (unsigned i = 0; i < going->threads; i++) pthread_join(kept[i].thread, NULL);
    free(kept);
    kept = NULL;
}

static void *live_shortly(void *arg)
{
    struct player *p = arg;
    play(p, PERIOD);
    return NULL;
}

void play_churn(const struct load *l, unsigned n, unsigned at_once)
{
    pthread_t threads[256];
    struct player players[256];
    struct truth_thread scratch[256] = {0};
    for (unsigned done = 0; done < n; done += at_once) {
        unsigned some = n - done < at_once ? n - done : at_once;
        unsigned first = l->truth->churned;
        for (unsigned i = 0; i < some; i++) {
            players[i] = (struct player){
                .plugin = l->plugin, .context = l->context, .truth = &scratch[i], .rank = (int)(first + i)};
            start_thread(&threads[i], live_shortly, &players[i]);
        }
        for (unsigned i = 0; i < some; i++) pthread_join(threads[i], NULL);
        l->truth->churned += some;
    }
}
