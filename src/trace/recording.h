/* One recording, opened for reading: its file, what it lacks, and the segments that hold its records.
 *
 * Opening reads the header and every chunk's header, checks what it finds, and looks for the live file. What is whole is
 * used; what is not is named in `damages`; nothing here changes a file. A recording may still be growing: what was
 * committed when it was opened is read. The struct owns everything in it until rs_recording_close(); one thread at a
 * time. Records are read through callbacks.h, facts through process.h. */
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

/* A run of words of one buffer: a chunk of the recording, or what a live buffer holds beyond its chunks. */
struct rs_segment {
    struct rs_chunk_header header; /* of a live buffer: made up to say the same */
    const void *stored; /* header.stored_bytes, coded as the header says */
    uint64_t offset; /* of the chunk in the recording; of a buffer in the live file */
    void *copy; /* live: the words, copied while they could still change; owned. NULL: a chunk */
    uint32_t skip; /* live: words at the front that are in chunks already */
    bool gone; /* it could not be read when it was needed, and is counted as that */
};

/* A place that could not be read, and why. */
struct rs_damage {
    char *path; /* of the file it is in */
    uint64_t offset, bytes;
    char why[160];
};

/* Why it is not known how many callbacks there were: bits. */
enum rs_unknown {
    RS_UNKNOWN_LIVE_MISSING = 1, /* the live file is needed, and is not to be found */
    RS_UNKNOWN_PRIVATE = 2, /* buffers in private memory, and not closed: what was not sealed nobody can see */
    RS_UNKNOWN_HEADER = 4, /* the file header is damaged: its numbers cannot be trusted */
    RS_UNKNOWN_FACTS = 8, /* facts are damaged: init and finalize calls may be among them */
    RS_UNKNOWN_END = 16, /* its end is damaged, and nothing says by how much */
    RS_UNKNOWN_COPIED = 32, /* recording and live file are not of the same moment */
    RS_UNKNOWN_LIVE = 64, /* the live file is damaged */
    RS_UNKNOWN_CLOSE =
        128, /* threads were inside a callback when it was closed: so many may be neither kept nor counted */
    RS_UNKNOWN_ALL = 255,
};
/* The bit's name, as JSON has it, and what it says in a sentence ("" and "" for no bit). */
const char *rs_unknown_name(unsigned bit);
const char *rs_unknown_text(unsigned bit);

struct rs_recording {
    char *path;
    struct rs_file_map file;
    char *live_path; /* NULL: there is none, or none is needed */
    struct rs_file_header header; /* with the newest status that could be found */
    bool header_right; /* its checksum */
    bool live_missing; /* the recording needs its live file, and that is not to be found */
    enum rs_alive alive; /* whether its process runs, when it was opened; RS_ALIVE_NO of one that was closed */
    unsigned unknown; /* of enum rs_unknown: more may be missing than is counted */
    struct rs_segment *events, *facts; /* events by slot, generation, from; facts in order */
    size_t nevents, nfacts;
    struct rs_damage *damages;
    size_t ndamages;
    uint64_t overwritten; /* callbacks whose chunks the ring wrote over */
    uint64_t damaged; /* callbacks in chunks that could not be read, or are not there; exact unless `unknown` */
    uint64_t lost[RS_LOST_COUNTS];
    struct rs_codec *codec; /* for readers of segments; NULL: none is needed now */
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

/* The words of a segment, as codec.h; NULL when they cannot be decoded (and a damage is noted). */
const uint64_t *rs_recording_words(struct rs_recording *recording, struct rs_segment *segment);

/* Gives back the memory that only reading needs, until the next segment is asked for: with thousands of recordings open,
 * one is read at a time. */
void rs_recording_rest(struct rs_recording *recording);

/* Notes a place that could not be read. */
void rs_recording_damage(struct rs_recording *recording, const char *path, uint64_t offset, uint64_t bytes,
                         const char *why);

/* Sum of the losses, of all classes, with those before the recording was open. */
uint64_t rs_recording_lost(const struct rs_recording *recording);

#endif
