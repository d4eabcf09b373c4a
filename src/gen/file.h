/* One recording as the recorder would write it: header, facts, event chunks; and the live file of a process that did
 * not close.
 *
 * A file belongs to one generated process. It owns its slots (slot.h), which write their chunks through it.
 * rs_gen_file_until() does the work of the recorder's background thread: once per second of true time it takes a clock
 * sample and seals buffers. The file is opened for each chunk, since jobs may have more processes than descriptors. The
 * first failure stays in the shared rs_gen_disk and ends all writing. One thread. */
#ifndef RS_GEN_FILE_H
#define RS_GEN_FILE_H

#include <stdbool.h>

#include "base/err.h"
#include "format/codec.h"
#include "gen/host.h"

/* What all files of a run share. */
struct rs_gen_disk {
    const char *dir;
    struct rs_codec *codec;
    struct rs_err err; /* the first failure */
};

struct rs_gen_slot;
struct rs_gen_dump;

struct rs_gen_file {
    struct rs_gen_dump *dump; /* the process writes dumps of the example profiler and no recording; NULL: a recording */
    struct rs_gen_disk *disk;
    struct rs_gen_host *host;
    char path[4096];
    struct rs_file_header header;
    uint64_t end, ring_at; /* where the next chunk goes */
    uint64_t sequence[3]; /* by chunk kind */
    uint64_t records; /* callbacks in event chunks */
    uint64_t lives; /* init and finalize facts: callbacks too */
    uint64_t *facts; /* the facts buffer, of RS_GEN_FACT_WORDS */
    uint32_t nfacts_words, facts_sealed, facts_generation;
    uint32_t nfacts; /* since the last seal */
    struct rs_gen_slot **slots;
    uint32_t nslots;
    int64_t next_second; /* true ns of the next sample */
    struct rs_gen_rng rng; /* for brackets of clock samples */
    uint32_t slot_limit; /* a record may begin below this word; less than the recorder's in small rings */
};

/* Creates the file and its first facts. `ring_bytes` 0: everything is kept. `seed` is for its clock samples. */
enum rs_status rs_gen_file_open(struct rs_gen_file *file, struct rs_gen_disk *disk, struct rs_gen_host *host,
                                uint32_t pid, uint32_t nonce, int64_t t, uint64_t ring_bytes, uint32_t nslots,
                                uint64_t seed);
void rs_gen_file_free(struct rs_gen_file *file);

void rs_gen_fact(struct rs_gen_file *file, enum rs_fact_type type, uint64_t tick, const void *a, size_t a_bytes,
                 const void *b, size_t b_bytes);
void rs_gen_fact_info(struct rs_gen_file *file, int64_t t, const char *key, const char *value);

/* The background thread's work up to true time `t`. */
void rs_gen_file_until(struct rs_gen_file *file, int64_t t);

/* The end at `t`: closed well, with a last clock sample; or still running, with its latest records in a live file. */
void rs_gen_file_close(struct rs_gen_file *file, int64_t t, bool closed);

/* Writes one chunk; fills in what does not depend on its content. */
void rs_gen_chunk(struct rs_gen_file *file, struct rs_chunk_header *header, const uint64_t *words, uint32_t n);

#endif
