/* Runs that an input describes: records of RECORD bytes, each of which adds something to a model, or changes something
 * in it, before it is joined. What comes out is what importers may leave: indexes and kinds are right, and times,
 * numbers, flags, ranks and sizes are anything.
 *
 *   header: which real run it begins with (real_runs.h), which window of it, options
 *   records: processes with clocks; communicators and their members; collectives and sends and receives on all of them,
 *            many times; what another tool saw of these; losses; activities; and single values changed
 *
 * The mutator knows records: it repeats, moves and drops them as a whole. */
#ifndef RS_TESTS_FUZZ_MADE_RUNS_H
#define RS_TESTS_FUZZ_MADE_RUNS_H

#include "base/mix.h"
#include "nccl/abi.h"
#include "nccl/digest.h"
#include "real_runs.h"

enum { HEADER = 8, RECORD = 16, MOST_RECORDS = 48, MOST_MADE = 80, MOST_ADDED = 8 };

enum record_kind {
    MAKE_PROC,
    MAKE_COMM,
    MAKE_COLL,
    MAKE_P2P,
    MAKE_VIEW,
    CHANGE_PART,
    CHANGE_PROC,
    CHANGE_PLACE,
    MAKE_LOSS,
    MAKE_ACTIVITY,
    MAKE_ROW,
    RECORD_KINDS
};

/* A part before it is in the model: parts are added in the order of time of each process. */
struct made {
    uint32_t member, proc, nth;
    int64_t at; /* true time of its call */
    int64_t called, launched, start, end; /* true times, ns; RS_TIME_NONE */
    uint64_t seq, count, launch, group;
    uint32_t replay, captured, flags, step;
    int32_t peer;
    uint16_t func, dtype, algo;
    uint8_t kind, source, tag;
};

static struct made made[MOST_MADE];
static uint32_t nmade;
static uint32_t first_proc, first_comm; /* what is made: a recording has the parts of a process in one place */

/* ---- names and clocks ---- */

static const char *const functions[] = {"AllReduce", "AllGather", "ReduceScatter",  "Broadcast", "Reduce",
                                        "SendRecv",  "Send",      "Recv",           "AlltoAll",  "Gather",
                                        "Scatter",   "",          "b\303\244d \"\\"};
static const char *const types[] = {"ncclFloat32", "ncclBfloat16", "ncclInt8", "Unknown", "ncclFloat64", ""};
static const char *const algorithms[] = {"RING", "TREE", "NVLS", "PAT", ""};
static const char *const names[] = {"default_pg:0", "tp:1",   "dp:2",           "0",        "ProfilerStep#3",
                                    "train_step:7", "ampere", "gemm \"x\",\n1", "backward", "ProfilerStep#4"};
#define ONE_OF(list, i) (list)[(i) % (sizeof(list) / sizeof *(list))]

static uint16_t string_of(struct rs_model *m, const char *text)
{
    uint16_t id;
    rs_model_string(m, text, &id);
    return id;
}

static uint32_t name_of(struct rs_model *m, const char *text)
{
    uint32_t id;
    must(rs_model_name(m, text, strlen(text), &id, NULL) == RS_OK);
    return id;
}

static uint16_t u16(const uint8_t *r)
{
    return (uint16_t)(r[0] | r[1] << 8);
}

/* A true time on a clock: each has its own zero and rate. */
static int64_t on_clock(const struct rs_model *m, uint32_t domain, int64_t t)
{
    if (t == RS_TIME_NONE) return t;
    const struct rs_domain *d = &m->domains[domain];
    uint32_t own = d->rigid ? d->host_domain : domain;
    uint64_t mixed = rs_mix(own, 7);
    int64_t zero =
        m->domains[own].kind == RS_DOMAIN_HOST ? RS_TIME_WALL + INT64_C(700000000000000000) : INT64_C(1000000000000);
    if (mixed % 5 == 0) zero = 0;
    int64_t ppm = (int64_t)(mixed >> 8 & 63) - 32;
    return zero + (int64_t)(mixed >> 16 & 0xfffff) + t + t / 1000000 * ppm;
}

/* ---- processes and communicators ---- */

static void make_proc(struct rs_model *m, const uint8_t *r)
{
    uint32_t host, proc;
    char boot[16];
    snprintf(boot, sizeof boot, "%s%d", r[1] & 8 ? "f:" : "h", r[1] % 8);
    rs_model_host(m, r[1] & 16 ? "" : boot, boot, &host);
    rs_model_proc(m, &proc);
    struct rs_proc *p = &m->procs[proc];
    p->host = host;
    p->tool = r[2] % RS_TOOLS;
    p->pid = r[3] % 16;
    p->pid_namespace = r[3] / 16;
    p->launcher_rank = (int8_t)r[4] % 16;
    p->path = "made";
    p->begin = on_clock(m, m->hosts[host].domain, r[5] * INT64_C(1000000));
    p->end = on_clock(m, m->hosts[host].domain, u16(r + 6) * INT64_C(1000000));
    p->first = p->begin;
    p->last = p->end;
    p->ended = r[8] % 4;
    p->complete = r[8] & 4;
    p->end_missing = r[8] & 8;
    p->drops = r[8] & 16;
    p->calls = r[8] & 32;
    p->nccl_version = r[8] & 64 ? "2.28.9" : NULL;
    p->clock_error_ns = r[9] == 255 ? RS_TIME_NONE : r[9] * 10;
    p->lost = r[10] % 4;
    p->overwritten = r[11] % 4;
    if (p->overwritten) p->overwritten_until = on_clock(m, m->hosts[host].domain, r[12] * INT64_C(1000000));
    if (r[13] & 1) p->cut_until = on_clock(m, m->hosts[host].domain, r[14] * INT64_C(1000000));
}

/* The GPU of a member: known by a uuid, or its process's alone, or not at all. */
static void give_gpu(struct rs_model *m, struct rs_member *x, unsigned how)
{
    uint8_t uuid[16] = {(uint8_t)(how & 1), (uint8_t)(how & 1 ? x->device + 1 : 0)};
    if (how % 4 == 3) return;
    rs_model_gpu(m, m->procs[x->proc].host, uuid, &x->gpu);
    m->domains[x->gpu].rigid = how & 4;
    memcpy(x->uuid, uuid, sizeof uuid);
}

static void make_comm(struct rs_model *m, const uint8_t *r)
{
    uint32_t comm, member, procs[16], n = 0;
    enum rs_tool tool = r[1] % RS_TOOLS;
    for (uint32_t i = first_proc; i < m->nprocs && n < 16; i++)
        if (m->procs[i].tool == tool) procs[n++] = i;
    if (!n) return;
    uint64_t hash = r[2] % 16;
    if (m->ncomms && r[3] & 1) hash = rs_nccl_split_hash(m->comms[r[4] % m->ncomms].hash, r[5] % 4, r[5] / 4 % 4);
    if (r[3] & 2)
        rs_model_comm_of(m, tool, hash, &comm);
    else
        rs_model_comm(m, hash, &comm);
    struct rs_comm_row *c = &m->comms[comm];
    int32_t nranks = 1 + r[6] % 8;
    c->tool = (uint8_t)tool;
    c->ranks = NULL;
    c->nranks = r[3] & 4 ? -1 : nranks;
    c->nnodes = r[3] & 8 ? -1 : 1 + r[6] / 8 % 4;
    c->made_up = r[3] & 16;
    c->name = r[3] & 32 ? ONE_OF(names, r[7]) : NULL;
    if (r[3] & 64 && m->ncomms) c->parent.hash = m->comms[r[4] % m->ncomms].hash;
    if (r[3] & 128 && c->nranks > 0) {
        int32_t *ranks = rs_arena_alloc(&m->arena, (size_t)nranks * sizeof *ranks);
        must(ranks != NULL);
        for (int32_t i = 0; i < nranks; i++) ranks[i] = r[8] % 8 + i * (r[9] % 8);
        c->ranks = ranks;
    }
    for (int32_t i = 0; i < nranks; i++) {
        if (r[10] >> i & 1) continue; /* not recorded */
        rs_model_member(m, comm, &member);
        struct rs_member *x = &m->members[member];
        x->rank = r[11] & 1 ? -1 : i;
        x->proc = procs[(uint32_t)(r[8] + i * (r[9] % 8)) % n];
        x->device = r[11] & 2 ? -1 : (r[8] + i) % 8;
        x->context = (uint64_t)i + 1;
        if (r[11] & 4) x->asked = r[12] % 16;
        uint32_t clock = m->hosts[m->procs[x->proc].host].domain;
        if (!(r[11] & 8)) x->created = on_clock(m, clock, r[13] * INT64_C(100000));
        if (r[11] & 16) x->destroyed = on_clock(m, clock, (r[14] + 256) * INT64_C(100000));
        x->created_from = r[12] % 3;
        give_gpu(m, x, r[15]);
    }
}

/* ---- operations ---- */

static uint32_t made_comm(const struct rs_model *m, uint8_t which)
{
    return first_comm + which % (m->ncomms - first_comm);
}

static struct made *new_made(const struct rs_model *m, uint32_t member)
{
    if (nmade == MOST_MADE) return NULL;
    made[nmade] = (struct made){.member = member,
                                .proc = m->members[member].proc,
                                .nth = nmade,
                                .seq = UINT64_MAX,
                                .peer = -1,
                                .step = RS_NONE,
                                .called = RS_TIME_NONE,
                                .launched = RS_TIME_NONE,
                                .start = RS_TIME_NONE,
                                .end = RS_TIME_NONE};
    return &made[nmade++];
}

/* When the n-th call of a record is made by a rank: no two steps are of one length. */
static int64_t call_at(const uint8_t *r, uint32_t n, uint32_t rank)
{
    int64_t at = u16(r + 8) * INT64_C(20000), period = r[10] * INT64_C(20000);
    at += n * period + (int64_t)(rs_mix(n, r[11]) % (uint64_t)(period / 4 + 1));
    return at + (int64_t)(rs_mix(rank, n + r[11]) % (r[11] % 16 * 4000u + 1));
}

static void give_times(struct made *p, const uint8_t *r, uint32_t n, int64_t at, int64_t end)
{
    p->at = p->called = at;
    p->launched = at + 5000;
    p->start = at + 20000;
    p->end = end;
    p->source = RS_FROM_KERNEL;
    switch (r[12] % 16) {
    case 1: p->source = RS_FROM_PROXY; break;
    case 2: p->source = RS_FROM_CALLBACK; break;
    case 3: p->start = p->end = RS_TIME_NONE, p->source = RS_FROM_NOTHING; break;
    case 4: p->end = n % 3 ? end : RS_TIME_NONE; break;
    case 5: p->launched = RS_TIME_NONE; break;
    case 6: p->called = RS_TIME_NONE; break;
    case 7: p->start = n % 4 == 1 ? RS_TIME_NONE : p->start; break;
    default:;
    }
}

/* kind, comm, func, dtype, count, number, times, flags | at, at, period, skew, sources, transfer, captured, kind */
static void make_coll(struct rs_model *m, const uint8_t *r)
{
    uint32_t comm = made_comm(m, r[1]), times = 1 + r[6] % 48;
    for (uint32_t n = 0; n < times; n++) {
        int64_t end = 0;
        for (uint32_t i = 0; i < m->nmembers; i++)
            if (m->members[i].comm == comm && call_at(r, n, i) > end) end = call_at(r, n, i);
        end += 30000 + r[13] * INT64_C(8000);
        for (uint32_t i = 0; i < m->nmembers; i++) {
            struct made *p = m->members[i].comm == comm ? new_made(m, i) : NULL;
            if (!p) continue;
            p->kind = r[15] % 8 == 1 ? RS_PART_CE : r[15] % 8 == 2 ? RS_PART_API : RS_PART_COLL;
            p->func = string_of(m, ONE_OF(functions, r[2]));
            p->dtype = string_of(m, ONE_OF(types, r[3]));
            p->algo = string_of(m, ONE_OF(algorithms, r[7]));
            p->count = UINT64_C(1) << r[4] % 30;
            if (r[15] & 16) p->count += rs_mix(n, 3) % 4;
            p->seq = r[5] == 255 ? UINT64_MAX : r[5] + n;
            p->peer = r[7] & 16 ? r[7] % 4 : -1;
            p->launch = p->group = 1 + (uint64_t)r[5] * 64 + n / (1 + r[15] / 64);
            p->flags = (uint32_t)(r[7] & 32 ? RS_PART_LAUNCHED | RS_PART_STOPPED : 0) |
                       (uint32_t)(r[7] & 64 ? RS_PART_NET : 0) | (uint32_t)(r[7] & 128 ? RS_PART_END_EARLY : 0);
            if (r[14]) { /* replays of a graph of some calls */
                uint32_t calls = 1 + r[14] % 4;
                p->captured = 1 + n % calls;
                p->replay = n / calls;
                p->flags |= RS_PART_CAPTURED;
                if (r[14] & 128) p->seq = r[5];
            }
            p->step = r[14] & 64 ? n : RS_NONE;
            give_times(p, r, n, call_at(r, n, i), end);
        }
    }
}

/* kind, comm, pattern, dtype, count, root, times, flags | at, at, period, skew, sources, transfer, , */
static void make_p2p(struct rs_model *m, const uint8_t *r)
{
    uint32_t comm = made_comm(m, r[1]), times = 1 + r[6] % 24;
    for (uint32_t n = 0; n < times; n++)
        for (uint32_t i = 0; i < m->nmembers; i++)
            for (uint32_t k = 0; m->members[i].comm == comm && k < m->nmembers; k++) {
                if (m->members[k].comm != comm) continue;
                int32_t a = m->members[i].rank, b = m->members[k].rank, root = r[5] % 8;
                int32_t size = m->comms[comm].nranks > 0 ? m->comms[comm].nranks : 1;
                bool sends, receives; /* a to b; b to a */
                switch (r[2] % 5) {
                case 0: sends = b == (a + 1) % size, receives = a == (b + 1) % size; break; /* ring */
                case 1: sends = receives = true; break; /* all to all */
                case 2: sends = a == root, receives = b == root; break; /* scatter */
                case 3: sends = b == root, receives = a == root; break; /* gather */
                default: sends = a == root && b == root + 1, receives = b == root && a == root + 1;
                }
                for (int way = 0; way < 2; way++) {
                    struct made *p = (way ? receives : sends) ? new_made(m, i) : NULL;
                    if (!p) continue;
                    p->kind = way ? RS_PART_RECV : RS_PART_SEND;
                    p->func = string_of(m, r[7] & 1 ? ONE_OF(functions, 5 + r[5] / 8) : way ? "Recv" : "Send");
                    p->dtype = string_of(m, ONE_OF(types, r[3]));
                    p->count = UINT64_C(1) << r[4] % 30;
                    p->peer = b;
                    p->launch = p->group =
                        100000 + n / (1 + r[7] / 64) + (r[7] & 2 ? (uint64_t)(k * 64 + (uint32_t)way) << 20 : 0);
                    p->flags = (uint32_t)(r[7] & 4 ? RS_PART_LAUNCHED | RS_PART_STOPPED : 0) |
                               (uint32_t)(r[7] & 8 ? RS_PART_NET : 0) | (uint32_t)(a == b ? RS_PART_SELF : 0);
                    if (r[14] & 1) p->flags |= RS_PART_CAPTURED, p->captured = 1 + k, p->replay = n;
                    int64_t at = call_at(r, n, i), peer = call_at(r, n, k);
                    give_times(p, r, n, at, (at > peer ? at : peer) + 30000 + r[13] * INT64_C(8000));
                    if (r[12] & 16 && rs_mix(n, i * 64 + k) % 8 == 0) nmade--; /* lost */
                }
            }
}

/* What another tool saw: from comm, to comm, first, n, what, jitter, seed, step */
static void make_view(struct rs_model *m, const uint8_t *r)
{
    uint32_t from = made_comm(m, r[1]), to = made_comm(m, r[2]), all = nmade, seen = 0;
    for (uint32_t k = 0; k < all && from != to; k++) {
        const struct rs_member *x = &m->members[made[k].member];
        uint32_t i = 0;
        if (x->comm != from || seen++ < r[3] || seen > r[3] + r[4] + UINT32_C(1)) continue;
        while (i < m->nmembers && (m->members[i].comm != to || m->members[i].rank != x->rank)) i++;
        struct made *p = i < m->nmembers ? new_made(m, i) : NULL;
        if (!p) continue;
        uint32_t nth = p->nth;
        *p = made[k];
        p->member = i;
        p->proc = m->members[i].proc;
        p->nth = nth;
        int64_t jitter = (int64_t)(rs_mix(k, r[7]) % (r[6] * 200u + 1)) - (r[5] & 64 ? 20000 : 0);
        p->at += jitter;
        if (p->called != RS_TIME_NONE) p->called += jitter;
        if (p->start != RS_TIME_NONE) p->start += jitter / 2;
        if (r[5] & 1) p->start = p->end = RS_TIME_NONE, p->source = RS_FROM_NOTHING;
        if (r[5] & 2) p->called = RS_TIME_NONE;
        if (r[5] & 4) p->seq = UINT64_MAX;
        if (r[5] & 8) p->launched = RS_TIME_NONE;
        if (r[5] & 16) p->tag = 1;
        if (r[5] & 32) p->flags |= RS_PART_DONE | RS_PART_STARTED | RS_PART_SETTLED;
        if (r[8] & 1 && p->kind != RS_PART_COLL)
            p->kind = RS_PART_COLL, p->func = string_of(m, "AlltoAll"), p->peer = -1;
        p->step = k / (1 + r[9] % 8);
    }
}

static int by_process_and_time(const void *a, const void *b)
{
    const struct made *x = a, *y = b;
    if (x->proc != y->proc) return x->proc < y->proc ? -1 : 1;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->nth < y->nth ? -1 : x->nth > y->nth;
}

static void add_bounds(struct rs_model *m, const struct made *p, uint32_t i)
{
    struct rs_domain *d = &m->domains[m->members[p->member].gpu];
    uint32_t host = d->host_domain;
    if (d->rigid) return;
    if (!d->bounds) must((d->bounds = calloc(1, sizeof *d->bounds)) != NULL);
    d->timers++;
    if (p->launched != RS_TIME_NONE) rs_bounds_add_lower(d->bounds, m->parts.start[i], m->parts.launched[i]);
    if (p->end != RS_TIME_NONE)
        rs_bounds_add_upper(d->bounds, m->parts.end[i], on_clock(m, host, p->end + (int64_t)(rs_mix(i, 5) % 4000)));
}

/* All that was described goes into the model. */
static void add_made(struct rs_model *m)
{
    struct rs_parts *t = &m->parts;
    qsort(made, nmade, sizeof *made, by_process_and_time);
    for (uint32_t k = 0; k < nmade; k++) {
        const struct made *p = &made[k];
        const struct rs_member *x = &m->members[p->member];
        uint32_t i, host = m->hosts[m->procs[p->proc].host].domain;
        uint8_t source = p->source == RS_FROM_KERNEL && x->gpu == RS_NONE ? RS_FROM_PROXY : p->source;
        uint32_t clock = source == RS_FROM_KERNEL ? x->gpu : host;
        rs_model_part(m, &i);
        t->handle[i] = 1000 + k;
        t->member[i] = p->member;
        t->kind[i] = p->kind;
        t->func[i] = p->func;
        t->dtype[i] = p->dtype;
        t->algo[i] = p->algo;
        t->count[i] = p->count;
        t->seq[i] = p->seq;
        t->peer[i] = p->peer;
        t->launch[i] = p->launch;
        t->group[i] = p->group;
        t->replay[i] = p->replay;
        t->captured[i] = p->captured;
        t->flags[i] = p->flags;
        t->channels[i] = t->channels_seen[i] = 2;
        t->enqueued[i] = on_clock(m, host, p->called);
        t->launched[i] = on_clock(m, host, p->launched);
        t->start[i] = on_clock(m, clock, p->start);
        t->end[i] = on_clock(m, clock, p->end);
        t->start_source[i] = p->start == RS_TIME_NONE ? RS_FROM_NOTHING : source;
        t->end_source[i] = p->end == RS_TIME_NONE ? RS_FROM_NOTHING : source;
        if (p->end == RS_TIME_NONE && p->start != RS_TIME_NONE) t->after[i] = t->start[i], t->after_source[i] = source;
        if (t->start_source[i] == RS_FROM_KERNEL) add_bounds(m, p, i);
        struct rs_tag tag = {.part = i, .step = p->step, .pg_seq = (int64_t)p->seq, .duration_ns = RS_TIME_NONE};
        if (p->tag) {
            if (p->start == RS_TIME_NONE) tag.duration_ns = 50000;
            tag.has_comms_id = p->seq % 2;
            tag.comms_id = rs_mix(p->seq, p->count);
            tag.is_p2p = p->kind != RS_PART_COLL;
            tag.scope = name_of(m, ONE_OF(names, p->step));
            rs_model_tag(m, &tag);
        }
    }
    nmade = 0;
}

/* ---- losses, activities, other rows ---- */

static int by_from(const void *a, const void *b)
{
    int64_t x = ((const struct rs_gap *)a)->from, y = ((const struct rs_gap *)b)->from;
    return x < y ? -1 : x > y;
}

/* A gap, what was asked for, a caller, or more bounds of a GPU. */
static void make_loss(struct rs_model *m, const uint8_t *r)
{
    struct rs_proc *p = &m->procs[r[1] % m->nprocs];
    uint32_t clock = m->hosts[p->host].domain;
    int64_t from = on_clock(m, clock, u16(r + 2) * INT64_C(20000)), to = from + u16(r + 4) * INT64_C(20000);
    switch (r[6] % 4) {
    case 0:
    case 1:
        must((p->gaps = realloc(p->gaps, (p->ngaps + 1) * sizeof *p->gaps)) != NULL);
        p->gaps[p->ngaps++] = (struct rs_gap){from, to, r[7] % 8, r[8] % 8, r[9]};
        qsort(p->gaps, p->ngaps, sizeof *p->gaps, by_from);
        p->complete = false;
        p->lost += r[7] % 8u + r[8] % 8u + r[9];
        break;
    case 2:
        must((p->covers = realloc(p->covers, (p->ncovers + 1) * sizeof *p->covers)) != NULL);
        if (p->ncovers) p->covers[p->ncovers - 1].to = from;
        p->covers[p->ncovers++] = (struct rs_cover){from, INT64_MAX, u16(r + 7)};
        break;
    default:
        if (!m->nmembers) return;
        must((p->callers = realloc(p->callers, (p->ncallers + 1) * sizeof *p->callers)) != NULL);
        p->callers[p->ncallers++] = (struct rs_caller){r[7] % 8, r[8] % m->nmembers};
    }
}

/* proc, lane, kind, name | start, start, length, period, times, bytes, part, part */
static void make_activity(struct rs_model *m, const uint8_t *r)
{
    uint32_t proc = r[1] % m->nprocs, lane = 0, i, first = m->activities.n;
    uint8_t kind = r[3] % RS_ACTIVITY_KINDS;
    bool stream = kind <= RS_ACT_SET || kind == RS_ACT_GPU_RANGE;
    int64_t id = r[2] % 4;
    while (lane < m->nlanes && (m->lanes[lane].proc != proc || m->lanes[lane].id != id ||
                                m->lanes[lane].kind != (stream ? RS_LANE_STREAM : RS_LANE_THREAD)))
        lane++;
    uint32_t clock = m->hosts[m->procs[proc].host].domain;
    for (i = 0; stream && i < m->nmembers; i++)
        if (m->members[i].proc == proc && m->members[i].gpu != RS_NONE) clock = m->members[i].gpu;
    struct rs_lane row = {.proc = proc,
                          .domain = clock,
                          .kind = stream ? RS_LANE_STREAM : RS_LANE_THREAD,
                          .device = stream ? r[2] / 4 % 8 : -1,
                          .id = id,
                          .name = r[2] & 128 ? ONE_OF(names, r[2]) : NULL};
    if (lane == m->nlanes) rs_model_lane(m, &row, &lane);
    for (uint32_t n = 0; n <= r[10] % 16u; n++) {
        struct rs_activities *t = &m->activities;
        rs_model_activity(m, &i);
        t->lane[i] = lane;
        t->kind[i] = kind;
        t->start[i] = on_clock(m, clock, u16(r + 5) * INT64_C(20000) + n * r[9] * INT64_C(20000));
        t->end[i] = t->start[i] + u16(r + 7) * INT64_C(1000);
        t->bytes[i] = r[11] * UINT64_C(4096);
        t->name[i] = name_of(m, ONE_OF(names, r[4] + n));
        if (kind == RS_ACT_COMM && m->parts.n) t->part[i] = (u16(r + 12) + n) % m->parts.n;
        if (stream && first && r[14] & 1) t->launch[i] = (u16(r + 12) + n) % first;
    }
}

/* Something open, traffic with a peer, a line of a summary, or what a cut tells of a part. */
static void make_row(struct rs_model *m, const uint8_t *r)
{
    uint32_t member = m->nmembers ? r[2] % m->nmembers : RS_NONE;
    uint32_t proc = member == RS_NONE ? r[2] % m->nprocs : m->members[member].proc;
    int64_t at = on_clock(m, m->hosts[m->procs[proc].host].domain, u16(r + 3) * INT64_C(20000));
    uint32_t part = m->parts.n ? u16(r + 5) % m->parts.n : RS_NONE;
    static const uint64_t open_types[] = {RS_KERNEL_CH, RS_PROXY_OP, RS_PROXY_STEP};
    switch (r[1] % 4) {
    case 0: {
        struct rs_open row = {
            .part = r[15] & 1 ? RS_NONE : part, .proc = proc, .type = ONE_OF(open_types, r[7]), .since = at};
        row.channel = r[8] % 4;
        row.peer = (int8_t)r[9];
        row.step = row.type == RS_PROXY_STEP ? r[10] : -1;
        row.state = row.type == RS_PROXY_STEP ? r[11] % 24 : -1;
        row.steps = r[12];
        row.done = r[13];
        row.is_send = r[14] & 1;
        rs_model_open(m, &row);
        if (row.part != RS_NONE) m->parts.flags[part] |= RS_PART_OPEN;
        break;
    }
    case 1: {
        if (member == RS_NONE) return;
        struct rs_net row = {.member = member, .peer = (int8_t)r[7], .from = at, .to = at + r[8] * INT64_C(100000)};
        row.gpu_ns = r[9] * 1000, row.credit_ns = r[10] * 1000, row.send_ns = r[11] * 1000;
        row.recv_ns = r[12] * 1000, row.flush_ns = r[13] * 1000, row.consume_ns = r[14] * 1000;
        row.sent = row.received = r[15], row.sent_bytes = row.received_bytes = r[15] * UINT64_C(4096);
        rs_model_net(m, &row);
        break;
    }
    case 2: {
        struct rs_stat row = {.proc = proc, .member = r[7] & 1 ? RS_NONE : member, .kind = r[8] % 7};
        row.func =
            row.kind == RS_STAT_COMM || row.kind == RS_STAT_OPERATION ? string_of(m, ONE_OF(functions, r[9])) : 0;
        row.name = name_of(m, ONE_OF(names, r[10]));
        row.within = r[11] & 1 ? name_of(m, ONE_OF(names, r[11])) : 0;
        row.thread = r[11] & 2 ? name_of(m, "main") : 0;
        row.calls = r[12], row.bytes = r[13] * UINT64_C(1024);
        row.total_ns = r[14] & 1 ? RS_TIME_NONE : r[14] * INT64_C(100000);
        row.min_ns = row.max_ns = r[14] & 2 ? RS_TIME_NONE : r[15] * INT64_C(1000);
        rs_model_stat(m, &row);
        break;
    }
    default: {
        if (part == RS_NONE || (m->ncut_numbers && m->cut_numbers[m->ncut_numbers - 1].part >= part)) return;
        struct rs_cut_number row = {
            .id = r[7], .part = part, .index = r[8], .confidence = r[9] % 101, .twice = r[10] & 1};
        rs_model_cut_number(m, &row);
    }
    }
}

/* ---- values changed ---- */

static int64_t changed(int64_t old, int64_t other, const uint8_t *r)
{
    int64_t value;
    memcpy(&value, r + 8, sizeof value);
    switch (r[4] % 6) {
    case 0: return value;
    case 1: return rs_time_plus(old, (int32_t)value); /* near by */
    case 2: return other;
    case 3: return RS_TIME_NONE;
    case 4: return old ^ (int64_t)(UINT64_C(1) << (value & 63));
    default: return value & 0xff;
    }
}

/* Before it is joined: column, part, part, how | value */
static void change_part(struct rs_model *m, const uint8_t *r)
{
    struct rs_parts *t = &m->parts;
    uint32_t i = u16(r + 2) % t->n, k = u16(r + 8) % t->n;
    uint32_t number = (uint32_t)changed(0, 0, r);
    const uint32_t of_the_join = RS_PART_MISMATCH | RS_PART_LENT_START | RS_PART_LENT_END;
    switch (r[1] % 20) {
    case 0: t->enqueued[i] = changed(t->enqueued[i], t->enqueued[k], r); break;
    case 1: t->launched[i] = changed(t->launched[i], t->launched[k], r); break;
    case 2: t->start[i] = changed(t->start[i], t->start[k], r); break;
    case 3: t->end[i] = changed(t->end[i], t->end[k], r); break;
    case 4: t->after[i] = changed(t->after[i], t->end[k], r); break;
    case 5: t->before[i] = changed(t->before[i], t->end[k], r); break;
    case 6: t->seq[i] = (uint64_t)changed((int64_t)t->seq[i], (int64_t)t->seq[k], r); break;
    case 7: t->count[i] = (uint64_t)changed((int64_t)t->count[i], (int64_t)t->count[k], r); break;
    case 8: t->launch[i] = (uint64_t)changed((int64_t)t->launch[i], (int64_t)t->launch[k], r); break;
    case 9: t->group[i] = (uint64_t)changed((int64_t)t->group[i], (int64_t)t->group[k], r); break;
    case 10: t->replay[i] = (uint32_t)changed(t->replay[i], t->replay[k], r); break;
    case 11: t->captured[i] = (uint32_t)changed(t->captured[i], t->captured[k], r); break;
    case 12: t->peer[i] = (int32_t)changed(t->peer[i], t->peer[k], r); break;
    case 13: t->flags[i] ^= UINT32_C(1) << number % 20 & ~of_the_join; break;
    case 14: t->kind[i] = (uint8_t)(number % 5); break;
    case 15: t->func[i] = r[4] & 1 ? string_of(m, ONE_OF(functions, r[8])) : t->func[k]; break;
    case 16: t->dtype[i] = string_of(m, ONE_OF(types, r[8])); break;
    case 17: t->algo[i] = string_of(m, ONE_OF(algorithms, r[8])); break;
    case 18: t->channels[i] = r[8], t->channels_seen[i] = r[9]; break;
    default: t->helper[i] = r[8] % (m->nprocs + 1) == m->nprocs ? RS_NONE : r[8] % (m->nprocs + 1);
    }
    bool none = t->start[i] == RS_TIME_NONE, gpu = m->members[t->member[i]].gpu != RS_NONE;
    if (none) t->start_source[i] = RS_FROM_NOTHING;
    if (!none && !t->start_source[i]) t->start_source[i] = gpu ? RS_FROM_KERNEL : RS_FROM_PROXY;
    none = t->end[i] == RS_TIME_NONE;
    if (none) t->end_source[i] = RS_FROM_NOTHING;
    if (!none && !t->end_source[i]) t->end_source[i] = gpu ? RS_FROM_KERNEL : RS_FROM_PROXY;
}

static void change_proc(struct rs_model *m, const uint8_t *r)
{
    struct rs_proc *p = &m->procs[u16(r + 2) % m->nprocs], *q = &m->procs[r[5] % m->nprocs];
    switch (r[1] % 14) {
    case 0: p->begin = changed(p->begin, q->begin, r); break;
    case 1: p->end = changed(p->end, q->end, r); break;
    case 2: p->first = changed(p->first, q->first, r); break;
    case 3: p->last = changed(p->last, q->last, r); break;
    case 4: p->overwritten_until = changed(p->overwritten_until, q->end, r); break;
    case 5: p->cut_until = changed(p->cut_until, q->end, r); break;
    case 6: p->clock_error_ns = changed(p->clock_error_ns, q->clock_error_ns, r); break;
    case 7: p->pid = (uint32_t)changed(p->pid, q->pid, r); break;
    case 8: p->launcher_rank = (int32_t)changed(p->launcher_rank, q->launcher_rank, r); break;
    case 9: p->ended = r[8] % 4; break;
    case 10: p->complete = !p->complete; break;
    case 11: p->end_missing = !p->end_missing; break;
    case 12: p->drops = !p->drops; break;
    default: p->calls = !p->calls;
    }
}

/* Members, communicators, clocks. */
static void change_place(struct rs_model *m, const uint8_t *r)
{
    if (!m->nmembers || !m->ncomms) return;
    struct rs_member *x = &m->members[u16(r + 2) % m->nmembers], *y = &m->members[r[5] % m->nmembers];
    struct rs_comm_row *c = &m->comms[x->comm], *d = &m->comms[y->comm];
    switch (r[1] % 14) {
    case 0: x->rank = (int32_t)changed(x->rank, y->rank, r); break;
    case 1: x->device = (int32_t)changed(x->device, y->device, r); break;
    case 2: x->created = changed(x->created, y->created, r); break;
    case 3: x->destroyed = changed(x->destroyed, y->created, r); break;
    case 4: x->asked = (uint64_t)changed((int64_t)x->asked, (int64_t)y->asked, r); break;
    case 5: x->global_rank = (int32_t)changed(x->global_rank, y->rank, r); break;
    case 6: c->hash = (uint64_t)changed((int64_t)c->hash, (int64_t)d->hash, r); break;
    case 7: c->nranks = (int32_t)changed(c->nranks, d->nranks, r), c->ranks = NULL; break;
    case 8: c->nnodes = (int32_t)changed(c->nnodes, d->nnodes, r); break;
    case 9: c->name = r[8] & 1 ? ONE_OF(names, r[9]) : d->name; break;
    case 10: c->made_up = !c->made_up; break;
    case 11: c->parent.hash = d->hash; break;
    case 12:
        if (x->gpu != RS_NONE) m->domains[x->gpu].rigid = !m->domains[x->gpu].rigid;
        break;
    default: {
        struct rs_bounds *b = x->gpu == RS_NONE ? NULL : m->domains[x->gpu].bounds;
        if (!b) break;
        int64_t value = changed(b->base, b->base, r);
        if (r[6] & 1)
            rs_bounds_add_lower(b, b->base + (int32_t)value, value);
        else
            rs_bounds_add_upper(b, b->base + (int32_t)value, value);
    }
    }
}

/* ---- all of it ---- */

/* The model that an input describes, linked and ready to be joined; the inputs that it was read from, if any. False: it
 * is too short. */
static bool make_run(struct rs_model *m, struct rs_inputs **in, const uint8_t *data, size_t size, unsigned runs)
{
    static struct rs_inputs none;
    uint32_t procs = 0, comms = 0;
    if (size < HEADER) return false;
    unsigned which = data[0] % (2 * runs); /* half of the inputs describe all there is: these are quick */
    const struct real_run *run = real_run(which < runs ? which : 0);
    *m = (struct rs_model){.same_host = data[1] & 1};
    *in = run->small && run->paths[0] ? (struct rs_inputs *)&run->inputs : &none;
    uint32_t window = MOST_COPIED / (run->model.nmembers + 1);
    if (window > WINDOW) window = WINDOW;
    if (run->paths[0]) copy_run(m, &run->model, data[2] % MOST_OF_MEMBER, 1 + data[3] % window);
    nmade = 0;
    first_proc = m->nprocs;
    first_comm = m->ncomms;
    for (size_t at = HEADER; at + RECORD <= size && at < HEADER + MOST_RECORDS * RECORD; at += RECORD) {
        const uint8_t *r = data + at;
        uint8_t kind = r[0] % RECORD_KINDS;
        if (kind == MAKE_PROC && procs++ < MOST_ADDED) make_proc(m, r);
        if (kind == MAKE_COMM && comms++ < MOST_ADDED) make_comm(m, r);
        if (kind == MAKE_COLL && m->ncomms > first_comm) make_coll(m, r);
        if (kind == MAKE_P2P && m->ncomms > first_comm) make_p2p(m, r);
        if (kind == MAKE_VIEW && m->ncomms > first_comm) make_view(m, r);
    }
    add_made(m);
    for (size_t at = HEADER; at + RECORD <= size && at < HEADER + MOST_RECORDS * RECORD && m->nprocs; at += RECORD) {
        const uint8_t *r = data + at;
        switch (r[0] % RECORD_KINDS) {
        case CHANGE_PART:
            if (m->parts.n) change_part(m, r);
            break;
        case CHANGE_PROC: change_proc(m, r); break;
        case CHANGE_PLACE: change_place(m, r); break;
        case MAKE_LOSS: make_loss(m, r); break;
        case MAKE_ACTIVITY: make_activity(m, r); break;
        case MAKE_ROW: make_row(m, r); break;
        default:;
        }
    }
    return true;
}

/* ---- the mutator ---- */

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

static size_t mutate_run(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    size_t n = size < HEADER ? 0 : (size - HEADER) / RECORD, most = max < HEADER ? 0 : (max - HEADER) / RECORD;
    uint64_t random = rs_mix(seed, size);
    uint8_t kept[RECORD];
    if (most > MOST_RECORDS) most = MOST_RECORDS;
    if (n > most) n = most;
    if (size < HEADER || max < HEADER + RECORD) return LLVMFuzzerMutate(data, size, max);
    uint8_t *records = data + HEADER;
#define NTH(i) (records + (i)*RECORD)
    size_t a = n ? (random >> 8) % n : 0, b = n ? (random >> 24) % n : 0;
    switch (random % 8) {
    case 0: LLVMFuzzerMutate(data, HEADER, HEADER); break;
    case 1: /* a new one, or one twice, at any place */
    case 2:
        if (n == most) break;
        memmove(NTH(a + 1), NTH(a), (n++ - a) * RECORD);
        if (random >> 40 & 1 && n > 1)
            memcpy(NTH(a), NTH(b), RECORD);
        else
            for (int i = 0; i < RECORD; i++) NTH(a)[i] = (uint8_t)(rs_mix(random, (uint64_t)i) >> 16);
        break;
    case 3:
        if (n) memmove(NTH(a), NTH(a + 1), (--n - a) * RECORD);
        break;
    case 4:
        if (!n) break;
        memcpy(kept, NTH(a), RECORD);
        memcpy(NTH(a), NTH(b), RECORD);
        memcpy(NTH(b), kept, RECORD);
        break;
    default:
        if (n) LLVMFuzzerMutate(NTH(a), RECORD, RECORD);
    }
#undef NTH
    return HEADER + n * RECORD;
}

#endif
