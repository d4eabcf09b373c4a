/* Text from traces and file systems, made fit for a terminal. Pure functions; any thread.
 *
 * Names of kernels, files and annotations come from others: they may contain control characters, which a terminal
 * would obey, and be very long. JSON has them unchanged. */
#ifndef RS_CLI_PLAIN_H
#define RS_CLI_PLAIN_H

#include <stddef.h>
#include <stdio.h>

/* Control characters become '?', in place; the length stays. */
void rs_plain(char *text);

/* Prints n bytes of the text with control characters as '?'; rs_plain_line(): all of it, and a newline. */
void rs_plain_print(const char *text, size_t n, FILE *to);
void rs_plain_line(const char *text, FILE *to);

/* Cuts to `width` characters at most, in place: its begin, "...", and its end, since kernels may differ at
 * either. `width` >= 8. */
void rs_plain_cut(char *text, size_t width);

#endif
