#include "foreign/nccl_tests/names.h"

#include <math.h>
#include <string.h>

/* Names that hold others come first. */
static const struct test {
    const char *program, *func;
} tests[] = {
    {"all_reduce_perf", "AllReduce"}, {"all_gather_perf", "AllGather"}, {"reduce_scatter_perf", "ReduceScatter"},
    {"alltoallv_perf", ""},           {"alltoall_perf", "AlltoAll"},    {"sendrecv_perf", "SendRecv"},
    {"broadcast_perf", "Broadcast"},  {"hypercube_perf", ""},           {"scatter_perf", "Scatter"},
    {"gather_perf", "Gather"},        {"reduce_perf", "Reduce"},
};
enum { TESTS = sizeof tests / sizeof *tests };

static const struct {
    const char *test, *nccl;
} types[] = {
    {"float", "ncclFloat32"},       {"half", "ncclFloat16"},        {"bfloat16", "ncclBfloat16"},
    {"double", "ncclFloat64"},      {"int8", "ncclInt8"},           {"uint8", "ncclUint8"},
    {"int32", "ncclInt32"},         {"uint32", "ncclUint32"},       {"int64", "ncclInt64"},
    {"uint64", "ncclUint64"},       {"f8e4m3", "ncclFloat8e4m3"},   {"f8e5m2", "ncclFloat8e5m2"},
    {"char", "ncclInt8"},           {"int", "ncclInt32"}, /* of NCCL 1 */
    {"fp8_e4m3", "ncclFloat8e4m3"}, {"fp8_e5m2", "ncclFloat8e5m2"}, /* of rccl-tests */
};
enum { TYPES = sizeof types / sizeof *types };

const char *rs_nccl_tests_named(struct rs_slice text)
{
    const char *end = memmem(text.text, text.n, "_perf", 5);
    if (!end) return NULL;
    for (int i = 0; i < TESTS; i++)
        if (memmem(text.text, text.n, tests[i].program, strlen(tests[i].program))) return tests[i].func;
    return NULL;
}

const char *rs_nccl_tests_program(const char *func)
{
    for (int i = 0; i < TESTS && *func; i++)
        if (!strcmp(tests[i].func, func)) return tests[i].program;
    return NULL;
}

const char *rs_nccl_tests_dtype(struct rs_slice name)
{
    for (int i = 0; i < TYPES; i++)
        if (rs_slice_is(name, types[i].test)) return types[i].nccl;
    return NULL;
}

const char *rs_nccl_tests_type(const char *dtype)
{
    if (!strcmp(dtype, "Unknown")) dtype = "ncclUint8"; /* what NCCL calls it */
    for (int i = 0; i < TYPES; i++)
        if (!strcmp(types[i].nccl, dtype)) return types[i].test;
    return NULL;
}

/* busbw / algbw of a row; NAN where they have too few digits to tell. */
static double ratio(const struct rs_nccl_tests_row *row)
{
    const struct rs_nccl_tests_half *h = row->out_of_place.busbw >= 1 ? &row->out_of_place : &row->in_place;
    return h->busbw >= 1 && h->algbw >= 1 && isfinite(h->busbw) && isfinite(h->algbw) ? h->busbw / h->algbw : NAN;
}

static double factor(const char *func, int32_t nranks)
{
    double others = (double)(nranks - 1) / nranks;
    if (!strcmp(func, "AllReduce")) return 2 * others;
    if (!strcmp(func, "Broadcast") || !strcmp(func, "Reduce") || !strcmp(func, "SendRecv")) return 1;
    return others;
}

/* Two digits behind the point say little of a small bandwidth: there the time tells it better. */
static double busbw_of(const struct rs_nccl_tests_row *row, const struct rs_nccl_tests_half *h)
{
    double gbs = h->busbw;
    if (!isfinite(gbs)) return 0;
    if (gbs < 1 && h->time_us > 0 && row->func && row->nranks > 1)
        gbs = (double)row->bytes / (h->time_us * 1000) * factor(row->func, row->nranks);
    return isfinite(gbs) ? gbs : 0;
}

double rs_nccl_tests_best(const struct rs_nccl_tests_row *row)
{
    double out = busbw_of(row, &row->out_of_place), in = busbw_of(row, &row->in_place);
    return in > out ? in : out;
}

const char *rs_nccl_tests_func(const struct rs_nccl_tests_row *row, const char *said)
{
    double is = ratio(row);
    if (said && *said && row->nranks > 1 && fabs(is - factor(said, row->nranks)) > 0.03) return NULL;
    if (said) return *said ? said : NULL;
    bool reduces = row->redop[0] && strcmp(row->redop, "none") != 0;
    if (row->nranks < 2 || isnan(is)) return NULL;
    if (reduces && row->root >= 0) return "Reduce";
    if (reduces)
        return is > (row->nranks == 2 ? 0.75 : 1.15) ? "AllReduce" : "ReduceScatter"; /* 2 (n - 1) / n, or half */
    return row->root >= 0 && fabs(is - 1) < 0.03 && row->nranks < 30 ? "Broadcast" : NULL; /* else gather or scatter */
}
