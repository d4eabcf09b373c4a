#include "bundle/operations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/room.h"
#include "bundle/relations.h"
#include "join/durations.h"
#include "join/op_facts.h"
#include "join/overlay_facts.h"
#include "join/totals.h"
#include "join/waits.h"

const struct rs_operations_argument rs_operations_arguments[] = {
    {"dtype", "datatype", RS_UNIT_TEXT},
    {"algo", "algorithm", RS_UNIT_TEXT},
    {"proto", "protocol", RS_UNIT_TEXT},
    {"count", "elements", RS_UNIT_NUMBER},
    {"replay", "replay of its graph", RS_UNIT_NUMBER},
    {"step", "step", RS_UNIT_NUMBER},
    {"confidence", "confidence of the join, %", RS_UNIT_NUMBER},
};
const unsigned rs_operations_narguments = sizeof rs_operations_arguments / sizeof *rs_operations_arguments;

/* ---- ranks ---- */

enum rs_status rs_operations_open(struct rs_operations *o, struct rs_timeline *t, const char *folder,
                                  struct rs_err *err)
{
    const struct rs_model *m = t->model;
    *o = (struct rs_operations){.t = t};
    RS_TRY(rs_pieces_open(&o->pieces, folder, err));
    o->comm = rs_alloc(((size_t)m->ncomms + 1) * sizeof *o->comm);
    o->member = rs_alloc(((size_t)m->nmembers + 1) * sizeof *o->member);
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->ncomms; i++) o->comm[i] = m->comms[i].over == RS_NONE ? n++ : RS_NONE;
    n = 0;
    for (uint32_t i = 0; i < m->nmembers; i++) o->member[i] = o->comm[m->members[i].comm] != RS_NONE ? n++ : RS_NONE;
    return RS_OK;
}

void rs_operations_members(const struct rs_operations *o, struct rs_packer *table)
{
    const struct rs_model *m = o->t->model;
    uint32_t n = 0, *comm = rs_alloc(((size_t)m->nmembers + 1) * sizeof *comm);
    uint32_t *group = rs_alloc(((size_t)m->nmembers + 1) * sizeof *group);
    int64_t *rank = rs_alloc(((size_t)m->nmembers + 1) * sizeof *rank);
    int64_t *global = rs_alloc(((size_t)m->nmembers + 1) * sizeof *global);
    for (uint32_t i = 0; i < m->nmembers; i++) {
        if (o->member[i] == RS_NONE) continue;
        comm[n] = o->comm[m->members[i].comm];
        uint32_t own = o->t->group_of_member[i]; /* its communicator's, below its rank's */
        group[n] = own < o->t->ngroups ? o->t->groups[own].parent : RS_NONE;
        rank[n] = m->members[i].rank;
        global[n++] = m->members[i].global_rank;
    }
    rs_packer_begin(table, n);
    rs_packer_u32(table, "comm", comm, RS_COLUMN_PLANES);
    rs_packer_i64(table, "rank", rank, 0, RS_COLUMN_PLANES);
    rs_packer_i64(table, "global", global, 0, RS_COLUMN_PLANES);
    rs_packer_u32(table, "group", group, RS_COLUMN_PLANES);
    free(comm);
    free(group);
    free(rank);
    free(global);
}

/* ---- parts ---- */

static double after_begin(const struct rs_timeline *t, int64_t ns)
{
    return ns == RS_TIME_NONE ? NAN : (double)rs_time_minus(ns, t->begin);
}

static double length(int64_t ns)
{
    return ns == RS_TIME_NONE ? NAN : (double)ns;
}

/* RS_OP_... need 7 bits. */
enum { RS_OPERATION_INSIDE = 1 << 7 }; /* a pair inside a fan-out: not counted separately */

static double rate(double gbs)
{
    return gbs < 0 ? NAN : gbs;
}

struct batch {
    uint32_t member[RS_PIECE_ROWS], bar[RS_PIECE_ROWS];
    double start[RS_PIECE_ROWS], end[RS_PIECE_ROWS], wait[RS_PIECE_ROWS];
    uint32_t n;
};

static enum rs_status flush(struct rs_operations *o, struct batch *b, struct rs_packer *table, struct rs_zip *z,
                            struct rs_err *err)
{
    if (!b->n) return RS_OK;
    rs_packer_begin(table, b->n);
    rs_packer_u32(table, "member", b->member, RS_COLUMN_DELTA);
    rs_packer_u32(table, "bar", b->bar, RS_COLUMN_PLANES);
    rs_packer_f64(table, "start", b->start);
    rs_packer_f64(table, "end", b->end);
    rs_packer_f32(table, "wait", b->wait);
    RS_ROOM(o->first, o->pieces.n, o->cap_first);
    o->first[o->pieces.n] = (int64_t)(o->parts - b->n);
    b->n = 0;
    return rs_pieces_add(&o->pieces, z, table, err);
}

static enum rs_status pack_parts(struct rs_operations *o, struct batch *b, struct rs_packer *table, struct rs_zip *z,
                                 struct rs_err *err)
{
    const struct rs_timeline *t = o->t;
    const struct rs_model *m = t->model;
    for (uint32_t i = 0; i < t->nops; i++) {
        uint32_t op = t->ops[i];
        int64_t shortest = rs_op_shortest(m, op);
        for (uint32_t k = 0; k < m->ops.nparts[op]; k++) {
            uint32_t part = m->order[m->ops.part[op] + k];
            b->member[b->n] = o->member[m->parts.member[part]];
            b->bar[b->n] = t->bar_of_part[part];
            b->start[b->n] = after_begin(t, m->parts.start[part]);
            b->end[b->n] = after_begin(t, m->parts.end[part]);
            b->wait[b->n++] = length(rs_op_part_wait(m, part, shortest));
            o->parts++;
            if (b->n == RS_PIECE_ROWS) RS_TRY(flush(o, b, table, z, err));
        }
    }
    if (o->parts >= RS_NONE)
        return rs_fail(err, RS_BAD_INPUT, "more than four billion ranks of operations: filter them");
    return flush(o, b, table, z, err);
}

enum rs_status rs_operations_pack(struct rs_operations *o, struct rs_packer *table, struct rs_zip *z,
                                  struct rs_err *err)
{
    struct batch *b = rs_alloc(sizeof *b);
    b->n = 0;
    enum rs_status status = pack_parts(o, b, table, z, err);
    free(b);
    return status;
}

void rs_operations_index(const struct rs_operations *o, struct rs_packer *table)
{
    rs_packer_begin(table, o->pieces.n);
    rs_packer_i64(table, "first", o->first, 0, RS_COLUMN_PLANES);
    rs_pieces_columns(&o->pieces, table);
}

/* ---- operations ---- */

/* One column at a time: the model has the rest. */
struct columns {
    struct rs_operations *o;
    const struct rs_model *m;
    const uint32_t *ops;
    uint32_t n;
    double *d;
    int64_t *i;
    uint32_t *u;
    uint8_t *b;
    bool *no; /* all false */
};

/* For each operation: `expression` with op and row. */
#define EACH(c, to, expression)                                                                                        \
    for (uint32_t row = 0; row < (c)->n; row++) {                                                                      \
        uint32_t op = (c)->ops[row];                                                                                   \
        (to)[row] = (expression);                                                                                      \
    }

/* The row of the part that was last; RS_NONE: unknown, or a tie. */
static uint32_t last_part(const struct rs_model *m, uint32_t op, uint32_t first_row)
{
    uint32_t last = rs_op_last_part(m, op);
    if (last == RS_NONE) return RS_NONE;
    for (uint32_t k = 0; k < m->ops.nparts[op]; k++)
        if (m->order[m->ops.part[op] + k] == last) return first_row + k;
    return RS_NONE;
}

/* Parts are by rank. */
static uint32_t ranks_of(const struct rs_model *m, uint32_t op)
{
    const uint32_t *part = m->order + m->ops.part[op];
    uint32_t ranks = 0;
    for (uint32_t k = 0; k < m->ops.nparts[op]; k++)
        ranks += !k || m->parts.member[part[k]] != m->parts.member[part[k - 1]];
    return ranks;
}

/* -1: it has none. */
static int64_t seq_of(const struct rs_model *m, uint32_t op)
{
    uint64_t seq = m->ops.seq[op];
    return seq == UINT64_MAX ? -1 : seq > INT64_MAX ? INT64_MAX : (int64_t)seq;
}

static int64_t step_of(const struct rs_model *m, uint32_t op)
{
    struct rs_facts f;
    rs_facts_of_op(m, op, &f);
    return f.step == RS_NONE ? INT64_MIN : (int64_t)f.step;
}

static void strings(struct columns *c, const char *name, const uint16_t *of_op, const uint16_t *of_part,
                    struct rs_packer *table)
{
    const struct rs_model *m = c->m;
    bool any = false;
    for (uint32_t row = 0; row < c->n; row++) {
        uint32_t op = c->ops[row];
        uint16_t id = of_op ? of_op[op] : of_part[m->order[m->ops.part[op]]];
        const char *text = id ? rs_model_text(m, id) : "";
        rs_texts_id(&c->o->t->texts, text, strlen(text), &c->u[row]);
        any |= c->u[row] != 0;
    }
    if (any || of_op == m->ops.func) rs_packer_u32(table, name, c->u, RS_COLUMN_PLANES);
}

/* Columns that only some have: omitted if none does. */
static void some(struct columns *c, const char *name, struct rs_packer *table)
{
    rs_packer_sparse(table, name, c->i, c->no);
}

static void fill(struct columns *c, struct rs_packer *table)
{
    const struct rs_model *m = c->m;
    const struct rs_ops *o = &m->ops;
    const struct rs_timeline *t = c->o->t;
    uint32_t parts = 0;
    rs_packer_begin(table, c->n);
    EACH(c, (uint64_t *)c->i, o->id[op]);
    rs_packer_u64(table, "id", (uint64_t *)c->i);
    EACH(c, c->u, c->o->comm[o->comm[op]]);
    rs_packer_u32(table, "comm", c->u, RS_COLUMN_PLANES);
    strings(c, "func", o->func, NULL, table);
    EACH(c, c->i, seq_of(m, op));
    rs_packer_i64(table, "seq", c->i, 0, RS_COLUMN_PLANES);
    EACH(c, c->d, rs_size_known(m, op) ? (double)o->bytes[op] : NAN);
    rs_packer_f64(table, "bytes", c->d);
    EACH(c, c->d, after_begin(t, o->first[op]));
    rs_packer_f64(table, "first", c->d);
    EACH(c, c->d, after_begin(t, o->last[op]));
    rs_packer_f64(table, "last", c->d);
    EACH(c, c->d, after_begin(t, o->end[op]));
    rs_packer_f64(table, "end", c->d);
    double *longest = (double *)c->i;
    for (uint32_t row = 0; row < c->n; row++) {
        struct rs_op_waits waits = rs_op_waits(m, c->ops[row]);
        c->d[row] = length(waits.mean_ns);
        longest[row] = length(waits.longest_ns);
    }
    rs_packer_f64(table, "wait", c->d);
    rs_packer_f64(table, "longest_wait", longest);
    EACH(c, c->d, length(rs_op_rate(m, op).transfer_ns));
    rs_packer_f64(table, "transfer", c->d);
    EACH(c, c->d, rate(rs_op_rate(m, op).busbw));
    rs_packer_f32(table, "busbw", c->d);
    EACH(c, c->d, length(rs_op_error(m, op)));
    rs_packer_f32(table, "error", c->d);
    EACH(c, c->u, (parts += o->nparts[op]) - o->nparts[op]);
    rs_packer_u32(table, "part", c->u, RS_COLUMN_DELTA);
    EACH(c, c->u, last_part(m, op, c->u[row]));
    rs_packer_u32(table, "last_part", c->u, RS_COLUMN_PLANES);
    EACH(c, c->u, o->nparts[op]);
    rs_packer_u32(table, "nparts", c->u, RS_COLUMN_PLANES);
    EACH(c, c->u, ranks_of(m, op));
    rs_packer_u32(table, "ranks", c->u, RS_COLUMN_PLANES);
    EACH(c, c->b, o->flags[op] | (rs_op_counts(m, op) ? 0 : RS_OPERATION_INSIDE));
    rs_packer_u8(table, "flags", c->b);
    EACH(c, c->b, o->kind[op]);
    rs_packer_u8(table, "kind", c->b);
    EACH(c, c->i, o->root[op]);
    rs_packer_i64(table, "src", c->i, 0, RS_COLUMN_PLANES);
    EACH(c, c->i, o->dst[op]);
    rs_packer_i64(table, "dst", c->i, 0, RS_COLUMN_PLANES);
    strings(c, "dtype", o->dtype, NULL, table);
    strings(c, "algo", NULL, m->parts.algo, table);
    strings(c, "proto", NULL, m->parts.proto, table);
    EACH(c, c->d, (double)o->count[op]);
    rs_packer_f64(table, "count", c->d);
    EACH(c, c->i, o->captured[op] ? (int64_t)o->replay[op] : INT64_MIN);
    some(c, "replay", table);
    EACH(c, c->i, step_of(m, op));
    some(c, "step", table);
    EACH(c, c->b, o->confidence[op]);
    rs_packer_u8(table, "confidence", c->b);
}

void rs_operations_table(struct rs_operations *o, struct rs_packer *table)
{
    const struct rs_timeline *t = o->t;
    size_t n = (size_t)t->nops + 1;
    struct columns c = {.o = o,
                        .m = t->model,
                        .ops = t->ops,
                        .n = t->nops,
                        .d = rs_alloc(n * sizeof *c.d),
                        .i = rs_alloc(n * sizeof *c.i),
                        .u = rs_alloc(n * sizeof *c.u),
                        .b = rs_alloc(n),
                        .no = rs_zalloc(n, sizeof *c.no)};
    fill(&c, table);
    free(c.d);
    free(c.i);
    free(c.u);
    free(c.b);
    free(c.no);
}

void rs_operations_free(struct rs_operations *o)
{
    rs_pieces_free(&o->pieces);
    free(o->comm);
    free(o->member);
    free(o->first);
    *o = (struct rs_operations){0};
}
