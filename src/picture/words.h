/* Words in pictures: names of a trace made fit for XML, cairo and terminals; times and sizes; what is known of a bar.
 *
 * Names are whatever somebody else wrote. What comes out of rs_words_clean() is valid UTF-8 without control characters,
 * marks that turn the direction of writing, or code points that XML forbids; markup is the back end's to escape. Pure
 * functions; any thread. */
#ifndef RS_PICTURE_WORDS_H
#define RS_PICTURE_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "picture/rows.h"

/* Copies, with '?' for what cannot be shown; cut between characters where it does not fit. Returns its columns in a
 * terminal (wide characters count two). */
unsigned rs_words_clean(const char *text, char *out, size_t size);
/* The same, cut to `columns` at most, with ".." at the end where something is missing. */
unsigned rs_words_fit(const char *text, unsigned columns, char *out, size_t size);

/* "12.3 us": three digits that count. */
void rs_words_duration(int64_t ns, char *out, size_t size);
/* "64 MiB" */
void rs_words_bytes(int64_t bytes, char *out, size_t size);

/* The name of a bar, else its kind's label; as it is in the trace. */
const char *rs_words_name(const struct rs_timeline *t, const struct rs_picture_bar *bar);
/* What a bar has to say of its size, as "64 MiB"; "" where it says nothing. */
void rs_words_size(const struct rs_timeline *t, const struct rs_picture_bar *bar, char *out, size_t size);
/* Everything that is known of a bar, line by line, clean. */
void rs_words_tooltip(const struct rs_timeline *t, const struct rs_picture_bar *bar, struct rs_strbuf *out);

#endif
