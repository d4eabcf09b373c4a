/* The numbers of the ranks of the job.
 *
 * Each tool numbers the ranks that it saw; where several saw one, the tool that leads does. A number is
 * - what PyTorch says of it: the ranks that its process groups are made of, or the process's own;
 * - else its rank in a communicator that contains every rank of the tool that is in one (the first created; those of
 *   one rank aside), where that does not contradict what PyTorch says;
 * - else the launcher's, where each process holds one rank and no value comes twice;
 * - else its rank in the largest communicator, if there is one that contains more than half of the ranks, or if the
 *   launcher says the same of all members of those of its size: ranks of another job, or of an attempt before this one,
 *   take nobody's number away;
 * - else not known. */
#ifndef RS_JOIN_RANK_NUMBERS_H
#define RS_JOIN_RANK_NUMBERS_H

#include "model/model.h"

/* Sets the numbers of model.ranks, by the rank_id of its members. */
void rs_ranks_number(struct rs_model *m);

#endif
