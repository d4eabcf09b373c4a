/* Communicators of an export: who is in them, as the calls say that make them. See nsys.h. */
#include "base/mix.h"
#include "foreign/nsys/nsys.h"

/* How a member is found: by its rank, by its device, or as the only one of its communicator in its process. */
enum key { BY_RANK = 1, BY_DEVICE, ANY, COUNT };

static uint64_t key_of(uint64_t pid, uint64_t comm, enum key key, int32_t number)
{
    return rs_mix(rs_nsys_key(pid, comm), (uint64_t)key << 32 | (uint32_t)number);
}

static void set_gpu(struct rs_nsys *n, uint64_t pid, uint64_t comm, uint32_t member, int32_t device)
{
    uint32_t domain;
    rs_nsys_gpu(n, pid, device, &domain);
    struct rs_member *x = &n->m->members[member];
    if (x->device < 0) x->device = device;
    x->gpu = domain;
    for (size_t i = 0; i < sizeof x->uuid; i++) x->uuid[i] = n->m->domains[domain].uuid[i];
    rs_map_put(&n->members, key_of(pid, comm, BY_DEVICE, device), member);
}

/* One process may hold several ranks of a communicator, each on its device. Where it holds one, that is meant
 * whatever number its device has: a kernel may have the number of the GPU, and the call that made the communicator
 * the number within the process. */
static uint32_t find_member(const struct rs_nsys *n, uint64_t pid, uint64_t comm, int32_t device, int32_t rank)
{
    const uint64_t *found = rank >= 0 ? rs_map_find(&n->members, key_of(pid, comm, BY_RANK, rank)) : NULL;
    if (!found && device >= 0) found = rs_map_find(&n->members, key_of(pid, comm, BY_DEVICE, device));
    if (found && (rank < 0 || n->m->members[*found].rank < 0 || n->m->members[*found].rank == rank))
        return (uint32_t)*found;
    const uint64_t *any = rs_map_find(&n->members, key_of(pid, comm, ANY, 0));
    if (!any) return RS_NONE;
    const struct rs_member *x = &n->m->members[*any];
    if (device < 0 && rank < 0) return (uint32_t)*any;
    if (rs_map_get(&n->members, key_of(pid, comm, COUNT, 0), 0) != 1) return RS_NONE;
    if (rank >= 0) return x->rank < 0 && (device < 0 || x->device < 0) ? (uint32_t)*any : RS_NONE;
    return x->rank >= 0 || x->device < 0 ? (uint32_t)*any : RS_NONE;
}

void rs_nsys_member(struct rs_nsys *n, uint64_t pid, uint64_t comm, int32_t device, int32_t rank, uint32_t *member)
{
    *member = find_member(n, pid, comm, device, rank);
    if (*member == RS_NONE) {
        uint32_t proc, row;
        uint64_t *count;
        rs_nsys_proc(n, pid, &proc);
        rs_model_comm_of(n->m, RS_TOOL_NSYS, comm, &row);
        rs_model_member(n->m, row, member);
        n->m->members[*member].proc = proc;
        rs_map_put(&n->members, key_of(pid, comm, ANY, 0), *member);
        rs_map_at(&n->members, key_of(pid, comm, COUNT, 0), 0, &count);
        ++*count;
    }
    if (rank >= 0 && n->m->members[*member].rank < 0) {
        n->m->members[*member].rank = rank;
        rs_map_put(&n->members, key_of(pid, comm, BY_RANK, rank), *member);
    }
    if (device < 0 || rs_map_find(&n->members, key_of(pid, comm, BY_DEVICE, device))) return;
    set_gpu(n, pid, comm, *member, device);
}

bool rs_nsys_is_in(const struct rs_nsys *n, uint64_t pid, uint64_t comm)
{
    return rs_map_find(&n->members, key_of(pid, comm, ANY, 0)) != NULL;
}

static void add_init(struct rs_nsys *n, const struct rs_nsys_call *c)
{
    const struct rs_nsys_payload *p = &c->payload;
    int32_t nranks = rs_nsys_number(p, RS_NF_NRANKS);
    uint32_t member;
    if (rs_nsys_has_field(p, RS_NF_COLOR) && (int64_t)p->value[RS_NF_COLOR] < 0) return; /* in none of the new ones */
    rs_nsys_member(n, rs_nsys_pid(c->tid), p->value[RS_NF_COMM], rs_nsys_number(p, RS_NF_DEVICE),
                   rs_nsys_number(p, RS_NF_RANK), &member);
    struct rs_member *x = &n->m->members[member];
    if (c->end != INT64_MAX) x->created = c->end;
    struct rs_comm_row *row = &n->m->comms[x->comm];
    if (nranks > 0) row->nranks = nranks;
    uint64_t parent = rs_nsys_has_field(p, RS_NF_PARENT) ? p->value[RS_NF_PARENT] : 0;
    if (!parent) return;
    row->parent.hash = parent;
    if (rs_nsys_has_field(p, RS_NF_COLOR)) row->parent.color = (int32_t)p->value[RS_NF_COLOR];
}

void rs_nsys_members_read(struct rs_nsys *n)
{
    for (uint32_t i = 0; i < n->ncalls; i++) {
        const struct rs_nsys_call *c = &n->calls[i];
        uint64_t comm = c->payload.value[RS_NF_COMM];
        if (!comm) continue;
        if (c->what == RS_NSYS_INIT) add_init(n, c);
        if (c->what != RS_NSYS_DESTROY) continue;
        const uint64_t *member = rs_map_find(&n->members, key_of(rs_nsys_pid(c->tid), comm, ANY, 0));
        if (member && n->m->members[*member].destroyed == RS_TIME_NONE) n->m->members[*member].destroyed = c->start;
    }
}
