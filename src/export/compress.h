/* A stream that is packed on its way: what is written to it goes to another one as gzip or zstd.
 *
 * The stream below stays the caller's; a failure of it fails the write or the close here, with its errno. One thread at
 * a time. */
#ifndef RS_EXPORT_COMPRESS_H
#define RS_EXPORT_COMPRESS_H

#include <stdio.h>

#include "base/bytes.h"
#include "base/err.h"

/* How an output of this name is packed: .gz, .zst. */
enum rs_compression rs_compression_of(const char *path);
/* The length of the name without that. */
size_t rs_compression_stem(const char *path);

/* Sets *file: to be closed with fclose(), which writes the end of the packed stream. */
enum rs_status rs_compress_open(FILE **file, FILE *to, enum rs_compression packing, const char *name,
                                struct rs_err *err);

#endif
