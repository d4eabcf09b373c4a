/* What the driver knows for certain, in a file that it maps and the campaign reads: counts of calls that returned, and
 * what every thread is doing right now. It survives whatever becomes of the driver.
 *
 * A thread stores `phase` before a call, adds to `returned` behind it, then clears `phase`. So, whenever the process
 * dies, the number of callbacks that it made is known up to the cells with a phase: each of them may stand for one more. */
#ifndef RS_CAMPAIGN_TRUTH_H
#define RS_CAMPAIGN_TRUTH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { CELLS = 512, WRONGS = 16, WRONG_BYTES = 400 };

enum phase { PHASE_NONE, PHASE_CALLBACK, PHASE_INIT, PHASE_FINALIZE, PHASE_EXIT, PHASES };

/* One thread, or several one after the other; handlers of signals have cells of their own. */
struct cell {
    _Alignas(64) _Atomic int32_t pid; /* 0: not in use */
    _Atomic int32_t tid;
    _Atomic uint32_t phase;
    _Atomic uint32_t turn; /* counts phases: the same turn is the same call */
    _Atomic uint64_t returned;
    _Atomic uint32_t unsure; /* threads that were cancelled inside a call */
    _Atomic uint32_t copies; /* bit n: it called init of copy n of the plugin */
    _Atomic uint32_t opened; /* the same, and init returned: there is a recording */
    int32_t image; /* 0, and 1 behind execve */
};

struct truth {
    _Atomic uint32_t cells_used;
    _Atomic uint32_t ready; /* every worker has its first communicator */
    _Atomic uint32_t ending; /* the planned end has begun */
    _Atomic uint32_t nwrong;
    _Atomic uint32_t logged; /* messages through NCCL's logger */
    char wrong[WRONGS][WRONG_BYTES];
    struct cell cells[CELLS];
};

/* Maps the file, which is made if `make`. NULL: it cannot be. */
struct truth *truth_map(const char *path, bool make);
/* A violation; any process, any thread. The first WRONGS are kept. */
void truth_wrong(struct truth *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What a process emitted: at least `low`, at most `high`. */
struct emitted {
    uint64_t low, high;
    unsigned opened, recordings; /* recordings: at least, at most */
};
struct emitted truth_emitted(const struct truth *t, int32_t pid);
/* The n-th process that called init; 0: there are no more. */
int32_t truth_process(const struct truth *t, unsigned n);

#endif
