/* Messages through NCCL's logger, once per fact, and into the recording as notes.
 *
 * The logger comes with init (v4 and newer); before that, and with v1 to v3, warnings go to standard error when
 * NCCL_DEBUG asks for them. Any thread may call. */
#ifndef RS_PLUGIN_LOG_H
#define RS_PLUGIN_LOG_H

#include "nccl/abi.h"

/* Each is said at most once in a process. */
enum rs_fact_said {
    RS_SAID_OPEN,
    RS_SAID_MUTE,
    RS_SAID_SETTING,
    RS_SAID_DISK,
    RS_SAID_LIMIT,
    RS_SAID_SHM,
    RS_SAID_LOST,
    RS_SAID_FORK,
    RS_SAID_ANONYMOUS,
    RS_SAID_LATE,
    RS_SAID_DELETED,
    RS_SAID_STRINGS,
};

void rs_log_use(rs_nccl_logger logger);
void rs_warn_once(enum rs_fact_said what, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void rs_info_once(enum rs_fact_said what, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A forked child may say things again. */
void rs_log_reset(void);

#endif
