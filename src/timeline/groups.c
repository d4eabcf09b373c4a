#include "timeline/groups.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/room.h"
#include "join/overlay.h"
#include "join/ranks.h"
#include "timeline/index.h"

/* ---- labels ----
 * Names of groups: "pid 4711", "rank 5 · GPU 1", "comm 3f2a91bc tp:0, rank 2 of 8". */

static void label_proc(struct rs_timeline *t, uint32_t proc, uint32_t *label)
{
    const struct rs_proc *p = &t->model->procs[proc];
    const char *file = p->path ? strrchr(p->path, '/') : NULL;
    file = file ? file + 1 : p->path ? p->path : "process";
    if (!p->pid) {
        rs_timeline_text(t, label, "%s", file);
        return;
    }
    if (rs_tool_has(p->tool, RS_CAP_OWN)) {
        rs_timeline_text(t, label, "pid %" PRIu32, p->pid);
        return;
    }
    rs_timeline_text(t, label, "pid %" PRIu32 " (%s)", p->pid, rs_tool_name(p->tool));
}

/* Of a row of model.ranks. */
static void label_rank(struct rs_timeline *t, uint32_t rank_id, uint32_t *label)
{
    struct rs_strbuf text = {0};
    rs_rank_label(&text, t->model, rank_id);
    rs_timeline_text(t, label, "%s", rs_strbuf_borrow(&text));
    rs_strbuf_free(&text);
}

/* Of a device that belongs to no rank; -1: unknown. */
static void label_device(struct rs_timeline *t, int32_t device, uint32_t *label)
{
    if (device >= 0) {
        rs_timeline_text(t, label, "GPU %" PRId32, device);
        return;
    }
    rs_timeline_text(t, label, "GPU");
}

/* With its rank; index->member_text gets it without. If several tools recorded it: the name from any of them. */
static void label_comm(struct rs_timeline *t, uint32_t member, uint32_t *label)
{
    const struct rs_model *m = t->model;
    const struct rs_member *x = &m->members[member];
    const struct rs_comm_row *c = &m->comms[x->comm];
    const char *name = c->name;
    uint32_t view = c->view;
    for (uint32_t i = 0; !name && view < m->ncomms && i < m->ncomms; i++, view = m->comms[view].view)
        name = m->comms[view].name;
    char hash[40] = "", again[24] = "", rank[48] = "";
    if (c->hash && !(c->made_up && name)) snprintf(hash, sizeof hash, " %08" PRIx64, c->hash >> 32);
    if (c->incarnation) snprintf(again, sizeof again, " (%" PRIu32 ". life)", c->incarnation + 1);
    if (x->rank >= 0 && c->nranks > 0)
        snprintf(rank, sizeof rank, ", rank %" PRId32 " of %" PRId32, x->rank, c->nranks);
    else if (x->rank >= 0)
        snprintf(rank, sizeof rank, ", rank %" PRId32, x->rank);
    rs_timeline_text(t, &t->index->member_text[member], "comm%s%s%.200s%s", hash, name ? " " : "", name ? name : "",
                     again);
    rs_timeline_text(t, label, "comm%s%s%.200s%s%s", hash, name ? " " : "", name ? name : "", again, rank);
}

/* ---- groups ---- */

#define SEVERAL (RS_NONE - 1) /* no group: a process has more than one rank */

/* What lanes belong to: a rank of the job (rows of model.ranks, in their order). After these: ranks in another process
 * that is not known to be the same, devices that occur only in activities, and communicators with an unknown rank. */
struct row {
    uint32_t proc; /* primary */
    uint32_t rank_id; /* RS_NONE: not a rank */
    int32_t number, device; /* -1: unknown */
    uint32_t member; /* its first one; RS_NONE: known from activities only */
    uint32_t group;
};

struct places {
    struct rs_timeline *t;
    struct row *rows;
    uint32_t n, cap;
    uint32_t *of_member; /* row; RS_NONE */
    int64_t *host_order, *proc_order; /* the lowest rank of the job */
};

/* ---- primary processes ---- */

static void find_leads(struct rs_timeline *t)
{
    const struct rs_model *m = t->model;
    struct rs_timeline_index *x = t->index;
    x->lead = rs_alloc(((size_t)m->nprocs + 1) * sizeof *x->lead);
    x->proc_group = rs_alloc(((size_t)m->nprocs + 1) * sizeof *x->proc_group);
    x->only_rank = rs_alloc(((size_t)m->nprocs + 1) * sizeof *x->only_rank);
    for (uint32_t p = 0; p < m->nprocs; p++) {
        x->lead[p] = rs_proc_lead(m, p);
        x->proc_group[p] = x->only_rank[p] = RS_NONE;
    }
}

/* ---- rows ---- */

static void new_row(struct places *w, const struct row *row, uint32_t *index)
{
    RS_ROOM(w->rows, w->n, w->cap);
    *index = w->n;
    w->rows[w->n++] = *row;
}

static uint64_t device_key(uint32_t proc, int32_t device)
{
    return (uint64_t)proc << 32 | (uint32_t)device;
}

/* Devices: first those of ranks, then those that occur only in activities. Values are rows until groups exist. */
static void find_devices(struct places *w)
{
    const struct rs_model *m = w->t->model;
    struct rs_timeline_index *x = w->t->index;
    uint64_t *at;
    for (uint32_t i = 0; i < w->n; i++)
        if (w->rows[i].device >= 0) rs_map_at(&x->devices, device_key(w->rows[i].proc, w->rows[i].device), i, &at);
    for (uint32_t i = 0; i < m->nmembers; i++) { /* tools may number devices differently */
        uint64_t key = device_key(x->lead[m->members[i].proc], m->members[i].device);
        if (m->members[i].device >= 0 && w->of_member[i] != RS_NONE) rs_map_at(&x->devices, key, w->of_member[i], &at);
    }
    for (uint32_t i = 0; i < m->nlanes; i++) {
        const struct rs_lane *lane = &m->lanes[i];
        if (lane->kind != RS_LANE_STREAM || lane->device < 0) continue;
        uint64_t key = device_key(x->lead[lane->proc], lane->device);
        if (rs_map_find(&x->devices, key)) continue;
        struct row row = {x->lead[lane->proc], RS_NONE, -1, lane->device, RS_NONE, RS_NONE};
        uint32_t index;
        new_row(w, &row, &index);
        rs_map_put(&x->devices, key, index);
    }
}

/* Members of unknown rank: those with something to draw share a row of their process. */
static void find_strays(struct places *w)
{
    const struct rs_model *m = w->t->model;
    struct rs_map of_proc = {0};
    bool any = false;
    for (uint32_t i = 0; i < m->nmembers; i++) any |= w->of_member[i] == RS_NONE;
    for (uint32_t i = 0; any && i < m->parts.n; i++) {
        uint32_t member = m->parts.member[i], proc = w->t->index->lead[m->members[member].proc], index;
        uint64_t *at;
        if (w->of_member[member] != RS_NONE) continue;
        rs_map_at(&of_proc, proc, w->n, &at);
        struct row row = {proc, RS_NONE, -1, -1, member, RS_NONE};
        if (*at == w->n) new_row(w, &row, &index);
        w->of_member[member] = (uint32_t)*at;
    }
    rs_map_free(&of_proc);
}

static void find_rows(struct places *w)
{
    const struct rs_model *m = w->t->model;
    for (uint32_t i = 0, index; i < m->nranks; i++) {
        const struct rs_rank *r = &m->ranks[i];
        struct row row = {w->t->index->lead[r->proc], i, r->number, r->device, r->member, RS_NONE};
        new_row(w, &row, &index);
    }
    struct rs_map elsewhere = {0}; /* rank, process -> row */
    for (uint32_t i = 0; i < m->nmembers; i++) {
        const struct rs_member *x = &m->members[i];
        /* If it is unknown which rank of a GPU it is: the first there. */
        uint32_t rank = x->rank_id != RS_NONE ? x->rank_id : x->place, proc = w->t->index->lead[x->proc];
        w->of_member[i] = rank;
        if (rank == RS_NONE || w->rows[rank].proc == proc) continue;
        uint64_t *at;
        rs_map_at(&elsewhere, (uint64_t)rank << 32 | proc, w->n, &at);
        struct row row = {proc, rank, w->rows[rank].number, x->device, i, RS_NONE};
        w->of_member[i] = (uint32_t)*at;
        if (*at == w->n) new_row(w, &row, &w->of_member[i]);
    }
    rs_map_free(&elsewhere);
    find_strays(w);
    find_devices(w);
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

/* The lowest rank of a host and of a process. */
static void find_order(struct places *w)
{
    const struct rs_model *m = w->t->model;
    w->host_order = rs_alloc(((size_t)m->nhosts + 1) * sizeof *w->host_order);
    w->proc_order = rs_alloc(((size_t)m->nprocs + 1) * sizeof *w->proc_order);
    for (uint32_t i = 0; i < m->nhosts; i++) w->host_order[i] = INT64_MAX;
    for (uint32_t i = 0; i < m->nprocs; i++) w->proc_order[i] = INT64_MAX;
    for (uint32_t i = 0; i < w->n; i++) {
        const struct row *s = &w->rows[i];
        int64_t *host = &w->host_order[m->procs[s->proc].host], *proc = &w->proc_order[s->proc];
        if (s->number < 0) continue;
        if (s->number < *host) *host = s->number;
        if (s->number < *proc) *proc = s->number;
    }
}

/* ---- groups ---- */

static void add_group(struct rs_timeline *t, uint32_t *cap, const struct rs_group *g)
{
    RS_ROOM(t->groups, t->ngroups, *cap);
    t->groups[t->ngroups++] = *g;
}

static int64_t error_of(const struct rs_model *m, uint32_t domain)
{
    return domain < m->ndomains ? m->domains[domain].error_ns : RS_TIME_NONE;
}

/* The primary member of a merged one; itself if there is none. */
static uint32_t leading_member(const struct rs_model *m, uint32_t member)
{
    const struct rs_member *x = &m->members[member];
    uint32_t over = m->comms[x->comm].over;
    if (over >= m->ncomms) return member;
    int32_t rank = rs_overlay_rank(m, x->comm, x->rank, over);
    uint32_t lead = rank < 0 ? RS_NONE : rs_comm_member(m, over, rank);
    return lead < m->nmembers ? lead : member;
}

/* Members in the order of their rows, and in a row in the order of creation. */
struct lists {
    uint32_t *first, *next; /* by row; by member */
};

static void list_members(struct places *w, struct lists *l)
{
    const struct rs_model *m = w->t->model;
    l->first = rs_alloc(((size_t)w->n + 1) * sizeof *l->first);
    l->next = rs_alloc(((size_t)m->nmembers + 1) * sizeof *l->next);
    for (uint32_t i = 0; i < w->n; i++) l->first[i] = RS_NONE;
    for (uint32_t i = m->nmembers; i-- > 0;) {
        uint32_t row = w->of_member[i];
        if (row == RS_NONE || leading_member(m, i) != i) continue;
        l->next[i] = l->first[row];
        l->first[row] = i;
    }
}

static bool row_passes(const struct rs_timeline *t, const struct row *s)
{
    const struct rs_filter *f = t->options.filter;
    if (!f || !f->nranks) return true;
    return s->member != RS_NONE && rs_filter_rank(f, t->model, s->member);
}

static void add_row(struct places *w, const struct lists *l, uint32_t index, uint32_t *cap)
{
    struct rs_timeline *t = w->t;
    const struct rs_model *m = t->model;
    struct row *s = &w->rows[index];
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
    if (s->rank_id != RS_NONE)
        label_rank(t, s->rank_id, &g.label);
    else
        label_device(t, s->device, &g.label);
    add_group(t, cap, &g);
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
        label_comm(t, i, &g.label);
        add_group(t, cap, &g);
    }
}

/* Opens the groups of the process, and of its host if new. */
static void add_proc(struct rs_timeline *t, uint32_t proc, uint32_t *host_group, uint32_t *cap)
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
        rs_timeline_text(t, &g.label, "%s", rs_host_label(m, host));
        *host_group = t->ngroups;
        add_group(t, cap, &g);
    }
    struct rs_group g = {.parent = *host_group,
                         .level = RS_GROUP_PROCESS,
                         .error_ns = error,
                         .host = host,
                         .proc = proc,
                         .member = RS_NONE};
    label_proc(t, proc, &g.label);
    t->index->proc_group[proc] = t->ngroups;
    t->procs[t->nprocs++] = proc;
    add_group(t, cap, &g);
}

/* Rows, and after those of a process the process itself (w->n + process), so that one without rows is included. */
static void add_groups(struct places *w, const struct lists *l)
{
    struct rs_timeline *t = w->t;
    const struct rs_model *m = t->model;
    uint32_t n = 0, cap = 0, host_group = RS_NONE;
    struct keyed *rows = rs_alloc(((size_t)w->n + m->nprocs + 1) * sizeof *rows);
    for (uint32_t i = 0; i < w->n; i++) {
        if (!row_passes(t, &w->rows[i])) continue;
        rows[n] = key_of(w, w->rows[i].proc, i);
        if (w->rows[i].number >= 0) rows[n].rank = w->rows[i].number;
        rows[n++].device = w->rows[i].device;
    }
    bool ranks = t->options.filter && t->options.filter->nranks;
    for (uint32_t p = 0; p < m->nprocs && !ranks; p++)
        if (t->index->lead[p] == p) rows[n++] = key_of(w, p, w->n + p);
    qsort(rows, n, sizeof *rows, by_place);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t proc = rows[i].proc_index;
        if (t->index->proc_group[proc] == RS_NONE) add_proc(t, proc, &host_group, &cap);
        if (rows[i].row < w->n) add_row(w, l, rows[i].row, &cap);
    }
    free(rows);
}

/* Merged members get the group of the primary ones; from here on devices refer to groups. */
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
    uint64_t key, row;
    while (rs_map_next(&t->index->devices, &at, &key, &row)) *rs_map_find(&t->index->devices, key) = w->rows[row].group;
    for (uint32_t i = 0; i < w->n; i++) {
        uint32_t *only = &t->index->only_rank[w->rows[i].proc];
        *only = *only == RS_NONE ? w->rows[i].group : SEVERAL;
    }
    for (uint32_t p = 0; p < m->nprocs; p++)
        if (t->index->only_rank[p] == SEVERAL) t->index->only_rank[p] = RS_NONE;
}

void rs_groups_make(struct rs_timeline *t)
{
    const struct rs_model *m = t->model;
    struct places w = {.t = t};
    struct lists l = {0};
    t->group_of_member = rs_alloc(((size_t)m->nmembers + 1) * sizeof *t->group_of_member);
    t->index->member_text = rs_zalloc((size_t)m->nmembers + 1, sizeof *t->index->member_text);
    t->procs = rs_alloc(((size_t)m->nprocs + 1) * sizeof *t->procs);
    w.of_member = rs_alloc(((size_t)m->nmembers + 1) * sizeof *w.of_member);
    for (uint32_t i = 0; i < m->nmembers; i++) t->group_of_member[i] = w.of_member[i] = RS_NONE;
    find_leads(t);
    find_rows(&w);
    find_order(&w);
    list_members(&w, &l);
    add_groups(&w, &l);
    finish(&w);
    free(l.first);
    free(l.next);
    free(w.rows);
    free(w.of_member);
    free(w.host_order);
    free(w.proc_order);
}

uint32_t rs_group_of_device(const struct rs_timeline *t, uint32_t proc, int32_t device)
{
    const struct rs_timeline_index *x = t->index;
    const uint64_t *known = device < 0 ? NULL : rs_map_find(&x->devices, device_key(proc, device));
    if (known) return (uint32_t)*known;
    if (x->only_rank[proc] != RS_NONE) return x->only_rank[proc];
    return x->proc_group[proc];
}
