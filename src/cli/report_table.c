#include "cli/report_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"
#include "cli/plain.h"
#include "foreign/nccl_tests/nccl_tests.h"

/* What can be said of a row, in the order in which it is shown. */
enum telling { OF_TRANSFERS, AS_SEEN, MANY_SIZES, NO_SIZE, NO_TIME };

static enum telling tells(const struct rs_func_row *x)
{
    if (x->unsized) return NO_SIZE;
    if (rs_func_row_transfer(x) <= 0 && rs_func_row_mean(x) <= 0) return NO_TIME; /* none is below 0, too */
    if (x->bytes_min != x->bytes_max) return MANY_SIZES;
    return rs_func_row_transfer(x) > 0 ? OF_TRANSFERS : AS_SEEN;
}

/* ---- blocks: a function on communicators of one shape ---- */

struct sorting {
    const struct rs_model *model;
    const struct rs_func_row *rows;
    bool by_comm;
};

static int by_shape(const struct sorting *s, const struct rs_func_row *x, const struct rs_func_row *y)
{
    int c = strcmp(rs_model_text(s->model, x->func), rs_model_text(s->model, y->func));
    if (!c) c = (x->kind > y->kind) - (x->kind < y->kind);
    if (!c) c = (x->nranks > y->nranks) - (x->nranks < y->nranks);
    if (!c) c = (x->class > y->class) - (x->class < y->class);
    return c || !s->by_comm ? c : (x->comm > y->comm) - (x->comm < y->comm);
}

static int by_size(const void *a, const void *b, void *of)
{
    const struct sorting *s = of;
    const struct rs_func_row *x = &s->rows[*(const uint32_t *)a], *y = &s->rows[*(const uint32_t *)b];
    int c = by_shape(s, x, y);
    if (!c) c = (int)tells(x) - (int)tells(y);
    if (!c) c = (x->bytes > y->bytes) - (x->bytes < y->bytes);
    return c ? c : (x > y) - (x < y);
}

/* ---- lines ---- */

static void print_device(const struct rs_model *m, const struct rs_rank *s)
{
    char line[600], rank[16] = " ?", device[16] = " ?", pid[16] = "     ?";
    const char *bus = s->member != RS_NONE ? m->members[s->member].bus_id : "";
    if (s->number >= 0) snprintf(rank, sizeof rank, "%2" PRId32, s->number);
    if (s->device >= 0) snprintf(device, sizeof device, "%2" PRId32, s->device);
    if (m->procs[s->proc].pid) snprintf(pid, sizeof pid, "%6" PRIu32, m->procs[s->proc].pid);
    snprintf(line, sizeof line, "#  Rank %s Group  0 Pid %s on %10.256s device %s [%.31s]", rank, pid,
             rs_host_label(m, s->host), device, *bus ? bus : "?");
    rs_plain_line(line, stdout);
}

static void print_head(void)
{
    printf(
        "# ringscope report: what a run reached, laid out as nccl-tests print it\n"
        "# time: the mean transfer of the operations, from the last rank's start to the last end: without the wait "
        "for\n"
        "#   late ranks, as calls one behind the other have none. algbw and busbw are over it. Where it is not known,\n"
        "#   rows say so. The mean as ranks saw it, waiting included, is in --json (time_ns.mean, busbw_seen_gbs)\n"
        "# redop, and whether operations were in place, are not recorded; results are not checked\n"
        "#\n");
}

static void print_heading(const struct rs_report *r, const struct rs_func_row *x, bool by_comm)
{
    const struct rs_model *m = r->view.model;
    const char *func = rs_model_text(m, x->func), *program = rs_nccl_tests_program(func);
    char line[400], ranks[32] = "", comm[40] = "";
    bool alike = rs_func_row_alike(m, x);
    if (x->nranks > 0) snprintf(ranks, sizeof ranks, " nranks %" PRId32, x->nranks);
    if (by_comm && x->comm != RS_NONE) snprintf(comm, sizeof comm, "0x%016" PRIx64 ", ", m->comms[x->comm].hash);
    snprintf(line, sizeof line, "# Collective: %s%s (%s on %s%.200s)", program && alike ? program : "no test", ranks,
             *func ? func : "?", comm, x->class != RS_NONE ? m->classes[x->class].text : "?");
    printf("#\n");
    rs_plain_line(line, stdout);
    if (!alike)
        printf("# size: the bytes of %s; nccl-tests count in another way\n", x->kind == RS_OP_FANOUT
                                                                                 ? "all sends of a group call"
                                                                             : x->kind == RS_OP_PAIR ? "one send"
                                                                                                     : "one rank");
    printf("#\n# %10s  %12s  %8s  %6s  %6s  %7s  %6s  %6s  %6s\n", "size", "count", "type", "redop", "root", "time",
           "algbw", "busbw", "#wrong");
    printf("# %10s  %12s  %8s  %6s  %6s  %7s  %6s  %6s  %6s\n", "(B)", "(elements)", "", "", "", "(us)", "(GB/s)",
           "(GB/s)", "");
}

/* As many digits behind the point as there is room for. */
static const char *fixed(char *to, size_t room, int width, double value)
{
    if (isnan(value)) return "N/A";
    for (int digits = 2; digits >= 0; digits--)
        if (snprintf(to, room, "%.*f", digits, value) <= width) return to;
    snprintf(to, room, "%.1e", value);
    return to;
}

static void print_row(const struct rs_report *r, const struct rs_func_row *x, bool seen)
{
    const struct rs_model *m = r->view.model;
    char count[32] = "N/A", root[16] = "n/a", time[48], algbw[48], busbw[48];
    const char *dtype = rs_model_text(m, x->dtype), *type = rs_nccl_tests_type(dtype);
    uint64_t elements;
    int64_t ns = seen ? rs_func_row_mean(x) : rs_func_row_transfer(x);
    if (rs_func_row_count(m, x, &elements)) snprintf(count, sizeof count, "%" PRIu64, elements);
    if (!x->roots) snprintf(root, sizeof root, "%" PRId32, x->root);
    printf("%12" PRIu64 "  %12s  %8s  %6s  %6s  %7s  %6s  %6s  %6s\n", x->bytes, count,
           x->dtypes ? "several"
           : type    ? type
                     : "n/a",
           "n/a", root, fixed(time, sizeof time, 7, (double)ns / 1e3),
           fixed(algbw, sizeof algbw, 6, seen ? x->algbw_seen : x->algbw),
           fixed(busbw, sizeof busbw, 6, seen ? x->busbw_seen : x->busbw), "N/A");
}

/* What has no place in the columns. */
static void print_rest(const struct rs_func_row *x, enum telling telling)
{
    const char *many = x->calls == 1 ? "" : "s";
    if (telling == NO_SIZE)
        printf("# %s operation%s: size not known\n", rs_text_count(x->calls).s, many);
    else if (telling == NO_TIME)
        printf("# %s operation%s of %s: time not known\n", rs_text_count(x->calls).s, many, rs_text_bytes(x->bytes).s);
    else
        printf("# %s operation%s of many sizes, %s to %s, in the mean %s: busbw %s GB/s, as seen %s GB/s\n",
               rs_text_count(x->calls).s, many, rs_text_bytes(x->bytes_min).s, rs_text_bytes(x->bytes_max).s,
               rs_text_bytes(x->bytes).s, rs_text_rate(x->busbw).s, rs_text_rate(x->busbw_seen).s);
}

void rs_report_table(const struct rs_report *r, bool by_comm)
{
    print_head();
    printf("# Using devices\n");
    for (uint32_t i = 0; i < r->view.model->nranks; i++) print_device(r->view.model, &r->view.model->ranks[i]);
    uint32_t n = r->bandwidth.nrows, *order = rs_alloc(((size_t)n + 1) * sizeof *order);
    struct sorting sorting = {r->view.model, r->bandwidth.rows, by_comm};
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    qsort_r(order, n, sizeof *order, by_size, &sorting);
    enum telling before = OF_TRANSFERS;
    for (uint32_t i = 0; i < n; i++) {
        const struct rs_func_row *x = &r->bandwidth.rows[order[i]];
        enum telling telling = tells(x);
        if (!i || by_shape(&sorting, x, &r->bandwidth.rows[order[i - 1]])) {
            print_heading(r, x, by_comm);
            before = OF_TRANSFERS;
        }
        if (telling == AS_SEEN && before != AS_SEEN)
            printf("# no transfer is known of these: the mean time as ranks saw it, waiting included\n");
        if (telling <= AS_SEEN)
            print_row(r, x, telling == AS_SEEN);
        else
            print_rest(x, telling);
        before = telling;
    }
    if (!n) printf("#\n# no operation is left to report on\n");
    free(order);
}
