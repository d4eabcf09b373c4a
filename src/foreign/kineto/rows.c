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
}

enum rs_status rs_kineto_name(struct rs_kineto *k, const char *text, size_t n, uint32_t *id, struct rs_err *err)
{
    (void)err;
    rs_texts_id(&k->texts, text, n, id);
    while (k->nnames < k->texts.n) new_name(k, &k->texts.rows[k->nnames]);
    return RS_OK;
}

/* ---- lanes ---- */

static bool is_lane(const struct rs_kineto *k, uint64_t i, bool is_stream, int32_t device, int64_t number)
{
    return i < k->nlanes && k->lanes[i].id == number && k->lanes[i].device == device &&
           k->lanes[i].is_stream == is_stream;
}

uint64_t rs_kineto_lane_key(bool is_stream, int32_t device, int64_t number)
{
    return rs_mix(rs_mix(is_stream, (uint32_t)device), (uint64_t)number);
}

enum rs_status rs_kineto_lane(struct rs_kineto *k, bool is_stream, int32_t device, int64_t number, uint32_t *lane,
                              struct rs_err *err)
{
    (void)err;
    *lane = k->last_lane;
    if (is_lane(k, k->last_lane, is_stream, device, number)) return RS_OK;
    uint64_t key = rs_kineto_lane_key(is_stream, device, number), *at;
    for (;; key++) {
        rs_map_at(&k->lane_ids, key, k->nlanes, &at);
        if (*at == k->nlanes || is_lane(k, *at, is_stream, device, number)) break;
    }
    *lane = k->last_lane = (uint32_t)*at;
    if (*lane < k->nlanes) return RS_OK;
    RS_ROOM(k->lanes, k->nlanes, k->cap_lanes);
    k->lanes[k->nlanes++] = (struct rs_kineto_lane){is_stream, device, number, 0};
    return RS_OK;
}

/* ---- rows ---- */

enum rs_status rs_kineto_row(struct rs_kineto *k, const struct rs_kineto_row *row, struct rs_err *err)
{
    (void)err;
    RS_ROOM(k->rows, k->nrows, k->cap_rows);
    k->rows[k->nrows++] = *row;
    k->of_kind[row->kind]++;
    return RS_OK;
}

enum rs_status rs_kineto_call(struct rs_kineto *k, const struct rs_kineto_call *call, struct rs_err *err)
{
    (void)err;
    RS_ROOM(k->calls, k->ncalls, k->cap_calls);
    k->calls[k->ncalls++] = *call;
    return RS_OK;
}

void rs_kineto_free(struct rs_kineto *k)
{
    rs_arena_free(&k->arena);
    rs_texts_free(&k->texts);
    rs_map_free(&k->lane_ids);
    rs_map_free(&k->group_ids);
    free(k->names);
    free(k->lanes);
    free(k->rows);
    free(k->calls);
    free(k->groups);
    *k = (struct rs_kineto){0};
}
