/* A hash map from 64-bit keys to 64-bit values: open addressing, linear probing, at most 7/10 full.
 *
 * A zeroed struct is an empty map. Every key is allowed, 0 and ~0 included. Pointers to values are valid until the next
 * put, delete or free. The order of a walk is arbitrary. A map belongs to one thread at a time; any number may read it
 * while none writes. */
#ifndef RS_BASE_MAP_H
#define RS_BASE_MAP_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rs_map_slot {
    uint64_t key; /* 0 = empty: the value of key 0 itself is kept in the map's head */
    uint64_t value;
};

struct rs_map {
    struct rs_map_slot *slots;
    size_t cap; /* slots: 0 or a power of two */
    size_t used; /* slots in use */
    bool has_zero;
    uint64_t zero_value;
};

/* How many keys there are. */
static inline size_t rs_map_count(const struct rs_map *m)
{
    return m->used + (m->has_zero ? 1 : 0);
}

/* Where `key` is looked for first. Spreads keys that differ only in high or in low bits (handles, addresses, hashes)
 * over the whole table. */
static inline size_t rs_map_home(const struct rs_map *m, uint64_t key)
{
    key ^= key >> 32;
    key *= 0x9e3779b97f4a7c15u;
    key ^= key >> 29;
    return (size_t)key & (m->cap - 1);
}

/* The value of `key`, or NULL. Inline, since it is called millions of times. */
static inline uint64_t *rs_map_find(const struct rs_map *m, uint64_t key)
{
    /* Values are writable even if the map is const. */
    if (key == 0) return m->has_zero ? (uint64_t *)&m->zero_value : NULL;
    if (m->cap == 0) return NULL;
    struct rs_map_slot *slot = &m->slots[rs_map_home(m, key)]; /* the table is never full */
    while (slot->key != key) {
        if (slot->key == 0) return NULL;
        if (++slot == m->slots + m->cap) slot = m->slots;
    }
    return &slot->value;
}

/* The value of `key`, or `otherwise`. */
static inline uint64_t rs_map_get(const struct rs_map *m, uint64_t key, uint64_t otherwise)
{
    const uint64_t *value = rs_map_find(m, key);
    return value == NULL ? otherwise : *value;
}

/* Sets the value of `key`, new or not. */
void rs_map_put(struct rs_map *m, uint64_t key, uint64_t value);

/* *value points to the value of `key`; a new key is inserted with `initial`. */
void rs_map_at(struct rs_map *m, uint64_t key, uint64_t initial, uint64_t **value);

/* The number of `key`: keys are numbered from 0 in the order in which they come. *count: how many there are. */
uint32_t rs_map_number(struct rs_map *m, uint64_t key, uint32_t *count);

/* Makes room for `count` keys in all. */
void rs_map_reserve(struct rs_map *m, size_t count);

/* Removes `key`; false if it was not there. */
bool rs_map_delete(struct rs_map *m, uint64_t key);

/* Walks the map: start with *pos = 0, continue while it returns true. No puts or deletes during a walk. */
bool rs_map_next(const struct rs_map *m, size_t *pos, uint64_t *key, uint64_t *value);

/* Empties the map and frees its memory. */
void rs_map_free(struct rs_map *m);

#endif
