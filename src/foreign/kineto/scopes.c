#include "foreign/kineto/scopes.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "model/activities.h"

enum { MOST_LEVELS = 1024 }; /* of annotations within each other */

struct range {
    uint32_t lane, name, parent; /* parent: index; RS_KINETO_NONE: none */
    int64_t start, end;
};

struct ranges {
    struct range *rows; /* by lane and time, those around others first */
    uint32_t n;
};

static int by_place(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    if (x->lane != y->lane) return x->lane < y->lane ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->end != y->end) return x->end > y->end ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

/* Annotations of a kind. Steps are the process's, whichever thread began them: all are put on lane 0. */
static enum rs_status collect(struct ranges *r, const struct rs_kineto *k, uint8_t kind, struct rs_err *err)
{
    static const char own[] = "nccl:";
    uint32_t n = k->of_kind[kind];
    *r = (struct ranges){.rows = malloc(((size_t)n + 1) * sizeof *r->rows)};
    if (!r->rows) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < k->nrows && n; i++) {
        const struct rs_kineto_row *row = &k->rows[i];
        if (row->kind != kind) continue;
        n--;
        if (!strncmp(k->names[row->name].text, own, sizeof own - 1)) continue;
        r->rows[r->n++] = (struct range){.lane = kind == RS_ACT_STEP ? 0 : row->lane,
                                         .name = row->name,
                                         .parent = RS_KINETO_NONE,
                                         .start = row->start,
                                         .end = row->end};
    }
    qsort(r->rows, r->n, sizeof *r->rows, by_place);
    uint32_t open = RS_KINETO_NONE; /* the innermost that is open */
    for (uint32_t i = 0; i < r->n; i++) {
        if (i && r->rows[i].lane != r->rows[i - 1].lane) open = RS_KINETO_NONE;
        while (open != RS_KINETO_NONE && r->rows[open].end <= r->rows[i].start) open = r->rows[open].parent;
        r->rows[i].parent = open;
        open = i;
    }
    return RS_OK;
}

/* The innermost range of a lane around a moment; NULL: none. */
static const struct range *around(const struct ranges *r, uint32_t lane, int64_t at)
{
    uint32_t low = 0, high = r->n;
    RS_BISECT(low, high, mid, r->rows[mid].lane < lane || (r->rows[mid].lane == lane && r->rows[mid].start <= at));
    uint32_t i = low ? low - 1 : RS_KINETO_NONE;
    for (int level = 0; i != RS_KINETO_NONE && level < MOST_LEVELS; level++) {
        if (r->rows[i].lane != lane) return NULL;
        if (r->rows[i].end >= at) return &r->rows[i];
        i = r->rows[i].parent;
    }
    return NULL;
}

/* The thread that steps are told on; without steps the first thread of the process. */
static uint32_t main_thread(const struct rs_kineto *k)
{
    for (uint32_t i = 0; i < k->nrows && k->of_kind[RS_ACT_STEP]; i++)
        if (k->rows[i].kind == RS_ACT_STEP) return k->rows[i].lane;
    for (uint32_t i = 0; i < k->nlanes; i++)
        if (!k->lanes[i].is_stream && k->lanes[i].id == k->pid) return i;
    return RS_KINETO_NONE;
}

/* ProfilerStep#12 */
static uint32_t number_of(const struct rs_kineto_name *name)
{
    const char *p = memchr(name->text, '#', name->n);
    uint64_t v = 0;
    if (!p || p[1] < '0' || p[1] > '9') return RS_KINETO_NONE;
    for (p++; *p >= '0' && *p <= '9'; p++)
        if (v < RS_KINETO_NONE) v = v * 10 + (uint64_t)(*p - '0');
    return v < RS_KINETO_NONE ? (uint32_t)v : RS_KINETO_NONE;
}

enum rs_status rs_kineto_scopes_find(struct rs_kineto *k, struct rs_err *err)
{
    struct ranges steps = {0}, scopes = {0};
    enum rs_status status = collect(&steps, k, RS_ACT_STEP, err);
    if (status == RS_OK) status = collect(&scopes, k, RS_ACT_RANGE, err);
    uint32_t first = main_thread(k);
    for (uint32_t i = 0; i < k->ncalls && status == RS_OK; i++) {
        struct rs_kineto_call *c = &k->calls[i];
        if (c->lane == RS_KINETO_NONE && !c->has_launch) continue; /* only a kernel: nobody knows who called */
        int64_t at = c->lane == RS_KINETO_NONE ? c->launched : c->start;
        const struct range *step = around(&steps, 0, at);
        const struct range *scope = c->lane == RS_KINETO_NONE ? NULL : around(&scopes, c->lane, at);
        if (!scope && first != RS_KINETO_NONE) scope = around(&scopes, first, at);
        if (step) c->step = number_of(&k->names[step->name]);
        if (scope) c->scope = scope->name;
    }
    free(steps.rows);
    free(scopes.rows);
    return status;
}
