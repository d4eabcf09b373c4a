/* Messages to the user: once each, as a note in the recording, and through NCCL's logger or on standard error.
 *
 * Any thread may issue a message; it is kept until it can be passed on. NCCL's logger is in NCCL, which may be
 * unloaded, and writes to descriptors of the program: it is called on NCCL's threads only, when init and finalize
 * return, with no lock held. In between, if NCCL_DEBUG requests warnings, messages are written to standard error by a
 * separate thread, "ringscope-log": the background thread does not have the program's descriptors. Else they wait for
 * the next init or finalize. */
#ifndef RS_PLUGIN_LOG_H
#define RS_PLUGIN_LOG_H

#include "nccl/abi.h"

/* Each is issued at most once per process. */
enum rs_message {
    RS_MESSAGE_OPEN,
    RS_MESSAGE_MUTE,
    RS_MESSAGE_SETTING,
    RS_MESSAGE_DISK,
    RS_MESSAGE_LIMIT,
    RS_MESSAGE_SHM,
    RS_MESSAGE_LOST,
    RS_MESSAGE_FORK,
    RS_MESSAGE_ANONYMOUS,
    RS_MESSAGE_LATE,
    RS_MESSAGE_DELETED,
    RS_MESSAGE_STRINGS,
    RS_MESSAGE_KERNEL,
    RS_MESSAGES
};

void rs_warn_once(enum rs_message what, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void rs_info_once(enum rs_message what, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Around init and finalize, on NCCL's thread. `logger` may be NULL (v1 to v3): warnings go to standard error then. */
void rs_log_enter(void);
void rs_log_leave(rs_nccl_logger logger);

/* Starts "ringscope-log" if NCCL_DEBUG requests warnings. Once per recording. */
void rs_log_start(void);
/* The recording is closed or could not be opened: the thread passes on what is left, and ends. Does not wait. */
void rs_log_close(void);
/* At exit, on the program's thread. */
void rs_log_rest(void);
/* In a forked child, which has no such thread and may repeat messages. */
void rs_log_reset(void);

#endif
