#include "sim/graph.h"

#include <stdlib.h>

enum { FATE_DELAY_NS = 30000000 };

struct rs_sim_graph {
    struct rs_sim_launch *nodes, **tail;
    pthread_t thread; /* runs host functions */
    bool running;
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct rs_sim_launch *queue, **queue_tail;
    bool quit;
};

static void *host_main(void *arg)
{
    struct rs_sim_graph *g = arg;
    pthread_mutex_lock(&g->lock);
    for (;;) {
        struct rs_sim_launch *l = g->queue;
        if (!l && g->quit) break;
        if (!l) {
            pthread_cond_wait(&g->more, &g->lock);
            continue;
        }
        g->queue = l->next;
        if (!g->queue) g->queue_tail = &g->queue;
        pthread_mutex_unlock(&g->lock);
        rs_sim_launch_report(l, RS_SIM_GO_ON);
        rs_sim_kernel_open_gate(l->comm->gpu, l->kernel);
        rs_sim_launch_free(l);
        pthread_mutex_lock(&g->lock);
    }
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

struct rs_sim_graph *rs_sim_graph_capture(struct rs_sim_app *app)
{
    struct rs_sim_graph *g = calloc(1, sizeof *g);
    if (!g) abort(); /* a simulated process has nothing to fall back on */
    g->tail = &g->nodes;
    g->queue_tail = &g->queue;
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->more, NULL);
    app->capture = g;
    return g;
}

void rs_sim_graph_end_capture(struct rs_sim_app *app)
{
    app->capture = NULL;
}

void rs_sim_graph_add(struct rs_sim_graph *g, struct rs_sim_launch *l)
{
    l->captured = true;
    *g->tail = l;
    g->tail = &l->next;
}

bool rs_sim_graph_replay(struct rs_sim_app *app, struct rs_sim_graph *g)
{
    for (const struct rs_sim_launch *node = g->nodes; node; node = node->next) {
        struct rs_sim_launch *l = rs_sim_launch_copy(node);
        bool reports = rs_sim_launch_posts(l);
        bool launched = rs_sim_launch_kernel(l, reports, app->fate != RS_SIM_GO_ON);
        if (!launched || !reports) {
            rs_sim_launch_free(l);
            if (!launched) return false;
            continue;
        }
        pthread_mutex_lock(&g->lock);
        *g->queue_tail = l;
        g->queue_tail = &l->next;
        if (!g->running) g->running = pthread_create(&g->thread, NULL, host_main, g) == 0;
        pthread_cond_signal(&g->more);
        pthread_mutex_unlock(&g->lock);
    }
    if (app->fate != RS_SIM_GO_ON) {
        rs_sim_sleep_until(rs_sim_now() + FATE_DELAY_NS); /* the host functions run meanwhile */
        rs_sim_meet_fate(app);
    }
    return true;
}

static void free_list(struct rs_sim_launch *l)
{
    while (l) {
        struct rs_sim_launch *next = l->next;
        rs_sim_launch_free(l);
        l = next;
    }
}

void rs_sim_graph_free(struct rs_sim_graph *g)
{
    pthread_mutex_lock(&g->lock);
    g->quit = true;
    pthread_cond_signal(&g->more);
    pthread_mutex_unlock(&g->lock);
    if (g->running) pthread_join(g->thread, NULL);
    free_list(g->nodes);
    free_list(g->queue);
    pthread_cond_destroy(&g->more);
    pthread_mutex_destroy(&g->lock);
    free(g);
}
