/* One recording, opened for reading: its file, what is missing, and the segments that contain its records.
 *
 * Opening reads the header and every chunk's header, checks them, and looks for the live file. What is intact is used;
 * the rest is listed in `damages`; no file is changed. A recording may still be growing: what was committed when it was
 * opened is read. The struct owns everything in it until rs_recording_close(); one thread at a time. Records are read
 * through callbacks.h, facts through process.h. */
#ifndef RS_TRACE_RECORDING_H
#define RS_TRACE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/file.h"
#include "format/codec.h"
#include "format/handle.h"
#include "trace/alive.h"

/* Consecutive words of one buffer: a chunk of the recording, or what a live buffer contains beyond its chunks. */
struct rs_segment {
    struct rs_chunk_header header; /* of a live buffer: constructed */
    const void *stored; /* header.stored_bytes, coded as the header says */
    uint64_t offset; /* of the chunk in the recording; of a buffer in the live file */
    void *copy; /* live: the words, copied while they could still change; owned. NULL: a chunk */
    uint32_t skip; /* live: words at the beginning that are in chunks already */
    bool gone; /* it could not be read when it was needed, and is counted as damaged */
};

/* A part of a file that could not be read, and why. */
struct rs_damage {
    char *path; /* of the file it is in */
    uint64_t offset, bytes;
    char why[160];
};

/* Why the number of callbacks is unknown: bits. */
enum rs_unknown {
    RS_UNKNOWN_LIVE_MISSING = 1, /* the live file is needed, but not found */
    RS_UNKNOWN_PRIVATE = 2, /* buffers in private memory, and not closed: what was not sealed is lost */
    RS_UNKNOWN_HEADER = 4, /* the file header is damaged: its numbers cannot be trusted */
    RS_UNKNOWN_FACTS = 8, /* facts are damaged: init and finalize calls may be among them */
    RS_UNKNOWN_END = 16, /* its end is damaged, by an unknown amount */
    RS_UNKNOWN_COPIED = 32, /* recording and live file are from different times */
    RS_UNKNOWN_LIVE = 64, /* the live file is damaged */
    RS_UNKNOWN_CLOSE = 128, /* threads were inside a callback at the close: as many may be neither kept nor counted */
    RS_UNKNOWN_ALL = 255,
};
/* The bit's name in JSON, and its description ("" and "" for no bit). */
const char *rs_unknown_name(unsigned bit);
const char *rs_unknown_text(unsigned bit);

struct rs_recording {
    char *path;
    struct rs_file_map file;
    char *live_path; /* NULL: not found, or not needed */
    struct rs_file_header header; /* with the newest status found */
    bool header_right; /* its checksum is right */
    bool live_missing; /* the recording needs its live file, which was not found */
    enum rs_alive alive; /* whether its process was running when it was opened; RS_ALIVE_NO if it was closed */
    unsigned unknown; /* of enum rs_unknown: more may be missing than is counted */
    struct rs_segment *events, *facts; /* events by slot, generation, from; facts in order */
    size_t nevents, nfacts;
    struct rs_damage *damages;
    size_t ndamages;
    uint64_t overwritten; /* callbacks whose chunks the ring overwrote */
    uint64_t damaged; /* callbacks in chunks that could not be read or are missing; exact unless `unknown` */
    uint64_t lost[RS_LOST_COUNTS];
    struct rs_codec *codec; /* for reading segments; NULL: not needed now */
};

enum rs_status rs_recording_open(struct rs_recording **recording, const char *path, struct rs_err *err);
void rs_recording_close(struct rs_recording *recording);

/* Whether it was cut out of a larger one (`ringscope export --format rsc`). */
static inline bool rs_recording_is_cut(const struct rs_recording *recording)
{
    return recording->header.features & RS_FEATURE_CUT;
}

/* Whether the first bytes are those of a recording. */
bool rs_recording_recognise(const void *bytes, size_t n);

/* The words of a segment, valid as in codec.h; NULL if they cannot be decoded (damage is noted). */
const uint64_t *rs_recording_words(struct rs_recording *recording, struct rs_segment *segment);

/* Frees the memory that only reading needs, until the next segment is read: of thousands of open recordings, one is
 * read at a time. */
void rs_recording_drop_memory(struct rs_recording *recording);

/* Notes a part of a file that could not be read. */
void rs_recording_damage(struct rs_recording *recording, const char *path, uint64_t offset, uint64_t bytes,
                         const char *why);

/* Sum of the losses, of all classes, with those before the recording was open. */
uint64_t rs_recording_lost(const struct rs_recording *recording);

#endif
