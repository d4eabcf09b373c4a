/* The live file of a recording: the buffers that its process was writing into.
 *
 * Everything committed is copied at once, since the process may still be running. Used by recording.c. */
#ifndef RS_TRACE_LIVE_H
#define RS_TRACE_LIVE_H

#include "trace/recording.h"

struct rs_live {
    char *path; /* NULL: not found */
    enum rs_alive alive; /* of its process, determined before anything was copied; without a file, as far as known */
    bool closing; /* what is in no chunk is lost, and counted in `lost`: no events are here, only facts */
    struct rs_segment *segments; /* of buffers with words; `copy` is owned until taken */
    size_t nsegments;
    uint32_t *generations; /* of the newest buffer of each slot, before the buffers were copied */
    uint32_t nslots;
    struct rs_status_block status;
    uint64_t lost[RS_LOST_COUNTS];
    struct rs_damage damages[4]; /* `path` is NULL: this file */
    size_t ndamages;
};

/* Looks next to the recording (same name, .live) and then where its header says. Not finding it is not a failure. */
void rs_live_open(struct rs_live *live, const char *recording_path, const struct rs_file_header *header,
                  struct rs_err *err);
void rs_live_close(struct rs_live *live);

/* The path of a live file next to its recording: freed by the caller. */
char *rs_live_path_of(const char *recording_path);

#endif
