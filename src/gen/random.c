#include "gen/random.h"

#include <math.h>

float rs_gen_normals[RS_GEN_NORMALS];

void rs_gen_random_init(void)
{
    /* Box-Muller over a regular grid: the table's mean and spread are those of the distribution, whatever the seed. */
    enum { SIDE = 64 };
    for (int i = 0; i < SIDE; i++) {
        double radius = sqrt(-2 * log((i + 0.5) / SIDE));
        for (int k = 0; k < SIDE; k++)
            rs_gen_normals[i * SIDE + k] = (float)(radius * cos(6.283185307179586 * (k + 0.5) / SIDE));
    }
}

uint64_t rs_gen_hash(uint64_t seed, uint64_t a, uint64_t b)
{
    uint64_t x = seed;
    const uint64_t in[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        x += in[i] * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
        x ^= x >> 31;
    }
    return x;
}

double rs_gen_hash_around(uint64_t seed, uint64_t a, uint64_t b)
{
    return (double)(rs_gen_hash(seed, a, b) >> 11) * 0x1p-52 - 1;
}

int64_t rs_gen_hash_below(uint64_t seed, uint64_t a, uint64_t b, uint32_t n)
{
    return (int64_t)((rs_gen_hash(seed, a, b) >> 32) * n >> 32);
}

double rs_gen_exponential(struct rs_gen_rng *r)
{
    return -log(1 - rs_gen_unit(r));
}
