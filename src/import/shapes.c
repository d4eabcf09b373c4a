#include "import/shapes.h"

#include <stdlib.h>
#include <string.h>

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
    [RS_SH_CHANNELS] = "nChannels", /* not v1's to v3's nMaxChannels: that many may be used, not will */
    [RS_SH_GROUP] = "parentGroup",
    [RS_SH_HASH] = "commHash",
    [RS_SH_CAPTURED] = "graphCaptured",
    [RS_SH_SYMMETRIC] = "isSymColl",
    [RS_SH_NAME] = "name",
};

enum rs_status rs_shapes_init(struct rs_shapes *s, struct rs_model *model, const struct rs_process *process,
                              struct rs_err *err)
{
    *s = (struct rs_shapes){.process = process, .model = model, .nstrings = process->nstrings};
    for (unsigned kind = RS_K_START; kind < RS_K_START_END; kind++) {
        const struct rs_field *f = rs_kind_start(kind)->fields;
        for (; f && f->name; f++)
            for (int i = 0; i < RS_SH_FIELDS; i++)
                if (!strcmp(f->name, names[i])) s->fields[kind - RS_K_START][i] = f;
    }
    /* Under newer NCCL the v4 shim leaves this one unset: garbage of the stack. */
    s->fields[RS_K_P2P_V4 - RS_K_START][RS_SH_CHANNELS] = NULL;
    s->strings = calloc(s->nstrings + 1, sizeof *s->strings);
    return s->strings ? RS_OK : rs_fail(err, RS_NO_MEMORY, "out of memory");
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

static enum rs_status text(struct rs_shapes *s, const struct rs_callback *cb, enum rs_shape_field field, uint16_t *out,
                           struct rs_err *err)
{
    const struct rs_field *f = s->fields[cb->kind - RS_K_START][field];
    *out = 0;
    if (!f) return RS_OK;
    uint64_t v = rs_callback_field(cb, f);
    switch (f->format) {
    case RS_F_FUNC_V1: return rs_model_string(s->model, rs_nccl_func_v1((unsigned)v), out, err);
    case RS_F_DTYPE_V1: return rs_model_string(s->model, rs_nccl_datatype_v1((unsigned)v), out, err);
    case RS_F_ALGO_V1: return rs_model_string(s->model, rs_nccl_algo_v1((unsigned)v), out, err);
    case RS_F_PROTO_V1: return rs_model_string(s->model, rs_nccl_proto_v1((unsigned)v), out, err);
    default: break;
    }
    if (v >= s->nstrings) return rs_model_string(s->model, rs_process_string(s->process, v), out, err);
    if (!s->strings[v]) {
        RS_TRY(rs_model_string(s->model, rs_process_string(s->process, v), out, err));
        if (*out < UINT16_MAX) s->strings[v] = (uint16_t)(*out + 1);
        return RS_OK;
    }
    *out = (uint16_t)(s->strings[v] - 1);
    return RS_OK;
}

enum rs_status rs_shape_of(struct rs_shapes *s, const struct rs_callback *cb, struct rs_shape *out, struct rs_err *err)
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
    RS_TRY(text(s, cb, RS_SH_FUNC, &out->func, err));
    RS_TRY(text(s, cb, RS_SH_DTYPE, &out->dtype, err));
    RS_TRY(text(s, cb, RS_SH_ALGO, &out->algo, err));
    return text(s, cb, RS_SH_PROTO, &out->proto, err);
}

const char *rs_shape_comm_name(const struct rs_shapes *s, const struct rs_callback *cb)
{
    const struct rs_field *f = s->fields[cb->kind - RS_K_START][RS_SH_NAME];
    return f ? rs_process_string(s->process, rs_callback_field(cb, f)) : NULL;
}
