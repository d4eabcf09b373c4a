#include "cli/op_tree_others.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/room.h"
#include "base/units.h"
#include "cli/model_json.h"
#include "cli/output.h"
#include "cli/plain.h"
#include "events/events.h"
#include "nccl/abi.h"

/* An event of a dump that is of one of the operation's parts. */
struct node {
    struct rs_event event; /* its texts are the tree's own */
    int depth; /* below the operation */
};

struct tree {
    struct rs_model *model;
    struct rs_inputs *inputs;
    enum rs_level level;
    int64_t zero;
    struct rs_json *json; /* NULL: text */
    uint32_t part; /* being shown */
    bool any; /* something was shown */
    struct rs_map parts; /* of the operation -> 1 */
    uint32_t proc; /* whose dumps were read last: its events are below; RS_NONE: none yet */
    struct node *nodes; /* in the order of their begin lines */
    uint32_t n, cap;
    struct rs_arena texts;
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
        printf("%12s  until %s", "?", rs_text_after(rs_time_minus(to, t->zero)).s);
    else if (to == RS_TIME_NONE)
        printf("%12s  end not told", rs_text_after(rs_time_minus(from, t->zero)).s);
    else
        printf("%12s  for %s", rs_text_after(rs_time_minus(from, t->zero)).s, rs_text_ns(rs_time_minus(to, from)).s);
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
        printf("; GPU %s", rs_text_after(rs_time_minus(l->gpu_from, t->zero)).s);
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

static enum rs_status copy_text(struct tree *t, const char **text, struct rs_err *err)
{
    if (*text) *text = rs_arena_text(&t->texts, *text, strlen(*text));
    return *text ? RS_OK : rs_fail(err, RS_NO_MEMORY, "out of memory");
}

static enum rs_status keep(void *to, const struct rs_event *e, struct rs_err *err)
{
    struct tree *t = to;
    if (e->part == RS_NONE || !rs_map_find(&t->parts, e->part)) return RS_OK;
    bool net = e->type == RS_PROXY_OP || e->type == RS_PROXY_STEP;
    if ((net && t->level < RS_LEVEL_NET) || (e->type == RS_NET_PLUGIN && t->level < RS_LEVEL_ALL)) return RS_OK;
    RS_ROOM(t->nodes, t->n, t->cap, err);
    struct node *n = &t->nodes[t->n++];
    n->event = *e;
    RS_TRY(copy_text(t, &n->event.name, err));
    return copy_text(t, &n->event.category, err);
}

/* How deep each lies below its operation: parents come first. */
static enum rs_status find_depths(struct tree *t, struct rs_err *err)
{
    struct rs_map depths = {0}; /* number -> depth */
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < t->n && status == RS_OK; i++) {
        const struct rs_event *e = &t->nodes[i].event;
        bool top = e->handle == t->model->parts.handle[e->part];
        int above = e->parent == RS_NONE ? 0 : (int)rs_map_get(&depths, e->parent, 0);
        t->nodes[i].depth = top ? 0 : above < 8 ? above + 1 : 8;
        status = rs_map_put(&depths, e->number, (uint64_t)t->nodes[i].depth, err);
    }
    rs_map_free(&depths);
    return status;
}

/* Parts of an operation are by rank: those of a process mostly follow each other. */
static enum rs_status read_dumps(struct tree *t, uint32_t proc, struct rs_err *err)
{
    if (t->proc == proc) return RS_OK;
    t->n = 0;
    t->proc = proc;
    rs_arena_free(&t->texts);
    RS_TRY(rs_events_read(t->model, t->inputs, proc, UINT64_MAX, NULL, keep, t, err));
    return find_depths(t, err);
}

static void show_event(struct tree *t, const struct node *n)
{
    const struct rs_event *e = &n->event;
    struct line l = {.type = e->category,
                     .name = e->name,
                     .from = e->start,
                     .to = e->end,
                     .gpu_from = e->gpu_start,
                     .gpu_to = e->gpu_end,
                     .id = e->handle & UINT32_MAX,
                     .parent = n->depth ? e->parent_handle & UINT32_MAX : 0,
                     .depth = n->depth};
    switch (e->type) {
    case RS_KERNEL_CH: l.keys[0] = "channel", l.values[0] = e->channel; break;
    case RS_PROXY_OP:
        l.keys[0] = "channel", l.values[0] = e->channel;
        l.keys[1] = "peer", l.values[1] = e->peer;
        l.keys[2] = "steps", l.values[2] = e->steps;
        break;
    case RS_PROXY_STEP: l.keys[0] = "step", l.values[0] = e->step; break;
    case RS_COLL:
    case RS_P2P: l.keys[0] = "channels", l.values[0] = e->channels; break;
    default: break;
    }
    show(t, &l);
}

static enum rs_status show_dump(struct tree *t, struct rs_err *err)
{
    RS_TRY(read_dumps(t, member_of(t)->proc, err));
    for (uint32_t i = 0; i < t->n; i++)
        if (t->nodes[i].event.part == t->part) show_event(t, &t->nodes[i]);
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
    struct tree t = {.model = m, .inputs = in, .level = level, .zero = zero, .json = json, .proc = RS_NONE};
    bool others = false;
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < m->ops.nparts[op] && status == RS_OK; i++)
        status = rs_map_put(&t.parts, m->order[m->ops.part[op] + i], 1, err);
    for (uint32_t i = 0; i < m->ops.nparts[op] && status == RS_OK; i++) {
        t.part = m->order[m->ops.part[op] + i];
        uint8_t tool = m->procs[member_of(&t)->proc].tool;
        if (rs_tool_has(tool, RS_CAP_OWN)) continue;
        others = true;
        if (rs_tool_has(tool, RS_CAP_EVENTS))
            status = show_dump(&t, err);
        else
            show_kernel(&t);
    }
    free(t.nodes);
    rs_arena_free(&t.texts);
    rs_map_free(&t.parts);
    RS_TRY(status);
    if (others && !json && !t.any) printf("This format holds nothing below an operation.\n");
    return RS_OK;
}
