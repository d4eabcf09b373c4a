#include "cli/op_tree_others.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model_json.h"
#include "cli/output.h"
#include "cli/plain.h"
#include "cli/units.h"
#include "foreign/example.h"
#include "foreign/formats.h"

struct tree {
    struct rs_model *model;
    struct rs_inputs *inputs;
    enum rs_level level;
    int64_t zero;
    struct rs_json *json; /* NULL: text */
    uint32_t part; /* being shown */
    uint64_t first_timer; /* of its channels, as the dump has it */
    bool any; /* something was shown */
};

/* A line of the tree. */
struct line {
    const char *type, *name; /* name: NULL, none */
    int64_t from, to, gpu_from, gpu_to; /* the model's axis; RS_TIME_NONE: not known */
    uint64_t id, parent; /* parent 0: none */
    int depth;
    const char *keys[3]; /* its numbers; NULL: no more */
    int64_t values[3];
};

static const struct rs_member *member_of(const struct tree *t)
{
    return &t->model->members[t->model->parts.member[t->part]];
}

static void show_json(struct tree *t, const struct line *l)
{
    struct rs_json *j = t->json;
    rs_json_object(j);
    rs_member_json(j, t->model, t->model->parts.member[t->part]);
    rs_json_key_null(j, "tid");
    rs_json_key_hex(j, "event", l->id);
    rs_json_key(j, "parent");
    if (l->parent)
        rs_json_hex(j, l->parent);
    else
        rs_json_null(j);
    rs_json_key_str(j, "type", l->type);
    rs_json_key_str(j, "name", l->name);
    rs_time_json(j, "start_ns", l->from);
    rs_time_json(j, "end_ns", l->to);
    rs_time_json(j, "gpu_start_ns", l->gpu_from);
    rs_time_json(j, "gpu_end_ns", l->gpu_to);
    rs_json_key(j, "args");
    rs_json_object(j);
    for (int i = 0; i < 3 && l->keys[i]; i++) rs_json_key_i64(j, l->keys[i], l->values[i]);
    rs_json_end(j);
    rs_json_key(j, "states");
    rs_json_array(j);
    rs_json_end(j);
    rs_json_end(j);
    rs_json_newline(j);
}

static void show_times(const struct tree *t, int64_t from, int64_t to)
{
    if (from == RS_TIME_NONE && to == RS_TIME_NONE)
        printf("%12s  ", "?");
    else if (from == RS_TIME_NONE)
        printf("%12s  until %s", "?", rs_text_ns(rs_time_minus(to, t->zero)).s);
    else if (to == RS_TIME_NONE)
        printf("%12s  end not told", rs_text_ns(rs_time_minus(from, t->zero)).s);
    else
        printf("%12s  for %s", rs_text_ns(rs_time_minus(from, t->zero)).s, rs_text_ns(rs_time_minus(to, from)).s);
}

static void show(struct tree *t, const struct line *l)
{
    if (t->json) {
        show_json(t, l);
        return;
    }
    if (!l->depth) {
        const struct rs_proc *p = &t->model->procs[member_of(t)->proc];
        const char *host = rs_host_label(t->model, p->host);
        rs_plain_print(host, strlen(host), stdout);
        printf(", rank %" PRId32 "\n", member_of(t)->rank);
    }
    printf("%*s%-12s ", 2 + 2 * l->depth, "", l->type);
    show_times(t, l->from, l->to);
    if (l->gpu_from != RS_TIME_NONE) {
        printf("; GPU %s", rs_text_ns(rs_time_minus(l->gpu_from, t->zero)).s);
        if (l->gpu_to != RS_TIME_NONE) printf(" for %s", rs_text_ns(rs_time_minus(l->gpu_to, l->gpu_from)).s);
    }
    if (l->name) {
        printf("  ");
        rs_plain_print(l->name, strlen(l->name), stdout);
    }
    for (int i = 0; i < 3 && l->keys[i]; i++) printf("%s %s %" PRId64, i ? "," : " ", l->keys[i], l->values[i]);
    printf("\n");
    t->any = true;
}

/* ---- dumps of the example profiler ---- */

static int64_t host_time(const struct tree *t, int64_t ns)
{
    const struct rs_proc *p = &t->model->procs[member_of(t)->proc];
    return rs_axis_common(&t->model->domains[t->model->hosts[p->host].domain].axis, ns);
}

/* The GPU's times lie as far from each other as its timers; the earliest of an operation is where the model has its
 * start. */
static int64_t gpu_time(const struct tree *t, uint64_t timer)
{
    const struct rs_parts *p = &t->model->parts;
    bool known = p->start_source[t->part] == RS_FROM_KERNEL && !(p->flags[t->part] & (RS_PART_STALE | RS_PART_LENT));
    if (!known || !timer || timer < t->first_timer) return RS_TIME_NONE;
    return p->start[t->part] + (int64_t)(timer - t->first_timer);
}

/* The number of the part's event in its dump; the importer puts it into the handle. */
static uint32_t event_of(const struct tree *t)
{
    return (uint32_t)t->model->parts.handle[t->part] - 1;
}

static bool is_of(const struct tree *t, const struct rs_example *d)
{
    uint32_t event = event_of(t);
    const struct rs_member *x = member_of(t);
    return event < d->n && d->events[event].comm == t->model->comms[x->comm].hash && d->events[event].rank == x->rank;
}

static bool is_deep(const struct tree *t, uint8_t kind)
{
    bool net = kind == RS_EX_PROXY_OP || kind == RS_EX_NET, wire = kind == RS_EX_IB || kind == RS_EX_SOCKET;
    return (net && t->level < RS_LEVEL_NET) || (wire && t->level < RS_LEVEL_ALL);
}

static void show_event(struct tree *t, const struct rs_example *d, uint32_t event, int depth)
{
    const struct rs_example_event *e = &d->events[event];
    struct line l = {.type = rs_texts_at(&d->texts, e->cat),
                     .name = rs_texts_at(&d->texts, e->name),
                     .from = host_time(t, e->begin),
                     .to = host_time(t, e->end),
                     .gpu_from = RS_TIME_NONE,
                     .gpu_to = RS_TIME_NONE,
                     .id = event + 1,
                     .parent = depth && e->parent != RS_NONE ? e->parent + 1 : 0,
                     .depth = depth};
    switch (e->kind) {
    case RS_EX_KERNEL:
        l.gpu_from = gpu_time(t, e->kernel.start);
        l.gpu_to = gpu_time(t, e->kernel.stop);
        l.keys[0] = "channel", l.values[0] = e->kernel.channel;
        break;
    case RS_EX_PROXY_OP:
        l.keys[0] = "channel", l.values[0] = e->proxy.channel;
        l.keys[1] = "peer", l.values[1] = e->proxy.peer;
        l.keys[2] = "steps", l.values[2] = e->proxy.steps;
        break;
    case RS_EX_NET: l.keys[0] = "step", l.values[0] = e->net.step; break;
    case RS_EX_COLL:
    case RS_EX_P2P: l.keys[0] = "channels", l.values[0] = e->work.nchannels; break;
    default: break;
    }
    show(t, &l);
}

/* Its event, and all that lie in it: events are in the order of their begin lines, so parents come first. */
static void show_events(struct tree *t, const struct rs_example *d)
{
    uint32_t top = event_of(t);
    t->first_timer = UINT64_MAX;
    for (uint32_t i = top + 1; i < d->n; i++) {
        const struct rs_example_event *e = &d->events[i];
        bool timed = e->op == top && e->kind == RS_EX_KERNEL && e->kernel.start;
        if (timed && e->kernel.start < t->first_timer) t->first_timer = e->kernel.start;
    }
    show_event(t, d, top, 0);
    for (uint32_t i = top + 1; i < d->n; i++) {
        if (d->events[i].op != top || is_deep(t, d->events[i].kind)) continue;
        int depth = 1;
        for (uint32_t p = d->events[i].parent; p != RS_NONE && p > top && depth < 8; p = d->events[p].parent) depth++;
        show_event(t, d, i, depth);
    }
}

static enum rs_status show_dump(struct tree *t, struct rs_err *err)
{
    uint32_t proc = member_of(t)->proc;
    for (size_t i = 0; i < t->inputs->nothers; i++) {
        const struct rs_other *o = &t->inputs->others[i];
        if (o->proc != proc || rs_format_at(o->format)->tool != RS_TOOL_EXAMPLE) continue;
        struct rs_example d;
        RS_TRY(rs_example_open(&d, o->path, err));
        bool found = is_of(t, &d);
        if (found) show_events(t, &d);
        rs_example_close(&d);
        if (found) return RS_OK;
    }
    return RS_OK;
}

/* ---- kernels ---- */

static void show_activity(struct tree *t, uint32_t i, int depth, uint64_t parent)
{
    const struct rs_activities *a = &t->model->activities;
    struct line l = {.type = rs_activity_kind_name(a->kind[i]),
                     .name = rs_model_name_text(t->model, a->name[i]),
                     .from = a->start[i],
                     .to = a->end[i],
                     .gpu_from = RS_TIME_NONE,
                     .gpu_to = RS_TIME_NONE,
                     .id = i + UINT64_C(1),
                     .parent = parent,
                     .depth = depth,
                     .keys = {t->model->lanes[a->lane[i]].kind == RS_LANE_STREAM ? "stream" : "thread"},
                     .values = {t->model->lanes[a->lane[i]].id}};
    show(t, &l);
}

/* The kernel of the part, which may have run other parts too, under the call that launched it. */
static void show_kernel(struct tree *t)
{
    const struct rs_parts *p = &t->model->parts;
    const struct rs_activities *a = &t->model->activities;
    for (uint32_t i = 0; i < a->n; i++) {
        uint32_t part = a->part[i];
        if (a->kind[i] != RS_ACT_COMM || part == RS_NONE) continue;
        bool same = part == t->part || (p->launch[part] && p->launch[part] == p->launch[t->part] &&
                                        t->model->members[p->member[part]].proc == member_of(t)->proc);
        if (!same) continue;
        uint32_t call = a->launch[i];
        if (call != RS_NONE) show_activity(t, call, 0, 0);
        show_activity(t, i, call != RS_NONE, call != RS_NONE ? call + UINT64_C(1) : 0);
        return;
    }
}

enum rs_status rs_op_tree_others(struct rs_model *m, struct rs_inputs *in, uint32_t op, enum rs_level level,
                                 int64_t zero, struct rs_json *json, struct rs_err *err)
{
    struct tree t = {.model = m, .inputs = in, .level = level, .zero = zero, .json = json};
    bool others = false;
    for (uint32_t i = 0; i < m->ops.nparts[op]; i++) {
        t.part = m->order[m->ops.part[op] + i];
        uint8_t tool = m->procs[member_of(&t)->proc].tool;
        others |= tool != RS_TOOL_RINGSCOPE;
        if (tool == RS_TOOL_EXAMPLE)
            RS_TRY(show_dump(&t, err));
        else if (tool != RS_TOOL_RINGSCOPE)
            show_kernel(&t);
    }
    if (others && !json && !t.any) printf("This format holds nothing below an operation.\n");
    return RS_OK;
}
