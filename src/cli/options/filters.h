/* The filters --rank --comm --func --from --to, and --level: what their options (cli/options/common.h) take.
 *
 * When the model is there, rs_filter_resolve(&filters.filter, model) makes relative times absolute. */
#ifndef RS_CLI_FILTERS_H
#define RS_CLI_FILTERS_H

#include "model/filter.h"

enum rs_level { RS_LEVEL_OPS, RS_LEVEL_NET, RS_LEVEL_ALL };

enum { RS_FILTERS_MAX = 64 };

struct rs_filters {
    struct rs_filter filter;
    enum rs_level level; /* the default of rs_filters_make(): net */
    bool has_level; /* it was asked for */
    struct rs_range ranks[RS_FILTERS_MAX];
    const char *comms[RS_FILTERS_MAX], *funcs[RS_FILTERS_MAX];
};

void rs_filters_make(struct rs_filters *f);

/* One for each option, as struct rs_opt_each has it; `filters` is a struct rs_filters. */
const char *rs_filters_take_rank(void *filters, const char *text);
const char *rs_filters_take_comm(void *filters, const char *text);
const char *rs_filters_take_func(void *filters, const char *text);
const char *rs_filters_take_from(void *filters, const char *text);
const char *rs_filters_take_to(void *filters, const char *text);
const char *rs_filters_take_level(void *filters, const char *text);

/* What they take, for messages. */
#define RS_FILTERS_TIMES                                                                                               \
    "a time after the run's first event (1.5s, 300ms, 2min), a UTC time (2026-11-15 01:07:04.5) or ns of wall time"

/* A span of time: "1.5s", "300 ms", "20us", "2min", "1 h 05 min", "5000ns". False when `text` is none. */
bool rs_filters_span(const char *text, int64_t *ns);
/* A moment: a span counts from the run's first event, a bare number is ns of wall time, a date is UTC. False when it is
 * none of these, or a number so small that its unit is missing. */
bool rs_filters_time(const char *text, int64_t *ns, bool *relative);

#endif
