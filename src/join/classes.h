/* Classes: communicators of equal shape, "64 x 8 consecutive ranks", the default grouping of reports.
 *
 * The shape is the number of ranks, the stride of their ranks of the job, and what PyTorch calls the kind of group. */
#ifndef RS_JOIN_CLASSES_H
#define RS_JOIN_CLASSES_H

#include "model/model.h"

/* PyTorch names a communicator "description:name". Where `name` is such a one, true: the description is its first
 * *length bytes, and *group the rest behind the colon. */
bool rs_group_name(const char *name, size_t *length, const char **group);

/* Gives every communicator its class. Needs the ranks of the job. */
void rs_classes_find(struct rs_model *m);

#endif
