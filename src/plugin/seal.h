/* Sealing: buffers -> chunks of the recording, in order, each exactly once.
 *
 * Full buffers are sealed as they come and used again; of buffers in use, the filled part. When it falls behind it writes
 * raw chunks; when a write fails it keeps the buffers and tries again a second later, and threads that find no buffer
 * count their losses. Used by the background thread alone. */
#ifndef RS_PLUGIN_SEAL_H
#define RS_PLUGIN_SEAL_H

#include <stdbool.h>

#include "plugin/config.h"
#include "plugin/files.h"

/* Opens the pool over the live mapping. `files` must live on. false: out of memory. */
bool rs_seal_open(struct rs_files *files, const struct rs_config *config);

/* What threads handed in, until `until_ms` (of CLOCK_MONOTONIC). true: there is more that could be sealed at once. */
bool rs_seal_full(uint64_t until_ms);
/* The filled part of buffers that threads still write into, and of facts. */
void rs_seal_partly(void);
/* After rs_pool_close(): everything that is left, and marks for what was lost. What may not be kept (past the limit) is
 * counted as lost. false: the live file still holds something that could not be written. */
bool rs_seal_last(void);

/* Fills in file_end, sealed_records and write_errno. */
void rs_seal_status(struct rs_status_block *status);

#endif
