/* Arguments of a bar, for all formats that have slices with arguments.
 *
 * The bar of an operation has fields of the operation and of its rank as in `ops --json`, under the same names;
 * algorithm, protocol and channels are those of this rank. Other bars have the arguments and states of their kind
 * (timeline/kinds.h), and the operation's id. Texts are texts of the timeline. Unknown is RS_SLICE_NULL: formats without
 * null leave it out. What needs a walk over all ranks is kept per operation, so that nothing is quadratic in the number
 * of ranks. Owned by the caller; adds texts to the timeline and borrows its keys. One thread at a time. */
#ifndef RS_EXPORT_SLICE_ARGS_H
#define RS_EXPORT_SLICE_ARGS_H

#include "base/map.h"
#include "fields/field.h"
#include "join/overlay_facts.h"
#include "timeline/timeline.h"

enum rs_slice_type {
    RS_SLICE_NULL,
    RS_SLICE_INT,
    RS_SLICE_UINT,
    RS_SLICE_BOOL,
    RS_SLICE_HEX, /* a number that is written "0x" and 16 digits */
    RS_SLICE_DIGITS, /* a number that may exceed what doubles hold: text where a reader has no others */
    RS_SLICE_TEXT, /* id of a text of the timeline */
};

struct rs_slice_arg {
    uint8_t key; /* of rs_slice_args.keys */
    uint8_t type;
    uint64_t value; /* an int64_t for RS_SLICE_INT */
};

enum { RS_SLICE_MOST = 48, RS_SLICE_KEYS = 250, RS_SLICE_FURTHER = 8 };

/* A field of an operation (fields/operation.h) without special treatment. */
struct rs_slice_field {
    const struct rs_out_field *field;
    uint8_t key;
};

/* An argument of a kind of bars. */
struct rs_slice_kind_arg {
    uint8_t key, type, said; /* enum rs_slice_type, rs_said */
};

struct rs_slice_args {
    struct rs_timeline *t;
    const char *keys[RS_SLICE_KEYS];
    unsigned nkeys;
    struct rs_slice_field more[RS_SLICE_FURTHER];
    unsigned nmore;
    struct rs_slice_kind_arg kind_args[RS_BAR_KINDS][RS_BAR_ARGS];
    uint8_t kind_nargs[RS_BAR_KINDS], mark_key[RS_BAR_KINDS][RS_BAR_MARKS];
    uint32_t *comm_text, *group_text, *desc_text; /* by communicator: its number, its process group's name; 0: none */
    struct rs_facts *comm_facts; /* by communicator */
    bool *group_on_track; /* by communicator: its track's name says the process group */
    struct rs_slice_op *ops; /* by op of the model */
    int64_t said[RS_SAID]; /* the number in the name of the current track, or -1; the pid of the row; 0 */
    uint32_t *part_of_bar; /* of the current piece; RS_NONE: not an operation's */
    struct rs_slice_arg args[RS_SLICE_MOST]; /* of the current bar */
    unsigned n;
};

enum rs_status rs_slice_args_init(struct rs_slice_args *s, struct rs_timeline *t, struct rs_err *err);
/* Before the bars of a piece of a process, and after them. */
void rs_slice_args_piece(struct rs_slice_args *s, uint32_t proc, const struct rs_bars *bars);
void rs_slice_args_done(struct rs_slice_args *s);
/* Before the bars of a track, if `brief` is used. */
void rs_slice_args_track(struct rs_slice_args *s, const struct rs_bar_lane *lane);
/* Sets the arguments of bar i. `brief`: without what its row, its track or an arrow shows: rank, pid, channel, thread,
 * stream, process group, and the operation's id of an event; "captured into a graph" only if it was. */
void rs_slice_args_of(struct rs_slice_args *s, const struct rs_bars *bars, uint32_t i, bool brief);
void rs_slice_args_free(struct rs_slice_args *s);

/* The category of a bar: the id of its row, or of a loss. */
static inline const char *rs_slice_category(const struct rs_timeline *t, const struct rs_bars *b, uint32_t i)
{
    uint8_t kind = b->kind[i];
    bool event = kind != RS_BAR_LOSS && kind != RS_BAR_BLANK;
    return event ? rs_row_kinds[t->kinds.rows[kind].row].id : t->kinds.rows[kind].id;
}

#endif
