#include "join/collectives.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/mix.h"
#include "join/presence.h"
#include "nccl/abi.h"

/* ---- replays of CUDA graphs ----
 * How collectives in replays of CUDA graphs are numbered.
 *
 * With KernelCh, NCCL's sequence number advances with each replay and is the key as for any other collective. Otherwise
 * it does not advance, and a replay is identified by (captured call, number of earlier replays). A recording that lost
 * some counts wrongly. If it has as many replays as the complete recordings at one value of the number, none of these
 * was lost and their order is valid; otherwise they are certain up to the first loss. The rest is not joined. */

struct replays {
    struct rs_map funcs; /* (comm, func) with captured parts -> 1: numbers advance, 2: they do not */
    /* NULL if there are none of the latter: */
    uint8_t *lonely; /* by part: 1: cannot be joined with certainty */
    int64_t *sure; /* by member: until when none is lost */
    uint32_t *most; /* by member: captured calls seen */
    uint32_t *whole_most; /* by communicator: the same, for members that lost none */
};
static inline bool replays_lonely(const struct replays *r, uint32_t part)
{
    return r->lonely && r->lonely[part];
}

static bool is_coll(const struct rs_parts *t, uint32_t i)
{
    return t->member[i] != RS_NONE && t->kind[i] == RS_PART_COLL;
}

static uint64_t func_key(const struct rs_model *m, uint32_t part)
{
    return (uint64_t)m->members[m->parts.member[part]].comm << 16 | m->parts.func[part];
}

/* Numbers advance with each replay exactly if no number is used twice on a member, by replays or by eager calls. */
static void find_frozen(struct replays *f, const struct rs_model *m)
{
    const struct rs_parts *t = &m->parts;
    struct rs_map used = {0}; /* hash of (member, func, seq): a collision is only more careful */
    for (int pass = 0; pass < 2; pass++) {
        bool eager = pass == 1;
        for (uint32_t i = 0; i < t->n; i++) {
            if (!is_coll(t, i) || (t->captured[i] == 0) != eager) continue;
            uint64_t *state = rs_map_find(&f->funcs, func_key(m, i));
            uint64_t use = rs_mix(rs_mix(rs_mix(0, t->member[i]), t->func[i]), t->seq[i]);
            if (eager) {
                if (state && *state == 1 && rs_map_find(&used, use)) *state = 2;
                continue;
            }
            rs_map_at(&f->funcs, func_key(m, i), 1, &state);
            if (t->seq[i] == UINT64_MAX || rs_map_find(&used, use)) *state = 2;
            if (*state == 1) rs_map_put(&used, use, 1);
        }
        if (!rs_map_count(&f->funcs)) break;
    }
    rs_map_free(&used);
}

/* A captured part whose number does not advance. */
struct replayed {
    uint64_t func; /* func_key() */
    uint64_t seq;
    uint32_t captured, member, part;
    bool whole; /* its process has all of them */
};

static int by_bucket(const void *a, const void *b)
{
    const struct replayed *x = a, *y = b;
    if (x->func != y->func) return x->func < y->func ? -1 : 1;
    if (x->captured != y->captured) return x->captured < y->captured ? -1 : 1;
    if (x->seq != y->seq) return x->seq < y->seq ? -1 : 1;
    if (x->whole != y->whole) return x->whole ? -1 : 1;
    if (x->member != y->member) return x->member < y->member ? -1 : 1;
    return x->part < y->part ? -1 : x->part > y->part;
}

/* Rows of one bucket: replays of one captured call at one value of the number. If a member that lost records has as
 * many as the complete members, none of them is lost, and their order is valid. */
static void match_bucket(struct rs_model *m, struct replays *f, const struct replayed *rows, size_t n)
{
    uint32_t first = 0;
    size_t count = 0;
    bool agree = true;
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && rows[next].member == rows[i].member;) next++;
        if (rows[i].whole) {
            uint32_t replay = m->parts.replay[rows[i].part];
            if (count && (count != next - i || first != replay)) agree = false;
            count = next - i;
            first = replay;
            continue;
        }
        uint32_t member = rows[i].member, comm = m->members[member].comm;
        /* A captured call that was lost would shift the numbers of later ones. */
        bool same = agree && count == next - i && f->most[member] == f->whole_most[comm];
        for (size_t k = i; k < next; k++) {
            uint32_t part = rows[k].part;
            if (same)
                m->parts.replay[part] = first + (uint32_t)(k - i);
            else if (m->parts.enqueued[part] == RS_TIME_NONE || m->parts.enqueued[part] >= f->sure[member])
                f->lonely[part] = 1;
        }
    }
}

static size_t gather_replayed(const struct rs_model *m, struct replays *f, struct replayed *rows)
{
    const struct rs_parts *t = &m->parts;
    size_t n = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        if (!is_coll(t, i) || rs_map_get(&f->funcs, func_key(m, i), 0) != 2) continue;
        if (!t->captured[i]) {
            /* Its call was lost: it may be a replay, with a number that eager calls have too. */
            if (t->enqueued[i] == RS_TIME_NONE) f->lonely[i] = 1;
            continue;
        }
        uint32_t member = t->member[i], comm = m->members[member].comm;
        bool whole = f->sure[member] == INT64_MAX;
        rows[n++] = (struct replayed){func_key(m, i), t->seq[i], t->captured[i], member, i, whole};
        if (t->captured[i] > f->most[member]) f->most[member] = t->captured[i];
        if (whole && t->captured[i] > f->whole_most[comm]) f->whole_most[comm] = t->captured[i];
    }
    return n;
}

static void settle(struct rs_model *m, struct replays *f)
{
    const struct rs_parts *t = &m->parts;
    size_t n = 0;
    if (!rs_map_count(&f->funcs)) return;
    for (uint32_t i = 0; i < t->n; i++)
        n += is_coll(t, i) && t->captured[i] && rs_map_get(&f->funcs, func_key(m, i), 0) == 2;
    if (!n) return;
    struct replayed *rows = rs_alloc(n * sizeof *rows);
    f->lonely = rs_zalloc(t->n, 1);
    f->sure = rs_zalloc(m->nmembers, sizeof *f->sure);
    f->most = rs_zalloc(m->nmembers, sizeof *f->most);
    f->whole_most = rs_zalloc(m->ncomms, sizeof *f->whole_most);
    for (uint32_t i = 0; i < m->nmembers; i++)
        f->sure[i] = rs_recorded_until(&m->procs[m->members[i].proc], m->members[i].created, RS_COLL);
    n = gather_replayed(m, f, rows);
    qsort(rows, n, sizeof *rows, by_bucket);
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && rows[next].func == rows[i].func && rows[next].captured == rows[i].captured &&
                           rows[next].seq == rows[i].seq;)
            next++;
        match_bucket(m, f, rows + i, next - i);
    }
    free(rows);
}

/* Examines the collectives, and corrects parts.replay where that is certain. */
static void replays_find(struct replays *r, struct rs_model *m)
{
    *r = (struct replays){0};
    find_frozen(r, m);
    settle(m, r);
}

static void replays_free(struct replays *r)
{
    rs_map_free(&r->funcs);
    free(r->lonely);
    free(r->sure);
    free(r->most);
    free(r->whole_most);
    *r = (struct replays){0};
}

/* A captured part whose number does not advance. */
static bool replays_frozen(const struct replays *r, const struct rs_model *m, uint32_t part)
{
    return r->lonely && m->parts.captured[part] && is_coll(&m->parts, part) &&
           rs_map_get(&r->funcs, func_key(m, part), 0) == 2;
}

/* ---- collectives ---- */

/* How a part is numbered. Each has its own space of keys. */
enum space {
    BY_SEQ, /* NCCL's number */
    BY_CE,
    BY_API,
    BY_REPLAY, /* (captured call, replay): its number does not advance */
    ALONE, /* cannot be joined with certainty */
    BY_CUT_NUMBER, /* as in the recording that this one was cut from */
};

uint64_t rs_op_id(const struct rs_model *m, uint32_t comm, const char *func, uint64_t a, uint64_t b)
{
    const struct rs_comm_row *c = &m->comms[comm];
    uint64_t h = rs_mix(c->hash, (uint64_t)c->incarnation << 1 | 1);
    if (!c->hash) h = rs_mix(h, comm); /* old interfaces have no hash: communicators are not the same */
    if (c->made_up) h = rs_mix(h, c->tool); /* numbers of another tool's window of the group begin elsewhere */
    for (; *func; func++) h = (h ^ (unsigned char)*func) * 0x100000001b3;
    h = rs_mix(rs_mix(h, a), b);
    return h ? h : 1;
}

static bool is_collective(const struct rs_parts *t, uint32_t i)
{
    return t->member[i] != RS_NONE &&
           (t->kind[i] == RS_PART_COLL || t->kind[i] == RS_PART_CE || t->kind[i] == RS_PART_API);
}

/* ---- keys ---- */

struct key {
    uint32_t comm;
    uint16_t func;
    enum space space;
    uint64_t a, b;
};

static struct key key_of(const struct rs_model *m, const struct replays *f, uint32_t part)
{
    const struct rs_parts *t = &m->parts;
    struct key k = {.comm = m->members[t->member[part]].comm, .func = t->func[part], .a = t->seq[part]};
    const struct rs_cut_number *cut = rs_part_cut_number(m, part);
    if (cut) {
        k.space = BY_CUT_NUMBER;
        k.a = cut->id;
        return k;
    }
    k.space = t->kind[part] == RS_PART_COLL ? BY_SEQ : t->kind[part] == RS_PART_CE ? BY_CE : BY_API;
    if (replays_lonely(f, part)) {
        k.space = ALONE;
    } else if (replays_frozen(f, m, part)) {
        k.space = BY_REPLAY;
        k.a = t->captured[part];
        k.b = t->replay[part];
    } else if (t->seq[part] == UINT64_MAX) {
        k.space = ALONE;
    }
    if (k.space == ALONE) {
        k.a = t->handle[part];
        k.b = (uint64_t)(uint32_t)m->members[t->member[part]].rank;
    }
    return k;
}

/* Keys with the same slot of the map are distinguished by their operations. */
static bool same_key(const struct rs_model *m, uint32_t op, const struct key *k)
{
    const struct rs_ops *o = &m->ops;
    if (o->comm[op] != k->comm || o->func[op] != k->func) return false;
    if (k->space == BY_CUT_NUMBER) return o->id[op] == k->a;
    return k->space == BY_REPLAY ? o->captured[op] == k->a && o->replay[op] == k->b && o->kind[op] == RS_OP_COLL
                                 : o->seq[op] == k->a;
}

static void add_op(struct rs_model *m, const struct key *k, uint32_t part, uint32_t *op)
{
    rs_model_op(m, op);
    struct rs_ops *o = &m->ops;
    o->id[*op] = rs_op_id(m, k->comm, rs_model_text(m, k->func), (uint64_t)k->space << 56 ^ k->a, k->b);
    const struct rs_cut_number *cut = k->space == BY_CUT_NUMBER ? rs_part_cut_number(m, part) : NULL;
    if (cut) o->id[*op] = cut->id;
    if (cut && cut->twice) o->flags[*op] |= RS_OP_DOUBLE;
    if (m->comms[k->comm].assumed) o->confidence[*op] = RS_ASSUMED_CONFIDENCE;
    o->comm[*op] = k->comm;
    o->func[*op] = k->func;
    o->seq[*op] = m->parts.seq[part];
    o->captured[*op] = m->parts.captured[part];
    o->replay[*op] = m->parts.replay[part];
    switch (m->parts.kind[part]) {
    case RS_PART_CE: o->kind[*op] = RS_OP_CE; break;
    case RS_PART_API: o->kind[*op] = RS_OP_API; break;
    default: o->kind[*op] = RS_OP_COLL;
    }
}

static void find_op(struct rs_model *m, struct rs_map *index, const struct key *k, uint32_t part, uint32_t *op)
{
    if (k->space == ALONE) {
        add_op(m, k, part, op);
        return;
    }
    uint64_t h = rs_mix(rs_mix((uint64_t)k->comm << 24 | (uint64_t)k->func << 8 | k->space, k->a), k->b);
    for (;; h++) {
        uint64_t *at;
        rs_map_at(index, h, RS_NONE, &at);
        if (*at == RS_NONE) {
            add_op(m, k, part, op);
            *at = *op;
            return;
        }
        *op = (uint32_t)*at;
        if (same_key(m, *op, k)) return;
    }
}

/* ---- the parts of an operation ---- */

struct ranked {
    uint32_t part, times; /* times: earlier occurrences of its rank */
    int32_t rank;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->times != y->times) return x->times < y->times ? -1 : 1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return x->part < y->part ? -1 : x->part > y->part;
}

/* Sorts the parts of an operation by rank. A rank that occurs again goes into a further operation, after this one. */
static void sort_parts(struct rs_model *m, uint32_t op, struct ranked *rows)
{
    uint32_t *order = m->order + m->ops.part[op], n = m->ops.nparts[op];
    bool sorted = true;
    for (uint32_t i = 0; i < n; i++) {
        rows[i] = (struct ranked){order[i], 0, m->members[m->parts.member[order[i]]].rank};
        if (i && rows[i].rank <= rows[i - 1].rank) sorted = false;
    }
    if (sorted) return;
    qsort(rows, n, sizeof *rows, by_rank);
    for (uint32_t i = 1; i < n; i++)
        if (rows[i].rank == rows[i - 1].rank && rows[i].rank >= 0) rows[i].times = rows[i - 1].times + 1;
    qsort(rows, n, sizeof *rows, by_rank);
    for (uint32_t i = 0; i < n; i++) order[i] = rows[i].part;
    for (uint32_t i = 1, again; i < n; i++) {
        if (rows[i].times == rows[i - 1].times) continue;
        rs_model_op(m, &again);
        struct rs_ops *o = &m->ops;
        uint32_t first = m->ops.n - 1, count = 0;
        while (i + count < n && rows[i + count].times == rows[i].times) count++;
        o->id[first] = rs_op_id(m, o->comm[op], "again", o->id[op], rows[i].times);
        o->comm[first] = o->comm[op];
        o->func[first] = o->func[op];
        o->seq[first] = o->seq[op];
        o->kind[first] = o->kind[op];
        o->captured[first] = o->captured[op];
        o->replay[first] = o->replay[op];
        o->part[first] = o->part[op] + i;
        o->nparts[first] = count;
        o->flags[first] |= RS_OP_DOUBLE;
        o->flags[op] |= RS_OP_DOUBLE;
        if (rows[i - 1].times == 0) o->nparts[op] = i;
        for (uint32_t k = 0; k < count; k++) m->parts.op[rows[i + k].part] = first;
    }
}

/* Puts the parts of all operations into model.order, operation by operation. */
static void order_parts(struct rs_model *m, uint32_t first_op)
{
    struct rs_ops *o = &m->ops;
    struct rs_parts *t = &m->parts;
    uint32_t base = m->norder, most = 0, n = o->n;
    for (uint32_t i = 0; i < t->n; i++)
        if (is_collective(t, i)) rs_model_order(m, i);
    for (uint32_t op = first_op; op < n; op++) {
        o->part[op] = base;
        base += o->nparts[op];
        if (o->nparts[op] > most) most = o->nparts[op];
        o->nparts[op] = 0;
    }
    for (uint32_t i = 0; i < t->n; i++) {
        if (!is_collective(t, i)) continue;
        uint32_t op = t->op[i];
        m->order[o->part[op] + o->nparts[op]++] = i;
    }
    struct ranked *rows = rs_alloc(((size_t)most + 1) * sizeof *rows);
    for (uint32_t op = first_op; op < n; op++) sort_parts(m, op, rows);
    free(rows);
}

/* ---- properties of all parts ---- */

/* `uneven`: an all-to-all, in which every rank may send and receive any amount. */
static bool agree(const struct rs_parts *t, uint32_t a, uint32_t b, bool uneven)
{
    return (uneven || t->count[a] == t->count[b]) && t->dtype[a] == t->dtype[b] && t->peer[a] == t->peer[b];
}

/* Marks the parts of one kind that differ from the majority; all of them if there is no majority. Returns a part of the
 * majority, or RS_NONE if there is none of that kind. */
static uint32_t compare(struct rs_model *m, uint32_t op, uint8_t kind, bool uneven)
{
    struct rs_parts *t = &m->parts;
    const uint32_t *order = m->order + m->ops.part[op];
    uint32_t n = m->ops.nparts[op], candidate = RS_NONE, lead = 0, all = 0, same = 0;
    for (uint32_t i = 0; i < n; i++) { /* Boyer and Moore: a majority, if there is one, remains */
        if (t->kind[order[i]] != kind) continue;
        all++;
        if (!lead) candidate = order[i];
        lead = agree(t, candidate, order[i], uneven) ? lead + 1 : lead - 1;
    }
    if (candidate == RS_NONE) return RS_NONE;
    for (uint32_t i = 0; i < n; i++) same += t->kind[order[i]] == kind && agree(t, candidate, order[i], uneven);
    if (same == all) return candidate;
    m->ops.flags[op] |= RS_OP_MISMATCH;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t p = order[i];
        if (t->kind[p] == kind && (2 * same <= all || !agree(t, candidate, p, uneven))) t->flags[p] |= RS_PART_MISMATCH;
    }
    return candidate;
}

/* In an all-to-all with all ranks, the bytes sent are the bytes received. Which rank is wrong cannot be determined. */
static void compare_sums(struct rs_model *m, uint32_t op)
{
    const uint32_t *order = m->order + m->ops.part[op];
    uint32_t n = m->ops.nparts[op];
    uint64_t in = 0, out = 0;
    if ((int64_t)n != m->comms[m->ops.comm[op]].nranks) return;
    for (uint32_t i = 0; i < n; i++) {
        const struct rs_tag *tag = rs_part_tag(m, order[i]);
        if (!tag || !tag->in_count || !tag->out_count) return;
        in += tag->in_count;
        out += tag->out_count;
    }
    if (in == out) return;
    m->ops.flags[op] |= RS_OP_MISMATCH;
    for (uint32_t i = 0; i < n; i++) m->parts.flags[order[i]] |= RS_PART_MISMATCH;
}

static void describe(struct rs_model *m, uint32_t op)
{
    const struct rs_parts *t = &m->parts;
    struct rs_ops *o = &m->ops;
    const char *func = rs_model_text(m, o->func[op]);
    bool uneven = !strcmp(func, "AlltoAll");
    /* An all-gather is reported in bytes by Coll and in the user's type by its API call: compare like with like. */
    static const uint8_t kinds[] = {RS_PART_COLL, RS_PART_CE, RS_PART_API};
    uint32_t typical = RS_NONE;
    for (size_t i = 0; i < sizeof kinds; i++) {
        uint32_t found = compare(m, op, kinds[i], uneven);
        if (typical == RS_NONE) typical = found;
    }
    for (uint32_t i = 0; i < o->nparts[op]; i++) { /* losses make replays look fewer, never more */
        uint32_t p = m->order[o->part[op] + i];
        if (t->captured[p] && (t->replay[p] > o->replay[op] || !o->captured[op])) {
            o->replay[op] = t->replay[p];
            o->captured[op] = t->captured[p];
        }
    }
    if (typical == RS_NONE) return;
    if (uneven) compare_sums(m, op);
    o->count[op] = t->count[typical];
    o->dtype[op] = t->dtype[typical];
    o->root[op] = t->peer[typical];
    o->bytes[op] = o->count[op] * rs_dtype_bytes(rs_model_text(m, o->dtype[op]));
    int32_t nranks = m->comms[o->comm[op]].nranks;
    if (nranks > 0 && (uneven || !strcmp(func, "AllGather") || !strcmp(func, "ReduceScatter")))
        o->bytes[op] *= (uint64_t)nranks;
}

void rs_collectives_join(struct rs_model *m)
{
    struct replays f;
    struct rs_map index = {0};
    uint32_t first_op = m->ops.n;
    replays_find(&f, m);
    for (uint32_t i = 0; i < m->parts.n; i++) {
        if (!is_collective(&m->parts, i)) continue;
        struct key k = key_of(m, &f, i);
        find_op(m, &index, &k, i, &m->parts.op[i]);
        m->ops.nparts[m->parts.op[i]]++;
    }
    rs_map_free(&index);
    replays_free(&f);
    order_parts(m, first_op);
    for (uint32_t op = first_op; op < m->ops.n; op++) describe(m, op);
}
