/* What must hold: the reader's word against the driver's counts, and what is left in folders. */
#ifndef RS_CAMPAIGN_JUDGE_H
#define RS_CAMPAIGN_JUDGE_H

#include "run.h"

enum { BOUND_PROCESSES = 32 };

/* What the processes emitted: before a reading at least, behind it at most. */
struct bounds {
    unsigned n;
    struct {
        int32_t pid;
        struct emitted emitted;
    } processes[BOUND_PROCESSES];
};
void bounds_take(const struct truth *t, struct bounds *b);

/* Sums over all processes. */
struct totals {
    uint64_t kept, lost, overwritten, damaged;
    bool known; /* emitted is a number everywhere */
    bool read; /* there is something */
    bool damaged_said; /* some place is named that could not be read */
};

/* Reads `dir` by `ringscope info` and holds it against the truth. `flags`: enum flag, what is to be expected; `name`: of
 * the files with the reader's words. */
struct totals judge_reading(struct run *r, const char *name, const char *dir, const struct bounds *before,
                            const struct bounds *behind, unsigned flags);
/* The same of a recording that is being written. */
void judge_live(struct run *r, const char *name, const char *dir, const struct bounds *before, unsigned flags);
/* Everything, when the driver has ended. */
void judge_end(struct run *r);

#endif
