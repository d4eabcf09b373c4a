/* Text of others made whole: what is no UTF-8 is replaced, byte by byte, by U+FFFD.
 *
 * Names of threads, hosts, files and communicators come as their makers wrote them; formats that hold text (JSON,
 * protobuf, SQLite, OTF2, CSV) may be read by programs that stop at a byte that is none. Any thread. */
#ifndef RS_BASE_UTF8_H
#define RS_BASE_UTF8_H

#include <stddef.h>

#include "base/strbuf.h"

#define RS_UTF8_STAND_IN "\xef\xbf\xbd" /* U+FFFD */

/* Length of the well-formed sequence at `s` (at most `n` > 0 bytes), 0 if there is none. Follows the table of well-formed
 * byte sequences of the Unicode standard: no overlong forms, no surrogates, nothing past U+10FFFF. */
size_t rs_utf8_length(const char *s, size_t n);

/* `text` itself where it is well-formed; else a copy in `room` that is, good until `room` is used again. *n: its bytes. */
const char *rs_utf8_whole(const char *text, size_t *n, struct rs_strbuf *room);

#endif
