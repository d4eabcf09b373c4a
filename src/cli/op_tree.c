#include "cli/op_tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "cli/model_json.h"
#include "cli/op_tree_others.h"
#include "cli/plain.h"
#include "cli/units.h"
#include "export/args.h"
#include "nccl/abi.h"
#include "nccl/names.h"

enum { MOST_STATES = 8 };

/* An event of the operation. */
struct node {
    struct rs_callback start;
    uint64_t words[RS_RECORD_MAX]; /* what start.args points to: set when it is needed, since nodes move */
    uint32_t parent; /* node; RS_NONE: stands at the top */
    int64_t from, to; /* the model's axis; RS_TIME_NONE: never stopped */
    int64_t gpu_from, gpu_to; /* of kernels, likewise */
    struct {
        int state;
        int64_t at;
    } states[MOST_STATES];
    unsigned nstates;
};

struct tree {
    struct rs_model *model;
    enum rs_level level;
    struct rs_source *source; /* being read */
    uint32_t proc;
    struct rs_map wanted; /* handles of the operation and of what stands above it -> 1 */
    struct rs_map contexts; /* its members' contexts */
    struct rs_map index; /* handle -> node */
    struct node *nodes;
    uint32_t n, cap;
};

static int64_t common(struct tree *t, uint64_t tick)
{
    uint32_t domain = t->model->hosts[t->model->procs[t->proc].host].domain;
    return rs_axis_common(&t->model->domains[domain].axis, rs_clock_ns(&t->source->clock, tick));
}

static int64_t gpu_common(struct tree *t, uint64_t context, uint64_t timer)
{
    for (uint32_t i = 0; i < t->model->nmembers; i++) {
        const struct rs_member *x = &t->model->members[i];
        if (x->proc == t->proc && x->context == context && x->gpu != RS_NONE)
            return rs_axis_common(&t->model->domains[x->gpu].axis, (int64_t)timer);
    }
    return RS_TIME_NONE;
}

/* Which starts belong: what was asked for by handle, launches of its group call, and whatever hangs on these. */
static bool belongs(struct tree *t, const struct rs_callback *cb)
{
    if (rs_map_find(&t->wanted, cb->handle)) return true;
    if (!cb->parent) return false;
    bool net = cb->type == RS_PROXY_OP || cb->type == RS_PROXY_STEP;
    if ((net && t->level < RS_LEVEL_NET) || (cb->type == RS_NET_PLUGIN && t->level < RS_LEVEL_ALL)) return false;
    const uint64_t *parent = rs_map_find(&t->index, cb->parent);
    if (!parent) return rs_map_find(&t->wanted, cb->parent) && net; /* a helper's: the parent is in another recording */
    if (t->nodes[*parent].start.type != RS_GROUP_API) return true;
    return cb->type == RS_KERNEL_LAUNCH && rs_map_find(&t->contexts, cb->context);
}

static enum rs_status add(struct tree *t, const struct rs_callback *cb, struct rs_err *err)
{
    RS_ROOM(t->nodes, t->n, t->cap, err);
    struct node *n = &t->nodes[t->n];
    *n = (struct node){.start = *cb,
                       .parent = (uint32_t)rs_map_get(&t->index, cb->parent, RS_NONE),
                       .from = common(t, cb->tick),
                       .to = RS_TIME_NONE,
                       .gpu_from = RS_TIME_NONE,
                       .gpu_to = RS_TIME_NONE};
    if (cb->kind == RS_K_KERNEL_CH) n->gpu_from = gpu_common(t, cb->context, cb->args[0]);
    if (rs_kind_args[cb->kind]) memcpy(n->words, cb->args, rs_kind_args[cb->kind] * sizeof *n->words);
    return rs_map_put(&t->index, cb->handle, t->n++, err);
}

static void change(struct tree *t, const struct rs_callback *cb)
{
    const uint64_t *at = rs_map_find(&t->index, cb->handle);
    if (!at) return;
    struct node *n = &t->nodes[*at];
    if (cb->call == RS_CALL_STOP) {
        n->to = common(t, cb->tick);
        return;
    }
    if (cb->state == RS_ST_KERNEL_CH_STOP && cb->kind >= RS_K_STATE_ARG)
        n->gpu_to = gpu_common(t, n->start.context, cb->args[0]);
    bool again = n->nstates && n->states[n->nstates - 1].state == cb->state; /* retries: the first counts */
    if (again || n->nstates == MOST_STATES) return;
    n->states[n->nstates].state = cb->state;
    n->states[n->nstates++].at = common(t, cb->tick);
}

/* Reads the process. The API call of an operation comes before it and is named only by it: hence first a look at
 * that. */
static enum rs_status read_process(struct tree *t, bool parents_only, struct rs_err *err)
{
    struct rs_cursor *cursor;
    RS_TRY(rs_cursor_open(&cursor, t->source->recording, &t->source->process, err));
    struct rs_callback cb;
    enum rs_status status = RS_OK;
    while (status == RS_OK && rs_cursor_next(cursor, &cb)) {
        if (cb.call == RS_CALL_START && parents_only) {
            bool op = cb.type == RS_COLL || cb.type == RS_P2P || cb.type == RS_CE_COLL;
            if (op && cb.parent && rs_map_find(&t->wanted, cb.handle))
                status = rs_map_put(&t->wanted, cb.parent, 1, err);
        } else if (cb.call == RS_CALL_START && belongs(t, &cb)) {
            status = add(t, &cb, err);
        } else if (!parents_only && (cb.call == RS_CALL_STOP || cb.call == RS_CALL_STATE)) {
            change(t, &cb);
        }
    }
    rs_cursor_close(cursor);
    return status;
}

/* ---- printing ---- */

static void print_node(const struct tree *t, struct node *n, int depth, int64_t zero)
{
    const char *type = rs_nccl_type_name(n->start.type);
    struct rs_strbuf args = {0};
    n->start.args = n->words;
    rs_args_text(&args, &t->source->process, &n->start);
    printf("%*s%-12s %12s  ", 2 + 2 * depth, "", type ? type : "?", rs_text_ns(n->from - zero).s);
    if (n->to == RS_TIME_NONE)
        printf("not stopped");
    else
        printf("for %s", rs_text_ns(n->to - n->from).s);
    if (n->gpu_from != RS_TIME_NONE) printf("; GPU %s", rs_text_ns(n->gpu_from - zero).s);
    if (n->gpu_to != RS_TIME_NONE) printf(" for %s", rs_text_ns(n->gpu_to - n->gpu_from).s);
    if (args.len) {
        printf("  ");
        rs_plain_print(rs_strbuf_borrow(&args), args.len, stdout);
    }
    rs_strbuf_free(&args);
    for (unsigned s = 0; s < n->nstates; s++) {
        const char *name = rs_nccl_state_name(n->states[s].state);
        printf("%s %s +%s", s ? "," : " |", name ? name : "?", rs_text_ns(n->states[s].at - n->from).s);
    }
    printf("\n");
}

/* Events hang at most five deep: group, call, operation, proxy operation, step, network. */
static void print_text(struct tree *t, uint32_t parent, int depth, int64_t zero)
{
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->nodes[i].parent != parent) continue;
        print_node(t, &t->nodes[i], depth, zero);
        if (depth < 8) print_text(t, i, depth + 1, zero);
    }
}

static void print_json(struct rs_json *j, struct tree *t)
{
    const struct rs_proc *p = &t->model->procs[t->proc];
    for (uint32_t i = 0; i < t->n; i++) {
        struct node *n = &t->nodes[i];
        n->start.args = n->words;
        rs_json_object(j);
        rs_json_key_str(j, "host", rs_host_name(t->model, p->host));
        rs_pid_json(j, p->pid);
        rs_json_key_u64(j, "tid", n->start.tid);
        rs_json_key_hex(j, "event", n->start.handle);
        rs_json_key(j, "parent");
        if (n->parent == RS_NONE)
            rs_json_null(j);
        else
            rs_json_hex(j, t->nodes[n->parent].start.handle);
        rs_json_key_str(j, "type", rs_nccl_type_name(n->start.type));
        rs_time_json(j, "start_ns", n->from);
        rs_time_json(j, "end_ns", n->to);
        rs_time_json(j, "gpu_start_ns", n->gpu_from);
        rs_time_json(j, "gpu_end_ns", n->gpu_to);
        rs_json_key(j, "args");
        rs_json_object(j);
        rs_args_json(j, &t->source->process, &n->start);
        rs_json_end(j);
        rs_json_key(j, "states");
        rs_json_array(j);
        for (unsigned s = 0; s < n->nstates; s++) {
            rs_json_object(j);
            rs_json_key_str(j, "state", rs_nccl_state_name(n->states[s].state));
            rs_json_key_i64(j, "time_ns", n->states[s].at);
            rs_json_end(j);
        }
        rs_json_end(j);
        rs_json_end(j);
        rs_json_newline(j);
    }
}

static enum rs_status show_process(struct tree *t, struct rs_json *json, int64_t zero, struct rs_err *err)
{
    RS_TRY(read_process(t, true, err));
    RS_TRY(read_process(t, false, err));
    const struct rs_proc *p = &t->model->procs[t->proc];
    if (json) {
        print_json(json, t);
    } else if (t->n) {
        printf("%s, pid %" PRIu32 "\n", rs_host_label(t->model, p->host), p->pid);
        print_text(t, RS_NONE, 0, zero);
    }
    t->n = 0;
    rs_map_free(&t->index);
    return RS_OK;
}

static enum rs_status want(struct tree *t, uint32_t op, struct rs_map *procs, struct rs_err *err)
{
    const struct rs_model *m = t->model;
    for (uint32_t i = 0; i < m->ops.nparts[op]; i++) {
        uint32_t part = m->order[m->ops.part[op] + i];
        const struct rs_member *x = &m->members[m->parts.member[part]];
        RS_TRY(rs_map_put(procs, x->proc, 1, err));
        if (m->parts.flags[part] & RS_PART_HELPED) RS_TRY(rs_map_put(procs, m->parts.helper[part], 1, err));
        RS_TRY(rs_map_put(&t->wanted, m->parts.handle[part], 1, err));
        if (m->parts.group[part]) RS_TRY(rs_map_put(&t->wanted, m->parts.group[part], 1, err));
        if (m->parts.launch[part]) RS_TRY(rs_map_put(&t->wanted, m->parts.launch[part], 1, err));
        RS_TRY(rs_map_put(&t->contexts, x->context, 1, err));
    }
    return RS_OK;
}

enum rs_status rs_op_tree(struct rs_model *m, struct rs_inputs *in, uint32_t op, enum rs_level level,
                          struct rs_json *json, struct rs_err *err)
{
    struct tree t = {.model = m, .level = level};
    struct rs_map procs = {0};
    enum rs_status status = want(&t, op, &procs, err);
    int64_t zero = rs_op_begin(m, op);
    for (uint32_t i = 0; i < in->n && status == RS_OK; i++) { /* processes are in the order of their sources */
        if (!rs_map_find(&procs, i)) continue;
        t.source = &in->sources[i];
        t.proc = i;
        status = show_process(&t, json, zero, err);
    }
    if (status == RS_OK) status = rs_op_tree_others(m, in, op, level, zero, json, err);
    free(t.nodes);
    rs_map_free(&t.wanted);
    rs_map_free(&t.contexts);
    rs_map_free(&t.index);
    rs_map_free(&procs);
    return status;
}
