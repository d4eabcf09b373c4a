/* The two files of a recording: HOST.PID[.N].rsc, and the live file that its buffers lie in.
 *
 * The live file lies beside the recording where the file system is local and can reserve space (so that a full disk is a
 * counted loss and not a SIGBUS), else in /dev/shm, else nowhere (anonymous memory: not safe against a kill). Used by the
 * background thread, which has all signals blocked: RLIMIT_FSIZE ends in EFBIG and not in a signal. */
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

/* Makes both. false: nothing was left behind, and `why` says what failed. `fallback` says, where the live file could not
 * be put beside the recording, the reason (else ""). */
bool rs_files_open(struct rs_files *files, const struct rs_config *config, char *why, size_t why_bytes, char *fallback,
                   size_t fallback_bytes);

/* The recording's descriptor. Programs close descriptors that are not theirs (daemons close all of them), and the number may
 * be somebody else's file by now: it is checked each time, and the recording opened again if need be. -1: errno says why. */
int rs_files_fd(struct rs_files *files);
/* Whether the recording still has its name: it may have been deleted. */
bool rs_files_named(struct rs_files *files);

/* Takes the page faults of [from, to) of the live mapping now (about 0.2 ms a MiB), so that no callback of NCCL does:
 * they would double its cost. */
void rs_files_prefault(struct rs_files *files, size_t from, size_t to);

/* Takes both away again: nothing was recorded. */
void rs_files_undo(struct rs_files *files);
/* Removes the live file: everything in it is in the recording. */
void rs_files_drop_live(struct rs_files *files);

#endif
