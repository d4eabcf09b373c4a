/* Any bytes as the output of nccl-tests: rows, the curves made of them, and the fill through the join to the
 * statistics. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyse/reference.h"
#include "analyse/statistics.h"
#include "foreign/formats.h"
#include "foreign/nccl_tests/nccl_tests.h"
#include "join/join.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t looked_at; /* so that everything is */

static void must(int fine)
{
    if (!fine) abort();
}

static void ask(const struct rs_reference *r, const struct rs_reference_point *p, uint64_t bytes)
{
    enum rs_reference_lack lack;
    double gbs = rs_reference_find(r, p->func, p->dtype ? p->dtype : "", p->nranks, bytes, &lack);
    must(isnan(gbs) ? lack != RS_LACKS_NOTHING : gbs > 0 && lack == RS_LACKS_NOTHING);
}

static void hold(const struct rs_nccl_tests *t)
{
    struct rs_reference r = {0};
    struct rs_err err;
    for (uint32_t i = 0; i < t->n; i++) {
        const struct rs_nccl_tests_row *row = &t->rows[i];
        double best = rs_nccl_tests_best(row);
        must(best >= 0 && isfinite(best) && row->nranks >= -1);
        struct rs_reference_point p = {row->func, row->dtype, row->nranks, row->bytes, best};
        if (row->func) must(rs_reference_add(&r, &p, &err) == RS_OK);
    }
    rs_reference_sort(&r);
    for (uint32_t i = 0; i < r.n; i++) {
        ask(&r, &r.points[i], r.points[i].bytes);
        ask(&r, &r.points[i], r.points[i].bytes + 1);
        if (i) ask(&r, &r.points[i], r.points[i - 1].bytes);
    }
    rs_reference_free(&r);
}

static void fill_from(char *path)
{
    struct rs_other files[2] = {{.path = path, .complete = true}, {.path = path, .complete = true}};
    struct rs_other *list[2] = {&files[0], &files[1]};
    struct rs_model m = {0};
    struct rs_fill fill = {.model = &m, .files = list, .n = 2};
    struct rs_err err;
    must(rs_nccl_tests_fill(&fill, &err) == RS_OK);
    for (int i = 0; i < 2; i++) must(files[i].complete == !files[i].why[0]);
    for (uint32_t i = 0; i < m.nstats; i++) must(m.stats[i].proc < m.nprocs && m.stats[i].total_ns >= 0);
    must(rs_model_link(&m, &err) == RS_OK && rs_join(&m, true, &err) == RS_OK);
    struct rs_statistics s;
    must(rs_statistics_make(&s, &m, &err) == RS_OK);
    struct rs_strbuf text = {0};
    for (unsigned next = 0; rs_statistics_say(&s, &next, &text);) looked_at += text.len;
    rs_strbuf_free(&text);
    rs_statistics_free(&s);
    rs_model_free(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("table", MFD_CLOEXEC);
    must(fd >= 0 && (!size || write(fd, data, size) == (ssize_t)size));
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    looked_at += rs_nccl_tests_is(path, (const char *)data, size);
    struct rs_nccl_tests t;
    struct rs_err err;
    if (rs_nccl_tests_read(&t, path, &err) == RS_OK) hold(&t);
    rs_nccl_tests_free(&t);
    fill_from(path);
    close(fd);
    return 0;
}
