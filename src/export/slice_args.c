#include "export/slice_args.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "fields/operation.h"
#include "join/durations.h"
#include "join/waits.h"
#include "timeline/index.h"

/* What a slice of an operation may have, in this order: fields of the operation and of its rank, under their names, and
 * what slices alone have. */
enum key {
    KEY_OP,
    KEY_COMM,
    KEY_PG_NAME,
    KEY_PG_DESC,
    KEY_COMMS_ID,
    KEY_COMMS_ID_NUMBER,
    KEY_PG_SEQ,
    KEY_STEP,
    KEY_SCOPE,
    KEY_SEQ,
    KEY_REPLAY,
    KEY_RANK,
    KEY_GLOBAL_RANK,
    KEY_NRANKS,
    KEY_ROOT,
    KEY_SRC,
    KEY_DST,
    KEY_FANOUT,
    KEY_COUNT,
    KEY_BYTES,
    KEY_DTYPE,
    KEY_ALGO,
    KEY_PROTO,
    KEY_CHANNELS,
    KEY_WAIT,
    KEY_TRANSFER,
    KEY_LAST_RANK,
    KEY_TIE,
    KEY_CLOCK_ERROR,
    KEY_END_BOUNDED,
    KEY_SHORTEST,
    KEY_LONGEST,
    KEY_OPEN,
    KEY_MISMATCH,
    KEY_HELPED,
    KEY_START_UNKNOWN,
    KEYS
};
static const struct rs_out_field *const fields[KEYS] = {
    [KEY_OP] = &RS_OP_FIELD(op),
    [KEY_COMM] = &RS_OP_FIELD(comm),
    [KEY_PG_NAME] = &RS_OP_FIELD(pg_name),
    [KEY_PG_DESC] = &RS_OP_FIELD(pg_desc),
    [KEY_COMMS_ID] = &RS_OP_FIELD(comms_id),
    [KEY_PG_SEQ] = &RS_OP_FIELD(pg_seq),
    [KEY_STEP] = &RS_OP_FIELD(step),
    [KEY_SCOPE] = &RS_OP_FIELD(scope),
    [KEY_SEQ] = &RS_OP_FIELD(seq),
    [KEY_REPLAY] = &RS_OP_FIELD(replay),
    [KEY_RANK] = &RS_OP_RANK_FIELD(rank),
    [KEY_GLOBAL_RANK] = &RS_OP_RANK_FIELD(global_rank),
    [KEY_NRANKS] = &RS_OP_FIELD(nranks),
    [KEY_ROOT] = &RS_OP_FIELD(root),
    [KEY_SRC] = &RS_OP_FIELD(src),
    [KEY_DST] = &RS_OP_FIELD(dst),
    [KEY_FANOUT] = &RS_OP_FIELD(fanout),
    [KEY_COUNT] = &RS_OP_FIELD(count),
    [KEY_BYTES] = &RS_OP_FIELD(bytes),
    [KEY_DTYPE] = &RS_OP_FIELD(dtype),
    [KEY_ALGO] = &RS_OP_FIELD(algo),
    [KEY_PROTO] = &RS_OP_FIELD(proto),
    [KEY_CHANNELS] = &RS_OP_RANK_FIELD(channels),
    [KEY_WAIT] = &RS_OP_RANK_FIELD(wait_ns),
    [KEY_TRANSFER] = &RS_OP_FIELD(transfer_ns),
    [KEY_LAST_RANK] = &RS_OP_FIELD(last_rank),
    [KEY_TIE] = &RS_OP_FIELD(tie),
    [KEY_CLOCK_ERROR] = &RS_OP_RANK_FIELD(clock_error_ns),
    [KEY_OPEN] = &RS_OP_RANK_FIELD(open),
    [KEY_MISMATCH] = &RS_OP_RANK_FIELD(mismatch),
};
static const char *const names[KEYS] = {
    [KEY_COMMS_ID_NUMBER] = "Comms Id", /* as PyTorch's profiler writes it */
    [KEY_END_BOUNDED] = "end_bounded",
    [KEY_SHORTEST] = "shortest_ns",
    [KEY_LONGEST] = "longest_ns", /* from the start to the upper bound of the end */
    [KEY_HELPED] = "helped",
    [KEY_START_UNKNOWN] = "start_unknown",
};

/* What all ranks of an operation share and takes a walk over all of them. */
struct rs_slice_op {
    int64_t transfer, shortest; /* rs_op_rate(), rs_op_shortest() */
    uint64_t comms_id;
    int64_t pg_seq;
    uint32_t step, scope, scope_text, tools;
    bool known, has_comms_id;
};

/* ---- keys ---- */

static enum rs_status key_of(struct rs_slice_args *s, const char *label, uint8_t *key, struct rs_err *err)
{
    for (unsigned i = 0; i < s->nkeys; i++)
        if (*s->keys[i] == *label && !strcmp(s->keys[i], label)) {
            *key = (uint8_t)i;
            return RS_OK;
        }
    if (s->nkeys == RS_SLICE_KEYS) return rs_fail(err, RS_FAILED, "too many names of arguments");
    s->keys[s->nkeys] = label;
    *key = (uint8_t)s->nkeys++;
    return RS_OK;
}

static enum rs_status make_keys(struct rs_slice_args *s, struct rs_err *err)
{
    const struct rs_kinds *kinds = &s->t->kinds;
    for (; s->nkeys < KEYS; s->nkeys++) s->keys[s->nkeys] = fields[s->nkeys] ? fields[s->nkeys]->name : names[s->nkeys];
    for (unsigned k = 0; k < kinds->n; k++) {
        const struct rs_bar_kind *kind = &kinds->rows[k];
        for (unsigned i = 0; i < RS_BAR_ARGS && kind->args[i]; i++) {
            const struct rs_event_arg *of = rs_bar_arg(kind, i);
            struct rs_slice_kind_arg *arg = &s->kind_args[k][s->kind_nargs[k]++];
            RS_TRY(key_of(s, of->label, &arg->key, err));
            arg->type = of->unit == RS_UNIT_TEXT  ? RS_SLICE_TEXT
                        : of->unit == RS_UNIT_HEX ? RS_SLICE_HEX
                                                  : RS_SLICE_INT;
            arg->said = of->said;
        }
        for (int i = 0; i < RS_BAR_MARKS && kind->marks[i]; i++) {
            uint32_t text;
            rs_timeline_text(s->t, &text, "%s, after ns", kind->marks[i]);
            RS_TRY(key_of(s, rs_texts_at(&s->t->texts, text), &s->mark_key[k][i], err));
        }
    }
    return RS_OK;
}

static bool is_listed(const struct rs_out_field *f)
{
    for (unsigned k = 0; k < KEYS; k++)
        if (fields[k] == f) return true;
    return false;
}

/* Fields of an operation that are marked for slices and not listed above come after these. Those of a rank must be
 * listed: a slice is one send or receive, where the rank in a fan-out is all of them. */
static enum rs_status make_more(struct rs_slice_args *s, struct rs_err *err)
{
    for (unsigned i = 0; i < RS_OP_RANK_FIELDS; i++)
        assert(!(rs_op_rank_fields[i].in & RS_IN_SLICES) || is_listed(&rs_op_rank_fields[i]));
    for (unsigned i = 0; i < RS_OP_FIELDS; i++) {
        const struct rs_out_field *f = &rs_op_fields[i];
        if (!(f->in & RS_IN_SLICES) || is_listed(f)) continue;
        assert(s->nmore < RS_SLICE_FURTHER);
        s->more[s->nmore].field = f;
        RS_TRY(key_of(s, f->name, &s->more[s->nmore++].key, err));
    }
    return RS_OK;
}

/* ---- communicators ---- */

/* Whether the tracks of a communicator are called by this name of it. */
static bool is_on_track(const struct rs_timeline *t, uint32_t comm, const char *name)
{
    uint32_t member = t->model->comms[comm].first_member;
    if (member == RS_NONE || t->group_of_member[member] == RS_NONE) return false;
    return strstr(rs_texts_at(&t->texts, t->groups[t->group_of_member[member]].label), name) != NULL;
}

static void make_comms(struct rs_slice_args *s)
{
    const struct rs_model *m = s->t->model;
    size_t n = (size_t)m->ncomms + 1;
    s->comm_text = rs_zalloc(n, sizeof *s->comm_text);
    s->group_text = rs_zalloc(n, sizeof *s->group_text);
    s->desc_text = rs_zalloc(n, sizeof *s->desc_text);
    s->comm_facts = rs_zalloc(n, sizeof *s->comm_facts);
    s->group_on_track = rs_zalloc(n, sizeof *s->group_on_track);
    s->ops = rs_zalloc((size_t)m->ops.n + 1, sizeof *s->ops);
    for (uint32_t i = 0; i < m->ncomms; i++) {
        struct rs_facts *f = &s->comm_facts[i];
        rs_facts_of_comm(m, i, f);
        if (m->comms[i].hash) rs_timeline_text(s->t, &s->comm_text[i], "0x%016" PRIx64, m->comms[i].hash);
        if (f->group) rs_texts_id(&s->t->texts, f->group, strlen(f->group), &s->group_text[i]);
        if (f->desc) rs_texts_id(&s->t->texts, f->desc, f->desc_len, &s->desc_text[i]);
        s->group_on_track[i] = f->group && is_on_track(s->t, i, f->desc);
    }
}

enum rs_status rs_slice_args_init(struct rs_slice_args *s, struct rs_timeline *t, struct rs_err *err)
{
    *s = (struct rs_slice_args){.t = t, .said = {[RS_SAID_NOWHERE] = RS_BAR_NO_ARG, [RS_SAID_BY_TRACK] = -1}};
    RS_TRY(make_keys(s, err));
    RS_TRY(make_more(s, err));
    make_comms(s);
    return RS_OK;
}

void rs_slice_args_free(struct rs_slice_args *s)
{
    free(s->comm_text);
    free(s->group_text);
    free(s->desc_text);
    free(s->comm_facts);
    free(s->group_on_track);
    free(s->ops);
    rs_slice_args_done(s);
    *s = (struct rs_slice_args){0};
}

void rs_slice_args_done(struct rs_slice_args *s)
{
    free(s->part_of_bar);
    s->part_of_bar = NULL;
}

void rs_slice_args_piece(struct rs_slice_args *s, uint32_t proc, const struct rs_bars *b)
{
    rs_slice_args_done(s);
    s->part_of_bar = rs_alloc(((size_t)b->n + 1) * sizeof *s->part_of_bar);
    s->said[RS_SAID_BY_ROW] = s->t->model->procs[proc].pid;
    for (uint32_t i = 0; i < b->n; i++) s->part_of_bar[i] = RS_NONE;
    for (uint32_t i = 0; i < b->nparts; i++) {
        uint32_t bar = s->t->bar_of_part[b->parts[i]];
        if (bar != RS_NONE && bar >= b->first && bar - b->first < b->n) s->part_of_bar[bar - b->first] = b->parts[i];
    }
}

/* ---- one bar ---- */

static void add(struct rs_slice_args *s, unsigned key, enum rs_slice_type type, uint64_t value)
{
    if (s->n < RS_SLICE_MOST) s->args[s->n++] = (struct rs_slice_arg){(uint8_t)key, (uint8_t)type, value};
}

static void add_time(struct rs_slice_args *s, unsigned key, int64_t ns)
{
    add(s, key, ns == RS_TIME_NONE ? RS_SLICE_NULL : RS_SLICE_INT, (uint64_t)ns);
}

static void add_rank(struct rs_slice_args *s, unsigned key, int64_t rank)
{
    add(s, key, rank < 0 ? RS_SLICE_NULL : RS_SLICE_INT, (uint64_t)rank);
}

static void add_text(struct rs_slice_args *s, unsigned key, uint32_t text)
{
    add(s, key, text ? RS_SLICE_TEXT : RS_SLICE_NULL, text);
}

static void add_string(struct rs_slice_args *s, unsigned key, uint16_t string)
{
    uint32_t text = 0;
    if (string) rs_index_string(s->t, string, &text);
    add_text(s, key, text);
}

static void add_value(struct rs_slice_args *s, unsigned key, struct rs_value v)
{
    uint32_t text;
    switch (v.type) {
    case RS_OUT_INT: add(s, key, RS_SLICE_INT, v.u); break;
    case RS_OUT_UINT: add(s, key, RS_SLICE_UINT, v.u); break;
    case RS_OUT_BOOL: add(s, key, RS_SLICE_BOOL, v.u); break;
    case RS_OUT_HEX: add(s, key, RS_SLICE_HEX, v.u); break;
    case RS_OUT_TEXT:
        rs_texts_id(&s->t->texts, v.text, v.n, &text);
        add_text(s, key, text);
        break;
    default: add(s, key, RS_SLICE_NULL, 0); break;
    }
}

/* A field of the operation. */
static void add_field(struct rs_slice_args *s, enum key key, const struct rs_op_slice *row)
{
    add_value(s, key, fields[key]->get(row));
}

/* Likewise; null and false are left out. */
static void add_known(struct rs_slice_args *s, enum key key, const struct rs_op_slice *row)
{
    struct rs_value v = fields[key]->get(row);
    if (v.type != RS_OUT_NULL && (v.type != RS_OUT_BOOL || v.u)) add_value(s, key, v);
}

static void look(struct rs_slice_args *s, uint32_t op)
{
    const struct rs_model *m = s->t->model;
    struct rs_slice_op *x = &s->ops[op];
    struct rs_facts f;
    x->known = true;
    x->shortest = rs_op_shortest(m, op);
    x->transfer = rs_op_rate(m, op).transfer_ns;
    rs_facts_of_op(m, op, &f);
    x->has_comms_id = f.has_comms_id;
    x->comms_id = f.comms_id;
    x->pg_seq = f.pg_seq;
    x->step = f.step;
    x->tools = f.tools;
    x->scope = f.scope;
    if (f.scope) rs_index_name(s->t, f.scope, &x->scope_text);
}

static struct rs_op_slice row_of(const struct rs_slice_args *s, uint32_t op)
{
    const struct rs_slice_op *x = &s->ops[op];
    struct rs_op_slice row = {.key = rs_op_key(s->t->model, op), .transfer_ns = x->transfer};
    row.facts = s->comm_facts[s->t->model->ops.comm[op]];
    row.facts.has_comms_id = x->has_comms_id;
    row.facts.comms_id = x->comms_id;
    row.facts.pg_seq = x->pg_seq;
    row.facts.step = x->step;
    row.facts.scope = x->scope;
    row.facts.tools = x->tools;
    return row;
}

/* What other tools recorded of it, if any. */
static void add_facts(struct rs_slice_args *s, const struct rs_op_slice *row, uint32_t comm, bool with_group)
{
    if (s->group_text[comm] && with_group) add_text(s, KEY_PG_NAME, s->group_text[comm]);
    if (s->desc_text[comm] && with_group) add_text(s, KEY_PG_DESC, s->desc_text[comm]);
    add_known(s, KEY_COMMS_ID, row);
    if (row->facts.has_comms_id) add(s, KEY_COMMS_ID_NUMBER, RS_SLICE_DIGITS, row->facts.comms_id);
    add_known(s, KEY_PG_SEQ, row);
    add_known(s, KEY_STEP, row);
    if (s->ops[row->op].scope_text) add_text(s, KEY_SCOPE, s->ops[row->op].scope_text);
}

/* Texts are added by their id in the model, which is faster than by their bytes. */
static void part_args(struct rs_slice_args *s, uint32_t part, bool brief)
{
    const struct rs_model *m = s->t->model;
    const struct rs_parts *p = &m->parts;
    uint32_t op = p->op[part], comm = m->ops.comm[op], domain = rs_part_start_domain(m, part);
    const struct rs_member *member = &m->members[p->member[part]];
    if (!s->ops[op].known) look(s, op);
    const struct rs_op_slice row = row_of(s, op);
    add_field(s, KEY_OP, &row);
    add_text(s, KEY_COMM, s->comm_text[comm]);
    add_facts(s, &row, comm, !brief || member->comm != comm || !s->group_on_track[comm]);
    add_field(s, KEY_SEQ, &row);
    add_known(s, KEY_REPLAY, &row);
    if (!brief) {
        add_rank(s, KEY_RANK, member->rank);
        add_rank(s, KEY_GLOBAL_RANK, member->global_rank);
        add_field(s, KEY_NRANKS, &row);
    }
    if (m->ops.kind[op] == RS_OP_PAIR) {
        add_field(s, KEY_SRC, &row);
        add_field(s, KEY_DST, &row);
        add_known(s, KEY_FANOUT, &row);
    } else {
        add_known(s, KEY_ROOT, &row);
    }
    add_field(s, KEY_COUNT, &row);
    add_field(s, KEY_BYTES, &row);
    add_string(s, KEY_DTYPE, m->ops.dtype[op]);
    add_string(s, KEY_ALGO, p->algo[part]);
    add_string(s, KEY_PROTO, p->proto[part]);
    if (p->channels[part]) add(s, KEY_CHANNELS, RS_SLICE_UINT, p->channels[part]);
    add_time(s, KEY_WAIT, rs_op_part_wait(m, part, s->ops[op].shortest));
    add_field(s, KEY_TRANSFER, &row);
    add_field(s, KEY_LAST_RANK, &row);
    add_known(s, KEY_TIE, &row);
    add_time(s, KEY_CLOCK_ERROR, domain == RS_NONE ? RS_TIME_NONE : m->domains[domain].error_ns);
    for (unsigned i = 0; i < s->nmore; i++) add_value(s, s->more[i].key, s->more[i].field->get(&row));
}

void rs_slice_args_track(struct rs_slice_args *s, const struct rs_bar_lane *lane)
{
    const char *digits = rs_texts_at(&s->t->texts, lane->label);
    digits += strcspn(digits, "0123456789");
    s->said[RS_SAID_BY_TRACK] = *digits ? strtoll(digits, NULL, 10) : -1;
}

static void kind_args(struct rs_slice_args *s, const struct rs_bars *b, uint32_t i, bool brief)
{
    uint8_t k = b->kind[i];
    const struct rs_bar_kind *kind = &s->t->kinds.rows[k];
    const int64_t *const columns[RS_BAR_ARGS] = {b->a1, b->a2, b->a3, b->a4, b->a5, b->a6};
    const uint32_t marks[RS_BAR_MARKS] = {b->m1[i], b->m2[i], b->m3[i]};
    for (unsigned a = 0; a < s->kind_nargs[k]; a++) {
        const struct rs_slice_kind_arg *arg = &s->kind_args[k][a];
        int64_t value = columns[a][i];
        if (value == RS_BAR_NO_ARG || (brief && value == s->said[arg->said])) continue;
        add(s, arg->key, arg->type, (uint64_t)value);
    }
    for (int a = 0; a < RS_BAR_MARKS && kind->marks[a]; a++)
        if (marks[a]) add(s, s->mark_key[k][a], RS_SLICE_UINT, marks[a]);
}

static void flag_args(struct rs_slice_args *s, const struct rs_bars *b, uint32_t i)
{
    unsigned flags = b->flags[i];
    if (flags & RS_BAR_START_UNKNOWN) add(s, KEY_START_UNKNOWN, RS_SLICE_BOOL, 1);
    if (flags & RS_BAR_END_BOUNDED) {
        add(s, KEY_END_BOUNDED, RS_SLICE_BOOL, 1);
        add(s, KEY_SHORTEST, RS_SLICE_INT, (uint64_t)(b->dur[i] - b->fade[i]));
        add(s, KEY_LONGEST, b->fade[i] > 0 ? RS_SLICE_INT : RS_SLICE_NULL, (uint64_t)b->dur[i]);
    }
    if (flags & RS_BAR_OPEN) add(s, KEY_OPEN, RS_SLICE_BOOL, 1);
    if (flags & RS_BAR_MISMATCH) add(s, KEY_MISMATCH, RS_SLICE_BOOL, 1);
    if (flags & RS_BAR_HELPED) add(s, KEY_HELPED, RS_SLICE_BOOL, 1);
}

void rs_slice_args_of(struct rs_slice_args *s, const struct rs_bars *b, uint32_t i, bool brief)
{
    const struct rs_timeline *t = s->t;
    s->n = 0;
    if (s->part_of_bar[i] != RS_NONE) {
        part_args(s, s->part_of_bar[i], brief);
    } else {
        if (!brief && b->op[i] != RS_BAR_NONE) add(s, KEY_OP, RS_SLICE_HEX, t->model->ops.id[t->ops[b->op[i]]]);
        kind_args(s, b, i, brief);
    }
    if (b->flags[i]) flag_args(s, b, i);
}
