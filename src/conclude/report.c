#include "conclude/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/hang_state.h"
#include "analyse/per_step_cost.h"
#include "analyse/words.h"
#include "base/memory.h"
#include "join/ranks.h"

/* ---- the conclusion ----
 * The last lines of a report: sentences that an operator can act on. Nothing below the clock error is claimed. */

static void say(struct rs_report *r, struct rs_strbuf *s)
{
    rs_words_sentence(&r->conclusion, &r->nconclusion, s);
}

static int64_t span(const struct rs_report *r)
{
    int64_t ns = rs_time_minus(r->basis.to_ns, r->basis.from_ns);
    return ns > 0 ? ns : 1;
}

/* "0.82 s of 9.1 s (9 %)" */
static void of_the_run(struct rs_strbuf *s, const struct rs_report *r, int64_t ns)
{
    double share = 100 * (double)ns / (double)span(r);
    rs_words_ns(s, ns);
    rs_strbuf_puts(s, " of ");
    rs_words_ns(s, span(r));
    rs_strbuf_printf(s, share >= 9.5 ? " (%.0f %%)" : share >= 0.1 ? " (%.1f %%)" : " (%.2g %%)", share);
}

/* ---- stragglers ---- */

static const char *advice(const struct rs_straggler *s)
{
    bool host = s->rank_id == RS_NONE;
    switch (s->why) {
    case RS_WHY_LAUNCHED_LATE:
        return host ? "launched late: check the CPUs of that host (other load, data loading, storage)."
                    : "launched late, not slow on the GPU: check that process (data loading, Python, other load on "
                      "its "
                      "cores).";
    case RS_WHY_QUEUED:
        return host ? "queued behind compute: check the GPUs of that host (power, cooling, clocks)."
                    : "queued behind its own compute, not launched late: check that GPU (clocks, thermals) or its "
                      "share "
                      "of the work.";
    case RS_WHY_HELD: return "mostly held by an earlier collective; the cost is only its own part.";
    default: return "late for an unknown reason (no launches recorded, or clock errors too large).";
    }
}

static void say_straggler(struct rs_report *r, const struct rs_straggler *x, bool also)
{
    struct rs_strbuf s = {0};
    if (also) rs_strbuf_puts(&s, "also ");
    if (x->rank_id != RS_NONE)
        rs_rank_words(&s, r->view.model, x->rank_id);
    else
        rs_strbuf_printf(&s, "host %s", rs_host_label(r->view.model, x->host));
    rs_strbuf_printf(&s, " was last in %.0f %% of %" PRIu64 " operations and cost the others up to ", 100 * x->share,
                     x->compared);
    of_the_run(&s, r, x->cost_ns);
    if (x->rank_id != RS_NONE && x->once_ns != RS_TIME_NONE && x->once_ns < x->cost_ns - x->cost_ns / 5) {
        rs_strbuf_puts(&s, ", or ");
        rs_words_ns(&s, x->once_ns);
        rs_strbuf_puts(&s, " if one delay per step appears in several operations");
    }
    rs_strbuf_puts(&s, x->rank_id == RS_NONE ? "; its ranks are late together: " : "; it was ");
    rs_strbuf_puts(&s, advice(x));
    if (x->passed_on_ns > x->cost_ns / 10) {
        rs_strbuf_puts(&s, " Its lateness was passed on to other ranks (");
        rs_words_ns(&s, x->passed_on_ns);
        rs_strbuf_puts(&s, " of other ranks began with it).");
    }
    say(r, &s);
}

/* Ranks that are late by themselves: inherited lateness is reported elsewhere. */
static bool *mark_own(const struct rs_report *r)
{
    bool *own = rs_alloc(r->view.model->nranks + 1);
    memset(own, true, r->view.model->nranks + 1);
    for (uint32_t i = 0; i < r->stragglers.nrows; i++) {
        const struct rs_straggler *x = &r->stragglers.rows[i];
        if (x->rank_id != RS_NONE && x->inherited_ns > x->cost_ns) own[x->rank_id] = false;
    }
    return own;
}

/* Several ranks that are late together cost nothing alone: each is compared with the others. */
static void say_group(struct rs_report *r, bool *said)
{
    enum { NAMED = 4 };
    const struct rs_lateness *l = &r->stragglers.lateness;
    uint32_t late = 0;
    int64_t least = INT64_MAX;
    struct rs_strbuf s = {0};
    bool *own = mark_own(r);
    for (uint32_t i = 0; i < l->nranks; i++) {
        const struct rs_late_row *x = &l->rows[i];
        double sum = (double)x->mean_ns * (double)x->compared;
        if (!own[i] || x->mean_ns / 10 <= r->basis.totals.error_ns || sum < 0.005 * (double)span(r)) continue;
        if (late++) rs_strbuf_puts(&s, late <= NAMED ? ", " : "");
        if (late <= NAMED) rs_rank_words(&s, r->view.model, i);
        if (x->mean_ns < least) least = x->mean_ns;
    }
    free(own);
    if (late < 2 || late * 4 > l->nranks) {
        rs_strbuf_free(&s);
        return;
    }
    if (late > NAMED) rs_strbuf_printf(&s, " and %" PRIu32 " more", late - NAMED);
    rs_strbuf_puts(&s, " are late together, each ");
    rs_words_ns(&s, least);
    rs_strbuf_puts(&s, " or more behind the median: fixing only one of them would save little.");
    *said = true;
    say(r, &s);
}

/* The operation with the largest distance between its ranks, beyond the clock error; RS_NONE: none. */
static uint32_t widest(struct rs_report *r, int64_t *apart)
{
    const struct rs_ops *o = &r->view.model->ops;
    uint32_t found = RS_NONE;
    *apart = 0;
    for (uint32_t i = 0; i < r->view.nops; i++) {
        uint32_t op = r->view.ops[i];
        if (!r->view.passes[op] || !rs_view_compare(&r->view, op)) continue;
        int64_t ns = rs_time_minus(o->last[op], o->first[op]);
        if (ns <= *apart || ns < rs_op_least(r->view.model, op)) continue;
        *apart = ns;
        found = op;
    }
    return found;
}

static void say_nobody(struct rs_report *r)
{
    struct rs_strbuf s = {0};
    const struct rs_stragglers *x = &r->stragglers;
    int64_t apart;
    uint32_t op = x->cost_ns ? RS_NONE : widest(r, &apart);
    if (op != RS_NONE) { /* ties: several were late, and no single rank */
        rs_strbuf_puts(&s, "no operation has a single last rank beyond the clock error of ");
        rs_words_ns(&s, r->basis.totals.error_ns);
        rs_strbuf_puts(&s, ", but ranks waited for others up to ");
        rs_words_ns(&s, apart);
        rs_strbuf_printf(&s, " (%s): `ringscope ops` lists the waits.",
                         rs_model_text(r->view.model, r->view.model->ops.func[op]));
    } else if (!x->cost_ns) {
        rs_strbuf_puts(&s, "no rank is late by more than the clock error of ");
        rs_words_ns(&s, r->basis.totals.error_ns);
        rs_strbuf_puts(&s, ".");
    } else {
        rs_strbuf_puts(&s, x->rows[0].rank_id == RS_NONE ? "no rank or host stands out; the largest cost of one is "
                                                         : "no rank stands out; the largest cost of one is ");
        of_the_run(&s, r, x->rows[0].cost_ns);
        rs_strbuf_puts(&s, ".");
    }
    say(r, &s);
}

/* In the window, without those of the warm-up. */
static uint32_t steps_looked_at(const struct rs_report *r)
{
    uint32_t n = 0;
    for (uint32_t i = r->steps.warmup; i < r->steps.n; i++) n += r->steps.rows[i].counted;
    return n;
}

/* Whether it is late repeatedly: in a third of the steps, or in a tenth of its operations. Single occasions are
 * reported by the steps that took longer, unless they cost much. */
static bool is_steady(const struct rs_report *r, const struct rs_straggler *x)
{
    uint64_t steps = steps_looked_at(r);
    return x->cost_ns > span(r) / 20 ||
           (x->times_last >= 5 && ((steps && 3 * x->times_last >= steps) || x->share_low >= 0.1));
}

/* Whether one of the first two of its kind (n hosts, or ranks) costs that many times more than the next: the first
 * alone, or both if there are others. The second of two hosts never does. */
static bool costs_more(const struct rs_stragglers *s, uint32_t i, uint32_t n, int64_t times)
{
    int64_t costs[3] = {0};
    uint32_t place = 0;
    for (uint32_t k = 0, found = 0; k < s->nrows && found < 3; k++) {
        if ((s->rows[k].rank_id == RS_NONE) != (s->rows[i].rank_id == RS_NONE)) continue;
        if (k == i) place = found;
        costs[found++] = s->rows[k].cost_ns;
    }
    return (place == 0 && costs[0] / times > costs[1]) || (n > 2 && costs[1] / times > costs[2]);
}

/* Whether it is last clearly more often than its share among n: without ties some rank is always last. */
static bool beyond_its_turn(const struct rs_stragglers *s, const struct rs_straggler *x, uint32_t n)
{
    return x->share_low > 1.5 * (double)(s->compared - s->ties) / (double)s->compared / n;
}

/* Whether it is named: its cost matters (half a percent of the run), it is one of the first two of its kind, and it
 * costs much more than the next or is last more often than by chance. */
static bool stands_out(const struct rs_report *r, uint32_t i)
{
    const struct rs_stragglers *s = &r->stragglers;
    const struct rs_straggler *x = &s->rows[i];
    bool host = x->rank_id == RS_NONE;
    uint32_t n = host ? r->view.model->nhosts : r->view.model->nranks, before = 0;
    for (uint32_t k = 0; k < i; k++) before += (s->rows[k].rank_id == RS_NONE) == host;
    if (x->by_host && !host) return false;
    if (!rs_report_matters(r, x) || x->cost_ns <= span(r) / 200 || before >= 2 || !is_steady(r, x)) return false;
    return costs_more(s, i, n, 10) || (x->times_last >= 3 && x->share_low > 2.0 / n) ||
           (costs_more(s, i, n, 3) && (x->cost_ns > span(r) / 20 || beyond_its_turn(s, x, n)));
}

static void say_stragglers(struct rs_report *r)
{
    const struct rs_stragglers *s = &r->stragglers;
    if (!s->compared) {
        struct rs_strbuf t = {0};
        uint64_t clock_free = 0;
        for (uint32_t i = 0; i < r->bandwidth.nrows; i++) clock_free += r->bandwidth.rows[i].clock_free;
        if (clock_free) {
            rs_strbuf_printf(&t,
                             "no operation has known starts on two ranks with aligned clocks: the waits of %" PRIu64
                             " operation%s come from durations (of ranks that end together, the "
                             "fastest arrived last), and no rank is named.",
                             clock_free, clock_free == 1 ? "" : "s");
            say(r, &t);
            return;
        }
        rs_strbuf_puts(&t,
                       r->view.model->aligned || r->basis.alone == r->basis.totals.ops
                           ? "which rank waited for which is unknown: no operation has known starts on two ranks with "
                             "aligned clocks."
                           : "which rank waited for which is unknown: clocks are not aligned (--no-align).");
        say(r, &t);
        return;
    }
    uint32_t named = 0, first = 0;
    for (uint32_t i = 0; i < s->nrows && i < 8 && named < 2; i++) {
        const struct rs_straggler *x = &s->rows[i], *y = &s->rows[first];
        if (!stands_out(r, i) || (named && x->cost_ns <= s->rows[0].cost_ns / 4)) continue;
        if (named && x->host == y->host && (x->rank_id == RS_NONE) != (y->rank_id == RS_NONE))
            continue; /* already reported */
        if (!named) first = i;
        say_straggler(r, x, named++ > 0);
        for (uint32_t k = 0; k < r->view.model->nranks; k++)
            r->named[k] |= x->rank_id == RS_NONE ? r->view.model->ranks[k].host == x->host : k == x->rank_id;
    }
    bool group = named > 0;
    if (!group) say_group(r, &group);
    if (!group) say_nobody(r);
}

/* ---- other sentences ---- */

static void say_links(struct rs_report *r)
{
    for (uint32_t i = 0; i < r->network.nslow && i < 2; i++) {
        const struct rs_slow_link *x = &r->network.slow[i];
        const struct rs_link_row *row = &r->network.rows[x->row];
        struct rs_strbuf s = {0};
        if (x->scope == RS_SLOW_LINK) {
            rs_strbuf_puts(&s, "the link from ");
            rs_rank_words(&s, r->view.model, row->rank_id);
            rs_strbuf_puts(&s, " to ");
            if (row->peer_id != RS_NONE)
                rs_rank_words(&s, r->view.model, row->peer_id);
            else
                rs_strbuf_puts(&s, "a rank without a recording");
        } else {
            rs_rank_words(&s, r->view.model, x->scope == RS_SLOW_SENDER ? row->rank_id : row->peer_id);
            rs_strbuf_printf(&s, " is slow %s %" PRIu32 " peers: the network",
                             x->scope == RS_SLOW_SENDER ? "sending to" : "receiving from", x->links);
        }
        rs_strbuf_printf(&s, " takes %.1f times as long per byte as the median of similar links: check that %s.",
                         x->slower,
                         x->scope == RS_SLOW_LINK ? "path (NIC, cable, switch port)" : "host's NIC and cable");
        say(r, &s);
    }
}

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
    rs_strbuf_printf(&s, "%" PRIu32 " of %" PRIu32 " steps took longer than usual, together by ", n,
                     steps_looked_at(r));
    rs_words_ns(&s, more);
    rs_strbuf_printf(&s, "; the longest was step %" PRIu32 ": %s.", o->rows[worst].step, o->rows[worst].text);
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
    uint64_t missing = b->totals.ops - b->totals.compared - b->alone - b->totals.violations;
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

/* Times of a hanging job look like those of any other. */
static void say_open(struct rs_report *r)
{
    const struct rs_model *m = r->view.model;
    uint32_t open = 0, all = 0;
    for (uint32_t p = 0; p < m->nprocs; p++) { /* other tools do not report it */
        open += rs_tool_has(m->procs[p].tool, RS_CAP_PROCESS_END) && !rs_hang_closed(&m->procs[p]);
        all += m->procs[p].same == RS_NONE;
    }
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
    say_stragglers(r);
    say_links(r);
    say_reached(r);
    say_steps(r);
    say_doubts(r);
    say_losses(r);
    say_open(r);
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

static enum rs_status make(struct rs_report *r, const struct rs_report_options *o, struct rs_err *err)
{
    RS_TRY(rs_steps_find(&r->steps, &r->view, err));
    rs_steps_within(&r->steps, o->filter ? o->filter : &(struct rs_filter){0}, o->warmup);
    leave_out(r);
    rs_job_layout_find(&r->layout, &r->view, &r->steps);
    rs_roles_find(&r->roles, &r->view, &r->steps, &r->layout);
    rs_stragglers_find(&r->stragglers, &r->view);
    rs_per_step_cost_find(&r->stragglers, &r->view, &r->steps);
    rs_bandwidth_find(&r->bandwidth, &r->view, o->by_comm);
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
    free(r->named);
    rs_statistics_free(&r->statistics);
    rs_course_free(&r->course);
    rs_one_offs_free(&r->one_offs);
    rs_matrix_free(&r->network);
    rs_stragglers_free(&r->stragglers);
    rs_reached_free(&r->reached);
    rs_bandwidth_free(&r->bandwidth);
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
