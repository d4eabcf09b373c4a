/* The format: what nccl-tests print, and write with -J: a table, not a trace;
 * its names, and what a file contains and does not. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "foreign/contents.h"
#include "foreign/formats.h"
#include "foreign/nccl_tests/nccl_tests.h"

static const struct rs_term terms[] = {
    {"size", "column",
     "Bytes of the operation: the buffer of one rank; of all-gather, reduce-scatter and the like times ranks."},
    {"count", "column", "Elements that a call is given."},
    {"type", "column", "Type of an element: float, half, bfloat16, ..."},
    {"redop", "column", "How data is reduced: sum, ...; none where it is not."},
    {"root", "column", "Rank that sends to or gathers from all; -1: the function has none."},
    {"time", "column", "Mean time of a call, us: many are made back to back, so no call waits for late ranks."},
    {"cputime", "column", "Mean time that the host spent in a call, us (-C)."},
    {"algbw", "column", "Size over time, GB/s."},
    {"busbw", "column", "algbw times a factor of the function: what the hardware's links had to carry, GB/s."},
    {"#wrong", "column", "Elements with a wrong result; N/A: not checked (-c 0)."},
    {"error", "column", "In older versions: the largest error of a result."},
    {"timestamp", "column", "When the row was printed (-S)."},
    {"out-of-place", "word", "The columns of calls whose send and receive buffers are two."},
    {"in-place", "word", "The columns of calls whose send and receive buffers are one."},
    {"Avg bus bandwidth", "word", "Mean of busbw over all sizes: it says little where sizes are many."},
    {"version", "field", "Of the JSON file's form."},
    {"start_time", "field", "When the test began, local time."},
    {"end_time", "field", "When it ended."},
    {"args", "field", "The command: its first element names the test."},
    {"env", "field", "The environment; not used."},
    {"nccl_version", "field", "Of the library, as a number: 22803 is 2.28.3."},
    {"config", "field", "How the test was run."},
    {"nthreads", "field", "Threads of a process."},
    {"ngpus", "field", "GPUs of a thread."},
    {"minimum_bytes", "field", "The first size."},
    {"maximum_bytes", "field", "The last size."},
    {"step_factor", "field", "From one size to the next, times this."},
    {"step_bytes", "field", "From one size to the next, this many more."},
    {"warmup_iters", "field", "Calls before those that are timed."},
    {"iterations", "field", "Calls that are timed."},
    {"aggregated_iterations", "field", "Calls in one group call."},
    {"validation", "field", "Whether results are checked."},
    {"graph", "field", "Launches of a CUDA graph of the calls; 0: none."},
    {"blocking_collectives", "field", "Whether it waits after each call."},
    {"parallel_init", "field", "Whether threads make their communicators at once."},
    {"devices", "field", "One element per process (of its first GPU)."},
    {"rank", "field", "Rank of the process's first GPU."},
    {"group", "field", "Which communicator, where ranks are split into several."},
    {"pid", "field", "Process."},
    {"hostname", "field", "Its host."},
    {"device", "field", "CUDA device."},
    {"device_hex", "field", "Where the GPU sits on the PCI bus."},
    {"device_info", "field", "Name of the GPU."},
    {"results", "field", "One element per size."},
    {"out_of_place", "field", "Times and bandwidths with two buffers; null: not run so."},
    {"in_place", "field", "Times and bandwidths with one buffer; null: not run so."},
    {"cpu_time", "field", "Mean time of a call on the host, us."},
    {"alg_bw", "field", "algbw of the table."},
    {"bus_bw", "field", "busbw of the table."},
    {"nwrong", "field", "Elements with a wrong result; null: not checked."},
    {"actual_iterations", "field", "Calls that were timed."},
    {"experiment_name", "field", "Empty."},
    {"errors", "field", "Messages of what went wrong."},
    {"out_of_bounds", "field", "How many results were wrong."},
    {"okay", "field", "Whether that passes."},
    {"average_bus_bandwidth", "field", "Mean of busbw over all sizes."},
    {"bandwidth", "field", "That mean, GB/s."},
};

/* ---- which functions it has, on how many ranks, of which sizes ---- */

enum { MOST = 12 }; /* sentences on what was measured */

/* Rows of one function, type and number of ranks. */
struct measured {
    const char *func, *dtype;
    int32_t nranks;
    uint64_t rows, least, most;
    double best;
};

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static void take(struct measured *all, unsigned *n, uint64_t *beyond, const struct rs_nccl_tests_row *row)
{
    unsigned i = 0;
    while (i < *n && !(same(all[i].func, row->func) && same(all[i].dtype, row->dtype) && all[i].nranks == row->nranks))
        i++;
    if (i == MOST) {
        ++*beyond;
        return;
    }
    if (i == *n)
        all[(*n)++] =
            (struct measured){.func = row->func, .dtype = row->dtype, .nranks = row->nranks, .least = row->bytes};
    struct measured *x = &all[i];
    double gbs = rs_nccl_tests_best(row);
    x->rows++;
    if (row->bytes < x->least) x->least = row->bytes;
    if (row->bytes > x->most) x->most = row->bytes;
    if (gbs > x->best) x->best = gbs;
}

static enum rs_status say(struct rs_contents *f, const struct measured *x, struct rs_err *err)
{
    char ranks[48] = "", span[100];
    if (x->nranks > 0) snprintf(ranks, sizeof ranks, " on %" PRId32 " rank%s", x->nranks, x->nranks == 1 ? "" : "s");
    snprintf(span, sizeof span, "%s%s%s", rs_text_bytes(x->least).s, x->least == x->most ? "" : " to ",
             x->least == x->most ? "" : rs_text_bytes(x->most).s);
    RS_CONTAINS(f, "Time and bandwidth of %s%s%s%s, %s: %s row%s, up to %s GB/s busbw.",
                x->func ? x->func : "a test that it does not name, or that counts in its own way", ranks,
                x->dtype ? ", " : "", x->dtype ? x->dtype : "", span, rs_text_count(x->rows).s, x->rows == 1 ? "" : "s",
                rs_text_rate(x->best).s);
    return RS_OK;
}

static enum rs_status read_table(struct rs_contents *f, struct measured *all, struct rs_err *err)
{
    struct rs_nccl_tests t;
    struct rs_err unread; /* what cannot be read is reported elsewhere */
    unsigned n = 0;
    uint64_t beyond = 0;
    enum rs_status status = RS_OK;
    if (rs_nccl_tests_read(&t, f->path, &unread) == RS_OK)
        for (uint32_t i = 0; i < t.n; i++) take(all, &n, &beyond, &t.rows[i]);
    for (unsigned i = 0; i < n && status == RS_OK; i++) status = say(f, &all[i], err);
    rs_nccl_tests_free(&t);
    RS_TRY(status);
    if (beyond) RS_CONTAINS(f, "And %s more rows.", rs_text_count(beyond).s);
    return RS_OK;
}

static enum rs_status contents(struct rs_contents *const *files, uint32_t n, struct rs_err *err)
{
    struct measured all[MOST];
    for (uint32_t i = 0; i < n; i++) RS_TRY(read_table(files[i], all, err));
    return RS_OK;
}

static enum rs_status missing(struct rs_contents *f, struct rs_err *err)
{
    RS_MISSING(f, "A run: it is a measurement to compare runs with (`ringscope report --reference FILE`), with one "
                  "mean per size. Start and duration of single calls, and who waited for whom, are not in it.");
    return RS_OK;
}

const struct rs_format rs_nccl_tests_format = {
    .what = "table of nccl-tests",
    .tool = RS_TOOL_NCCL_TESTS,
    .holds = "Time and bandwidth that a machine reaches, by function, type and size: the text of all_reduce_perf and "
             "its like, or their JSON (-J). For `report --reference`. Not: a run, single calls, who waited.",
    .terms = terms,
    .nterms = sizeof terms / sizeof *terms,
    .is = rs_nccl_tests_is,
    .fill = rs_nccl_tests_fill,
    .contents = contents,
    .missing = missing,
};
