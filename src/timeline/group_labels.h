/* What groups are called: "pid 4711", "rank 5 · GPU 1", "comm 3f2a91bc tp:0, rank 2 of 8". */
#ifndef RS_TIMELINE_GROUP_LABELS_H
#define RS_TIMELINE_GROUP_LABELS_H

#include "timeline/timeline.h"

enum rs_status rs_label_proc(struct rs_timeline *t, uint32_t proc, uint32_t *label, struct rs_err *err);
/* Of a row of model.ranks. */
enum rs_status rs_label_rank(struct rs_timeline *t, uint32_t rank_id, uint32_t *label, struct rs_err *err);
/* Of a device that is no rank's; -1: not known. */
enum rs_status rs_label_device(struct rs_timeline *t, int32_t device, uint32_t *label, struct rs_err *err);
/* With its rank; index->member_text gets it without. One that several tools saw has the name that one of them knows. */
enum rs_status rs_label_comm(struct rs_timeline *t, uint32_t member, uint32_t *label, struct rs_err *err);

#endif
