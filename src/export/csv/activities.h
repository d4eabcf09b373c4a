/* What other tools saw besides NCCL's operations, as rows of the CSV table of events: kernels, copies, annotations and
 * host calls of one process. Owns nothing; one thread at a time. */
#ifndef RS_EXPORT_CSV_ACTIVITIES_H
#define RS_EXPORT_CSV_ACTIVITIES_H

#include "export/csv/cells.h"
#include "timeline/timeline.h"

/* Those of a (leading) process that are to be shown. Its activities are numbered from `first` on, shown or not, so that
 * no event of the process has their numbers. */
enum rs_status rs_csv_activities(struct rs_csv *c, const struct rs_out_columns *columns, const struct rs_timeline *t,
                                 uint32_t proc, uint64_t first, struct rs_err *err);

#endif
