/* The compressions of files: one table. Constant; any thread, and one thread per stream.
 *
 * A compression is a number: RS_PLAIN is none; from 1 on it is a row of the table in compression.c. A new one needs
 * only its row and its library (tools/config.sh, tools/packages.txt). */
#ifndef RS_BASE_COMPRESSION_H
#define RS_BASE_COMPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { RS_PLAIN };

/* Compressed bytes in memory, while they are decompressed. */
struct rs_compressed {
    const uint8_t *data;
    size_t size, at; /* at: bytes consumed */
    bool done; /* the end was reached, or a failure */
    const char *trouble, *why; /* "is broken", and the library's message; NULL: none */
};

struct rs_compression {
    const char *name; /* "gzip" */
    const char *library; /* "zlib" */
    const char *suffix; /* ".gz" */
    bool (*is)(const uint8_t *data, size_t n); /* whether it is the beginning of such a stream */
    /* Without the library all of these are NULL. An open returns the stream; NULL: out of memory. */
    void *(*open)(void);
    size_t (*decompress)(void *stream, struct rs_compressed *from, char *to, size_t room); /* bytes written */
    void (*close)(void *stream);
    void *(*open_new)(void);
    bool (*compress)(void *stream, const char *bytes, size_t n, bool end, FILE *to); /* false: errno says why */
    void (*close_new)(void *stream);
};

/* NULL: RS_PLAIN, or past the last row. */
const struct rs_compression *rs_compression_at(int packing);
/* By the first bytes of a stream. */
int rs_compression_recognise(const uint8_t *data, size_t n);
/* By the ending of a name (NULL: none). */
int rs_compression_of(const char *name);
/* The length of the name without that ending. */
size_t rs_compression_stem(const char *name);

#endif
