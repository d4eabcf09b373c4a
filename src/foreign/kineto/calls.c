#include "foreign/kineto/calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/map.h"
#include "base/memory.h"
#include "model/activities.h"

/* ---- steps and annotations around calls ---- */

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
static void collect(struct ranges *r, const struct rs_kineto *k, uint8_t kind)
{
    static const char own[] = "nccl:";
    uint32_t n = k->of_kind[kind];
    *r = (struct ranges){.rows = rs_alloc(((size_t)n + 1) * sizeof *r->rows)};
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

/* The thread that steps are recorded on; without steps the first thread of the process. */
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

void rs_kineto_scopes_find(struct rs_kineto *k)
{
    struct ranges steps = {0}, scopes = {0};
    collect(&steps, k, RS_ACT_STEP);
    collect(&scopes, k, RS_ACT_RANGE);
    uint32_t first = main_thread(k);
    for (uint32_t i = 0; i < k->ncalls; i++) {
        struct rs_kineto_call *c = &k->calls[i];
        if (c->lane == RS_KINETO_NONE && !c->has_launch) continue; /* only a kernel: the caller is unknown */
        int64_t at = c->lane == RS_KINETO_NONE ? c->launched : c->start;
        const struct range *step = around(&steps, 0, at);
        const struct range *scope = c->lane == RS_KINETO_NONE ? NULL : around(&scopes, c->lane, at);
        if (!scope && first != RS_KINETO_NONE) scope = around(&scopes, first, at);
        if (step) c->step = number_of(&k->names[step->name]);
        if (scope) c->scope = scope->name;
    }
    free(steps.rows);
    free(scopes.rows);
}

/* ---- launches ---- */

/* Correlations become rows. Calls that cannot have launched anything are many, and left out of the map. */
static void link_rows(struct rs_kineto *k)
{
    struct rs_map launches = {0};
    for (uint32_t i = 0; i < k->nrows; i++) {
        const struct rs_kineto_row *r = &k->rows[i];
        if (r->kind == RS_ACT_LAUNCH && r->link) rs_map_put(&launches, r->link, i);
    }
    for (uint32_t i = 0; i < k->nrows; i++) {
        struct rs_kineto_row *r = &k->rows[i];
        uint64_t from = RS_KINETO_NONE;
        if (rs_activity_is_work(r->kind) && r->link) from = rs_map_get(&launches, r->link, RS_KINETO_NONE);
        /* A correlation that was used again is not its own. */
        if (from != RS_KINETO_NONE && k->rows[from].start > r->start) from = RS_KINETO_NONE;
        r->link = (uint32_t)from;
    }
    rs_map_free(&launches);
}

/* ---- calls ---- */

static int compare_times(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_time(const void *a, const void *b)
{
    const struct rs_kineto_call *x = a, *y = b;
    int c = compare_times(x->start, y->start);
    if (!c) c = compare_times(y->end, x->end);
    if (!c) c = compare_times(x->lane, y->lane);
    return c ? c : compare_times((int64_t)x->external, (int64_t)y->external);
}

/* The calls of a thread, by time. */
struct on_thread {
    uint32_t lane, call;
    int64_t start;
};

static int by_thread(const void *a, const void *b)
{
    const struct on_thread *x = a, *y = b;
    if (x->lane != y->lane) return x->lane < y->lane ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->call < y->call ? -1 : x->call > y->call;
}

/* An annotation of PyTorch's around what it asks of NCCL. */
struct scope {
    uint32_t lane;
    bool coalesced;
    int64_t start, end;
    uint32_t first, last; /* of the calls of a coalesced group: place in the order, and one after the last */
};

struct tie {
    struct rs_kineto *k;
    struct rs_map ids; /* External id -> host call */
    struct on_thread *order;
    uint32_t n;
    struct scope *scopes; /* by lane and time */
    uint32_t nscopes;
    uint32_t *of_row;
    uint32_t *own; /* by row: the call recorded at the kernel */
};

static void give(struct tie *t, uint32_t row, uint32_t call)
{
    const struct rs_kineto_row *r = &t->k->rows[row];
    struct rs_kineto_call *c = &t->k->calls[call];
    if (t->of_row[row] == RS_KINETO_NONE) t->of_row[row] = call;
    if (c->kernel == RS_KINETO_NONE) {
        c->kernel = row;
        c->kernel_start = r->start;
        c->kernel_end = r->end;
        c->kernel_name = r->name;
        c->device = t->k->lanes[r->lane].device;
        if (r->link != RS_KINETO_NONE) {
            c->launched = t->k->rows[r->link].start;
            c->has_launch = true;
        }
        return;
    }
    if (r->start < c->kernel_start) c->kernel_start = r->start;
    if (r->end > c->kernel_end) c->kernel_end = r->end;
}

static bool can_run(const struct rs_kernel_name *kernel, const char *func)
{
    static const char *const point_to_point[] = {"Send", "Recv", "AlltoAll", "Gather", "Scatter"};
    if (!kernel->func || !strcmp(kernel->func, func)) return true;
    for (size_t i = 0; i < sizeof point_to_point / sizeof *point_to_point; i++)
        if (!strcmp(kernel->func, "SendRecv") && !strcmp(func, point_to_point[i])) return true;
    return false;
}

/* By External id: the kernel's own, or that of its launch. */
static bool tie_by_id(struct tie *t, uint32_t row)
{
    const struct rs_kineto_row *r = &t->k->rows[row];
    uint64_t call = RS_KINETO_NONE;
    if (r->external != RS_KINETO_NO_ID) call = rs_map_get(&t->ids, r->external, RS_KINETO_NONE);
    if (call == RS_KINETO_NONE && r->link != RS_KINETO_NONE && t->k->rows[r->link].external != RS_KINETO_NO_ID)
        call = rs_map_get(&t->ids, t->k->rows[r->link].external, RS_KINETO_NONE);
    if (call == RS_KINETO_NONE) return false;
    give(t, row, (uint32_t)call);
    return true;
}

/* ---- groups ---- */

static int by_lane(const void *a, const void *b)
{
    const struct scope *x = a, *y = b;
    if (x->lane != y->lane) return x->lane < y->lane ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

/* The place after the last call of a thread that began by then. */
static uint32_t behind_calls(const struct tie *t, uint32_t lane, int64_t at)
{
    uint32_t low = 0, high = t->n;
    RS_BISECT(low, high, mid, t->order[mid].lane < lane || (t->order[mid].lane == lane && t->order[mid].start <= at));
    return low;
}

/* The latest annotation of a thread that began by then; NULL: none. */
static struct scope *scope_at(const struct tie *t, uint32_t lane, int64_t at)
{
    uint32_t low = 0, high = t->nscopes;
    RS_BISECT(low, high, mid,
              t->scopes[mid].lane < lane || (t->scopes[mid].lane == lane && t->scopes[mid].start <= at));
    return low && t->scopes[low - 1].lane == lane ? &t->scopes[low - 1] : NULL;
}

/* Whether a call had a launch of its own: PyTorch's annotation of the launch is within it. */
static bool is_single(const struct tie *t, const struct rs_kineto_call *c)
{
    const struct scope *s = scope_at(t, c->lane, c->end);
    return c->kernel != RS_KINETO_NONE || (s && s->start >= c->start);
}

/* The calls of a group: those before it, back to the previous group or to a call outside of groups. */
static void find_batch(struct tie *t, struct scope *s, int64_t from)
{
    s->first = s->last = behind_calls(t, s->lane, s->start);
    while (s->first > 0 && t->order[s->first - 1].lane == s->lane) {
        struct rs_kineto_call *c = &t->k->calls[t->order[s->first - 1].call];
        if (!c->func || c->start < from || is_single(t, c)) break;
        c->batched = true;
        s->first--;
    }
}

static void find_batches(struct tie *t)
{
    static const char prefix[] = "nccl:", group[] = "nccl:coalesced";
    const struct rs_kineto *k = t->k;
    uint32_t left = k->of_kind[RS_ACT_RANGE];
    t->scopes = rs_alloc(((size_t)left + 1) * sizeof *t->scopes);
    for (uint32_t i = 0; i < k->nrows && left; i++) {
        const struct rs_kineto_row *r = &k->rows[i];
        const struct rs_kineto_name *name = &k->names[r->name];
        if (r->kind != RS_ACT_RANGE) continue;
        left--;
        if (strncmp(name->text, prefix, sizeof prefix - 1)) continue;
        t->scopes[t->nscopes++] = (struct scope){.lane = r->lane,
                                                 .coalesced = !strncmp(name->text, group, sizeof group - 1),
                                                 .start = r->start,
                                                 .end = r->end};
    }
    if (t->nscopes) qsort(t->scopes, t->nscopes, sizeof *t->scopes, by_lane);
    const struct scope *before = NULL;
    for (struct scope *s = t->scopes; s < t->scopes + t->nscopes; s++) {
        if (!s->coalesced) continue;
        find_batch(t, s, before && before->lane == s->lane ? before->end : INT64_MIN);
        before = s;
    }
}

/* By the place of its launch on the thread. */
static void tie_by_place(struct tie *t, uint32_t row)
{
    const struct rs_kineto_row *r = &t->k->rows[row];
    if (r->link == RS_KINETO_NONE) return;
    const struct rs_kineto_row *launch = &t->k->rows[r->link];
    const struct rs_kernel_name *kernel = &t->k->names[r->name].kernel;
    uint32_t low = behind_calls(t, launch->lane, launch->start);
    if (low && t->order[low - 1].lane == launch->lane) {
        const struct rs_kineto_call *c = &t->k->calls[t->order[low - 1].call];
        if (c->func && c->end >= launch->start && can_run(kernel, c->func)) {
            give(t, row, t->order[low - 1].call);
            return;
        }
    }
    const struct scope *s = scope_at(t, launch->lane, launch->start);
    if (s && s->coalesced && s->end >= launch->start) {
        for (uint32_t i = s->first; i < s->last; i++)
            if (can_run(kernel, t->k->calls[t->order[i].call].func)) give(t, row, t->order[i].call);
        return;
    }
    uint32_t first = low;
    while (first > 0 && t->order[first - 1].lane == launch->lane) {
        const struct rs_kineto_call *c = &t->k->calls[t->order[first - 1].call];
        if (!c->func || c->batched || c->kernel != RS_KINETO_NONE || !can_run(kernel, c->func)) break;
        first--;
    }
    for (uint32_t i = first; i < low; i++) give(t, row, t->order[i].call);
}

static int by_launch(const void *a, const void *b, void *of)
{
    const struct rs_kineto *k = of;
    const uint32_t *x = a, *y = b;
    int64_t s = k->rows[*x].start, u = k->rows[*y].start;
    if (k->rows[*x].link != RS_KINETO_NONE) s = k->rows[k->rows[*x].link].start;
    if (k->rows[*y].link != RS_KINETO_NONE) u = k->rows[k->rows[*y].link].start;
    if (s != u) return s < u ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

static void index_calls(struct tie *t)
{
    struct rs_kineto *k = t->k;
    for (uint32_t i = 0; i < k->ncalls; i++) {
        const struct rs_kineto_call *c = &k->calls[i];
        if (c->row != RS_KINETO_NONE) t->own[c->row] = i;
        if (c->lane == RS_KINETO_NONE) continue;
        t->order[t->n++] = (struct on_thread){c->lane, i, c->start};
        if (c->func && c->external != RS_KINETO_NO_ID) rs_map_put(&t->ids, c->external, i);
    }
    qsort(t->order, t->n, sizeof *t->order, by_thread);
}

/* Kernels of other libraries that communicate have no calls. */
static bool is_nccl(const struct rs_kineto *k, uint32_t row)
{
    return k->rows[row].kind == RS_ACT_COMM && k->names[k->rows[row].name].is_nccl;
}

static void tie_all(struct tie *t)
{
    struct rs_kineto *k = t->k;
    uint32_t left = 0;
    index_calls(t);
    uint32_t *kernels = rs_alloc(((size_t)k->of_kind[RS_ACT_COMM] + 1) * sizeof *kernels);
    for (uint32_t i = 0; i < k->nrows; i++)
        if (is_nccl(k, i) && !tie_by_id(t, i)) kernels[left++] = i;
    find_batches(t);
    qsort_r(kernels, left, sizeof *kernels, by_launch, k);
    for (uint32_t i = 0; i < left; i++) {
        tie_by_place(t, kernels[i]);
        if (t->of_row[kernels[i]] == RS_KINETO_NONE && t->own[kernels[i]] != RS_KINETO_NONE)
            give(t, kernels[i], t->own[kernels[i]]);
    }
    free(kernels);
}

/* Keeps the operations, by time, and updates the rows of their calls. */
static void settle(struct tie *t)
{
    struct rs_kineto *k = t->k;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < k->ncalls;
         i++) { /* a call recorded at a kernel, without a kernel of its own, repeats a host call */
        struct rs_kineto_call *c = &k->calls[i];
        bool repeats = c->lane == RS_KINETO_NONE && c->kernel == RS_KINETO_NONE;
        if (!c->func || repeats) continue;
        c->row = i; /* from here on: which one it was */
        k->calls[kept++] = *c;
    }
    uint32_t *place = rs_alloc(((size_t)k->ncalls + 1) * sizeof *place);
    k->ncalls = kept;
    if (kept) qsort(k->calls, kept, sizeof *k->calls, by_time);
    for (uint32_t i = 0; i < kept; i++) {
        place[k->calls[i].row] = i;
        k->calls[i].row = RS_KINETO_NONE;
    }
    for (uint32_t i = 0; i < k->nrows; i++)
        if (t->of_row[i] != RS_KINETO_NONE) t->of_row[i] = place[t->of_row[i]];
    free(place);
}

void rs_kineto_calls_tie(struct rs_kineto *k, uint32_t **of_row)
{
    size_t rows = (size_t)k->nrows + 1;
    struct tie t = {.k = k, .of_row = rs_alloc(rows * sizeof *t.of_row), .own = rs_alloc(rows * sizeof *t.own)};
    t.order = rs_alloc(((size_t)k->ncalls + 1) * sizeof *t.order);
    for (uint32_t i = 0; i < k->nrows; i++) t.of_row[i] = t.own[i] = RS_KINETO_NONE;
    link_rows(k);
    tie_all(&t);
    settle(&t);
    rs_map_free(&t.ids);
    free(t.order);
    free(t.scopes);
    free(t.own);
    *of_row = t.of_row;
}
