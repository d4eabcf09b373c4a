/* Traces that are known to be of one host share its clock.
 *
 * A tool that gives GPU times on the host's clock (rigid domains) has as many GPU clocks as traces; those of one host become one,
 * so that their times are compared without an error of aligning. Which traces are of one host is known by the host's name,
 * where the reader found one, or by the user (`same_host`: all wall-time traces that do not name theirs). To be called
 * before anything looks at clocks. */
#ifndef RS_JOIN_ONE_HOST_H
#define RS_JOIN_ONE_HOST_H

#include "model/model.h"

enum rs_status rs_one_host(struct rs_model *m, bool same_host, struct rs_err *err);

#endif
