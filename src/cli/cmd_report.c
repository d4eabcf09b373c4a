/* ringscope report: time by function and size, who was late and why, the network, odd steps, and what to do about
 * it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/reading.h"
#include "cli/report_json.h"
#include "cli/report_reference.h"
#include "cli/report_table.h"
#include "cli/report_text.h"

struct options {
    struct rs_common common;
    const char *every;
    int by, table, warmup; /* table -1: the report */
    struct rs_report_options report;
    struct rs_reference_files reference;
};

static enum rs_status show(const struct rs_command *self, struct rs_model *m, struct rs_inputs *in, void *options,
                           int *exit_status, struct rs_err *err)
{
    (void)self, (void)exit_status;
    struct options *o = options;
    struct rs_report r;
    struct rs_differences settings;
    o->report.filter = &o->common.filters.filter;
    o->report.network = o->common.filters.level != RS_LEVEL_OPS && o->table < 0;
    if (o->reference.n) o->report.reference = &o->reference.reference;
    RS_TRY(rs_differences_find(&settings, in, err));
    enum rs_status status = rs_report_init(&r, m, &o->report, err);
    if (status == RS_OK) {
        const struct rs_reference_files *reference = o->reference.n ? &o->reference : NULL;
        if (o->common.json) {
            struct rs_json *j = rs_output_json();
            rs_report_json(j, &r, &settings, reference);
            status = rs_json_finish(j, err);
        } else if (o->table >= 0) {
            status = rs_report_table(&r, o->report.by_comm, err);
        } else {
            rs_report_print(&r, &settings, reference, o->report.by_comm);
        }
        rs_report_free(&r);
    }
    rs_differences_free(&settings);
    return status;
}

/* "60s", "STEP", "10steps". False when it is none of these. */
static bool take_every(struct rs_report_options *o, const char *text)
{
    char *end;
    if (!strcasecmp(text, "step") || !strcasecmp(text, "steps")) {
        o->every_steps = 1;
        return true;
    }
    if (*text < '0' || *text > '9') return false;
    unsigned long n = strtoul(text, &end, 10);
    if (n > 0 && n <= UINT32_MAX / 2 && (!strcasecmp(end, "steps") || !strcasecmp(end, "step"))) {
        o->every_steps = (uint32_t)n;
        return true;
    }
    return rs_filters_span(text, &o->every_ns) && o->every_ns > 0;
}

static int run(const struct rs_command *self, int argc, char **argv)
{
    struct options o = {.table = -1};
    const struct rs_opt opts[] = {
        {RS_OPT_WORD, 0, "by", &o.by, "class|comm", "functions by class of communicators, or by communicator (class)"},
        {RS_OPT_STRING, 0, "every", &o.every, "TIME|STEP",
         "the course over time: windows of 60s, 500ms, STEP, 10steps"},
        {RS_OPT_WORD, 0, "table", &o.table, "nccl-tests", "what was reached, laid out as nccl-tests print it"},
        {RS_OPT_EACH, 0, "reference", RS_EACH(rs_reference_file, &o.reference), "FILE",
         "output of nccl-tests: what was reached of what is possible; may be repeated"},
        {RS_OPT_COUNT, 0, "warmup", &o.warmup, "N", "leave out the first N steps (0)"},
        {.kind = RS_OPT_END},
    };
    int n, done = rs_common_parse(self, &o.common, opts, argc, argv, &n);
    if (done >= 0) return done;
    o.report.by_comm = o.by == 1;
    if (o.every && !take_every(&o.report, o.every))
        return rs_opt_usage(self, "--every takes a time (60s, 500ms), STEP or a number of steps (10steps), not '%s'",
                            o.every);
    o.report.warmup = (uint32_t)o.warmup;
    if (o.table >= 0 && (o.common.json || o.every || o.reference.n || o.common.filters.has_level))
        return rs_opt_usage(self, "--table prints nothing else: not with --json (which has it as by_func), --every, "
                                  "--level or --reference");
    struct rs_err err;
    int status = rs_reference_read(&o.reference, &err) == RS_OK
                     ? rs_reading_model_and_inputs(self, argv + 1, n, &o.common, show, &o)
                     : rs_print_err(self->name, &err);
    rs_reference_files_free(&o.reference);
    return status;
}

const struct rs_command rs_cmd_report = {
    .name = "report",
    .summary = "who waited for whom, what that cost and why; time, bandwidth, network, odd steps",
    .usage = "[options] IN...",
    .text =
        "Joins the operations of all ranks on one clock, and says how long they took by function and size, who was\n"
        "late and what that cost, what the network waited for, which steps were unusual, and what to look at.",
    .examples = "ringscope report rec                        # tables, and a conclusion\n"
                "ringscope report rec --warmup 3 --every STEP  # the course, without the first steps\n"
                "ringscope report rec --reference all_reduce_perf.txt  # reached of what is possible\n"
                "ringscope report rec --json | jq '.stragglers[0]'",
    .json = "one JSON object",
    .takes = "filter level reading",
    .run = run,
};
