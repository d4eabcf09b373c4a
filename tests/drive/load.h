/* The plugin, loaded as NCCL does: dlopen(RTLD_NOW | RTLD_LOCAL), newest version first.
 *
 * A test program's own copy of NCCL's part, so that the simulator's is not its own witness. */
#ifndef RS_TESTS_LOAD_H
#define RS_TESTS_LOAD_H

#include <stddef.h>
#include <stdint.h>

#include "nccl/abi.h"

struct plugin {
    void *lib;
    int version;
    union {
        const void *any;
        const struct rs_nccl_profiler_v1 *v1;
        const struct rs_nccl_profiler_v2 *v2;
        const struct rs_nccl_profiler_v3 *v3;
        const struct rs_nccl_profiler_v4 *v4;
        const struct rs_nccl_profiler_v5 *v5;
        const struct rs_nccl_profiler_v6 *v6;
        const struct rs_nccl_profiler_v7 *v7;
    };
};

/* The mask that the plugin writes to, as NCCL's own: one for the process. */
extern int nccl_mask;
/* Warnings that came through the logger. */
extern _Atomic int warnings;

/* Loads $PLUGIN with the newest version up to `api`; ends the program if that fails. */
void plugin_open(struct plugin *plugin, int api);
void plugin_close(struct plugin *plugin);

/* Each ends the program when the answer is not success. */
void *plugin_init(const struct plugin *plugin, const char *name, uint64_t id, int nnodes, int nranks, int rank);
void plugin_finalize(const struct plugin *plugin, void *context);
/* `descr` is of the plugin's version. */
void *plugin_start(const struct plugin *plugin, void *context, void *descr);
void plugin_stop(const struct plugin *plugin, void *handle);
/* `args` is union rs_nccl_args_v1 up to version 3, else _v4. */
void plugin_state(const struct plugin *plugin, void *handle, int state, void *args);

/* A ProxyStep of the plugin's version. */
void *plugin_start_step(const struct plugin *plugin, void *context, void *parent, int rank, int step);

#endif
