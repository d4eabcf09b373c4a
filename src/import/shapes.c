#include "import/shapes.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "nccl/names.h"

static const char *const names[RS_SH_FIELDS] = {
    [RS_SH_SEQ] = "seqNumber",
    [RS_SH_FUNC] = "func",
    [RS_SH_COUNT] = "count",
    [RS_SH_ROOT] = "root",
    [RS_SH_PEER] = "peer",
    [RS_SH_DTYPE] = "datatype",
    [RS_SH_ALGO] = "algo",
    [RS_SH_PROTO] = "proto",
    [RS_SH_CHANNELS] = "nChannels", /* not nMaxChannels of v1 to v3: an upper limit */
    [RS_SH_GROUP] = "parentGroup",
    [RS_SH_HASH] = "commHash",
    [RS_SH_CAPTURED] = "graphCaptured",
    [RS_SH_SYMMETRIC] = "isSymColl",
    [RS_SH_NAME] = "name",
};

void rs_shapes_init(struct rs_shapes *s, struct rs_model *model, const struct rs_process *process)
{
    *s = (struct rs_shapes){.process = process, .model = model, .nstrings = process->nstrings};
    for (unsigned kind = RS_K_START; kind < RS_K_START_END; kind++) {
        const struct rs_field *f = rs_kind_start(kind)->fields;
        for (; f && f->name; f++)
            for (int i = 0; i < RS_SH_FIELDS; i++)
                if (!strcmp(f->name, names[i])) s->fields[kind - RS_K_START][i] = f;
    }
    /* Newer NCCL leaves this uninitialized for v4 plugins. */
    s->fields[RS_K_P2P_V4 - RS_K_START][RS_SH_CHANNELS] = NULL;
    s->strings = rs_zalloc(s->nstrings + 1, sizeof *s->strings);
}

void rs_shapes_free(struct rs_shapes *s)
{
    free(s->strings);
    s->strings = NULL;
}

static uint64_t number(const struct rs_shapes *s, const struct rs_callback *cb, enum rs_shape_field field,
                       uint64_t otherwise)
{
    const struct rs_field *f = s->fields[cb->kind - RS_K_START][field];
    return f ? rs_callback_field(cb, f) : otherwise;
}

static void text(struct rs_shapes *s, const struct rs_callback *cb, enum rs_shape_field field, uint16_t *out)
{
    const struct rs_field *f = s->fields[cb->kind - RS_K_START][field];
    *out = 0;
    if (!f) return;
    uint64_t v = rs_callback_field(cb, f);
    switch (f->format) {
    case RS_F_FUNC_V1: rs_model_string(s->model, rs_nccl_func_v1((unsigned)v), out); return;
    case RS_F_DTYPE_V1: rs_model_string(s->model, rs_nccl_datatype_v1((unsigned)v), out); return;
    case RS_F_ALGO_V1: rs_model_string(s->model, rs_nccl_algo_v1((unsigned)v), out); return;
    case RS_F_PROTO_V1: rs_model_string(s->model, rs_nccl_proto_v1((unsigned)v), out); return;
    default: break;
    }
    if (v >= s->nstrings) {
        rs_model_string(s->model, rs_process_string(s->process, v), out);
        return;
    }
    if (!s->strings[v]) {
        rs_model_string(s->model, rs_process_string(s->process, v), out);
        if (*out < UINT16_MAX) s->strings[v] = (uint16_t)(*out + 1);
        return;
    }
    *out = (uint16_t)(s->strings[v] - 1);
}

void rs_shape_of(struct rs_shapes *s, const struct rs_callback *cb, struct rs_shape *out)
{
    *out = (struct rs_shape){
        .seq = number(s, cb, RS_SH_SEQ, UINT64_MAX),
        .count = number(s, cb, RS_SH_COUNT, 0),
        .hash = number(s, cb, RS_SH_HASH, 0),
        .group = number(s, cb, RS_SH_GROUP, 0),
        .root = (int32_t)number(s, cb, RS_SH_ROOT, (uint64_t)-1),
        .peer = (int32_t)number(s, cb, RS_SH_PEER, (uint64_t)-1),
        .channels = (unsigned)number(s, cb, RS_SH_CHANNELS, 0),
        .captured = number(s, cb, RS_SH_CAPTURED, 0) != 0,
        .symmetric = number(s, cb, RS_SH_SYMMETRIC, 0) != 0,
    };
    text(s, cb, RS_SH_FUNC, &out->func);
    text(s, cb, RS_SH_DTYPE, &out->dtype);
    text(s, cb, RS_SH_ALGO, &out->algo);
    text(s, cb, RS_SH_PROTO, &out->proto);
}

const char *rs_shape_comm_name(const struct rs_shapes *s, const struct rs_callback *cb)
{
    const struct rs_field *f = s->fields[cb->kind - RS_K_START][RS_SH_NAME];
    return f ? rs_process_string(s->process, rs_callback_field(cb, f)) : NULL;
}
