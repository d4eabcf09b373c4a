/* The bytes of a file as they are meant: plain or compressed (base/compression.h), told by its first bytes, block by block.
 *
 * A plain file is mapped and comes as one block; a packed one is unpacked as it is read, so memory stays bounded. The
 * struct owns its blocks until rs_bytes_close(); one thread at a time. Every message names the path and the place in
 * the file as it lies on disk. */
#ifndef RS_BASE_BYTES_H
#define RS_BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "base/compression.h"
#include "base/err.h"

struct rs_bytes;

/* Fails for a packing whose library was not there when this was built. */
enum rs_status rs_bytes_open(struct rs_bytes **bytes, const char *path, struct rs_err *err);
/* The same of what may be a pipe: for what the user named himself. */
enum rs_status rs_bytes_stream(struct rs_bytes **bytes, const char *path, struct rs_err *err);
/* The same over memory, which stays the caller's; `block` bytes are unpacked at a time (0: as for a file). */
enum rs_status rs_bytes_memory(struct rs_bytes **bytes, const char *name, const void *data, size_t n, size_t block,
                               struct rs_err *err);
void rs_bytes_close(struct rs_bytes *bytes); /* NULL is fine */
int rs_bytes_packing(const struct rs_bytes *bytes); /* RS_PLAIN, or of base/compression.h */
const char *rs_bytes_path(const struct rs_bytes *bytes);

/* The next block; *n = 0: that was all. Good until the next call. A stream that is broken or cut gives what could be
 * unpacked first, and fails then, and at every call after that. */
enum rs_status rs_bytes_next(struct rs_bytes *bytes, const char **block, size_t *n, struct rs_err *err);
/* The first bytes, at most `n` and one block (256 KiB where packed), without taking them: for recognising, before the
 * first rs_bytes_next(). Returns how many there are. */
size_t rs_bytes_peek(struct rs_bytes *bytes, char *to, size_t n);
/* Lets the memory go that a plain file's block has in front of `before`; who looks there again gets it again. */
void rs_bytes_rest(struct rs_bytes *bytes, const char *before);

#endif
