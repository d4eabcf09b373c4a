/* Record kinds: what one callback looks like as 64-bit words.
 *
 * A record is a head word, the words that its head announces, and the arguments of its kind:
 *
 *   head   bits 0-7 kind, 8-31 ref, 32-63 ticks since the tick base
 *   handle only if ref = 0 and the kind bears a handle: the handle (stop, state) or the parent (start), as passed
 *   start  only in starts: bits 0-15 context index, 16-39 rank, 40-63 small
 *   ctx, rank  two words, only if the context index is RS_CTX_ESCAPE: the context and the rank as passed
 *   small  only if the small field is RS_SMALL_ESCAPE: its value as passed
 *   args   rs_kind_args[kind] words
 *
 * ref is the distance from the handle to the one that the next start would get (1 = the latest start); 0 = the distance
 * does not fit, and the handle is in the next word. The layout of args is in the field tables of kinds.c, which drive
 * the reader, and in docs/format.md. Shared by the recorder, the codec and the reader. */
#ifndef RS_FORMAT_KINDS_H
#define RS_FORMAT_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rs_kind {
    RS_K_STOP = 0x01,
    RS_K_STATE_V1 = 0x02, /* args: state | steps << 32, transSize (v1 to v3) */
    RS_K_STATE_RAW = 0x03, /* args: state | has_args << 32, the first 8 bytes of the arguments */
    RS_K_LOST = 0x04, /* args: first tick, last tick, RS_LOST_COUNTS counts: callbacks that found no room here */
    RS_K_TICK_BASE = 0x05, /* args: the new tick base; the ticks of this head have no meaning */
    RS_K_THREAD = 0x06, /* args: tid, name (16 bytes): the slot belongs to this thread from here on */
    RS_K_NET_UPDATE_IB = 0x07, /* state 21 with its payload: as RS_K_NET_IB without the id */
    RS_K_NET_UPDATE_SOCK = 0x08,
    RS_K_HANDLE = 0x09, /* args: the handle of the next start, after starts that were cut out (RS_FEATURE_CUT) */

    RS_K_START = 0x10, /* first of the starts */
    RS_K_GROUP = 0x10,
    RS_K_PROXY_OP,
    RS_K_PROXY_STEP,
    RS_K_PROXY_CTRL,
    RS_K_KERNEL_CH,
    RS_K_KERNEL_CH_V3,
    RS_K_KERNEL_PHASE,
    RS_K_NET_PLUGIN,
    RS_K_NET_IB,
    RS_K_NET_SOCK,
    RS_K_GROUP_API,
    RS_K_COLL_API,
    RS_K_COLL_API_V7,
    RS_K_P2P_API,
    RS_K_P2P_API_V7,
    RS_K_KERNEL_LAUNCH,
    RS_K_COLL_V1,
    RS_K_COLL_V2,
    RS_K_COLL_V3,
    RS_K_COLL_V4,
    RS_K_COLL,
    RS_K_COLL_V7,
    RS_K_P2P_V1,
    RS_K_P2P_V2,
    RS_K_P2P_V4,
    RS_K_P2P,
    RS_K_P2P_V7,
    RS_K_CE_COLL,
    RS_K_CE_COLL_V7,
    RS_K_CE_SYNC,
    RS_K_CE_BATCH,
    RS_K_START_RAW, /* an unknown type: its whole descriptor union */
    RS_K_START_END,

    RS_K_STATE = 0x40, /* 0x40 + state: a state without an argument */
    RS_K_STATE_ARG = 0x60, /* 0x60 + state: a state with one word of argument */
    RS_K_LIMIT = 0x80,
};

enum {
    RS_REF_BITS = 24,
    RS_REF_LIMIT = 1 << RS_REF_BITS, /* refs are below this */
    RS_CTX_ESCAPE = 0xffff,
    RS_SMALL_ESCAPE = 0xffffff,
    RS_RANK_LIMIT = 0xffffff, /* ranks from 0 to below this fit in the start word */
    RS_RAW_WORDS = 14, /* the largest descriptor union (v7), in words */
    RS_RECORD_MAX = 24, /* words of the longest record */
    RS_STRING_NULL = 0, /* string ids: the pointer was NULL */
    RS_STRING_UNKNOWN = 0xffff, /* the table was full */
};

/* Loss counts: starts by type bit (0-15), starts of unknown type, stops, states. */
enum { RS_LOST_START_RAW = 16, RS_LOST_STOP = 17, RS_LOST_STATE = 18, RS_LOST_COUNTS = 19 };

/* How many argument words a record of each kind has; 0xff = no such kind. */
extern const uint8_t rs_kind_args[256];

enum rs_field_source { RS_FROM_SMALL, RS_FROM_WORD };
enum rs_field_format {
    RS_F_UINT,
    RS_F_INT, /* signed, of `bits` bits */
    RS_F_BOOL,
    RS_F_POINTER,
    RS_F_HANDLE,
    RS_F_HASH, /* of a communicator; 0 = unknown */
    RS_F_STRING, /* a string id */
    RS_F_FUNC_V1, /* v1's enums */
    RS_F_DTYPE_V1,
    RS_F_ALGO_V1,
    RS_F_PROTO_V1,
};

/* One argument of a callback, by its NCCL name. */
struct rs_field {
    const char *name; /* NULL ends a table */
    uint8_t source; /* enum rs_field_source */
    uint8_t word; /* index into args */
    uint8_t shift, bits;
    uint8_t format; /* enum rs_field_format */
};

struct rs_kind_info {
    uint32_t type; /* the event type bit of a start; 0 = given by an argument */
    const struct rs_field *fields; /* NULL where the kind has none */
};
extern const struct rs_kind_info rs_kind_starts[RS_K_START_END - RS_K_START];

/* The fields of starts with these `n` names: found[(kind - RS_K_START) * n + i], NULL if a kind has none. For code that
 * reads them from many records: a lookup by name each time is slow. */
void rs_kind_find_fields(const char *const *names, unsigned n, const struct rs_field **found);
/* Fields of the two kinds of state 21 with payload; NULL for others. */
const struct rs_field *rs_kind_state_fields(unsigned kind);

static inline bool rs_kind_is_start(unsigned kind)
{
    return kind >= RS_K_START && kind < RS_K_START_END;
}
/* NULL if `kind` is not a start. */
static inline const struct rs_kind_info *rs_kind_start(unsigned kind)
{
    return rs_kind_is_start(kind) ? &rs_kind_starts[kind - RS_K_START] : NULL;
}
static inline bool rs_kind_has_handle(unsigned kind)
{
    return kind != RS_K_LOST && kind != RS_K_TICK_BASE && kind != RS_K_THREAD && kind != RS_K_HANDLE;
}

/* A start word and the words that it announces, without arguments. */
static inline unsigned rs_start_words(uint64_t start)
{
    return 1u + ((start & 0xffff) == RS_CTX_ESCAPE ? 2 : 0) + (start >> 40 == RS_SMALL_ESCAPE);
}

/* Words of the record at w[0], or 0 if it is of no known kind or does not end within `n` words. */
static inline unsigned rs_record_words(const uint64_t *w, unsigned n)
{
    if (!n) return 0;
    unsigned kind = (unsigned)w[0] & 0xff, args = rs_kind_args[kind], words = 1;
    if (args == 0xff) return 0;
    if (rs_kind_has_handle(kind) && !((w[0] >> 8) & (RS_REF_LIMIT - 1))) words++;
    if (rs_kind_is_start(kind)) {
        if (words >= n) return 0;
        words += rs_start_words(w[words]);
    }
    words += args;
    return words <= n ? words : 0;
}

#endif
