/* Where objects of the model are on the timeline: lookups of the collectors. Made once by rs_timeline_init(), which
 * owns it. Processes of secondary sources are looked up by the primary one. One thread at a time. */
#ifndef RS_TIMELINE_INDEX_H
#define RS_TIMELINE_INDEX_H

#include "timeline/timeline.h"

/* Rows of a table by primary process: those of process p are the from[p]-th to (not including) the from[p + 1]-th. */
struct rs_by_proc {
    uint32_t *rows; /* NULL: their table is in that order, as in a run of recordings */
    uint32_t *from;
};

static inline uint32_t rs_by_proc_row(const struct rs_by_proc *b, uint32_t i)
{
    return b->rows ? b->rows[i] : i;
}

struct rs_timeline_index {
    uint32_t *lead; /* by process: the primary one */
    bool *joined; /* by primary process: others are merged into it */
    uint32_t *proc_group; /* by primary process; RS_NONE: filtered out */
    uint32_t *only_rank; /* by primary process: the group of its only rank; RS_NONE: none or several */
    struct rs_map devices; /* primary process << 32 | device -> group of the rank */
    struct rs_by_proc parts, activities;
    uint32_t *string_text, *name_text; /* texts of the model's strings and names; RS_NONE: not requested yet */
    uint32_t *member_text; /* "comm 3f2a91bc tp:0" */
    uint8_t *func_kind; /* by string of the model: rs_kind_of_func() */
    uint8_t *awaits; /* by operation of the model: a recorded rank did not arrive */
    uint8_t *by_kernel; /* by operation of the model: the kernel's start of one of its parts is known */
    uint64_t out_of_range, too_deep; /* bars that were dropped: impossible times; too many at once */
    uint64_t apart; /* relations that were dropped: the two are in different pieces of a process */
    bool noted; /* already reported */
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
