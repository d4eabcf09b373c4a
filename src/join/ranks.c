#include "join/ranks.h"

#include <stdlib.h>

/* The place of a member; `known` finds places by device, and by rank of the job, of processes that lead. */
static enum rs_status find_place(struct rs_places *p, const struct rs_model *m, uint32_t member, struct rs_map *devices,
                                 struct rs_map *known, struct rs_err *err)
{
    const struct rs_member *x = &m->members[member];
    uint32_t same = m->procs[x->proc].same;
    const uint64_t *there =
        same == RS_NONE ? NULL : rs_map_find(known, (uint64_t)same << 32 | (uint32_t)x->global_rank);
    if (there) {
        p->of[member] = (uint32_t)*there;
        return RS_OK;
    }
    /* Where the device is not told, the GPU's clock stands for it. */
    uint32_t where = x->device < 0 && x->gpu != RS_NONE ? UINT32_C(1) << 31 | x->gpu : (uint32_t)x->device;
    uint64_t key = (uint64_t)x->proc << 32 | where, *place;
    RS_TRY(rs_map_at(devices, key, p->n, &place, err));
    p->of[member] = (uint32_t)*place;
    if (*place == p->n) p->n++;
    if (!p->merged || same != RS_NONE) return RS_OK;
    return rs_map_at(known, (uint64_t)x->proc << 32 | (uint32_t)x->global_rank, p->of[member], &place, err);
}

enum rs_status rs_places_find(struct rs_places *p, const struct rs_model *m, struct rs_err *err)
{
    *p = (struct rs_places){.of = calloc(m->nmembers ? m->nmembers : 1, sizeof *p->of)};
    if (!p->of) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    struct rs_map devices = {0}, known = {0};
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < m->nprocs; i++) p->merged |= m->procs[i].same != RS_NONE;
    for (int laid_over = 0; laid_over < (p->merged ? 2 : 1); laid_over++)
        for (uint32_t i = 0; i < m->nmembers && status == RS_OK; i++)
            if ((m->procs[m->members[i].proc].same != RS_NONE) == laid_over)
                status = find_place(p, m, i, &devices, &known, err);
    rs_map_free(&devices);
    rs_map_free(&known);
    if (status != RS_OK) rs_places_free(p);
    return status;
}

void rs_places_free(struct rs_places *p)
{
    free(p->of);
    *p = (struct rs_places){0};
}

/* What is counted and noted while ranks are assigned; all arrays by place. */
struct work {
    struct rs_model *m;
    uint8_t tool; /* each tool numbers its own processes: only those of this one are looked at */
    struct rs_places places;
    uint32_t *most; /* members that one communicator has here: 1, but for several ranks on one device */
    uint32_t *count; /* of the communicator at hand */
    uint8_t *tool_of; /* enum rs_tool */
};

static bool is_mine(const struct work *w, uint32_t place)
{
    return w->tool_of[place] == w->tool;
}

static void count_comm(struct work *w, uint32_t comm)
{
    for (uint32_t i = w->m->comms[comm].first_member; i != RS_NONE; i = w->m->members[i].next)
        w->count[w->places.of[i]]++;
}

static void forget_comm(struct work *w, uint32_t comm)
{
    for (uint32_t i = w->m->comms[comm].first_member; i != RS_NONE; i = w->m->members[i].next)
        w->count[w->places.of[i]] = 0;
}

/* When a communicator was made, by the clock of one process: all that are compared have a member at `place`. */
static int64_t created_at(const struct work *w, uint32_t place, uint32_t comm)
{
    for (uint32_t i = w->m->comms[comm].first_member; i != RS_NONE; i = w->m->members[i].next)
        if (w->places.of[i] == place) return w->m->members[i].created;
    return RS_TIME_NONE;
}

/* The tool's first communicator that contains every place of it; RS_NONE: there is none. */
static uint32_t whole(struct work *w)
{
    const struct rs_model *m = w->m;
    uint32_t best = RS_NONE, first = 0;
    int64_t when = RS_TIME_NONE;
    uint64_t all = 0;
    while (first < w->places.n && !is_mine(w, first)) first++;
    for (uint32_t p = first; p < w->places.n; p++)
        if (is_mine(w, p)) all += w->most[p];
    for (uint32_t c = 0; c < m->ncomms; c++) {
        if (m->comms[c].tool != w->tool || m->comms[c].nmembers < all) continue;
        count_comm(w, c);
        bool covers = true;
        for (uint32_t p = first; p < w->places.n && covers; p++) covers = !is_mine(w, p) || w->count[p] >= w->most[p];
        forget_comm(w, c);
        for (uint32_t i = m->comms[c].first_member; i != RS_NONE && covers; i = m->members[i].next)
            covers = m->members[i].rank >= 0;
        if (!covers) continue;
        int64_t t = created_at(w, first, c);
        if (best != RS_NONE && (t == RS_TIME_NONE || (when != RS_TIME_NONE && t >= when))) continue;
        best = c;
        when = t;
    }
    return best;
}

/* Ranks as `world` numbers them, for the members of `comm`. The members of a communicator come by rank, so the k-th of
 * a place is the k-th of that place in `world`, where it has as many there. */
static void assign_by_world(struct work *w, uint32_t world, uint32_t comm, const uint32_t *kth, const int32_t *ranks)
{
    struct rs_model *m = w->m;
    if (comm == world) {
        for (uint32_t i = m->comms[comm].first_member; i != RS_NONE; i = m->members[i].next)
            m->members[i].global_rank = m->members[i].rank;
        return;
    }
    count_comm(w, comm);
    for (uint32_t i = m->comms[comm].first_member; i != RS_NONE; i = m->members[i].next) {
        uint32_t p = w->places.of[i];
        if (w->count[p] != w->most[p] && w->count[p] != UINT32_MAX) w->count[p] = UINT32_MAX; /* cannot be told */
    }
    /* count becomes how many of the place are still to come. */
    for (uint32_t i = m->comms[comm].first_member; i != RS_NONE; i = m->members[i].next) {
        uint32_t p = w->places.of[i];
        if (w->count[p] == UINT32_MAX) continue;
        m->members[i].global_rank = ranks[kth[p] + (w->most[p] - w->count[p])];
        w->count[p]--;
    }
    forget_comm(w, comm);
}

static enum rs_status by_world(struct work *w, uint32_t world, struct rs_err *err)
{
    const struct rs_model *m = w->m;
    uint32_t n = m->comms[world].nmembers;
    uint32_t *kth = calloc(w->places.n + 1, sizeof *kth); /* where the ranks of a place begin in `ranks` */
    int32_t *ranks = calloc(n + 1, sizeof *ranks);
    if (!kth || !ranks) {
        free(kth);
        free(ranks);
        return rs_fail(err, RS_NO_MEMORY, "out of memory");
    }
    for (uint32_t p = 0; p < w->places.n; p++) kth[p + 1] = kth[p] + (is_mine(w, p) ? w->most[p] : 0);
    for (uint32_t i = m->comms[world].first_member; i != RS_NONE; i = m->members[i].next) {
        uint32_t p = w->places.of[i];
        ranks[kth[p] + w->count[p]++] = m->members[i].rank;
    }
    forget_comm(w, world);
    for (uint32_t c = 0; c < m->ncomms; c++)
        if (m->comms[c].tool == w->tool) assign_by_world(w, world, c, kth, ranks);
    free(kth);
    free(ranks);
    return RS_OK;
}

/* The launcher's ranks, if each process holds one rank and no value comes twice: *done. */
static enum rs_status by_launcher(struct work *w, bool *done, struct rs_err *err)
{
    struct rs_model *m = w->m;
    uint8_t *seen = calloc(m->nprocs ? m->nprocs : 1, 1);
    if (!seen) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    struct rs_map ranks = {0};
    bool fine = true;
    enum rs_status status = RS_OK;
    for (uint32_t p = 0; p < w->places.n; p++) w->count[p] = 0;
    for (uint32_t i = 0; i < m->nmembers && fine && status == RS_OK; i++) {
        uint32_t place = w->places.of[i], proc = m->members[i].proc;
        if (!is_mine(w, place)) continue;
        if (w->most[place] > 1 || m->procs[proc].launcher_rank < 0) fine = false;
        if (w->count[place]++ || !fine) continue;
        if (seen[proc]) fine = false; /* a second device of it */
        seen[proc] = 1;
        uint64_t *at;
        status = rs_map_at(&ranks, (uint64_t)m->procs[proc].launcher_rank, proc, &at, err);
        if (status == RS_OK && *at != proc) fine = false;
    }
    *done = fine && status == RS_OK;
    for (uint32_t i = 0; i < m->nmembers && *done; i++)
        if (is_mine(w, w->places.of[i])) m->members[i].global_rank = m->procs[m->members[i].proc].launcher_rank;
    rs_map_free(&ranks);
    free(seen);
    return status;
}

/* Traces of other tools say the rank of the job themselves, where it is known. */
static enum rs_status assign_tool(struct work *w, struct rs_err *err)
{
    bool done = false;
    if (w->tool != RS_TOOL_RINGSCOPE) RS_TRY(by_launcher(w, &done, err));
    if (done) return RS_OK;
    for (uint32_t p = 0; p < w->places.n; p++) w->count[p] = 0;
    uint32_t world = whole(w);
    return world != RS_NONE ? by_world(w, world, err) : by_launcher(w, &done, err);
}

/* Process groups of PyTorch say which ranks of the job they are made of. */
static void by_groups(struct rs_model *m)
{
    for (uint32_t i = 0; i < m->nmembers; i++) {
        struct rs_member *x = &m->members[i];
        const struct rs_comm_row *c = &m->comms[x->comm];
        if (!c->ranks || x->rank < 0 || x->rank >= c->nranks) continue;
        x->global_rank = c->ranks[x->rank];
        if (x->global_rank >= m->world && x->global_rank < INT32_MAX) m->world = x->global_rank + 1;
    }
}

enum rs_status rs_ranks_assign(struct rs_model *m, struct rs_err *err)
{
    struct work w = {.m = m};
    m->world = -1;
    for (uint32_t c = 0; c < m->ncomms; c++)
        if (m->comms[c].nranks > m->world) m->world = m->comms[c].nranks;
    for (uint32_t i = 0; i < m->nmembers; i++) m->members[i].global_rank = -1;
    RS_TRY(rs_places_find(&w.places, m, err));
    size_t n = w.places.n ? w.places.n : 1;
    w.most = calloc(n, sizeof *w.most);
    w.count = calloc(n, sizeof *w.count);
    w.tool_of = calloc(n, sizeof *w.tool_of);
    enum rs_status status = w.most && w.count && w.tool_of ? RS_OK : rs_fail(err, RS_NO_MEMORY, "out of memory");
    if (status == RS_OK) {
        for (uint32_t c = 0; c < m->ncomms; c++) {
            for (uint32_t i = m->comms[c].first_member; i != RS_NONE; i = m->members[i].next) {
                uint32_t p = w.places.of[i];
                if (++w.count[p] > w.most[p]) w.most[p] = w.count[p];
            }
            forget_comm(&w, c);
        }
        uint32_t tools = 0;
        for (uint32_t i = 0; i < m->nmembers; i++) {
            w.tool_of[w.places.of[i]] = m->comms[m->members[i].comm].tool;
            tools |= 1u << m->comms[m->members[i].comm].tool;
        }
        for (w.tool = 0; w.tool < RS_TOOLS && status == RS_OK; w.tool++)
            if (tools >> w.tool & 1) status = assign_tool(&w, err);
        by_groups(m);
    }
    free(w.most);
    free(w.count);
    free(w.tool_of);
    rs_places_free(&w.places);
    return status;
}

int32_t rs_job_rank(const struct rs_model *m, uint32_t comm, int32_t rank)
{
    const struct rs_comm_row *c = &m->comms[comm];
    if (c->ranks && rank >= 0 && rank < c->nranks) return c->ranks[rank];
    uint32_t member = rs_comm_member(m, comm, rank);
    if (member != RS_NONE) return m->members[member].global_rank;
    if (c->first_member == RS_NONE || m->members[c->first_member].global_rank < 0) return -1;
    const struct rs_member *x = &m->members[c->first_member];
    int32_t stride = c->class < m->nclasses ? m->classes[c->class].stride : 0;
    if (!stride) return -1;
    int64_t r = (int64_t)x->global_rank + ((int64_t)rank - x->rank) * stride;
    return r >= 0 && r < m->world ? (int32_t)r : -1;
}
