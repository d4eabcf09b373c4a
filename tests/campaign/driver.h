/* The process under test: threads that call the plugin as NCCL does and count, and the faults that come from inside.
 *
 * It does nothing else that could fail: whatever it cannot do as planned is a violation, or ends it with status 99. */
#ifndef RS_CAMPAIGN_DRIVER_H
#define RS_CAMPAIGN_DRIVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "../drive/load.h"
#include "plan.h"
#include "truth.h"

/* A stand-in for libnccl. */
struct nccl {
    void *lib;
    int *mask;
    rs_nccl_logger logger;
};

/* A thread that calls. */
struct caller {
    struct driver *driver;
    struct cell *cell, *in_handler;
    struct plugin plugin;
    struct nccl nccl;
    int copy, number;
    void *context; /* NULL: no communicator */
    uint64_t operations;
    pthread_t thread;
};

struct driver {
    struct plan plan;
    struct truth *truth;
    char folder[512]; /* of the run */
    int image; /* 1: behind execve */
    _Atomic bool stop;
    _Atomic int begun; /* workers that had their first communicator */
    void *copies[PLAN_COPIES]; /* of the plugin */
    void *nccls[PLAN_NCCLS];
    struct caller main;
    struct caller workers[PLAN_THREADS];
    bool joined;
    pthread_t holder; /* 0: none */
};

/* The whole life. `image`: 1 behind execve. */
int driver_main(const char *folder, int image);

/* For faults: */
/* Takes cells and fills in what `planned` says. */
void caller_make(struct driver *d, struct caller *c, const struct planned_thread *planned);
void caller_begin(struct caller *c); /* a communicator */
void caller_end(struct caller *c);
void caller_operation(struct caller *c, bool plain); /* plain: no strings */
void driver_join(struct driver *d); /* all workers come to their end */
void driver_exits(struct driver *d); /* exit() comes next: from here on it is watched */

#endif
