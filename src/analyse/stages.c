#include "analyse/stages.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/intervals.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/room.h"

static void add(struct rs_stage_times *s, int32_t rank, uint32_t stage, int64_t chunk, int64_t start, int64_t end)
{
    RS_ROOM(s->rows, s->n, s->cap);
    s->rows[s->n++] = (struct rs_stage_time){.rank = rank, .stage = stage, .chunk = chunk, .start = start, .end = end};
}

void rs_stage_times_free(struct rs_stage_times *s)
{
    free(s->rows);
    *s = (struct rs_stage_times){0};
}

/* ---- by name ---- */

/* Where names are searched, in this order. */
enum { ON_GPU, ON_HOST, IN_WORK, PLACES };

static int place_of(uint8_t kind)
{
    if (kind == RS_ACT_GPU_RANGE) return ON_GPU;
    if (kind == RS_ACT_RANGE || kind == RS_ACT_STEP) return ON_HOST;
    return rs_activity_is_work(kind) ? IN_WORK : PLACES;
}

uint8_t *rs_stages_of_names(const struct rs_model *m, const struct rs_stage_pattern *patterns, uint32_t n)
{
    uint8_t *of = rs_alloc((size_t)m->names.n + 1);
    for (uint32_t i = 0; i < m->names.n; i++) {
        of[i] = 255;
        for (uint32_t k = 0; k < n && of[i] == 255; k++)
            if (i && !fnmatch(patterns[k].pattern, m->names.rows[i].text, 0)) of[i] = (uint8_t)k;
    }
    return of;
}

/* The list of the activities at a place. */
static const uint32_t *list_of(const struct rs_rank_track *track, int place, uint32_t *n)
{
    *n = place == ON_HOST ? track->nhost : track->nwork;
    return place == ON_HOST ? track->host : track->work;
}

static uint8_t stage_at(const struct rs_model *m, uint32_t x, int place, const uint8_t *of,
                        const struct rs_filter *filter)
{
    const struct rs_activities *a = &m->activities;
    if (place_of(a->kind[x]) != place || a->name[x] >= m->names.n || !rs_filter_time(filter, a->start[x])) return 255;
    return of[a->name[x]];
}

void rs_stages_count(struct rs_stage_hits *h, const struct rs_rank_tracks *t, const struct rs_rank_track *track,
                     const uint8_t *of_names, const struct rs_filter *filter)
{
    const struct rs_model *m = t->view->model;
    *h = (struct rs_stage_hits){0};
    for (int place = 0; place < PLACES; place++) {
        uint32_t n, before = h->mask;
        const uint32_t *list = list_of(track, place, &n);
        for (uint32_t i = 0; i < n; i++) {
            uint8_t k = stage_at(m, list[i], place, of_names, filter);
            if (k == 255 || before >> k & 1) continue; /* found at an earlier place */
            if (!h->n[k]++) {
                h->mask |= 1u << k;
                h->kind[k] = (uint8_t)place;
                h->clock[k] = m->lanes[m->activities.lane[list[i]]].domain;
            }
        }
    }
}

/* How the stages of one source repeat: the rarest is a chunk, or a part of one. */
struct repeats {
    uint64_t least;
    bool cut; /* one more of some: a trace may begin or end within a chunk */
    uint64_t join; /* how many such chunks of this source make one of all */
};

/* False, and the reason, if they do not repeat regularly. */
static bool repeat(struct rs_stage_times *s, struct repeats *r, const struct rs_stage_hits *h,
                   const struct rs_stage_pattern *patterns)
{
    uint64_t most = 0;
    *r = (struct repeats){.least = UINT64_MAX};
    for (uint32_t k = 0; k < RS_STAGES_MAX; k++) {
        if (h->n[k] && h->n[k] < r->least) r->least = h->n[k];
        if (h->n[k] > most) most = h->n[k];
    }
    r->cut = most == r->least + 1;
    for (uint32_t k = 0; k < RS_STAGES_MAX && !r->cut; k++) {
        if (h->n[k] % r->least == 0) continue;
        snprintf(s->why, sizeof s->why,
                 "stages do not repeat regularly: %.40s occurs %" PRIu64 " times, another %" PRIu64, patterns[k].name,
                 h->n[k], r->least);
        return false;
    }
    return true;
}

/* How many chunks all sources have. If one has a multiple of another's, several of its own make one; else the traces do
 * not cover the same time. */
static bool count_chunks(struct rs_stage_times *s, struct repeats *r, const struct rs_stage_source *sources, uint32_t n,
                         const struct rs_stage_pattern *patterns, uint64_t *chunks)
{
    bool multiple = true;
    *chunks = UINT64_MAX;
    s->cut = false;
    for (uint32_t i = 0; i < n; i++) {
        if (!repeat(s, &r[i], sources[i].hits, patterns)) return false;
        if (r[i].least < *chunks) *chunks = r[i].least;
        s->cut |= r[i].cut;
    }
    for (uint32_t i = 0; i < n; i++) multiple &= r[i].least % *chunks == 0;
    for (uint32_t i = 0; i < n; i++) r[i].join = multiple ? r[i].least / *chunks : 1;
    s->cut |= !multiple;
    return true;
}

static void add_hits(struct rs_stage_times *s, const struct rs_model *m, const struct rs_stage_source *x,
                     const uint8_t *of_names, const struct repeats *r, uint64_t chunks, const struct rs_filter *filter)
{
    int64_t done[RS_STAGES_MAX] = {0};
    for (int place = 0; place < PLACES; place++) {
        uint32_t n;
        const uint32_t *list = list_of(x->track, place, &n);
        for (uint32_t i = 0; i < n; i++) {
            uint8_t k = stage_at(m, list[i], place, of_names, filter);
            if (k == 255 || x->hits->kind[k] != place) continue;
            int64_t chunk = done[k]++ / (int64_t)((r->cut ? 1 : x->hits->n[k] / r->least) * r->join);
            if (chunk >= (int64_t)chunks) continue;
            add(s, x->rank, k, chunk, m->activities.start[list[i]], m->activities.end[list[i]]);
        }
    }
}

void rs_stages_by_name(struct rs_stage_times *s, const struct rs_rank_tracks *t, const struct rs_stage_source *sources,
                       uint32_t nsources, const uint8_t *of_names, const struct rs_stage_pattern *patterns,
                       const struct rs_filter *filter)
{
    struct repeats *r = rs_alloc(((size_t)nsources + 1) * sizeof *r);
    uint64_t chunks;
    s->n = 0;
    s->why[0] = 0;
    if (count_chunks(s, r, sources, nsources, patterns, &chunks))
        for (uint32_t i = 0; i < nsources; i++)
            add_hits(s, t->view->model, &sources[i], of_names, &r[i], chunks, filter);
    free(r);
}

/* ---- between sends and receives ---- */

/* The kind of a boundary: sends to, or receives from, one peer on one communicator; 0: not a boundary. */
static uint64_t boundary_of(const struct rs_model *m, uint32_t x, const struct rs_filter *filter)
{
    const struct rs_activities *a = &m->activities;
    uint32_t part = a->part[x];
    if (a->kind[x] != RS_ACT_COMM || part >= m->parts.n || !rs_filter_time(filter, a->start[x])) return 0;
    if (m->parts.kind[part] != RS_PART_SEND && m->parts.kind[part] != RS_PART_RECV) return 0;
    uint32_t op = m->parts.op[part], fanout = op != RS_NONE ? m->ops.fanout[op] : RS_NONE;
    if (fanout != RS_NONE && strcmp(rs_model_text(m, m->ops.func[fanout]), "SendRecv")) return 0; /* an all-to-all */
    return (uint64_t)m->parts.member[part] << 32 | (uint64_t)((uint32_t)m->parts.peer[part] & 0x3fffffff) << 2 |
           (m->parts.kind[part] == RS_PART_RECV ? 3u : 1u);
}

/* The kind that occurs most often; of equals, the first. */
static void choose_boundary(uint64_t *best, const struct rs_model *m, const struct rs_rank_track *track,
                            const struct rs_filter *filter)
{
    struct rs_map counts = {0};
    uint64_t most = 0;
    *best = 0;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < track->nwork; i++) {
            uint64_t key = boundary_of(m, track->work[i], filter), *count;
            if (!key) continue;
            rs_map_at(&counts, key, 0, &count);
            if (!pass)
                ++*count;
            else if (*count > most) {
                most = *count;
                *best = key;
            }
        }
    rs_map_free(&counts);
}

static void cover(struct rs_union *compute, struct rs_union *comm, const struct rs_model *m,
                  const struct rs_rank_track *track)
{
    const struct rs_activities *a = &m->activities;
    for (uint32_t i = 0; i < track->nwork; i++) {
        uint32_t x = track->work[i];
        if (a->kind[x] == RS_ACT_COMPUTE) rs_union_add(compute, a->start[x], a->end[x]);
        if (a->kind[x] == RS_ACT_COMM) rs_union_add(comm, a->start[x], a->end[x]);
    }
}

static void add_chunks(struct rs_stage_times *s, const struct rs_model *m, const struct rs_rank_track *track,
                       uint64_t kind, const struct rs_union covers[2], const struct rs_filter *filter)
{
    int64_t from = RS_TIME_NONE, chunk = 0;
    for (uint32_t i = 0; i < track->nwork; i++) {
        uint32_t x = track->work[i];
        if (boundary_of(m, x, filter) != kind) continue;
        int64_t at = m->activities.start[x];
        for (uint32_t k = 0; k < 2 && from != RS_TIME_NONE;
             k++) /* in a span that begins with the chunk, its length counts */
            add(s, 0, k, chunk, from, rs_time_plus(from, rs_union_within(&covers[k], from, at)));
        chunk += from != RS_TIME_NONE;
        from = at;
    }
    /* The last one ends the period before it, and is not complete itself. */
    if (from != RS_TIME_NONE && chunk) add(s, 0, RS_STAGES_MAX, chunk, from, from);
}

void rs_stages_by_pairs(struct rs_stage_times *s, const struct rs_rank_tracks *t, const struct rs_rank_track *track,
                        const struct rs_filter *filter)
{
    const struct rs_model *m = t->view->model;
    uint64_t kind;
    s->n = 0;
    s->why[0] = 0;
    choose_boundary(&kind, m, track, filter);
    if (!kind) {
        snprintf(s->why, sizeof s->why, "no sends and receives");
        return;
    }
    struct rs_union covers[2] = {{0}, {0}};
    cover(&covers[0], &covers[1], m, track);
    add_chunks(s, m, track, kind, covers, filter);
    rs_union_free(&covers[0]);
    rs_union_free(&covers[1]);
}
