/* Lanes, and what is on them: events, network steps, launches. */
#include "base/memory.h"
#include "export/sqlite/fill.h"

#ifndef RS_NO_SQLITE

#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "base/utf8.h"
#include "export/sqlite/rows.h"

/* Where an argument of a bar goes: to a column of its own (enum rs_sql_arg), or to `args`. */
enum { IN_JSON = RS_SQL_ARGS, WITHOUT_COMM, NOWHERE };

struct rs_sql_kind {
    char *id; /* "KernelCh" */
    uint8_t to[RS_BAR_ARGS];
};

uint64_t rs_sql_fill_rows(uint32_t tables)
{
    const uint64_t all = (UINT64_C(1) << RS_ROWS) - 1;
    const uint32_t drawn = UINT32_C(1) << RS_SQL_LANES | UINT32_C(1) << RS_SQL_EVENTS |
                           UINT32_C(1) << RS_SQL_NETWORK_STEPS | UINT32_C(1) << RS_SQL_LAUNCHES |
                           UINT32_C(1) << RS_SQL_STRINGS;
    /* Ids number all bars: they do not depend on which tables are requested. */
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
        /* Other facts of an operation are in operations and operation_ranks. */
        bool op = of->row == RS_ROW_OPERATIONS && i != RS_BAR_LOSS && i != RS_BAR_BLANK;
        for (unsigned a = 0; a < RS_BAR_ARGS; a++) {
            kind->to[a] = of->args[a] ? place_of(rs_bar_arg(of, a)) : NOWHERE;
            if (op && kind->to[a] == IN_JSON) kind->to[a] = NOWHERE;
        }
        struct rs_strbuf room = {0}; /* names of functions come from the recording */
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

/* Arguments of an event: those with a column of their own, and the others as JSON. */
static void set_arguments(struct rs_sql_fill *f, struct rs_sql_bar_row *row)
{
    const struct rs_bars *b = row->b;
    uint32_t i = row->i;
    const int64_t args[RS_BAR_ARGS] = {b->a1[i], b->a2[i], b->a3[i], b->a4[i], b->a5[i], b->a6[i]};
    const struct rs_sql_kind *kind = &f->kinds[b->kind[i]];
    const struct rs_bar_kind *of = &f->t->kinds.rows[b->kind[i]];
    bool any = false;
    uint8_t last = row->comm == RS_NONE ? WITHOUT_COMM : IN_JSON;
    for (int c = 0; c < RS_SQL_ARGS; c++) row->args[c] = RS_TIME_NONE;
    for (unsigned a = 0; a < RS_BAR_ARGS; a++) {
        if (args[a] == RS_BAR_NO_ARG) continue;
        if (kind->to[a] < RS_SQL_ARGS)
            row->args[kind->to[a]] =
                rs_bar_arg(of, a)->unit == RS_UNIT_TIME ? rs_time_plus(f->t->begin, args[a]) : args[a];
        any |= kind->to[a] >= IN_JSON && kind->to[a] <= last;
    }
    if (!any) return;
    rs_strbuf_clear(&f->text);
    rs_json_to_text(f->json, &f->text, "arguments");
    rs_json_object(f->json);
    for (unsigned a = 0; a < RS_BAR_ARGS; a++)
        if (kind->to[a] >= IN_JSON && kind->to[a] <= last && args[a] != RS_BAR_NO_ARG)
            argument_json(f, rs_bar_arg(of, a), args[a]);
    rs_json_end(f->json);
    rs_json_flush(f->json);
    row->more = rs_strbuf_borrow(&f->text);
    row->more_len = f->text.len;
}

/* ---- bars ---- */

static uint32_t comm_of(const struct rs_sql_lane_row *lane, uint32_t op)
{
    if (lane->comm != RS_NONE || op == RS_BAR_NONE) return lane->comm;
    return lane->t->model->ops.comm[lane->t->ops[op]];
}

static enum rs_status bar_rows(struct rs_sql_fill *f, enum rs_sql_table table, const struct rs_sql_lane_row *lane,
                               const struct rs_bars *b, struct rs_err *err)
{
    for (uint32_t i = lane->of->from; i < lane->of->from + lane->of->n; i++) {
        struct rs_sql_bar_row row = {.lane = lane, .b = b, .i = i, .comm = comm_of(lane, b->op[i])};
        if (table == RS_SQL_EVENTS) {
            row.kind = f->kinds[b->kind[i]].id;
            set_arguments(f, &row);
        }
        RS_TRY(rs_sql_row(f->db, table, &row, err));
    }
    return RS_OK;
}

/* ---- lanes ---- */

static struct rs_sql_lane_row lane_of(const struct rs_sql_fill *f, uint32_t proc, const struct rs_bar_lane *from)
{
    const struct rs_group *g = &f->t->groups[from->group];
    const struct rs_member *member =
        g->member != RS_NONE && g->level >= RS_GROUP_RANK ? &f->t->model->members[g->member] : NULL;
    return (struct rs_sql_lane_row){
        .t = f->t,
        .of = from,
        .id = (int64_t)f->lanes_before + from->id,
        .proc = proc,
        .rank_id = member ? member->rank_id : f->only_rank[proc],
        .comm = member && g->level == RS_GROUP_COMM ? member->comm : RS_NONE,
    };
}

/* Adds the part of a lane that is in a piece to those of the pieces before. */
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

static enum rs_status lane_rows(struct rs_sql_fill *f, uint32_t proc, struct rs_err *err)
{
    for (uint32_t i = 0; i < f->nlanes && rs_sql_wants(f, RS_SQL_LANES); i++) {
        struct rs_sql_lane_row row = lane_of(f, proc, &f->lanes[i]);
        RS_TRY(rs_sql_row(f->db, RS_SQL_LANES, &row, err));
    }
    f->lanes_before += f->nlanes;
    f->nlanes = 0;
    return RS_OK;
}

static enum rs_status launches(struct rs_sql_fill *f, const struct rs_bars *b, struct rs_err *err)
{
    for (uint32_t i = 0; i < b->nedges && rs_sql_wants(f, RS_SQL_LAUNCHES); i++)
        RS_TRY(rs_sql_row(f->db, RS_SQL_LAUNCHES, &b->edges[i], err));
    return RS_OK;
}

enum rs_status rs_sql_fill_piece(struct rs_sql_fill *f, uint32_t proc, const struct rs_bars *b, struct rs_err *err)
{
    if (!f->kinds) make_kinds(f);
    for (uint32_t l = 0; l < b->nlanes; l++) {
        enum rs_sql_table table = b->lanes[l].row == RS_ROW_STEPS ? RS_SQL_NETWORK_STEPS : RS_SQL_EVENTS;
        struct rs_sql_lane_row lane = lane_of(f, proc, &b->lanes[l]);
        keep_lane(f, b, &b->lanes[l]);
        if (rs_sql_wants(f, table)) RS_TRY(bar_rows(f, table, &lane, b, err));
    }
    RS_TRY(launches(f, b, err));
    return b->last ? lane_rows(f, proc, err) : RS_OK;
}

#endif
