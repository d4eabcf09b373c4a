/* What the user should hear: once each, into the recording as a note, and through NCCL's logger or to standard error.
 *
 * Any thread may say something; it is kept until somebody may pass it on. NCCL's logger lies in NCCL, which may be unloaded,
 * and writes to descriptors of the program: it is called on NCCL's threads alone, as init and finalize return, without a
 * lock of ours. What comes in between is written to standard error by a thread of its own, "ringscope-log", where
 * NCCL_DEBUG asks for warnings: the background thread has other descriptors than the program. Else it waits for the next
 * init or finalize. */
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
    RS_SAID_KERNEL,
    RS_SAID_COUNT
};

void rs_warn_once(enum rs_fact_said what, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void rs_info_once(enum rs_fact_said what, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Around init and finalize, on NCCL's thread. `logger` may be NULL (v1 to v3): warnings go to standard error then. */
void rs_log_enter(void);
void rs_log_leave(rs_nccl_logger logger);

/* Starts "ringscope-log" if there may be something to do for it. With a recording, once. */
void rs_log_start(void);
/* The recording is closed, or never was: passes on what is left, and the thread ends. Does not wait. */
void rs_log_close(void);
/* At exit, on the program's thread. */
void rs_log_rest(void);
/* A forked child has no such thread, and may say things again. */
void rs_log_reset(void);

#endif
