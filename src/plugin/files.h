/* The two files of a recording: HOST.PID[.N].rsc, and the live file that its buffers are in (places.h).
 *
 * Both are private to the user (0600, folders 0700), and no link is followed to open them. Used by the background
 * thread, which has all signals blocked: RLIMIT_FSIZE causes EFBIG and not a signal. */
#ifndef RS_PLUGIN_FILES_H
#define RS_PLUGIN_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "format/layout.h"
#include "plugin/config.h"

struct rs_files {
    int fd; /* of the recording; -1 = none. Use rs_files_fd() */
    dev_t device; /* the recording's identity */
    ino_t inode;
    char path[4096]; /* of the recording */
    char live_path[4096]; /* "" when anonymous */
    void *live; /* the mapping: zeroed, reserved */
    size_t live_bytes;
    struct rs_file_header header; /* as written, except for the status */
};

/* Creates both. false: nothing is left, and `why` says what failed. `fallback` says why the buffers are not in a better
 * place (else ""). */
bool rs_files_open(struct rs_files *files, const struct rs_config *config, char *why, size_t why_bytes, char *fallback,
                   size_t fallback_bytes);

/* The recording's descriptor; call it right before each write. If the table is shared with the program (table.h), the
 * number may be another file by now: it is checked, and the recording reopened if necessary. -1: errno says why. */
int rs_files_fd(struct rs_files *files);

enum rs_files_change {
    RS_FILES_SAME,
    RS_FILES_DELETED, /* the recording was unlinked */
    RS_FILES_CUT, /* it was truncated below `end`, or its beginning was overwritten; the header is restored */
};
/* Checks whether another program changed the recording, of which bytes up to `end` are written. */
enum rs_files_change rs_files_look(struct rs_files *files, uint64_t end);

/* Takes the page faults of [from, to) of the live mapping now (about 0.2 ms per MiB): they would double the cost of a
 * callback. */
void rs_files_prefault(struct rs_files *files, size_t from, size_t to);

/* In a forked child: closes what it inherited. */
void rs_files_forget(struct rs_files *files);
/* Removes both: nothing was recorded. */
void rs_files_undo(struct rs_files *files);
/* Removes the live file: everything in it is in the recording. */
void rs_files_drop_live(struct rs_files *files);

#endif
