/* Reads a file block by block and decompresses it if its first bytes are those of a compression (base/compression.h).
 *
 * A plain file is mapped and is one block; a compressed one is decompressed as it is read, so memory stays bounded. The
 * struct owns its blocks until rs_bytes_close(); one thread at a time. Every message names the path and the offset in
 * the file on disk. */
#ifndef RS_BASE_BYTES_H
#define RS_BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "base/compression.h"
#include "base/err.h"

struct rs_bytes;

/* Fails for a compression whose library this build does not have. */
enum rs_status rs_bytes_open(struct rs_bytes **bytes, const char *path, struct rs_err *err);
/* The same, and pipes too: for paths that the user named. */
enum rs_status rs_bytes_stream(struct rs_bytes **bytes, const char *path, struct rs_err *err);
/* The same for memory, which stays the caller's; `block` bytes are decompressed at a time (0: as for a file). */
enum rs_status rs_bytes_memory(struct rs_bytes **bytes, const char *name, const void *data, size_t n, size_t block,
                               struct rs_err *err);
void rs_bytes_close(struct rs_bytes *bytes); /* NULL is fine */
int rs_bytes_packing(const struct rs_bytes *bytes); /* RS_PLAIN, or of base/compression.h */
const char *rs_bytes_path(const struct rs_bytes *bytes);

/* The next block, valid until the next call; *n = 0: the end. A damaged or truncated stream returns what could be
 * decompressed, then fails at every call. */
enum rs_status rs_bytes_next(struct rs_bytes *bytes, const char **block, size_t *n, struct rs_err *err);
/* Copies the first bytes, at most `n` and one block (256 KiB if compressed), without consuming them: to recognise a
 * format before the first rs_bytes_next(). Returns their number. */
size_t rs_bytes_peek(struct rs_bytes *bytes, char *to, size_t n);
/* Drops the pages of a plain file's block before `before` from memory; they are read again when accessed. */
void rs_bytes_drop_pages(struct rs_bytes *bytes, const char *before);

#endif
