/* Where the plugin lies that was built with this ringscope. */
#ifndef RS_CLI_PLUGIN_PATH_H
#define RS_CLI_PLUGIN_PATH_H

#include <limits.h>

#include "base/err.h"

/* Beside this executable (a build folder), or in lib beside its bin (an installation). */
enum rs_status rs_plugin_path(char path[PATH_MAX], struct rs_err *err);

#endif
