/* Hashes of several numbers, for keys of maps and ids: h = rs_mix(rs_mix(seed, a), b). Every bit of the result depends
 * on all of them. The seed is a constant or a hash: rs_mix() takes the exclusive or of its arguments, so many pairs of
 * two small numbers alone (a pid and a device) would collide. Printed ids are made with rs_mix(): it must not
 * change. */
#ifndef RS_BASE_MIX_H
#define RS_BASE_MIX_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t rs_mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    return h ^ h >> 29;
}

/* The same for bytes, only for keys of maps. Sixteen bytes at a time: names of kernels are hundreds of bytes long. */
static inline uint64_t rs_mix_bytes(uint64_t h, const char *text, size_t n)
{
    uint64_t a = h ^ n, b = ~(uint64_t)n, w;
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        memcpy(&w, text + i, sizeof w);
        a = (a ^ w) * 0x9e3779b97f4a7c15u;
        a ^= a >> 32;
        memcpy(&w, text + i + 8, sizeof w);
        b = (b ^ w) * 0xd6e8feb86659fd93u;
        b ^= b >> 29;
    }
    for (; i < n; i++) a = rs_mix(a, (unsigned char)text[i]);
    return rs_mix(a, b);
}

static inline uint64_t rs_mix_text(uint64_t h, const char *text)
{
    return rs_mix_bytes(h, text, strlen(text));
}

#endif
