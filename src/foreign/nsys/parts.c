/* Operations out of an export: which kernel belongs to which call of NCCL's, and what is made of both. See nsys.h.
 *
 * A kernel is launched by a call of CUDA, which is in a range of NCCL's on its thread: that of the operation, or of
 * the ncclGroupEnd that closes its group. A kernel in a graph belongs to the range in which its node was captured, and
 * there is one operation for each time that it ran. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/mix.h"
#include "base/room.h"
#include "foreign/kernel_name.h"
#include "foreign/nsys/nsys.h"

enum { MOST_KERNELS = 256 }; /* distinguished in one group call; NCCL launches one per communicator, or a few */

/* A part to be: parts are made in the order of their time. */
struct item {
    int64_t at, then; /* call of the API, or launch of the graph; then the start of the kernel */
    uint32_t call, first, last; /* kernels, RS_NONE: none */
    uint32_t replay;
};

struct items {
    struct item *rows;
    uint32_t n, cap;
    uint64_t most;
};

/* ---- which kernel is in which range ---- */

static const struct rs_nsys_node *find_node(const struct rs_nsys *n, uint64_t id)
{
    uint32_t low = 0, high = n->nnodes;
    RS_BISECT(low, high, mid, n->nodes[mid].id < id);
    return low < n->nnodes && n->nodes[low].id == id ? &n->nodes[low] : NULL;
}

/* A graph is copied when it is made ready to run: the node that was captured is the original. */
static uint32_t call_of_node(const struct rs_nsys *n, uint64_t id)
{
    enum { COPIES = 8 };
    for (int i = 0; i < COPIES && id; i++) {
        const struct rs_nsys_node *node = find_node(n, id);
        if (!node) return RS_NONE;
        uint32_t call = rs_nsys_call_at(n, node->tid, node->start);
        if (call != RS_NONE) return call;
        id = node->original;
    }
    return RS_NONE;
}

static uint32_t call_of_kernel(const struct rs_nsys *n, const struct rs_nsys_kernel *k)
{
    const struct rs_activities *x = &n->m->activities;
    if (k->node) return call_of_node(n, k->node);
    uint32_t launch = x->launch[k->activity];
    if (launch == RS_NONE) return RS_NONE;
    const struct rs_lane *lane = &n->m->lanes[x->lane[launch]];
    return rs_nsys_call_at(n, k->pid << 24 | (uint64_t)lane->id, x->start[launch]);
}

static int64_t start_of(const struct rs_nsys *n, const struct rs_nsys_kernel *k)
{
    return n->m->activities.start[k->activity];
}

static int by_time(const void *a, const void *b, void *of)
{
    const struct rs_nsys *n = of;
    const struct rs_nsys_kernel *x = a, *y = b;
    if (start_of(n, x) != start_of(n, y)) return start_of(n, x) < start_of(n, y) ? -1 : 1;
    return x->activity < y->activity ? -1 : x->activity > y->activity;
}

/* By range and replay; what is in no range comes last. */
static int by_call(const void *a, const void *b, void *of)
{
    const struct rs_nsys_kernel *x = a, *y = b;
    if (x->call != y->call) return x->call < y->call ? -1 : 1;
    if (x->replay != y->replay) return x->replay < y->replay ? -1 : 1;
    return by_time(a, b, of);
}

static void place_kernels(struct rs_nsys *n)
{
    struct rs_map times = {0}; /* node -> how often it ran */
    if (n->nkernels) qsort_r(n->kernels, n->nkernels, sizeof *n->kernels, by_time, n);
    for (uint32_t i = 0; i < n->nkernels; i++) {
        struct rs_nsys_kernel *k = &n->kernels[i];
        uint64_t *ran = NULL;
        k->call = call_of_kernel(n, k);
        if (k->node) rs_map_at(&times, k->node, 0, &ran);
        if (ran) k->replay = (uint32_t)(*ran)++;
    }
    for (uint32_t i = 0; i < n->nnodes; i++) {
        uint32_t call = rs_nsys_call_at(n, n->nodes[i].tid, n->nodes[i].start);
        if (call != RS_NONE) n->calls[call].captured = 1;
    }
    rs_map_free(&times);
    if (n->nkernels) qsort_r(n->kernels, n->nkernels, sizeof *n->kernels, by_call, n);
}

/* ---- from ranges to calls ---- */

static bool is_operation(const struct rs_nsys_call *c)
{
    return c->func && c->payload.value[RS_NF_COMM];
}

/* Whether a kernel can be a call's, by function; those of all functions ("Generic") can. */
static bool fits(const struct rs_nsys *n, const struct rs_nsys_kernel *k, const struct rs_nsys_call *c)
{
    const char *text = rs_model_name_text(n->m, n->m->activities.name[k->activity]);
    struct rs_kernel_name name;
    if (!rs_kernel_name(text, strlen(text), &name) || !name.func) return true;
    bool p2p = c->what != RS_NSYS_COLL || !strcmp(c->func, "AlltoAll") || !strcmp(c->func, "Gather") ||
               !strcmp(c->func, "Scatter"); /* made of sends and receives, where not of kernels of their own */
    return (p2p && !strcmp(name.func, "SendRecv")) || !strcmp(name.func, c->func);
}

static void add_item(struct items *list, const struct item *item)
{
    if (list->n >= list->most) return; /* a damaged file: every kernel in a group of thousands of calls */
    RS_ROOM(list->rows, list->n, list->cap);
    list->rows[list->n++] = *item;
}

/* The kernels of one range, at one replay. */
struct bunch {
    uint32_t first, n;
    bool captured;
};

static int64_t launch_of(const struct rs_nsys *n, const struct rs_nsys_kernel *k)
{
    uint32_t launch = n->m->activities.launch[k->activity];
    return launch != RS_NONE ? n->m->activities.start[launch] : start_of(n, k);
}

static void add_call(struct rs_nsys *n, struct items *list, uint32_t call, const struct bunch *b, uint32_t first,
                     uint32_t last)
{
    struct item item = {n->calls[call].start, INT64_MIN, call, first, last, 0};
    if (first != RS_NONE) item.then = start_of(n, &n->kernels[first]);
    if (b->captured) {
        item.at = launch_of(n, &n->kernels[first]);
        item.replay = n->kernels[first].replay;
        n->calls[call].captured = 1;
    } else if (first != RS_NONE) {
        n->calls[call].captured = 0;
    }
    n->calls[call].used = true;
    add_item(list, &item);
}

/* Calls of a group and its kernels. Each communicator has kernels of its own, in the order in which it came; several
 * calls of one share a kernel, or have more than one, evenly. */
static void add_group(struct rs_nsys *n, struct items *list, uint32_t end, const struct bunch *b)
{
    uint64_t comms[MOST_KERNELS]; /* of each kernel */
    struct rs_map taken = {0}, calls = {0}; /* communicator -> kernels that it has; -> calls so far */
    uint32_t begin = end, kernels = b->n < MOST_KERNELS ? b->n : MOST_KERNELS;
    while (begin > 0 && n->calls[begin - 1].tid == n->calls[end].tid && n->calls[begin - 1].group == end) begin--;
    for (uint32_t k = 0; k < kernels; k++) {
        const struct rs_nsys_kernel *kernel = &n->kernels[b->first + k];
        uint64_t best = 0, least = UINT64_MAX;
        for (uint32_t i = begin; i < end; i++) {
            const struct rs_nsys_call *c = &n->calls[i];
            if (!is_operation(c) || !fits(n, kernel, c)) continue;
            uint64_t comm = c->payload.value[RS_NF_COMM], has = rs_map_get(&taken, comm, 0);
            if (has >= least) continue;
            best = comm;
            least = has;
            if (!has) break;
        }
        comms[k] = best;
        if (least != UINT64_MAX) rs_map_put(&taken, best, least + 1);
    }
    for (uint32_t i = begin; i < end; i++) {
        uint64_t *all;
        if (!is_operation(&n->calls[i])) continue;
        rs_map_at(&calls, n->calls[i].payload.value[RS_NF_COMM], 0, &all);
        ++*all;
    }
    struct rs_map done = {0};
    for (uint32_t i = begin; i < end; i++) {
        if (!is_operation(&n->calls[i])) continue;
        uint64_t comm = n->calls[i].payload.value[RS_NF_COMM], *at;
        uint64_t have = rs_map_get(&taken, comm, 0), want = rs_map_get(&calls, comm, 1), seen = 0;
        rs_map_at(&done, comm, 0, &at);
        if (!have) continue;
        uint64_t from = *at * have / want, to = (*at + 1) * have / want;
        ++*at;
        uint32_t first = RS_NONE, last = RS_NONE;
        for (uint32_t k = 0; k < kernels; k++) {
            if (comms[k] != comm) continue;
            if (seen == from) first = b->first + k;
            if (seen >= from && (seen < to || seen == from)) last = b->first + k;
            seen++;
        }
        add_call(n, list, i, b, first, last);
    }
    rs_map_free(&done);
    rs_map_free(&taken);
    rs_map_free(&calls);
}

static void find_items(struct rs_nsys *n, struct items *list)
{
    for (uint32_t i = 0, next; i < n->nkernels && n->kernels[i].call != RS_NONE; i = next) {
        const struct rs_nsys_kernel *k = &n->kernels[i];
        uint32_t call = k->call;
        for (next = i + 1; next < n->nkernels && n->kernels[next].call == call && n->kernels[next].replay == k->replay;)
            next++;
        struct bunch b = {i, next - i, k->node != 0};
        if (n->calls[call].what == RS_NSYS_GROUP_END)
            add_group(n, list, call, &b);
        else if (is_operation(&n->calls[call]))
            add_call(n, list, call, &b, i, next - 1);
    }
    for (uint32_t i = 0; i < n->ncalls; i++) {
        const struct rs_nsys_call *c = &n->calls[i];
        struct bunch none = {0};
        bool captured = c->captured || (c->group != RS_NONE && n->calls[c->group].captured);
        /* Captured, and not seen to run: a call and no operation. */
        if (is_operation(c) && !c->used && !captured) add_call(n, list, i, &none, RS_NONE, RS_NONE);
    }
}

/* ---- parts ---- */

static int by_order(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    if (x->then != y->then) return x->then < y->then ? -1 : 1;
    return x->call < y->call ? -1 : x->call > y->call;
}

static void set_kernel(struct rs_nsys *n, uint32_t part, const struct item *item)
{
    struct rs_activities *x = &n->m->activities;
    uint32_t first = n->kernels[item->first].activity, last = n->kernels[item->last].activity;
    const char *text = rs_model_name_text(n->m, x->name[first]);
    struct rs_kernel_name name;
    uint16_t algo = 0;
    if (rs_kernel_name(text, strlen(text), &name)) rs_model_string(n->m, name.algo, &algo);
    struct rs_parts *t = &n->m->parts;
    t->algo[part] = algo;
    t->launch[part] = (uint64_t)first + 1;
    t->start[part] = x->start[first];
    t->end[part] = x->end[last] > x->end[first] ? x->end[last] : x->end[first];
    t->start_source[part] = t->end_source[part] = RS_FROM_KERNEL;
    if (name.symmetric) t->flags[part] |= RS_PART_SYMMETRIC;
    if (x->launch[first] != RS_NONE) {
        t->launched[part] = x->start[x->launch[first]];
        t->flags[part] |= RS_PART_LAUNCHED;
    }
    if (x->part[first] == RS_NONE) x->part[first] = part;
    if (x->part[last] == RS_NONE) x->part[last] = part;
}

static void add_part(struct rs_nsys *n, const struct item *item, struct rs_map *numbers)
{
    struct rs_nsys_call *c = &n->calls[item->call];
    int32_t device = item->first != RS_NONE ? n->kernels[item->first].device : -1;
    uint32_t member, part;
    uint16_t func;
    rs_nsys_member(n, rs_nsys_pid(c->tid), c->payload.value[RS_NF_COMM], device, -1, &member);
    rs_model_string(n->m, c->func, &func);
    rs_model_part(n->m, &part);
    struct rs_parts *t = &n->m->parts;
    t->handle[part] = (uint64_t)part + 1;
    t->member[part] = member;
    t->func[part] = func;
    t->kind[part] = c->what == RS_NSYS_SEND ? RS_PART_SEND : c->what == RS_NSYS_RECV ? RS_PART_RECV : RS_PART_COLL;
    t->count[part] =
        rs_nsys_has_field(&c->payload, RS_NF_BYTES) ? c->payload.value[RS_NF_BYTES] : 0; /* the type is unknown */
    t->peer[part] = rs_nsys_number(&c->payload, c->what == RS_NSYS_COLL ? RS_NF_ROOT : RS_NF_PEER);
    if (c->what == RS_NSYS_COLL && t->peer[part] < 0) t->peer[part] = 0; /* as NCCL has it where there is no root */
    if (c->group != RS_NONE) t->group[part] = (uint64_t)c->group + 1;
    t->flags[part] |= RS_PART_STOPPED;
    bool captured = item->first != RS_NONE && n->kernels[item->first].node;
    if (captured) {
        uint64_t *ordinal;
        rs_map_at(numbers, rs_mix(rs_mix(3, member), item->call), 0, &ordinal);
        if (!*ordinal) {
            uint64_t *all;
            rs_map_at(numbers, rs_mix(4, member), 0, &all);
            uint64_t next = ++*all;
            rs_map_put(numbers, rs_mix(rs_mix(3, member), item->call), next);
            ordinal = rs_map_find(numbers, rs_mix(rs_mix(3, member), item->call));
        }
        t->captured[part] = (uint32_t)*ordinal;
        t->replay[part] = item->replay;
        t->flags[part] |= RS_PART_CAPTURED;
    } else {
        t->enqueued[part] = c->start;
    }
    if (t->kind[part] == RS_PART_COLL) {
        uint64_t *number;
        rs_map_at(numbers, rs_mix(rs_mix(5, member), func), 0, &number);
        t->seq[part] = (*number)++;
    }
    if (item->first != RS_NONE) set_kernel(n, part, item);
}

void rs_nsys_parts_make(struct rs_nsys *n)
{
    struct items list = {.most = 256 * ((uint64_t)n->ncalls + n->nkernels)};
    struct rs_map numbers = {0};
    place_kernels(n);
    find_items(n, &list);
    if (list.n) qsort(list.rows, list.n, sizeof *list.rows, by_order);
    for (uint32_t i = 0; i < list.n; i++) add_part(n, &list.rows[i], &numbers);
    free(list.rows);
    rs_map_free(&numbers);
}
