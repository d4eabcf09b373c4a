#include "timeline/index.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "join/op_facts.h"
#include "join/waits.h"

/* `of[i]`: the primary process of row i; RS_NONE: none. */
static void sort_by_proc(struct rs_by_proc *b, const uint32_t *of, uint32_t n, uint32_t nprocs)
{
    b->from = rs_zalloc((size_t)nprocs + 2, sizeof *b->from);
    bool sorted = true;
    for (uint32_t i = 0; i < n; i++) {
        if (of[i] < nprocs) b->from[of[i] + 2]++;
        sorted &= of[i] < nprocs && (!i || of[i] >= of[i - 1]);
    }
    if (!sorted) b->rows = rs_alloc(((size_t)n + 1) * sizeof *b->rows);
    for (uint32_t p = 0; p < nprocs; p++) b->from[p + 2] += b->from[p + 1];
    for (uint32_t i = 0; i < n; i++)
        if (of[i] < nprocs) {
            uint32_t at = b->from[of[i] + 1]++;
            if (b->rows) b->rows[at] = i;
        }
}

static uint32_t *filled(size_t n, uint32_t with)
{
    uint32_t *list = rs_alloc((n + 1) * sizeof *list);
    for (size_t i = 0; i < n; i++) list[i] = with;
    return list;
}

/* Parts and activities, each with its primary process. */
static void sort_rows(struct rs_timeline *t)
{
    const struct rs_model *m = t->model;
    struct rs_timeline_index *x = t->index;
    uint32_t most = m->parts.n > m->activities.n ? m->parts.n : m->activities.n;
    uint32_t *of = filled(most, RS_NONE);
    for (uint32_t i = 0; i < m->parts.n; i++) {
        uint32_t op = m->parts.op[i];
        bool drawn = op < m->ops.n && t->op_number[op] != RS_NONE;
        of[i] = drawn ? x->lead[m->members[m->parts.member[i]].proc] : RS_NONE;
        if (op < m->ops.n && m->parts.start_source[i] == RS_FROM_KERNEL) x->by_kernel[op] = 1;
    }
    sort_by_proc(&x->parts, of, m->parts.n, m->nprocs);
    for (uint32_t i = 0; i < m->activities.n; i++) of[i] = x->lead[m->lanes[m->activities.lane[i]].proc];
    sort_by_proc(&x->activities, of, m->activities.n, m->nprocs);
    free(of);
}

/* Used only for operations that some rank was in when its recording ended. */
static void find_awaiting(struct rs_timeline *t)
{
    const struct rs_model *m = t->model;
    struct rs_presence_index presence;
    bool made = false;
    for (uint32_t i = 0; i < m->parts.n; i++) {
        uint32_t op = m->parts.op[i];
        int32_t at = 0;
        if (op >= m->ops.n || !rs_op_has_absent_ranks(m, op) || rs_part_ending(m, i) != RS_ENDING_OPEN) continue;
        if (!made) rs_presence_init(&presence, m);
        made = true;
        t->index->awaits[op] = rs_op_next_absent(m, op, &presence, true, &at) >= 0;
    }
    if (made) rs_presence_free(&presence);
}

void rs_index_init(struct rs_timeline *t)
{
    const struct rs_model *m = t->model;
    struct rs_timeline_index *x = t->index;
    x->string_text = filled(m->strings.n, RS_NONE);
    x->name_text = filled(m->names.n, RS_NONE);
    x->func_kind = rs_alloc((size_t)m->strings.n + 1);
    x->by_kernel = rs_zalloc((size_t)m->ops.n + 1, 1);
    x->awaits = rs_zalloc((size_t)m->ops.n + 1, 1);
    x->joined = rs_zalloc((size_t)m->nprocs + 1, sizeof *x->joined);
    if (!x->string_text) rs_memory_out();
    for (uint32_t i = 0; i < m->nprocs; i++)
        if (x->lead[i] != i && x->lead[i] < m->nprocs) x->joined[x->lead[i]] = true;
    memset(x->func_kind, RS_BAR_OTHER, (size_t)m->strings.n + 1);
    for (uint32_t i = 1; i < m->strings.n && i < UINT16_MAX; i++)
        x->func_kind[i] = rs_kind_of_func(&t->kinds, m, (uint16_t)i);
    find_awaiting(t);
    sort_rows(t);
}

void rs_index_free(struct rs_timeline_index *x)
{
    if (!x) return;
    free(x->lead);
    free(x->joined);
    free(x->proc_group);
    free(x->only_rank);
    rs_map_free(&x->devices);
    free(x->parts.rows);
    free(x->parts.from);
    free(x->activities.rows);
    free(x->activities.from);
    free(x->string_text);
    free(x->name_text);
    free(x->member_text);
    free(x->func_kind);
    free(x->awaits);
    free(x->by_kernel);
    free(x);
}

void rs_index_string(struct rs_timeline *t, uint16_t string, uint32_t *text)
{
    *text = 0;
    if (!string || string >= t->model->strings.n) return;
    uint32_t *known = &t->index->string_text[string];
    const char *s = rs_model_text(t->model, string);
    if (*known == RS_NONE) rs_texts_id(&t->texts, s, strlen(s), known);
    *text = *known;
}

void rs_index_name(struct rs_timeline *t, uint32_t name, uint32_t *text)
{
    *text = 0;
    if (!name || name >= t->model->names.n) return;
    uint32_t *known = &t->index->name_text[name];
    const char *s = rs_model_name_text(t->model, name);
    if (*known == RS_NONE) rs_texts_id(&t->texts, s, strlen(s), known);
    *text = *known;
}

void rs_timeline_text(struct rs_timeline *t, uint32_t *text, const char *fmt, ...)
{
    char line[512];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    size_t length = n < 0 ? 0 : (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
    rs_texts_id(&t->texts, line, length, text);
}
