/* The background thread: opens the recording, seals buffers into chunks, keeps the heartbeat, closes.
 *
 * One thread per process, with all signals blocked. Only this thread accesses the recording's file, so no callback
 * waits for a disk. It has its own descriptor table (table.h), so it cannot write to a file of the program. Buffers are
 * sealed as they fill (seal.h). About every 100 ms: heartbeat and status. About once a second: the filled part of
 * buffers in use (every 50 ms if a kill would lose it), a clock sample, the control file. When a window of detail (detail.h) begins or ends it wakes up too. */
#ifndef RS_PLUGIN_SEALER_H
#define RS_PLUGIN_SEALER_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/config.h"

enum rs_sealer_state { RS_SEALER_NONE, RS_SEALER_OPENING, RS_SEALER_OPEN, RS_SEALER_FAILED, RS_SEALER_CLOSED };

/* Starts the thread and waits up to `wait_ms` for the recording to be open. Returns the state: OPENING if the file
 * system has not answered yet (it may still open later). `config` must stay valid. */
enum rs_sealer_state rs_sealer_start(const struct rs_config *config, unsigned wait_ms);
enum rs_sealer_state rs_sealer_state(void);

/* Seals everything soon. Does not wait. `idle`: the last communicator is gone. */
void rs_sealer_flush(bool idle);
/* Seals everything, writes the end, and waits for it, up to `wait_ms`. Once, at process exit. */
void rs_sealer_close(unsigned wait_ms);
/* In a forked child: there is no thread here. */
void rs_sealer_forget(void);

#endif
