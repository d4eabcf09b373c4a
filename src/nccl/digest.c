#include "nccl/digest.h"

static void take(uint64_t acc[2], uint64_t value, uint64_t size)
{
    acc[0] ^= size;
    acc[0] += acc[1];
    acc[1] ^= acc[0];
    acc[0] ^= acc[0] >> 31;
    acc[0] *= 0x9de62bbc8cef3ce3u;
    acc[1] ^= acc[1] >> 32;
    acc[1] *= 0x485cd6311b599e79u;
    acc[0] += value;
}

uint64_t rs_nccl_split_hash(uint64_t parent, int child_count, int color)
{
    uint64_t acc[2] = {1, 1};
    take(acc, parent, 8);
    take(acc, (uint32_t)child_count, 4);
    take(acc, (uint32_t)color, 4);
    uint64_t h = acc[0];
    h ^= h >> 31;
    h *= 0xbac3bd562846de6bu;
    h += acc[1];
    h ^= h >> 32;
    h *= 0x995a187a14e7b445u;
    return h;
}
