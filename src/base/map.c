#include "base/map.h"

#include <stdlib.h>

#include "base/memory.h"

enum { FIRST_CAP = 16 };

/* The slot of `key`, or the empty one where it would go. The table is never full. */
static struct rs_map_slot *probe(const struct rs_map *m, uint64_t key)
{
    size_t i = rs_map_home(m, key);
    while (m->slots[i].key != 0 && m->slots[i].key != key) i = (i + 1) & (m->cap - 1);
    return &m->slots[i];
}

static bool fits(size_t cap, size_t used)
{
    return used <= cap / 10 * 7;
}

static void resize(struct rs_map *m, size_t cap)
{
    struct rs_map_slot *slots = rs_zalloc(cap, sizeof(*slots));
    struct rs_map old = *m;
    m->slots = slots;
    m->cap = cap;
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i].key != 0) *probe(m, old.slots[i].key) = old.slots[i];
    free(old.slots);
}

uint32_t rs_map_number(struct rs_map *m, uint64_t key, uint32_t *count)
{
    uint64_t *number;
    rs_map_at(m, key, *count, &number);
    *count += *number == *count;
    return (uint32_t)*number;
}

void rs_map_reserve(struct rs_map *m, size_t count)
{
    size_t cap = m->cap == 0 ? FIRST_CAP : m->cap;
    while (!fits(cap, count)) {
        if (cap > SIZE_MAX / 4 / sizeof(*m->slots)) rs_memory_out();
        cap *= 2;
    }
    if (!(cap == m->cap)) resize(m, cap);
}

void rs_map_at(struct rs_map *m, uint64_t key, uint64_t initial, uint64_t **value)
{
    if (key == 0) {
        if (!m->has_zero) m->zero_value = initial;
        m->has_zero = true;
        *value = &m->zero_value;
        return;
    }
    if (m->cap == 0 || !fits(m->cap, m->used + 1)) rs_map_reserve(m, m->used + 1);
    struct rs_map_slot *slot = probe(m, key);
    if (slot->key == 0) {
        *slot = (struct rs_map_slot){.key = key, .value = initial};
        m->used++;
    }
    *value = &slot->value;
}

void rs_map_put(struct rs_map *m, uint64_t key, uint64_t value)
{
    uint64_t *at;
    rs_map_at(m, key, value, &at);
    *at = value;
}

bool rs_map_delete(struct rs_map *m, uint64_t key)
{
    if (key == 0) {
        bool had = m->has_zero;
        m->has_zero = false;
        return had;
    }
    if (m->cap == 0) return false;
    struct rs_map_slot *slot = probe(m, key);
    if (slot->key == 0) return false;
    /* Close the hole: each later slot of the run moves back unless that would put it before its home. */
    size_t mask = m->cap - 1;
    size_t hole = (size_t)(slot - m->slots);
    for (size_t i = (hole + 1) & mask; m->slots[i].key != 0; i = (i + 1) & mask) {
        size_t from_home = (i - rs_map_home(m, m->slots[i].key)) & mask;
        size_t from_hole = (i - hole) & mask;
        if (from_home < from_hole) continue;
        m->slots[hole] = m->slots[i];
        hole = i;
    }
    m->slots[hole].key = 0;
    m->used--;
    return true;
}

bool rs_map_next(const struct rs_map *m, size_t *pos, uint64_t *key, uint64_t *value)
{
    for (; *pos < m->cap; (*pos)++) {
        const struct rs_map_slot *slot = &m->slots[*pos];
        if (slot->key == 0) continue;
        *key = slot->key;
        *value = slot->value;
        (*pos)++;
        return true;
    }
    if (*pos > m->cap || !m->has_zero) return false;
    (*pos)++;
    *key = 0;
    *value = m->zero_value;
    return true;
}

void rs_map_free(struct rs_map *m)
{
    if (m == NULL) return;
    free(m->slots);
    *m = (struct rs_map){0};
}
