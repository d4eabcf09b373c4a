#include "analyse/statistics.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/words.h"
#include "base/memory.h"

/* ---- rows with one cell per process ---- */

static enum rs_table_of table_of(uint8_t kind)
{
    switch (kind) {
    case RS_STAT_COMM:
    case RS_STAT_OPERATION: return RS_TABLE_OPERATIONS;
    case RS_STAT_CALL: return RS_TABLE_CALLS;
    case RS_STAT_RANGE: return RS_TABLE_RANGES;
    case RS_STAT_KERNEL:
    case RS_STAT_COPY: return RS_TABLE_KERNELS;
    default: return RS_TABLES; /* work inside a range: part of the range */
    }
}

static uint32_t comm_of(const struct rs_model *m, const struct rs_stat *x)
{
    return x->kind == RS_STAT_OPERATION && x->member != RS_NONE ? m->members[x->member].comm : RS_NONE;
}

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Equal in everything but the process. Ranges are rows of one process and thread. */
static int by_thing(const struct rs_model *m, const struct rs_stat *x, const struct rs_stat *y)
{
    int c = compare(table_of(x->kind), table_of(y->kind));
    if (!c) c = compare(m->procs[x->proc].tool, m->procs[y->proc].tool);
    if (!c) c = compare(x->kind, y->kind);
    if (!c) c = compare(x->func, y->func);
    if (!c) c = compare(x->name, y->name);
    if (!c) c = compare(x->within, y->within);
    if (!c) c = compare(x->thread, y->thread);
    if (!c) c = compare(comm_of(m, x), comm_of(m, y));
    if (!c && x->kind == RS_STAT_RANGE) c = compare(x->proc, y->proc);
    return c;
}

static int by_row(const void *a, const void *b, void *of)
{
    const struct rs_model *m = of;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    int c = by_thing(m, &m->stats[i], &m->stats[j]);
    if (!c) c = compare(m->stats[i].proc, m->stats[j].proc);
    return c ? c : compare(i, j);
}

/* Sums saturate: files may be damaged. */
static int64_t plus(int64_t a, int64_t b)
{
    if (a == RS_TIME_NONE || b == RS_TIME_NONE) return RS_TIME_NONE;
    return b > 0 && a > INT64_MAX - b ? INT64_MAX : a + b;
}

static int64_t known(int64_t ns)
{
    return ns > 0 ? ns : 0;
}

static void add_to_cell(struct rs_cell *c, const struct rs_stat *x)
{
    c->calls += x->calls;
    c->bytes += x->bytes;
    c->total_ns = plus(c->total_ns, x->total_ns);
    if (x->min_ns == RS_TIME_NONE || (c->min_ns != RS_TIME_NONE && x->min_ns < c->min_ns)) c->min_ns = x->min_ns;
    if (x->max_ns == RS_TIME_NONE || (c->max_ns != RS_TIME_NONE && x->max_ns > c->max_ns)) c->max_ns = x->max_ns;
    if (c->member != x->member) c->member = RS_NONE;
}

static void add_cell(struct rs_statistics *s, struct rs_stat_row *row, const struct rs_stat *x)
{
    if (row->n && s->cells[row->first + row->n - 1].proc == x->proc) {
        add_to_cell(&s->cells[row->first + row->n - 1], x);
        return;
    }
    s->cells[s->ncells++] = (struct rs_cell){.proc = x->proc,
                                             .member = x->member,
                                             .calls = x->calls,
                                             .bytes = x->bytes,
                                             .total_ns = x->total_ns,
                                             .min_ns = x->min_ns,
                                             .max_ns = x->max_ns,
                                             .wait_ns = RS_TIME_NONE,
                                             .gpu_ns = 0};
    row->n++;
}

static void gather(struct rs_statistics *s, const uint32_t *order, uint32_t n)
{
    const struct rs_model *m = s->model;
    for (uint32_t i = 0, next; i < n; i = next) {
        const struct rs_stat *x = &m->stats[order[i]];
        enum rs_table_of table = table_of(x->kind);
        for (next = i + 1; next < n && !by_thing(m, x, &m->stats[order[next]]);) next++;
        if (table == RS_TABLES) continue;
        if (!s->rows[table]) s->rows[table] = rs_zalloc(n, sizeof **s->rows);
        struct rs_stat_row *row = &s->rows[table][s->nrows[table]++];
        *row = (struct rs_stat_row){.kind = x->kind,
                                    .tool = m->procs[x->proc].tool,
                                    .func = x->func,
                                    .name = x->name,
                                    .within = x->within,
                                    .thread = x->thread,
                                    .comm = comm_of(m, x),
                                    .first = s->ncells,
                                    .wait_ns = RS_TIME_NONE,
                                    .spread_ns = RS_TIME_NONE,
                                    .most = RS_NONE,
                                    .least = RS_NONE};
        for (uint32_t k = i; k < next; k++) add_cell(s, row, &m->stats[order[k]]);
        for (uint32_t k = 0; k < row->n; k++)
            row->total_ns = plus(row->total_ns, known(s->cells[row->first + k].total_ns));
    }
}

/* ---- waits ---- */

/* In a broadcast, a gather or point to point not all ranks wait for all; but an early rank waits there too. */
static bool waits_for_others(const struct rs_model *m, uint16_t func)
{
    const char *text = rs_model_text(m, func);
    return *text && strcmp(text, "SendRecv") && strcmp(text, "Send") && strcmp(text, "Recv");
}

static void find_waits(struct rs_statistics *s, struct rs_stat_row *row)
{
    struct rs_cell *c = s->cells + row->first;
    if (row->kind != RS_STAT_COMM || row->n < 2 || !waits_for_others(s->model, row->func)) return;
    int64_t fastest = INT64_MAX;
    for (uint32_t i = 0; i < row->n; i++) {
        if (c[i].total_ns == RS_TIME_NONE || c[i].calls != c[0].calls || !c[i].calls) return;
        if (c[i].total_ns < fastest) fastest = c[i].total_ns;
    }
    row->wait_ns = 0;
    for (uint32_t i = 0; i < row->n; i++) {
        c[i].wait_ns = c[i].total_ns - fastest;
        row->wait_ns = plus(row->wait_ns, c[i].wait_ns);
    }
}

static void find_processes(struct rs_statistics *s)
{
    for (uint32_t i = 0; i < s->model->nprocs; i++) s->procs[i].wait_ns = RS_TIME_NONE;
    for (uint32_t i = 0; i < s->model->nstats; i++) {
        const struct rs_stat *x = &s->model->stats[i];
        struct rs_stat_process *p = &s->procs[x->proc];
        p->has_rows = true;
        if (x->kind != RS_STAT_KERNEL && x->kind != RS_STAT_COMM && x->kind != RS_STAT_COPY) continue;
        p->has_kernels |= x->kind != RS_STAT_COPY;
        p->gpu_ns = plus(p->gpu_ns, known(x->total_ns));
        if (x->kind == RS_STAT_COMM) p->comm_ns = plus(p->comm_ns, known(x->total_ns));
    }
    for (uint32_t i = 0; i < s->nrows[RS_TABLE_OPERATIONS]; i++) {
        const struct rs_stat_row *row = &s->rows[RS_TABLE_OPERATIONS][i];
        for (uint32_t k = 0; k < row->n; k++) {
            const struct rs_cell *c = &s->cells[row->first + k];
            if (c->wait_ns == RS_TIME_NONE) continue;
            struct rs_stat_process *p = &s->procs[c->proc];
            p->wait_ns = plus(p->wait_ns == RS_TIME_NONE ? 0 : p->wait_ns, c->wait_ns);
        }
    }
}

/* Only processes that ran kernels are compared: a launcher differs from its workers in everything. */
static void find_spread(struct rs_statistics *s, struct rs_stat_row *row, uint32_t working)
{
    uint32_t seen = 0;
    int64_t most = -1, least = INT64_MAX;
    for (uint32_t i = row->first; i < row->first + row->n; i++) {
        const struct rs_cell *c = &s->cells[i];
        if (!s->procs[c->proc].has_kernels || c->total_ns == RS_TIME_NONE) continue;
        seen++;
        if (c->total_ns > most) row->most = i;
        if (c->total_ns > most) most = c->total_ns;
        if (c->total_ns < least) row->least = i;
        if (c->total_ns < least) least = c->total_ns;
    }
    if (!seen || working < 2) return;
    if (seen < working) {
        least = 0;
        row->least = RS_NONE;
    }
    row->spread_ns = most - least;
}

/* Work inside ranges belongs to the range of its process, thread and name. */
static void find_range_work(struct rs_statistics *s)
{
    struct rs_map index = {0};
    const struct rs_model *m = s->model;
    /* 21 bits each: if they do not fit, or collide, the first one has it all, as in a truncated log. */
#define RANGE_KEY(proc, thread, name) ((uint64_t)(proc) << 42 ^ (uint64_t)(thread) << 21 ^ (name))
    for (uint32_t i = 0; i < s->nrows[RS_TABLE_RANGES]; i++) {
        const struct rs_stat_row *row = &s->rows[RS_TABLE_RANGES][i];
        uint64_t *at;
        rs_map_at(&index, RANGE_KEY(s->cells[row->first].proc, row->thread, row->name), row->first, &at);
    }
    for (uint32_t i = 0; i < m->nstats; i++) {
        const struct rs_stat *x = &m->stats[i];
        const uint64_t *at =
            x->kind == RS_STAT_RANGE_WORK ? rs_map_find(&index, RANGE_KEY(x->proc, x->thread, x->within)) : NULL;
        if (!at) continue;
        s->cells[*at].gpu_ns = plus(s->cells[*at].gpu_ns, known(x->total_ns));
        s->cells[*at].gpu_calls += x->calls;
    }
#undef RANGE_KEY
    rs_map_free(&index);
}

/* ---- order of rows ---- */

static int by_weight(const void *a, const void *b)
{
    const struct rs_stat_row *x = a, *y = b;
    if (known(x->wait_ns) != known(y->wait_ns)) return known(x->wait_ns) > known(y->wait_ns) ? -1 : 1;
    if (x->total_ns != y->total_ns) return x->total_ns > y->total_ns ? -1 : 1;
    return compare(x->first, y->first);
}

static int by_spread(const void *a, const void *b)
{
    const struct rs_stat_row *x = a, *y = b;
    if (x->spread_ns != y->spread_ns) return x->spread_ns > y->spread_ns ? -1 : 1;
    return by_weight(a, b);
}

static void make(struct rs_statistics *s, uint32_t *order)
{
    const struct rs_model *m = s->model;
    for (uint32_t i = 0; i < m->nstats; i++) order[i] = i;
    qsort_r(order, m->nstats, sizeof *order, by_row, (void *)m);
    gather(s, order, m->nstats);
    for (uint32_t i = 0; i < s->nrows[RS_TABLE_OPERATIONS]; i++) find_waits(s, &s->rows[RS_TABLE_OPERATIONS][i]);
    find_processes(s);
    uint32_t working = 0;
    for (uint32_t i = 0; i < m->nprocs; i++) working += s->procs[i].has_kernels;
    for (uint32_t i = 0; i < s->nrows[RS_TABLE_CALLS]; i++) find_spread(s, &s->rows[RS_TABLE_CALLS][i], working);
    find_range_work(s);
    for (int t = 0; t < RS_TABLES; t++)
        if (s->nrows[t]) qsort(s->rows[t], s->nrows[t], sizeof **s->rows, t == RS_TABLE_CALLS ? by_spread : by_weight);
}

void rs_statistics_init(struct rs_statistics *s, const struct rs_model *m)
{
    *s = (struct rs_statistics){.model = m};
    s->procs = rs_zalloc((size_t)m->nprocs + 1, sizeof *s->procs);
    if (!m->nstats) return;
    uint32_t *order = rs_alloc(m->nstats * sizeof *order);
    s->cells = rs_zalloc(m->nstats, sizeof *s->cells);
    make(s, order);
    free(order);
}

void rs_statistics_free(struct rs_statistics *s)
{
    for (int t = 0; t < RS_TABLES; t++) free(s->rows[t]);
    free(s->cells);
    free(s->procs);
    *s = (struct rs_statistics){0};
}

double rs_statistics_share(const struct rs_statistics *s, uint32_t proc, int64_t ns)
{
    const struct rs_stat_process *p = &s->procs[proc];
    return p->gpu_ns > 0 && ns != RS_TIME_NONE ? (double)ns / (double)p->gpu_ns : NAN;
}

/* ---- sentences ---- */

static void say_process(const struct rs_statistics *s, uint32_t proc, struct rs_strbuf *text)
{
    const struct rs_proc *p = &s->model->procs[proc];
    const char *host = s->model->hosts[p->host].name;
    if (p->pid)
        rs_strbuf_printf(text, "process %" PRIu32, p->pid);
    else
        rs_strbuf_printf(text, "a process of %s", p->path ? p->path : "?");
    if (*host) rs_strbuf_printf(text, " (%s)", host);
}

/* With nvprof's digits, so that they can be found in its table. */
static void say_ns(struct rs_strbuf *text, int64_t ns, int digits)
{
    double x = (double)ns;
    const char *unit = x < 1e6 ? "us" : x < 1e9 ? "ms" : "s";
    rs_strbuf_printf(text, "%.*g %s", digits, x / (x < 1e6 ? 1e3 : x < 1e9 ? 1e6 : 1e9), unit);
}

/* Waits below a tenth of the time in its kernels are not mentioned. */
static bool say_wait(const struct rs_statistics *s, const struct rs_stat_row *row, struct rs_strbuf *text)
{
    uint32_t worst = row->first, fastest = row->first;
    if (row->wait_ns == RS_TIME_NONE) return false;
    for (uint32_t i = row->first; i < row->first + row->n; i++) {
        if (s->cells[i].wait_ns > s->cells[worst].wait_ns) worst = i;
        if (s->cells[i].total_ns < s->cells[fastest].total_ns) fastest = i;
    }
    const struct rs_cell *w = &s->cells[worst], *f = &s->cells[fastest];
    if (w->wait_ns < w->total_ns / 10) return false;
    say_process(s, w->proc, text);
    rs_strbuf_puts(text, " waited about ");
    say_ns(text, w->wait_ns, 4);
    rs_strbuf_puts(text, " of its ");
    say_ns(text, w->total_ns, 4);
    rs_strbuf_printf(text, " in %s kernels (%" PRIu64 " calls of ", rs_model_text(s->model, row->func), w->calls);
    say_ns(text, (int64_t)((uint64_t)w->total_ns / w->calls), 5);
    rs_strbuf_puts(text, " on average, against ");
    say_ns(text, (int64_t)((uint64_t)f->total_ns / f->calls), 5);
    rs_strbuf_puts(text, " in ");
    say_process(s, f->proc, text);
    rs_strbuf_puts(text, "): it arrived earlier, and the fastest arrived last.");
    return true;
}

/* How much of the GPU time is NCCL's, in the process where it is most, and where it is least. */
static bool say_share(const struct rs_statistics *s, struct rs_strbuf *text)
{
    uint32_t most = RS_NONE, least = RS_NONE;
    double high = 0, low = 1;
    for (uint32_t i = 0; i < s->model->nprocs; i++) {
        double share = rs_statistics_share(s, i, s->procs[i].comm_ns);
        if (isnan(share) || !s->procs[i].has_kernels) continue;
        if (most == RS_NONE || share > high) most = i, high = share;
        if (least == RS_NONE || share < low) least = i, low = share;
    }
    if (most == RS_NONE || !s->procs[most].comm_ns) return false;
    rs_strbuf_printf(text, "NCCL kernels take %.1f %% of the GPU time of ", 100 * high);
    say_process(s, most, text);
    if (least != most) {
        rs_strbuf_printf(text, ", and %.1f %% of that of ", 100 * low);
        say_process(s, least, text);
    }
    rs_strbuf_putc(text, '.');
    return true;
}

/* One host call that takes most of the time of all calls of its function: the mean means nothing. */
static bool say_longest(const struct rs_statistics *s, struct rs_strbuf *text)
{
    const struct rs_stat_row *row = NULL;
    const struct rs_cell *longest = NULL;
    for (uint32_t i = 0; i < s->nrows[RS_TABLE_CALLS]; i++) {
        const struct rs_stat_row *x = &s->rows[RS_TABLE_CALLS][i];
        for (uint32_t k = x->first; k < x->first + x->n; k++) {
            const struct rs_cell *c = &s->cells[k];
            if (c->max_ns == RS_TIME_NONE || c->calls < 2 || c->max_ns < c->total_ns / 2) continue;
            if (longest && c->max_ns <= longest->max_ns) continue;
            longest = c;
            row = x;
        }
    }
    if (!longest || longest->max_ns < INT64_C(1000000000)) return false;
    rs_strbuf_printf(text, "one call of %s takes ", rs_model_name_text(s->model, row->name));
    say_ns(text, longest->max_ns, 3);
    rs_strbuf_puts(text, " in ");
    say_process(s, longest->proc, text);
    for (uint32_t k = row->first, said = 0; k < row->first + row->n && !said; k++) { /* and in the next */
        const struct rs_cell *c = &s->cells[k];
        if (c == longest || c->max_ns == RS_TIME_NONE || c->max_ns < longest->max_ns / 2) continue;
        rs_strbuf_puts(text, " and ");
        say_ns(text, c->max_ns, 3);
        rs_strbuf_puts(text, " in ");
        say_process(s, c->proc, text);
        said++;
    }
    rs_strbuf_puts(text, ", most of the time of all its calls: start-up, or a wait. The mean does not show it.");
    return true;
}

static bool say_call(const struct rs_statistics *s, const struct rs_stat_row *row, struct rs_strbuf *text)
{
    if (row->spread_ns == RS_TIME_NONE || row->most == RS_NONE) return false;
    const struct rs_cell *c = &s->cells[row->most];
    if (row->spread_ns < 1000000 || row->spread_ns < c->total_ns / 10) return false;
    rs_strbuf_printf(
        text, "the host call that differs most between processes is %s: ", rs_model_name_text(s->model, row->name));
    rs_words_ns(text, c->total_ns);
    rs_strbuf_puts(text, " in ");
    say_process(s, c->proc, text);
    rs_strbuf_puts(text, ", ");
    rs_words_ns(text, c->total_ns - row->spread_ns);
    if (row->least != RS_NONE) {
        rs_strbuf_puts(text, " in ");
        say_process(s, s->cells[row->least].proc, text);
    } else {
        rs_strbuf_puts(text, " in another");
    }
    rs_strbuf_putc(text, '.');
    return true;
}

bool rs_statistics_say(const struct rs_statistics *s, unsigned *next, struct rs_strbuf *text)
{
    enum { MOST_WAITS = 2, SHARE = MOST_WAITS, LONGEST, CALL, AXIS };
    while (s->cells && *next < SHARE) {
        unsigned i = (*next)++;
        if (i < s->nrows[RS_TABLE_OPERATIONS] && say_wait(s, &s->rows[RS_TABLE_OPERATIONS][i], text)) return true;
    }
    if (s->cells && *next == SHARE) {
        ++*next;
        if (say_share(s, text)) return true;
    }
    if (s->cells && *next == LONGEST) {
        ++*next;
        if (say_longest(s, text)) return true;
    }
    if (s->cells && *next == CALL) {
        ++*next;
        if (s->nrows[RS_TABLE_CALLS] && say_call(s, &s->rows[RS_TABLE_CALLS][0], text)) return true;
    }
    if (!s->cells || *next > AXIS) return false;
    ++*next;
    rs_strbuf_puts(text,
                   "these summaries have no time axis: they show how much, not when; single operations, last ranks and "
                   "clocks are unknown.");
    return true;
}
