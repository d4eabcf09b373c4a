/* Where things of the model are on the timeline: what all that collect bars look up. Made once by
 * rs_timeline_init(), which owns it. Processes that a tool that does not lead saw are known by the one that leads.
 * One thread at a time. */
#ifndef RS_TIMELINE_INDEX_H
#define RS_TIMELINE_INDEX_H

#include "timeline/timeline.h"

/* Rows of a table by leading process: those of process p are the from[p]-th to (not including) the from[p + 1]-th. */
struct rs_by_proc {
    uint32_t *rows; /* NULL: they are in that order in their table, as in a run of recordings */
    uint32_t *from;
};

static inline uint32_t rs_by_proc_row(const struct rs_by_proc *b, uint32_t i)
{
    return b->rows ? b->rows[i] : i;
}

struct rs_timeline_index {
    uint32_t *lead; /* by process: the one that leads */
    bool *joined; /* by leading process: it leads others */
    uint32_t *proc_group; /* by leading process; RS_NONE: left out */
    uint32_t *only_rank; /* by leading process: the group of its rank, where it has one only; RS_NONE */
    struct rs_map devices; /* leading process << 32 | device -> group of the rank */
    struct rs_by_proc parts, activities;
    uint32_t *string_text, *name_text; /* texts of the model's strings and names; RS_NONE: not asked for yet */
    uint32_t *member_text; /* "comm 3f2a91bc tp:0" */
    uint8_t *func_kind; /* by string of the model: rs_kind_of_func() */
    uint8_t *awaits; /* by operation of the model: a rank that is recorded did not come to it */
    uint8_t *by_kernel; /* by operation of the model: of one of its parts the kernel's start is told */
    uint64_t out_of_range, too_deep; /* bars that were left out: their times cannot be; too many at once */
    uint64_t apart; /* relations that were left out: the two are in different pieces of a process */
    bool noted; /* that was said */
};

/* The lists and caches; groups.c fills the rest. */
void rs_index_init(struct rs_timeline *t);
void rs_index_free(struct rs_timeline_index *x);

/* Texts of the timeline. */
void rs_index_string(struct rs_timeline *t, uint16_t string, uint32_t *text);
void rs_index_name(struct rs_timeline *t, uint32_t name, uint32_t *text);
void rs_timeline_text(struct rs_timeline *t, uint32_t *text, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
