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

static void add(struct rs_stage_times *s, uint32_t stage, int64_t chunk, int64_t start, int64_t end)
{
    RS_ROOM(s->rows, s->n, s->cap);
    s->rows[s->n++] = (struct rs_stage_time){.stage = stage, .chunk = chunk, .start = start, .end = end};
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

struct hits {
    uint64_t n[RS_STAGES_MAX][PLACES];
    int64_t done[RS_STAGES_MAX]; /* while adding: how many came before */
    uint64_t chunk[RS_STAGES_MAX]; /* how many make a chunk */
    int place[RS_STAGES_MAX];
    uint64_t chunks;
};

/* By name: its stage, or 255. A name that matches several patterns belongs to the first. */
static uint8_t *stages_of_names(const struct rs_model *m, const struct rs_stage_pattern *patterns, uint32_t n)
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

/* How many of each make a chunk; sets the reason if they do not repeat regularly. */
static bool agree(struct rs_stage_times *s, struct hits *h, const struct rs_stage_pattern *patterns, uint32_t n)
{
    uint64_t least = UINT64_MAX, count[RS_STAGES_MAX];
    for (uint32_t k = 0; k < n; k++) {
        for (h->place[k] = 0; h->place[k] < PLACES - 1 && !h->n[k][h->place[k]];) h->place[k]++;
        count[k] = h->n[k][h->place[k]];
        if (!count[k]) {
            snprintf(s->why, sizeof s->why, "nothing matches stage %.40s (%.60s)", patterns[k].name,
                     patterns[k].pattern);
            return false;
        }
        if (count[k] < least) least = count[k];
    }
    bool cut = true, multiple = true; /* a trace may begin or end within a chunk */
    for (uint32_t k = 0; k < n; k++) {
        cut &= count[k] <= least + 1;
        multiple &= count[k] % least == 0;
    }
    h->chunks = least;
    for (uint32_t k = 0; k < n; k++) {
        h->chunk[k] = cut ? 1 : count[k] / least;
        if (!cut && !multiple && count[k] % least) {
            snprintf(s->why, sizeof s->why,
                     "stages do not repeat regularly: %.40s occurs %" PRIu64 " times, another %" PRIu64,
                     patterns[k].name, count[k], least);
            return false;
        }
    }
    return true;
}

static void add_hits(struct rs_stage_times *s, const struct rs_model *m, const struct rs_rank_track *track,
                     struct hits *h, const uint8_t *of, const struct rs_filter *filter)
{
    for (int place = 0; place < PLACES; place++) {
        uint32_t n;
        const uint32_t *list = list_of(track, place, &n);
        for (uint32_t i = 0; i < n; i++) {
            uint8_t k = stage_at(m, list[i], place, of, filter);
            if (k == 255 || h->place[k] != place) continue;
            int64_t chunk = h->done[k]++ / (int64_t)h->chunk[k];
            if (chunk >= (int64_t)h->chunks) continue;
            add(s, k, chunk, m->activities.start[list[i]], m->activities.end[list[i]]);
        }
    }
}

void rs_stages_by_name(struct rs_stage_times *s, const struct rs_rank_tracks *t, const struct rs_rank_track *track,
                       const struct rs_stage_pattern *patterns, uint32_t n, const struct rs_filter *filter)
{
    const struct rs_model *m = t->view->model;
    struct hits h = {0};
    s->n = 0;
    s->why[0] = 0;
    uint8_t *of = stages_of_names(m, patterns, n);
    for (int place = 0; place < PLACES; place++) {
        uint32_t all;
        const uint32_t *list = list_of(track, place, &all);
        for (uint32_t i = 0; i < all; i++) {
            uint8_t k = stage_at(m, list[i], place, of, filter);
            if (k != 255) h.n[k][place]++;
        }
    }
    if (agree(s, &h, patterns, n)) add_hits(s, m, track, &h, of, filter);
    free(of);
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
            add(s, k, chunk, from, rs_time_plus(from, rs_union_within(&covers[k], from, at)));
        chunk += from != RS_TIME_NONE;
        from = at;
    }
    /* The last one ends the period before it, and is not complete itself. */
    if (from != RS_TIME_NONE && chunk) add(s, RS_STAGES_MAX, chunk, from, from);
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
