/* Everything that `ringscope report` reports: functions, stragglers, the network, steps that took far longer than usual, the run over
 * time, and the conclusion.
 *
 * Made from a joined model, which it borrows and which must stay valid. Owns everything else until rs_report_free().
 * One thread at a time. */
#ifndef RS_CONCLUDE_REPORT_H
#define RS_CONCLUDE_REPORT_H

#include "analyse/bandwidth.h"
#include "analyse/course.h"
#include "analyse/network.h"
#include "analyse/one_offs.h"
#include "analyse/reached.h"
#include "analyse/statistics.h"
#include "analyse/steps.h"
#include "analyse/stragglers.h"
#include "conclude/compute.h"
#include "conclude/findings.h"
#include "conclude/layout.h"
#include "join/totals.h"

enum { RS_REPORT_SENTENCES = 5 };

struct rs_report_options {
    const struct rs_filter *filter; /* resolved */
    bool by_comm; /* rows of functions by communicator, not by class */
    bool network;
    uint32_t warmup; /* steps to leave out; RS_NONE: the start-up */
    int64_t every_ns; /* windows over time; 0: none */
    uint32_t every_steps;
    const struct rs_reference *reference; /* sorted; NULL: none */
    double link_gbs; /* nominal rate of a link, GB/s; 0 or below: unknown */
};

/* The data that the report is based on. */
struct rs_report_basis {
    struct rs_totals totals; /* of what passed the filter */
    uint64_t alone; /* not compared: only one rank is present, or takes part */
    uint64_t untimed; /* not compared: starts are unknown, or stale */
    uint64_t not_measured; /* not compared: called between windows of detail, by one of its ranks or all */
    uint64_t unaligned; /* not compared: clocks are not aligned with each other */
    uint32_t ranks, hosts; /* recorded */
    int64_t unseen; /* ranks without a recording; -1: unknown */
    int64_t from_ns, to_ns; /* of the operations; RS_TIME_NONE: no times */
};

struct rs_report {
    struct rs_view view;
    struct rs_report_basis basis;
    struct rs_steps steps;
    struct rs_job_layout layout;
    struct rs_roles roles;
    struct rs_compute compute; /* of equals, where kernels are known */
    struct rs_bandwidth bandwidth;
    struct rs_reached reached; /* relative to the reference */
    double link_gbs; /* nominal rate of a link; NAN: unknown */
    struct rs_stragglers stragglers;
    struct rs_matrix network;
    struct rs_one_offs one_offs;
    struct rs_course course;
    struct rs_statistics statistics; /* of inputs without a time axis */
    struct rs_view all; /* all operations in the window, whatever the other filters */
    struct rs_whatif whatif; /* of these */
    struct rs_findings findings;
    char **conclusion; /* at most RS_REPORT_SENTENCES, the most important first */
    uint32_t nconclusion;
    bool *named; /* by rank id: the conclusion names the rank, or its host, as late */
};

enum rs_status rs_report_init(struct rs_report *r, struct rs_model *m, const struct rs_report_options *options,
                              struct rs_err *err);
void rs_report_free(struct rs_report *r);

/* The ranks that the conclusion of a report names, by rank id, for those who speak of late ranks, too: the caller frees
 * *named. */
enum rs_status rs_report_named(bool **named, struct rs_model *m, const struct rs_report_options *options,
                               struct rs_err *err);

/* Whether a straggler's cost is listed: above 0.1 % of the run and ten times the clock error. */
bool rs_report_matters(const struct rs_report *r, const struct rs_straggler *s);

#endif
