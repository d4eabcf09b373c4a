/* Where every rank was when its recording ended: what is pending, and since when.
 *
 * An operation is pending on a rank when nothing shows that it ended there: no end is known, and nothing that was
 * launched after it on the communicator has started. Kernels of one communicator run one after the other, so the first
 * pending one is where the rank is stuck, on that communicator. Made once from a joined model, which is only read; owns
 * its tables until rs_hang_state_free(). One thread at a time. */
#ifndef RS_ANALYSE_HANG_STATE_H
#define RS_ANALYSE_HANG_STATE_H

#include "join/presence.h"
#include "join/ranks.h"
#include "model/model.h"

enum { RS_HANG_MOST_RANKS = 1 << 20 }; /* of a communicator; a number beyond that is damaged */

/* How far a rank came in an operation. */
enum rs_stage {
    RS_STAGE_ABSENT, /* recorded, and did not call it */
    RS_STAGE_CALLED, /* called, not launched */
    RS_STAGE_LAUNCHED, /* launched; the kernel did not start, which would have been seen */
    RS_STAGE_ENTERED, /* enqueued; nothing later was recorded */
    RS_STAGE_RUNNING, /* the kernel (where those are not recorded: the network) started, and did not end */
    RS_STAGE_ENDED,
    RS_STAGE_NOT_RECORDED, /* lost, overwritten, or not asked for: it may have been there */
    RS_STAGE_UNSEEN, /* no recording of this rank */
};

const char *rs_stage_text(enum rs_stage stage); /* "not called", "running", ... */

/* A rank of an operation. */
struct rs_hang_rank {
    int32_t rank; /* in the communicator */
    uint32_t member; /* RS_NONE: no recording */
    uint32_t part; /* RS_NONE: none */
    enum rs_stage stage;
    int64_t since; /* when it came to this stage; of an absent one: its last sign in NCCL. RS_TIME_NONE: not known */
};

/* The row of model.ranks that a member is; where that is not known, the first on its GPU, or one past the last. */
static inline uint32_t rs_hang_rank_of(const struct rs_model *m, uint32_t member)
{
    const struct rs_member *x = &m->members[member];
    return x->rank_id != RS_NONE ? x->rank_id : x->place != RS_NONE ? x->place : m->nranks;
}

struct rs_hang_state {
    const struct rs_model *m;
    struct rs_presence_index presence;
    uint8_t *stage; /* by part: enum rs_stage of those that are pending, RS_STAGE_ENDED of all others */
    uint32_t *first; /* by member: its first pending part; RS_NONE */
    uint8_t *queued; /* by member: its first pending part has surely not ended: something after it waits for
                        its turn, or others are still in it */
    uint32_t *busy; /* by rank: the pending part that keeps it: running, else launched, else called; RS_NONE */
    uint32_t *last; /* by rank: its latest part; RS_NONE */
    uint32_t *latest; /* by member: its latest collective; RS_NONE */
    uint32_t *stack; /* by rank: its latest part with frames, of whichever tool; RS_NONE */
    int64_t *longest; /* by communicator: the longest an operation took, without its first one; 0: unknown */
    int64_t *quiet; /* by process: the longest it was quiet between two calls */
    struct rs_map here; /* rank << 32 | communicator -> member */
    struct rs_map moved; /* part -> latest change of its open kernels and network steps */
    uint32_t *of_rank, *of_rank_next; /* by rank, by member: the members of a rank, as lists; RS_NONE */
    /* Of hang_flight.h. By member: 1 + the number of its last collective, and those below which all have ended there; 0:
     * not known. By communicator: the fewest collectives that a rank called; those that have ended on a rank; up to which
     * all must have come; whether it has sends and receives. */
    uint64_t *asked, *done, *least, *most, *proven;
    uint8_t *has_pairs;
    /* By process: the first and the last of its collectives that its dump calls pending though its peers have ended
     * them, for which they needed it. RS_NONE: none. */
    uint32_t *stale_from, *stale_to;
    struct rs_map numbers; /* a member's number of a collective -> part; of hang_flight.h */
    struct rs_hang_rank *rows; /* of the operation asked for last: hang_rows.h */
    uint32_t nrows, cap_rows;
};

void rs_hang_state_init(struct rs_hang_state *s, const struct rs_model *m);
void rs_hang_state_free(struct rs_hang_state *s);

/* The end of what a member's recording can say: its communicator's destruction, else its process's last sign of
 * life. */
int64_t rs_hang_member_end(const struct rs_model *m, uint32_t member);
/* When a part came where it is: its start, launch or call. RS_TIME_NONE: not known. */
int64_t rs_hang_part_since(const struct rs_model *m, uint32_t part);
/* When a pending part last made progress: its start, launch or call, or a later step of its network. */
int64_t rs_hang_part_moved(const struct rs_hang_state *s, uint32_t part);
/* Whether the tool that saw a communicator records how far every operation came, and not when. */
bool rs_hang_has_states(const struct rs_model *m, uint32_t comm);
/* Whether a process was closed, or had nothing left to close. */
bool rs_hang_closed(const struct rs_proc *p);

#endif
