/* A fact in a chunk: its head, the payload, zeros up to a whole word. Inline; no state. */
#ifndef RS_FORMAT_FACT_H
#define RS_FORMAT_FACT_H

#include <stddef.h>
#include <string.h>

#include "format/layout.h"

static inline uint32_t rs_fact_words(size_t payload)
{
    return (uint32_t)((sizeof(struct rs_fact_head) + payload + 7) / 8);
}

/* The payload is a, then b, either of which may be empty. `w` has room for rs_fact_words() of both. */
static inline void rs_fact_encode(uint64_t *w, enum rs_fact_type type, uint64_t tick, const void *a, size_t a_bytes,
                                  const void *b, size_t b_bytes)
{
    size_t bytes = a_bytes + b_bytes;
    struct rs_fact_head head = {.bytes = (uint32_t)bytes, .type = (uint16_t)type, .tick = tick};
    w[rs_fact_words(bytes) - 1] = 0; /* padding */
    memcpy(w, &head, sizeof head);
    char *payload = (char *)w + sizeof head;
    if (a_bytes) memcpy(payload, a, a_bytes);
    if (b_bytes) memcpy(payload + a_bytes, b, b_bytes);
}

#endif
