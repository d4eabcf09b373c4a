#include "analyse/tracks.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/room.h"

/* ---- tracks ---- */

/* Working memory; `of_lane` and `of_rank` refer to tracks by their number before sorting. */
struct making {
    struct rs_rank_tracks *t;
    const struct rs_model *m;
    struct rs_map at; /* proc and device -> track */
    struct rs_map ranks; /* proc and device, or proc and ALL -> rank; MANY: several */
    uint32_t *of_lane, *of_rank, *alone; /* alone: by proc, its only track; RS_NONE: none; MANY: several */
    uint32_t *now; /* by number before sorting: number after; RS_NONE: dropped */
};

#define MANY (RS_NONE - 1)
#define ALL (-2) /* no device has this number */

static uint64_t key_of(uint32_t proc, int32_t device)
{
    return (uint64_t)proc << 32 | (uint32_t)device;
}

static void add_track(struct making *k, const struct rs_rank_track *row, uint32_t *index)
{
    struct rs_rank_tracks *t = k->t;
    RS_ROOM(t->rows, t->n, t->cap);
    *index = t->n;
    t->rows[t->n++] = *row;
    k->alone[row->proc] = k->alone[row->proc] == RS_NONE ? *index : MANY;
    rs_map_put(&k->at, key_of(row->proc, row->device), *index);
}

static void note_rank(struct making *k, uint32_t rank_id, uint32_t proc, int32_t device)
{
    uint64_t *at;
    if (rank_id == RS_NONE) return;
    rs_map_at(&k->ranks, key_of(proc, device), rank_id, &at);
    if (*at != rank_id) *at = MANY;
    rs_map_at(&k->ranks, key_of(proc, ALL), rank_id, &at);
    if (*at != rank_id) *at = MANY;
}

/* The devices of ranks, in the processes of all tools that recorded them. */
static void take_ranks(struct making *k)
{
    const struct rs_model *m = k->m;
    for (uint32_t i = 0; i < m->nranks; i++) {
        const struct rs_rank *r = &m->ranks[i];
        struct rs_rank_track row = {
            .proc = r->proc, .rank_id = i, .member = r->member, .rank = r->number, .device = r->device};
        add_track(k, &row, &k->of_rank[i]);
        note_rank(k, i, r->proc, r->device);
    }
    for (uint32_t i = 0; i < m->nmembers; i++)
        note_rank(k, m->members[i].rank_id, m->members[i].proc, m->members[i].device);
}

/* The rank whose GPU a stream is on; RS_NONE: unknown. */
static uint32_t rank_of(const struct making *k, const struct rs_lane *lane)
{
    uint32_t lead = rs_proc_lead(k->m, lane->proc);
    const uint64_t keys[] = {key_of(lane->proc, lane->device), key_of(lane->proc, ALL), key_of(lead, lane->device),
                             key_of(lead, ALL)};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        uint64_t rank = rs_map_get(&k->ranks, keys[i], MANY);
        if (rank >= MANY) continue;
        bool other = i % 2 && lane->device >= 0 && k->m->ranks[rank].device >= 0 && lane->proc == lead &&
                     k->m->ranks[rank].device != lane->device;
        return other ? RS_NONE : (uint32_t)rank; /* a device of the process that is in no communicator */
    }
    return RS_NONE;
}

/* The track of a stream: that of its device; or the only one of its process, if one of the two has no device. */
static void take_lanes(struct making *k)
{
    for (uint32_t i = 0; i < k->m->nlanes; i++) {
        const struct rs_lane *lane = &k->m->lanes[i];
        k->of_lane[i] = RS_NONE;
        if (lane->kind != RS_LANE_STREAM || lane->proc >= k->m->nprocs) continue;
        uint64_t *found = rs_map_find(&k->at, key_of(lane->proc, lane->device));
        uint32_t alone = k->alone[lane->proc];
        if (found) {
            k->of_lane[i] = (uint32_t)*found;
        } else if (alone < MANY && (lane->device < 0 || k->t->rows[alone].device < 0)) {
            k->of_lane[i] = alone;
            if (lane->device >= 0) k->t->rows[alone].device = lane->device;
            rs_map_put(&k->at, key_of(lane->proc, lane->device), alone);
        } else {
            struct rs_rank_track row = {
                .proc = lane->proc, .rank_id = rank_of(k, lane), .member = RS_NONE, .rank = -1, .device = lane->device};
            if (row.rank_id != RS_NONE) row.rank = k->m->ranks[row.rank_id].number;
            add_track(k, &row, &k->of_lane[i]);
        }
    }
    for (uint32_t i = 0; i < k->m->activities.n; i++) {
        uint32_t lane = k->m->activities.lane[i];
        if (lane < k->m->nlanes && k->of_lane[lane] != RS_NONE && rs_activity_is_work(k->m->activities.kind[i]))
            k->t->rows[k->of_lane[lane]].has_work = true;
    }
}

/* Processes of which only annotations on the host are known. */
static void take_hosts(struct making *k)
{
    const struct rs_activities *a = &k->m->activities;
    for (uint32_t i = 0; i < a->n; i++) {
        if (a->kind[i] != RS_ACT_RANGE || a->lane[i] >= k->m->nlanes) continue;
        const struct rs_lane *lane = &k->m->lanes[a->lane[i]];
        if (lane->proc >= k->m->nprocs || k->alone[lane->proc] != RS_NONE) continue;
        struct rs_rank_track row = {
            .proc = lane->proc, .rank_id = rank_of(k, lane), .member = RS_NONE, .rank = -1, .device = -1};
        uint32_t index;
        if (row.rank_id != RS_NONE) row.rank = k->m->ranks[row.rank_id].number;
        add_track(k, &row, &index);
    }
}

/* Sorts tracks by rank, drops those of other ranks and all but the best of a rank. */
struct ranked {
    uint32_t rank, worse, index;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    if (x->worse != y->worse) return x->worse < y->worse ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void choose(struct making *k, const struct rs_filter *filter)
{
    struct rs_rank_tracks *t = k->t;
    struct ranked *list = rs_alloc((t->n + 1) * sizeof *list);
    struct rs_rank_track *rows = rs_alloc((t->n + 1) * sizeof *rows);
    k->now = rs_alloc((t->n + 1) * sizeof *k->now);
    for (uint32_t i = 0; i < t->n; i++)
        list[i] = (struct ranked){t->rows[i].rank_id, /* those of no rank are last */
                                  (t->rows[i].has_work ? 0u : 256u) + k->m->procs[t->rows[i].proc].tool, i};
    if (t->n) qsort(list, t->n, sizeof *list, by_rank);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        const struct rs_rank_track *row = &t->rows[list[i].index];
        bool again = kept && row->rank_id != RS_NONE && rows[kept - 1].rank_id == row->rank_id;
        bool passes = row->rank_id != RS_NONE ? rs_filter_rank_row(filter, k->m, row->rank_id) : !filter->nranks;
        k->now[list[i].index] = RS_NONE;
        if (again || !passes) continue;
        k->now[list[i].index] = kept;
        rows[kept++] = *row;
    }
    free(t->rows);
    free(list);
    t->rows = rows;
    t->cap = t->n + 1;
    t->n = kept;
}

/* ---- their lists ---- */

/* Sorts the indexes of one list by start; most are sorted already. */
struct timed {
    int64_t at;
    uint32_t index;
};

static int by_start(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void sort_list(uint32_t *list, uint32_t n, const int64_t *start)
{
    bool sorted = true;
    for (uint32_t i = 1; i < n; i++) sorted &= start[list[i - 1]] <= start[list[i]];
    if (sorted) return;
    struct timed *rows = rs_alloc(n * sizeof *rows);
    for (uint32_t i = 0; i < n; i++) rows[i] = (struct timed){start[list[i]], list[i]};
    qsort(rows, n, sizeof *rows, by_start);
    for (uint32_t i = 0; i < n; i++) list[i] = rows[i].index;
    free(rows);
}

/* Distributes the indexes 0..n over lists, by owner (RS_NONE: none): list o is lists[first[o] .. first[o + 1]). Both
 * are the caller's. */
static void into_lists(const struct making *k, uint32_t (*owner)(const struct making *, uint32_t), uint32_t n,
                       uint32_t nowners, uint32_t **lists, uint32_t **first)
{
    uint32_t *at = rs_zalloc((size_t)nowners + 2, sizeof *at);
    uint32_t *list = rs_alloc(((size_t)n + 1) * sizeof *list);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t o = owner(k, i);
        if (o != RS_NONE) at[o + 2]++;
    }
    for (uint32_t o = 0; o < nowners; o++) at[o + 2] += at[o + 1];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t o = owner(k, i);
        if (o != RS_NONE) list[at[o + 1]++] = i;
    }
    *lists = list;
    *first = at;
}

static uint32_t work_owner(const struct making *k, uint32_t i)
{
    uint32_t lane = k->m->activities.lane[i];
    if (lane >= k->m->nlanes || k->of_lane[lane] == RS_NONE) return RS_NONE;
    uint8_t kind = k->m->activities.kind[i];
    return rs_activity_is_work(kind) || kind == RS_ACT_GPU_RANGE ? k->now[k->of_lane[lane]] : RS_NONE;
}

static uint32_t host_owner(const struct making *k, uint32_t i)
{
    uint32_t lane = k->m->activities.lane[i];
    if (lane >= k->m->nlanes || k->m->lanes[lane].kind != RS_LANE_THREAD) return RS_NONE;
    return k->m->lanes[lane].proc < k->m->nprocs ? k->m->lanes[lane].proc : RS_NONE;
}

static uint32_t part_owner(const struct making *k, uint32_t i)
{
    uint32_t rank_id = k->m->members[k->m->parts.member[i]].rank_id;
    return rank_id == RS_NONE ? RS_NONE : k->now[k->of_rank[rank_id]];
}

static void fill_lists(struct making *k)
{
    struct rs_rank_tracks *t = k->t;
    const struct rs_model *m = k->m;
    uint32_t *first = NULL;
    into_lists(k, work_owner, m->activities.n, t->n, &t->work, &first);
    for (uint32_t i = 0; i < t->n; i++) {
        t->rows[i].work = t->work + first[i];
        t->rows[i].nwork = first[i + 1] - first[i];
        sort_list(t->work + first[i], t->rows[i].nwork, m->activities.start);
    }
    free(first);
    into_lists(k, host_owner, m->activities.n, m->nprocs, &t->host, &first);
    for (uint32_t i = 0; i < m->nprocs; i++)
        sort_list(t->host + first[i], first[i + 1] - first[i], m->activities.start);
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t p = t->rows[i].proc;
        t->rows[i].host = t->host + first[p];
        t->rows[i].nhost = first[p + 1] - first[p];
    }
    free(first);
    into_lists(k, part_owner, m->parts.n, t->n, &t->parts, &first);
    for (uint32_t i = 0; i < t->n; i++) {
        t->rows[i].parts = t->parts + first[i];
        t->rows[i].nparts = first[i + 1] - first[i];
    }
    free(first);
}

static void make(struct making *k, const struct rs_filter *filter, bool hosts)
{
    k->of_lane = rs_alloc(((size_t)k->m->nlanes + 1) * sizeof *k->of_lane);
    k->of_rank = rs_alloc(((size_t)k->m->nranks + 1) * sizeof *k->of_rank);
    k->alone = rs_alloc(((size_t)k->m->nprocs + 1) * sizeof *k->alone);
    for (uint32_t i = 0; i < k->m->nprocs; i++) k->alone[i] = RS_NONE;
    take_ranks(k);
    take_lanes(k);
    if (hosts) take_hosts(k);
    choose(k, filter);
    fill_lists(k);
}

void rs_rank_tracks_init(struct rs_rank_tracks *t, const struct rs_view *view, const struct rs_filter *filter,
                         bool hosts)
{
    *t = (struct rs_rank_tracks){.view = view};
    struct making k = {.t = t, .m = view->model};
    make(&k, filter, hosts);
    rs_map_free(&k.at);
    rs_map_free(&k.ranks);
    free(k.of_lane);
    free(k.of_rank);
    free(k.alone);
    free(k.now);
}

void rs_rank_tracks_free(struct rs_rank_tracks *t)
{
    free(t->rows);
    free(t->work);
    free(t->host);
    free(t->parts);
    *t = (struct rs_rank_tracks){0};
}
