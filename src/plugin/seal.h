/* Sealing: buffers -> chunks of the recording, in order, each exactly once.
 *
 * Full buffers are sealed and reused; of buffers in use, the filled part is sealed. When sealing falls behind, chunks
 * are written uncompressed. When a write fails, buffers are kept and the write is retried after a second; threads that
 * find no buffer count their losses. Used by the background thread only. */
#ifndef RS_PLUGIN_SEAL_H
#define RS_PLUGIN_SEAL_H

#include <stdbool.h>

#include "plugin/config.h"
#include "plugin/files.h"

/* Opens the pool in the live mapping. `files` must stay valid. false: out of memory. */
bool rs_seal_open(struct rs_files *files, const struct rs_config *config);

/* Seals full buffers, until `until_ms` (CLOCK_MONOTONIC). true: there are more. */
bool rs_seal_full(uint64_t until_ms);
/* Seals the filled part of buffers that threads still write into, and of facts. */
void rs_seal_partly(void);
/* After rs_pool_close(): seals everything that is left, with LOST records. What is past the limit is counted as lost.
 * false: the live file still contains something that could not be written. */
bool rs_seal_last(void);

/* Fills in file_end, sealed_records and write_errno. */
void rs_seal_status(struct rs_status_block *status);

#endif
