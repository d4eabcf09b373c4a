/* Why a job hangs: every independent cause, who is to blame, and the evidence.
 *
 * A wait-for graph: each rank is held by its first pending operations, and each pending operation waits for the ranks
 * that have not entered it. A rank that others wait for and that nothing in NCCL holds is a cause, and so are a dead
 * process, calls that do not match, a cycle, and a transfer that does not move though all have entered it. Recordings
 * and dumps differ in what they show of a rank (hang_state.h, hang_flight.h), not in how they are searched. What was not
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
    RS_VERDICT_STALLED_STEP, /* all entered, and the data does not move; or it has ended on some ranks only */
    RS_VERDICT_DEADLOCK, /* ranks entered communicators in different orders */
    RS_VERDICT_OUTSIDE_NCCL, /* everything is complete in NCCL, and nothing more came */
};
const char *rs_verdict_name(enum rs_verdict v); /* "NOT_JOINED" */

/* Why the verdict is unknown. */
enum rs_hang_unknown {
    RS_HANG_KNOWN,
    RS_HANG_BLIND, /* no file here records what was still running */
    RS_HANG_NO_OUTCOME, /* all ranks called the last operation, and whether it completed was not recorded */
    RS_HANG_MOMENTS, /* dumps of different moments: what is pending in the later ones may have been in flight */
    RS_HANG_CUT, /* the end was cut off (export --format rsc) */
    RS_HANG_COUNTS, /* a health service only: all ranks have launched the same, and whether that ended is unknown */
    RS_HANG_NOT_RECORDED, /* nothing seems to hang, and the last operations were lost or not requested */
};

/* A rank: of the job, and where it is. */
struct rs_hang_who {
    int32_t rank; /* of the job; -1: not known */
    int32_t comm_rank; /* in the communicator of the finding; -1: none */
    uint32_t member; /* RS_NONE: no recording */
};

/* One cause. Lists are owned; texts are in the arena of struct rs_hang. */
struct rs_hang_finding {
    enum rs_verdict verdict;
    uint32_t op, comm; /* RS_NONE: none */
    uint16_t func; /* without an operation: function and number of one that a health service counted; */
    uint64_t seq; /* UINT64_MAX: none */
    struct rs_hang_who *guilty; /* by rank */
    uint32_t nguilty;
    struct rs_hang_who *suspects; /* without a recording, where the wait ends at them; then no rank is guilty */
    uint32_t nsuspects;
    struct rs_hang_who *waiting; /* are in the operation and cannot go on */
    uint32_t nwaiting;
    struct rs_hang_who peer; /* comm_rank -1: none */
    int32_t step, state, channel; /* of the network step; -1: none */
    int64_t since; /* since when the operation has been blocked; RS_TIME_NONE: not known */
    bool undecided; /* no side has more ranks: one of the guilty is at fault */
    struct rs_hang_rank *rows; /* the evidence: all ranks of the operation */
    uint32_t nrows;
    uint32_t *busy; /* in step with rows: what an absent rank is in instead (a part); RS_NONE */
    uint32_t *last; /* in step with rows: its latest part of all; RS_NONE */
    const char *detail; /* the evidence in short, or NULL */
    const char *evidence, *advice; /* sentences: what is the case, and what to do; NULL: none */
    const char *frames; /* where the first of the guilty was seen last: see struct rs_tag; NULL */
};

struct rs_hang {
    /* One at least: the first is the verdict. NONE, UNKNOWN and OUTSIDE_NCCL come alone, and name no rank. */
    struct rs_hang_finding *findings;
    uint32_t nfindings, cap_findings;
    int32_t *unseen; /* ranks of the job without a recording */
    uint32_t nunseen;
    enum rs_hang_unknown unknown; /* with RS_VERDICT_UNKNOWN */
    bool moving; /* a health service only: counts rose between its answers */
    uint32_t left_out; /* pending operations that do not pass the filter: what they wait for is not known */
    uint32_t also_blocked; /* other operations that are pending, most of them as a consequence */
    uint8_t *stage; /* by part: enum rs_stage of those that are pending, RS_STAGE_ENDED of all others; NULL: no hang */
    const char **conclusion; /* sentences: those of all findings, then what weakens them */
    uint32_t nconclusion, cap_conclusion;
    struct rs_arena arena; /* of the texts */
};

/* Needs a joined model. The search begins at operations that pass the filter, and follows them to others. What `out`
 * holds is freed by rs_hang_free(). */
void rs_hang_find(const struct rs_model *m, const struct rs_filter *filter, struct rs_hang *out);
void rs_hang_free(struct rs_hang *h);

/* Whether the job hangs, or a rank of it died: any verdict but NONE and UNKNOWN. */
static inline bool rs_hang_is_found(const struct rs_hang *h)
{
    return h->findings[0].verdict > RS_VERDICT_UNKNOWN;
}

bool rs_hang_is_guilty(const struct rs_hang_finding *f, int32_t comm_rank);

#endif
