/* rsc: recordings cut out of larger ones with the filters: one file a process, in a folder. */
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "export/exporter.h"
#include "export/output.h"
#include "export/rsc/cut.h"
#include "trace/alive.h"

struct state {
    uint8_t *ops; /* by operation of the model: kept */
    struct rs_strbuf by; /* the filters */
    uint32_t *first; /* by process, and one more: its parts in `parts` */
    uint32_t *parts; /* kept, process by process */
};

/* ---- what is kept ---- */

static bool is_kept(const struct state *s, const struct rs_model *m, uint32_t part)
{
    return m->parts.member[part] != RS_NONE && m->parts.op[part] < m->ops.n && s->ops[m->parts.op[part]];
}

/* The parts that are kept, by process. */
static enum rs_status sort_parts(struct state *s, const struct rs_model *m, struct rs_err *err)
{
    uint32_t n = 0;
    s->first = calloc((size_t)m->nprocs + 2, sizeof *s->first);
    if (!s->first) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < m->parts.n; i++) {
        if (!is_kept(s, m, i)) continue;
        s->first[m->members[m->parts.member[i]].proc + 2]++;
        n++;
    }
    s->parts = malloc(((size_t)n + 1) * sizeof *s->parts);
    if (!s->parts) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t p = 2; p <= m->nprocs + 1; p++) s->first[p] += s->first[p - 1];
    for (uint32_t i = 0; i < m->parts.n; i++)
        if (is_kept(s, m, i)) s->parts[s->first[m->members[m->parts.member[i]].proc + 1]++] = i;
    return RS_OK;
}

/* ---- what the whole tells of it ---- */

static struct rs_fact_cut_op cut_op(const struct rs_model *m, uint32_t part)
{
    const struct rs_parts *p = &m->parts;
    uint32_t op = p->op[part];
    bool started = p->kind[part] != RS_PART_API;
    bool open = p->kind[part] == RS_PART_COLL && p->flags[part] & RS_PART_OPEN && !(p->flags[part] & RS_PART_STOPPED);
    return (struct rs_fact_cut_op){
        .handle = p->handle[part],
        .id = m->ops.id[op],
        .seq = p->seq[part],
        .index = m->ops.kind[op] == RS_OP_PAIR ? m->ops.index[op] : 0,
        .captured = p->captured[part],
        .replay = p->replay[part],
        .kind = open      ? RS_CUT_OPEN
                : started ? RS_CUT_STARTED
                          : RS_CUT_CALL,
        .confidence = m->ops.confidence[op],
        .twice = (m->ops.flags[op] & RS_OP_DOUBLE) != 0,
    };
}

static enum rs_status put_told(struct rs_rsc_file *f, const struct state *s, const struct rs_model *m, uint32_t proc,
                               const struct rs_keep *keep, struct rs_err *err)
{
    enum { ROWS = 400, HANDLES = 2000 };
    uint64_t tick = f->header.created_tick;
    struct rs_fact_cut_op *rows = malloc(ROWS * sizeof *rows);
    if (!rows) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    uint32_t n = 0;
    for (uint32_t k = s->first[proc]; k < s->first[proc + 1]; k++) {
        rows[n++] = cut_op(m, s->parts[k]);
        if (n < ROWS && k + 1 < s->first[proc + 1]) continue;
        rs_rsc_fact(f, RS_FACT_CUT_OPS, tick, rows, n * sizeof *rows, NULL, 0);
        n = 0;
    }
    free(rows);
    for (uint32_t i = 0; i < keep->nstale; i += HANDLES) {
        size_t some = keep->nstale - i < HANDLES ? keep->nstale - i : HANDLES;
        rs_rsc_fact(f, RS_FACT_CUT_STALE, tick, keep->stale + i, some * sizeof *keep->stale, NULL, 0);
    }
    return RS_OK;
}

/* ---- files ---- */

static enum rs_status cut(struct rs_export *x, uint32_t proc, struct rs_err *err)
{
    struct state *s = x->state;
    struct rs_timeline *t = x->timeline;
    struct rs_source *source = &t->inputs->sources[proc];
    struct rs_keep keep;
    struct rs_rsc_file f;
    enum rs_status status = rs_keep_find(&keep, t, proc, s->ops, err);
    if (status == RS_OK) status = rs_rsc_open(&f, x->path, x->name, source->recording, err);
    if (status == RS_OK) {
        struct rs_cut_off off = {0};
        rs_rsc_cut_facts(&f, source->recording, &keep);
        status = rs_rsc_cut_events(&f, source->recording, &keep, &off, err);
        if (status == RS_OK) status = put_told(&f, s, t->model, proc, &keep, err);
        if (status == RS_OK) {
            enum { LONGEST = 4096 }; /* of a text that people read: some hundred filters */
            char by[LONGEST];
            snprintf(by, sizeof by, "%s", rs_strbuf_borrow(&s->by));
            const struct rs_file_header *h = &source->recording->header;
            bool runs =
                h->status.state != RS_STATE_CLOSED && (source->process.ran_on || rs_may_run(source->recording->alive));
            const struct rs_fact_cut fact = {source->process.left_out + off.left_out, runs};
            if (source->process.cut_until > off.until) off.until = source->process.cut_until;
            if (!rs_source_accounted(source)) off.until = UINT64_MAX; /* its newest records died with the process */
            rs_rsc_fact(&f, RS_FACT_CUT, f.header.created_tick, &fact, sizeof fact, by, strlen(by) + 1);
            if (off.until)
                rs_rsc_fact(&f, RS_FACT_CUT_UNTIL, f.header.created_tick, &off.until, sizeof off.until, NULL, 0);
            status = rs_rsc_finish(&f, err);
        } else {
            rs_rsc_abandon(&f);
        }
    }
    rs_keep_free(&keep);
    return status;
}

static enum rs_status begin(struct rs_export *x, struct rs_err *err)
{
    struct rs_timeline *t = x->timeline;
    struct state *s = x->state = calloc(1, sizeof *s);
    if (!s) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    if (t->options.filter) rs_filter_describe(t->options.filter, &s->by);
    RS_TRY(rs_strbuf_check(&s->by, err));
    RS_TRY(rs_keep_ops(&s->ops, t, err));
    RS_TRY(sort_parts(s, t->model, err));
    for (uint32_t i = 0; i < t->inputs->n; i++) {
        RS_TRY(cut(x, i, err));
        if (x->progress) x->progress(i + 1, t->inputs->n);
    }
    return RS_OK;
}

static void release(struct rs_export *x)
{
    struct state *s = x->state;
    if (!s) return;
    free(s->ops);
    free(s->first);
    free(s->parts);
    rs_strbuf_free(&s->by);
    free(s);
    x->state = NULL;
}

static bool is_cut(const char *folder, const char *name)
{
    struct rs_strbuf path = {0};
    struct rs_recording *r = NULL;
    struct rs_err ignored;
    rs_strbuf_printf(&path, "%s/%s", folder, name);
    bool is = rs_output_type(folder, name) == RS_PLACE_FILE &&
              rs_recording_open(&r, rs_strbuf_borrow(&path), &ignored) == RS_OK && rs_recording_is_cut(r);
    rs_recording_close(r);
    rs_strbuf_free(&path);
    return is;
}

/* Cuts may be written again; recordings that were made by a job may not. */
static bool holds_only_cuts(const char *folder)
{
    return rs_output_holds_only(folder, NULL, is_cut);
}

const struct rs_exporter rs_exporter_rsc = {
    .name = "rsc",
    .what = "a folder of recordings cut out of these with the filters, to share",
    .output = RS_EXPORT_FOLDER,
    .recordings = true,
    .may_replace = holds_only_cuts,
    .begin = begin,
    .free = release,
};
