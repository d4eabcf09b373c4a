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

enum rs_status rs_operations_open(struct rs_operations *o, struct rs_runs *runs, const char *folder, struct rs_err *err)
{
    *o = (struct rs_operations){.runs = runs};
    return rs_pieces_open(&o->pieces, folder, err);
}

struct member_columns {
    uint32_t *comm, *group;
    int64_t *rank, *global;
};

static void fill_members(const struct rs_run *run, struct member_columns *c)
{
    const struct rs_model *m = run->t->model;
    for (uint32_t i = 0; i < m->nmembers; i++) {
        uint32_t row = run->member[i], own = run->t->group_of_member[i]; /* its communicator's, below its rank's */
        if (row == RS_NONE) continue;
        c->comm[row] = run->comm[m->members[i].comm];
        c->group[row] = own < run->t->ngroups ? run->first_group + run->t->groups[own].parent : RS_NONE;
        c->rank[row] = m->members[i].rank;
        c->global[row] = m->members[i].global_rank;
    }
}

void rs_operations_members(const struct rs_operations *o, struct rs_packer *table)
{
    size_t n = (size_t)o->runs->nmembers + 1;
    struct member_columns c = {.comm = rs_alloc(n * sizeof *c.comm),
                               .group = rs_alloc(n * sizeof *c.group),
                               .rank = rs_alloc(n * sizeof *c.rank),
                               .global = rs_alloc(n * sizeof *c.global)};
    for (uint32_t i = 0; i < o->runs->n; i++) fill_members(&o->runs->rows[i], &c);
    rs_packer_begin(table, o->runs->nmembers);
    rs_packer_u32(table, "comm", c.comm, RS_COLUMN_PLANES);
    rs_packer_i64(table, "rank", c.rank, 0, RS_COLUMN_PLANES);
    rs_packer_i64(table, "global", c.global, 0, RS_COLUMN_PLANES);
    rs_packer_u32(table, "group", c.group, RS_COLUMN_PLANES);
    free(c.comm);
    free(c.group);
    free(c.rank);
    free(c.global);
}

/* ---- parts ---- */

static double after_begin(const struct rs_run *run, int64_t ns)
{
    return ns == RS_TIME_NONE ? NAN : (double)rs_run_time(run, ns);
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
    for (uint32_t i = 0; i < o->runs->nops; i++) {
        const struct rs_run *run = &o->runs->rows[o->runs->ops[i].run];
        const struct rs_model *m = run->t->model;
        uint32_t op = o->runs->ops[i].op;
        int64_t shortest = rs_op_shortest(m, op);
        for (uint32_t k = 0; k < m->ops.nparts[op]; k++) {
            uint32_t part = m->order[m->ops.part[op] + k];
            b->member[b->n] = run->member[m->parts.member[part]];
            b->bar[b->n] = run->t->bar_of_part[part];
            b->start[b->n] = after_begin(run, m->parts.start[part]);
            b->end[b->n] = after_begin(run, m->parts.end[part]);
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
    struct rs_runs *runs;
    uint32_t n;
    double *d;
    int64_t *i;
    uint32_t *u;
    uint8_t *b;
    bool *no; /* all false */
};

/* For each operation: `expression` with its run, the model m, its operations o, op and row. */
#define EACH(c, to, expression)                                                                                        \
    for (uint32_t row = 0; row < (c)->n; row++) {                                                                      \
        const struct rs_run *run = &(c)->runs->rows[(c)->runs->ops[row].run];                                          \
        const struct rs_model *m = run->t->model;                                                                      \
        const struct rs_ops *o = &m->ops;                                                                              \
        uint32_t op = (c)->runs->ops[row].op;                                                                          \
        (void)o;                                                                                                       \
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

/* The rank of the job that was last; -1: unknown, or a tie. */
static int64_t last_rank(const struct rs_model *m, uint32_t op)
{
    uint32_t last = rs_op_last_part(m, op);
    return last == RS_NONE ? -1 : m->members[m->parts.member[last]].global_rank;
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

static uint16_t func_of(const struct rs_model *m, uint32_t op)
{
    return m->ops.func[op];
}

static uint16_t dtype_of(const struct rs_model *m, uint32_t op)
{
    return m->ops.dtype[op];
}

static uint16_t algo_of(const struct rs_model *m, uint32_t op)
{
    return m->parts.algo[m->order[m->ops.part[op]]];
}

static uint16_t proto_of(const struct rs_model *m, uint32_t op)
{
    return m->parts.proto[m->order[m->ops.part[op]]];
}

/* Strings of the models; omitted if no operation has one, unless it is `always` there. */
static void strings(struct columns *c, const char *name, uint16_t (*of)(const struct rs_model *, uint32_t), bool always,
                    struct rs_packer *table)
{
    struct rs_texts *texts = &c->runs->rows[c->runs->holder].t->texts;
    bool any = always;
    for (uint32_t row = 0; row < c->n; row++) {
        const struct rs_model *m = c->runs->rows[c->runs->ops[row].run].t->model;
        uint16_t id = of(m, c->runs->ops[row].op);
        const char *text = id ? rs_model_text(m, id) : "";
        rs_texts_id(texts, text, strlen(text), &c->u[row]);
        any |= c->u[row] != 0;
    }
    if (any) rs_packer_u32(table, name, c->u, RS_COLUMN_PLANES);
}

/* Columns that only some have: omitted if none does. */
static void some(struct columns *c, const char *name, struct rs_packer *table)
{
    rs_packer_sparse(table, name, c->i, c->no);
}

static void fill(struct columns *c, struct rs_packer *table)
{
    uint32_t parts = 0;
    rs_packer_begin(table, c->n);
    EACH(c, (uint64_t *)c->i, o->id[op]);
    rs_packer_u64(table, "id", (uint64_t *)c->i);
    EACH(c, c->u, run->comm[o->comm[op]]);
    rs_packer_u32(table, "comm", c->u, RS_COLUMN_PLANES);
    strings(c, "func", func_of, true, table);
    EACH(c, c->i, seq_of(m, op));
    rs_packer_i64(table, "seq", c->i, 0, RS_COLUMN_PLANES);
    EACH(c, c->d, rs_size_known(m, op) ? (double)o->bytes[op] : NAN);
    rs_packer_f64(table, "bytes", c->d);
    EACH(c, c->d, after_begin(run, o->first[op]));
    rs_packer_f64(table, "first", c->d);
    EACH(c, c->d, after_begin(run, o->last[op]));
    rs_packer_f64(table, "last", c->d);
    EACH(c, c->d, after_begin(run, o->end[op]));
    rs_packer_f64(table, "end", c->d);
    double *longest = (double *)c->i;
    for (uint32_t row = 0; row < c->n; row++) {
        const struct rs_run_op *x = &c->runs->ops[row];
        struct rs_op_waits waits = rs_op_waits(c->runs->rows[x->run].t->model, x->op);
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
    EACH(c, c->i, last_rank(m, op));
    rs_packer_i64(table, "last_rank", c->i, 0, RS_COLUMN_PLANES);
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
    strings(c, "dtype", dtype_of, false, table);
    strings(c, "algo", algo_of, false, table);
    strings(c, "proto", proto_of, false, table);
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
    size_t n = (size_t)o->runs->nops + 1;
    struct columns c = {.runs = o->runs,
                        .n = o->runs->nops,
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
    free(o->first);
    *o = (struct rs_operations){0};
}
