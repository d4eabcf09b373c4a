/* The numbers of the ranks of the job.
 *
 * Each tool numbers the ranks that it recorded; of several tools, the primary source decides. A number is
 * - what PyTorch reports: the ranks that its process groups consist of, or the process's own;
 * - else the rank in a communicator that contains every rank of the tool that is in one (the first created, of more
 * than one rank), unless that contradicts PyTorch;
 * - else the launcher's, if each process has one rank and no value occurs twice;
 * - else the rank in the largest communicator, if one contains more than half of the ranks, or if the launcher agrees
 * for all members of those of its size: ranks of another job, or of an earlier attempt, do not change the numbers;
 * - else unknown. */
#ifndef RS_JOIN_RANK_NUMBERS_H
#define RS_JOIN_RANK_NUMBERS_H

#include "model/model.h"

/* Sets the numbers of model.ranks, by the rank_id of its members. */
void rs_ranks_number(struct rs_model *m);

#endif
