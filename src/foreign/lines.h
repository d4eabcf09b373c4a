/* Text files line by line, and the fields of a CSV line.
 *
 * Lines come without their end (\n or \r\n) and are good until the next call; of a line beyond RS_LONGEST_LINE bytes
 * only the first ones are kept, so memory stays bounded. The struct borrows the bytes and owns its buffer until
 * rs_lines_free(). One thread at a time. */
#ifndef RS_FOREIGN_LINES_H
#define RS_FOREIGN_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

enum { RS_LONGEST_LINE = 1 << 22 };

struct rs_lines {
    const char *text; /* the line */
    size_t n;
    uint64_t offset; /* of the line in the unpacked bytes: for messages */
    bool unended; /* the last line, and nothing ends it: it may be cut */
    bool shortened; /* longer than RS_LONGEST_LINE: this is its beginning */
    struct rs_err err; /* of the bytes, when they broke off */
    /* the reader's own: */
    struct rs_bytes *bytes; /* NULL: memory, or the end */
    const char *at, *end; /* what is left of the block */
    uint64_t at_offset;
    char *buffer; /* a line that spans blocks */
    size_t held, cap;
};

/* Over the bytes of a file, or over memory. */
void rs_lines_bytes(struct rs_lines *l, struct rs_bytes *bytes);
void rs_lines_memory(struct rs_lines *l, const char *text, size_t n);
void rs_lines_free(struct rs_lines *l);

/* False: that was all (look at `err`). */
bool rs_lines_next(struct rs_lines *l);

/* A piece of a line: not ended with a 0. */
struct rs_slice {
    const char *text;
    size_t n;
};

bool rs_slice_is(struct rs_slice f, const char *word);
struct rs_slice rs_slice_trim(struct rs_slice f); /* without white space around it */
/* A decimal number times 10^digits, exact, rounded; false when it is none, or negative. */
bool rs_slice_fixed(struct rs_slice f, unsigned digits, int64_t *v);
bool rs_slice_u64(struct rs_slice f, uint64_t *v);
bool rs_slice_double(struct rs_slice f, double *v);

/* Splits at commas outside quotes. A quoted field comes without its quotes; doubled ones inside it stay
 * double. Returns how many there are, at most `most` (the rest is left out). */
unsigned rs_csv_split(const char *text, size_t n, struct rs_slice *fields, unsigned most);

#endif
