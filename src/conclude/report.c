#include "conclude/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/hang.h"
#include "analyse/per_step_cost.h"
#include "analyse/words.h"
#include "base/memory.h"
#include "base/moment.h"
#include "conclude/chance.h"
#include "join/op_facts.h"
#include "join/ranks.h"

/* ---- the conclusion ----
 * The last lines of a report: sentences that an operator can act on. Nothing below the clock error is claimed. */

static void say(struct rs_report *r, struct rs_strbuf *s)
{
    if (r->nconclusion < RS_REPORT_SENTENCES)
        rs_words_sentence(&r->conclusion, &r->nconclusion, s);
    else
        rs_strbuf_free(s);
}

static int64_t span(const struct rs_report *r)
{
    int64_t ns = rs_time_minus(r->basis.to_ns, r->basis.from_ns);
    return ns > 0 ? ns : 1;
}

/* In the window, without those of the warm-up. */
static uint32_t steps_looked_at(const struct rs_report *r)
{
    uint32_t n = 0;
    for (uint32_t i = r->steps.warmup; i < r->steps.n; i++) n += r->steps.rows[i].counted;
    return n;
}

/* ---- who is late ---- */

/* Why nobody can be judged. False: ranks were compared. */
static bool say_unknown(struct rs_report *r)
{
    struct rs_strbuf s = {0};
    uint32_t steps = steps_looked_at(r);
    if (r->findings.compared) return false;
    if (!r->stragglers.compared) {
        uint64_t clock_free = 0;
        for (uint32_t i = 0; i < r->bandwidth.nrows; i++) clock_free += r->bandwidth.rows[i].clock_free;
        if (clock_free)
            rs_strbuf_printf(&s,
                             "no operation has known starts on two ranks with aligned clocks: the waits of %" PRIu64
                             " operation%s come from durations (of ranks that end together, the "
                             "fastest arrived last), and no rank is named.",
                             clock_free, clock_free == 1 ? "" : "s");
        else
            rs_strbuf_puts(&s,
                           r->view.model->aligned || r->basis.alone == r->basis.totals.ops
                               ? "which rank waited for which is unknown: no operation has known starts on two ranks "
                                 "with aligned clocks."
                               : "which rank waited for which is unknown: clocks are not aligned (--no-align).");
    } else if (steps < RS_CHANCE_LEAST_STEPS) {
        if (steps)
            rs_strbuf_printf(&s, "%" PRIu32 " step%s of %" PRIu64 " operations: ", steps, steps == 1 ? "" : "s",
                             r->basis.totals.ops);
        else
            rs_strbuf_printf(&s, "%" PRIu64 " operation%s without steps that repeat: ", r->basis.totals.ops,
                             r->basis.totals.ops == 1 ? "" : "s");
        rs_strbuf_printf(&s, "too few to tell whether a rank is late persistently (%d steps or more can).",
                         RS_CHANCE_LEAST_STEPS);
    } else {
        const struct rs_pace *p = &r->findings.pace;
        rs_strbuf_puts(&s, "no rank does the same work as another in enough steps: whether one is late cannot be "
                           "told.");
        if (p->rank_id != RS_NONE) {
            say(r, &s);
            rs_rank_words(&s, r->view.model, p->rank_id);
            rs_strbuf_puts(&s, " sets the pace: between operations it takes ");
            rs_words_ns(&s, p->own_ns);
            rs_strbuf_puts(&s, " per step, the median of the others ");
            rs_words_ns(&s, p->others_ns);
            rs_strbuf_puts(&s, ". If its share of the model is not larger, check that GPU and its process.");
        }
    }
    say(r, &s);
    return true;
}

/* "Ranks 0, 3-4 have": those of the job that are not compared with others. */
static void alone_words(struct rs_strbuf *s, const struct rs_model *m, const bool *compared)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < m->nranks; i++) all += m->ranks[i].number >= 0 && !compared[i];
    rs_strbuf_puts(s, all == 1 ? "Rank" : "Ranks");
    const char *before = " ";
    for (uint32_t i = 0, k; i < m->nranks; i = k) { /* by number */
        for (k = i + 1;
             k < m->nranks && !compared[i] && !compared[k] && m->ranks[k].number == m->ranks[k - 1].number + 1;)
            k++;
        if (compared[i] || m->ranks[i].number < 0) continue;
        rs_strbuf_printf(s, "%s%" PRId32, before, m->ranks[i].number);
        if (k > i + 1) rs_strbuf_printf(s, "-%" PRId32, m->ranks[k - 1].number);
        before = ", ";
    }
    rs_strbuf_puts(s, all == 1 ? " has" : " have");
}

/* Nothing is wrong, and how sure that is. A delay of most of a step would be seen by anybody: then it is the noise that is
 * worth saying. */
static void say_nobody(struct rs_report *r)
{
    int64_t step =
        r->whatif.step_ns > 0 ? r->whatif.step_ns : r->steps.usual_ns; /* the former is unknown if not replayed */
    const struct rs_findings *f = &r->findings;
    struct rs_strbuf s = {0};
    bool links = r->network.judged > 0;
    rs_strbuf_puts(&s, f->hosts ? links ? "no rank, host or link" : "no rank or host"
                       : links  ? "no rank or link"
                                : "no rank");
    rs_strbuf_puts(&s, " stands out");
    if (isnan(f->seen_ns)) {
        rs_strbuf_printf(&s, ", but %" PRIu32 " steps of %" PRIu32 " ranks are too few, or too noisy, to be sure.",
                         f->steps, f->compared);
    } else if (r->whatif.refused && step > 0 && f->seen_ns > (double)step / 2) {
        rs_strbuf_printf(&s, ", but a late one may not be seen: %s.", r->whatif.refused);
    } else if (step > 0 && f->seen_ns > (double)step / 2) {
        rs_strbuf_puts(&s, ", but this run is too noisy to be sure: ");
        if (f->seen_ns >= (double)step)
            rs_strbuf_puts(&s, "even a persistent delay as long as a step (");
        else
            rs_strbuf_puts(&s, "a persistent delay of most of a step (");
        rs_words_ns(&s, step);
        rs_strbuf_printf(&s, ") may not be seen in %" PRIu32 " steps.", f->steps);
    } else {
        rs_strbuf_puts(&s, ": a persistent delay of ");
        rs_words_ns(&s, (int64_t)f->seen_ns);
        rs_strbuf_printf(&s,
                         " per step or more would have been seen (%" PRIu32
                         " ranks compared with their equals in %" PRIu32 " steps).",
                         f->compared, f->steps);
    }
    if (f->compared < r->view.model->nranks) {
        rs_strbuf_putc(&s, ' ');
        alone_words(&s, r->view.model, f->is_compared);
        rs_strbuf_puts(&s, " no equals that do the same work, and cannot be judged.");
    }
    say(r, &s);
}

static void say_findings(struct rs_report *r, enum rs_finding_kind kind)
{
    enum { MOST = 3 };
    const struct rs_findings *f = &r->findings;
    for (uint32_t i = 0, n = 0; i < f->n && n < MOST; i++) {
        if (f->rows[i].kind != kind || (kind == RS_PERSISTENT && !f->rows[i].named && !f->rows[i].compute)) continue;
        struct rs_strbuf s = {0};
        rs_finding_say(&s, f, &f->rows[i], r->view.model);
        say(r, &s);
        n++;
    }
}

static void say_late(struct rs_report *r)
{
    if (say_unknown(r)) return;
    say_findings(r, RS_PERSISTENT);
    if (!r->findings.n || !r->findings.rows[0].named) say_nobody(r);
    say_findings(r, RS_SPORADIC);
}

/* ---- other sentences ---- */

static void say_steps(struct rs_report *r)
{
    if (!r->view.model->aligned) return; /* steps begin on one clock and end on another */
    for (uint32_t i = 0; i < r->course.nchanges && i < 2; i++) {
        struct rs_strbuf s = {0};
        rs_strbuf_printf(&s, "%s.", r->course.changes[i].text);
        say(r, &s);
    }
    const struct rs_one_offs *o = &r->one_offs;
    int64_t more = 0;
    uint32_t worst = RS_NONE, n = 0;
    for (uint32_t i = 0; i < o->n; i++) {
        if (o->rows[i].left_out) continue;
        n++;
        more = rs_time_plus(more, o->rows[i].excess_ns);
        if (worst == RS_NONE || o->rows[i].excess_ns > o->rows[worst].excess_ns) worst = i;
    }
    if (!n || more < span(r) / 200) return;
    struct rs_strbuf s = {0};
    uint32_t measured = 0, all = steps_looked_at(r);
    for (uint32_t i = r->steps.warmup; i < r->steps.n; i++)
        measured += r->steps.rows[i].counted && r->steps.rows[i].measured;
    rs_strbuf_printf(&s, "%" PRIu32 " of %" PRIu32 "%s steps took longer than usual, together by ", n, measured,
                     measured < all ? " measured" : "");
    rs_words_ns(&s, more);
    char utc[RS_MOMENT_ROOM];
    bool dated = rs_moment_utc(o->rows[worst].from_ns, utc, sizeof utc);
    rs_strbuf_printf(&s, "; the longest was step %" PRIu32 " at ", o->rows[worst].step);
    rs_words_moment(&s, r->view.model, o->rows[worst].from_ns);
    rs_strbuf_printf(&s, "%s%s: %s.", dated ? ", " : "", utc, o->rows[worst].text);
    say(r, &s);
}

static void say_doubts(struct rs_report *r)
{
    const struct rs_report_basis *b = &r->basis;
    if (b->totals.mismatches) {
        struct rs_strbuf s = {0};
        rs_strbuf_printf(&s,
                         "%" PRIu64 " operation%s called with different counts, types or roots on different ranks: "
                         "`ringscope ops --json` names them (\"mismatch\").",
                         b->totals.mismatches, b->totals.mismatches == 1 ? " was" : "s were");
        say(r, &s);
    }
    if (b->not_measured) {
        uint64_t measured = b->totals.ops - b->not_measured;
        struct rs_strbuf s = {0};
        rs_strbuf_printf(&s,
                         "GPU times were recorded of %" PRIu64 " of %" PRIu64
                         " operations (%.1f %%), in windows of detail: costs to others, waits and bandwidths are of "
                         "these, what a cure saves is of the whole run.",
                         measured, b->totals.ops, 100 * (double)measured / (double)b->totals.ops);
        say(r, &s);
    }
    uint64_t missing = b->totals.ops - b->totals.compared - b->alone - b->totals.violations - b->not_measured;
    if (b->totals.compared && missing > b->totals.ops / 20) {
        struct rs_strbuf s = {0};
        rs_strbuf_printf(&s, "%" PRIu64 " of %" PRIu64 " operations could not be compared: ", missing, b->totals.ops);
        if (b->untimed) rs_strbuf_printf(&s, "%" PRIu64 " without known starts", b->untimed);
        if (b->unaligned)
            rs_strbuf_printf(&s, "%s%" PRIu64 " on clocks that are not aligned", b->untimed ? ", " : "", b->unaligned);
        rs_strbuf_putc(&s, '.');
        say(r, &s);
    }
    if (b->totals.violations > b->totals.ops / 100) {
        struct rs_strbuf s = {0};
        rs_strbuf_printf(
            &s,
            "in %" PRIu64 " of %" PRIu64
            " operations a rank ended before another began, which is impossible: the times that NCCL reported "
            "belong to other work, or clocks are wrong (`ringscope clocks`); they are not compared.",
            b->totals.violations, b->totals.ops);
        say(r, &s);
    }
    if (b->unseen > 0) {
        struct rs_strbuf s = {0};
        rs_strbuf_printf(&s, "%" PRId64 " of %" PRId32 " ranks %s no recording here; nothing is said about %s.",
                         b->unseen, r->view.model->world, b->unseen == 1 ? "has" : "have",
                         b->unseen == 1 ? "it" : "them");
        say(r, &s);
    }
}

static void say_losses(struct rs_report *r)
{
    const struct rs_model *m = r->view.model;
    uint64_t gone[2] = {0}; /* in recordings: callbacks; in other tools' files: operations or lines */
    uint32_t procs[2] = {0};
    for (uint32_t p = 0; p < m->nprocs; p++) {
        uint64_t n = m->procs[p].lost + m->procs[p].overwritten + m->procs[p].damaged;
        bool other = !rs_tool_has(m->procs[p].tool, RS_CAP_CALLBACKS);
        gone[other] += n;
        procs[other] += n > 0;
    }
    static const char *const words[] = {"%" PRIu64 " callback%s of %" PRIu32
                                        " process%s are missing (lost, overwritten or unreadable: `ringscope info`).",
                                        "At least %" PRIu64 " operation%s of %" PRIu32
                                        " process%s are not in other tools' files (dropped by the tool, or "
                                        "unreadable: `ringscope info`)."};
    for (int other = 0; other < 2; other++) {
        if (!gone[other]) continue;
        struct rs_strbuf s = {0};
        rs_strbuf_printf(&s, words[other], gone[other], gone[other] == 1 ? "" : "s", procs[other],
                         procs[other] == 1 ? "" : "es");
        say(r, &s);
    }
}

/* Processes that did not close their recordings; *all: of these. Other tools do not report it. */
static uint32_t count_open(const struct rs_model *m, uint32_t *all)
{
    uint32_t open = 0;
    *all = 0;
    for (uint32_t p = 0; p < m->nprocs; p++) {
        open += rs_tool_has(m->procs[p].tool, RS_CAP_PROCESS_END) && !rs_hang_closed(&m->procs[p]);
        *all += m->procs[p].same == RS_NONE;
    }
    return open;
}

/* A rank that died, or a job that hangs: nothing else matters as much. Its times look like those of any other. */
static bool say_hang(struct rs_report *r)
{
    struct rs_hang h;
    struct rs_strbuf s = {0};
    uint32_t all;
    if (!count_open(r->view.model, &all)) return false;
    rs_hang_find(r->view.model, &(struct rs_filter){0}, &h);
    bool hangs = rs_hang_is_found(&h) && h.findings[0].verdict != RS_VERDICT_OUTSIDE_NCCL;
    if (hangs && h.nconclusion) {
        rs_strbuf_puts(&s, h.conclusion[0]);
        rs_strbuf_puts(&s, " `ringscope hang` shows the evidence.");
        say(r, &s);
    }
    rs_hang_free(&h);
    return hangs;
}

static void say_open(struct rs_report *r)
{
    uint32_t all, open = count_open(r->view.model, &all);
    if (!open) return;
    struct rs_strbuf s = {0};
    rs_strbuf_printf(&s,
                     "%" PRIu32 " of %" PRIu32
                     " processes did not close %s: the job still runs, was killed, or hangs (`ringscope hang` tells "
                     "which).",
                     open, all, open == 1 ? "its recording" : "their recordings");
    say(r, &s);
}

static void say_reached(struct rs_report *r)
{
    struct rs_strbuf s = {0};
    for (unsigned next = 0;
         rs_reached_say(&r->reached, r->view.model, &r->bandwidth, r->basis.totals.error_ns, &next, &s);)
        say(r, &s);
}

static void say_statistics(struct rs_report *r)
{
    struct rs_strbuf s = {0};
    for (unsigned next = 0; rs_statistics_say(&r->statistics, &next, &s);) say(r, &s);
}

/* Fills r->conclusion from the rest. */
static void conclusion_make(struct rs_report *r)
{
    say_statistics(r);
    if (!r->basis.totals.ops && r->nconclusion) return;
    if (!r->basis.totals.ops) {
        struct rs_strbuf s = {0};
        rs_strbuf_puts(&s, "no operations to report.");
        say(r, &s);
        return;
    }
    bool hangs = say_hang(r);
    say_late(r);
    say_reached(r);
    say_steps(r);
    say_doubts(r);
    say_losses(r);
    if (!hangs) say_open(r);
}

/* ---- the basis ---- */

/* Why an operation could not be compared. */
static void count_uncompared(struct rs_report *r, uint32_t op)
{
    const struct rs_model *m = r->view.model;
    struct rs_report_basis *b = &r->basis;
    uint32_t n = m->ops.nparts[op], island = RS_NONE;
    if (m->ops.flags[op] & RS_OP_VIOLATION) return; /* counted as a violation */
    bool untimed = false, unaligned = false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t part = m->order[m->ops.part[op] + i], domain = rs_part_start_domain(m, part);
        if (m->parts.start[part] == RS_TIME_NONE || domain == RS_NONE) {
            untimed = true;
            continue;
        }
        if (island != RS_NONE && m->domains[domain].island != island) unaligned = true;
        island = m->domains[domain].island;
    }
    if (n < 2)
        b->alone++;
    else if (rs_op_not_measured(m, op))
        b->not_measured++;
    else if (unaligned && !untimed)
        b->unaligned++;
    else
        b->untimed++;
}

static void count_ops(struct rs_report *r)
{
    const struct rs_model *m = r->view.model;
    struct rs_report_basis *b = &r->basis;
    b->from_ns = b->to_ns = RS_TIME_NONE;
    rs_totals_begin(&b->totals);
    for (uint32_t i = 0; i < r->view.nops; i++) {
        uint32_t op = r->view.ops[i];
        if (!r->view.passes[op]) continue;
        rs_totals_add(&b->totals, m, op);
        if (!rs_op_is_compared(m, op)) count_uncompared(r, op);
        int64_t from = m->ops.first[op] != RS_TIME_NONE ? m->ops.first[op] : rs_op_moment(m, op);
        int64_t to = rs_op_over(m, op);
        if (from != RS_TIME_NONE && (b->from_ns == RS_TIME_NONE || from < b->from_ns)) b->from_ns = from;
        if (to != RS_TIME_NONE && (b->to_ns == RS_TIME_NONE || to > b->to_ns)) b->to_ns = to;
    }
}

static void count_ranks(struct rs_report *r)
{
    struct rs_report_basis *b = &r->basis;
    struct rs_map hosts = {0};
    b->ranks = r->view.model->nranks;
    bool known = true; /* false: some have only clocks, and the number of hosts is unknown */
    for (uint32_t i = 0; i < r->view.model->nranks; i++) {
        known &= rs_host_name(r->view.model, r->view.model->ranks[i].host) != NULL;
        rs_map_put(&hosts, r->view.model->ranks[i].host, 1);
    }
    b->hosts = known ? (uint32_t)rs_map_count(&hosts) : 0; /* other tools may use other names for the same hosts */
    rs_map_free(&hosts);
    b->unseen = r->view.model->world >= 0 ? (int64_t)r->view.model->world - r->view.model->nranks : -1;
    if (r->view.model->world >= 0 && b->unseen < 0) b->unseen = 0; /* more than one job, or no communicator of all */
}

/* ---- all steps ---- */

/* Drops what is left out. */
static void leave_out(struct rs_report *r)
{
    for (uint32_t i = 0; i < r->view.nops && r->steps.after_ns != RS_TIME_NONE; i++) {
        uint32_t op = r->view.ops[i];
        if (rs_op_moment(r->view.model, op) < r->steps.after_ns) r->view.passes[op] = false;
    }
}

static bool has_starts(const struct rs_view *v)
{
    for (uint32_t i = 0; i < v->nops; i++)
        if (v->passes[v->ops[i]] && v->model->ops.first[v->ops[i]] != RS_TIME_NONE) return true;
    return false;
}

/* Gaps between operations are known if all operations are: of the filter, only its time applies. */
static void judge(struct rs_report *r, const struct rs_filter *filter)
{
    struct rs_filter times = {0};
    if (filter) times = *filter;
    times.nranks = times.ncomms = times.nfuncs = 0;
    rs_view_init(&r->all, r->view.model, &times);
    rs_whatif_init(&r->whatif, &r->all, &r->steps, &r->roles);
    rs_findings_init(&r->findings, &(struct rs_findings_of){.view = &r->all,
                                                            .steps = &r->steps,
                                                            .stragglers = &r->stragglers,
                                                            .one_offs = &r->one_offs,
                                                            .network = &r->network,
                                                            .compute = &r->compute,
                                                            .roles = &r->roles,
                                                            .whatif = &r->whatif});
    for (uint32_t i = 0; i < r->findings.n; i++)
        for (uint32_t k = 0; r->findings.rows[i].named && k < r->findings.rows[i].nranks; k++)
            r->named[r->findings.rows[i].ranks[k]] = true;
}

static enum rs_status make(struct rs_report *r, const struct rs_report_options *o, struct rs_err *err)
{
    RS_TRY(rs_steps_find(&r->steps, &r->view, err));
    rs_steps_within(&r->steps, o->filter ? o->filter : &(struct rs_filter){0}, o->warmup);
    leave_out(r);
    rs_job_layout_find(&r->layout, &r->view, &r->steps);
    rs_roles_find(&r->roles, &r->view, &r->steps, &r->layout);
    rs_compute_find(&r->compute, &r->view, &r->steps, &r->roles);
    rs_stragglers_find(&r->stragglers, &r->view);
    rs_per_step_cost_find(&r->stragglers, &r->view, &r->steps);
    rs_bandwidth_find(&r->bandwidth, &r->view, o->by_comm);
    r->link_gbs = o->link_gbs > 0 ? o->link_gbs : NAN;
    if (o->reference) rs_reached_find(&r->reached, o->reference, r->view.model, &r->bandwidth);
    if (has_starts(&r->view)) /* else steps are of calls, and their lengths are unknown */
        rs_one_offs_find(&r->one_offs, &r->view, &r->steps, &r->bandwidth);
    if (o->network) rs_matrix_find(&r->network, &r->view, o->filter, r->steps.after_ns);
    if (o->every_ns > 0 || o->every_steps)
        RS_TRY(rs_course_find(&r->course, &r->view, &r->steps, &r->stragglers, &r->bandwidth, o->every_ns,
                              o->every_steps, err));
    rs_statistics_init(&r->statistics, r->view.model);
    count_ops(r);
    count_ranks(r);
    judge(r, o->filter);
    conclusion_make(r);
    return RS_OK;
}

enum rs_status rs_report_init(struct rs_report *r, struct rs_model *m, const struct rs_report_options *options,
                              struct rs_err *err)
{
    *r = (struct rs_report){.named = rs_zalloc((size_t)m->nranks + 1, sizeof *r->named)};
    rs_view_init(&r->view, m, options->filter);
    enum rs_status status = make(r, options, err);
    if (status != RS_OK) rs_report_free(r);
    return status;
}

void rs_report_free(struct rs_report *r)
{
    for (size_t i = 0; i < r->nconclusion; i++) free(r->conclusion[i]);
    free(r->conclusion);
    rs_findings_free(&r->findings);
    rs_whatif_free(&r->whatif);
    rs_view_free(&r->all);
    free(r->named);
    rs_statistics_free(&r->statistics);
    rs_course_free(&r->course);
    rs_one_offs_free(&r->one_offs);
    rs_matrix_free(&r->network);
    rs_stragglers_free(&r->stragglers);
    rs_reached_free(&r->reached);
    rs_bandwidth_free(&r->bandwidth);
    rs_compute_free(&r->compute);
    rs_roles_free(&r->roles);
    rs_job_layout_free(&r->layout);
    rs_steps_free(&r->steps);
    rs_view_free(&r->view);
    *r = (struct rs_report){0};
}

enum rs_status rs_report_named(bool **named, struct rs_model *m, const struct rs_report_options *options,
                               struct rs_err *err)
{
    struct rs_report r;
    *named = NULL;
    RS_TRY(rs_report_init(&r, m, options, err));
    *named = r.named;
    r.named = NULL;
    rs_report_free(&r);
    return RS_OK;
}

bool rs_report_matters(const struct rs_report *r, const struct rs_straggler *s)
{
    int64_t span = rs_time_minus(r->basis.to_ns, r->basis.from_ns);
    return s->cost_ns > span / 1000 && s->cost_ns / 10 > r->basis.totals.error_ns;
}
