/* A stream that compresses what is written to it into another stream.
 *
 * The caller owns that other stream; its failures fail the write or the close here, with its errno. One thread at a
 * time. */
#ifndef RS_EXPORT_COMPRESS_H
#define RS_EXPORT_COMPRESS_H

#include <stdio.h>

#include "base/compression.h"
#include "base/err.h"

/* Sets *file: to be closed with fclose(), which writes the end of the compressed stream. */
enum rs_status rs_compress_open(FILE **file, FILE *to, int packing, const char *name, struct rs_err *err);

#endif
