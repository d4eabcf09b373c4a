/* Classes: communicators of equal shape, "64 x 8 consecutive ranks". Reports are grouped by class.
 *
 * The shape is the number of ranks, their stride in ranks of the job, and PyTorch's description of the group. */
#ifndef RS_JOIN_CLASSES_H
#define RS_JOIN_CLASSES_H

#include "model/model.h"

/* PyTorch names a communicator "description:name". True if `name` is of that form: the description is its first *length
 * bytes, and *group is what follows the colon. */
bool rs_group_name(const char *name, size_t *length, const char **group);

/* Sets the class of every communicator. Needs the ranks of the job. */
void rs_classes_find(struct rs_model *m);

#endif
