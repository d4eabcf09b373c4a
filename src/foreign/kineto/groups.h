/* Process groups of a Kineto trace: from its distributedInfo, and from what each call says of its own.
 *
 * Names come back with other ranks (split groups), so that a group is its name and its ranks. The groups belong to the
 * rs_kineto. One thread at a time. */
#ifndef RS_FOREIGN_KINETO_GROUPS_H
#define RS_FOREIGN_KINETO_GROUPS_H

#include "base/scan.h"
#include "foreign/kineto/rows.h"

/* Reads the object whose key ("distributedInfo") came last. */
void rs_kineto_info_read(struct rs_kineto *k, struct rs_scan *s);

/* Gives every call its group, and the trace its rank where only the calls have it. When all of the trace is read. */
void rs_kineto_groups_find(struct rs_kineto *k);
/* Gives every group its hash and this trace's place in it. When the rank of the trace is known, as far as it can be. */
void rs_kineto_groups_settle(struct rs_kineto *k);

/* A new group of which only a name is known; its index. */
uint32_t rs_kineto_group_add(struct rs_kineto *k, const char *name);
/* The place of a global rank in a group; -1: it is not in it, or its ranks are not known. */
int32_t rs_kineto_group_rank(const struct rs_kineto_group *group, int32_t global);

#endif
