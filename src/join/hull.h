/* The happens-before hull: how far each clock could be moved before an effect came before its cause.
 *
 * In a symmetric collective every rank's end is after every other rank's start. Over all of them that bounds each clock
 * from both sides, without any assumption about ends: a check on the fit, not an estimate (its middle would hide half of a
 * rank that is always late). Works on an aligned model and sets hull_low_ns and hull_high_ns of its clocks. Single
 * operations that contradict are broken ones. Where more than one in 200 of a clock's do, its stated error grows until they
 * do not (one in ten, where they contradict it wildly). */
#ifndef RS_JOIN_HULL_H
#define RS_JOIN_HULL_H

#include "model/model.h"

enum rs_status rs_hull_check(struct rs_model *m, struct rs_err *err);

#endif
