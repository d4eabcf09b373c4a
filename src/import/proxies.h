/* Proxy operations and their network steps -> start and end of their operation, and the flows of the network. */
#ifndef RS_IMPORT_PROXIES_H
#define RS_IMPORT_PROXIES_H

#include "import/folding.h"

enum rs_status rs_proxy_start(struct rs_assembly *a, struct rs_folding_event *f, const struct rs_start *s,
                              struct rs_err *err);
/* It makes progress: reported by newer NCCL (state 19); for older ones, at the first state or step. */
void rs_proxy_goes(struct rs_folding *p, struct rs_folding_event *f, int64_t now);
void rs_proxy_stop(struct rs_folding *p, const struct rs_folding_event *f, int64_t now);

void rs_step_start(struct rs_assembly *a, struct rs_folding_event *f, const struct rs_start *s);
void rs_step_state(struct rs_assembly *a, struct rs_folding_event *f, const struct rs_callback *cb, int64_t now);
void rs_step_stop(struct rs_assembly *a, const struct rs_folding_event *f, int64_t now);

#endif
