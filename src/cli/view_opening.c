#include "cli/view_opening.h"

#include <stdlib.h>

#include "analyse/hang_phrases.h"
#include "base/memory.h"
#include "base/room.h"
#include "base/strbuf.h"
#include "cli/hang_output.h"
#include "timeline/span.h"
#include "timeline/stretch.h"
#include "timeline/sums.h"

/* ---- a hang ---- */

/* What is pending at the end waits, except in transfers that all are known to have entered and that do not move, and on
 * ranks that died: nothing waits there. */
static void find_waits(struct rs_timeline *t, const struct rs_hang *h)
{
    const struct rs_model *m = t->model;
    if (!h->stage) return;
    uint8_t *waits = rs_zalloc((size_t)m->parts.n + 1, 1), *moves = rs_zalloc((size_t)m->ops.n + 1, 1);
    uint8_t *dead = rs_zalloc((size_t)m->nprocs + 1, 1);
    for (uint32_t i = 0; i < h->nfindings; i++) {
        const struct rs_hang_finding *f = &h->findings[i];
        if (f->verdict == RS_VERDICT_STALLED_STEP && f->op != RS_NONE && !f->nsuspects) moves[f->op] = 1;
        for (uint32_t k = 0; f->verdict == RS_VERDICT_RANK_DEAD && k < f->nguilty; k++)
            if (f->guilty[k].member != RS_NONE) dead[m->members[f->guilty[k].member].proc] = 1;
    }
    for (uint32_t i = 0; i < m->parts.n; i++) {
        uint32_t op = m->parts.op[i];
        waits[i] =
            h->stage[i] != RS_STAGE_ENDED && op < m->ops.n && !moves[op] && !dead[m->members[m->parts.member[i]].proc];
    }
    free(moves);
    free(dead);
    t->opening.waits = waits;
}

static int64_t placed(const struct rs_timeline *t, int64_t at)
{
    int64_t start, dur;
    return at != RS_TIME_NONE && rs_span_place(t, at, at, &start, &dur) ? start : RS_TIME_NONE;
}

/* When the ranks that wait began to: the first of them. Ranks may have called operations far ahead of their turn, so the
 * operation of the verdict decides, and only without one all that is pending. */
static int64_t waits_since(const struct rs_timeline *t, const struct rs_hang *h)
{
    const struct rs_model *m = t->model;
    int64_t since = RS_TIME_NONE;
    for (int all = 0; all < 2 && since == RS_TIME_NONE; all++)
        for (uint32_t i = 0; t->opening.waits && i < m->parts.n; i++) {
            struct rs_stretch s;
            bool asked = all || m->parts.op[i] == h->findings[0].op;
            if (!t->opening.waits[i] || !asked || !rs_stretch_of(t, i, &s)) continue;
            int64_t at = placed(t, s.from);
            if (at != RS_TIME_NONE && (since == RS_TIME_NONE || at < since)) since = at;
        }
    if (since == RS_TIME_NONE) since = placed(t, h->findings[0].since);
    return since;
}

static void add_mark(struct rs_timeline *t, const struct rs_hang_finding *f, uint32_t culprit, uint32_t member,
                     int64_t from)
{
    struct rs_opening *o = &t->opening;
    uint32_t group = rs_timeline_rank_of(t, member);
    for (uint32_t i = 0; i < o->nmarks; i++)
        if (o->marks[i].group == group) return; /* the first cause decides */
    if (group == RS_NONE) return;
    char op[160] = "";
    struct rs_strbuf text = {0};
    bool of_op = rs_hang_finding_text(t->model, f, op, sizeof op) && f->verdict != RS_VERDICT_RANK_DEAD;
    rs_strbuf_printf(&text, "%s%s%s%s", f->undecided ? "suspected: " : "", rs_hang_mark(f), of_op ? " " : "",
                     of_op ? op : "");
    RS_ROOM(o->marks, o->nmarks, o->cap_marks);
    struct rs_row_mark *mark = &o->marks[o->nmarks++];
    *mark = (struct rs_row_mark){.group = group, .culprit = culprit, .from = from};
    rs_strbuf_take(&text, &mark->text);
}

/* The last sign of a rank: where it died, or when it came to where it is. */
static int64_t last_sign(const struct rs_timeline *t, const struct rs_hang_finding *f, const struct rs_hang_who *who)
{
    int64_t at = RS_TIME_NONE;
    if (f->verdict == RS_VERDICT_RANK_DEAD) at = rs_proc_heard(t, t->model->members[who->member].proc);
    for (uint32_t i = 0; i < f->nrows && at == RS_TIME_NONE; i++)
        if (f->rows[i].rank == who->comm_rank) at = f->rows[i].since;
    return placed(t, at);
}

/* Dumps end with the last call, and what is pending there would have no length: some time more, until they were made. */
static void extend_dumps(struct rs_timeline *t, int64_t since)
{
    bool dumps = false;
    for (uint32_t i = 0; i < t->model->nprocs; i++) dumps |= rs_tool_has(t->model->procs[i].tool, RS_CAP_DUMP);
    int64_t least = (t->span - t->focus_from) / 4;
    if (dumps && t->span - since < least) t->span = rs_time_plus(since, least);
}

static int by_group(const void *a, const void *b)
{
    const struct rs_row_mark *x = a, *y = b;
    return (x->group > y->group) - (x->group < y->group);
}

static void find_marks(struct rs_timeline *t, const struct rs_hang *h, int64_t since)
{
    uint32_t culprit = 0;
    for (uint32_t i = 0; i < h->nfindings; i++) {
        const struct rs_hang_finding *f = &h->findings[i];
        if (f->verdict == RS_VERDICT_OUTSIDE_NCCL) /* it names no rank: none is in NCCL */
            for (uint32_t k = 0; k < t->model->nmembers; k++) add_mark(t, f, RS_NONE, k, since);
        for (uint32_t k = 0; k < f->nguilty; k++) {
            if (f->guilty[k].member == RS_NONE) continue;
            int64_t at = last_sign(t, f, &f->guilty[k]);
            add_mark(t, f, culprit, f->guilty[k].member, at != RS_TIME_NONE ? at : since);
        }
        culprit += f->nguilty || f->nsuspects;
    }
    if (t->opening.nmarks) qsort(t->opening.marks, t->opening.nmarks, sizeof *t->opening.marks, by_group);
}

void rs_opening_hang(struct rs_timeline *t, const struct rs_hang *h)
{
    struct rs_opening *o = &t->opening;
    if (!rs_hang_is_found(h)) return;
    struct rs_strbuf line = {0};
    rs_strbuf_printf(&line, "%s: ", rs_verdict_name(h->findings[0].verdict));
    rs_hang_headline(&line, t->model, &h->findings[0]);
    if (h->nfindings > 1)
        rs_strbuf_printf(&line, ", and %u more cause%s", (unsigned)h->nfindings - 1, h->nfindings > 2 ? "s" : "");
    rs_strbuf_take(&line, &o->verdict);
    find_waits(t, h);
    int64_t since = waits_since(t, h);
    if (since == RS_TIME_NONE) since = t->focus_from;
    extend_dumps(t, since);
    find_marks(t, h, since);
    /* A fifth of what it lasted before it: the last operations that went well. */
    int64_t before = (t->span - since) / 5;
    o->from = since > before ? since - before : 0;
    o->to = t->span;
    if (t->focus_to < t->span) t->focus_to = t->span; /* operations go on until the end */
}

/* ---- typical steps ---- */

enum { STEPS = 3 };

/* How far the length of a step is from the usual one. */
static int64_t strangeness(const struct rs_steps *s, uint32_t i)
{
    const struct rs_step *x = &s->rows[i];
    if (!x->counted || x->start == RS_TIME_NONE || x->length == RS_TIME_NONE) return INT64_MAX;
    int64_t more = rs_time_minus(x->length, s->usual_ns);
    return more < 0 ? -more : more;
}

/* Of successive steps after the start-up, those whose lengths are closest to the usual one. */
static void find_steps(struct rs_timeline *t, const struct rs_steps *s)
{
    uint32_t best = RS_NONE;
    int64_t least = INT64_MAX;
    if (s->usual_ns == RS_TIME_NONE || s->n < s->warmup + STEPS + 1) return;
    for (uint32_t i = s->warmup; i + STEPS <= s->n; i++) {
        int64_t most = 0;
        for (uint32_t k = i; k < i + STEPS; k++) most = strangeness(s, k) > most ? strangeness(s, k) : most;
        if (most < least) least = most, best = i;
    }
    if (best == RS_NONE) return;
    const struct rs_step *first = &s->rows[best], *last = &s->rows[best + STEPS - 1];
    int64_t from, to, dur;
    if (!rs_span_place(t, first->start, first->start, &from, &dur)) return;
    if (!rs_span_place(t, last->start, rs_time_plus(last->start, last->length), &to, &dur)) return;
    to += dur;
    int64_t margin = (to - from) / 40;
    t->opening.from = from > margin ? from - margin : 0;
    t->opening.to = to < t->span - margin ? to + margin : t->span;
}

/* ---- figures ---- */

static struct rs_row_figures *of_rank(struct rs_timeline *t, uint32_t rank_id)
{
    uint32_t member = rank_id != RS_NONE ? t->model->ranks[rank_id].member : RS_NONE;
    uint32_t group = rs_timeline_rank_of(t, member);
    return group != RS_NONE ? &t->opening.figures[group] : NULL;
}

static void find_figures(struct rs_timeline *t, const struct rs_report *r)
{
    const struct rs_lateness *l = &r->stragglers.lateness;
    struct rs_timeline_sum *sums;
    int64_t from = placed(t, r->steps.after_ns);
    t->opening.figures = rs_zalloc((size_t)t->ngroups + 1, sizeof *t->opening.figures);
    rs_timeline_sums(t, from != RS_TIME_NONE ? from : 0, t->span, &sums);
    for (uint32_t i = 0; i < l->nranks; i++) {
        struct rs_row_figures *x = of_rank(t, l->rows[i].rank_id);
        if (!x || !l->rows[i].compared) continue;
        x->known = true;
        x->last = (uint32_t)l->rows[i].last;
        x->waited = sums[x - t->opening.figures].wait;
    }
    for (uint32_t i = 0; i < r->stragglers.nrows; i++) {
        struct rs_row_figures *x = of_rank(t, r->stragglers.rows[i].rank_id);
        if (x) x->late = r->stragglers.rows[i].cost_ns;
    }
    free(sums);
}

void rs_opening_report(struct rs_timeline *t, const struct rs_report *r)
{
    find_figures(t, r);
    if (!t->opening.verdict) find_steps(t, &r->steps);
}
