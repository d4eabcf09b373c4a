#include "timeline/groups.h"

#include <stdlib.h>

#include "base/room.h"
#include "join/overlay.h"
#include "join/ranks.h"
#include "timeline/group_labels.h"
#include "timeline/index.h"

#define SEVERAL (RS_NONE - 1) /* no group: a process has more than one rank */

/* A rank: where it stands, and what it is known by. */
struct seat {
    uint32_t proc; /* that leads */
    int32_t rank, device; /* -1: not known */
    uint32_t member; /* its first one; RS_NONE: only activities tell of it */
    uint32_t group;
};

struct places {
    struct rs_timeline *t;
    struct seat *seats;
    uint32_t n, cap;
    uint32_t *of_member; /* seat; RS_NONE */
    int64_t *host_order, *proc_order; /* the lowest rank of the job */
    struct rs_map by_rank, first; /* place << 32 | rank -> seat; place -> its first seat */
};

/* ---- who leads ---- */

static enum rs_status find_leads(struct rs_timeline *t, struct rs_err *err)
{
    const struct rs_model *m = t->model;
    struct rs_timeline_index *x = t->index;
    x->lead = malloc(((size_t)m->nprocs + 1) * sizeof *x->lead);
    x->proc_group = malloc(((size_t)m->nprocs + 1) * sizeof *x->proc_group);
    x->only_rank = malloc(((size_t)m->nprocs + 1) * sizeof *x->only_rank);
    if (!x->lead || !x->proc_group || !x->only_rank) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t p = 0; p < m->nprocs; p++) {
        uint32_t lead = p;
        for (int hops = 0; hops < RS_TOOLS && m->procs[lead].same < m->nprocs; hops++) lead = m->procs[lead].same;
        x->lead[p] = lead;
        x->proc_group[p] = x->only_rank[p] = RS_NONE;
    }
    return RS_OK;
}

/* ---- seats ---- */

static enum rs_status new_seat(struct places *w, const struct seat *seat, uint32_t *index, struct rs_err *err)
{
    RS_ROOM(w->seats, w->n, w->cap, err);
    *index = w->n;
    w->seats[w->n++] = *seat;
    return RS_OK;
}

/* Several ranks of the job on one device of one process are told apart by their rank. */
static enum rs_status seat_member(struct places *w, uint32_t place, uint32_t member, struct rs_err *err)
{
    const struct rs_model *m = w->t->model;
    const struct rs_member *x = &m->members[member];
    uint64_t key = (uint64_t)place << 32 | (uint32_t)x->global_rank;
    uint32_t first = (uint32_t)rs_map_get(&w->first, place, RS_NONE);
    uint32_t seat = x->global_rank < 0 ? first : (uint32_t)rs_map_get(&w->by_rank, key, RS_NONE);
    if (seat == RS_NONE && first != RS_NONE && w->seats[first].rank < 0) seat = first;
    if (seat == RS_NONE) {
        struct seat s = {w->t->index->lead[x->proc], x->global_rank, x->device, member, RS_NONE};
        RS_TRY(new_seat(w, &s, &seat, err));
        if (first == RS_NONE) RS_TRY(rs_map_put(&w->first, place, seat, err));
    }
    if (w->seats[seat].rank < 0) w->seats[seat].rank = x->global_rank;
    if (w->seats[seat].device < 0) w->seats[seat].device = x->device;
    if (w->seats[seat].rank >= 0)
        RS_TRY(rs_map_put(&w->by_rank, (uint64_t)place << 32 | (uint32_t)w->seats[seat].rank, seat, err));
    w->of_member[member] = seat;
    return RS_OK;
}

static uint64_t device_key(uint32_t proc, int32_t device)
{
    return (uint64_t)proc << 32 | (uint32_t)device;
}

/* Devices: first those of members, then those that only activities tell of. Values are seats until groups are there. */
static enum rs_status seat_devices(struct places *w, struct rs_err *err)
{
    const struct rs_model *m = w->t->model;
    struct rs_timeline_index *x = w->t->index;
    for (uint32_t i = 0; i < w->n; i++) {
        uint64_t *at;
        if (w->seats[i].device >= 0)
            RS_TRY(rs_map_at(&x->devices, device_key(w->seats[i].proc, w->seats[i].device), i, &at, err));
    }
    for (uint32_t i = 0; i < m->nlanes; i++) {
        const struct rs_lane *lane = &m->lanes[i];
        if (lane->kind != RS_LANE_STREAM || lane->device < 0) continue;
        uint64_t key = device_key(x->lead[lane->proc], lane->device);
        if (rs_map_find(&x->devices, key)) continue;
        struct seat s = {x->lead[lane->proc], -1, lane->device, RS_NONE, RS_NONE};
        uint32_t seat;
        RS_TRY(new_seat(w, &s, &seat, err));
        RS_TRY(rs_map_put(&x->devices, key, seat, err));
    }
    return RS_OK;
}

static enum rs_status find_seats(struct places *w, struct rs_err *err)
{
    const struct rs_model *m = w->t->model;
    struct rs_places places;
    RS_TRY(rs_places_find(&places, m, err));
    enum rs_status status = RS_OK;
    for (int laid_over = 0; laid_over < 2; laid_over++)
        for (uint32_t i = 0; i < m->nmembers && status == RS_OK; i++)
            if ((m->procs[m->members[i].proc].same != RS_NONE) == laid_over)
                status = seat_member(w, places.of[i], i, err);
    rs_places_free(&places);
    return status == RS_OK ? seat_devices(w, err) : status;
}

/* ---- order ---- */

struct keyed {
    int64_t host, proc, rank;
    uint32_t host_index, proc_index, pid, row;
    int32_t device;
};

static int compare(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_place(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    int c = compare(x->host, y->host);
    if (!c) c = compare(x->host_index, y->host_index);
    if (!c) c = compare(x->proc, y->proc);
    if (!c) c = compare(x->pid, y->pid);
    if (!c) c = compare(x->proc_index, y->proc_index);
    if (!c) c = compare(x->rank, y->rank);
    if (!c) c = compare(x->device, y->device);
    return c ? c : compare(x->row, y->row);
}

static struct keyed key_of(const struct places *w, uint32_t proc, uint32_t row)
{
    const struct rs_proc *p = &w->t->model->procs[proc];
    return (struct keyed){.host = w->host_order[p->host],
                          .proc = w->proc_order[proc],
                          .rank = INT64_MAX,
                          .host_index = p->host,
                          .proc_index = proc,
                          .pid = p->pid,
                          .row = row,
                          .device = -1};
}

/* The lowest rank that a host and a process hold. */
static enum rs_status find_order(struct places *w, struct rs_err *err)
{
    const struct rs_model *m = w->t->model;
    w->host_order = malloc(((size_t)m->nhosts + 1) * sizeof *w->host_order);
    w->proc_order = malloc(((size_t)m->nprocs + 1) * sizeof *w->proc_order);
    if (!w->host_order || !w->proc_order) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < m->nhosts; i++) w->host_order[i] = INT64_MAX;
    for (uint32_t i = 0; i < m->nprocs; i++) w->proc_order[i] = INT64_MAX;
    for (uint32_t i = 0; i < w->n; i++) {
        const struct seat *s = &w->seats[i];
        int64_t *host = &w->host_order[m->procs[s->proc].host], *proc = &w->proc_order[s->proc];
        if (s->rank < 0) continue;
        if (s->rank < *host) *host = s->rank;
        if (s->rank < *proc) *proc = s->rank;
    }
    return RS_OK;
}

/* ---- groups ---- */

static enum rs_status add_group(struct rs_timeline *t, uint32_t *cap, const struct rs_group *g, struct rs_err *err)
{
    RS_ROOM(t->groups, t->ngroups, *cap, err);
    t->groups[t->ngroups++] = *g;
    return RS_OK;
}

static int64_t error_of(const struct rs_model *m, uint32_t domain)
{
    return domain < m->ndomains ? m->domains[domain].error_ns : RS_TIME_NONE;
}

/* The member of the communicator that leads that a laid-over one is; itself where there is none. */
static uint32_t leading_member(const struct rs_model *m, uint32_t member)
{
    const struct rs_member *x = &m->members[member];
    uint32_t over = m->comms[x->comm].over;
    if (over >= m->ncomms) return member;
    int32_t rank = rs_overlay_rank(m, x->comm, x->rank, over);
    uint32_t lead = rank < 0 ? RS_NONE : rs_comm_member(m, over, rank);
    return lead < m->nmembers ? lead : member;
}

/* Members in the order of their seats, and in a seat as they come, which is that of their creation. */
struct lists {
    uint32_t *first, *next; /* by seat; by member */
};

static enum rs_status list_members(struct places *w, struct lists *l, struct rs_err *err)
{
    const struct rs_model *m = w->t->model;
    l->first = malloc(((size_t)w->n + 1) * sizeof *l->first);
    l->next = malloc(((size_t)m->nmembers + 1) * sizeof *l->next);
    if (!l->first || !l->next) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < w->n; i++) l->first[i] = RS_NONE;
    for (uint32_t i = m->nmembers; i-- > 0;) {
        uint32_t seat = w->of_member[i];
        if (seat == RS_NONE || leading_member(m, i) != i) continue;
        l->next[i] = l->first[seat];
        l->first[seat] = i;
    }
    return RS_OK;
}

static bool seat_passes(const struct rs_timeline *t, const struct seat *s)
{
    const struct rs_filter *f = t->options.filter;
    if (!f || !f->nranks) return true;
    return s->member != RS_NONE && rs_filter_rank(f, t->model, s->member);
}

static enum rs_status add_seat(struct places *w, const struct lists *l, uint32_t index, uint32_t *cap,
                               struct rs_err *err)
{
    struct rs_timeline *t = w->t;
    const struct rs_model *m = t->model;
    struct seat *s = &w->seats[index];
    uint32_t host = m->procs[s->proc].host, rank_group = t->ngroups;
    int64_t error = RS_TIME_NONE;
    if (s->member != RS_NONE) error = error_of(m, m->members[s->member].gpu);
    if (error == RS_TIME_NONE) error = error_of(m, m->hosts[host].domain);
    struct rs_group g = {.parent = t->index->proc_group[s->proc],
                         .level = RS_GROUP_RANK,
                         .error_ns = error,
                         .host = host,
                         .proc = s->proc,
                         .member = s->member};
    RS_TRY(rs_label_rank(t, s->rank, s->device, &g.label, err));
    RS_TRY(add_group(t, cap, &g, err));
    s->group = rank_group;
    for (uint32_t i = l->first[index]; i != RS_NONE; i = l->next[i]) {
        if (t->options.filter && !rs_filter_comm(t->options.filter, m, m->members[i].comm)) continue;
        t->group_of_member[i] = t->ngroups;
        g = (struct rs_group){.parent = rank_group,
                              .level = RS_GROUP_COMM,
                              .error_ns = error,
                              .host = host,
                              .proc = s->proc,
                              .member = i};
        RS_TRY(rs_label_comm(t, i, &g.label, err));
        RS_TRY(add_group(t, cap, &g, err));
    }
    return RS_OK;
}

/* Opens the groups of the process, and of its host where that is new. */
static enum rs_status add_proc(struct rs_timeline *t, uint32_t proc, uint32_t *host_group, uint32_t *cap,
                               struct rs_err *err)
{
    const struct rs_model *m = t->model;
    uint32_t host = m->procs[proc].host;
    int64_t error = error_of(m, m->hosts[host].domain);
    if (*host_group == RS_NONE || t->groups[*host_group].host != host) {
        struct rs_group g = {.parent = RS_NONE,
                             .level = RS_GROUP_HOST,
                             .error_ns = error,
                             .host = host,
                             .proc = RS_NONE,
                             .member = RS_NONE};
        RS_TRY(rs_timeline_text(t, &g.label, err, "%s", rs_host_label(m, host)));
        *host_group = t->ngroups;
        RS_TRY(add_group(t, cap, &g, err));
    }
    struct rs_group g = {.parent = *host_group,
                         .level = RS_GROUP_PROCESS,
                         .error_ns = error,
                         .host = host,
                         .proc = proc,
                         .member = RS_NONE};
    RS_TRY(rs_label_proc(t, proc, &g.label, err));
    t->index->proc_group[proc] = t->ngroups;
    t->procs[t->nprocs++] = proc;
    return add_group(t, cap, &g, err);
}

/* Seats, and behind those of a process the process itself (row w->n + process), so that one without seats is there. */
static enum rs_status add_groups(struct places *w, const struct lists *l, struct rs_err *err)
{
    struct rs_timeline *t = w->t;
    const struct rs_model *m = t->model;
    uint32_t n = 0, cap = 0, host_group = RS_NONE;
    struct keyed *rows = malloc(((size_t)w->n + m->nprocs + 1) * sizeof *rows);
    if (!rows) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < w->n; i++) {
        if (!seat_passes(t, &w->seats[i])) continue;
        rows[n] = key_of(w, w->seats[i].proc, i);
        if (w->seats[i].rank >= 0) rows[n].rank = w->seats[i].rank;
        rows[n++].device = w->seats[i].device;
    }
    bool ranks = t->options.filter && t->options.filter->nranks;
    for (uint32_t p = 0; p < m->nprocs && !ranks; p++)
        if (t->index->lead[p] == p) rows[n++] = key_of(w, p, w->n + p);
    qsort(rows, n, sizeof *rows, by_place);
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < n && status == RS_OK; i++) {
        uint32_t proc = rows[i].proc_index;
        if (t->index->proc_group[proc] == RS_NONE) status = add_proc(t, proc, &host_group, &cap, err);
        if (status == RS_OK && rows[i].row < w->n) status = add_seat(w, l, rows[i].row, &cap, err);
    }
    free(rows);
    return status;
}

/* Laid-over members stand where the leading ones do; devices name groups from here on. */
static void finish(struct places *w)
{
    struct rs_timeline *t = w->t;
    const struct rs_model *m = t->model;
    for (uint32_t i = 0; i < m->nmembers; i++) {
        uint32_t lead = leading_member(m, i);
        t->group_of_member[i] = t->group_of_member[lead];
        t->index->member_text[i] = t->index->member_text[lead];
    }
    size_t at = 0;
    uint64_t key, seat;
    while (rs_map_next(&t->index->devices, &at, &key, &seat))
        *rs_map_find(&t->index->devices, key) = w->seats[seat].group;
    for (uint32_t i = 0; i < w->n; i++) {
        uint32_t *only = &t->index->only_rank[w->seats[i].proc];
        *only = *only == RS_NONE ? w->seats[i].group : SEVERAL;
    }
    for (uint32_t p = 0; p < m->nprocs; p++)
        if (t->index->only_rank[p] == SEVERAL) t->index->only_rank[p] = RS_NONE;
}

enum rs_status rs_groups_make(struct rs_timeline *t, struct rs_err *err)
{
    const struct rs_model *m = t->model;
    struct places w = {.t = t};
    struct lists l = {0};
    t->group_of_member = malloc(((size_t)m->nmembers + 1) * sizeof *t->group_of_member);
    t->index->member_text = calloc((size_t)m->nmembers + 1, sizeof *t->index->member_text);
    t->procs = malloc(((size_t)m->nprocs + 1) * sizeof *t->procs);
    w.of_member = malloc(((size_t)m->nmembers + 1) * sizeof *w.of_member);
    enum rs_status status = RS_OK;
    if (!t->group_of_member || !t->index->member_text || !t->procs || !w.of_member)
        status = rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; status == RS_OK && i < m->nmembers; i++) t->group_of_member[i] = w.of_member[i] = RS_NONE;
    if (status == RS_OK) status = find_leads(t, err);
    if (status == RS_OK) status = find_seats(&w, err);
    if (status == RS_OK) status = find_order(&w, err);
    if (status == RS_OK) status = list_members(&w, &l, err);
    if (status == RS_OK) status = add_groups(&w, &l, err);
    if (status == RS_OK) finish(&w);
    free(l.first);
    free(l.next);
    free(w.seats);
    free(w.of_member);
    free(w.host_order);
    free(w.proc_order);
    rs_map_free(&w.by_rank);
    rs_map_free(&w.first);
    return status;
}

uint32_t rs_group_of_device(const struct rs_timeline *t, uint32_t proc, int32_t device)
{
    const struct rs_timeline_index *x = t->index;
    const uint64_t *known = device < 0 ? NULL : rs_map_find(&x->devices, device_key(proc, device));
    if (known) return (uint32_t)*known;
    if (x->only_rank[proc] != RS_NONE) return x->only_rank[proc];
    return x->proc_group[proc];
}
