/* One run: a folder of its own, the driver in it, the faults from outside, and what is left of it all.
 *
 * It is a process with a mount namespace of its own where that is allowed: then /dev/shm and the file systems of the
 * recording are its own, and go with it. Its verdict is the list of violations in the truth. */
#ifndef RS_CAMPAIGN_RUN_H
#define RS_CAMPAIGN_RUN_H

#include <sys/types.h>

#include "plan.h"
#include "truth.h"

struct tools {
    const char *self, *plugin, *reader,
        *libraries; /* the programs under test; the folder of the campaign's libraries */
    const char *base; /* folders of runs are made here */
    unsigned needs; /* what the machine allows */
    bool quiet;
};

struct run {
    const struct tools *tools;
    struct plan plan;
    struct truth *truth;
    char folder[400]; /* of this run */
    char place[420]; /* what is mounted for the recording, or a plain folder */
    char dir[440]; /* RINGSCOPE_DIR */
    bool own_shm;
    pid_t driver;
    int handle; /* of the driver: its number may come to mean another process */
    int status; /* of the driver */
    bool hung; /* and was killed */
    unsigned copies; /* of the folder that were made */
};

/* The outcome of a run, for the campaign's table. */
struct outcome {
    uint32_t done, nwrong;
    char wrong[4][WRONG_BYTES];
};

/* A mount namespace for this process, as root or in a user namespace; nothing of it reaches the others. */
bool run_namespace(void);
void run_one(const struct tools *tools, const struct plan *plan, struct outcome *outcome);

/* For faults: */
bool run_signal(const struct run *r, int number); /* to the driver; false: it has ended */
/* Runs a program, with its output in FOLDER/NAME.out and NAME.err; its status as waitpid() has it, -1: it hangs. */
int run_program(struct run *r, const char *name, const char *const argv[]);
/* Copies the files of a folder, in some order, with pauses; the names of those that are not there are passed over. */
void run_copy(const char *from, const char *to, uint64_t seed, uint32_t pause_ms);
/* A new name for a copy of the recording. */
void run_copy_name(struct run *r, const char *what, uint32_t number, char *path, size_t bytes);
bool run_copy_file(const char *from, const char *to);
void sleep_ms(uint32_t ms);
uint64_t clock_ms(void);

#endif
