/* ringscope comms: the communicators of a job: who is in them, from when to when, and which was split from which. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/print/output.h"
#include "cli/print/screen.h"
#include "cli/print/table.h"
#include "cli/print/time_zero.h"
#include "cli/reading.h"
#include "conclude/layout.h"
#include "join/overlay_facts.h"

enum { MOST_ROWS = 32 }; /* in the text; beyond that classes are shown */

/* A communicator in the order of the text: children under their parent. */
struct row {
    uint32_t comm, depth;
};

struct comms {
    struct rs_model *m;
    bool *shown; /* by communicator: the filter lets it through */
    struct rs_life *lives; /* by communicator */
    struct row *rows; /* all of them */
    uint32_t n; /* shown */
    struct rs_job_layout layout;
};

/* ---- collecting ---- */

static bool passes(const struct comms *c, const struct rs_filter *f, uint32_t comm)
{
    const struct rs_model *m = c->m;
    if (!rs_filter_comm(f, m, comm)) return false;
    if (f->has_to && c->lives[comm].created != RS_TIME_NONE && c->lives[comm].created >= f->to) return false;
    if (f->has_from && c->lives[comm].destroyed != RS_TIME_NONE && c->lives[comm].destroyed < f->from) return false;
    bool rank = !f->nranks;
    for (uint32_t i = m->comms[comm].first_member; i != RS_NONE && !rank; i = m->members[i].next)
        rank = rs_filter_rank(f, m, i);
    return rank;
}

/* Siblings by the number of their split and colour, others by time. */
static int by_family(const void *a, const void *b, void *context)
{
    const struct comms *c = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct rs_parent *p = &c->m->comms[x].parent, *q = &c->m->comms[y].parent;
    if (p->comm != q->comm) return p->comm < q->comm ? -1 : 1;
    if (p->comm != RS_NONE && p->count != q->count) return p->count < q->count ? -1 : 1;
    if (p->comm != RS_NONE && p->color != q->color) return p->color < q->color ? -1 : 1;
    int64_t a_time = c->lives[x].created, b_time = c->lives[y].created;
    if (a_time != b_time) return a_time < b_time ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* The tree as rows: roots in order, each followed by its children. */
static void lay_out(struct comms *c)
{
    const struct rs_model *m = c->m;
    uint32_t n = m->ncomms, *sorted = rs_alloc((n + 1) * sizeof *sorted), *first = rs_alloc((n + 1) * sizeof *first);
    struct row *stack = rs_alloc((n + 1) * sizeof *stack);
    for (uint32_t i = 0; i < n; i++) sorted[i] = i;
    for (uint32_t i = 0; i < n; i++) first[i] = RS_NONE;
    qsort_r(sorted, n, sizeof *sorted, by_family, c);
    for (uint32_t k = n; k-- > 0;) /* where the children of each begin */
        if (m->comms[sorted[k]].parent.comm < n) first[m->comms[sorted[k]].parent.comm] = k;
    uint32_t height = 0, out = 0;
    for (uint32_t k = n; k-- > 0;)
        if (m->comms[sorted[k]].parent.comm == RS_NONE) stack[height++] = (struct row){sorted[k], 0};
    while (height > 0) {
        struct row at = stack[--height];
        c->rows[out++] = at;
        uint32_t k = first[at.comm], end = k;
        while (end < n && m->comms[sorted[end]].parent.comm == at.comm) end++;
        while (k != RS_NONE && end-- > k) stack[height++] = (struct row){sorted[end], at.depth + 1};
    }
    /* Damaged hashes may go round in a circle, below no root: shown without a tree. */
    for (uint32_t i = 0; i < n; i++) first[i] = RS_NONE;
    for (uint32_t i = 0; i < out; i++) first[c->rows[i].comm] = i;
    for (uint32_t i = 0; i < n; i++)
        if (first[i] == RS_NONE) c->rows[out++] = (struct row){i, 0};
    free(sorted);
    free(first);
    free(stack);
}

static enum rs_status collect(struct comms *c, struct rs_model *m, const struct rs_filter *f, struct rs_err *err)
{
    size_t n = (size_t)m->ncomms + 1;
    *c = (struct comms){.m = m,
                        .shown = rs_zalloc(n, sizeof *c->shown),
                        .lives = rs_zalloc(n, sizeof *c->lives),
                        .rows = rs_zalloc(n, sizeof *c->rows)};
    for (uint32_t i = 0; i < m->ncomms; i++) {
        c->lives[i] = rs_comms_life(m, i);
        c->shown[i] = m->comms[i].over == RS_NONE && passes(c, f, i);
        c->n += c->shown[i];
    }
    lay_out(c);
    return rs_job_layout_of(&c->layout, m, err);
}

static void release(struct comms *c)
{
    rs_job_layout_free(&c->layout);
    free(c->shown);
    free(c->lives);
    free(c->rows);
}

static enum rs_status print_json(const struct comms *c, struct rs_err *err)
{
    struct rs_json *j = rs_output_json();
    for (uint32_t i = 0; i < c->m->ncomms && !rs_json_failed(j); i++)
        if (c->shown[c->rows[i].comm]) rs_comms_json(j, c->m, &c->layout, c->rows[i].comm, &c->lives[c->rows[i].comm]);
    return rs_json_finish(j, err);
}

/* ---- text ---- */

/* Ranks of the job: "0-7", "0,8..56", "3,1,4"; where those are not known "?". */
static void ranks_cell(struct rs_table *t, const struct rs_model *m, const struct rs_comm_row *row)
{
    char text[48] = "?";
    size_t at = 0;
    int32_t stride = row->class < m->nclasses ? m->classes[row->class].stride : 0;
    if (stride && row->nmembers > 1) {
        uint32_t i = row->first_member, last = i;
        while (m->members[last].next != RS_NONE) last = m->members[last].next;
        int32_t a = m->members[i].global_rank, b = m->members[last].global_rank;
        if (stride == 1)
            snprintf(text, sizeof text, "%d-%d", a, b);
        else
            snprintf(text, sizeof text, row->nmembers > 2 ? "%d,%d..%d" : "%d,%d", a,
                     row->nmembers > 2 ? a + stride : b, b);
    } else {
        for (uint32_t i = row->first_member; i != RS_NONE && at < 32; i = m->members[i].next) {
            if (m->members[i].global_rank < 0) continue;
            const char *more = at >= 24 && m->members[i].next != RS_NONE ? ",..." : "";
            at +=
                (size_t)snprintf(text + at, sizeof text - at, "%s%d%s", at ? "," : "", m->members[i].global_rank, more);
            if (*more) break;
        }
    }
    rs_table_cell(t, "%s", text);
}

static void origin_cell(struct rs_table *t, const struct rs_parent *p)
{
    if (p->comm == RS_NONE)
        rs_table_cell(t, "-");
    else if (!p->count)
        rs_table_cell(t, "shrunk");
    else if (p->count < 0)
        rs_table_cell(t, "split, colour %d", p->color);
    else
        rs_table_cell(t, "split %d, colour %d%s", p->count, p->color, p->from_ranks ? " (of its ranks)" : "");
}

static void comm_row(struct rs_table *t, const struct comms *c, const struct row *r)
{
    const struct rs_model *m = c->m;
    const struct rs_comm_row *row = &m->comms[r->comm];
    unsigned indent = r->depth < 8 ? 2 * r->depth : 16;
    if (row->hash)
        rs_table_cell(t, "%*s0x%016" PRIx64, (int)indent, "", row->hash);
    else
        rs_table_cell(t, "(hash unknown)");
    const char *name = rs_comm_name(m, r->comm);
    rs_table_cell(t, "%s", name ? name : "-");
    if (row->nranks < 0)
        rs_table_cell(t, "?");
    else if (row->nmembers < (uint32_t)row->nranks)
        rs_table_cell(t, "%d, %" PRIu32 " recorded", row->nranks, row->nmembers);
    else
        rs_table_cell(t, "%d", row->nranks);
    ranks_cell(t, m, row);
    rs_table_cell(t, row->nnodes < 0 ? "?" : "%d", row->nnodes);
    origin_cell(t, &row->parent);
    const struct rs_life *life = &c->lives[r->comm];
    bool born = life->created != RS_TIME_NONE, gone = life->destroyed != RS_TIME_NONE;
    rs_table_cell(t, "%s", rs_zero_moment(m, life->created).s);
    if (born)
        rs_table_cell(t, "%s",
                      gone ? rs_text_ns(rs_time_minus(life->destroyed, life->created)).s
                      : rs_tool_has(row->tool, RS_CAP_COMM_END) ? "to the end"
                                                                : "?"); /* other tools do not record ends */
    else
        rs_table_cell(t, gone ? "until %s" : "?", rs_zero_moment(m, life->destroyed).s);
}

/* Times that were not recorded, and what is shown instead. */
static void print_sources(const struct comms *c)
{
    bool init = false, sleep = false;
    for (uint32_t i = 0; i < c->m->ncomms; i++) {
        const struct rs_life *life = &c->lives[i];
        if (!c->shown[i]) continue;
        init |= life->created != RS_TIME_NONE && life->created_from == RS_LIFE_FIRST_INIT;
        sleep |= life->destroyed != RS_TIME_NONE && life->destroyed_from == RS_LIFE_LAST_SLEEP;
    }
    if (init) rs_screen_print("created: the first init of the process; these dumps contain no other\n");
    if (sleep) rs_screen_print("lifetime: until the end of the last proxy sleep, where destruction begins\n");
}

static void print_tree(const struct comms *c)
{
    struct rs_table t = {0};
    rs_table_column(&t, RS_LEFT, RS_H_COMMUNICATOR);
    rs_table_column(&t, RS_LEFT, RS_H_NAME);
    rs_table_column(&t, RS_RIGHT, RS_H_RANKS);
    rs_table_column(&t, RS_LEFT, RS_H_JOB_RANKS);
    rs_table_column(&t, RS_RIGHT, RS_H_NODES);
    rs_table_column(&t, RS_LEFT, RS_H_FROM);
    rs_table_column(&t, RS_RIGHT, RS_H_CREATED);
    rs_table_column(&t, RS_RIGHT, RS_H_LIFETIME);
    for (uint32_t i = 0; i < c->m->ncomms; i++)
        if (c->shown[c->rows[i].comm]) comm_row(&t, c, &c->rows[i]);
    rs_table_print(&t, "", stdout);
    rs_table_free(&t);
    rs_screen_print("\n");
    rs_zero_print(c->m);
    print_sources(c);
}

static void print_classes(const struct comms *c)
{
    const struct rs_model *m = c->m;
    uint32_t *counts = rs_zalloc((size_t)m->nclasses + 1, sizeof *counts),
             *children = rs_zalloc((size_t)m->nclasses + 1, sizeof *children);
    for (uint32_t i = 0; i < m->ncomms; i++) {
        if (!c->shown[i] || m->comms[i].class >= m->nclasses) continue;
        counts[m->comms[i].class]++;
        children[m->comms[i].class] += m->comms[i].parent.comm != RS_NONE;
    }
    struct rs_table t = {0};
    rs_table_column(&t, RS_RIGHT, RS_H_COMMUNICATORS);
    rs_table_column(&t, RS_RIGHT, RS_H_SPLIT_FROM_OTHERS);
    rs_table_column(&t, RS_LEFT, RS_H_EACH);
    for (uint32_t k = 0; k < m->nclasses; k++) {
        if (!counts[k]) continue;
        rs_table_cell(&t, "%s", rs_text_count(counts[k]).s);
        rs_table_cell(&t, "%s", rs_text_count(children[k]).s);
        rs_table_cell(&t, "%s", m->classes[k].text);
    }
    rs_table_print(&t, "", stdout);
    rs_table_free(&t);
    free(counts);
    free(children);
    rs_screen_print("\n--comm HASH or --rank N shows single ones, --json all of them.\n");
}

static void print_text(const struct comms *c)
{
    rs_screen_print("%s communicator%s", rs_text_count(c->n).s, c->n == 1 ? "" : "s");
    if (c->m->world > 0) rs_screen_print(", a job of %d rank%s", c->m->world, c->m->world == 1 ? "" : "s");
    if (c->m->nranks && (int64_t)c->m->nranks < c->m->world) rs_screen_print(", %u of them recorded", c->m->nranks);
    rs_screen_print("\n");
    if (c->layout.text) rs_screen_print("layout: %s\n", c->layout.text);
    rs_screen_print("\n");
    if (!c->n) return;
    if (c->n > MOST_ROWS)
        print_classes(c);
    else
        print_tree(c);
}

static enum rs_status show(const struct rs_command *self, struct rs_model *m, struct rs_inputs *in, void *options,
                           int *status, struct rs_err *err)
{
    (void)self, (void)in, (void)status;
    const struct rs_common *o = options;
    struct comms c;
    enum rs_status done = collect(&c, m, &o->filters.filter, err);
    if (done == RS_OK && o->json)
        done = print_json(&c, err);
    else if (done == RS_OK)
        print_text(&c);
    release(&c);
    return done;
}

static int run(const struct rs_command *self, int argc, char **argv)
{
    return rs_reading_command(self, argc, argv, show);
}

const struct rs_command rs_cmd_comms = {
    .name = "comms",
    .summary = "the communicators: their members, their times, and which was split from which",
    .usage = "[options] IN...",
    .text = "Lists the communicators of a run as a tree: NCCL does not report from which communicator another was\n"
            "split, but its hash does. If there are many, those of the same shape are one line.",
    .examples = "ringscope comms rec                    # the tree\n"
                "ringscope comms --rank 5 rec           # those that rank 5 of the job is in\n"
                "ringscope comms --json rec | jq .parent",
    .json = "JSON Lines: one per communicator",
    .takes = "filter -func run same-host",
    .run = run,
};
