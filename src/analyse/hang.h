/* Why a job stands still: one verdict, who is to blame, and the evidence.
 *
 * The search begins at the operation that was blocked first and asks of every rank in it: is its process gone, did it
 * call the operation, with the same arguments, did its kernel start? A rank that is in another operation leads on to
 * that one, until a rank is found that nothing in NCCL holds, or the way comes back to where it was. What was not
 * recorded is not held against a rank. A job that closed well does not hang, nor does one whose operations had not been
 * pending for longer than usual when it was stopped. */
#ifndef RS_ANALYSE_HANG_H
#define RS_ANALYSE_HANG_H

#include "analyse/hang_state.h"
#include "base/arena.h"
#include "model/filter.h"

enum rs_verdict {
    RS_VERDICT_NONE,
    RS_VERDICT_UNKNOWN, /* these files cannot answer: see enum rs_hang_unknown */
    RS_VERDICT_RANK_DEAD, /* its process is gone, others wait for it */
    RS_VERDICT_NOT_JOINED, /* it did not enter the operation, and is in no other */
    RS_VERDICT_MISMATCH, /* all entered, with different arguments or functions */
    RS_VERDICT_STREAM_BLOCKED, /* its kernel was launched and never started */
    RS_VERDICT_STALLED_STEP, /* all kernels run, and the data does not move */
    RS_VERDICT_DEADLOCK, /* ranks entered communicators in different orders */
    RS_VERDICT_OUTSIDE_NCCL, /* everything is complete in NCCL, and nothing more came */
};
const char *rs_verdict_name(enum rs_verdict v); /* "NOT_JOINED" */

/* Why nothing can be said. */
enum rs_hang_unknown {
    RS_HANG_KNOWN,
    RS_HANG_BLIND, /* no file here tells what was still running */
    RS_HANG_UNTOLD, /* all ranks called the last operation, and what became of it was not recorded */
    RS_HANG_CUT, /* the end was cut off (export --format rsc) */
    RS_HANG_NOT_RECORDED, /* nothing seems to hang, and what came last was lost or not asked for */
};

/* A rank: of the job, and where it is. */
struct rs_hang_who {
    int32_t rank; /* of the job; -1: not known */
    int32_t comm_rank; /* in the communicator of the verdict; -1: none */
    uint32_t member; /* RS_NONE: no recording */
};

enum { RS_HANG_CONCLUSIONS = 4 };

struct rs_hang {
    enum rs_verdict verdict;
    uint32_t op, comm; /* RS_NONE: none */
    struct rs_hang_who *guilty; /* by rank; owned, as all lists */
    uint32_t nguilty;
    struct rs_hang_who *waiting; /* are in the operation and cannot go on */
    uint32_t nwaiting;
    int32_t *unseen; /* ranks of the job without a recording */
    uint32_t nunseen;
    struct rs_hang_who peer; /* comm_rank -1: none */
    int32_t step, state, channel; /* of the network step; -1: none */
    int64_t since; /* since when the operation has been blocked; RS_TIME_NONE: not known */
    enum rs_hang_unknown unknown; /* with RS_VERDICT_UNKNOWN */
    uint32_t left_out; /* pending operations that do not pass the filter: what they wait for is not told */
    uint32_t also_blocked; /* other operations that are pending, most of them as a consequence */
    struct rs_hang_rank *rows; /* the evidence: all ranks of the operation */
    uint32_t nrows;
    uint32_t *busy; /* in step with rows: what an absent rank is in instead (a part); RS_NONE */
    uint32_t *last; /* in step with rows: its latest part of all; RS_NONE */
    const char *detail; /* one sentence, or NULL */
    const char *conclusion[RS_HANG_CONCLUSIONS];
    uint32_t nconclusion;
    struct rs_arena arena; /* of the texts */
};

/* Needs a joined model. The search begins at operations that pass the filter, and follows them to others. What `out`
 * holds is freed by rs_hang_free(), also after a failure. */
enum rs_status rs_hang_find(const struct rs_model *m, const struct rs_filter *filter, struct rs_hang *out);
void rs_hang_free(struct rs_hang *h);

#endif
