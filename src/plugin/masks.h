/* The NCCLs in the process, and the events requested from each.
 *
 * A process may contain several NCCLs (one in the framework, one in a library), each with its own mask and identified
 * by the mask's address. The memory of an NCCL is accessed by its own threads only, inside its calls: it may be
 * unloaded at any other time, with or without a finalize.
 *
 * NCCL loads the mask at every API call. The send and the receive of one group call must agree on KernelCh, or a proxy
 * thread waits forever for a counter that no kernel writes. So these bits change only while no thread of the process is
 * in a group call that still accepts operations. GroupApi events show that, and are always requested (v5 and newer).
 * Older versions have no such event: their KernelCh bits keep their first value, and the others change at a Group
 * event.
 *
 *   the background thread     sets which mask is wanted (rs_masks_order)
 *   a thread that begins or   change PROPOSED: takes it back (IDLE)
 *   ends a group call         change WRITING: stores the mask too, so that it cannot load the old one
 *   a thread whose group      another mask is wanted: change = PROPOSED; a group call may be open: back to IDLE, and the
 *   call has ended            next one tries again; else CAS to WRITING, stores the mask, IDLE
 *
 * No thread waits for another, and this costs a load or two while no change is wanted.
 *
 * When is a group call over? A GroupApi event may be stopped before that: NCCL counts nested ncclGroupStart/End pairs
 * wrongly. It is over when the event is stopped and either it was a single call (groupDepth 1) or it has launched its
 * kernels, which happens in the outermost ncclGroupEnd. That is why KernelLaunch is always requested too.
 *
 * A remaining gap: NCCL loads the mask for a group's first operation some 20 ns before it starts the GroupApi event. A
 * thread that has made no group call for 10 ms and makes one just when another thread changes the mask may see both. */
#ifndef RS_PLUGIN_MASKS_H
#define RS_PLUGIN_MASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "nccl/abi.h"

/* Whether a communicator of the NCCL with this mask is alive. */
bool rs_masks_known(const int *mask);
/* At init, on NCCL's thread: one more communicator, with context number `index`. The first of an NCCL gets `wanted`,
 * the setting of the environment, or what was ordered since. */
void rs_masks_join(int *mask, int api, rs_nccl_logger logger, uint64_t index, int wanted);
/* At finalize: false if there is no such context, or it was finalized before. *logger: of its NCCL. *last: no
 * communicator is left in the process. With its last communicator the mask and logger of an NCCL are forgotten. */
bool rs_masks_leave(uint64_t index, rs_nccl_logger *logger, bool *last);

/* Any thread: the events to request from all NCCLs from now on. -1: the setting of the environment. */
void rs_masks_order(int mask);
/* The background thread: whether GPU times and network events are requested (detail.h). Older versions of the interface
 * keep KernelCh as it is. */
void rs_masks_detail(bool on);
/* In a callback, at an unusual interval: on, from the end of this group call on, until rs_masks_detail() is called. */
void rs_masks_detail_now(void);
/* Any thread: nothing can be recorded, so nothing is requested, not even group calls. */
void rs_masks_mute(void);
/* In a forked child. */
void rs_masks_reset(void);

/* In callbacks: the start of a GroupApi event; the stop of any event that may be one; the start of a KernelLaunch; a
 * Group event of v1 to v4. */
void rs_group_opened(void *context, void *handle, int depth);
void rs_group_stopped(void *handle);
void rs_group_launched(void *parent);
void rs_group_legacy(void *context);

#endif
