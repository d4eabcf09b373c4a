/* Text in pictures: names of a trace made safe for XML, cairo and terminals; times and sizes; the description of a bar.
 *
 * Names are untrusted. The result of rs_words_clean() is valid UTF-8 without control characters, direction marks, or
 * code points that XML forbids; escaping markup is up to the back end. Pure functions; any thread. */
#ifndef RS_PICTURE_WORDS_H
#define RS_PICTURE_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "picture/rows.h"

/* Copies, with '?' for what cannot be shown; truncated between characters if it does not fit. Returns its columns in a
 * terminal (wide characters count two). */
unsigned rs_words_clean(const char *text, char *out, size_t size);
/* The same, truncated to `columns`, with ".." at the end if so. */
unsigned rs_words_fit(const char *text, unsigned columns, char *out, size_t size);

/* "12.3 us": three significant digits. */
void rs_words_duration(int64_t ns, char *out, size_t size);
/* "64 MiB" */
void rs_words_bytes(int64_t bytes, char *out, size_t size);

/* The name of a bar, else its kind's label; as it is in the trace. */
const char *rs_words_name(const struct rs_timeline *t, const struct rs_picture_bar *bar);
/* The size of a bar, as "64 MiB"; "" if unknown. */
void rs_words_size(const struct rs_timeline *t, const struct rs_picture_bar *bar, char *out, size_t size);
/* All that is known about a bar, line by line, clean. */
void rs_words_tooltip(const struct rs_timeline *t, const struct rs_picture_bar *bar, struct rs_strbuf *out);

#endif
