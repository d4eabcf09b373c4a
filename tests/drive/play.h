/* The row of callbacks that truth.h describes, played by threads. */
#ifndef RS_TESTS_PLAY_H
#define RS_TESTS_PLAY_H

#include <stdbool.h>

#include "load.h"
#include "truth.h"

struct player {
    const struct plugin *plugin;
    void *context;
    struct truth_thread *truth;
    int rank;
    uint64_t k; /* the next callback */
    void *handle, *parent;
};

/* Plays callbacks up to number `until`. */
void play(struct player *player, uint64_t until);

struct load {
    const struct plugin *plugin;
    void *context;
    struct truth *truth;
    unsigned threads;
    unsigned first; /* their rows in `truth` begin here */
    double rate; /* callbacks a second, all threads together; 0 = as fast as they can */
    double seconds; /* 0 = no limit */
    uint64_t count; /* callbacks a thread; 0 = no limit */
};

/* Plays a load to its end. Returns the seconds that it took. */
double play_load(const struct load *load);
/* Starts threads that play on until the process ends. */
void play_forever(const struct load *load);
/* Waits for those whose load has an end. */
void play_join(void);
/* `n` threads that live for one period each, `at_once` at a time. */
void play_churn(const struct load *load, unsigned n, unsigned at_once);

double now_seconds(void);

#endif
