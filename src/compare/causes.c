/* Why the step time of two sides differs: see comparison.h.
 *
 * What a step of a rank is made of (figures RS_M_RANK_...) is compared with the same rank of the other side: its time
 * between operations, in two parts (until the next operation was launched, and the rest, in which its GPU worked), and the
 * transfers after the last rank arrived. Where a rank computes while its operations run, that time is hidden: then a rank
 * is named that the reports of one side find late, and those of the other do not. Waits are the consequence of these on
 * other ranks, and a cause only if no rank has another: then ranks are late in turn. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/words.h"
#include "base/memory.h"
#include "base/room.h"
#include "compare/comparison.h"

#define LEAST_OF_CHANGE 0.25 /* of the change of the step: a cause that explains less is not named */
#define LEAST_OF_LARGEST 0.5 /* ranks that take longer by this much of the one that takes longest are named with it */

const char *rs_cause_name(enum rs_cause_kind k)
{
    static const char *const names[RS_CAUSES] = {"gpu", "launch", "rank", "transfer", "wait"};
    return names[k];
}

/* What a rank's step changed by, in ns; in the direction of the step. */
struct rank_change {
    int32_t rank;
    double gpu, launch, wait, transfer;
};

struct work {
    bool launches, divided; /* it is known when ranks launched, and what their steps are made of */
    struct rs_comparison *c;
    struct rank_change *ranks;
    uint32_t n, cap;
    double change; /* of the step, above 0 */
    int sign; /* of it */
};

static struct rank_change *rank_at(struct work *w, int32_t rank)
{
    for (uint32_t i = w->n; i-- > 0;)
        if (w->ranks[i].rank == rank) return &w->ranks[i];
    RS_ROOM(w->ranks, w->n, w->cap);
    w->ranks[w->n] = (struct rank_change){.rank = rank};
    return &w->ranks[w->n++];
}

static void find_ranks(struct work *w)
{
    for (uint32_t i = 0; i < w->c->nrows; i++) {
        const struct rs_compared *row = &w->c->rows[i];
        if (!rs_measure_of_rank(row->measure) || isnan(row->a) || isnan(row->b)) continue;
        struct rank_change *x = rank_at(w, row->rank);
        double change = w->sign * (row->b - row->a);
        switch (row->measure) {
        case RS_M_RANK_GPU:
            x->gpu = change;
            w->divided = true;
            break;
        case RS_M_RANK_LAUNCH:
            x->launch = change;
            w->launches = true;
            break;
        case RS_M_RANK_WAIT: x->wait = change; break;
        default: x->transfer = change; break;
        }
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double own(const struct rank_change *x)
{
    return x->gpu + x->launch;
}

static double median_own(const struct work *w)
{
    double *values = rs_alloc(((size_t)w->n + 1) * sizeof *values);
    for (uint32_t i = 0; i < w->n; i++) values[i] = own(&w->ranks[i]);
    qsort(values, w->n, sizeof *values, by_value);
    double median = w->n ? (values[(w->n - 1) / 2] + values[w->n / 2]) / 2 : 0;
    free(values);
    return median;
}

/* ---- words ---- */

static void say_ns(struct rs_strbuf *s, double ns)
{
    rs_words_ns(s, (int64_t)fabs(ns));
}

static const char *longer(const struct rs_step_cause *x)
{
    return x->ns > 0 ? "longer" : "less";
}

static void say_ranks(struct rs_strbuf *s, const struct rs_step_cause *x)
{
    enum { MOST = 8 };
    if (x->all || x->who) {
        rs_strbuf_puts(s, x->all ? "all ranks" : x->who);
        return;
    }
    rs_strbuf_puts(s, x->nranks == 1 ? "rank " : "ranks ");
    for (uint32_t i = 0; i < x->nranks && i < MOST; i++) rs_strbuf_printf(s, "%s%" PRId32, i ? ", " : "", x->ranks[i]);
    if (x->nranks > MOST) rs_strbuf_printf(s, " and %" PRIu32 " more", x->nranks - MOST);
}

static void say_cause(struct rs_step_cause *x)
{
    struct rs_strbuf s = {0};
    bool one = !x->all && (x->nranks == 1 || (x->who && strncmp(x->who, "ranks ", 6) != 0));
    switch (x->kind) {
    case RS_CAUSE_GPU:
        rs_strbuf_puts(&s, one ? "the GPU of " : "the GPUs of ");
        say_ranks(&s, x);
        rs_strbuf_puts(&s, one ? " takes " : " take ");
        say_ns(&s, x->ns);
        rs_strbuf_printf(&s, " %s per step between operations (compute): ", longer(x));
        rs_strbuf_puts(&s, "operations are not launched later.");
        break;
    case RS_CAUSE_LAUNCH:
        say_ranks(&s, x);
        rs_strbuf_printf(&s, " launch%s operations ", one ? "es" : "");
        say_ns(&s, x->ns);
        rs_strbuf_printf(&s, " %s per step: the program on the host, not the GPU.", x->ns > 0 ? "later" : "earlier");
        break;
    case RS_CAUSE_RANK:
        say_ranks(&s, x);
        rs_strbuf_puts(&s, one ? " takes " : " take ");
        say_ns(&s, x->ns);
        rs_strbuf_printf(&s, " %s per step between operations: its GPU, or a late launch (launches are not recorded).",
                         longer(x));
        break;
    case RS_CAUSE_TRANSFER:
        if (isnan(x->ns)) {
            rs_strbuf_printf(&s, "%s is slow in B only.", x->link);
            break;
        }
        rs_strbuf_puts(&s, "transfers take ");
        say_ns(&s, x->ns);
        rs_strbuf_printf(&s, " %s per step after the last rank arrived", longer(x));
        if (x->of) rs_strbuf_printf(&s, ", most of it in %s", x->of);
        if (x->link) rs_strbuf_printf(&s, "; %s is slow in %s only", x->link, x->ns > 0 ? "B" : "A");
        rs_strbuf_putc(&s, '.');
        break;
    default:
        rs_strbuf_puts(&s, "ranks wait ");
        say_ns(&s, x->ns);
        rs_strbuf_printf(&s, " %s per step for whoever is last, and no rank's own time differs as much: jitter.",
                         longer(x));
        break;
    }
    rs_strbuf_take(&s, &x->text);
}

/* ---- causes ---- */

static void add_cause(struct work *w, struct rs_step_cause x)
{
    x.ns *= w->sign;
    say_cause(&x);
    w->c->causes[w->c->ncauses++] = x;
}

static int by_rank(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

/* Ranks that take longer themselves, by what their steps are made of. */
static struct rs_step_cause own_by_figures(const struct work *w)
{
    const struct rank_change *top = NULL;
    for (uint32_t i = 0; i < w->n; i++)
        if (!top || own(&w->ranks[i]) > own(top)) top = &w->ranks[i];
    if (!top) return (struct rs_step_cause){.ns = 0};
    struct rs_step_cause x = {.kind = !w->launches             ? RS_CAUSE_RANK
                                      : top->launch > top->gpu ? RS_CAUSE_LAUNCH
                                                               : RS_CAUSE_GPU,
                              .ns = own(top),
                              .all = w->n > 1 && median_own(w) >= LEAST_OF_LARGEST * own(top),
                              .ranks = rs_alloc(((size_t)w->n + 1) * sizeof *x.ranks)};
    for (uint32_t i = 0; i < w->n; i++)
        if (x.all || own(&w->ranks[i]) >= LEAST_OF_LARGEST * own(top)) x.ranks[x.nranks++] = w->ranks[i].rank;
    qsort(x.ranks, x.nranks, sizeof *x.ranks, by_rank);
    if (x.all) x.ns = median_own(w);
    return x;
}

/* The same, by what reports find on one side only: the latest rank (host, group). ns 0: nothing. */
static struct rs_step_cause own_by_findings(const struct work *w)
{
    enum rs_finding_change wanted = w->sign > 0 ? RS_FINDING_CAME : RS_FINDING_WENT;
    struct rs_step_cause x = {.ns = 0};
    for (uint32_t i = 0; i < w->c->nfindings; i++) {
        const struct rs_run_finding *f = w->c->findings[i].finding;
        if (w->c->findings[i].change != wanted || strcmp(f->kind, "persistent") != 0 || !(f->late > x.ns)) continue;
        const char *launched = rs_why_text(RS_WHY_LAUNCHED_LATE), *unknown = rs_why_text(RS_WHY_UNKNOWN);
        x.ns = f->late;
        x.kind = !f->why || !strcmp(f->why, unknown) ? RS_CAUSE_RANK
                 : !strcmp(f->why, launched)         ? RS_CAUSE_LAUNCH
                                                     : RS_CAUSE_GPU;
        free(x.ranks);
        x.ranks = rs_alloc(sizeof *x.ranks);
        x.nranks = f->rank >= 0;
        x.ranks[0] = f->rank;
        x.who = f->rank >= 0 ? NULL : f->name;
    }
    return x;
}

/* Where a report does not know why: what the rank's steps are made of. */
static void refine(const struct work *w, struct rs_step_cause *x)
{
    for (uint32_t i = 0; i < w->n && w->launches && x->kind == RS_CAUSE_RANK && x->nranks == 1; i++)
        if (w->ranks[i].rank == x->ranks[0])
            x->kind = w->ranks[i].launch > w->ranks[i].gpu ? RS_CAUSE_LAUNCH : RS_CAUSE_GPU;
}

/* Both, where they agree; else what is found only on one side. */
static struct rs_step_cause own_cause(const struct work *w, double least)
{
    struct rs_step_cause x = own_by_figures(w), y = own_by_findings(w);
    bool agree = !x.all && x.nranks == 1 && y.nranks == 1 && x.ranks[0] == y.ranks[0];
    bool second = y.ns >= least && !(agree && x.ns >= least) && !(x.all && x.ns > y.ns);
    free(second ? x.ranks : y.ranks);
    if (second) refine(w, &y);
    return second ? y : x;
}

/* The function whose transfers changed most: per call, times how often it is called as far as its share tells. */
static const char *changed_function(const struct work *w)
{
    const char *of = NULL;
    double most = 0;
    for (uint32_t i = 0; i < w->c->nrows; i++) {
        const struct rs_compared *row = &w->c->rows[i], *time;
        if (row->measure != RS_M_TRANSFER || isnan(row->a) || isnan(row->b)) continue;
        time = rs_comparison_row(w->c, RS_M_TIME, row->of, -1);
        double change = w->sign * (row->b - row->a) * (time && time->a > 0 ? row->share / time->a : 0);
        if (change <= most) continue;
        most = change;
        of = row->of;
    }
    return of;
}

static const char *changed_link(const struct work *w)
{
    enum rs_finding_change wanted = w->sign > 0 ? RS_FINDING_CAME : RS_FINDING_WENT;
    for (uint32_t i = 0; i < w->c->nfindings; i++)
        if (w->c->findings[i].change == wanted && !strcmp(w->c->findings[i].finding->scope, "link"))
            return w->c->findings[i].finding->name;
    return NULL;
}

/* The step times do not differ beyond noise, but a rank or link is late on side B only. */
static void by_regression(struct rs_comparison *c, const struct rs_compared_finding *f)
{
    struct work w = {.c = c, .sign = 1};
    if (!f) return;
    find_ranks(&w);
    struct rs_step_cause x = own_by_findings(&w);
    refine(&w, &x);
    if (!strcmp(f->finding->scope, "link")) {
        free(x.ranks);
        x = (struct rs_step_cause){.kind = RS_CAUSE_TRANSFER, .ns = NAN, .link = f->finding->name};
    }
    if (x.ns != 0) add_cause(&w, x);
    free(w.ranks);
}

void rs_causes_find(struct rs_comparison *c)
{
    if (c->first == RS_NONE || c->rows[c->first].measure != RS_M_STEP_P50) return;
    const struct rs_compared *step = &c->rows[c->first];
    if (step->verdict <= RS_NO_DIFFERENCE) {
        by_regression(c, rs_comparison_regression(c, 0).finding);
        return;
    }
    struct work w = {.c = c, .change = fabs(step->b - step->a), .sign = step->b > step->a ? 1 : -1};
    find_ranks(&w);
    double least = LEAST_OF_CHANGE * w.change, transfer = 0, wait = 0;
    for (uint32_t i = 0; i < w.n; i++) {
        if (w.ranks[i].transfer > transfer) transfer = w.ranks[i].transfer;
        if (w.ranks[i].wait > wait) wait = w.ranks[i].wait;
    }
    struct rs_step_cause self = own_cause(&w, least), moved = {.kind = RS_CAUSE_TRANSFER, .ns = transfer};
    bool moves = transfer >= least;
    if (moves) {
        moved.of = changed_function(&w);
        moved.link = changed_link(&w);
    }
    if (moves && transfer > self.ns) add_cause(&w, moved);
    if (self.ns >= least)
        add_cause(&w, self);
    else
        free(self.ranks);
    if (moves && transfer <= self.ns) add_cause(&w, moved);
    if (!c->ncauses && w.divided && wait >= least)
        add_cause(&w, (struct rs_step_cause){.kind = RS_CAUSE_WAIT, .ns = wait});
    free(w.ranks);
}
