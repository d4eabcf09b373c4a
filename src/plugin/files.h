/* The two files of a recording: HOST.PID[.N].rsc, and the live file that its buffers are in (places.h).
 *
 * Both are their owner's alone (0600, folders 0700), and no link is followed to open them. Used by the background thread,
 * which has all signals blocked: RLIMIT_FSIZE ends in EFBIG and not in a signal. */
#ifndef RS_PLUGIN_FILES_H
#define RS_PLUGIN_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "format/layout.h"
#include "plugin/config.h"

struct rs_files {
    int fd; /* of the recording; -1 = none. To be used through rs_files_fd() alone */
    dev_t device; /* the recording's identity */
    ino_t inode;
    char path[4096]; /* of the recording */
    char live_path[4096]; /* "" when anonymous */
    void *live; /* the mapping: zeroed, reserved */
    size_t live_bytes;
    struct rs_file_header header; /* as written, but for the status */
};

/* Makes both. false: nothing was left behind, and `why` says what failed. `fallback` says why the buffers are not in a better
 * place (else ""). */
bool rs_files_open(struct rs_files *files, const struct rs_config *config, char *why, size_t why_bytes, char *fallback,
                   size_t fallback_bytes);

/* The recording's descriptor, to be asked for right before each write. Where the table is shared with the program (table.h),
 * the number may be somebody else's file by now: it is checked each time, and the recording opened again if need be. -1:
 * errno says why. */
int rs_files_fd(struct rs_files *files);

enum rs_files_change {
    RS_FILES_SAME,
    RS_FILES_DELETED, /* the recording has lost its name */
    RS_FILES_CUT, /* it was cut shorter than `end`, or written over at its beginning: that has been repaired */
};
/* What others did to the recording, of which bytes up to `end` are written. */
enum rs_files_change rs_files_look(struct rs_files *files, uint64_t end);

/* Takes the page faults of [from, to) of the live mapping now (about 0.2 ms a MiB), so that no callback of NCCL does:
 * they would double its cost. */
void rs_files_prefault(struct rs_files *files, size_t from, size_t to);

/* In a forked child: closes what it has of the parent's. */
void rs_files_forget(struct rs_files *files);
/* Takes both away again: nothing was recorded. */
void rs_files_undo(struct rs_files *files);
/* Removes the live file: everything in it is in the recording. */
void rs_files_drop_live(struct rs_files *files);

#endif
