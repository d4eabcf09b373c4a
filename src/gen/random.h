/* Random numbers of a generated job: a hash for values fixed by keys, and a fast generator that begins at one.
 *
 * Everything is derived from the seed, so the same options give the same bytes. A generator belongs to one thread; the
 * table of rs_gen_normal() is filled once by rs_gen_random_init() and then read-only. */
#ifndef RS_GEN_RANDOM_H
#define RS_GEN_RANDOM_H

#include <stdint.h>

struct rs_gen_rng {
    uint64_t state;
};

enum { RS_GEN_NORMALS = 4096 };
extern float rs_gen_normals[RS_GEN_NORMALS]; /* standard normal, in no order */

void rs_gen_random_init(void);

/* A number that depends only on the seed and the keys. */
uint64_t rs_gen_hash(uint64_t seed, uint64_t a, uint64_t b);
/* The same, as a double from -1 to 1. */
double rs_gen_hash_around(uint64_t seed, uint64_t a, uint64_t b);
/* The same, as an integer from 0 to below n. */
int64_t rs_gen_hash_below(uint64_t seed, uint64_t a, uint64_t b, uint32_t n);

static inline uint64_t rs_gen_next(struct rs_gen_rng *r)
{
    r->state += 0xa0761d6478bd642fu;
    unsigned __int128 m = (unsigned __int128)r->state * (r->state ^ 0xe7037ed1a0b428dbu);
    return (uint64_t)(m >> 64) ^ (uint64_t)m;
}
/* 0 to below n. */
static inline int64_t rs_gen_below(struct rs_gen_rng *r, uint32_t n)
{
    return (int64_t)((rs_gen_next(r) >> 32) * n >> 32);
}
/* 0 to below 1. */
static inline double rs_gen_unit(struct rs_gen_rng *r)
{
    return (double)(rs_gen_next(r) >> 11) * 0x1p-53;
}
static inline double rs_gen_normal(struct rs_gen_rng *r)
{
    return (double)rs_gen_normals[rs_gen_next(r) >> 52];
}
/* Exponential with mean 1. */
double rs_gen_exponential(struct rs_gen_rng *r);

#endif
