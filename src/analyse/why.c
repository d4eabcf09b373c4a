#include "analyse/why.h"

const char *rs_why_text(enum rs_why why)
{
    static const char *const texts[RS_WHYS] = {"launched late", "queued behind compute",
                                               "held by an earlier collective", "unknown"};
    return texts[why];
}

/* Launches can be compared with starts where both are this operation's and their clocks hang together. */
static bool has_launch(const struct rs_model *m, uint32_t part)
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

/* How much later than a rank that was in time the last one was launched, at least; false: not known. That is
 *     start - start' = (launch - launch') + (queue - queue')
 * solved for the launches. Compared with the latest launch on the same host (one clock, no error), where there is one;
 * else with `other`, if the clocks of the two hosts are good enough for `own` ns. */
static bool launch_lag(const struct rs_view *v, const struct rs_arrival *last, const struct rs_arrival *other,
                       int64_t own, int64_t *lag)
{
    const struct rs_model *m = v->model;
    const int64_t *launched = m->parts.launched;
    if (!has_launch(m, last->part)) return false;
    int64_t latest = RS_TIME_NONE;
    for (uint32_t i = 0; i < v->narrivals; i++) {
        const struct rs_arrival *a = &v->arrivals[i];
        if (a->start <= other->start && v->model->ranks[a->rank_id].host == v->model->ranks[last->rank_id].host &&
            has_launch(m, a->part) && launched[a->part] > latest)
            latest = launched[a->part];
    }
    if (latest == RS_TIME_NONE) {
        int64_t a = host_error(m, last->member), b = host_error(m, other->member);
        if (!has_launch(m, other->part) || a < 0 || b < 0 || a > own / 4 || b > own / 4) return false;
        latest = launched[other->part];
    }
    *lag = rs_time_minus(launched[last->part], latest);
    return true;
}

void rs_why_add(const struct rs_view *v, const struct rs_arrival *last, const struct rs_arrival *other, int64_t own,
                int64_t why[RS_WHYS])
{
    int64_t lag;
    if (!own) return;
    if (!launch_lag(v, last, other, own, &lag)) {
        why[RS_WHY_UNKNOWN] += own;
        return;
    }
    why[RS_WHY_LAUNCHED_LATE] += lag > own ? own : lag < -own ? -own : lag;
    why[RS_WHY_QUEUED] += own; /* all that is known, for now */
}

void rs_why_finish(struct rs_straggler *s)
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
