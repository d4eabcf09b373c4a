/* Any bytes as a Kineto trace that is written back: what is not put in stays byte by byte, however it is broken. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/kineto/weave.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char added[] = "\"\1\"";

static void must(int fine)
{
    if (!fine) abort();
}

static bool wants(void *of, uint64_t event)
{
    (void)of;
    return event % 3 != 2;
}

static void keys(void *of, uint64_t event, bool has_comms_id, struct rs_strbuf *to)
{
    (void)of, (void)event, (void)has_comms_id;
    rs_strbuf_puts(to, added);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rs_bytes *bytes;
    struct rs_err err = {0};
    char *copy = NULL;
    size_t n = 0;
    uint64_t woven;
    if ((size && memchr(data, 1, size)) || (size >= 2 && data[0] == 0x1f) ||
        (size >= 1 && (data[0] == 0x28 || data[0] >> 4 == 5)))
        return 0; /* packed, or with the mark in it */
    must(rs_bytes_memory(&bytes, "trace", data, size, 0, &err) == RS_OK);
    FILE *to = open_memstream(&copy, &n);
    must(to != NULL);
    must(rs_kineto_weave(bytes, to, "memory", wants, keys, NULL, &woven, &err) == RS_OK);
    fclose(to);
    rs_bytes_close(bytes);
    /* Without the marks and what stands around them it is as it was. */
    size_t at = 0;
    uint64_t found = 0;
    for (size_t i = 0; i < size; i++, at++) {
        while (at < n && (uint8_t)copy[at] != data[i]) at++;
        if (at >= n) break;
    }
    for (size_t i = 0; i < n; i++) found += copy[i] == 1;
    must(at <= n && found == woven && n >= size);
    must(woven || (n == size && (!n || !memcmp(copy, data, n))));
    free(copy);
    return 0;
}
