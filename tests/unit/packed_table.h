/* Reads tables of a bundle as viewer/FORMAT.md says, without the code that writes them: for tests. Values come as
 * doubles, and as 64 bits where they are identities. */
#ifndef RS_TESTS_PACKED_TABLE_H
#define RS_TESTS_PACKED_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint64_t le(const uint8_t *at, unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned i = bytes; i-- > 0;) v = v << 8 | at[i];
    return v;
}

struct column {
    unsigned type, coding, width;
    const uint8_t *data;
    uint32_t rows;
};

/* False: the table has no such column. A table that does not fit itself ends the test program. */
static bool find_column(const uint8_t *table, size_t n, const char *name, struct column *c)
{
    static const unsigned widths[] = {1, 2, 4, 4, 8, 8, 4};
    if (n < 8) abort();
    uint64_t rows = le(table, 4), columns = le(table + 4, 4);
    if (8 + 24 * columns > n) abort();
    for (uint64_t i = 0; i < columns; i++) {
        const uint8_t *entry = table + 8 + 24 * i;
        char is[13] = {0};
        memcpy(is, entry, 12);
        if (entry[12] > 6) abort();
        *c = (struct column){entry[12], entry[13], widths[entry[12]], table + le(entry + 16, 4), (uint32_t)rows};
        if (le(entry + 20, 4) != rows * c->width || le(entry + 16, 4) + rows * c->width > n) abort();
        if (!strcmp(is, name)) return true;
    }
    return false;
}

/* Raw bits of row i, with planes and differences undone. */
static uint64_t bits_at(const struct column *c, uint32_t row)
{
    uint64_t mask = c->width == 8 ? UINT64_MAX : (1ull << 8 * c->width) - 1, sum = 0;
    for (uint32_t i = c->coding == 2 ? 0 : row; i <= row; i++) {
        uint64_t v = 0;
        for (unsigned p = c->width; p-- > 0;)
            v = v << 8 | (c->coding == 0 ? c->data[(size_t)i * c->width + p] : c->data[(size_t)p * c->rows + i]);
        sum = (sum + v) & mask;
    }
    return sum;
}

static double value_at(const struct column *c, uint32_t row)
{
    uint64_t bits = bits_at(c, row);
    double d;
    float f;
    uint32_t low = (uint32_t)bits;
    switch (c->type) {
    case 3: return (int32_t)low;
    case 4: memcpy(&d, &bits, sizeof d); return d;
    case 6: memcpy(&f, &low, sizeof f); return (double)f;
    default: return (double)bits;
    }
}

#endif
