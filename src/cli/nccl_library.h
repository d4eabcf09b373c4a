/* NCCL as a file: which version a library or program contains, and which profiler interface that version uses. */
#ifndef RS_CLI_NCCL_LIBRARY_H
#define RS_CLI_NCCL_LIBRARY_H

#include <stdbool.h>

#include "base/units.h"

/* The first version with profiler plugins, as ncclGetVersion() counts. */
enum { RS_NCCL_FIRST_PROFILER = 22304 };

/* The version of NCCL inside an open file, from the text that NCCL compiles in for `strings`; 0: none found. Nothing of the
 * file is loaded or run. `path` is for messages. */
int rs_nccl_version_in(int fd, const char *path);

/* 22809 -> "2.28.9", 2708 -> "2.7.8", 0 -> "of unknown version". */
struct rs_text rs_nccl_version_text(int version);

/* The newest ncclProfiler_vN that this version looks for in a plugin; 0: it has no profiler plugins. */
int rs_nccl_profiler_api(int version);

/* Whether this version refuses a plugin that is named by its path (2.27.3, 2.27.4). */
bool rs_nccl_refuses_paths(int version);

#endif
