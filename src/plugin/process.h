/* Facts about the process: key and value, written once.
 *
 * Reads the environment, so it runs on a thread inside NCCL's init (which reads it as well) and not in the
 * background. */
#ifndef RS_PLUGIN_PROCESS_H
#define RS_PLUGIN_PROCESS_H

#include "plugin/config.h"

struct rs_nccl_library {
    char version[32], path[4096]; /* "" = unknown */
};

/* The library that contains `in_nccl`, an address inside NCCL (its mask). Calls the loader: no lock of ours may be
 * held, since another thread may create a communicator inside dlopen(). */
void rs_process_find_nccl(struct rs_nccl_library *library, const void *in_nccl);
void rs_process_facts(const struct rs_config *config, const struct rs_nccl_library *library);

#endif
