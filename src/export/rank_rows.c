#include "export/rank_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* How many ranks each process group holds, and the last of them. */
static void count_ranks(const struct rs_timeline *t, uint32_t *ranks, uint32_t *last)
{
    for (uint32_t g = 0; g < t->ngroups; g++) {
        ranks[g] = 0;
        last[g] = RS_NONE;
        uint32_t parent = t->groups[g].parent;
        if (t->groups[g].level != RS_GROUP_RANK || parent == RS_NONE) continue;
        ranks[parent]++;
        last[parent] = g;
    }
}

static void place(struct rs_rank_rows *r, const struct rs_timeline *t, const uint32_t *ranks)
{
    for (uint32_t g = 0; g < t->ngroups; g++) {
        const struct rs_group *group = &t->groups[g];
        bool own = group->level == RS_GROUP_RANK || (group->level == RS_GROUP_PROCESS && ranks[g] != 1);
        r->of_group[g] = RS_NONE;
        if (own) {
            r->of_group[g] = r->n;
            r->groups[r->n++] = g;
        } else if (group->level == RS_GROUP_COMM && group->parent != RS_NONE) {
            r->of_group[g] = r->of_group[group->parent];
        }
    }
}

void rs_rank_rows_init(struct rs_rank_rows *r, const struct rs_timeline *t)
{
    size_t n = (size_t)t->ngroups + 1;
    *r =
        (struct rs_rank_rows){.groups = rs_alloc(n * sizeof *r->groups), .of_group = rs_alloc(n * sizeof *r->of_group)};
    uint32_t *ranks = rs_alloc(n * sizeof *ranks), *last = rs_alloc(n * sizeof *last);
    count_ranks(t, ranks, last);
    place(r, t, ranks);
    for (uint32_t g = 0; g < t->ngroups; g++)
        if (t->groups[g].level == RS_GROUP_PROCESS && ranks[g] == 1) r->of_group[g] = r->of_group[last[g]];
    free(ranks);
    free(last);
}

void rs_rank_rows_free(struct rs_rank_rows *r)
{
    free(r->groups);
    free(r->of_group);
    *r = (struct rs_rank_rows){0};
}

const char *rs_rank_row_name(const struct rs_rank_rows *r, const struct rs_timeline *t, uint32_t row)
{
    return rs_texts_at(&t->texts, t->groups[r->groups[row]].label);
}

void rs_rank_row_label(const struct rs_rank_rows *r, const struct rs_timeline *t, uint32_t row, struct rs_strbuf *to)
{
    const struct rs_model *m = t->model;
    const struct rs_group *g = &t->groups[r->groups[row]];
    rs_strbuf_printf(to, "host %s", rs_host_label(m, g->host));
    if (g->proc == RS_NONE) return;
    const struct rs_proc *p = &m->procs[g->proc];
    if (p->pid) rs_strbuf_printf(to, ", pid %" PRIu32, p->pid);
    if (g->error_ns == RS_TIME_NONE)
        rs_strbuf_puts(to, ", clock not compared with the others'");
    else
        rs_strbuf_printf(to, ", clock error %" PRId64 " ns", g->error_ns);
    if (p->lost) rs_strbuf_printf(to, ", %" PRIu64 " callbacks lost", p->lost);
    if (p->overwritten) rs_strbuf_printf(to, ", %" PRIu64 " callbacks overwritten", p->overwritten);
    if (p->damaged) rs_strbuf_printf(to, ", %" PRIu64 " callbacks damaged", p->damaged);
}

uint64_t rs_rank_lane_order(const struct rs_timeline *t, const struct rs_bar_lane *lane, bool below_comm)
{
    uint32_t process = lane->group;
    while (t->groups[process].level > RS_GROUP_PROCESS) process = t->groups[process].parent;
    uint64_t group = lane->group - process;
    if (below_comm) group = t->groups[lane->group].level == RS_GROUP_RANK;
    _Static_assert(2 * (uint64_t)RS_ROWS * RS_LANE_ORDERS <= INT32_MAX, "31 bits suffice");
    return (group * RS_ROWS + lane->row) * RS_LANE_ORDERS + lane->order;
}

void rs_rank_lane_name(const struct rs_timeline *t, const struct rs_bar_lane *lane, struct rs_strbuf *to)
{
    const char *label = rs_texts_at(&t->texts, lane->label), *row = rs_row_kinds[lane->row].label;
    rs_strbuf_puts(to, row);
    if (*label && strcmp(label, row)) rs_strbuf_printf(to, ": %s", label);
}
