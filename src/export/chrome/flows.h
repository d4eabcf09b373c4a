/* Arrows of a Chrome trace: from a parent to its child, from a launch to what it launched, from a send to its receive,
 * and along the ranks of an operation in the order in which they came.
 *
 * An arrow is a start "s", steps "t" and an end "f" with one id, which no other has. Their times rise, and each lies in
 * the slice that it is bound to ("bp":"e"), where readers find the innermost one. chrome://tracing finds the first of
 * two that touch, so that an arrow to the second is a ns behind its begin. Where a child began before its parent the
 * arrow meets it later, and where it was over by then (clocks err), or others may stand in it there, the arrow runs the
 * other way.
 * Those within a piece of a process are written behind its slices; on which thread each part of an operation is is kept
 * until the end, a word a part: its times are in the model.
 * Owned by the exporter; one thread at a time. */
#ifndef RS_EXPORT_CHROME_FLOWS_H
#define RS_EXPORT_CHROME_FLOWS_H

#include "base/json.h"
#include "export/fanout_ranks.h"
#include "export/nests.h"
#include "export/rank_rows.h"
#include "timeline/timeline.h"

struct rs_chrome_place {
    int64_t at, end; /* where an arrow is bound to it and to no other, at its begin or just behind; where it ends */
    uint32_t pid, tid;
    bool holds; /* other slices: an arrow is its own at `at` only */
};

struct rs_chrome_flows {
    const struct rs_timeline *t;
    const struct rs_rank_rows *rows;
    struct rs_fanout_ranks fanouts;
    uint32_t *parts; /* by part of the model: thread id * 2, and 1 if its arrows are behind its begin; 0: not drawn */
    uint64_t id; /* the last one given out */
};

enum rs_status rs_chrome_flows_init(struct rs_chrome_flows *f, const struct rs_timeline *t,
                                    const struct rs_rank_rows *rows, struct rs_err *err);
/* Where a part is: it is bar i. Nothing stands in operations. */
void rs_chrome_flows_part(struct rs_chrome_flows *f, uint32_t part, const struct rs_bars *b,
                          const struct rs_nests *nests, uint32_t i, uint32_t tid);
/* The arrows between bars of one piece; `tids` by lane; process ids count rows from 1. */
void rs_chrome_flows_bars(struct rs_chrome_flows *f, struct rs_json *j, const struct rs_bars *b,
                          const struct rs_nests *nests, const uint32_t *tids);
/* The arrows between ranks, when all parts are told. */
enum rs_status rs_chrome_flows_ranks(struct rs_chrome_flows *f, struct rs_json *j, struct rs_err *err);
void rs_chrome_flows_free(struct rs_chrome_flows *f);

#endif
