/* Kinds of rows and of bars: name, colour, meaning, marks and arguments.
 *
 * Rows are a fixed list. Kinds of bars are one per NCCL function in the model (AllReduce, Send...), and one per type of
 * event or activity. The page, pictures and text all use these. Owned by the timeline. */
#ifndef RS_TIMELINE_KINDS_H
#define RS_TIMELINE_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct rs_model;

enum rs_row {
    RS_ROW_OPERATIONS, /* what each rank did in each operation: from the model */
    RS_ROW_CALLS, /* GroupApi, CollApi, P2pApi; by thread */
    RS_ROW_LAUNCHES, /* KernelLaunch; launches of other tools */
    RS_ROW_CHANNELS, /* KernelCh: one lane per channel, GPU times */
    RS_ROW_PROXY, /* ProxyOp: one lane per channel and direction */
    RS_ROW_STEPS, /* ProxyStep, with its states as marks */
    RS_ROW_NETWORK, /* NetPlugin: queue pairs, sockets */
    RS_ROW_COPY_ENGINE, /* CeColl, CeSync, CeBatch */
    RS_ROW_PROXY_THREAD, /* ProxyCtrl: idle, sleep, wake-up, append; one lane per thread */
    RS_ROW_COMPUTE, /* kernels other than NCCL's; from the model's activities, as all below */
    RS_ROW_COMM, /* kernels of NCCL as recorded by a tool, on their stream */
    RS_ROW_COPIES,
    RS_ROW_ANNOTATIONS, /* ranges, steps */
    RS_ROW_HOST, /* host calls: launches, synchronisation, memory */
    RS_ROWS
};

enum rs_row_depth { RS_DEPTH_OPS, RS_DEPTH_NET, RS_DEPTH_ALL };

struct rs_row_kind {
    const char *id, *label; /* "channels", "GPU channels" */
    bool on; /* shown when the page opens */
    bool summary; /* drawn on the single row of a folded GPU */
    bool many; /* it has many similar lanes: a picture puts them side by side on one row */
    uint8_t depth; /* enum rs_row_depth: from which --level on it is drawn */
};
extern const struct rs_row_kind rs_row_kinds[RS_ROWS];

enum { RS_BAR_MARKS = 3, RS_BAR_ARGS = 6 };

enum rs_bar_unit {
    RS_UNIT_NUMBER,
    RS_UNIT_TIME, /* ns from the begin of the run */
    RS_UNIT_BYTES,
    RS_UNIT_TEXT, /* of the timeline */
    RS_UNIT_HEX,
    RS_UNITS
};
extern const char *const rs_bar_units[RS_UNITS]; /* as the page knows them; NULL: a number */

/* Where a brief slice already has the value: the track's name, the row, or its absence. */
enum rs_said { RS_SAID_NOWHERE, RS_SAID_BY_TRACK, RS_SAID_BY_ROW, RS_SAID_BY_ABSENCE, RS_SAID };

/* An argument of bars: a row of timeline/event_args.inc. */
struct rs_event_arg {
    const char *key, *as; /* in the database's `args`: `as`, if two have the same name there */
    const char *label; /* on the page, in slices and in OTF2 archives */
    enum rs_bar_unit unit;
    uint8_t said; /* enum rs_said */
    bool is_comm; /* the communicator, for events without one */
    bool has_column; /* in the database's events; else it is in their `args` */
};

enum rs_event_arg_id {
    RS_NO_EVENT_ARG,
#define ARG(id, ...) RS_EVENT_ARG_##id,
#define COLUMN_ARG ARG
#include "timeline/event_args.inc"
#undef ARG
#undef COLUMN_ARG
    RS_EVENT_ARGS
};
extern const struct rs_event_arg rs_event_args[RS_EVENT_ARGS]; /* of RS_NO_EVENT_ARG: zero */

struct rs_bar_kind {
    const char *id, *label; /* "AllReduce"; "proxy step, send" */
    uint8_t row; /* enum rs_row */
    const char *colour; /* a word that palettes know: a function's name, "proxy", "compute", "lost"... */
    const char *explain; /* what it is, in a sentence (src/explain); NULL: none */
    const char *marks[RS_BAR_MARKS]; /* states that begin at the marks of a bar; NULL: no more */
    uint8_t args[RS_BAR_ARGS]; /* enum rs_event_arg_id; RS_NO_EVENT_ARG: no more */
};

/* The fixed kinds, in this order; functions follow. */
enum rs_bar_kind_id {
    RS_BAR_OTHER, /* an operation of a function beyond RS_BAR_FUNCS; an event of an unknown type */
    RS_BAR_LOSS,
    RS_BAR_BLANK, /* not recorded */
    RS_BAR_GROUP_API,
    RS_BAR_COLL_API,
    RS_BAR_P2P_API,
    RS_BAR_ENQUEUED, /* a call with only a time */
    RS_BAR_PLAN, /* Group */
    RS_BAR_LAUNCH,
    RS_BAR_HOST_LAUNCH, /* from another tool */
    RS_BAR_CHANNEL,
    RS_BAR_PHASE,
    RS_BAR_PROXY_SEND,
    RS_BAR_PROXY_RECV,
    RS_BAR_STEP_SEND,
    RS_BAR_STEP_RECV,
    RS_BAR_NET_IB,
    RS_BAR_NET_SOCKET,
    RS_BAR_NET,
    RS_BAR_CE_COLL,
    RS_BAR_CE_SYNC,
    RS_BAR_CE_BATCH,
    RS_BAR_PROXY_IDLE,
    RS_BAR_PROXY_ACTIVE,
    RS_BAR_PROXY_SLEEP,
    RS_BAR_PROXY_WAKEUP,
    RS_BAR_PROXY_APPEND,
    RS_BAR_PROXY_CTRL,
    RS_BAR_COMPUTE,
    RS_BAR_COMM,
    RS_BAR_COPY,
    RS_BAR_SET,
    RS_BAR_RANGE,
    RS_BAR_GPU_RANGE,
    RS_BAR_STEP,
    RS_BAR_SYNC,
    RS_BAR_MEMORY,
    RS_BAR_CALL,
    RS_BAR_FIXED_KINDS
};

/* Functions that have their own kind; a kind is a byte, and one value is "none". */
enum { RS_BAR_FUNCS = 100, RS_BAR_KINDS = RS_BAR_FIXED_KINDS + RS_BAR_FUNCS };
_Static_assert(RS_BAR_KINDS < UINT8_MAX, "a kind is a byte");

struct rs_kinds {
    struct rs_bar_kind rows[RS_BAR_KINDS];
    unsigned n;
};

/* Argument i of a kind; its label is NULL if there is none. */
static inline const struct rs_event_arg *rs_bar_arg(const struct rs_bar_kind *kind, unsigned i)
{
    return &rs_event_args[kind->args[i]];
}

/* The functions of a model are added to those of another one that are there already. */
void rs_kinds_make(struct rs_kinds *k, const struct rs_model *m);
/* The kind of an operation's bar by the model's text of its function; those beyond RS_BAR_FUNCS share "other". */
uint8_t rs_kind_of_func(const struct rs_kinds *k, const struct rs_model *m, uint16_t func);
/* The function of a part: its own, else its operation's. */
uint16_t rs_bar_func(const struct rs_model *m, uint32_t part);

#endif
