#include "picture/relations.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"

enum {
    FEW = 60, /* of operations and arrows; and of parents */
    ALL = 1500, /* more is unreadable, and a large file */
    MOST_ENDS = 6000,
};
/* Minimum width in pixels of an operation, or of a child, if few are requested. */
#define LEAST_OPERATION 5.0
#define LEAST_CHILD 3.0

/* A bar of an operation. */
struct found {
    uint32_t op;
    struct rs_relation_end at;
    int64_t start;
};

static int by_op(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->op != y->op) return x->op < y->op ? -1 : 1;
    if (x->at.row != y->at.row) return x->at.row < y->at.row ? -1 : 1;
    return (x->at.bar > y->at.bar) - (x->at.bar < y->at.bar);
}

static int by_weight(const void *a, const void *b)
{
    const struct rs_relation *x = a, *y = b;
    bool xp = x->what == RS_LEGEND_PARENT, yp = y->what == RS_LEGEND_PARENT;
    if (xp != yp) return xp ? 1 : -1;
    if (x->weight != y->weight) return x->weight < y->weight ? 1 : -1;
    return (x->end > y->end) - (x->end < y->end);
}

static const struct rs_picture_bar *bar_at(const struct rs_picture_rows *rows, struct rs_relation_end at)
{
    return &rows->rows[at.row].bars[at.bar];
}

static bool is_kind(const struct rs_picture_rows *rows, struct rs_relation_end at, const char *id)
{
    uint8_t kind = bar_at(rows, at)->kind;
    return kind < rows->timeline->kinds.n && strcmp(rows->timeline->kinds.rows[kind].id, id) == 0;
}

static void add(struct rs_relations *x, enum rs_legend_what what, double weight)
{
    RS_ROOM(x->list, x->n, x->cap);
    x->list[x->n++] = (struct rs_relation){.what = what, .end = x->nends, .weight = weight};
}

static void add_end(struct rs_relations *x, struct rs_relation_end at)
{
    RS_ROOM(x->ends, x->nends, x->cap_ends);
    x->ends[x->nends++] = at;
    x->list[x->n - 1].n++;
}

/* The bars of one operation, by row. */
static void relate(struct rs_relations *x, const struct rs_picture_rows *rows, const struct found *f, uint32_t n,
                   double least)
{
    double weight = 0, wide = 0;
    uint32_t send = n, receive = n, nrows = 1;
    for (uint32_t i = 0; i < n; i++) {
        const struct rs_picture_bar *bar = bar_at(rows, f[i].at);
        double own = (double)bar->dur + (double)bar->wait;
        if (own > weight) weight = own;
        if ((double)bar->dur + (double)bar->fade > wide) wide = (double)bar->dur + (double)bar->fade;
        if (is_kind(rows, f[i].at, "Send")) send = i;
        if (is_kind(rows, f[i].at, "Recv")) receive = i;
        nrows += i > 0 && f[i].at.row != f[i - 1].at.row;
    }
    if (wide < least) return;
    if (send < n && receive < n) {
        if (f[send].at.row == f[receive].at.row) return; /* to itself */
        add(x, RS_LEGEND_ARROW, weight);
        add_end(x, f[send].at);
        add_end(x, f[receive].at);
        return;
    }
    if (nrows < 2) return;
    add(x, RS_LEGEND_SAME_OP, weight);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || f[i].at.row != f[i - 1].at.row) add_end(x, f[i].at);
}

static void operations(struct rs_relations *x, const struct rs_picture_rows *rows, double least)
{
    size_t most = 0, n = 0;
    for (uint32_t i = 0; i < rows->n; i++) most += rows->rows[i].nbars;
    if (most == 0) return;
    struct found *found = rs_alloc(most * sizeof(*found));
    for (uint32_t i = 0; i < rows->n; i++)
        for (uint32_t k = 0; k < rows->rows[i].nbars; k++) {
            const struct rs_picture_bar *bar = &rows->rows[i].bars[k];
            if (bar->op != RS_BAR_NONE && bar->row == RS_ROW_OPERATIONS)
                found[n++] = (struct found){bar->op, {i, k}, bar->start};
        }
    qsort(found, n, sizeof(*found), by_op);
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && found[next].op == found[i].op;) next++;
        if (next - i > 1) relate(x, rows, found + i, (uint32_t)(next - i), least);
    }
    free(found);
}

/* ---- parents ---- */

static bool find(const struct rs_map *where, uint32_t number, struct rs_relation_end *at)
{
    uint64_t value = rs_map_get(where, number, UINT64_MAX);
    *at = (struct rs_relation_end){(uint32_t)(value >> 32), (uint32_t)value};
    return value != UINT64_MAX;
}

static void child(struct rs_relations *x, const struct rs_picture_rows *rows, const struct rs_map *where,
                  struct rs_relation_end at, uint32_t parent, double least)
{
    struct rs_relation_end to;
    const struct rs_picture_bar *bar = bar_at(rows, at);
    if (parent == RS_BAR_NONE || !find(where, parent, &to) || to.row == at.row) return;
    /* Calls and launches are more useful than the pieces of their work. */
    bool tells = bar->row == RS_ROW_OPERATIONS || bar->row == RS_ROW_LAUNCHES || bar->row == RS_ROW_CALLS;
    if (!tells && (double)bar->dur < least) return;
    add(x, RS_LEGEND_PARENT, (double)bar->dur * (tells ? 1e6 : 1));
    add_end(x, at);
    add_end(x, to);
}

static void parents(struct rs_relations *x, const struct rs_picture_rows *rows, struct rs_map *where,
                    struct rs_map *launched, double least)
{
    for (uint32_t i = 0; i < rows->n; i++)
        for (uint32_t k = 0; k < rows->rows[i].nbars; k++)
            rs_map_put(where, rows->rows[i].bars[k].number, (uint64_t)i << 32 | k);
    for (uint32_t i = 0; i < rows->nedges; i++)
        if (rs_map_find(where, rows->edges[i].from)) rs_map_put(launched, rows->edges[i].to, 1);
    for (uint32_t i = 0; i < rows->n; i++)
        for (uint32_t k = 0; k < rows->rows[i].nbars; k++) {
            const struct rs_relation_end at = {i, k};
            const struct rs_picture_bar *bar = bar_at(rows, at);
            bool launch = rs_map_find(launched, bar->number);
            /* A launched operation leads to its call through its launch: two lines would be redundant. */
            if (!launch || least == 0) child(x, rows, where, at, bar->parent, least);
        }
    for (uint32_t i = 0; i < rows->nedges; i++) {
        struct rs_relation_end at;
        if (!find(where, rows->edges[i].to, &at)) continue;
        if (least == 0 && bar_at(rows, at)->parent == rows->edges[i].from) continue; /* already drawn */
        child(x, rows, where, at, rows->edges[i].from, least);
    }
}

/* Keeps the heaviest. */
static void choose(struct rs_relations *x, uint32_t most)
{
    if (x->n) qsort(x->list, x->n, sizeof(*x->list), by_weight);
    uint32_t kept = 0, across = 0, above = 0, ends = 0;
    for (uint32_t i = 0; i < x->n; i++) {
        uint32_t *count = x->list[i].what == RS_LEGEND_PARENT ? &above : &across;
        if (*count == most || ends + x->list[i].n > MOST_ENDS) continue;
        ++*count;
        ends += x->list[i].n;
        x->list[kept++] = x->list[i];
    }
    x->n = kept;
}

void rs_relations_init(struct rs_relations *x, const struct rs_picture_rows *rows, enum rs_picture_relations wanted)
{
    *x = (struct rs_relations){0};
    if (wanted == RS_RELATIONS_NONE) return;
    double pixel = wanted == RS_RELATIONS_FEW ? 1 / rs_picture_scale(&rows->take) : 0;
    operations(x, rows, LEAST_OPERATION * pixel);
    if (!rows->take.fold) {
        struct rs_map where = {0}, launched = {0};
        parents(x, rows, &where, &launched, LEAST_CHILD * pixel);
        rs_map_free(&where);
        rs_map_free(&launched);
    }
    choose(x, wanted == RS_RELATIONS_FEW ? FEW : ALL);
}

unsigned rs_relations_whats(const struct rs_relations *x)
{
    unsigned whats = 0;
    for (uint32_t i = 0; i < x->n; i++) whats |= 1u << x->list[i].what;
    return whats;
}

void rs_relations_free(struct rs_relations *x)
{
    free(x->list);
    free(x->ends);
    *x = (struct rs_relations){0};
}
