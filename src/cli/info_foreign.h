/* `ringscope info`: the ranks of the job, and the traces of other tools: files, processes, and what each contains.
 *
 * The model has the processes and communicators of the recordings first, as many processes as there are recordings, and
 * then those of other tools' files. Where one tool recorded the job, nothing is joined, and no callback of a recording is
 * read; where several did, the join says which processes are the same. What processes contain is counted before the join,
 * on their own clocks. */
#ifndef RS_CLI_INFO_FOREIGN_H
#define RS_CLI_INFO_FOREIGN_H

#include "base/json.h"
#include "cli/options/opt.h"
#include "model/model.h"
#include "trace/inputs.h"

/* What a process contains. */
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

/* The tables of the text. `alone`: there are no recordings, so these are all that there is. */
void rs_info_others_print(const struct rs_inputs *in, const struct rs_info_who *who, bool alone);

/* Elements of "inputs", and of "process_list". */
void rs_info_others_inputs_json(struct rs_json *j, const struct rs_inputs *in);
void rs_info_others_processes_json(struct rs_json *j, const struct rs_inputs *in, const struct rs_info_who *who);
/* The whole object, where there are no recordings. What only a recording contains is null. */
void rs_info_others_json(struct rs_json *j, const struct rs_inputs *in, const struct rs_info_who *who);

#endif
