/* Python's pickles, protocols 0 to 5, read as data: nothing is looked up, called or built.
 *
 * What a pickle would have Python run (GLOBAL, REDUCE, NEWOBJ, BUILD ...) becomes a tag that keeps its arguments.
 * Opcodes that lead outside the bytes (persistent ids, extensions, buffers) are refused. The machine has no recursion;
 * values take at most RS_PICKLE_MOST_BYTES, marks nest at most 1000 deep. */
#ifndef RS_FOREIGN_FLIGHT_PICKLE_H
#define RS_FOREIGN_FLIGHT_PICKLE_H

#include "base/err.h"
#include "foreign/flight/value.h"

#define RS_PICKLE_MOST_BYTES (UINT64_C(512) << 20)

/* Whether a file that begins with these bytes can be a pickle of a dict or a list. */
bool rs_pickle_is(const void *bytes, size_t n);

/* The value that `bytes` hold. It is in `arena`, its texts in `bytes`. After RS_BAD_INPUT *root is
 * what was there up to the damage (what was open then is `cut`), or NULL. `path` is for messages. */
enum rs_status rs_pickle_read(struct rs_arena *arena, const void *bytes, size_t n, const char *path,
                              const struct rs_value **root, struct rs_err *err);

#endif
