/* What is worth knowing about the process: written once, as facts of the form key, value.
 *
 * Reads the environment, so it runs on a thread inside NCCL's init (which reads it as well) and not in the background. */
#ifndef RS_PLUGIN_PROCESS_H
#define RS_PLUGIN_PROCESS_H

#include "plugin/config.h"

/* `in_nccl` is any address inside NCCL (its mask, or its logger): tells which library to ask for the version. */
void rs_process_facts(const struct rs_config *config, const void *in_nccl);

#endif
