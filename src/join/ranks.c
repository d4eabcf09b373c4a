#include "join/ranks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/mix.h"
#include "base/room.h"
#include "join/overlay.h"

#define MANY (RS_NONE - 1)

/* A device of a process, and its ranks: one, unless several share a GPU. */
struct place {
    uint32_t proc; /* primary */
    uint32_t gpu; /* domain; RS_NONE */
    int32_t device; /* -1: unknown */
    uint32_t most, from; /* most ranks of one communicator here, and which; 0: none */
    uint32_t count; /* of the current communicator */
    int32_t last; /* the rank counted last */
    uint32_t first; /* its row of model.ranks */
};

struct work {
    struct rs_model *m;
    uint32_t *lead; /* by process: its representative */
    uint32_t *only; /* by process: its place; RS_NONE: none; MANY */
    uint32_t *of; /* by member: its place; RS_NONE */
    uint32_t *twin; /* by member of a merged communicator: the primary member; RS_NONE */
    struct place *places;
    uint32_t n, cap;
    struct rs_map index; /* process and device, or its clock -> place */
    bool settle; /* rs_ranks_settle() */
};

/* ---- processes ---- */

/* The identity of a process in the files of one tool, which may be several: windows of a run, a file and its copy. 0:
 * none. */
static uint64_t identity(const struct rs_proc *p)
{
    if (!p->pid) return 0;
    if (rs_tool_has(p->tool, RS_CAP_NONCE)) return p->nonce ? rs_mix(rs_mix(p->host, p->pid), p->nonce) : 0;
    return p->launcher_rank >= 0 ? rs_mix(rs_mix(p->tool, p->pid), (uint64_t)p->launcher_rank + 1) : 0;
}

static void find_leads(struct work *w)
{
    const struct rs_model *m = w->m;
    struct rs_map known = {0};
    for (uint32_t p = 0; p < m->nprocs; p++) {
        uint64_t id = identity(&m->procs[p]), *at;
        w->only[p] = RS_NONE;
        w->lead[p] = p;
        if (!id || m->procs[p].same != RS_NONE) continue;
        rs_map_at(&known, id, p, &at);
        w->lead[p] = (uint32_t)*at;
    }
    for (uint32_t p = 0; p < m->nprocs; p++) w->lead[p] = w->lead[rs_proc_lead(m, p)];
    rs_map_free(&known);
}

/* ---- places ---- */

static uint64_t device_key(uint32_t proc, int32_t device)
{
    return (uint64_t)proc << 32 | (uint32_t)device; /* unknown: the last */
}

static uint64_t gpu_key(uint32_t proc, uint32_t gpu)
{
    return (uint64_t)proc << 32 | UINT32_C(1) << 31 | gpu;
}

static void add_place(struct work *w, const struct place *row, uint32_t *index)
{
    RS_ROOM(w->places, w->n, w->cap);
    *index = w->n;
    w->places[w->n++] = *row;
    w->only[row->proc] = w->only[row->proc] == RS_NONE ? *index : MANY;
    uint64_t *at;
    if (row->gpu != RS_NONE) rs_map_at(&w->index, gpu_key(row->proc, row->gpu), *index, &at);
    rs_map_at(&w->index, device_key(row->proc, row->device), *index, &at);
}

/* The place of a member, if it exists already; else RS_NONE. */
static uint32_t known_place(const struct work *w, uint32_t member)
{
    const struct rs_member *x = &w->m->members[member];
    uint32_t proc = w->lead[x->proc], only = w->only[proc], at = RS_NONE;
    if (w->twin[member] != RS_NONE && w->of[w->twin[member]] != RS_NONE) return w->of[w->twin[member]];
    if (x->device >= 0) at = (uint32_t)rs_map_get(&w->index, device_key(proc, x->device), RS_NONE);
    if (at == RS_NONE && x->gpu != RS_NONE) {
        at = (uint32_t)rs_map_get(&w->index, gpu_key(proc, x->gpu), RS_NONE);
        if (at != RS_NONE && x->device >= 0 && w->places[at].device >= 0) at = RS_NONE;
    }
    if (at != RS_NONE || only >= MANY) return at;
    /* If one of two does not report its device, or numbers devices differently: if there is only one place. */
    bool vague = x->device < 0 && x->gpu == RS_NONE;
    bool there = w->places[only].device < 0 && w->places[only].gpu == RS_NONE;
    return vague || there || proc != x->proc ? only : RS_NONE;
}

/* Most informative first: a communicator of one rank identifies little, and secondary sources follow the primary. */
enum pass { KNOWN, VAGUE, FOLLOWING, ALONE, PASSES };

static enum pass pass_of(const struct work *w, uint32_t member)
{
    const struct rs_member *x = &w->m->members[member];
    const struct rs_comm_row *c = &w->m->comms[x->comm];
    if (c->nranks == 1) return ALONE;
    if (w->lead[x->proc] != x->proc || c->over != RS_NONE) return FOLLOWING;
    return x->device < 0 && x->gpu == RS_NONE ? VAGUE : KNOWN;
}

static void put_member(struct work *w, uint32_t member, bool may_add)
{
    const struct rs_member *x = &w->m->members[member];
    uint32_t at = known_place(w, member);
    if (at == RS_NONE && may_add) {
        struct place row = {.proc = w->lead[x->proc], .gpu = x->gpu, .device = x->device, .from = RS_NONE};
        add_place(w, &row, &at);
    }
    w->of[member] = at;
    if (at == RS_NONE) return;
    if (w->places[at].device < 0) w->places[at].device = x->device;
    if (w->places[at].gpu == RS_NONE) w->places[at].gpu = x->gpu;
}

/* Whether a process whose only communicator has one rank is certainly none of the others. Where the files of a process
 * are determined from events, these have few or none. */
static bool is_another(const struct rs_proc *p, const struct rs_map *pids)
{
    if (p->launcher_rank >= 0) return true;
    return p->pid && !(rs_tool_has(p->tool, RS_CAP_EVENT_PROCESS) && rs_map_find(pids, p->pid));
}

static void put_members(struct work *w)
{
    const struct rs_model *m = w->m;
    struct rs_map pids = {0}; /* of such processes with a communicator of several ranks */
    bool others = false; /* there are such communicators */
    for (enum pass pass = 0; pass < PASSES; pass++) {
        for (uint32_t i = 0; i < m->nmembers; i++) {
            if (pass_of(w, i) != pass) continue;
            uint32_t proc = w->lead[m->members[i].proc];
            const struct rs_proc *p = &m->procs[proc];
            bool may_add = pass != ALONE || (w->only[proc] == RS_NONE && (!others || is_another(p, &pids)));
            put_member(w, i, may_add);
            if (pass != ALONE && rs_tool_has(p->tool, RS_CAP_EVENT_PROCESS) && p->pid) rs_map_put(&pids, p->pid, 1);
        }
        if (pass == FOLLOWING) others = w->n > 0;
    }
    rs_map_free(&pids);
}

/* Processes without a communicator: the devices on which they were active; or one, if their number is known. */
static void put_processes(struct work *w)
{
    const struct rs_model *m = w->m;
    bool *works = rs_zalloc((size_t)m->nlanes + 1, sizeof *works),
         *lone = rs_zalloc((size_t)m->nprocs + 1, sizeof *lone);
    bool any = false;
    for (uint32_t p = 0; p < m->nprocs; p++) any |= lone[p] = w->lead[p] == p && w->only[p] == RS_NONE;
    for (uint32_t i = 0; any && i < m->activities.n; i++)
        if (m->activities.lane[i] < m->nlanes && rs_activity_is_work(m->activities.kind[i]))
            works[m->activities.lane[i]] = true;
    for (uint32_t i = 0; any && i < m->nlanes; i++) {
        const struct rs_lane *lane = &m->lanes[i];
        if (!works[i] || lane->kind != RS_LANE_STREAM || lane->proc >= m->nprocs) continue;
        struct place row = {.proc = w->lead[lane->proc], .gpu = RS_NONE, .device = lane->device, .from = RS_NONE};
        uint32_t at;
        if (lane->domain < m->ndomains && m->domains[lane->domain].kind == RS_DOMAIN_GPU) row.gpu = lane->domain;
        if (!lone[row.proc] || rs_map_find(&w->index, device_key(row.proc, row.device))) continue;
        add_place(w, &row, &at);
    }
    for (uint32_t p = 0; any && p < m->nprocs; p++) {
        struct place row = {.proc = p, .gpu = RS_NONE, .device = -1, .from = RS_NONE};
        uint32_t at;
        if (lone[p] && w->only[p] == RS_NONE && m->procs[p].launcher_rank >= 0) add_place(w, &row, &at);
    }
    free(works);
    free(lone);
}

/* ---- ranks of a place ---- */

/* Numbers the ranks of a communicator at each place: *kth of a member is that of its rank there. */
static void count_comm(struct work *w, uint32_t comm, uint32_t *kth)
{
    const struct rs_model *m = w->m;
    for (uint32_t i = m->comms[comm].first_member; i != RS_NONE; i = m->members[i].next) {
        if (w->of[i] == RS_NONE) continue;
        struct place *p = &w->places[w->of[i]];
        if (!p->count || p->last != m->members[i].rank) p->count++; /* the same rank twice: a file and its copy */
        p->last = m->members[i].rank;
        kth[i] = p->count - 1;
    }
}

static void forget_comm(struct work *w, uint32_t comm)
{
    for (uint32_t i = w->m->comms[comm].first_member; i != RS_NONE; i = w->m->members[i].next)
        if (w->of[i] != RS_NONE) w->places[w->of[i]].count = 0;
}

/* How many ranks each place has, and a row for each of them. */
static void make_rows(struct work *w, uint32_t *kth)
{
    struct rs_model *m = w->m;
    for (uint32_t c = 0; c < m->ncomms; c++) {
        if (m->comms[c].over != RS_NONE) continue;
        count_comm(w, c, kth);
        for (uint32_t i = m->comms[c].first_member; i != RS_NONE; i = m->members[i].next) {
            struct place *p = w->of[i] == RS_NONE ? NULL : &w->places[w->of[i]];
            if (!p || p->count <= p->most) continue;
            p->most = p->count;
            p->from = c;
        }
        forget_comm(w, c);
    }
    m->nranks = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        struct place *p = &w->places[i];
        p->first = m->nranks;
        for (uint32_t k = 0, row; k < (p->most ? p->most : 1); k++) {
            rs_model_rank(m, &row);
            struct rs_rank *r = &m->ranks[row];
            r->proc = p->proc;
            r->host = m->procs[p->proc].host;
            r->gpu = p->gpu;
            r->device = p->device;
            r->tools = 1u << m->procs[p->proc].tool;
        }
    }
}

static uint64_t thread_key(uint32_t proc, uint32_t tid)
{
    return (uint64_t)proc << 32 | tid;
}

/* The rank of a shared GPU that a thread calls for: a row, or MANY. */
static void index_threads(const struct work *w, struct rs_map *threads)
{
    const struct rs_model *m = w->m;
    for (uint32_t p = 0; p < m->nprocs; p++)
        for (uint32_t i = 0; i < m->procs[p].ncallers; i++) {
            const struct rs_caller *c = &m->procs[p].callers[i];
            uint32_t row = m->members[c->member].rank_id;
            uint64_t *at;
            if (row == RS_NONE || w->places[w->of[c->member]].most < 2) continue;
            rs_map_at(threads, thread_key(p, c->tid), row, &at);
            if (*at != row) *at = MANY;
        }
}

/* Members of smaller communicators on a shared GPU: by the calling thread, if it calls for one rank only. */
static void by_threads(struct work *w)
{
    struct rs_model *m = w->m;
    struct rs_map threads = {0};
    index_threads(w, &threads);
    for (uint32_t p = 0; p < m->nprocs && rs_map_count(&threads); p++)
        for (uint32_t i = 0; i < m->procs[p].ncallers; i++) {
            const struct rs_caller *c = &m->procs[p].callers[i];
            struct rs_member *x = &m->members[c->member];
            uint64_t row = rs_map_get(&threads, thread_key(p, c->tid), MANY);
            if (x->rank_id != RS_NONE || w->of[c->member] == RS_NONE || row >= MANY) continue;
            const struct place *here = &w->places[w->of[c->member]];
            if (row >= here->first && row - here->first < here->most) x->rank_id = (uint32_t)row;
        }
    rs_map_free(&threads);
}

/* Two members of a communicator that were assigned to one rank, which is impossible: both become unknown. `at` (the
 * member seen last) and `twice` (the communicator) are by rank. */
static void deny_doubles(struct work *w, uint32_t comm, uint32_t *at, uint32_t *twice)
{
    struct rs_model *m = w->m;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = m->comms[comm].first_member; i != RS_NONE; i = m->members[i].next) {
            uint32_t row = m->members[i].rank_id;
            if (row == RS_NONE) continue;
            const struct rs_member *other = at[row] == RS_NONE ? NULL : &m->members[at[row]];
            if (pass && twice[row] == comm) m->members[i].rank_id = RS_NONE;
            if (pass) continue;
            if (other && other->comm == comm && other->rank != m->members[i].rank) twice[row] = comm;
            at[row] = i;
        }
}

static void give_rows(struct work *w, uint32_t *kth)
{
    struct rs_model *m = w->m;
    bool shared = false;
    for (uint32_t c = 0; c < m->ncomms; c++) {
        count_comm(w, c, kth);
        for (uint32_t i = m->comms[c].first_member; i != RS_NONE; i = m->members[i].next) {
            struct rs_member *x = &m->members[i];
            const struct place *p = w->of[i] == RS_NONE ? NULL : &w->places[w->of[i]];
            x->place = p ? p->first : RS_NONE;
            x->rank_id = !p ? RS_NONE : p->most < 2 ? p->first : p->from == c ? p->first + kth[i] : RS_NONE;
            shared |= p && x->rank_id == RS_NONE;
        }
        forget_comm(w, c);
    }
    if (!shared) return;
    by_threads(w);
    uint32_t *at = rs_alloc(2 * ((size_t)m->nranks + 1) * sizeof *at), *twice = at + m->nranks + 1;
    for (uint32_t i = 0; i < m->nranks; i++) at[i] = twice[i] = RS_NONE;
    for (uint32_t c = 0; c < m->ncomms; c++) {
        deny_doubles(w, c, at, twice);
        count_comm(w, c, kth); /* by order, if there are equally many */
        for (uint32_t i = m->comms[c].first_member; i != RS_NONE; i = m->members[i].next) {
            struct rs_member *x = &m->members[i];
            const struct place *p = w->of[i] == RS_NONE ? NULL : &w->places[w->of[i]];
            if (p && x->rank_id == RS_NONE && p->count == p->most) x->rank_id = p->first + kth[i];
        }
        forget_comm(w, c);
    }
    for (uint32_t i = 0; i < m->nmembers; i++)
        if (w->twin[i] != RS_NONE) m->members[i].rank_id = m->members[w->twin[i]].rank_id;
    free(at);
}

/* The identity of each rank: its first primary member. */
static void name_rows(struct work *w)
{
    struct rs_model *m = w->m;
    for (enum pass pass = 0; pass < PASSES; pass++)
        for (uint32_t i = 0; i < m->nmembers; i++) {
            const struct rs_member *x = &m->members[i];
            if (x->rank_id == RS_NONE || pass_of(w, i) != pass) continue;
            struct rs_rank *r = &m->ranks[x->rank_id];
            if (r->member == RS_NONE) r->member = i;
            r->tools |= 1u << m->comms[x->comm].tool | 1u << m->procs[x->proc].tool;
        }
    for (uint32_t p = 0; p < m->nprocs; p++) { /* merged without a common communicator */
        uint32_t only = w->only[w->lead[p]];
        if (only < MANY && w->places[only].most < 2) m->ranks[w->places[only].first].tools |= 1u << m->procs[p].tool;
    }
}

/* ---- the same rank in several tools ---- */

/* Ranks of one number, if no operation showed that they are the same and nothing contradicts it. */
static bool may_be_one(const struct rs_model *m, const struct rs_rank *a, const struct rs_rank *b)
{
    const char *x = rs_host_name(m, a->host), *y = rs_host_name(m, b->host);
    if ((a->tools & b->tools) || !rs_overlay_same_process(m, a->proc, b->proc)) return false;
    return !x || !y || a->host == b->host;
}

static void merge_tools(struct work *w, uint32_t *now)
{
    struct rs_model *m = w->m;
    struct rs_map numbers = {0};
    for (uint32_t i = 0; i < m->nranks; i++) now[i] = i;
    for (uint8_t tool = 0; tool < RS_TOOLS; tool++) /* the primary source is first */
        for (uint32_t i = 0; i < m->nranks; i++) {
            struct rs_rank *r = &m->ranks[i], *other;
            uint64_t *at;
            if (r->number < 0 || (r->tools & ((2u << tool) - 1)) != 1u << tool) continue;
            rs_map_at(&numbers, (uint32_t)r->number, i, &at);
            if (*at == i) continue;
            other = &m->ranks[*at];
            if (!may_be_one(m, other, r)) continue;
            now[i] = (uint32_t)*at;
            if (w->settle && r->proc != other->proc && m->procs[r->proc].pid && m->procs[other->proc].pid)
                m->procs[r->proc].same = other->proc;
            other->tools |= r->tools;
            if (other->member == RS_NONE) other->member = r->member;
            if (other->device < 0) other->device = r->device;
            if (other->gpu == RS_NONE) other->gpu = r->gpu;
        }
    rs_map_free(&numbers);
}

/* ---- numbers ----
 * Each tool numbers the ranks that it recorded; of several tools, the primary source decides. A number is
 * - what PyTorch reports: the ranks that its process groups consist of, or the process's own;
 * - else the rank in a communicator that contains every rank of the tool that is in one (the first created, of more
 * than one rank), unless that contradicts PyTorch;
 * - else the launcher's, if each process has one rank and no value occurs twice;
 * - else the rank in the largest communicator, if one contains more than half of the ranks, or if the launcher agrees
 * for all members of those of its size: ranks of another job, or of an earlier attempt, do not change the numbers;
 * - else unknown. */

/* Numbers according to one tool; arrays are by rank. */
struct numbering {
    struct rs_model *m;
    uint8_t tool;
    int32_t *number; /* -1: unknown */
    bool *joined; /* in a communicator of the tool */
    bool *mark; /* in the current communicator */
    uint32_t *of_proc; /* by process of the tool: its rank; RS_NONE; MANY */
    uint32_t nranks, njoined; /* seen by the tool; of these, in a communicator */
    bool alone; /* only communicators of one rank */
};

static bool is_mine(const struct numbering *w, uint32_t member)
{
    const struct rs_member *x = &w->m->members[member];
    return w->m->comms[x->comm].tool == w->tool && x->rank_id != RS_NONE;
}

static void begin(struct numbering *w)
{
    const struct rs_model *m = w->m;
    w->nranks = w->njoined = 0;
    w->alone = true;
    for (uint32_t i = 0; i < m->nprocs; i++) w->of_proc[i] = RS_NONE;
    for (uint32_t i = 0; i < m->nranks; i++) {
        w->number[i] = -1;
        w->joined[i] = false;
        w->nranks += m->ranks[i].tools >> w->tool & 1;
        if (m->ranks[i].member == RS_NONE && m->procs[m->ranks[i].proc].tool == w->tool)
            w->of_proc[m->ranks[i].proc] = w->of_proc[m->ranks[i].proc] == RS_NONE ? i : MANY;
    }
    for (uint32_t i = 0; i < m->nmembers; i++) {
        if (!is_mine(w, i)) continue;
        uint32_t row = m->members[i].rank_id, *at = &w->of_proc[m->members[i].proc];
        w->njoined += !w->joined[row];
        w->joined[row] = true;
        *at = *at == RS_NONE || *at == row ? row : MANY;
        w->alone &= m->comms[m->members[i].comm].nranks == 1;
    }
}

/* A member's number according to its communicator: the ranks it consists of, if PyTorch reports them. */
static int32_t number_in(const struct rs_model *m, uint32_t member)
{
    const struct rs_member *x = &m->members[member];
    const struct rs_comm_row *c = &m->comms[x->comm];
    return c->ranks && x->rank >= 0 && x->rank < c->nranks ? c->ranks[x->rank] : x->rank;
}

static void by_groups(struct numbering *w)
{
    for (uint32_t i = 0; i < w->m->nmembers; i++)
        if (is_mine(w, i) && w->m->comms[w->m->members[i].comm].ranks && w->number[w->m->members[i].rank_id] < 0)
            w->number[w->m->members[i].rank_id] = number_in(w->m, i);
}

/* The numbers that processes report, for ranks without one: all or, with `some`, as far as known. */
static void by_processes(struct numbering *w, bool some)
{
    const struct rs_model *m = w->m;
    struct rs_map taken = {0};
    uint32_t fits = 0, known = 0;
    bool unique = true;
    for (uint32_t i = 0; i < m->nranks; i++) {
        if (w->number[i] < 0) continue;
        rs_map_put(&taken, (uint32_t)w->number[i], i);
        known++;
    }
    for (uint32_t p = 0; p < m->nprocs; p++) {
        uint32_t row = w->of_proc[p], said = (uint32_t)m->procs[p].launcher_rank;
        uint64_t *at;
        if (row >= MANY || m->procs[p].launcher_rank < 0 || w->number[row] >= 0) continue;
        rs_map_at(&taken, said, row, &at);
        fits += *at == row;
        unique &= *at == row;
    }
    if (unique && (some || known + fits >= w->nranks))
        for (uint32_t p = 0; p < m->nprocs; p++)
            if (w->of_proc[p] < MANY && w->number[w->of_proc[p]] < 0)
                w->number[w->of_proc[p]] = m->procs[p].launcher_rank;
    rs_map_free(&taken);
}

/* How many ranks a communicator contains; 0: its ranks are not all known, or contradict known numbers. */
static uint32_t contained(struct numbering *w, uint32_t comm)
{
    const struct rs_model *m = w->m;
    uint32_t n = 0;
    bool fits = true;
    for (uint32_t i = m->comms[comm].first_member; i != RS_NONE; i = m->members[i].next) {
        uint32_t row = m->members[i].rank_id;
        if (row == RS_NONE) continue;
        int32_t number = number_in(m, i);
        fits &= number >= 0 && (w->number[row] < 0 || w->number[row] == number);
        n += !w->mark[row];
        w->mark[row] = true;
    }
    for (uint32_t i = m->comms[comm].first_member; i != RS_NONE; i = m->members[i].next)
        if (m->members[i].rank_id != RS_NONE) w->mark[m->members[i].rank_id] = false;
    return fits ? n : 0;
}

/* When a rank created a communicator, on its own clock. */
static int64_t created_by(const struct rs_model *m, uint32_t comm, uint32_t rank)
{
    for (uint32_t i = m->comms[comm].first_member; i != RS_NONE; i = m->members[i].next)
        if (m->members[i].rank_id == rank) return m->members[i].created;
    return RS_TIME_NONE;
}

/* Whether a communicator may number the ranks of the job. A health service names few of them: one with fewer ranks than
 * the job may not. */
static bool counts(const struct numbering *w, uint32_t comm)
{
    const struct rs_comm_row *c = &w->m->comms[comm];
    if (rs_tool_has(w->tool, RS_CAP_HEALTH) && c->nranks < w->m->least_ranks) return false;
    return c->tool == w->tool && (c->nranks != 1 || w->alone);
}

/* The first communicator that contains every rank; RS_NONE: none. */
static uint32_t whole(struct numbering *w)
{
    const struct rs_model *m = w->m;
    uint32_t best = RS_NONE, first = 0;
    int64_t when = RS_TIME_NONE;
    while (first < m->nranks && !w->joined[first]) first++;
    for (uint32_t c = 0; c < m->ncomms; c++) {
        if (!counts(w, c) || m->comms[c].nmembers < w->njoined || contained(w, c) < w->njoined) continue;
        int64_t t = created_by(m, c, first);
        if (best != RS_NONE && (t == RS_TIME_NONE || (when != RS_TIME_NONE && t >= when))) continue;
        best = c;
        when = t;
    }
    return best;
}

static void by_comm(struct numbering *w, uint32_t comm)
{
    const struct rs_model *m = w->m;
    for (uint32_t i = m->comms[comm].first_member; i != RS_NONE; i = m->members[i].next)
        if (m->members[i].rank_id != RS_NONE && w->number[m->members[i].rank_id] < 0)
            w->number[m->members[i].rank_id] = number_in(m, i);
}

static bool launcher_agrees(const struct rs_model *m, uint32_t comm)
{
    for (uint32_t i = m->comms[comm].first_member; i != RS_NONE; i = m->members[i].next)
        if (m->procs[m->members[i].proc].launcher_rank != m->members[i].rank) return false;
    return true;
}

static bool is_within(const struct rs_model *m, uint32_t comm, const bool *mark)
{
    for (uint32_t i = m->comms[comm].first_member; i != RS_NONE; i = m->members[i].next)
        if (m->members[i].rank_id != RS_NONE && !mark[m->members[i].rank_id]) return false;
    return true;
}

/* By the largest communicators, if there is one with most of the ranks (later ones may have the same ranks), or the
 * launcher agrees with all of them. */
static void by_largest(struct numbering *w)
{
    const struct rs_model *m = w->m;
    uint32_t first = RS_NONE;
    bool agree = true, single = true;
    for (uint32_t c = 0; c < m->ncomms; c++)
        if (counts(w, c) && m->comms[c].nranks > (first == RS_NONE ? 1 : m->comms[first].nranks)) first = c;
    if (first == RS_NONE) return;
    for (uint32_t i = m->comms[first].first_member; i != RS_NONE; i = m->members[i].next)
        if (m->members[i].rank_id != RS_NONE) w->mark[m->members[i].rank_id] = true;
    for (uint32_t c = first; c < m->ncomms; c++) {
        if (!counts(w, c) || m->comms[c].nranks < m->comms[first].nranks) continue;
        single &= is_within(m, c, w->mark);
        agree &= launcher_agrees(m, c);
    }
    memset(w->mark, 0, m->nranks * sizeof *w->mark);
    if (single && contained(w, first) > w->njoined / 2) by_comm(w, first);
    for (uint32_t c = first; agree && c < m->ncomms; c++)
        if (counts(w, c) && m->comms[c].nranks == m->comms[first].nranks && contained(w, c)) by_comm(w, c);
}

static void number_tool(struct numbering *w)
{
    begin(w);
    by_groups(w);
    if (rs_tool_has(w->tool, RS_CAP_JOB_RANK)) by_processes(w, true);
    uint32_t world = w->njoined ? whole(w) : RS_NONE;
    if (world != RS_NONE) by_comm(w, world);
    by_processes(w, false);
    if (world == RS_NONE) by_largest(w);
    for (uint32_t i = 0; i < w->m->nranks; i++)
        if (w->m->ranks[i].number < 0) w->m->ranks[i].number = w->number[i];
}

static void number_ranks(struct rs_model *m)
{
    size_t n = (size_t)m->nranks + 1;
    struct numbering w = {.m = m,
                          .number = rs_alloc(n * sizeof *w.number),
                          .joined = rs_alloc(n * sizeof *w.joined),
                          .mark = rs_zalloc(n, sizeof *w.mark),
                          .of_proc = rs_alloc(((size_t)m->nprocs + 1) * sizeof *w.of_proc)};
    uint32_t tools = 0;
    for (uint32_t i = 0; i < m->nranks; i++) tools |= m->ranks[i].tools;
    for (w.tool = 0; w.tool < RS_TOOLS; w.tool++)
        if (tools >> w.tool & 1) number_tool(&w);
    free(w.number);
    free(w.joined);
    free(w.mark);
    free(w.of_proc);
}

/* ---- all steps ---- */

int rs_rank_compare(const struct rs_model *m, uint32_t a, uint32_t b)
{
    uint32_t x = (uint32_t)m->ranks[a].number, y = (uint32_t)m->ranks[b].number; /* unknown is -1: the last */
    if (x != y) return x < y ? -1 : 1;
    return a < b ? -1 : a > b;
}

static int by_number(const void *a, const void *b, void *of)
{
    return rs_rank_compare(of, *(const uint32_t *)a, *(const uint32_t *)b);
}

/* Rows by number, without duplicates; `now` becomes the new position of each. */
static void sort_rows(struct rs_model *m, uint32_t *now)
{
    uint32_t *order = rs_alloc(2 * ((size_t)m->nranks + 1) * sizeof *order), *to = order + m->nranks + 1, n = 0;
    struct rs_rank *rows = rs_alloc(((size_t)m->nranks + 1) * sizeof *rows);
    for (uint32_t i = 0; i < m->nranks; i++)
        if (now[i] == i) order[n++] = i;
    qsort_r(order, n, sizeof *order, by_number, m);
    for (uint32_t i = 0; i < n; i++) {
        rows[i] = m->ranks[order[i]];
        to[order[i]] = i;
    }
    for (uint32_t i = 0; i < m->nranks; i++) now[i] = to[now[i]];
    free(order);
    free(m->ranks);
    m->ranks = rows;
    m->cap_ranks = m->nranks + 1;
    m->nranks = n;
}

/* The number of ranks of the job, from its communicators, numbers and the ranks that one tool saw. */
static void find_world(struct rs_model *m)
{
    uint32_t seen[RS_TOOLS] = {0};
    m->world = m->least_ranks ? m->least_ranks : -1;
    for (uint32_t c = 0; c < m->ncomms; c++)
        if (m->comms[c].nranks > m->world) m->world = m->comms[c].nranks;
    for (uint32_t i = 0; i < m->nranks; i++) {
        int32_t number = m->ranks[i].number;
        if (number >= m->world && number < INT32_MAX) m->world = number + 1;
        if (i && number >= 0 && m->ranks[i - 1].number == number) continue; /* the same rank, restarted */
        for (uint8_t tool = 0; tool < RS_TOOLS; tool++) seen[tool] += m->ranks[i].tools >> tool & 1;
    }
    for (uint8_t tool = 0; tool < RS_TOOLS; tool++)
        if (seen[tool] && (int64_t)seen[tool] > m->world && seen[tool] < INT32_MAX) m->world = (int32_t)seen[tool];
}

static void find_twins(struct work *w)
{
    const struct rs_model *m = w->m;
    for (uint32_t i = 0; i < m->nmembers; i++) {
        const struct rs_member *x = &m->members[i];
        uint32_t over = m->comms[x->comm].over;
        int32_t rank = over == RS_NONE ? -1 : rs_overlay_rank(m, x->comm, x->rank, over);
        w->twin[i] = rank < 0 ? RS_NONE : rs_comm_member(m, over, rank);
    }
}

static void find_all(struct work *w, uint32_t *kth)
{
    struct rs_model *m = w->m;
    find_leads(w);
    find_twins(w);
    for (uint32_t c = 0; c < m->ncomms; c++) m->comms[c].vague = false;
    put_members(w);
    put_processes(w);
    make_rows(w, kth);
    give_rows(w, kth);
    name_rows(w);
    number_ranks(m);
    uint32_t *now = rs_alloc(((size_t)m->nranks + 1) * sizeof *now);
    merge_tools(w, now);
    sort_rows(m, now);
    for (uint32_t i = 0; i < m->nmembers; i++) {
        struct rs_member *x = &m->members[i];
        if (x->place != RS_NONE) x->place = now[x->place];
        if (x->rank_id != RS_NONE) x->rank_id = now[x->rank_id];
        x->global_rank = x->rank_id != RS_NONE ? m->ranks[x->rank_id].number : -1;
        m->comms[x->comm].vague |= x->rank_id == RS_NONE;
    }
    free(now);
    for (uint32_t p = 0; p < m->nprocs && w->settle; p++) /* a file and its copy, windows of one process */
        if (m->procs[p].same == RS_NONE && w->lead[p] != p) m->procs[p].same = w->lead[p];
    find_world(m);
}

static void find(struct rs_model *m, bool settle)
{
    size_t procs = (size_t)m->nprocs + 1, members = (size_t)m->nmembers + 1;
    struct work w = {.m = m,
                     .settle = settle,
                     .lead = rs_alloc(procs * sizeof *w.lead),
                     .only = rs_alloc(procs * sizeof *w.only),
                     .of = rs_alloc(members * sizeof *w.of),
                     .twin = rs_alloc(members * sizeof *w.twin)};
    uint32_t *kth = rs_zalloc(members, sizeof *kth);
    for (uint32_t i = 0; i < m->nmembers; i++) w.of[i] = RS_NONE;
    find_all(&w, kth);
    free(w.lead);
    free(w.only);
    free(w.of);
    free(w.twin);
    free(w.places);
    free(kth);
    rs_map_free(&w.index);
}

void rs_ranks_find(struct rs_model *m)
{
    find(m, false);
}

void rs_ranks_settle(struct rs_model *m)
{
    find(m, true);
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

/* ---- names ---- */

void rs_rank_words(struct rs_strbuf *s, const struct rs_model *m, uint32_t rank)
{
    const struct rs_rank *r = &m->ranks[rank];
    if (r->number >= 0)
        rs_strbuf_printf(s, "rank %" PRId32, r->number);
    else if (m->procs[r->proc].pid)
        rs_strbuf_printf(s, "process %" PRIu32, m->procs[r->proc].pid);
    else
        rs_strbuf_puts(s, "a rank");
    rs_strbuf_printf(s, " (%s", rs_host_label(m, r->host));
    if (r->device >= 0) rs_strbuf_printf(s, ", GPU %" PRId32, r->device);
    rs_strbuf_putc(s, ')');
}

void rs_rank_label(struct rs_strbuf *s, const struct rs_model *m, uint32_t rank)
{
    const struct rs_rank *r = &m->ranks[rank];
    if (r->number >= 0) rs_strbuf_printf(s, "rank %" PRId32 "%s", r->number, r->device >= 0 ? " \xc2\xb7 " : "");
    if (r->device >= 0)
        rs_strbuf_printf(s, "GPU %" PRId32, r->device);
    else if (r->number < 0)
        rs_strbuf_puts(s, "GPU");
}
