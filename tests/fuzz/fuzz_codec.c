/* Any bytes, decoded with any coding, and any words, coded and decoded. */
#include <stdlib.h>
#include <string.h>

#include "format/codec.h"

enum { WORDS = RS_BUFFER_BYTES / 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int fine)
{
    if (!fine) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct rs_codec *codec;
    if (!codec && !(codec = rs_codec_new())) return 0;
    if (size < 4 || size > RS_BUFFER_BYTES) return 0;
    enum rs_chunk_coding coding = data[0] % 4;
    uint32_t n = data[1] | (uint32_t)data[2] << 8;
    enum rs_chunk_kind kind = data[3] % 2 ? RS_CHUNK_EVENTS : RS_CHUNK_FACTS;
    data += 4;
    size -= 4;
    const char *why = NULL;
    const uint64_t *got = rs_codec_decode(codec, data, (uint32_t)size, coding, n, &why);
    must(got || why);

    static uint64_t words[WORDS];
    n = (uint32_t)(size / 8);
    memcpy(words, data, n * 8);
    /* Most words are no records: bend the kinds until they are, in every other input. */
    if (kind == RS_CHUNK_EVENTS && data[-4] & 0x80) {
        uint32_t at = 0, m;
        while (at < n) {
            while (rs_kind_args[words[at] & 0xff] == 0xff) words[at]++;
            if (!(m = rs_record_words(words + at, n - at))) break;
            at += m;
        }
        n = at;
    }
    uint32_t bytes;
    const void *stored = rs_codec_encode(codec, kind, words, n, &bytes, &coding);
    static uint8_t copy[RS_BUFFER_BYTES];
    must(bytes <= n * 8);
    memcpy(copy, stored, bytes);
    got = rs_codec_decode(codec, copy, bytes, coding, n, &why);
    must(got && !memcmp(got, words, n * 8));
    return 0;
}
