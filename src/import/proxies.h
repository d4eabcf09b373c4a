/* Proxy operations and their network steps -> start and end of their operation, and the flows of the network. */
#ifndef RS_IMPORT_PROXIES_H
#define RS_IMPORT_PROXIES_H

#include "import/pairing.h"

enum rs_status rs_proxy_start(struct rs_pairing *p, const struct rs_callback *cb, int64_t now, struct rs_err *err);
/* It makes progress: told once by newer NCCL (state 19); older ones tell by their first state or step. */
void rs_proxy_goes(struct rs_pairing *p, struct rs_flight *f, int64_t now);
void rs_proxy_stop(struct rs_pairing *p, struct rs_flight *f, int64_t now);

enum rs_status rs_step_start(struct rs_pairing *p, const struct rs_callback *cb, int64_t now, struct rs_err *err);
enum rs_status rs_step_state(struct rs_pairing *p, struct rs_flight *f, const struct rs_callback *cb, int64_t now,
                             struct rs_err *err);
enum rs_status rs_step_stop(struct rs_pairing *p, struct rs_flight *f, int64_t now, struct rs_err *err);

#endif
