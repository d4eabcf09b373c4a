#include "analyse/stragglers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/quantile.h"
#include "base/memory.h"
#include "base/room.h"

/* ---- lateness of each rank and host ---- */

void rs_wilson(uint64_t hits, uint64_t n, double *low, double *high)
{
    *low = 0;
    *high = 1;
    if (!n) return;
    const double z = 1.959964;
    double count = (double)n, p = (double)hits / count, zz = z * z / count;
    double middle = p + zz / 2, half = z * sqrt(p * (1 - p) / count + zz / (4 * count));
    *low = (middle - half) / (1 + zz);
    *high = (middle + half) / (1 + zz);
    if (*low < 0 || !hits) *low = 0;
    if (*high > 1 || hits == n) *high = 1;
}

static void lateness_free(struct rs_lateness *l);

static void lateness_init(struct rs_lateness *l, const struct rs_view *v)
{
    const struct rs_model *m = v->model;
    uint32_t most = 0;
    for (uint32_t i = 0; i < v->nops; i++)
        if (m->ops.nparts[v->ops[i]] > most) most = m->ops.nparts[v->ops[i]];
    *l = (struct rs_lateness){.nranks = v->model->nranks, .nhosts = m->nhosts};
    l->rows = rs_zalloc((size_t)v->model->nranks + m->nhosts + 1, sizeof *l->rows);
    l->from = rs_zalloc((size_t)v->model->nranks + 1, sizeof *l->from);
    l->order = rs_zalloc((size_t)v->model->nranks + 1, sizeof *l->order);
    l->samples = rs_alloc(((size_t)m->parts.n + 1) * sizeof *l->samples);
    l->starts = rs_alloc(((size_t)most + 1) * sizeof *l->starts);
    uint32_t *at = rs_zalloc((size_t)m->nhosts + 1, sizeof *at);
    for (uint32_t i = 0; i < v->model->nranks; i++) at[v->model->ranks[i].host + 1]++;
    for (uint32_t i = 1; i <= m->nhosts; i++) at[i] += at[i - 1];
    for (uint32_t i = 0; i < v->model->nranks; i++) {
        l->order[at[v->model->ranks[i].host]++] = i;
        l->rows[i] = (struct rs_late_row){.rank_id = i, .host = v->model->ranks[i].host};
    }
    for (uint32_t i = 0; i < m->nhosts; i++)
        l->rows[v->model->nranks + i] = (struct rs_late_row){.rank_id = RS_NONE, .host = i};
    free(at);
    /* Room for each rank: it cannot occur more often than it has parts. */
    for (uint32_t i = 0; i < m->parts.n; i++) {
        uint32_t rank_id = m->members[m->parts.member[i]].rank_id;
        if (rank_id != RS_NONE) l->from[rank_id]++;
    }
    uint64_t sum = 0;
    for (uint32_t i = 0; i < v->model->nranks; i++) {
        uint64_t n = l->from[l->order[i]];
        l->from[l->order[i]] = sum;
        sum += n;
    }
}

/* Adds the arrivals of the view; `last` is the rank that was last, or RS_NONE. */
static void lateness_add(struct rs_lateness *l, const struct rs_view *v, uint32_t last)
{
    for (uint32_t i = 0; i < v->narrivals; i++) l->starts[i] = v->arrivals[i].start;
    int64_t median = rs_median(l->starts, v->narrivals);
    for (uint32_t i = 0; i < v->narrivals; i++) {
        const struct rs_arrival *a = &v->arrivals[i];
        struct rs_late_row *r = &l->rows[a->rank_id], *host = &l->rows[l->nranks + r->host];
        int64_t late = a->start - median;
        l->samples[l->from[a->rank_id] + r->compared++] = (int32_t)(late > INT32_MAX   ? INT32_MAX
                                                                    : late < INT32_MIN ? INT32_MIN
                                                                                       : late);
        r->mean_ns += late; /* a sum, for now */
        host->mean_ns += late;
        host->compared++;
        if (a->rank_id != last) continue;
        r->last++;
        host->last++;
    }
}

static int64_t p99(const int32_t *samples, size_t n, int64_t *scratch)
{
    for (size_t i = 0; i < n; i++) scratch[i] = samples[i];
    return rs_quantile(scratch, n, 0.99);
}

/* Computes the rows and frees the samples. */
static void lateness_finish(struct rs_lateness *l)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < l->nranks + l->nhosts; i++)
        if (l->rows[i].compared > most) most = l->rows[i].compared;
    int64_t *scratch = rs_alloc((most + 1) * sizeof *scratch);
    uint64_t at = 0; /* compacts the samples of a host */
    for (uint32_t i = 0; i < l->nranks;) {
        uint32_t host = l->rows[l->order[i]].host;
        uint64_t begin = at;
        for (; i < l->nranks && l->rows[l->order[i]].host == host; i++) {
            struct rs_late_row *r = &l->rows[l->order[i]];
            memmove(l->samples + at, l->samples + l->from[l->order[i]], r->compared * sizeof *l->samples);
            r->p99_ns = p99(l->samples + at, r->compared, scratch);
            if (r->compared) r->mean_ns /= (int64_t)r->compared;
            at += r->compared;
        }
        struct rs_late_row *h = &l->rows[l->nranks + host];
        h->p99_ns = p99(l->samples + begin, at - begin, scratch);
        if (h->compared) h->mean_ns /= (int64_t)h->compared;
    }
    free(scratch);
    free(l->samples);
    free(l->starts);
    l->samples = NULL;
    l->starts = NULL;
}

static void lateness_free(struct rs_lateness *l)
{
    free(l->rows);
    free(l->from);
    free(l->order);
    free(l->samples);
    free(l->starts);
    *l = (struct rs_lateness){0};
}

/* ---- why a rank was late ----
 * Launched late, or launched in time and queued behind compute.
 *
 * Sums are kept in a straggler's why_ns until why_finish(). Launch lags are added with their sign, and only the sum
 * counts as launched late: launches of a program that runs ahead of its GPU are sometimes earlier, sometimes later,
 * which means nothing. A launch that was in the queue for longer than the rank was late did not delay it, even if it
 * was later than the others': a full queue delays launches, too. */

const char *rs_why_text(enum rs_why why)
{
    static const char *const texts[RS_WHYS] = {"launched late", "queued behind compute",
                                               "held by an earlier collective", "unknown"};
    return texts[why];
}

bool rs_part_has_launch(const struct rs_model *m, uint32_t part)
{
    uint32_t gpu = rs_part_start_domain(m, part), host = rs_member_host_domain(m, m->parts.member[part]);
    return m->parts.launched[part] != RS_TIME_NONE && m->parts.start[part] != RS_TIME_NONE &&
           !(m->parts.flags[part] & RS_PART_CAPTURED) && gpu != RS_NONE &&
           m->domains[gpu].island == m->domains[host].island;
}

/* RS_TIME_NONE is below 0, too. */
static int64_t host_error(const struct rs_model *m, uint32_t member)
{
    return m->domains[rs_member_host_domain(m, member)].error_ns;
}

/* By how much, at least, the last rank was launched later than a rank that was in time; false: unknown. That is
 * start - start' = (launch - launch') + (queue - queue')
 * solved for the launches. Compared with the latest launch on the same host (one clock, no error), if there is one;
 * else with `other`, if the clock errors of the two hosts are small enough for `own` ns. */
static bool launch_lag(const struct rs_view *v, const struct rs_arrival *last, const struct rs_arrival *other,
                       int64_t own, int64_t *lag)
{
    const struct rs_model *m = v->model;
    const int64_t *launched = m->parts.launched;
    if (!rs_part_has_launch(m, last->part)) return false;
    int64_t latest = RS_TIME_NONE;
    for (uint32_t i = 0; i < v->narrivals; i++) {
        const struct rs_arrival *a = &v->arrivals[i];
        if (a->start <= other->start && v->model->ranks[a->rank_id].host == v->model->ranks[last->rank_id].host &&
            rs_part_has_launch(m, a->part) && launched[a->part] > latest)
            latest = launched[a->part];
    }
    if (latest == RS_TIME_NONE) {
        int64_t a = host_error(m, last->member), b = host_error(m, other->member);
        if (!rs_part_has_launch(m, other->part) || a < 0 || b < 0 || a > own / 4 || b > own / 4) return false;
        latest = launched[other->part];
    }
    *lag = rs_time_minus(launched[last->part], latest);
    return true;
}

/* Adds `own` ns by which `last` started after `other`, the latest rank that was in time. The arrivals of the view are
 * those of the operation. */
static void why_add(const struct rs_view *v, const struct rs_arrival *last, const struct rs_arrival *other, int64_t own,
                    int64_t why[RS_WHYS])
{
    int64_t lag;
    if (!own) return;
    if (!launch_lag(v, last, other, own, &lag)) {
        why[RS_WHY_UNKNOWN] += own;
        return;
    }
    if (lag > 0 && rs_time_minus(v->model->parts.start[last->part], v->model->parts.launched[last->part]) > own)
        lag = 0;
    why[RS_WHY_LAUNCHED_LATE] += lag > own ? own : lag < -own ? -own : lag;
    why[RS_WHY_QUEUED] += own; /* for now, all that is known */
}

/* Converts the sums to causes, and selects the largest. */
static void why_finish(struct rs_straggler *s)
{
    int64_t known = s->why_ns[RS_WHY_QUEUED], late = s->why_ns[RS_WHY_LAUNCHED_LATE];
    if (late < 0) late = 0;
    s->why_ns[RS_WHY_LAUNCHED_LATE] = late;
    s->why_ns[RS_WHY_QUEUED] = known - late;
    s->why = RS_WHY_LAUNCHED_LATE;
    for (int k = 1; k < RS_WHYS; k++)
        if (k != RS_WHY_HELD && s->why_ns[k] > s->why_ns[s->why]) s->why = (enum rs_why)k;
    if (!s->why_ns[s->why]) s->why = RS_WHY_UNKNOWN;
    if (s->why_ns[RS_WHY_HELD] / 2 > s->cost_ns) s->why = RS_WHY_HELD;
}

/* ---- inherited lateness ----
 * How much of a rank's lateness it inherited: how long other communicators held it since it last met the others.
 *
 * Between two operations of the same ranks, a rank q spends its time inside other operations (busy) and outside of them
 * (own). Both ranks of a pair (q, r) leave the earlier operation together, so for their starts in the later one
 *
 * s_q - s_r = (own_q - own_r) + (busy_q - busy_r)
 *
 * The time for which q was held is busy_q - busy_r: waits for others, or long transfers. What was charged to q in an
 * operation in between is not charged again. Only operations that had ended on the rank before its start can have held
 * it; time that several of them cover counts once.
 *
 * Queried in the order of rs_view.ops. */

enum { HOLDS_PENDING = 8, HOLDS_CAUSES = 32 };

/* A rank among those it meets repeatedly: a member of a communicator, or one end of a pair of ranks. */
struct meeting {
    int64_t busy, own_busy, charged, host_charged; /* of the rank at the last meeting; own_busy: in these meetings */
    int64_t since; /* its start at the last meeting */
    uint32_t op; /* RS_NONE: no meeting yet */
    uint32_t holes; /* of the rank at the last meeting */
};

struct hold {
    int64_t busy; /* ns in operations that have ended */
    int64_t covered; /* up to here */
    int64_t charged;
    struct pending {
        int64_t start, end, wait;
        uint32_t meeting, culprit;
    } pending[HOLDS_PENDING]; /* operations that may not have ended yet */
    struct cause {
        int64_t end, wait;
        uint32_t culprit; /* the rank it waited for */
    } causes[HOLDS_CAUSES]; /* the latest waits */
    uint32_t npending, ncauses; /* ncauses: in total */
    uint32_t holes; /* operations of the rank with an unknown duration */
};

struct holds {
    const struct rs_view *view;
    struct hold *ranks;
    int64_t *host_charged; /* by host */
    struct meeting *meetings; /* members, then pairs */
    uint32_t nmeetings, cap_meetings;
    struct rs_map pairs; /* member, peer -> meeting */
};

/* Why q was later than r since they met; both have been accounted for. */
struct held {
    bool known; /* both left the same operation, and all their operations since are recorded */
    int64_t busy; /* longer in other operations */
    int64_t charged, host_charged; /* charged more in between */
};

static void holds_init(struct holds *h, const struct rs_view *view)
{
    const struct rs_model *m = view->model;
    *h = (struct holds){.view = view, .nmeetings = m->nmembers, .cap_meetings = m->nmembers + 1};
    h->ranks = rs_zalloc(view->model->nranks + 1, sizeof *h->ranks);
    h->host_charged = rs_zalloc(m->nhosts + 1, sizeof *h->host_charged);
    h->meetings = rs_zalloc(h->cap_meetings, sizeof *h->meetings);
    for (uint32_t i = 0; i < view->model->nranks; i++) h->ranks[i].covered = RS_TIME_NONE;
    for (uint32_t i = 0; i < h->nmeetings; i++) h->meetings[i].op = RS_NONE;
}

static void holds_free(struct holds *h)
{
    free(h->ranks);
    free(h->host_charged);
    free(h->meetings);
    rs_map_free(&h->pairs);
    *h = (struct holds){0};
}

/* The meeting that an arrival belongs to. */
static void holds_meeting(struct holds *h, uint32_t op, const struct rs_arrival *a, uint32_t *meeting)
{
    const struct rs_model *m = h->view->model;
    *meeting = a->member;
    if (m->ops.kind[op] != RS_OP_PAIR) return;
    uint64_t *at;
    rs_map_at(&h->pairs, (uint64_t)a->member << 32 | (uint32_t)m->parts.peer[a->part], RS_NONE, &at);
    if (*at == RS_NONE) {
        RS_ROOM(h->meetings, h->nmeetings, h->cap_meetings);
        *at = h->nmeetings++;
        h->meetings[*at] = (struct meeting){.op = RS_NONE};
    }
    *meeting = (uint32_t)*at;
}

/* What ended first is counted first. */
static void account(struct holds *h, struct hold *s, uint32_t i)
{
    struct pending p = s->pending[i];
    s->pending[i] = s->pending[--s->npending];
    int64_t from = s->covered > p.start ? s->covered : p.start; /* RS_TIME_NONE is before everything */
    if (p.end > from) {
        s->busy += p.end - from;
        h->meetings[p.meeting].own_busy += p.end - from;
        s->covered = p.end;
    }
    if (p.culprit != RS_NONE && p.wait > 0)
        s->causes[s->ncauses++ % HOLDS_CAUSES] = (struct cause){.end = p.end, .wait = p.wait, .culprit = p.culprit};
}

static uint32_t first_to_end(const struct hold *s)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < s->npending; i++)
        if (s->pending[i].end < s->pending[best].end) best = i;
    return best;
}

/* Accounts for what has ended on a rank by `now`. */
static void holds_reach(struct holds *h, uint32_t rank_id, int64_t now)
{
    struct hold *s = &h->ranks[rank_id];
    while (s->npending) {
        uint32_t i = first_to_end(s);
        if (s->pending[i].end > now) return;
        account(h, s, i);
    }
}

/* Time in other operations since the meeting. */
static int64_t busy_since(const struct holds *h, uint32_t rank_id, const struct meeting *k)
{
    return (h->ranks[rank_id].busy - k->own_busy) - k->busy;
}

static struct held holds_compare(const struct holds *h, uint32_t q_rank, uint32_t q, uint32_t r_rank, uint32_t r)
{
    const struct meeting *a = &h->meetings[q], *b = &h->meetings[r];
    if (a->op != b->op || a->holes != h->ranks[q_rank].holes || b->holes != h->ranks[r_rank].holes)
        return (struct held){.known = false};
    uint32_t q_host = h->view->model->ranks[q_rank].host, r_host = h->view->model->ranks[r_rank].host;
    return (struct held){
        .known = true,
        .busy = busy_since(h, q_rank, a) - busy_since(h, r_rank, b),
        .charged = (h->ranks[q_rank].charged - a->charged) - (h->ranks[r_rank].charged - b->charged),
        .host_charged = (h->host_charged[q_host] - a->host_charged) - (h->host_charged[r_host] - b->host_charged),
    };
}

/* Distributes `ns` over the ranks that this rank waited for since it met the others: calls `give` for each. Returns the
 * one with the most, or RS_NONE. */
static uint32_t holds_blame(const struct holds *h, uint32_t rank_id, uint32_t meeting, int64_t ns,
                            void (*give)(void *to, uint32_t culprit, int64_t ns), void *to)
{
    const struct hold *s = &h->ranks[rank_id];
    const struct meeting *k = &h->meetings[meeting];
    uint32_t n = s->ncauses < HOLDS_CAUSES ? s->ncauses : HOLDS_CAUSES, most = RS_NONE;
    int64_t sum = 0, largest = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct cause *c = &s->causes[i];
        if (k->op != RS_NONE && c->end <= k->since) continue;
        sum += c->wait;
        if (c->wait > largest) {
            largest = c->wait;
            most = c->culprit;
        }
    }
    if (ns > sum) ns = sum; /* the rest is long transfers: charged to no rank */
    for (uint32_t i = 0; i < n && sum > 0; i++) {
        const struct cause *c = &s->causes[i];
        if (k->op != RS_NONE && c->end <= k->since) continue;
        give(to, c->culprit, (int64_t)((double)ns * ((double)c->wait / (double)sum)));
    }
    return most;
}

static void note(struct holds *h, uint32_t meeting, uint32_t op, uint32_t rank_id, int64_t now)
{
    const struct hold *s = &h->ranks[rank_id];
    struct meeting *k = &h->meetings[meeting];
    k->busy = s->busy - k->own_busy;
    k->charged = s->charged;
    k->host_charged = h->host_charged[h->view->model->ranks[rank_id].host];
    k->since = now;
    k->op = op;
    k->holes = s->holes;
}

/* The rank has met the others in `op`: it waited for `culprit` (RS_NONE: none) until `last`. Called after charging. */
static void holds_met(struct holds *h, uint32_t meeting, uint32_t op, const struct rs_arrival *a, int64_t last,
                      uint32_t culprit)
{
    struct hold *s = &h->ranks[a->rank_id];
    note(h, meeting, op, a->rank_id, a->start);
    if (s->npending == HOLDS_PENDING) account(h, s, first_to_end(s));
    int64_t until = a->end == RS_TIME_NONE || a->end > last ? last : a->end;
    s->pending[s->npending++] = (struct pending){.start = a->start,
                                                 .end = a->end != RS_TIME_NONE ? a->end : last,
                                                 .wait = until - a->start,
                                                 .meeting = meeting,
                                                 .culprit = culprit};
}

/* The rank has met the others in `op` at about `now`; its start and end are not recorded. */
static void holds_missed(struct holds *h, uint32_t meeting, uint32_t op, uint32_t rank_id, int64_t now)
{
    holds_reach(h, rank_id, now);
    h->ranks[rank_id].holes++;
    note(h, meeting, op, rank_id, now);
}

/* ---- stragglers ---- */

/* Sums of a rank, and of a host. */
struct tally {
    struct rs_straggler sum;
    int64_t covered; /* charged up to here on the common axis */
    /* Of a host: its cost in operations with several of its ranks, and of that where most of them were late. */
    int64_t shared_ns, together_ns;
};

struct work {
    struct rs_stragglers *out;
    struct rs_view *view;
    struct holds holds;
    struct tally *tallies; /* ranks, then hosts */
    uint32_t *meetings; /* of the current arrivals */
};

/* ---- charging ---- */

static int64_t at_least_0(int64_t x)
{
    return x > 0 ? x : 0;
}

struct charge {
    struct work *w;
    bool counts; /* passes the filter */
};

static void pass_on(void *to, uint32_t culprit, int64_t ns)
{
    const struct charge *c = to;
    if (c->counts) c->w->tallies[culprit].sum.passed_on_ns += ns;
}

/* The components of a lead. */
struct lead {
    int64_t own, inherited, repeated, unclear;
};

/* `charged`: by how much more G was charged than the others since they met. */
static struct lead divide(int64_t ns, const struct held *held, int64_t charged, int64_t error, struct tally *t,
                          int64_t start)
{
    if (!held->known) return (struct lead){.unclear = ns};
    struct lead l = {.own = ns - held->busy - charged};
    if (l.own > ns) l.own = ns;
    if (l.own < 0 || (l.own < ns && rs_is_tie(l.own, error))) l.own = 0;
    l.inherited = held->busy > ns - l.own ? ns - l.own : at_least_0(held->busy);
    if (t->covered != RS_TIME_NONE && t->covered > start - l.own) l.own = at_least_0(start - t->covered);
    if (t->covered == RS_TIME_NONE || t->covered < start) t->covered = start;
    l.repeated = ns - l.own - l.inherited;
    return l;
}

/* `other` is the latest rank outside; ranks of `inside` (a host) lose no time. */
static void add(const struct rs_view *v, struct rs_straggler *s, const struct lead *l, const struct rs_arrival *last,
                const struct rs_arrival *other, uint32_t inside)
{
    int64_t lost = 0;
    s->times_last++;
    s->cost_ns += l->own;
    s->inherited_ns += l->inherited;
    s->repeated_ns += l->repeated;
    s->unclear_ns += l->unclear;
    why_add(v, last, other, l->own, s->why_ns);
    s->why_ns[RS_WHY_HELD] += l->inherited;
    if (!l->own) return;
    for (uint32_t i = 0; i < v->narrivals; i++)
        if (v->model->ranks[v->arrivals[i].rank_id].host != inside) lost += last->start - v->arrivals[i].start;
    s->gpu_time_lost_ns += (int64_t)((double)lost * ((double)l->own / (double)(last->start - other->start)));
}

/* The latest arrival, the latest of another rank, and the latest of another host (RS_NONE: none). */
static void find_last(const struct rs_view *v, uint32_t *first, uint32_t *second, uint32_t *other_host)
{
    *first = 0;
    for (uint32_t i = 1; i < v->narrivals; i++)
        if (v->arrivals[i].start > v->arrivals[*first].start) *first = i;
    uint32_t rank_id = v->arrivals[*first].rank_id, host = v->model->ranks[rank_id].host;
    *second = *other_host = RS_NONE;
    for (uint32_t i = 0; i < v->narrivals; i++) {
        const struct rs_arrival *a = &v->arrivals[i];
        if (a->rank_id == rank_id) continue;
        if (*second == RS_NONE || a->start > v->arrivals[*second].start) *second = i;
        if (v->model->ranks[a->rank_id].host == host) continue;
        if (*other_host == RS_NONE || a->start > v->arrivals[*other_host].start) *other_host = i;
    }
}

/* Returns the rank that the others of the operation waited for; RS_NONE: unknown. */
static uint32_t charge_rank(struct charge *c, uint32_t op, uint32_t first, uint32_t second)
{
    struct work *w = c->w;
    struct rs_view *v = w->view;
    const struct rs_arrival *a = &v->arrivals[first], *b = &v->arrivals[second];
    int64_t error = v->model->ops.error[op], lead = a->start - b->start;
    if (rs_is_tie(lead, error)) return RS_NONE;
    struct tally *t = &w->tallies[a->rank_id];
    struct held held = holds_compare(&w->holds, a->rank_id, w->meetings[first], b->rank_id, w->meetings[second]);
    struct lead l = divide(lead, &held, held.charged, error, t, a->start);
    w->holds.ranks[a->rank_id].charged += l.own;
    uint32_t culprit = a->rank_id, other = RS_NONE;
    if (l.inherited) other = holds_blame(&w->holds, a->rank_id, w->meetings[first], l.inherited, pass_on, c);
    if (other != RS_NONE && l.inherited > lead / 2) culprit = other;
    if (!c->counts) return culprit;
    add(v, &t->sum, &l, a, b, RS_NONE);
    w->out->cost_ns += l.own;
    w->out->who[op] = a->rank_id;
    w->out->cost[op] = (float)l.own;
    return culprit;
}

/* Whether most of a host's ranks in the operation started after `latest`, the latest outside of it. *shared: there are
 * several of them. */
static bool are_together(const struct rs_view *v, uint32_t host, int64_t latest, bool *shared)
{
    uint32_t ranks = 0, late = 0;
    for (uint32_t i = 0; i < v->narrivals; i++) {
        if (v->model->ranks[v->arrivals[i].rank_id].host != host) continue;
        ranks++;
        late += v->arrivals[i].start > latest;
    }
    *shared = ranks > 1;
    return *shared && 2 * late > ranks;
}

static void charge_host(struct charge *c, uint32_t op, uint32_t first, uint32_t outside)
{
    struct work *w = c->w;
    struct rs_view *v = w->view;
    const struct rs_arrival *a = &v->arrivals[first], *b = &v->arrivals[outside];
    uint32_t host = v->model->ranks[a->rank_id].host;
    int64_t error = v->model->ops.error[op], lead = a->start - b->start;
    if (rs_is_tie(lead, error)) return;
    struct tally *t = &w->tallies[v->model->nranks + host];
    struct held held = holds_compare(&w->holds, a->rank_id, w->meetings[first], b->rank_id, w->meetings[outside]);
    int64_t charged = held.charged > held.host_charged ? held.charged : held.host_charged;
    struct lead l = divide(lead, &held, charged, error, t, a->start);
    w->holds.host_charged[host] += l.own;
    if (!c->counts) return;
    add(v, &t->sum, &l, a, b, host);
    bool shared, together = are_together(v, host, b->start, &shared);
    if (shared) t->shared_ns += l.own;
    if (together) t->together_ns += l.own;
}

/* ---- operations ---- */

/* Ranks that were not recorded have met the others as well. */
static void meet_absent(struct work *w, uint32_t op, int64_t now)
{
    const struct rs_model *m = w->view->model;
    const struct rs_comm_row *c = &m->comms[m->ops.comm[op]];
    if (m->ops.kind[op] == RS_OP_PAIR || w->view->narrivals >= c->nmembers) return;
    for (uint32_t i = c->first_member; i != RS_NONE; i = m->members[i].next)
        if (m->members[i].rank_id != RS_NONE && w->holds.meetings[i].op != op)
            holds_missed(&w->holds, i, op, m->members[i].rank_id, now);
}

/* An operation that cannot be compared also holds its ranks, where that is known. Operations without times on any rank
 * (copy engines, calls without a kernel) are ignored on all ranks. */
static void take_uncompared(struct work *w, uint32_t op)
{
    struct rs_view *v = w->view;
    int64_t first = v->model->ops.first[op];
    if (first == RS_TIME_NONE) return;
    rs_view_arrivals(v, op);
    for (uint32_t i = 0; i < v->narrivals; i++) {
        const struct rs_arrival *a = &v->arrivals[i];
        uint32_t meeting;
        holds_meeting(&w->holds, op, a, &meeting);
        if (a->start == RS_TIME_NONE || a->end == RS_TIME_NONE || a->end < a->start) {
            holds_missed(&w->holds, meeting, op, a->rank_id, a->start == RS_TIME_NONE ? first : a->start);
        } else {
            holds_reach(&w->holds, a->rank_id, a->start);
            holds_met(&w->holds, meeting, op, a, a->start, RS_NONE);
        }
    }
    meet_absent(w, op, first);
}

static void take(struct work *w, uint32_t op)
{
    struct rs_view *v = w->view;
    struct charge c = {.w = w, .counts = v->passes[op]};
    uint32_t first, second, outside;
    find_last(v, &first, &second, &outside);
    if (second == RS_NONE) return; /* ranks that share a device */
    for (uint32_t i = 0; i < v->narrivals; i++) {
        holds_meeting(&w->holds, op, &v->arrivals[i], &w->meetings[i]);
        holds_reach(&w->holds, v->arrivals[i].rank_id, v->arrivals[i].start);
    }
    /* The host before the rank, so that the rank's charge here does not count as an earlier one. */
    if (outside != RS_NONE) charge_host(&c, op, first, outside);
    uint32_t culprit = charge_rank(&c, op, first, second);
    int64_t last = v->arrivals[first].start;
    for (uint32_t i = 0; i < v->narrivals; i++)
        holds_met(&w->holds, w->meetings[i], op, &v->arrivals[i], last,
                  v->arrivals[i].rank_id == culprit ? RS_NONE : culprit);
    meet_absent(w, op, last);
    if (!c.counts) return;
    w->out->compared++;
    w->out->ties += culprit == RS_NONE;
    for (uint32_t i = 0; i < v->narrivals; i++) w->tallies[v->arrivals[i].rank_id].sum.compared++;
    uint32_t hosts_from = v->model->nranks;
    if (outside != RS_NONE)
        for (uint32_t i = 0; i < v->narrivals; i++) { /* ranks of a host are mostly adjacent: count it once */
            uint32_t host = v->model->ranks[v->arrivals[i].rank_id].host;
            if (!i || v->model->ranks[v->arrivals[i - 1].rank_id].host != host)
                w->tallies[hosts_from + host].sum.compared++;
        }
    lateness_add(&w->out->lateness, v, culprit == RS_NONE ? RS_NONE : v->arrivals[first].rank_id);
}

/* ---- rows ---- */

static int by_cost(const void *a, const void *b)
{
    const struct rs_straggler *x = a, *y = b;
    if (x->cost_ns != y->cost_ns) return x->cost_ns > y->cost_ns ? -1 : 1;
    if (x->inherited_ns != y->inherited_ns) return x->inherited_ns > y->inherited_ns ? -1 : 1;
    if ((x->rank_id == RS_NONE) != (y->rank_id == RS_NONE)) return x->rank_id == RS_NONE ? -1 : 1;
    return x->rank_id < y->rank_id ? -1 : x->rank_id > y->rank_id;
}

/* For the ranks of a host: how many there are, and how many cost about as much as the most expensive one. */
struct host_ranks {
    uint32_t all, alike;
    int64_t largest;
};

/* A host is named if its ranks are late together and no single one explains it: none costs nearly as much, or most of
 * them do, since they meet the others one by one; that is, if they stand out against all ranks (`median`). If they meet
 * the others in the same operations, those show whether they are late together. */
static void judge_host(struct tally *t, const struct host_ranks *c, int64_t median)
{
    struct rs_straggler *s = &t->sum;
    bool together = t->together_ns > s->cost_ns / 2;
    bool one_by_one = t->shared_ns <= s->cost_ns / 2;
    bool by_host = (together || one_by_one) && c->alike >= 2 && 2 * c->alike > c->all && c->largest / 2 > median;
    bool alone = (double)c->largest > 0.8 * (double)s->cost_ns;
    if (!by_host && (!together || alone)) s->times_last = 0;
    if (by_host && c->largest > s->cost_ns) s->cost_ns = c->largest; /* at least the cost of one of its ranks */
}

static void judge_hosts(struct work *w)
{
    const struct rs_view *v = w->view;
    struct host_ranks *hosts = rs_zalloc(v->model->nhosts + 1, sizeof *hosts);
    int64_t *costs = rs_alloc((v->model->nranks + 1) * sizeof *costs);
    for (uint32_t i = 0; i < v->model->nranks; i++) {
        struct host_ranks *c = &hosts[v->model->ranks[i].host];
        costs[i] = w->tallies[i].sum.cost_ns;
        c->all++;
        if (costs[i] > c->largest) c->largest = costs[i];
    }
    for (uint32_t i = 0; i < v->model->nranks; i++) {
        struct host_ranks *c = &hosts[v->model->ranks[i].host];
        c->alike += costs[i] > 0 && (double)costs[i] > 0.7 * (double)c->largest;
    }
    int64_t median = rs_median(costs, v->model->nranks);
    for (uint32_t h = 0; h < v->model->nhosts; h++) judge_host(&w->tallies[v->model->nranks + h], &hosts[h], median);
    free(hosts);
    free(costs);
}

static void make_rows(struct work *w)
{
    struct rs_stragglers *s = w->out;
    uint32_t n = w->view->model->nranks + w->view->model->nhosts;
    s->rows = rs_alloc((n + 1) * sizeof *s->rows);
    judge_hosts(w);
    for (uint32_t i = 0; i < n; i++) {
        struct rs_straggler *r = &w->tallies[i].sum;
        if (!r->times_last || (r->rank_id == RS_NONE && !r->cost_ns)) continue;
        r->share = r->compared ? (double)r->times_last / (double)r->compared : 0;
        rs_wilson(r->times_last, r->compared, &r->share_low, &r->share_high);
        why_finish(r);
        s->rows[s->nrows++] = *r;
    }
    qsort(s->rows, s->nrows, sizeof *s->rows, by_cost);
    lateness_finish(&s->lateness);
}

static void find(struct work *w)
{
    struct rs_view *v = w->view;
    const struct rs_model *m = v->model;
    uint32_t n = v->model->nranks + m->nhosts, most = 0;
    for (uint32_t i = 0; i < v->nops; i++)
        if (m->ops.nparts[v->ops[i]] > most) most = m->ops.nparts[v->ops[i]];
    w->tallies = rs_zalloc(n + 1, sizeof *w->tallies);
    w->meetings = rs_alloc((most + 1) * sizeof *w->meetings);
    w->out->who = rs_alloc(((size_t)m->ops.n + 1) * sizeof *w->out->who);
    w->out->cost = rs_zalloc((size_t)m->ops.n + 1, sizeof *w->out->cost);
    memset(w->out->who, 0xff, ((size_t)m->ops.n + 1) * sizeof *w->out->who); /* RS_NONE */
    for (uint32_t i = 0; i < n; i++) {
        bool is_rank = i < v->model->nranks;
        w->tallies[i].covered = RS_TIME_NONE;
        w->tallies[i].sum.rank_id = is_rank ? i : RS_NONE;
        w->tallies[i].sum.host = is_rank ? v->model->ranks[i].host : i - v->model->nranks;
    }
    holds_init(&w->holds, v);
    lateness_init(&w->out->lateness, v);
    for (uint32_t i = 0; i < v->nops; i++) {
        if (rs_view_compare(v, v->ops[i]))
            take(w, v->ops[i]);
        else
            take_uncompared(w, v->ops[i]);
    }
    make_rows(w);
}

void rs_stragglers_find(struct rs_stragglers *s, struct rs_view *view)
{
    struct work w = {.out = s, .view = view};
    *s = (struct rs_stragglers){0};
    find(&w);
    holds_free(&w.holds);
    free(w.tallies);
    free(w.meetings);
}

void rs_stragglers_free(struct rs_stragglers *s)
{
    free(s->rows);
    free(s->who);
    free(s->cost);
    lateness_free(&s->lateness);
    *s = (struct rs_stragglers){0};
}
