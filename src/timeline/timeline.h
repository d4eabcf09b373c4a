/* What is drawn of a run: rows in groups, flags, and the bars of each process.
 *
 * The one source of the page, pictures, text and exports. Bars are made process by process, so that memory does not
 * grow with the run, or in pieces of processes, so that it does not grow with a process either.
 *
 * Rows are host > process > rank > communicator. Lanes of a process itself (proxy thread, host threads) belong to its
 * group, streams of a GPU to the rank's, as do calls and launches of a thread that works for one rank only; everything
 * else to the communicator's.
 *
 * Owns everything except model and inputs, which must stay valid. One thread at a time. */
#ifndef RS_TIMELINE_TIMELINE_H
#define RS_TIMELINE_TIMELINE_H

#include "base/texts.h"
#include "join/totals.h"
#include "model/filter.h"
#include "timeline/bars.h"
#include "timeline/kinds.h"
#include "trace/inputs.h"

enum rs_group_level { RS_GROUP_HOST, RS_GROUP_PROCESS, RS_GROUP_RANK, RS_GROUP_COMM };

struct rs_group {
    uint32_t parent; /* RS_NONE: a root */
    uint8_t level; /* enum rs_group_level */
    uint32_t label; /* text */
    int64_t error_ns; /* of its clock; RS_TIME_NONE: cannot be compared with the others */
    uint32_t host, proc; /* of the model; proc RS_NONE: a host's group */
    uint32_t member; /* of a communicator's group; of a rank's: its first one; RS_NONE: none */
};

/* A communicator is created or destroyed. */
struct rs_timeline_flag {
    int64_t at; /* ns from the begin */
    uint32_t group, label;
    bool destroyed; /* else created */
};

struct rs_timeline_options {
    const struct rs_filter *filter; /* resolved; NULL: everything */
    uint64_t rows; /* bit 1 << enum rs_row: the selected rows */
    uint32_t piece; /* minimum number of events of a piece; 0: default */
    bool to_bound; /* for tools that draw no fade: bars reach to the upper bound of an unknown end */
    bool begins; /* operations that begin in the span of time, as in all other commands; else all that intersect it */
    struct rs_timeline *beside; /* lends its texts and kinds: for two runs in one bundle. NULL: none */
};

struct rs_timeline {
    struct rs_model *model;
    struct rs_inputs *inputs;
    struct rs_timeline_options options;
    int64_t begin; /* ns on the common axis: t = 0 of everything here */
    int64_t span; /* every bar is in 0 .. span */
    struct rs_totals totals; /* of the operations that begin in the selection */
    int64_t focus_from, focus_to; /* the operations, without start-up; everything if there are none */
    struct rs_kinds kinds;
    struct rs_texts texts; /* labels and names; 0 is "" */
    struct rs_group *groups; /* a parent before its children, in drawing order */
    uint32_t ngroups;
    uint32_t *procs; /* of the model, in drawing order */
    uint32_t nprocs;
    uint32_t *ops; /* of the model: those that pass the filter and are not merged into another, by their first start;
                    * those without one last, by begin */
    uint32_t nops;
    uint32_t *op_number; /* by op of the model: position in ops; RS_NONE: filtered out */
    uint32_t *bar_of_part; /* by part of the model: set with the bars of its process or piece; RS_NONE: not drawn */
    struct rs_timeline_flag *flags; /* by time */
    uint32_t nflags;
    uint32_t *group_of_member; /* by member of the model: its communicator's group; RS_NONE: filtered out */
    struct rs_timeline_index *index; /* lookups while it is filled (timeline/index.h) */
};

void rs_timeline_init(struct rs_timeline *t, struct rs_model *m, struct rs_inputs *in,
                      const struct rs_timeline_options *options);
/* Timelines of one bundle have one table of texts and one of kinds, which is with the one that is being drawn: from
 * `from` to `to`, of which one was made beside the other. */
void rs_timeline_lend(struct rs_timeline *from, struct rs_timeline *to);
/* The bars of the i-th process of t->procs, in pieces, so that memory does not grow with the process. Bars that depend
 * on each other are in one piece; lanes continue from one to the next; the last has `last` set. There is one piece if
 * `whole` is set, and if a process cannot be cut (timeline/pieces.h). Called for each process in order. *bars: the
 * number of bars so far, before and after. */
typedef enum rs_status (*rs_bars_visit)(void *to, const struct rs_bars *bars, struct rs_err *err);
enum rs_status rs_timeline_pieces(struct rs_timeline *t, uint32_t i, bool whole, uint32_t *bars, rs_bars_visit visit,
                                  void *to, struct rs_err *err);
/* The same as one piece, which the caller keeps: `bars` is cleared first, and its `first` is `first_bar`, the number of
 * bars so far. */
enum rs_status rs_timeline_process(struct rs_timeline *t, uint32_t i, uint32_t first_bar, struct rs_bars *bars,
                                   struct rs_err *err);
void rs_timeline_free(struct rs_timeline *t);

#endif
