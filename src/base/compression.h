/* The compressions that files are read and written in: one table. Constant; any thread, and one thread per stream.
 *
 * A compression is a number: RS_PLAIN is none, and from 1 on those of the table in compression.c, which is all that a new
 * one needs besides its library (tools/config.sh, tools/packages.txt). */
#ifndef RS_BASE_COMPRESSION_H
#define RS_BASE_COMPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { RS_PLAIN };

/* Compressed bytes on their way out of memory. */
struct rs_compressed {
    const uint8_t *data;
    size_t size, at; /* at: taken */
    bool done; /* the end, or trouble */
    const char *trouble, *why; /* "is broken", and what the library says of it; NULL: none */
};

struct rs_compression {
    const char *name; /* "gzip" */
    const char *library; /* "zlib" */
    const char *suffix; /* ".gz" */
    bool (*is)(const uint8_t *data, size_t n); /* whether a stream begins so */
    /* Without the library all of these are NULL. An open returns the stream; NULL: out of memory. */
    void *(*open)(void);
    size_t (*decompress)(void *stream, struct rs_compressed *from, char *to, size_t room); /* how many bytes came */
    void (*close)(void *stream);
    void *(*open_new)(void);
    bool (*compress)(void *stream, const char *bytes, size_t n, bool end, FILE *to); /* false: errno says why */
    void (*close_new)(void *stream);
};

/* NULL: RS_PLAIN, or behind the last. */
const struct rs_compression *rs_compression_at(int packing);
/* By the first bytes of a stream. */
int rs_compression_recognise(const uint8_t *data, size_t n);
/* By the ending of a name (NULL: none). */
int rs_compression_of(const char *name);
/* The length of the name without that ending. */
size_t rs_compression_stem(const char *name);

#endif
