/* Detail in windows: GPU times and network events are requested for a while in each period only (RINGSCOPE_DETAIL).
 *
 * A window lies somewhere in its period, where a hash of the period's number on the wall clock says: at the same time on
 * all ranks without any communication, and not in step with anything that the job repeats. It begins and ends on each
 * rank with the end of a group call (masks.h), so its edges are ragged by the error of the hosts' clocks and a call.
 *
 * A trigger opens a window at once when a group call of a thread comes much later after the one before than usual.
 * Usual is the longest interval of the last minute, more or less. It at most doubles with one trigger, so that a single
 * pause does not hide the next, and what lasts becomes usual. Needs GroupApi events (API v5 and newer).
 *
 * Work captured into a CUDA graph keeps the events that were requested at its capture. */
#ifndef RS_PLUGIN_DETAIL_H
#define RS_PLUGIN_DETAIL_H

#include <stdatomic.h>
#include <stdint.h>

#include "plugin/config.h"

/* When the recording is opened, before the first mask is set. `config` must stay valid. */
void rs_detail_start(const struct rs_config *config);
/* The background thread, for the control file: other windows; NULL: those of the environment. */
void rs_detail_order(const struct rs_detail *detail);
/* The background thread: opens and closes windows, records triggers. Returns in how many ms it has to be called again;
 * UINT64_MAX: any time. */
uint64_t rs_detail_look(void);
/* In a forked child. */
void rs_detail_reset(void);

/* 1: intervals are watched. */
extern _Atomic uint32_t rs_detail_watching;
/* In a callback, if so: a group call of this thread began at `tick` (0: unknown). */
void rs_detail_called(uint64_t tick);

#endif
