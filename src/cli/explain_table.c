#include "cli/explain_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/explain_lacks.h"
#include "foreign/nccl_tests/nccl_tests.h"

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

static enum rs_status say(struct rs_explained_file *f, const struct measured *x, struct rs_err *err)
{
    char ranks[48] = "", span[100];
    if (x->nranks > 0) snprintf(ranks, sizeof ranks, " on %" PRId32 " rank%s", x->nranks, x->nranks == 1 ? "" : "s");
    snprintf(span, sizeof span, "%s%s%s", rs_text_bytes(x->least).s, x->least == x->most ? "" : " to ",
             x->least == x->most ? "" : rs_text_bytes(x->most).s);
    return rs_explain_say(
        &f->holds, &f->nholds, err, "Time and bandwidth of %s%s%s%s, %s: %s row%s, up to %s GB/s busbw.",
        x->func ? x->func : "a test that it does not name, or that counts in its own way", ranks, x->dtype ? ", " : "",
        x->dtype ? x->dtype : "", span, rs_text_count(x->rows).s, x->rows == 1 ? "" : "s", rs_text_rate(x->best).s);
}

enum rs_status rs_explain_table(struct rs_explained_file *f, struct rs_err *err)
{
    struct rs_nccl_tests t;
    struct rs_err unread;
    struct measured all[MOST];
    unsigned n = 0;
    uint64_t beyond = 0;
    enum rs_status status = RS_OK;
    if (rs_nccl_tests_read(&t, f->path, &unread) == RS_OK)
        for (uint32_t i = 0; i < t.n; i++) take(all, &n, &beyond, &t.rows[i]);
    for (unsigned i = 0; i < n && status == RS_OK; i++) status = say(f, &all[i], err);
    if (beyond && status == RS_OK)
        status = rs_explain_say(&f->holds, &f->nholds, err, "And %s more rows.", rs_text_count(beyond).s);
    rs_nccl_tests_free(&t);
    return status;
}
