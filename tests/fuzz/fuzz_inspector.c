/* Any bytes as a log of Inspector: every line is an operation, another one, or bad; and what is whole goes through the
 * model and the join to the bandwidths. */
#include <stdlib.h>
#include <string.h>

#include "analyse/bandwidth.h"
#include "foreign/formats.h"
#include "foreign/inspector/model.h"
#include "join/join.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t looked_at; /* so that everything is */

static void must(int fine)
{
    if (!fine) abort();
}

static void join(const struct rs_inspector *p)
{
    struct rs_model m = {0};
    struct rs_err err;
    struct rs_view view;
    struct rs_bandwidth b;
    struct rs_filter filter = {0};
    uint32_t proc;
    uint64_t lost;
    must(rs_inspector_to_model(&m, p, "x", &proc, &lost, &err) == RS_OK && m.parts.n == p->n_ops);
    must(rs_model_link(&m, &err) == RS_OK && rs_join(&m, true, &err) == RS_OK);
    must(rs_view_make(&view, &m, &filter, &err) == RS_OK && rs_bandwidth_find(&b, &view, false, &err) == RS_OK);
    rs_bandwidth_free(&b);
    rs_view_free(&view);
    rs_model_free(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rs_inspector p;
    struct rs_err err;
    const char *text = (const char *)data;
    looked_at += rs_inspector_is("", text, size);
    enum rs_status status = rs_inspector_read_memory(&p, "x", text, size, &err);
    must(status == RS_OK || status == RS_BAD_INPUT);
    must(p.lines == p.n_ops + p.other_lines + p.bad_lines && !p.bad_lines == (p.damage.code == RS_OK));
    uint64_t ops = 0;
    for (uint32_t i = 0; i < p.n_members; i++) {
        const struct rs_inspector_member *m = &p.members[i];
        looked_at += strlen(m->comm_name) + strlen(m->host) + strlen(m->version) + strlen(m->git_rev);
        ops += m->ops;
    }
    must(ops == p.n_ops);
    for (uint32_t i = 0; i < p.n_ops; i++) {
        const struct rs_inspector_op *op = &p.ops[i];
        must(op->member < p.n_members && op->first_kernel + op->n_kernels <= p.n_kernels && op->offset < size);
        must(op->exec_ns >= -1 && op->start_us >= -1 && op->stop_us >= -1 && op->peer >= -1);
        looked_at += strlen(op->func);
    }
    for (uint32_t i = 0; i < p.n_kernels; i++) must(p.kernels[i].start_us >= -1 && p.kernels[i].channel >= -1);
    join(&p);
    rs_inspector_free(&p);
    return 0;
}
