/* ringscope clocks: how every clock of the job was brought onto one axis, how well, and how late GPU timers were
 * read. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/print/output.h"
#include "cli/print/screen.h"
#include "cli/print/table.h"
#include "cli/reading.h"

enum { MOST_ROWS = 40 }; /* in the text; --json has them all */

/* ---- text ---- */

static void cell_time(struct rs_table *t, int64_t ns)
{
    rs_table_cell(t, "%s", ns == RS_TIME_NONE ? "?" : rs_text_ns(ns).s);
}

static void cell_drift(struct rs_table *t, const struct rs_model *m, uint32_t domain)
{
    if (domain == RS_NONE || m->domains[domain].method == RS_CLOCK_NONE)
        rs_table_cell(t, "?");
    else
        rs_table_cell(t, "%.1f", fabs(m->domains[domain].drift_ppm) < 0.05 ? 0 : m->domains[domain].drift_ppm);
}

static void cell_ranks(struct rs_table *t, const struct rs_clock_row *row)
{
    char text[64] = "?";
    size_t at = 0;
    uint32_t i = 0;
    for (; i < row->nranks && at < sizeof text - 16; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%d", i ? " " : "", row->ranks[i]);
    rs_table_cell(t, "%s%s", text, i < row->nranks ? " ..." : "");
}

static void print_table(struct rs_model *m, const struct rs_clock_rows *r, struct rs_table *t)
{
    static const enum rs_heading numbers[] = {RS_H_PID,       RS_H_GPU,       RS_H_RANKS,      RS_H_OFFSET,
                                              RS_H_PPM,       RS_H_ERROR,     RS_H_GPU_OFFSET, RS_H_PPM,
                                              RS_H_GPU_ERROR, RS_H_READ_LATE, RS_H_P99_LATE,   RS_H_STALE};
    rs_table_column(t, RS_LEFT, RS_H_HOST);
    rs_table_numbers(t, numbers, sizeof numbers / sizeof *numbers);
    rs_table_column(t, RS_LEFT, RS_H_METHOD);
    for (uint32_t i = 0; i < r->n && i < MOST_ROWS; i++) {
        const struct rs_clock_row *row = &r->all[i];
        const struct rs_proc *p = &m->procs[row->proc];
        struct rs_late late;
        rs_clocks_late_of(m, row, &late);
        rs_table_cell(t, "%s", rs_host_label(m, p->host));
        if (p->pid)
            rs_table_cell(t, "%" PRIu32, p->pid);
        else
            rs_table_cell(t, "?");
        rs_table_cell(t, row->device < 0 ? "?" : "%d", row->device);
        cell_ranks(t, row);
        cell_time(t, rs_clock_offset(m, r, rs_clock_of_host(m, row)));
        cell_drift(t, m, rs_clock_of_host(m, row));
        cell_time(t, rs_clock_host_error(m, r, row));
        cell_time(t, rs_clock_offset(m, r, row->gpu));
        cell_drift(t, m, row->gpu);
        cell_time(t, rs_clock_error(m, r, row->gpu));
        cell_time(t, late.p50_ns);
        cell_time(t, late.p99_ns);
        rs_table_cell(t, "%s", rs_text_count(rs_clock_own(m, row)->stale).s);
        rs_table_cell(t, "%s", rs_clock_method_name(rs_clock_own(m, row)->method));
    }
    rs_table_print(t, "", stdout);
    if (r->n > MOST_ROWS) rs_screen_print("and %" PRIu32 " more (--json has all)\n", r->n - MOST_ROWS);
}

static bool has_times(const struct rs_model *m)
{
    for (uint32_t i = 0; i < m->parts.n; i++)
        if (m->parts.start[i] != RS_TIME_NONE || m->parts.end[i] != RS_TIME_NONE) return true;
    return false;
}

/* What can be relied on, in plain words. */
static void print_conclusion(const struct rs_model *m, const struct rs_clock_rows *r, int64_t error)
{
    int64_t worst[2] = {RS_TIME_NONE, RS_TIME_NONE}; /* by kind of clock */
    uint32_t apart = 0, hosts = 0, clocks[2] = {0}; /* likewise */
    uint64_t stale = 0, overruns = 0, timers = 0;
    for (uint32_t i = 0; i < m->ndomains; i++) {
        const struct rs_domain *d = &m->domains[i];
        stale += d->stale;
        overruns += d->overruns;
        timers += d->timers;
        if (d->method == RS_CLOCK_NONE) continue;
        clocks[d->kind]++;
        if (r->islands[i]) {
            apart++;
            hosts += d->kind == RS_DOMAIN_HOST;
        } else if (d->error_ns > worst[d->kind]) {
            worst[d->kind] = d->error_ns;
        }
    }
    if (r->n) rs_screen_print("\n");
    if (!has_times(m)) {
        rs_screen_print("No operation here has a start or an end: clocks cannot be compared.\n");
        return;
    } else if (!m->aligned) {
        rs_screen_print("Times are as recorded: clocks are not compared.\n");
    } else {
        static const char *const kinds[] = {[RS_DOMAIN_HOST] = "hosts' clocks", [RS_DOMAIN_GPU] = "GPUs' timers"};
        const char *between = "Clocks agree:";
        for (int kind = RS_DOMAIN_GPU; kind >= RS_DOMAIN_HOST; kind--) {
            /* One host agrees with itself, even if all others do not. */
            bool alone = kind == RS_DOMAIN_HOST && clocks[kind] == 1 + hosts;
            if (worst[kind] == RS_TIME_NONE || alone) continue;
            rs_screen_print("%s %s to within %s", between, kinds[kind], rs_text_ns(worst[kind]).s);
            between = ",";
        }
        if (*between == ',') rs_screen_print(".\n");
        if (error > 0)
            rs_screen_print(
                "Clock error of comparing starts: up to %s. A lead below twice the error of its operation is a tie.\n",
                rs_text_ns(error).s);
        else if (*between != ',' && !apart)
            rs_screen_print("Everything is on one clock.\n");
    }
    if (m->aligned && apart)
        rs_screen_print("%" PRIu32 " clock%s (%" PRIu32 " of hosts, %" PRIu32
                        " of GPUs) share%s no operation with the others: %s as %s, and %s not compared with them.\n",
                        apart, apart == 1 ? "" : "s", hosts, apart - hosts, apart == 1 ? "s" : "",
                        apart == 1 ? "it stays" : "they stay", apart == 1 ? "it was" : "they were",
                        apart == 1 ? "is" : "are");
    if (stale)
        rs_screen_print("%s of %s GPU timers belong to another operation and are not used.\n", rs_text_count(stale).s,
                        rs_text_count(timers).s);
    if (overruns)
        rs_screen_print("%s GPU timers were read after the GPU had overwritten them: the proxy thread was too slow.\n",
                        rs_text_count(overruns).s);
}

static void print_text(struct rs_model *m, const struct rs_clock_rows *r, int64_t error)
{
    struct rs_table t = {0};
    if (r->n) print_table(m, r, &t);
    rs_table_free(&t);
    print_conclusion(m, r, error);
}

static enum rs_status show(const struct rs_command *self, struct rs_model *m, struct rs_inputs *in, void *options,
                           int *status, struct rs_err *err)
{
    (void)self, (void)in, (void)status;
    const struct rs_common *o = options;
    struct rs_clock_rows rows;
    enum rs_status done = RS_OK;
    rs_clock_rows_init(&rows, m, &o->filters.filter);
    if (o->json) {
        struct rs_json *j = rs_output_json();
        rs_clocks_json(j, m, &rows);
        done = rs_json_finish(j, err);
    } else {
        print_text(m, &rows, rows.compare_error_ns);
    }
    rs_clock_rows_free(&rows);
    return done;
}

static int run(const struct rs_command *self, int argc, char **argv)
{
    return rs_reading_command(self, argc, argv, show);
}

const struct rs_command rs_cmd_clocks = {
    .name = "clocks",
    .summary = "how all clocks were aligned to one axis, with their errors",
    .usage = "[options] IN...",
    .text = "For every process and device: the offset of the host's clock and of the GPU's timer, their drift, their "
            "error and\n"
            "the method, and how late NCCL read the GPU's timers.",
    .examples = "ringscope clocks ringscope-run\n"
                "ringscope clocks --json rec | jq '{host, pid, gpu_error_ns}'",
    .json = "JSON Lines: one per process and device",
    .takes = "filter reading",
    .run = run,
};
