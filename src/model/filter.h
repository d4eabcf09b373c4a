/* The filters --rank --comm --func --from --to, shared by all reading commands.
 *
 * Everything passes a zeroed filter. Plain data; the lists are the caller's. */
#ifndef RS_MODEL_FILTER_H
#define RS_MODEL_FILTER_H

#include "base/strbuf.h"
#include "model/model.h"

struct rs_range {
    int32_t from, to; /* both included */
};

struct rs_filter {
    const struct rs_range *ranks; /* global ranks; if unknown, ranks in the communicator */
    size_t nranks;
    const char *const *comms; /* hash as hex, its first digits, or a name ("desc" of PyTorch's "desc:name", too) */
    size_t ncomms;
    const char *const *funcs; /* case-insensitive */
    size_t nfuncs;
    bool has_from, has_to;
    int64_t from, to; /* common axis; absolute after rs_filter_resolve() */
    bool from_relative, to_relative; /* ns since the first event (rs_model_begin()), as given */
};

/* Whether everything passes. */
static inline bool rs_filter_is_empty(const struct rs_filter *f)
{
    return !f->nranks && !f->ncomms && !f->nfuncs && !f->has_from && !f->has_to;
}

/* Makes relative times absolute. Called once, when the model is aligned. */
void rs_filter_resolve(struct rs_filter *f, struct rs_model *m);
bool rs_filter_comm(const struct rs_filter *f, const struct rs_model *m, uint32_t comm);
bool rs_filter_rank(const struct rs_filter *f, const struct rs_model *m, uint32_t member);
/* The same for a row of model.ranks. */
bool rs_filter_rank_row(const struct rs_filter *f, const struct rs_model *m, uint32_t rank_id);
bool rs_filter_func(const struct rs_filter *f, const char *func);
bool rs_filter_time(const struct rs_filter *f, int64_t ns); /* RS_TIME_NONE passes only without --from and --to */
/* An operation passes if its communicator and function do, and a part of a selected rank, and its start (or enqueueing)
 * is in the time range. */
bool rs_filter_op(const struct rs_filter *f, const struct rs_model *m, uint32_t op);
/* Appends the options, "--rank 0-3 --func AllReduce", times absolute; nothing if the filter is empty. */
void rs_filter_describe(const struct rs_filter *f, struct rs_strbuf *to);

#endif
