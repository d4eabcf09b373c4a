/* The groups of a timeline: host > process > rank > communicator, in drawing order.
 *
 * Ranks are those of model.ranks, and devices that occur only in activities; processes recorded by several tools are
 * one. Hosts, processes and ranks are in the order of the ranks of the job. Groups whose ranks are all filtered out are
 * omitted. */
#ifndef RS_TIMELINE_GROUPS_H
#define RS_TIMELINE_GROUPS_H

#include "timeline/timeline.h"

/* Sets groups, procs, group_of_member, and in the index: lead, proc_group, only_rank, devices, member_text. */
void rs_groups_make(struct rs_timeline *t);

/* The group of a device of a (primary) process: its rank's, else the process's; RS_NONE: filtered out. */
uint32_t rs_group_of_device(const struct rs_timeline *t, uint32_t proc, int32_t device);

#endif
