#include "plugin/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "plugin/facts.h"

static _Atomic(rs_nccl_logger) logger;
static _Atomic unsigned said;
static _Atomic bool wanted; /* warnings on standard error, where there is no logger */

void rs_log_use(rs_nccl_logger fn)
{
    if (fn) atomic_store(&logger, fn);
    /* Read here, inside NCCL's init, which reads the environment too; not in the background. */
    const char *debug = getenv("NCCL_DEBUG");
    atomic_store(&wanted, debug && strcasecmp(debug, "NONE") && strcasecmp(debug, "VERSION"));
}

void rs_log_reset(void)
{
    atomic_store(&said, 0);
}

static void say(int level, enum rs_fact_said what, const char *fmt, va_list ap)
{
    if (atomic_fetch_or(&said, 1u << what) & 1u << what) return;
    char text[480];
    vsnprintf(text, sizeof text, fmt, ap);
    if (level == RS_NCCL_LOG_WARN) rs_fact_note("%s", text);
    rs_nccl_logger fn = atomic_load(&logger);
    if (fn) {
        fn(level, RS_NCCL_SUBSYS_PROFILE, "ringscope", 0, "ringscope: %s", text);
    } else if (level == RS_NCCL_LOG_WARN) {
        if (!atomic_load(&wanted)) return;
        char line[512];
        int n = snprintf(line, sizeof line, "ringscope: %s\n", text);
        if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0) return; /* nowhere to say it */
    }
}

void rs_warn_once(enum rs_fact_said what, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(RS_NCCL_LOG_WARN, what, fmt, ap);
    va_end(ap);
}

void rs_info_once(enum rs_fact_said what, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(RS_NCCL_LOG_INFO, what, fmt, ap);
    va_end(ap);
}
