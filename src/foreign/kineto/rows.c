#include "foreign/kineto/rows.h"

#include <stdlib.h>

#include "base/mix.h"
#include "base/room.h"
#include "foreign/host_call.h"
#include "model/activities.h"

/* ---- names ---- */

static void new_name(struct rs_kineto *k, const struct rs_texts_row *t)
{
    RS_ROOM(k->names, k->nnames, k->cap_names);
    struct rs_kineto_name *name = &k->names[k->nnames++];
    *name = (struct rs_kineto_name){
        .text = t->text, .n = (uint32_t)t->n, .call_kind = (uint8_t)rs_host_call_kind(t->text, t->n)};
    name->is_nccl = rs_kernel_name(t->text, t->n, &name->kernel);
    name->comm = rs_kernel_comm(t->text, t->n);
}

enum rs_status rs_kineto_name(struct rs_kineto *k, const char *text, size_t n, uint32_t *id, struct rs_err *err)
{
    (void)err;
    rs_texts_id(&k->texts, text, n, id);
    while (k->nnames < k->texts.n) new_name(k, &k->texts.rows[k->nnames]);
    return RS_OK;
}

/* ---- lanes ---- */

uint32_t rs_kineto_pid(struct rs_kineto *k, int64_t number, uint32_t label)
{
    if (k->last_pid < k->npids && k->pids[k->last_pid].number == number && k->pids[k->last_pid].label == label)
        return k->last_pid;
    uint64_t key = rs_mix(rs_mix(label, (uint64_t)number), 0), *at;
    for (;; key++) {
        rs_map_at(&k->pid_ids, key, k->npids, &at);
        if (*at >= k->npids || (k->pids[*at].number == number && k->pids[*at].label == label)) break;
    }
    k->last_pid = (uint32_t)*at;
    if (*at < k->npids) return k->last_pid;
    RS_ROOM(k->pids, k->npids, k->cap_pids);
    k->pids[k->npids++] = (struct rs_kineto_pid){.number = number, .raw = -1, .label = label, .rank = -1};
    return k->last_pid;
}

static bool is_lane(const struct rs_kineto *k, uint64_t i, const struct rs_kineto_lane *row)
{
    return i < k->nlanes && k->lanes[i].id == row->id && k->lanes[i].device == row->device &&
           k->lanes[i].is_stream == row->is_stream && k->lanes[i].pid == row->pid;
}

uint64_t rs_kineto_lane_key(bool is_stream, int32_t device, int64_t number)
{
    return rs_mix(rs_mix(is_stream, (uint32_t)device), (uint64_t)number);
}

uint32_t rs_kineto_lane(struct rs_kineto *k, const struct rs_kineto_lane *row)
{
    if (is_lane(k, k->last_lane, row)) return k->last_lane;
    uint64_t key = rs_mix(rs_kineto_lane_key(row->is_stream, row->device, row->id), row->pid), *at;
    for (;; key++) {
        rs_map_at(&k->lane_ids, key, k->nlanes, &at);
        if (*at == k->nlanes || is_lane(k, *at, row)) break;
    }
    k->last_lane = (uint32_t)*at;
    if (k->last_lane < k->nlanes) return k->last_lane;
    RS_ROOM(k->lanes, k->nlanes, k->cap_lanes);
    k->lanes[k->nlanes] = *row;
    k->lanes[k->nlanes++].name = 0;
    return k->last_lane;
}

/* ---- rows ---- */

void rs_kineto_row(struct rs_kineto *k, const struct rs_kineto_row *row)
{
    RS_ROOM(k->rows, k->nrows, k->cap_rows);
    k->rows[k->nrows++] = *row;
    k->of_kind[row->kind]++;
}

void rs_kineto_call(struct rs_kineto *k, const struct rs_kineto_call *call)
{
    RS_ROOM(k->calls, k->ncalls, k->cap_calls);
    k->calls[k->ncalls++] = *call;
}

void rs_kineto_free(struct rs_kineto *k)
{
    rs_arena_free(&k->arena);
    rs_texts_free(&k->texts);
    rs_map_free(&k->lane_ids);
    rs_map_free(&k->group_ids);
    rs_map_free(&k->pid_ids);
    free(k->names);
    free(k->pids);
    free(k->lanes);
    free(k->rows);
    free(k->calls);
    free(k->groups);
    *k = (struct rs_kineto){0};
}
