/* Writing chunks: words of a buffer -> a checksummed chunk of the recording.
 *
 * Without a ring, chunks are appended up to the limit. With one (RINGSCOPE_KEEP=last) event chunks overwrite the
 * oldest, and facts are appended after the ring. Used by the background thread only. A failed write changes nothing:
 * the same words can be written again later. */
#ifndef RS_PLUGIN_CHUNKS_H
#define RS_PLUGIN_CHUNKS_H

#include "format/codec.h"
#include "plugin/files.h"

enum rs_chunk_result {
    RS_CHUNK_WRITTEN,
    RS_CHUNK_FAILED, /* errno says why */
    RS_CHUNK_PAST_LIMIT,
};

struct rs_chunk_file {
    struct rs_files *files;
    struct rs_codec *codec;
    uint64_t end; /* where the next appended chunk goes */
    uint64_t limit; /* of event chunks without a ring; 0 = none */
    uint64_t ring_begin, ring_end, ring_at; /* ring_end = 0: no ring */
    uint64_t sequence[3]; /* by chunk kind */
    uint64_t records; /* callbacks in event chunks so far */
};

/* Writes `n` words with `header` (kind, slot, generation, from, to, records, ticks, ... filled in by the caller; the
 * rest is filled in here). `raw` saves the time of coding. */
enum rs_chunk_result rs_chunk_write(struct rs_chunk_file *file, struct rs_chunk_header *header, const uint64_t *words,
                                    uint32_t n, bool raw);

#endif
