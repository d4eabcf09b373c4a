/* Standard output as people see it: how wide it is, whether it shows colours, and sentences wrapped to it.
 *
 * On a terminal lines have its width. In a pipe or a file nothing is wrapped, shortened or coloured, so that grep and awk
 * find all of it, unless COLUMNS asks for a width. NO_COLOR and TERM=dumb: no colours. Main thread only. */
#ifndef RS_CLI_SCREEN_H
#define RS_CLI_SCREEN_H

#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RS_SCREEN_NARROW = 20 }; /* characters: on narrower terminals lines are as long as on this one */

/* Characters in a line; SIZE_MAX: any number. */
size_t rs_screen_width(void);

enum rs_style { RS_STYLE_NONE, RS_STYLE_BOLD, RS_STYLE_CULPRIT, RS_STYLES };

/* What turns a style on, and RS_STYLE_NONE all of them off; "" where there are no colours. */
const char *rs_screen_style(enum rs_style style);

/* Characters, not bytes: continuation bytes of UTF-8 take no place. */
size_t rs_screen_chars(const char *text);

/* Prints as printf() does, in as many calls per line as wanted: complete lines are written, broken between words where they
 * are too long, not inside of `commands` and not between a number and its unit. Further lines are indented: behind a label
 * ("events     228 Group, ..."), else a little. Control characters become '?'. */
void rs_screen_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A word of such a line in a style. */
void rs_screen_word(enum rs_style style, const char *word);

/* The conclusion of a command, before its tables: a paragraph for each of its lines, its first sentence in bold type, and
 * ranks in the colour of culprits where `ranks` has them. */
void rs_screen_conclude(const char *const *lines, size_t n, const int32_t *ranks, size_t nranks);
/* The same with culprits by rank id; NULL: none. */
void rs_screen_conclude_named(const char *const *lines, size_t n, const struct rs_model *m, const bool *named);

#endif
