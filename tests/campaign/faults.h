/* The table of faults. To add one is to add a row (faults.c) and its function. */
#ifndef RS_CAMPAIGN_FAULTS_H
#define RS_CAMPAIGN_FAULTS_H

#include "plan.h"

struct driver;
struct run;

/* The order in which plans have them. */
enum when {
    WHEN_PLACE, /* where the recording lies: one a run; before the driver starts */
    WHEN_SETUP, /* before the driver loads anything */
    WHEN_INSIDE, /* by the driver's main thread, at a time */
    WHEN_OUTSIDE, /* by a process of the campaign, at a time */
    WHEN_AFTER, /* to a copy of the folder, when the driver has ended */
    WHEN_ENDING, /* one a run */
};

/* What follows for what may be expected. */
enum flag {
    MAY_BE_MUTE = 1, /* a process may find no room or no right to record */
    MAY_LEAVE = 2, /* a live file may be left behind by a process that exits */
    MAY_NOT_KNOW = 4, /* the reader may say that it does not know how much was emitted */
    MAY_DAMAGE = 8, /* recordings may be unreadable or gone */
    LOADS = 16, /* libraries come and go ... */
    CLOSES = 32, /* ... which must not be while all descriptors are closed */
    SHIMMED = 64, /* needs the shim */
    ENDS_KILLED = 128, /* the process does not reach its exit handlers */
    UNLOADS = 256, /* NCCL is unloaded when its last communicator is gone */
    SIGNALS = 512, /* callbacks from handlers of signals */
    NEEDS_LOOP = 1024, /* the recording must lie on a file system of the campaign's own ... */
    IS_LOOP = 2048, /* ... as it does here */
    MAY_SEEM_ALIVE = 4096, /* without a lock, nothing but the heartbeat says whether the process runs ... */
    NO_LOCK = 8192, /* ... and there may be none */
};

struct fault {
    const char *name;
    enum when when;
    unsigned needs, weight, flags;
    /* WHEN_INSIDE, WHEN_ENDING, WHEN_SETUP: in the driver; may be NULL. An ending does not return. */
    void (*inside)(struct driver *d, const struct planned *p);
    /* WHEN_OUTSIDE, WHEN_AFTER, WHEN_PLACE, WHEN_SETUP, WHEN_ENDING: in a process of the campaign; may be NULL. */
    void (*outside)(struct run *r, const struct planned *p);
    int status; /* of an ending: as waitpid() has it */
};

extern const struct fault faults[];
extern const int nfaults;

/* The row with this name; -1: there is none. */
int fault_named(const char *name);

#endif
