/* One dump of PyTorch's Flight Recorder -> a process of the model, its members, and a part for each operation.
 *
 * Collectives carry the process group's number, which all ranks share; sends and receives are joined by their order.
 * Times are the calls' alone. What is known beyond them is a state: RS_PART_STARTED, RS_PART_DONE; an operation inside
 * a coalesced one has the state of that. The dump stays the caller's; no pointers into it are kept. */
#ifndef RS_FOREIGN_FLIGHT_MODEL_H
#define RS_FOREIGN_FLIGHT_MODEL_H

#include "foreign/flight/flight.h"
#include "model/model.h"

enum rs_status rs_flight_to_model(struct rs_model *m, const struct rs_flight *f, const char *path, uint32_t *proc,
                                  struct rs_err *err);

#endif
