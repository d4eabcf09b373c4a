/* Finds the chunks of a recording, however damaged. Used by recording.c.
 *
 * A chunk may begin at any multiple of 8. After a damaged one the next is found by its magic. The more bytes only look
 * like chunks, the fewer are tried: the time is linear in the file's size. */
#ifndef RS_TRACE_CHUNKS_H
#define RS_TRACE_CHUNKS_H

#include "trace/recording.h"

enum {
    RS_STORED_MAX = RS_BUFFER_BYTES + 2048, /* bytes after a chunk's header, at most */
    RS_CHUNK_LEAST = sizeof(struct rs_chunk_header) + 8,
    RS_CHUNK_MOST = sizeof(struct rs_chunk_header) + RS_STORED_MAX,
};

/* A range without a whole chunk. */
struct rs_hole {
    uint64_t from, to;
    const char *why; /* what begins at `from` is not a chunk */
};

struct rs_holes {
    struct rs_hole *list; /* freed by the caller */
    size_t n;
    uint64_t vain; /* bytes checked in vain so far */
};

/* Adds all whole chunks in [from, to) of the file to the recording's segments, and what is between them to `holes`. */
void rs_chunks_find(struct rs_recording *recording, uint64_t from, uint64_t to, struct rs_holes *holes);

/* The plausible chunk header at `at`, whatever follows it. */
bool rs_chunk_header_at(const struct rs_recording *recording, uint64_t at, uint64_t end,
                        struct rs_chunk_header *header);

/* Bytes from a chunk's beginning to the next one's. */
static inline uint64_t rs_chunk_bytes(const struct rs_chunk_header *h)
{
    return sizeof *h + ((h->stored_bytes + UINT64_C(7)) & ~UINT64_C(7));
}

/* Adds a segment to the recording's events or facts. */
void rs_chunks_add(struct rs_recording *recording, const struct rs_segment *segment);

#endif
