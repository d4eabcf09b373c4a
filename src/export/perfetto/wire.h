/* The wire format of Protocol Buffers, as far as writing needs it: fields appended to a buffer that grows.
 *
 * A message is a run of fields, each a tag (number << 3 | type) and a value: a varint, eight bytes, or a length with as
 * many bytes, which may be a message again. An inner message is built in a buffer of its own and appended when its
 * length is known.
 *
 *     rs_wire_clear(&inner);
 *     rs_wire_uint(&inner, 1, 300);                                     08 ac 02
 *     rs_wire_message(&outer, 3, &inner);                               1a 03 08 ac 02
 *
 * A zeroed struct is an empty buffer. The struct owns its bytes until rs_wire_free(). When memory runs out, `failed` is
 * set for good and what follows is dropped, so that a run of appends needs one check. One thread at a time. */
#ifndef RS_EXPORT_PERFETTO_WIRE_H
#define RS_EXPORT_PERFETTO_WIRE_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct rs_wire {
    uint8_t *data;
    size_t n, cap;
};

void rs_wire_free(struct rs_wire *w);
/* Room for `more` bytes after the last; false: there is none. */
void rs_wire_grow(struct rs_wire *w, size_t more);

static inline void rs_wire_clear(struct rs_wire *w)
{
    w->n = 0;
}

static inline void rs_wire_room(struct rs_wire *w, size_t more)
{
    if (!(w->cap - w->n >= more)) rs_wire_grow(w, more);
}

/* At most 10 bytes, the low seven bits first; returns where it ends. */
static inline uint8_t *rs_wire_put(uint8_t *to, uint64_t value)
{
    while (value >= 0x80) {
        *to++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *to++ = (uint8_t)value;
    return to;
}

/* uint32, uint64, bool, enum; int32 and int64 as they are, sign-extended to 64 bits. */
static inline void rs_wire_uint(struct rs_wire *w, uint32_t field, uint64_t value)
{
    rs_wire_room(w, 15);
    uint8_t *to = rs_wire_put(w->data + w->n, (uint64_t)field << 3);
    w->n = (size_t)(rs_wire_put(to, value) - w->data);
}

static inline void rs_wire_fixed64(struct rs_wire *w, uint32_t field, uint64_t value)
{
    rs_wire_room(w, 13);
    uint8_t *to = rs_wire_put(w->data + w->n, (uint64_t)field << 3 | 1);
    value = htole64(value);
    memcpy(to, &value, sizeof value);
    w->n = (size_t)(to - w->data) + sizeof value;
}

static inline void rs_wire_bytes(struct rs_wire *w, uint32_t field, const void *bytes, size_t n)
{
    rs_wire_room(w, 15 + n);
    uint8_t *to = rs_wire_put(w->data + w->n, (uint64_t)field << 3 | 2);
    to = rs_wire_put(to, n);
    if (n) memcpy(to, bytes, n);
    w->n = (size_t)(to - w->data) + n;
}

/* A string of protobuf is UTF-8: what is none is replaced. */
void rs_wire_string(struct rs_wire *w, uint32_t field, const char *text);

static inline void rs_wire_message(struct rs_wire *w, uint32_t field, const struct rs_wire *inner)
{
    rs_wire_bytes(w, field, inner->data, inner->n);
}

#endif
