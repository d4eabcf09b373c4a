#include "analyse/holds.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/room.h"

void rs_holds_init(struct rs_holds *h, const struct rs_view *view)
{
    const struct rs_model *m = view->model;
    *h = (struct rs_holds){.view = view, .nmeetings = m->nmembers, .cap_meetings = m->nmembers + 1};
    h->ranks = rs_zalloc(view->model->nranks + 1, sizeof *h->ranks);
    h->host_charged = rs_zalloc(m->nhosts + 1, sizeof *h->host_charged);
    h->meetings = rs_zalloc(h->cap_meetings, sizeof *h->meetings);
    for (uint32_t i = 0; i < view->model->nranks; i++) h->ranks[i].covered = RS_TIME_NONE;
    for (uint32_t i = 0; i < h->nmeetings; i++) h->meetings[i].op = RS_NONE;
}

void rs_holds_free(struct rs_holds *h)
{
    free(h->ranks);
    free(h->host_charged);
    free(h->meetings);
    rs_map_free(&h->pairs);
    *h = (struct rs_holds){0};
}

void rs_holds_meeting(struct rs_holds *h, uint32_t op, const struct rs_arrival *a, uint32_t *meeting)
{
    const struct rs_model *m = h->view->model;
    *meeting = a->member;
    if (m->ops.kind[op] != RS_OP_PAIR) return;
    uint64_t *at;
    rs_map_at(&h->pairs, (uint64_t)a->member << 32 | (uint32_t)m->parts.peer[a->part], RS_NONE, &at);
    if (*at == RS_NONE) {
        RS_ROOM(h->meetings, h->nmeetings, h->cap_meetings);
        *at = h->nmeetings++;
        h->meetings[*at] = (struct rs_meeting){.op = RS_NONE};
    }
    *meeting = (uint32_t)*at;
}

/* What ended first is counted first. */
static void account(struct rs_holds *h, struct rs_hold *s, uint32_t i)
{
    struct rs_pending p = s->pending[i];
    s->pending[i] = s->pending[--s->npending];
    int64_t from = s->covered > p.start ? s->covered : p.start; /* RS_TIME_NONE is before everything */
    if (p.end > from) {
        s->busy += p.end - from;
        h->meetings[p.meeting].own_busy += p.end - from;
        s->covered = p.end;
    }
    if (p.culprit != RS_NONE && p.wait > 0)
        s->causes[s->ncauses++ % RS_HOLDS_CAUSES] =
            (struct rs_cause){.end = p.end, .wait = p.wait, .culprit = p.culprit};
}

static uint32_t first_to_end(const struct rs_hold *s)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < s->npending; i++)
        if (s->pending[i].end < s->pending[best].end) best = i;
    return best;
}

void rs_holds_reach(struct rs_holds *h, uint32_t rank_id, int64_t now)
{
    struct rs_hold *s = &h->ranks[rank_id];
    while (s->npending) {
        uint32_t i = first_to_end(s);
        if (s->pending[i].end > now) return;
        account(h, s, i);
    }
}

/* Time in other operations since the meeting. */
static int64_t busy_since(const struct rs_holds *h, uint32_t rank_id, const struct rs_meeting *k)
{
    return (h->ranks[rank_id].busy - k->own_busy) - k->busy;
}

struct rs_held rs_holds_compare(const struct rs_holds *h, uint32_t q_rank, uint32_t q, uint32_t r_rank, uint32_t r)
{
    const struct rs_meeting *a = &h->meetings[q], *b = &h->meetings[r];
    if (a->op != b->op || a->holes != h->ranks[q_rank].holes || b->holes != h->ranks[r_rank].holes)
        return (struct rs_held){.known = false};
    uint32_t q_host = h->view->model->ranks[q_rank].host, r_host = h->view->model->ranks[r_rank].host;
    return (struct rs_held){
        .known = true,
        .busy = busy_since(h, q_rank, a) - busy_since(h, r_rank, b),
        .charged = (h->ranks[q_rank].charged - a->charged) - (h->ranks[r_rank].charged - b->charged),
        .host_charged = (h->host_charged[q_host] - a->host_charged) - (h->host_charged[r_host] - b->host_charged),
    };
}

uint32_t rs_holds_blame(const struct rs_holds *h, uint32_t rank_id, uint32_t meeting, int64_t ns,
                        void (*give)(void *to, uint32_t culprit, int64_t ns), void *to)
{
    const struct rs_hold *s = &h->ranks[rank_id];
    const struct rs_meeting *k = &h->meetings[meeting];
    uint32_t n = s->ncauses < RS_HOLDS_CAUSES ? s->ncauses : RS_HOLDS_CAUSES, most = RS_NONE;
    int64_t sum = 0, largest = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct rs_cause *c = &s->causes[i];
        if (k->op != RS_NONE && c->end <= k->since) continue;
        sum += c->wait;
        if (c->wait > largest) {
            largest = c->wait;
            most = c->culprit;
        }
    }
    if (ns > sum) ns = sum; /* the rest is long transfers: charged to no rank */
    for (uint32_t i = 0; i < n && sum > 0; i++) {
        const struct rs_cause *c = &s->causes[i];
        if (k->op != RS_NONE && c->end <= k->since) continue;
        give(to, c->culprit, (int64_t)((double)ns * ((double)c->wait / (double)sum)));
    }
    return most;
}

static void note(struct rs_holds *h, uint32_t meeting, uint32_t op, uint32_t rank_id, int64_t now)
{
    const struct rs_hold *s = &h->ranks[rank_id];
    struct rs_meeting *k = &h->meetings[meeting];
    k->busy = s->busy - k->own_busy;
    k->charged = s->charged;
    k->host_charged = h->host_charged[h->view->model->ranks[rank_id].host];
    k->since = now;
    k->op = op;
    k->holes = s->holes;
}

void rs_holds_met(struct rs_holds *h, uint32_t meeting, uint32_t op, const struct rs_arrival *a, int64_t last,
                  uint32_t culprit)
{
    struct rs_hold *s = &h->ranks[a->rank_id];
    note(h, meeting, op, a->rank_id, a->start);
    if (s->npending == RS_HOLDS_PENDING) account(h, s, first_to_end(s));
    int64_t until = a->end == RS_TIME_NONE || a->end > last ? last : a->end;
    s->pending[s->npending++] = (struct rs_pending){.start = a->start,
                                                    .end = a->end != RS_TIME_NONE ? a->end : last,
                                                    .wait = until - a->start,
                                                    .meeting = meeting,
                                                    .culprit = culprit};
}

void rs_holds_missed(struct rs_holds *h, uint32_t meeting, uint32_t op, uint32_t rank_id, int64_t now)
{
    rs_holds_reach(h, rank_id, now);
    h->ranks[rank_id].holes++;
    note(h, meeting, op, rank_id, now);
}
