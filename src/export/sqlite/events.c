/* Lanes, and what lies on them: events, network steps, launches. */
#include "base/memory.h"
#include "export/sqlite/fill.h"

#ifndef RS_NO_SQLITE

#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "base/utf8.h"

/* Where an argument of a bar goes: the columns of its own that events have, or `args`. */
enum {
#define ARG(...)
#define COLUMN_ARG(id, ...) COLUMN_##id,
#include "timeline/event_args.inc"
#undef ARG
#undef COLUMN_ARG
    COLUMNS,
    IN_JSON = COLUMNS,
    WITHOUT_COMM,
    NOWHERE
};

struct rs_sql_kind {
    char *id; /* "KernelCh" */
    uint8_t to[RS_BAR_ARGS];
};

/* What all events of a lane share. */
struct lane {
    int64_t id;
    uint32_t proc, rank_id, comm;
    bool steps;
};

uint64_t rs_sql_fill_rows(uint32_t tables)
{
    const uint64_t all = (UINT64_C(1) << RS_ROWS) - 1;
    const uint32_t drawn = UINT32_C(1) << RS_SQL_LANES | UINT32_C(1) << RS_SQL_EVENTS |
                           UINT32_C(1) << RS_SQL_NETWORK_STEPS | UINT32_C(1) << RS_SQL_LAUNCHES |
                           UINT32_C(1) << RS_SQL_STRINGS;
    /* Ids number all that is drawn: they are the same whatever is asked for. */
    return tables & drawn ? all : 0;
}

/* ---- kinds ---- */

static uint8_t place_of(const struct rs_event_arg *arg)
{
    uint8_t n = 0;
    if (!arg->has_column) return arg->is_comm ? WITHOUT_COMM : IN_JSON;
    for (const struct rs_event_arg *a = rs_event_args; a < arg; a++) n += a->has_column;
    return n;
}

static void make_kinds(struct rs_sql_fill *f)
{
    const struct rs_kinds *k = &f->t->kinds;
    f->kinds = rs_zalloc((size_t)k->n + 1, sizeof *f->kinds);
    for (unsigned i = 0; i < k->n; i++) {
        struct rs_sql_kind *kind = &f->kinds[i];
        const struct rs_bar_kind *of = &k->rows[i];
        /* What is known of an operation stands in operations and operation_ranks. */
        bool op = of->row == RS_ROW_OPERATIONS && i != RS_BAR_LOSS && i != RS_BAR_BLANK;
        for (unsigned a = 0; a < RS_BAR_ARGS; a++) {
            kind->to[a] = of->args[a] ? place_of(rs_bar_arg(of, a)) : NOWHERE;
            if (op && kind->to[a] == IN_JSON) kind->to[a] = NOWHERE;
        }
        struct rs_strbuf room = {0}; /* functions are called what the recording says */
        size_t n = strlen(of->id);
        kind->id = rs_strdup(rs_utf8_whole(of->id, &n, &room));
        rs_strbuf_free(&room);
    }
}

void rs_sql_kinds_free(struct rs_sql_fill *f)
{
    for (unsigned i = 0; f->kinds && i < f->t->kinds.n; i++) free(f->kinds[i].id);
    free(f->kinds);
    f->kinds = NULL;
}

/* ---- values ---- */

static void argument_json(struct rs_sql_fill *f, const struct rs_event_arg *arg, int64_t v)
{
    struct rs_json *j = f->json;
    const char *key = arg->as ? arg->as : arg->key;
    if (arg->unit == RS_UNIT_TEXT)
        rs_json_key_str(j, key, rs_texts_at(&f->t->texts, (uint32_t)v));
    else if (arg->unit == RS_UNIT_HEX)
        rs_json_key_hex(j, key, (uint64_t)v);
    else
        rs_json_key_i64(j, key, arg->unit == RS_UNIT_TIME ? rs_time_plus(f->t->begin, v) : v);
}

static void arguments(struct rs_sql_fill *f, struct rs_sql_insert *in, const struct rs_bars *b, uint32_t i,
                      uint32_t comm)
{
    const int64_t args[RS_BAR_ARGS] = {b->a1[i], b->a2[i], b->a3[i], b->a4[i], b->a5[i], b->a6[i]};
    const struct rs_sql_kind *kind = &f->kinds[b->kind[i]];
    const struct rs_bar_kind *of = &f->t->kinds.rows[b->kind[i]];
    int64_t own[COLUMNS];
    bool any = false;
    uint8_t last = comm == RS_NONE ? WITHOUT_COMM : IN_JSON;
    for (int c = 0; c < COLUMNS; c++) own[c] = RS_TIME_NONE;
    for (unsigned a = 0; a < RS_BAR_ARGS; a++) {
        if (args[a] == RS_BAR_NO_ARG) continue;
        if (kind->to[a] < COLUMNS)
            own[kind->to[a]] = rs_bar_arg(of, a)->unit == RS_UNIT_TIME ? rs_time_plus(f->t->begin, args[a]) : args[a];
        any |= kind->to[a] >= IN_JSON && kind->to[a] <= last;
    }
    for (int c = 0; c < COLUMNS; c++) rs_sql_time(in, own[c]);
    if (!any) {
        rs_sql_null(in);
        return;
    }
    rs_sql_json_begin(f);
    rs_json_object(f->json);
    for (unsigned a = 0; a < RS_BAR_ARGS; a++)
        if (kind->to[a] >= IN_JSON && kind->to[a] <= last && args[a] != RS_BAR_NO_ARG)
            argument_json(f, rs_bar_arg(of, a), args[a]);
    rs_json_end(f->json);
    rs_sql_json_bind(f, in);
}

/* start_ns, end_ns, near_ns, end_after_ns, end_before_ns, open. */
static void times(struct rs_sql_fill *f, struct rs_sql_insert *in, const struct rs_bars *b, uint32_t i)
{
    unsigned flags = b->flags[i];
    int64_t start = rs_time_plus(f->t->begin, b->start[i]), end = rs_time_plus(start, b->dur[i]);
    bool unknown = flags & RS_BAR_START_UNKNOWN, open = flags & RS_BAR_OPEN, bounded = flags & RS_BAR_END_BOUNDED;
    /* Where the GPU's timers are of no use, the host's word for the end is late by some time. */
    bool told = unknown && (b->kind[i] == RS_BAR_CHANNEL || b->kind[i] == RS_BAR_PHASE) && !open && !bounded;
    rs_sql_time(in, unknown ? RS_TIME_NONE : start);
    rs_sql_time(in, open || bounded || told ? RS_TIME_NONE : end);
    rs_sql_time(in, unknown ? start : RS_TIME_NONE);
    rs_sql_time(in, open || bounded ? end : RS_TIME_NONE);
    rs_sql_time(in, told ? end : bounded && b->fade[i] > 0 ? rs_time_plus(end, b->fade[i]) : RS_TIME_NONE);
    if (open)
        rs_sql_i64(in, 1);
    else
        rs_sql_null(in);
}

static uint32_t comm_of(const struct rs_sql_fill *f, const struct lane *lane, uint32_t op)
{
    if (lane->comm != RS_NONE || op == RS_BAR_NONE) return lane->comm;
    return f->t->model->ops.comm[f->t->ops[op]];
}

/* process_id, rank_id, communicator_id, lane_id. */
static void place(struct rs_sql_insert *in, const struct lane *lane, uint32_t comm)
{
    rs_sql_i64(in, lane->proc);
    rs_sql_id(in, lane->rank_id);
    rs_sql_id(in, comm);
    rs_sql_i64(in, lane->id);
}

static enum rs_status event_row(struct rs_sql_fill *f, struct rs_sql_insert *in, const struct lane *lane,
                                const struct rs_bars *b, uint32_t i, struct rs_err *err)
{
    uint32_t comm = comm_of(f, lane, b->op[i]);
    rs_sql_i64(in, (int64_t)b->first + i);
    place(in, lane, comm);
    rs_sql_literal(in, f->kinds[b->kind[i]].id);
    rs_sql_id(in, b->name[i] ? b->name[i] : RS_NONE);
    rs_sql_id(in, b->op[i]);
    rs_sql_id(in, b->parent[i]);
    times(f, in, b, i);
    rs_sql_known(in, b->wait[i] > 0 ? b->wait[i] : -1);
    arguments(f, in, b, i, comm);
    return rs_sql_row(f->db, RS_SQL_EVENTS, err);
}

/* How long each state lasted: to the next one that was told, or to the end. */
static void states(struct rs_sql_insert *in, const struct rs_bars *b, uint32_t i, bool known_end)
{
    const uint32_t marks[] = {b->m1[i], b->m2[i], b->m3[i]};
    bool send = b->kind[i] == RS_BAR_STEP_SEND;
    for (int k = send ? 0 : -3; k < (send ? 6 : 3); k++) {
        if (k < 0 || k > 2 || !marks[k]) {
            rs_sql_null(in);
            continue;
        }
        int64_t to = known_end ? b->dur[i] : -1;
        for (int next = k + 1; next < 3; next++)
            if (marks[next]) {
                to = marks[next];
                break;
            }
        rs_sql_known(in, to >= marks[k] ? to - marks[k] : -1);
    }
}

static enum rs_status step_row(struct rs_sql_fill *f, struct rs_sql_insert *in, const struct lane *lane,
                               const struct rs_bars *b, uint32_t i, struct rs_err *err)
{
    int64_t start = rs_time_plus(f->t->begin, b->start[i]), end = rs_time_plus(start, b->dur[i]);
    bool known = !(b->flags[i] & (RS_BAR_OPEN | RS_BAR_END_BOUNDED));
    rs_sql_i64(in, (int64_t)b->first + i);
    place(in, lane, comm_of(f, lane, b->op[i]));
    rs_sql_id(in, b->op[i]);
    rs_sql_id(in, b->parent[i]);
    rs_sql_i64(in, b->kind[i] == RS_BAR_STEP_SEND);
    rs_sql_time(in, b->a3[i]);
    rs_sql_time(in, b->a1[i]);
    rs_sql_time(in, b->a4[i]);
    rs_sql_time(in, b->a5[i]);
    rs_sql_time(in, b->a2[i]);
    rs_sql_time(in, b->flags[i] & RS_BAR_START_UNKNOWN ? RS_TIME_NONE : start);
    rs_sql_time(in, known ? end : RS_TIME_NONE);
    rs_sql_time(in, known ? RS_TIME_NONE : end);
    states(in, b, i, known);
    return rs_sql_row(f->db, RS_SQL_NETWORK_STEPS, err);
}

/* ---- lanes ---- */

static struct lane lane_of(struct rs_sql_fill *f, uint32_t proc, const struct rs_bar_lane *from)
{
    const struct rs_group *g = &f->t->groups[from->group];
    struct lane lane = {(int64_t)f->lanes_before + from->id, proc, RS_NONE, RS_NONE, from->row == RS_ROW_STEPS};
    bool member = g->member != RS_NONE && g->level >= RS_GROUP_RANK;
    lane.rank_id = member ? f->view.model->members[g->member].rank_id : f->only_rank[proc];
    if (member && g->level == RS_GROUP_COMM) lane.comm = f->t->model->members[g->member].comm;
    return lane;
}

/* What a piece has of a lane comes to what the pieces before had. */
static void keep_lane(struct rs_sql_fill *f, const struct rs_bars *b, const struct rs_bar_lane *lane)
{
    while (f->nlanes <= lane->id) {
        RS_ROOM(f->lanes, f->nlanes, f->cap_lanes);
        f->lanes[f->nlanes++] = (struct rs_bar_lane){0};
    }
    struct rs_bar_lane *kept = &f->lanes[lane->id];
    uint32_t first = kept->n ? kept->from : b->first + lane->from, n = kept->n + lane->n;
    *kept = *lane;
    kept->from = first;
    kept->n = n;
}

static enum rs_status lane_row(struct rs_sql_fill *f, const struct lane *lane, const struct rs_bar_lane *from,
                               struct rs_err *err)
{
    struct rs_sql_insert *in = rs_sql_into(f->db, RS_SQL_LANES, err);
    if (!in) return err->code;
    rs_sql_i64(in, lane->id);
    rs_sql_i64(in, lane->proc);
    rs_sql_id(in, lane->rank_id);
    rs_sql_id(in, lane->comm);
    rs_sql_text(in, rs_row_kinds[from->row].id);
    rs_sql_text(in, rs_texts_at(&f->t->texts, from->label));
    rs_sql_i64(in, from->sub);
    rs_sql_i64(in, from->from);
    rs_sql_i64(in, from->n);
    return rs_sql_row(f->db, RS_SQL_LANES, err);
}

static enum rs_status lane_rows(struct rs_sql_fill *f, uint32_t proc, struct rs_err *err)
{
    for (uint32_t i = 0; i < f->nlanes && rs_sql_wants(f, RS_SQL_LANES); i++) {
        struct lane lane = lane_of(f, proc, &f->lanes[i]);
        RS_TRY(lane_row(f, &lane, &f->lanes[i], err));
    }
    f->lanes_before += f->nlanes;
    f->nlanes = 0;
    return RS_OK;
}

static enum rs_status launches(struct rs_sql_fill *f, const struct rs_bars *b, struct rs_err *err)
{
    struct rs_sql_insert *in = rs_sql_into(f->db, RS_SQL_LAUNCHES, err);
    if (!in) return err->code;
    for (uint32_t i = 0; i < b->nedges; i++) {
        rs_sql_i64(in, b->edges[i].from);
        rs_sql_i64(in, b->edges[i].to);
        RS_TRY(rs_sql_row(f->db, RS_SQL_LAUNCHES, err));
    }
    return RS_OK;
}

enum rs_status rs_sql_fill_piece(struct rs_sql_fill *f, uint32_t proc, const struct rs_bars *b, struct rs_err *err)
{
    if (!f->kinds) make_kinds(f);
    struct rs_sql_insert *events = rs_sql_into(f->db, RS_SQL_EVENTS, err), *steps;
    steps = events ? rs_sql_into(f->db, RS_SQL_NETWORK_STEPS, err) : NULL;
    if (!steps) return err->code;
    bool wants_events = rs_sql_wants(f, RS_SQL_EVENTS), wants_steps = rs_sql_wants(f, RS_SQL_NETWORK_STEPS);
    for (uint32_t l = 0; l < b->nlanes; l++) {
        struct lane lane = lane_of(f, proc, &b->lanes[l]);
        keep_lane(f, b, &b->lanes[l]);
        uint32_t from = b->lanes[l].from, to = from + b->lanes[l].n;
        for (uint32_t i = from; i < to && lane.steps && wants_steps; i++) RS_TRY(step_row(f, steps, &lane, b, i, err));
        for (uint32_t i = from; i < to && !lane.steps && wants_events; i++)
            RS_TRY(event_row(f, events, &lane, b, i, err));
    }
    if (rs_sql_wants(f, RS_SQL_LAUNCHES)) RS_TRY(launches(f, b, err));
    return b->last ? lane_rows(f, proc, err) : RS_OK;
}

#endif
