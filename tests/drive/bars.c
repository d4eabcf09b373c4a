/* What a timeline draws, for tests that compare it with the truth: `bars IN...` reads and joins the inputs as a command
 * does and prints every bar of every row as a line of JSON, in the order of bars. Times are ns on the common axis;
 * `bar` and `parent` are numbers of bars, `op` is the id of `ops --json`. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "foreign/formats.h"
#include "import/import.h"
#include "join/join.h"
#include "timeline/timeline.h"

static enum rs_status read_model(struct rs_model *m, struct rs_inputs *in, char **paths, size_t n, struct rs_err *err)
{
    RS_TRY(rs_inputs_open(in, paths, n, NULL, err));
    RS_TRY(rs_formats_recognise(in, err));
    RS_TRY(rs_import(m, in, NULL, err));
    RS_TRY(rs_formats_fill(m, in, NULL, err));
    rs_model_link(m);
    return rs_join(m, true, err);
}

static void print_flags(unsigned flags)
{
    static const char *const words[] = {"bounded", "lost", "open",  "mismatch",
                                        "helped",  "last", "blank", "start unknown"};
    printf(",\"flags\":[");
    for (unsigned i = 0, n = 0; i < 8; i++)
        if (flags >> i & 1) printf("%s\"%s\"", n++ ? "," : "", words[i]);
    printf("]");
}

static void print_arguments(const struct rs_timeline *t, const struct rs_bars *b, uint32_t i)
{
    const int64_t values[RS_BAR_ARGS] = {b->a1[i], b->a2[i], b->a3[i], b->a4[i], b->a5[i], b->a6[i]};
    printf(",\"args\":{");
    for (unsigned k = 0, n = 0; k < RS_BAR_ARGS; k++) {
        const struct rs_event_arg *arg = rs_bar_arg(&t->kinds.rows[b->kind[i]], k);
        bool text = arg->unit == RS_UNIT_TEXT;
        if (!arg->label || values[k] == RS_BAR_NO_ARG || text) continue;
        printf("%s\"%s\":%" PRId64, n++ ? "," : "", arg->label, values[k]);
    }
    printf("}");
}

static void print_bar(const struct rs_timeline *t, const struct rs_bars *b, const struct rs_bar_lane *lane, uint32_t i)
{
    const struct rs_model *m = t->model;
    const struct rs_group *g = &t->groups[lane->group];
    printf("{\"bar\":%" PRIu32 ",\"pid\":%" PRIu32 ",\"level\":%u", b->first + i, m->procs[g->proc].pid, g->level);
    if (g->member != RS_NONE) printf(",\"global_rank\":%d", (int)m->members[g->member].global_rank);
    if (g->member != RS_NONE && g->level == RS_GROUP_COMM) printf(",\"rank\":%d", (int)m->members[g->member].rank);
    printf(",\"row\":\"%s\",\"sub\":%u,\"lane\":\"%s\",\"kind\":\"%s\"", rs_row_kinds[lane->row].id, lane->sub,
           rs_texts_at(&t->texts, lane->label), t->kinds.rows[b->kind[i]].id);
    printf(",\"start_ns\":%" PRId64 ",\"dur\":%" PRId64 ",\"wait\":%" PRId64 ",\"fade\":%" PRId64,
           t->begin + b->start[i], b->dur[i], b->wait[i], b->fade[i]);
    if (b->op[i] != RS_BAR_NONE) printf(",\"op\":\"0x%016" PRIx64 "\"", m->ops.id[t->ops[b->op[i]]]);
    if (b->parent[i] != RS_BAR_NONE) printf(",\"parent\":%" PRIu32, b->parent[i]);
    printf(",\"marks\":[%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]", b->m1[i], b->m2[i], b->m3[i]);
    print_flags(b->flags[i]);
    print_arguments(t, b, i);
    printf("}\n");
}

static enum rs_status print_all(struct rs_model *m, struct rs_inputs *in, struct rs_err *err)
{
    struct rs_timeline t;
    struct rs_bars bars = {0};
    const struct rs_timeline_options options = {.rows = UINT64_MAX};
    rs_timeline_init(&t, m, in, &options);
    enum rs_status status = RS_OK;
    uint32_t n = 0;
    for (uint32_t i = 0; i < t.nprocs && status == RS_OK; i++) {
        status = rs_timeline_process(&t, i, n, &bars, err);
        for (uint32_t k = 0; k < bars.nlanes && status == RS_OK; k++)
            for (uint32_t at = bars.lanes[k].from; at < bars.lanes[k].from + bars.lanes[k].n; at++)
                print_bar(&t, &bars, &bars.lanes[k], at);
        n += bars.n;
    }
    rs_bars_free(&bars);
    rs_timeline_free(&t);
    return status;
}

int main(int argc, char **argv)
{
    struct rs_inputs in = {0};
    struct rs_model m = {0};
    struct rs_err err = {0};
    enum rs_status status = read_model(&m, &in, argv + 1, (size_t)(argc - 1), &err);
    if (status == RS_OK) status = print_all(&m, &in, &err);
    if (status != RS_OK) fprintf(stderr, "bars: %s\n", err.msg);
    rs_model_free(&m);
    rs_inputs_close(&in);
    return status != RS_OK;
}
