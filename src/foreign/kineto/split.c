/* Files that several traces were merged into: back into one trace per rank.
 *
 * Tools that merge traces give each rank pids of its own, as viewers need it: TraceLens' TraceFuse adds a multiple to
 * them, writes the rank into the arguments of every event and names processes "RANK 3 - GPU"; SGLang writes a label in
 * front ("[TP03] 4711"). Correlations and External ids may repeat between ranks, so nothing is tied before the split. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/mix.h"
#include "base/room.h"
#include "foreign/kineto/kineto.h"
#include "foreign/torch.h"

/* One of the traces. */
struct source {
    int32_t rank; /* -1: its label does not say it */
    uint32_t label; /* name; 0: none */
};

struct split {
    struct rs_kineto *k;
    struct source *sources;
    uint32_t n, cap;
    struct rs_map ids; /* hash -> source */
    uint32_t *of_pid; /* source; RS_KINETO_NONE: unknown, or no row of this pid is kept */
    uint32_t *lanes, *rows; /* number in its trace */
    uint32_t unknown; /* a pid whose rank is not known; RS_KINETO_NONE: none */
    uint32_t called[2], ncalled; /* processes that called CUDA: the first two, and how many */
};

static void find_source(struct split *s, uint32_t pid)
{
    const struct rs_kineto_pid *p = &s->k->pids[pid];
    struct source row = {.rank = p->rank, .label = p->label};
    if (row.rank < 0) row.rank = rs_torch_number(s->k->names[p->title].text, "rank");
    if (row.rank < 0) row.rank = rs_torch_number(s->k->names[p->label].text, "rank");
    if (row.rank >= 0) row.label = 0;
    if (row.rank < 0 && !row.label) {
        s->unknown = pid;
        return;
    }
    uint64_t key = rs_mix(rs_mix(1, row.label), (uint32_t)row.rank), *at;
    for (;; key++) {
        rs_map_at(&s->ids, key, s->n, &at);
        if (*at == s->n || (s->sources[*at].rank == row.rank && s->sources[*at].label == row.label)) break;
    }
    s->of_pid[pid] = (uint32_t)*at;
    if (*at < s->n) return;
    RS_ROOM(s->sources, s->n, s->cap);
    s->sources[s->n++] = row;
}

/* The sources of all pids that something is kept of, in the order of the file. */
static void find_sources(struct split *s)
{
    const struct rs_kineto *k = s->k;
    bool *used = rs_zalloc((size_t)k->npids + 1, sizeof *used);
    for (uint32_t i = 0; i < k->nrows; i++) used[k->lanes[k->rows[i].lane].pid] = true;
    for (uint32_t i = 0; i < k->ncalls; i++)
        if (k->calls[i].lane != RS_KINETO_NONE) used[k->lanes[k->calls[i].lane].pid] = true;
    for (uint32_t i = 0; i < k->npids; i++) {
        if (used[i]) find_source(s, i);
        if (!k->pids[i].calls) continue;
        if (s->ncalled < 2) s->called[s->ncalled] = i;
        s->ncalled++;
    }
    free(used);
}

static uint32_t source_of_lane(const struct split *s, uint32_t lane)
{
    return s->of_pid[s->k->lanes[lane].pid];
}

static enum rs_status copy_name(const struct split *s, struct rs_kineto *to, uint32_t *name, struct rs_err *err)
{
    const struct rs_kineto_name *from = &s->k->names[*name];
    return rs_kineto_name(to, from->text, from->n, name, err);
}

static enum rs_status copy_lanes(struct split *s, struct rs_kineto *parts, struct rs_err *err)
{
    for (uint32_t i = 0; i < s->k->nlanes; i++) {
        struct rs_kineto_lane row = s->k->lanes[i];
        const struct rs_kineto_pid *pid = &s->k->pids[row.pid];
        if (s->of_pid[row.pid] == RS_KINETO_NONE) continue; /* of a name alone */
        struct rs_kineto *to = &parts[s->of_pid[row.pid]];
        RS_TRY(copy_name(s, to, &row.name, err));
        row.pid = rs_kineto_pid(to, pid->number, 0);
        s->lanes[i] = rs_kineto_lane(to, &row);
        if (!to->lanes[s->lanes[i]].name) to->lanes[s->lanes[i]].name = row.name;
        if (!row.is_stream && to->pid < 0) to->pid = pid->raw >= 0 ? pid->raw : pid->number;
    }
    return RS_OK;
}

static enum rs_status copy_rows(struct split *s, struct rs_kineto *parts, struct rs_err *err)
{
    for (uint32_t i = 0; i < s->k->nrows; i++) {
        struct rs_kineto_row row = s->k->rows[i];
        struct rs_kineto *to = &parts[source_of_lane(s, row.lane)];
        RS_TRY(copy_name(s, to, &row.name, err));
        row.lane = s->lanes[row.lane];
        s->rows[i] = to->nrows;
        rs_kineto_row(to, &row);
    }
    for (uint32_t i = 0; i < s->k->ncalls; i++) {
        struct rs_kineto_call c = s->k->calls[i];
        bool host = c.lane != RS_KINETO_NONE;
        struct rs_kineto *to = &parts[source_of_lane(s, host ? c.lane : s->k->rows[c.row].lane)];
        RS_TRY(copy_name(s, to, &c.pg_name, err));
        RS_TRY(copy_name(s, to, &c.pg_desc, err));
        RS_TRY(copy_name(s, to, &c.pg_ranks, err));
        if (host) c.lane = s->lanes[c.lane];
        if (c.row != RS_KINETO_NONE) c.row = s->rows[c.row];
        rs_kineto_call(to, &c);
    }
    return RS_OK;
}

/* What the file says besides its events is of the trace that was merged first. */
static enum rs_status begin_part(const struct split *s, struct rs_kineto *to, uint32_t i, struct rs_err *err)
{
    struct rs_kineto *k = s->k;
    const char *label = k->names[s->sources[i].label].text;
    uint32_t none;
    *to = (struct rs_kineto){.rank = s->sources[i].rank,
                             .label_rank = -1,
                             .world = k->world,
                             .pid = -1,
                             .last_lane = RS_KINETO_NONE,
                             .base_ns = k->base_ns,
                             .events = k->events};
    /* A job that is tensor-parallel alone numbers its ranks so. */
    if (!strstr(label, "DP") && !strstr(label, "PP") && !strstr(label, "EP"))
        to->label_rank = rs_torch_number(label, "TP");
    if (k->nccl_version) to->nccl_version = rs_arena_text(&to->arena, k->nccl_version, strlen(k->nccl_version));
    if (!i && to->label_rank < 0) to->label_rank = k->rank;
    return rs_kineto_name(to, "", 0, &none, err);
}

static enum rs_status make_parts(struct split *s, struct rs_kineto *parts, struct rs_err *err)
{
    for (uint32_t i = 0; i < s->n; i++) RS_TRY(begin_part(s, &parts[i], i, err));
    s->lanes = rs_zalloc((size_t)s->k->nlanes + 1, sizeof *s->lanes);
    s->rows = rs_zalloc((size_t)s->k->nrows + 1, sizeof *s->rows);
    RS_TRY(copy_lanes(s, parts, err));
    return copy_rows(s, parts, err);
}

/* Whether the file is several traces, and every row that is kept is of one of them. */
static bool is_merged(const struct split *s, char *why, size_t bytes)
{
    const struct rs_kineto_pid *pids = s->k->pids;
    if (s->n > 1 && s->unknown != RS_KINETO_NONE)
        snprintf(why, bytes, "traces of several ranks in one file, and no rank for events of pid %lld: not read",
                 (long long)pids[s->unknown].number);
    else if (s->n <= 1 && s->ncalled > 1)
        snprintf(why, bytes,
                 "traces of %u processes in one file (pids %lld, %lld%s), and nothing says which GPU work is of which: "
                 "not read; give one file per rank",
                 s->ncalled, (long long)pids[s->called[0]].number, (long long)pids[s->called[1]].number,
                 s->ncalled > 2 ? ", ..." : "");
    return s->n > 1 && s->unknown == RS_KINETO_NONE;
}

enum rs_status rs_kineto_split(struct rs_kineto *k, struct rs_kineto **parts, uint32_t *n, char *why, size_t bytes,
                               struct rs_err *err)
{
    struct split s = {.k = k, .unknown = RS_KINETO_NONE};
    enum rs_status status = RS_OK;
    *parts = NULL;
    *n = 0;
    *why = 0;
    if (k->npids < 2) return RS_OK;
    s.of_pid = rs_alloc((size_t)k->npids * sizeof *s.of_pid);
    memset(s.of_pid, 0xff, (size_t)k->npids * sizeof *s.of_pid);
    find_sources(&s);
    if (is_merged(&s, why, bytes)) {
        *n = s.n;
        *parts = rs_zalloc(s.n, sizeof **parts);
        status = make_parts(&s, *parts, err);
    } else if (s.n == 1 && k->rank < 0) {
        k->label_rank = s.sources[0].rank;
    }
    rs_map_free(&s.ids);
    free(s.sources);
    free(s.of_pid);
    free(s.lanes);
    free(s.rows);
    return status;
}
