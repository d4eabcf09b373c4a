/* Who `ringscope info` counts, the ranks of the job (model.ranks), and what each process of other tools holds.
 *
 * The model has the processes and communicators of the recordings, as many processes as there are of these, and behind
 * them all of other tools' files. Where one tool saw the job, nothing is joined, and of recordings no callback is read;
 * where several did, the join says who is the same. What processes hold is counted before, on their own clocks. Owns
 * both until rs_info_who_free(). */
#ifndef RS_CLI_INFO_RANKS_H
#define RS_CLI_INFO_RANKS_H

#include "cli/opt.h"
#include "model/model.h"
#include "trace/inputs.h"

/* What a process holds. */
struct rs_holding {
    uint64_t colls, p2ps, calls; /* parts */
    uint64_t kinds[RS_ACTIVITY_KINDS];
    uint64_t activities, stats;
    int64_t from, to; /* of its clock; RS_TIME_NONE: nothing of it has a time */
    int32_t rank; /* its only one; -1: not known */
};

struct rs_info_who {
    struct rs_model model;
    struct rs_holding *held; /* by process */
};

/* Returns 0, or the exit status after the reason was printed. Free it all the same. */
int rs_info_who_read(const struct rs_command *cmd, struct rs_inputs *in, struct rs_info_who *who);
void rs_info_who_free(struct rs_info_who *who);

/* "0 1 2 3": the numbers of a process's ranks; "?" where none is known. */
void rs_info_ranks_text(const struct rs_model *m, uint32_t proc, char *to, size_t bytes);

#endif
