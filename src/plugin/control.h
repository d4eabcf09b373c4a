/* Which events NCCL is asked for, and changing that while the job runs.
 *
 * NCCL has one mask a process; init hands out a pointer to it, and the pointer stays good while a communicator lives. A
 * file `control` in the recording's folder with a line `events=ops|net|all|off|MASK` changes the mask of every process
 * that records there, within about a second. Every change is a fact in the recording. */
#ifndef RS_PLUGIN_CONTROL_H
#define RS_PLUGIN_CONTROL_H

#include <stdbool.h>

/* At init: sets the mask (the control file's last word wins over `mask`) and keeps the pointer. */
void rs_control_attach(int *nccl_mask, int mask);
/* When the last communicator goes: NCCL may be unloaded next. */
void rs_control_detach(void);
/* The background thread, about once a second. A file that is there at the `first` look is an earlier job's: it means nothing
 * until it changes. When the file goes away the environment's setting is back. */
void rs_control_look(const char *dir, bool first);
/* Nothing can be recorded after all: asks for nothing. */
void rs_control_mute(void);
/* In a forked child. */
void rs_control_reset(void);

#endif
