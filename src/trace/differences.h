/* Settings that differ between the processes of a run: a common reason for a job that hangs or is slow.
 *
 * Compares the environment of NCCL, CUDA, PyTorch and ringscope, and versions; not what is expected to differ. Owns its
 * lists until rs_differences_free() and borrows texts from the inputs, which must stay valid. */
#ifndef RS_TRACE_DIFFERENCES_H
#define RS_TRACE_DIFFERENCES_H

#include "trace/inputs.h"

/* One value of a setting, and the processes that have it. */
struct rs_setting_value {
    const char *value; /* NULL: not set */
    size_t processes;
    const struct rs_source *example;
};

struct rs_setting {
    const char *name; /* "NCCL_ALGO", "nccl.version", ... */
    struct rs_setting_value *values; /* most frequent first */
    size_t nvalues;
};

struct rs_differences {
    struct rs_setting *settings;
    size_t n;
};

void rs_differences_find(struct rs_differences *d, const struct rs_inputs *inputs);
/* Every setting of every process that is worth comparing between runs: environment variables of NCCL, CUDA, PyTorch and
 * ringscope, without those that name a place or a process, and versions. */
void rs_settings_each(const struct rs_inputs *inputs, void (*take)(void *to, const char *name, const char *value),
                      void *to);
void rs_differences_free(struct rs_differences *d);

#endif
