/* Makes text valid UTF-8: invalid bytes become U+FFFD.
 *
 * Names of threads, hosts, files and communicators may contain any bytes; programs that read JSON, protobuf, SQLite,
 * OTF2 or CSV may reject invalid ones. Any thread. */
#ifndef RS_BASE_UTF8_H
#define RS_BASE_UTF8_H

#include <stddef.h>

#include "base/strbuf.h"

#define RS_UTF8_STAND_IN "\xef\xbf\xbd" /* U+FFFD */

/* Length of the well-formed sequence at `s` (at most `n` > 0 bytes), 0 if there is none. Follows the table of
 * well-formed byte sequences of the Unicode standard: no overlong forms, no surrogates, nothing past U+10FFFF. */
size_t rs_utf8_length(const char *s, size_t n);

/* `text` itself if it is well-formed; else a copy in `room` that is, valid until `room` is used again. *n: its
 * bytes. */
const char *rs_utf8_whole(const char *text, size_t *n, struct rs_strbuf *room);

#endif
