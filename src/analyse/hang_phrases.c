#include "analyse/hang_phrases.h"

#include <inttypes.h>
#include <stdio.h>

#include "join/ranks.h"

bool rs_phrase_job_ranks(const struct rs_model *m, uint32_t comm, int32_t *a, int32_t *b)
{
    int32_t x = rs_job_rank(m, comm, *a), y = rs_job_rank(m, comm, *b);
    if (x < 0 || y < 0) return false;
    *a = x;
    *b = y;
    return true;
}

static void comm_text(const struct rs_model *m, uint32_t comm, char *text, size_t size)
{
    if (m->comms[comm].name)
        snprintf(text, size, "%s", m->comms[comm].name);
    else
        snprintf(text, size, "communicator 0x%016" PRIx64, m->comms[comm].hash);
}

void rs_hang_op_text(const struct rs_model *m, uint32_t op, char *text, size_t size)
{
    const struct rs_ops *o = &m->ops;
    char comm[96];
    comm_text(m, o->comm[op], comm, sizeof comm);
    int32_t src = o->root[op], dst = o->dst[op];
    bool job = o->kind[op] == RS_OP_PAIR && rs_phrase_job_ranks(m, o->comm[op], &src, &dst);
    if (o->kind[op] == RS_OP_PAIR)
        snprintf(text, size, "send %" PRIu32 " of %s from %srank %d to %srank %d", o->index[op], comm,
                 job ? "" : "its ", src, job ? "" : "its ", dst);
    else if (o->seq[op] == UINT64_MAX)
        snprintf(text, size, "%s of %s", rs_model_text(m, o->func[op]), comm);
    else
        snprintf(text, size, "%s %" PRIu64 " of %s", rs_model_text(m, o->func[op]), o->seq[op], comm);
}

bool rs_hang_finding_text(const struct rs_model *m, const struct rs_hang_finding *f, char *text, size_t size)
{
    char comm[96];
    if (f->op != RS_NONE) {
        rs_hang_op_text(m, f->op, text, size);
        return true;
    }
    if (f->seq == UINT64_MAX || f->comm == RS_NONE) return false;
    comm_text(m, f->comm, comm, sizeof comm);
    snprintf(text, size, "%s %" PRIu64 " of %s", f->func ? rs_model_text(m, f->func) : "collective", f->seq, comm);
    return true;
}

static void add_where(struct rs_strbuf *s, const struct rs_model *m, uint32_t member)
{
    if (member == RS_NONE) {
        rs_strbuf_puts(s, " (no recording)");
        return;
    }
    const struct rs_member *x = &m->members[member];
    rs_strbuf_printf(s, " (%s", rs_host_label(m, m->procs[x->proc].host));
    if (m->procs[x->proc].pid) rs_strbuf_printf(s, ", pid %" PRIu32, m->procs[x->proc].pid);
    if (x->device >= 0) rs_strbuf_printf(s, ", GPU %d", x->device);
    rs_strbuf_putc(s, ')');
}

void rs_phrase_ranks(struct rs_strbuf *s, const struct rs_model *m, const struct rs_hang_who *who, uint32_t n)
{
    enum { SHOWN = 8 };
    bool global = true;
    for (uint32_t i = 0; i < n; i++) global &= who[i].rank >= 0;
    if (n > SHOWN)
        rs_strbuf_printf(s, "%" PRIu32 " ranks (", n);
    else
        rs_strbuf_puts(s, n == 1 ? "rank " : "ranks ");
    for (uint32_t i = 0; i < n && i < SHOWN; i++) {
        const char *between = !i ? "" : i + 1 == n ? " and " : ", ";
        rs_strbuf_printf(s, "%s%d", between, global ? who[i].rank : who[i].comm_rank);
    }
    if (n > SHOWN) rs_strbuf_puts(s, ", ...)");
    if (!global) rs_strbuf_puts(s, " of the communicator");
    if (n == 1) add_where(s, m, who[0].member);
}

void rs_phrase_stage(struct rs_strbuf *s, const struct rs_model *m, const struct rs_hang_finding *h,
                     enum rs_stage stage)
{
    int shown = 0, more = 0;
    for (uint32_t i = 0; i < h->nrows; i++) {
        if (h->rows[i].stage != stage) continue;
        int32_t job = rs_job_rank(m, h->comm, h->rows[i].rank), r = job >= 0 ? job : h->rows[i].rank;
        if (shown < 8)
            rs_strbuf_printf(s, "%s%d", shown++ ? ", " : "", r);
        else
            more++;
    }
    if (more) rs_strbuf_printf(s, " and %d more", more);
}

void rs_phrase_span(struct rs_strbuf *s, int64_t ns)
{
    double sec = (double)ns / 1e9;
    if (sec < 120)
        rs_strbuf_printf(s, "%.1f s", sec);
    else
        rs_strbuf_printf(s, "%.0f min", sec / 60);
}
