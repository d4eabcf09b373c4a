/* The filters that all reading commands share, as options: --rank --comm --func --from --to --level.
 *
 *     struct rs_filters filters;
 *     rs_filters_make(&filters);
 *     const struct rs_opt opts[] = {..., RS_FILTER_OPTS(filters), {RS_OPT_END, ...}};
 *
 * When the model is there, rs_filter_resolve(&filters.filter, model) makes relative times absolute. */
#ifndef RS_CLI_FILTERS_H
#define RS_CLI_FILTERS_H

#include "cli/opt.h"
#include "model/filter.h"

enum rs_level { RS_LEVEL_OPS, RS_LEVEL_NET, RS_LEVEL_ALL };

enum { RS_FILTERS_MAX = 64 };

struct rs_filters {
    struct rs_filter filter;
    enum rs_level level; /* the default of rs_filters_make(): net */
    bool has_level; /* it was asked for */
    struct rs_range ranks[RS_FILTERS_MAX];
    const char *comms[RS_FILTERS_MAX], *funcs[RS_FILTERS_MAX];
    struct rs_opt_each rank, comm, func, from, to, deep;
};

void rs_filters_make(struct rs_filters *f);

#define RS_FILTER_OPTS(f)                                                                                              \
    RS_FILTER_OPTS_BUT_TO(f),                                                                                          \
    {                                                                                                                  \
        RS_OPT_EACH, 0, "to", &(f).to, "TIME", "up to here, likewise"                                                  \
    }

/* For a command whose --to means something else as well. */
#define RS_FILTER_OPTS_BUT_TO(f)                                                                                       \
    {RS_OPT_EACH, 0, "rank", &(f).rank, "LIST", "only these ranks of the job: 3, 0-7, 1,5,9"},                         \
        {RS_OPT_EACH, 0, "comm", &(f).comm, "HASH|NAME", "only this communicator; may be repeated"},                   \
        {RS_OPT_EACH, 0, "func", &(f).func, "NAME", "only this function (AllReduce, SendRecv, ...); may be repeated"}, \
        {RS_OPT_EACH, 0,      "from",                                                                                  \
         &(f).from,   "TIME", "from here on: 1.5s (after the run's first event), a UTC time, or ns"},                  \
    {                                                                                                                  \
        RS_OPT_EACH, 0, "level", &(f).deep, "ops|net|all", "how deep to look: operations, also the network, all"       \
    }

/* What they take, for messages. */
#define RS_FILTERS_TIMES                                                                                               \
    "a time after the run's first event (1.5s, 300ms, 2min), a UTC time (2026-11-15 01:07:04.5) or ns of wall time"

/* A span of time: "1.5s", "300 ms", "20us", "2min", "1 h 05 min", "5000ns". False when `text` is none. */
bool rs_filters_span(const char *text, int64_t *ns);
/* A moment: a span counts from the run's first event, a bare number is ns of wall time, a date is UTC. False when it is
 * none of these, or a number so small that it lacks its unit. */
bool rs_filters_time(const char *text, int64_t *ns, bool *relative);

#endif
