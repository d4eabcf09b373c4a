/* The chunk codec: words of a buffer <-> bytes that compress well.
 *
 * Event records become planes: all kinds, then the three bytes of all refs, the four bytes of all tick differences, and
 * the eight bytes of all other words, each as the difference from the same word of the latest record of its kind.
 * Repetitions become zeros; zstd does the rest. Lossless for any words that are whole records.
 *
 * Decoding is safe on any bytes: it checks every length and never reads or writes out of bounds. A codec is used by one
 * thread at a time; it owns its scratch memory (about 400 KiB). */
#ifndef RS_FORMAT_CODEC_H
#define RS_FORMAT_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "format/layout.h"

struct rs_codec;

/* NULL when out of memory. free(NULL) is fine. */
struct rs_codec *rs_codec_new(void);
void rs_codec_free(struct rs_codec *codec);

/* Whether this build can compress (zstd): without it everything is coded raw, and zstd chunks cannot be read. */
int rs_codec_has_zstd(void);

/* Codes `n` words for a chunk of `kind`. Returns the stored bytes (the codec's, valid until the next call) and sets
 * their number and the coding. Words that are not whole records, and words that would not shrink, stay raw. */
const void *rs_codec_encode(struct rs_codec *codec, enum rs_chunk_kind kind, const uint64_t *words, uint32_t n,
                            uint32_t *stored_bytes, enum rs_chunk_coding *coding);

/* *why of rs_codec_decode() if memory ran out: the chunk is not damaged. */
extern const char rs_codec_no_memory[];
/* The inverse: `n` words are expected (to - from of the chunk's header). Returns them (the codec's, valid until the
 * next call), or NULL with the reason in *why. */
const uint64_t *rs_codec_decode(struct rs_codec *codec, const void *stored, uint32_t stored_bytes,
                                enum rs_chunk_coding coding, uint32_t n, const char **why);

/* XXH3-64 of a chunk: of its header after the checksum, then of its stored bytes. */
uint64_t rs_chunk_checksum(const struct rs_chunk_header *header, const void *stored);
/* XXH3-64 of a file header's constant part. */
uint64_t rs_header_checksum(const struct rs_file_header *header);

#endif
