#include "foreign/stages/pairs.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/room.h"

enum rs_status rs_stage_events_add(struct rs_stage_events *s, const struct rs_stage_event *e, struct rs_err *err)
{
    RS_ROOM(s->rows, s->n, s->cap, err);
    s->rows[s->n++] = *e;
    return RS_OK;
}

void rs_stage_events_free(struct rs_stage_events *s)
{
    free(s->rows);
    *s = (struct rs_stage_events){0};
}

#define BY(member)                                                                                                     \
    if (x->member != y->member) return x->member < y->member ? -1 : 1

/* Marks of one chunk stand together by time. */
static int marks_by_time(const void *a, const void *b)
{
    const struct rs_stage_event *x = a, *y = b;
    BY(rank);
    BY(chunk);
    BY(at);
    BY(line);
    return 0;
}

/* Events of one stage of one chunk stand together by time; at one moment the order of the lines decides. */
static int by_stage(const void *a, const void *b)
{
    const struct rs_stage_event *x = a, *y = b;
    BY(rank);
    BY(name);
    BY(chunk);
    BY(at);
    BY(line);
    return 0;
}

static int rows_in_order(const void *a, const void *b)
{
    const struct rs_stage_row *x = a, *y = b;
    BY(rank);
    BY(chunk);
    BY(name);
    BY(start);
    return 0;
}

static void complain(struct rs_stage_file *f, const struct rs_stage_event *e, const char *what)
{
    if (!f->bad++) snprintf(f->why, sizeof f->why, "line %" PRIu64 ": %s", e->line, what);
}

static enum rs_status add_row(struct rs_stage_file *f, const struct rs_stage_event *e, int64_t until,
                              struct rs_err *err)
{
    RS_ROOM(f->rows, f->nrows, f->cap_rows, err);
    f->rows[f->nrows++] =
        (struct rs_stage_row){.rank = e->rank, .name = e->name, .chunk = e->chunk, .start = e->at, .end = until};
    return RS_OK;
}

/* Marks become spans up to the next of their chunk; the last of a chunk goes. */
static uint32_t close_marks(struct rs_stage_event *rows, uint32_t n)
{
    uint32_t kept = 0;
    if (n) qsort(rows, n, sizeof *rows, marks_by_time);
    for (uint32_t i = 0; i < n; i++) {
        struct rs_stage_event e = rows[i];
        if (e.kind == RS_STAGE_MARK) {
            uint32_t next = i + 1;
            while (next < n && rows[next].kind != RS_STAGE_MARK && rows[next].rank == e.rank &&
                   rows[next].chunk == e.chunk)
                next++;
            if (next >= n || rows[next].rank != e.rank || rows[next].chunk != e.chunk) continue;
            e.until = rows[next].at;
            e.kind = RS_STAGE_SPAN;
        }
        rows[kept++] = e;
    }
    return kept;
}

/* Without a number the i-th of its name on its rank is chunk i. */
static void number(struct rs_stage_file *f)
{
    for (uint32_t i = 0; i < f->nrows; i++) {
        struct rs_stage_row *r = &f->rows[i], *before = i ? r - 1 : NULL;
        if (r->chunk < 0)
            r->chunk = before && before->rank == r->rank && before->name == r->name ? before->chunk + 1 : 0;
    }
}

/* Names that no row has (the mark that only ends a chunk) go. */
static enum rs_status drop_names(struct rs_stage_file *f, struct rs_err *err)
{
    uint32_t *now = calloc((size_t)f->nnames + 1, sizeof *now), n = 0;
    if (!now) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < f->nrows; i++) now[f->rows[i].name] = 1;
    for (uint32_t i = 0; i < f->nnames; i++) {
        if (!now[i]) continue;
        f->names[n] = f->names[i];
        now[i] = n++;
    }
    for (uint32_t i = 0; i < f->nrows; i++) f->rows[i].name = now[f->rows[i].name];
    f->nnames = n;
    free(now);
    return RS_OK;
}

enum rs_status rs_stage_events_pair(struct rs_stage_events *s, struct rs_stage_file *f, struct rs_err *err)
{
    struct rs_stage_event *rows = s->rows;
    uint32_t n = close_marks(rows, s->n), open = UINT32_MAX;
    if (n) qsort(rows, n, sizeof *rows, by_stage);
    for (uint32_t i = 0; i < n; i++) {
        const struct rs_stage_event *e = &rows[i];
        const struct rs_stage_event *o = open != UINT32_MAX ? &rows[open] : NULL;
        bool same = o && o->rank == e->rank && o->name == e->name && o->chunk == e->chunk;
        if (e->kind == RS_STAGE_SPAN) {
            RS_TRY(add_row(f, e, e->until, err));
        } else if (e->kind == RS_STAGE_BEGIN) {
            if (o) complain(f, o, "it begins and does not end");
            open = i;
        } else if (same) {
            RS_TRY(add_row(f, o, e->at, err));
            open = UINT32_MAX;
        } else {
            complain(f, e, "it ends and did not begin");
        }
    }
    if (open != UINT32_MAX) complain(f, &rows[open], "it begins and does not end");
    number(f);
    RS_TRY(drop_names(f, err));
    if (f->nrows) qsort(f->rows, f->nrows, sizeof *f->rows, rows_in_order);
    return RS_OK;
}
