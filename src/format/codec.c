#include "format/codec.h"

#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#define XXH_INLINE_ALL
#include <xxhash.h>
#ifndef RS_NO_ZSTD
#include <zstd.h>
#endif

enum {
    MAX_WORDS = RS_BUFFER_BYTES / 8,
    PLANES_HEAD = 8, /* u32 records, u32 other words */
    /* a record of one word (8 bytes) becomes 1 + 3 + 4 bytes of planes: planes are never larger than words */
    MAX_PLANES = RS_BUFFER_BYTES + PLANES_HEAD,
    MAX_STORED = MAX_PLANES + MAX_PLANES / 128 + 1024,
    ZSTD_LEVEL = 1,
};

struct rs_codec {
    uint64_t last[RS_K_LIMIT][RS_RECORD_MAX]; /* the latest words of each kind */
    uint64_t words[MAX_WORDS];
    uint64_t rest[MAX_WORDS]; /* the other words, as differences from `last` */
    uint32_t ticks[MAX_WORDS];
    uint8_t planes[MAX_PLANES];
    uint8_t stored[MAX_STORED];
#ifndef RS_NO_ZSTD
    ZSTD_CCtx *zc;
    ZSTD_DCtx *zd;
#endif
};

struct rs_codec *rs_codec_new(void)
{
    return calloc(1, sizeof(struct rs_codec));
}

void rs_codec_free(struct rs_codec *c)
{
    if (!c) return;
#ifndef RS_NO_ZSTD
    ZSTD_freeCCtx(c->zc);
    ZSTD_freeDCtx(c->zd);
#endif
    free(c);
}

int rs_codec_has_zstd(void)
{
#ifdef RS_NO_ZSTD
    return 0;
#else
    return 1;
#endif
}

#ifndef RS_NO_ZSTD

/* Byte `b` of every word, for b = 0..width-1. */
static uint8_t *put_planes64(uint8_t *out, const uint64_t *w, uint32_t n)
{
    for (unsigned b = 0; b < 64; b += 8)
        for (uint32_t i = 0; i < n; i++) *out++ = (uint8_t)(w[i] >> b);
    return out;
}
static uint8_t *put_planes32(uint8_t *out, const uint32_t *w, uint32_t n)
{
    for (unsigned b = 0; b < 32; b += 8)
        for (uint32_t i = 0; i < n; i++) *out++ = (uint8_t)(w[i] >> b);
    return out;
}

/* Returns the bytes written to c->planes, or 0 if `w` is not a row of whole records. */
static uint32_t to_planes(struct rs_codec *c, const uint64_t *w, uint32_t n)
{
    memset(c->last, 0, sizeof c->last);
    uint32_t records = 0, others = 0, before = 0;
    uint8_t *kinds = c->planes + PLANES_HEAD;
    for (uint32_t i = 0; i < n;) {
        unsigned size = rs_record_words(w + i, n - i);
        if (!size) return 0;
        uint8_t kind = (uint8_t)w[i];
        uint32_t tick = (uint32_t)(w[i] >> 32);
        kinds[records] = kind;
        c->ticks[records++] = tick - before;
        before = tick;
        uint64_t *last = c->last[kind];
        for (unsigned k = 1; k < size; k++) {
            c->rest[others++] = w[i + k] - last[k];
            last[k] = w[i + k];
        }
        i += size;
    }
    uint8_t *out = kinds + records;
    /* Refs straight from the heads: a second walk costs less than a third array. */
    uint8_t *r0 = out, *r1 = r0 + records, *r2 = r1 + records;
    for (uint32_t i = 0, r = 0; i < n; r++) {
        r0[r] = (uint8_t)(w[i] >> 8);
        r1[r] = (uint8_t)(w[i] >> 16);
        r2[r] = (uint8_t)(w[i] >> 24);
        i += rs_record_words(w + i, n - i);
    }
    out = put_planes32(r2 + records, c->ticks, records);
    out = put_planes64(out, c->rest, others);
    memcpy(c->planes, &records, 4);
    memcpy(c->planes + 4, &others, 4);
    return (uint32_t)(out - c->planes);
}

#ifdef __SSE2__
/* Eight bytes of a plane and of the next one, interleaved. */
static __m128i two_planes(const uint8_t *plane, uint32_t n)
{
    return _mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i *)(const void *)plane),
                             _mm_loadl_epi64((const __m128i *)(const void *)(plane + n)));
}
#endif

/* The inverse of put_planes64(): eight words of eight planes at a time, a transposed square of bytes. */
static void take_planes64(uint64_t *w, const uint8_t *planes, uint32_t n)
{
    uint32_t i = 0;
#ifdef __SSE2__ /* the same in a tenth of the instructions */
    for (; n - i >= 8; i += 8) {
        const uint8_t *p = planes + i;
        __m128i pair01 = two_planes(p, n), pair23 = two_planes(p + 2 * (size_t)n, n);
        __m128i pair45 = two_planes(p + 4 * (size_t)n, n), pair67 = two_planes(p + 6 * (size_t)n, n);
        __m128i low0 = _mm_unpacklo_epi16(pair01, pair23), high0 = _mm_unpacklo_epi16(pair45, pair67);
        __m128i low4 = _mm_unpackhi_epi16(pair01, pair23), high4 = _mm_unpackhi_epi16(pair45, pair67);
        __m128i *to = (__m128i *)(void *)(w + i);
        _mm_storeu_si128(to, _mm_unpacklo_epi32(low0, high0));
        _mm_storeu_si128(to + 1, _mm_unpackhi_epi32(low0, high0));
        _mm_storeu_si128(to + 2, _mm_unpacklo_epi32(low4, high4));
        _mm_storeu_si128(to + 3, _mm_unpackhi_epi32(low4, high4));
    }
#else
    for (; n - i >= 8; i += 8) {
        uint64_t x[8], t;
        for (size_t b = 0; b < 8; b++) memcpy(&x[b], planes + b * n + i, 8);
        for (unsigned k = 0; k < 4; k++) {
            t = (x[k] >> 32 ^ x[k + 4]) & 0x00000000ffffffff;
            x[k + 4] ^= t;
            x[k] ^= t << 32;
        }
        for (unsigned k = 0; k < 6; k += k == 1 ? 3 : 1) {
            t = (x[k] >> 16 ^ x[k + 2]) & 0x0000ffff0000ffff;
            x[k + 2] ^= t;
            x[k] ^= t << 16;
        }
        for (unsigned k = 0; k < 8; k += 2) {
            t = (x[k] >> 8 ^ x[k + 1]) & 0x00ff00ff00ff00ff;
            x[k + 1] ^= t;
            x[k] ^= t << 8;
        }
        memcpy(w + i, x, sizeof x);
    }
#endif
    for (; i < n; i++) {
        w[i] = 0;
        for (size_t b = 0; b < 8; b++) w[i] |= (uint64_t)planes[b * n + i] << 8 * b;
    }
}

/* The inverse; returns the number of words, or 0 if the planes are not whole records. */
static uint32_t from_planes(struct rs_codec *c, uint32_t bytes)
{
    uint32_t records, others, n = 0, tick = 0;
    if (bytes < PLANES_HEAD) return 0;
    memcpy(&records, c->planes, 4);
    memcpy(&others, c->planes + 4, 4);
    if (records > MAX_WORDS || others > MAX_WORDS || records + others > MAX_WORDS ||
        PLANES_HEAD + records * 8 + others * 8 != bytes)
        return 0;
    memset(c->last, 0, sizeof c->last);
    /* A head's kind, ref and tick difference are the eight bytes of a word as well. */
    uint64_t *heads = c->rest, *rest = heads + records, *end = rest + others;
    take_planes64(heads, c->planes + PLANES_HEAD, records);
    take_planes64(rest, c->planes + PLANES_HEAD + (size_t)records * 8, others);
    for (uint32_t r = 0; r < records; r++) {
        unsigned kind = (uint8_t)heads[r], args = rs_kind_args[kind];
        if (kind >= RS_K_LIMIT || args == 0xff) return 0;
        uint64_t *w = c->words + n, *last = c->last[kind];
        tick += (uint32_t)(heads[r] >> 32);
        w[0] = (uint32_t)heads[r] | (uint64_t)tick << 32;
        bool has_ref = heads[r] >> 8 & (RS_REF_LIMIT - 1);
        unsigned more = rs_kind_has_handle(kind) && !has_ref; /* words after the head */
        if (rs_kind_is_start(kind)) {
            if (end - rest <= (ptrdiff_t)more) return 0;
            more += rs_start_words(last[1 + more] + rest[more]);
        }
        more += args;
        if (end - rest < (ptrdiff_t)more) return 0;
        for (unsigned k = 1; k <= more; k++) w[k] = last[k] += *rest++;
        n += 1 + more;
    }
    return rest == end ? n : 0;
}

#endif

const void *rs_codec_encode(struct rs_codec *c, enum rs_chunk_kind kind, const uint64_t *words, uint32_t n,
                            uint32_t *stored_bytes, enum rs_chunk_coding *coding)
{
    uint32_t bytes = n * 8;
#ifndef RS_NO_ZSTD
    const void *from = words;
    uint32_t from_bytes = bytes;
    enum rs_chunk_coding want = RS_CODING_ZSTD;
    if (kind == RS_CHUNK_EVENTS) {
        from = c->planes;
        from_bytes = to_planes(c, words, n);
        want = RS_CODING_PLANES_ZSTD;
    }
    if (from_bytes && !c->zc) c->zc = ZSTD_createCCtx();
    if (from_bytes && c->zc) {
        size_t got = ZSTD_compressCCtx(c->zc, c->stored, sizeof c->stored, from, from_bytes, ZSTD_LEVEL);
        if (!ZSTD_isError(got) && got < bytes) {
            *stored_bytes = (uint32_t)got;
            *coding = want;
            return c->stored;
        }
    }
#else
    (void)c, (void)kind;
#endif
    *stored_bytes = bytes;
    *coding = RS_CODING_RAW;
    return words;
}

const char rs_codec_no_memory[] = "out of memory";

const uint64_t *rs_codec_decode(struct rs_codec *c, const void *stored, uint32_t stored_bytes,
                                enum rs_chunk_coding coding, uint32_t n, const char **why)
{
    if (n > MAX_WORDS) return *why = "it has more words than a buffer", NULL;
    if (coding == RS_CODING_RAW) {
        if (stored_bytes != n * 8) return *why = "its length does not match its words", NULL;
        memcpy(c->words, stored, stored_bytes);
        return c->words;
    }
#ifdef RS_NO_ZSTD
    return *why = "it is compressed with zstd, which this build was made without", NULL;
#else
    if (coding != RS_CODING_PLANES_ZSTD && coding != RS_CODING_ZSTD) return *why = "its coding is unknown", NULL;
    if (!c->zd && !(c->zd = ZSTD_createDCtx())) return *why = rs_codec_no_memory, NULL;
    bool planes = coding == RS_CODING_PLANES_ZSTD;
    size_t got = planes ? ZSTD_decompressDCtx(c->zd, c->planes, sizeof c->planes, stored, stored_bytes)
                        : ZSTD_decompressDCtx(c->zd, c->words, sizeof c->words, stored, stored_bytes);
    if (ZSTD_isError(got)) return *why = ZSTD_getErrorName(got), NULL;
    uint32_t words = planes ? from_planes(c, (uint32_t)got) : got % 8 ? 0 : (uint32_t)(got / 8);
    if (words != n) return *why = "its words do not match its header", NULL;
    return c->words;
#endif
}

uint64_t rs_chunk_checksum(const struct rs_chunk_header *h, const void *stored)
{
    size_t skip = offsetof(struct rs_chunk_header, stored_bytes);
    uint64_t head = XXH3_64bits((const char *)h + skip, sizeof *h - skip);
    return XXH3_64bits_withSeed(stored, h->stored_bytes, head);
}

uint64_t rs_header_checksum(const struct rs_file_header *h)
{
    size_t from = offsetof(struct rs_file_header, nonce), to = offsetof(struct rs_file_header, status);
    return XXH3_64bits((const char *)h + from, to - from);
}
