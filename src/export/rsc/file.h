/* A recording that is written by the reader: header, facts and event chunks of what was cut out of another.
 *
 * Opened by name, written front to back, finished with the header. The first failure sticks and is told by
 * rs_rsc_finish(). Owned by the caller until then or rs_rsc_abandon(). One thread at a time. */
#ifndef RS_EXPORT_RSC_FILE_H
#define RS_EXPORT_RSC_FILE_H

#include <stdbool.h>

#include "trace/recording.h"

struct rs_rsc_file {
    char *path; /* as it is called now */
    char *name; /* as it will be called: for messages */
    int fd;
    struct rs_codec *codec;
    struct rs_file_header header;
    uint64_t end; /* bytes so far */
    uint64_t sequence[3]; /* by chunk kind */
    uint64_t records; /* callbacks in event chunks */
    uint64_t *facts;
    uint32_t nwords, nfacts, generation; /* of facts that are not written yet */
    struct rs_err err;
};

/* Begins a file in `folder`, which will be called `out`, that takes over what the header of `of` says of the process. */
enum rs_status rs_rsc_open(struct rs_rsc_file *f, const char *folder, const char *out, const struct rs_recording *of,
                           struct rs_err *err);
/* One chunk; what does not depend on its content is filled in. */
void rs_rsc_chunk(struct rs_rsc_file *f, struct rs_chunk_header *h, const uint64_t *words, uint32_t n);
/* One fact of at most 32 KiB, in two pieces. */
void rs_rsc_fact(struct rs_rsc_file *f, enum rs_fact_type type, uint64_t tick, const void *a, size_t a_bytes,
                 const void *b, size_t b_bytes);
enum rs_status rs_rsc_finish(struct rs_rsc_file *f, struct rs_err *err);
void rs_rsc_abandon(struct rs_rsc_file *f);

#endif
