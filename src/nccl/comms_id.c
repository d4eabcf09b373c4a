#include "nccl/comms_id.h"

#include <string.h>

/* The 64-bit hash of libstdc++'s std::hash<std::string>. */
static uint64_t hash_bytes(const char *text, size_t n)
{
    const uint64_t mul = UINT64_C(0xc6a4a7935bd1e995), seed = UINT64_C(0xc70f6907);
    uint64_t h = seed ^ (n * mul);
    size_t whole = n & ~(size_t)7;
    for (size_t i = 0; i < whole; i += 8) {
        uint64_t word;
        memcpy(&word, text + i, 8);
        word *= mul;
        word ^= word >> 47;
        h = (h ^ word * mul) * mul;
    }
    if (n & 7) {
        uint64_t word = 0;
        for (size_t i = n; i-- > whole;) word = word << 8 | (unsigned char)text[i];
        h = (h ^ word) * mul;
    }
    h ^= h >> 47;
    h *= mul;
    return h ^ h >> 47;
}

uint64_t rs_comms_id(const char *pg_name, size_t n, int64_t seq, bool is_p2p, int64_t start, int64_t stride,
                     int64_t size)
{
    const int64_t elements[] = {seq, is_p2p, start, stride, size};
    uint64_t h = hash_bytes(pg_name, n);
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        uint64_t x = (uint64_t)elements[i]; /* the element is the seed, the hash so far the value */
        h = x ^ (h + 0x9e3779b9 + (x << 6) + (x >> 2));
    }
    return h;
}

void rs_comms_shape(const int32_t *ranks, uint32_t n, int64_t *start, int64_t *stride)
{
    *start = n ? ranks[0] : 0;
    *stride = !n ? 1 : n == 1 ? 0 : (int64_t)ranks[1] - ranks[0];
    for (uint32_t i = 2; i < n; i++)
        if ((int64_t)ranks[i] - ranks[i - 1] != *stride) *stride = -1;
}
