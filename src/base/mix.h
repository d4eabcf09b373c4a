/* Hashes of several numbers, for keys of maps and ids: h = rs_mix(rs_mix(seed, a), b). Every bit of the result depends on
 * all of them. Ids that are printed are made with it: it must not change. */
#ifndef RS_BASE_MIX_H
#define RS_BASE_MIX_H

#include <stdint.h>

static inline uint64_t rs_mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    return h ^ h >> 29;
}

#endif
