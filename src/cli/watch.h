/* Which NCCL the processes of a command load: watched from outside, by /proc/PID/maps and /proc/PID/environ of the command and
 * its descendants. Nothing is sent to them and nothing of theirs is stopped.
 *
 * Looks are frequent at first, then rare: after 20 ms, up to every 500 ms for ten seconds, every 2 s for a minute, then every
 * 10 s. What starts and ends between two looks is not seen. Processes that moved to another parent, or run on another host or in a container of a daemon,
 * are not descendants. Main thread only. */
#ifndef RS_CLI_WATCH_H
#define RS_CLI_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"

/* A file that contains NCCL. */
struct rs_watched_nccl {
    char *path; /* as the process sees it */
    dev_t device;
    ino_t inode;
    int fd; /* opened while the process ran, since its files may be those of a container; -1: could not be */
    int version; /* as ncclGetVersion() counts; 0: unknown */
    bool linked_in; /* not libnccl.so, but a program or library that contains it */
};

struct rs_watched {
    pid_t pid;
    uint64_t started; /* clock ticks since boot: a pid may be used again */
    char name[32];
    int nccl; /* index; -1: none seen */
    char *setting; /* NCCL_PROFILER_PLUGIN with which it was started; NULL: none, or unknown */
    bool environment_known;
    bool recorder; /* the plugin that `ringscope run` asked for is loaded */
    bool file_missing; /* the plugin's file does not exist where the process looks */
    char *other; /* another profiler plugin that is loaded */
};

struct rs_watch {
    char *plugin; /* as in NCCL_PROFILER_PLUGIN */
    bool until_recorder; /* no more looks once a process has loaded the plugin */
    struct rs_watched *procs;
    struct rs_watched_nccl *nccls;
    struct rs_watched_file *files; /* other programs and libraries of all processes */
    uint32_t nprocs, procs_cap, nnccls, nccls_cap, nfiles, files_cap;
    struct rs_map proc_of, file_of; /* by pid and start; by device and inode */
    unsigned looks;
    unsigned unread; /* files that could not be searched for NCCL */
    uint64_t begin_ms, next_ms, end_ms; /* CLOCK_MONOTONIC */
    bool done;
};

void rs_watch_init(struct rs_watch *w, const char *plugin, bool until_recorder);
void rs_watch_free(struct rs_watch *w);

/* Looks if it is time for it. Returns the ms until the next look; -1: no more. */
int rs_watch_look(struct rs_watch *w, pid_t command);

/* After the command has ended: reads the versions, and looks for NCCL in other files if no process had a libnccl.so. */
void rs_watch_finish(struct rs_watch *w);

/* What prevents the recorder in this process, in words behind its name: "loaded libnccl 2.21.5: too old for ..."; NULL: nothing
 * is known to, or it has no NCCL. To be freed. */
char *rs_watched_reason(const struct rs_watch *w, const struct rs_watched *p);

/* Why nothing was recorded, one sentence each. The texts and the list are to be freed. */
char **rs_watch_reasons(const struct rs_watch *w, size_t *n);

#endif
