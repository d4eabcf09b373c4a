#include "cli/ops_tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/room.h"
#include "base/units.h"
#include "cli/json.h"
#include "cli/print/output.h"
#include "cli/print/plain.h"
#include "events/events.h"
#include "export/callback_args.h"
#include "nccl/abi.h"
#include "nccl/names.h"

/* ---- traces of other tools ----
 * One operation down to its events, as other tools saw it: the part of `ringscope ops --op ID --tree` for their traces.
 *
 * Dumps of NCCL's example profiler are read again: they have channels, proxy operations and steps. Of traces with
 * kernels and host calls, the kernel that ran the operation and the call that launched it are shown. Other formats contain
 * nothing below an operation. Times are on the model's axis. */

/* An event of a dump that is of one of the operation's parts. */
struct other_node {
    struct rs_event event; /* its texts are the tree's own */
    int depth; /* below the operation */
};

struct other_tree {
    struct rs_model *model;
    struct rs_inputs *inputs;
    enum rs_level level;
    int64_t zero;
    struct rs_json *json; /* NULL: text */
    uint32_t part; /* being shown */
    bool any; /* something was shown */
    struct rs_map parts; /* of the operation -> 1 */
    uint32_t proc; /* whose dumps were read last: its events are below; RS_NONE: none yet */
    struct other_node *nodes; /* in the order of their begin lines */
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

static const struct rs_member *member_of(const struct other_tree *t)
{
    return &t->model->members[t->model->parts.member[t->part]];
}

static void show_json(struct other_tree *t, const struct line *l)
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

static void show_times(const struct other_tree *t, int64_t from, int64_t to)
{
    if (from == RS_TIME_NONE && to == RS_TIME_NONE)
        printf("%12s  ", "?");
    else if (from == RS_TIME_NONE)
        printf("%12s  until %s", "?", rs_text_after(rs_time_minus(to, t->zero)).s);
    else if (to == RS_TIME_NONE)
        printf("%12s  end unknown", rs_text_after(rs_time_minus(from, t->zero)).s);
    else
        printf("%12s  for %s", rs_text_after(rs_time_minus(from, t->zero)).s, rs_text_ns(rs_time_minus(to, from)).s);
}

static void show(struct other_tree *t, const struct line *l)
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

static void copy_text(struct other_tree *t, const char **text)
{
    if (*text) *text = rs_arena_text(&t->texts, *text, strlen(*text));
    if (!*text) rs_memory_out();
}

static enum rs_status keep_other(void *to, const struct rs_event *e, struct rs_err *err)
{
    (void)err;
    struct other_tree *t = to;
    if (e->part == RS_NONE || !rs_map_find(&t->parts, e->part)) return RS_OK;
    bool net = e->type == RS_PROXY_OP || e->type == RS_PROXY_STEP;
    if ((net && t->level < RS_LEVEL_NET) || (e->type == RS_NET_PLUGIN && t->level < RS_LEVEL_ALL)) return RS_OK;
    RS_ROOM(t->nodes, t->n, t->cap);
    struct other_node *n = &t->nodes[t->n++];
    n->event = *e;
    copy_text(t, &n->event.name);
    copy_text(t, &n->event.category);
    return RS_OK;
}

/* The depth of each below its operation; parents come first. */
static void find_depths(struct other_tree *t)
{
    struct rs_map depths = {0}; /* number -> depth */
    for (uint32_t i = 0; i < t->n; i++) {
        const struct rs_event *e = &t->nodes[i].event;
        bool top = e->handle == t->model->parts.handle[e->part];
        int above = e->parent == RS_NONE ? 0 : (int)rs_map_get(&depths, e->parent, 0);
        t->nodes[i].depth = top ? 0 : above < 8 ? above + 1 : 8;
        rs_map_put(&depths, e->number, (uint64_t)t->nodes[i].depth);
    }
    rs_map_free(&depths);
}

/* Parts of an operation are by rank: those of a process mostly follow each other. */
static enum rs_status read_dumps(struct other_tree *t, uint32_t proc, struct rs_err *err)
{
    if (t->proc == proc) return RS_OK;
    t->n = 0;
    t->proc = proc;
    rs_arena_free(&t->texts);
    RS_TRY(rs_events_read(t->model, t->inputs, proc, UINT64_MAX, NULL, keep_other, t, err));
    find_depths(t);
    return RS_OK;
}

static void show_event(struct other_tree *t, const struct other_node *n)
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

static enum rs_status show_dump(struct other_tree *t, struct rs_err *err)
{
    RS_TRY(read_dumps(t, member_of(t)->proc, err));
    for (uint32_t i = 0; i < t->n; i++)
        if (t->nodes[i].event.part == t->part) show_event(t, &t->nodes[i]);
    return RS_OK;
}

/* ---- kernels ---- */

static void show_activity(struct other_tree *t, uint32_t i, int depth, uint64_t parent)
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
static void show_kernel(struct other_tree *t)
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

/* Prints to stdout. `json` is NULL for text; `zero` is the time from which the text counts. */
static enum rs_status op_tree_others(struct rs_model *m, struct rs_inputs *in, uint32_t op, enum rs_level level,
                                     int64_t zero, struct rs_json *json, struct rs_err *err)
{
    struct other_tree t = {.model = m, .inputs = in, .level = level, .zero = zero, .json = json, .proc = RS_NONE};
    bool others = false;
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < m->ops.nparts[op]; i++) rs_map_put(&t.parts, m->order[m->ops.part[op] + i], 1);
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
    if (others && !json && !t.any) printf("This format contains nothing below an operation.\n");
    return RS_OK;
}

/* ---- recordings ---- */

/* An event of the operation, or above it. */
struct node {
    struct rs_event event; /* `call` is not good here: see start_of() */
    struct rs_callback start;
    uint64_t words[RS_RECORD_MAX]; /* what start.args points to: set when it is needed, since nodes move */
    uint32_t parent; /* node; RS_NONE: at the top */
    bool perhaps; /* it is above the operation if that names it as its parent */
    uint32_t child, last, next; /* nodes: its first child and its last, the next of its parent; RS_NONE: none */
};

struct tree {
    struct rs_model *model;
    enum rs_level level;
    uint32_t proc; /* being read */
    struct rs_map parts; /* of the operation -> 1 */
    struct rs_map above; /* handles of what is above it: calls, groups, plans -> 1 */
    struct rs_map contexts; /* its members' contexts -> 1 */
    struct rs_map times; /* when its parts were called and launched -> 1 */
    bool captured; /* its calls were, into a graph, some time before */
    struct node *nodes;
    uint32_t n, cap;
};

static const struct rs_callback *start_of(struct node *n)
{
    n->start.args = n->words;
    n->start.thread_name = "";
    return &n->start;
}

/* ---- reading ---- */

/* What belongs: the operation and its events, what is above it, and launches of its group call. */
static bool belongs(const struct tree *t, const struct rs_event *e)
{
    bool net = e->type == RS_PROXY_OP || e->type == RS_PROXY_STEP;
    if ((net && t->level < RS_LEVEL_NET) || (e->type == RS_NET_PLUGIN && t->level < RS_LEVEL_ALL)) return false;
    if (e->part != RS_NONE && rs_map_find(&t->parts, e->part)) return true;
    if (e->call->type == RS_KERNEL_LAUNCH)
        return e->parent_handle && rs_map_find(&t->above, e->parent_handle) &&
               rs_map_find(&t->contexts, e->call->context);
    return rs_map_find(&t->above, e->handle) != NULL;
}

/* The call of an operation is named only by the operation's start, which comes later: what was called then is kept until
 * all is read. */
static bool may_belong(const struct tree *t, const struct rs_event *e)
{
    if (!(e->type & (RS_COLL_API | RS_P2P_API | RS_KERNEL_LAUNCH))) return false;
    if (!rs_map_find(&t->contexts, e->call->context)) return false;
    bool captured = t->captured && e->type != RS_KERNEL_LAUNCH && (e->call->small & 1);
    return captured || rs_map_find(&t->times, (uint64_t)e->start);
}

static enum rs_status keep(void *to, const struct rs_event *e, struct rs_err *err)
{
    (void)err;
    struct tree *t = to;
    bool is_op = e->type & (RS_COLL | RS_P2P | RS_CE_COLL), sure = belongs(t, e);
    if (!sure && !may_belong(t, e)) return RS_OK;
    if (is_op && sure && e->parent_handle && e->part != RS_NONE) rs_map_put(&t->above, e->parent_handle, 1);
    RS_ROOM(t->nodes, t->n, t->cap);
    struct node *n = &t->nodes[t->n++];
    n->event = *e;
    n->start = *e->call;
    n->perhaps = !sure;
    memcpy(n->words, e->call->args, rs_kind_args[e->call->kind] * sizeof *n->words);
    return RS_OK;
}

/* Drops what turned out not to be above the operation. */
static void settle(struct tree *t)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        const struct rs_event *e = &t->nodes[i].event;
        uint64_t named = e->type == RS_KERNEL_LAUNCH ? e->parent_handle : e->handle;
        if (t->nodes[i].perhaps && !rs_map_find(&t->above, named)) continue;
        if (n != i) t->nodes[n] = t->nodes[i];
        n++;
    }
    t->n = n;
}

static int by_number(const void *a, const void *b)
{
    const struct node *x = a, *y = b;
    return x->event.number < y->event.number ? -1 : x->event.number > y->event.number;
}

/* Nodes come in the order of their ends: sorts them by start, and hangs each under its parent. */
static void hang(struct tree *t)
{
    struct rs_map index = {0};
    if (t->n) qsort(t->nodes, t->n, sizeof *t->nodes, by_number);
    for (uint32_t i = 0; i < t->n; i++) {
        struct node *n = &t->nodes[i];
        n->child = n->last = n->next = RS_NONE;
        n->parent = n->event.parent == RS_NONE ? RS_NONE : (uint32_t)rs_map_get(&index, n->event.parent, RS_NONE);
        rs_map_put(&index, n->event.number, i);
        if (n->parent == RS_NONE) continue;
        struct node *p = &t->nodes[n->parent];
        if (p->last == RS_NONE)
            p->child = i;
        else
            t->nodes[p->last].next = i;
        p->last = i;
    }
    rs_map_free(&index);
}

/* ---- printing ---- */

static void print_gpu(const struct rs_event *e, int64_t zero)
{
    if (e->stale) printf("; GPU times are another operation's");
    if (e->gpu_start != RS_TIME_NONE) printf("; GPU %s", rs_text_after(rs_time_minus(e->gpu_start, zero)).s);
    if (e->gpu_end != RS_TIME_NONE) printf(" for %s", rs_text_ns(rs_time_minus(e->gpu_end, e->gpu_start)).s);
}

static void print_node(struct node *n, int depth, int64_t zero)
{
    const struct rs_event *e = &n->event;
    const char *type = rs_nccl_type_name(n->start.type);
    struct rs_strbuf args = {0};
    rs_callback_args_text(&args, e->process, start_of(n));
    printf("%*s%-12s %12s  ", 2 + 2 * depth, "", type ? type : "?", rs_text_after(rs_time_minus(e->start, zero)).s);
    if (e->end == RS_TIME_NONE)
        printf("not stopped");
    else
        printf("for %s", rs_text_ns(rs_time_minus(e->end, e->start)).s);
    print_gpu(e, zero);
    if (args.len) {
        printf("  ");
        rs_plain_print(rs_strbuf_borrow(&args), args.len, stdout);
    }
    rs_strbuf_free(&args);
    for (unsigned s = 0; s < e->nstates; s++) {
        const char *name = rs_nccl_state_name(e->states[s].state);
        int64_t after = rs_time_minus(e->states[s].at, e->start);
        printf("%s %s +%s", s ? "," : " |", name ? name : "?", rs_text_ns(after).s);
    }
    printf("\n");
}

/* Events hang at most five deep: group, call, operation, proxy operation, step, network. */
static void print_below(struct tree *t, uint32_t node, int depth, int64_t zero)
{
    print_node(&t->nodes[node], depth, zero);
    if (depth >= 8) return;
    for (uint32_t i = t->nodes[node].child; i != RS_NONE; i = t->nodes[i].next) print_below(t, i, depth + 1, zero);
}

static void print_text(struct tree *t, int64_t zero)
{
    const struct rs_proc *p = &t->model->procs[t->proc];
    if (t->n) printf("%s, pid %" PRIu32 "\n", rs_host_label(t->model, p->host), p->pid);
    for (uint32_t i = 0; i < t->n; i++)
        if (t->nodes[i].parent == RS_NONE) print_below(t, i, 0, zero);
}

static void print_json(struct rs_json *j, struct tree *t)
{
    const struct rs_proc *p = &t->model->procs[t->proc];
    for (uint32_t i = 0; i < t->n; i++) {
        struct node *n = &t->nodes[i];
        const struct rs_event *e = &n->event;
        rs_json_object(j);
        rs_json_key_str(j, "host", rs_host_name(t->model, p->host));
        rs_pid_json(j, p->pid);
        rs_json_key_u64(j, "tid", e->tid);
        rs_json_key_hex(j, "event", e->handle);
        rs_json_key(j, "parent");
        if (n->parent == RS_NONE)
            rs_json_null(j);
        else
            rs_json_hex(j, t->nodes[n->parent].event.handle);
        rs_json_key_str(j, "type", rs_nccl_type_name(n->start.type));
        rs_time_json(j, "start_ns", e->start);
        rs_time_json(j, "end_ns", e->end);
        rs_time_json(j, "gpu_start_ns", e->gpu_start);
        rs_time_json(j, "gpu_end_ns", e->gpu_end);
        rs_json_key(j, "args");
        rs_json_object(j);
        rs_callback_args_json(j, e->process, start_of(n));
        rs_json_end(j);
        rs_json_key(j, "states");
        rs_json_array(j);
        for (unsigned s = 0; s < e->nstates; s++) {
            rs_json_object(j);
            rs_json_key_str(j, "state", rs_nccl_state_name(e->states[s].state));
            rs_json_key_i64(j, "time_ns", e->states[s].at);
            rs_json_end(j);
        }
        rs_json_end(j);
        rs_json_end(j);
        rs_json_newline(j);
    }
}

/* ---- the operation ---- */

static enum rs_status show_process(struct tree *t, struct rs_inputs *in, struct rs_json *json, int64_t zero,
                                   struct rs_err *err)
{
    t->n = 0;
    RS_TRY(rs_events_read(t->model, in, t->proc, UINT64_MAX, NULL, keep, t, err));
    settle(t);
    hang(t);
    if (json)
        print_json(json, t);
    else
        print_text(t, zero);
    return RS_OK;
}

static void want(struct tree *t, uint32_t op, struct rs_map *procs)
{
    const struct rs_model *m = t->model;
    for (uint32_t i = 0; i < m->ops.nparts[op]; i++) {
        uint32_t part = m->order[m->ops.part[op] + i];
        const struct rs_member *x = &m->members[m->parts.member[part]];
        rs_map_put(procs, x->proc, 1);
        if (m->parts.flags[part] & RS_PART_HELPED) rs_map_put(procs, m->parts.helper[part], 1);
        rs_map_put(&t->parts, part, 1);
        if (m->parts.group[part]) rs_map_put(&t->above, m->parts.group[part], 1);
        if (m->parts.launch[part]) rs_map_put(&t->above, m->parts.launch[part], 1);
        rs_map_put(&t->contexts, x->context, 1);
        rs_map_put(&t->times, (uint64_t)m->parts.enqueued[part], 1);
        rs_map_put(&t->times, (uint64_t)m->parts.launched[part], 1);
        t->captured |= m->parts.captured[part] != 0;
    }
}

enum rs_status rs_op_tree(struct rs_model *m, struct rs_inputs *in, uint32_t op, enum rs_level level,
                          struct rs_json *json, struct rs_err *err)
{
    struct tree t = {.model = m, .level = level};
    struct rs_map procs = {0};
    want(&t, op, &procs);
    enum rs_status status = RS_OK;
    int64_t zero = rs_op_begin(m, op);
    for (t.proc = 0; t.proc < in->n && status == RS_OK; t.proc++) /* processes are in the order of their sources */
        if (rs_map_find(&procs, t.proc)) status = show_process(&t, in, json, zero, err);
    if (status == RS_OK) status = op_tree_others(m, in, op, level, zero, json, err);
    free(t.nodes);
    rs_map_free(&t.parts);
    rs_map_free(&t.above);
    rs_map_free(&t.contexts);
    rs_map_free(&t.times);
    rs_map_free(&procs);
    return status;
}
