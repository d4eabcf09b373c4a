#include "export/callback_args.h"

#include <inttypes.h>

#include "nccl/names.h"

/* The name that a field's number stands for, if it has one. */
static const char *name_of(const struct rs_process *process, const struct rs_field *f, uint64_t v)
{
    switch ((enum rs_field_format)f->format) {
    case RS_F_STRING: return rs_process_string(process, v);
    case RS_F_FUNC_V1: return rs_nccl_func_v1((unsigned)v);
    case RS_F_DTYPE_V1: return rs_nccl_datatype_v1((unsigned)v);
    case RS_F_ALGO_V1: return rs_nccl_algo_v1((unsigned)v);
    case RS_F_PROTO_V1: return rs_nccl_proto_v1((unsigned)v);
    default: return NULL;
    }
}

void rs_callback_args_json(struct rs_json *j, const struct rs_process *process, const struct rs_callback *cb)
{
    for (const struct rs_field *f = rs_callback_fields(cb); f && f->name; f++) {
        uint64_t v = rs_callback_field(cb, f);
        const char *name = name_of(process, f, v);
        switch ((enum rs_field_format)f->format) {
        case RS_F_INT: rs_json_key_i64(j, f->name, (int64_t)v); break;
        case RS_F_BOOL: rs_json_key_bool(j, f->name, v != 0); break;
        case RS_F_POINTER:
        case RS_F_HANDLE:
        case RS_F_HASH:
            if (v)
                rs_json_key_hex(j, f->name, v);
            else
                rs_json_key_null(j, f->name);
            break;
        case RS_F_STRING: rs_json_key_str(j, f->name, name); break;
        default: /* v1's numbers by name, with the number where there is none */
            if (name)
                rs_json_key_str(j, f->name, name);
            else
                rs_json_key_u64(j, f->name, v);
        }
    }
}

void rs_callback_args_text(struct rs_strbuf *to, const struct rs_process *process, const struct rs_callback *cb)
{
    const char *comma = "";
    for (const struct rs_field *f = rs_callback_fields(cb); f && f->name; f++) {
        if (f->format == RS_F_POINTER || f->format == RS_F_HANDLE) continue;
        uint64_t v = rs_callback_field(cb, f);
        const char *name = name_of(process, f, v);
        rs_strbuf_printf(to, "%s%s ", comma, f->name);
        if (name)
            rs_strbuf_puts(to, name);
        else if (f->format == RS_F_HASH)
            rs_strbuf_printf(to, "0x%016" PRIx64, v);
        else if (f->format == RS_F_INT)
            rs_strbuf_printf(to, "%" PRId64, (int64_t)v);
        else
            rs_strbuf_printf(to, "%" PRIu64, v);
        comma = ", ";
    }
}
