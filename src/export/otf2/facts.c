#ifndef RS_NO_OTF2

#include "export/otf2/state.h"

#include <assert.h>

#include "fields/operation.h"
#include "timeline/span.h"

/* A part whose region begins or ends. */
struct otf2_row {
    const struct rs_otf2 *o;
    const struct rs_model *m;
    uint32_t part, op;
    uint8_t flags; /* of struct rs_stretch */
    int64_t end, fade; /* when it ends */
};

enum when { BEGIN, END };

/* ---- values ---- */

static uint32_t fanout_of(const struct otf2_row *r)
{
    return r->m->ops.fanout[r->op];
}

static struct rs_value flag(bool is)
{
    return is ? rs_v_uint(1) : rs_v_null();
}

static struct rs_value time_at(const struct otf2_row *r, int64_t at)
{
    return rs_v_uint(rs_otf2_time(r->o, at));
}

static struct rs_value wait_of(const struct otf2_row *r)
{
    int64_t wait = rs_stretch_wait(r->o->t, r->part);
    return wait ? rs_v_int(wait) : rs_v_null();
}

static struct rs_value launched_of(const struct otf2_row *r)
{
    int64_t at, dur, launched = r->m->parts.launched[r->part];
    return rs_span_place(r->o->t, launched, launched, &at, &dur) ? time_at(r, at) : rs_v_null();
}

/* ---- the attributes ---- */

/* clang-format off */
#define ATTRIBUTE(id, type, when, value, description)                                                                  \
    static struct rs_value get_##id(const struct otf2_row *r)                                                          \
    {                                                                                                                  \
        return value;                                                                                                  \
    }
#include "export/otf2/attributes.inc"
#undef ATTRIBUTE

static const struct {
    const char *name, *description;
    OTF2_Type type;
    enum when when;
    struct rs_value (*get)(const struct otf2_row *r);
} facts[RS_OTF2_FACTS] = {
#define ATTRIBUTE(id, type, when, value, description) {#id, description, OTF2_TYPE_##type, when, get_##id},
#include "export/otf2/attributes.inc"
#undef ATTRIBUTE
};
/* clang-format on */

/* Fields of an operation that are attributes as they are: lists and rates are not. */
static bool is_more(const struct rs_out_field *f)
{
    return f->in & RS_IN_OTF2 && f->type != RS_OUT_DOUBLE && f->type <= RS_OUT_TEXT;
}

enum rs_status rs_otf2_facts_make(struct rs_otf2 *o, struct rs_err *err)
{
    unsigned n = RS_OTF2_FACTS;
    for (unsigned i = 0; i < RS_OTF2_FACTS; i++)
        RS_TRY(rs_otf2_attribute(&o->archive, facts[i].name, facts[i].description, facts[i].type, &o->facts[i], err));
    for (const struct rs_out_field *f = rs_op_fields; f < rs_op_fields + RS_OP_FIELDS; f++) {
        if (!is_more(f)) continue;
        assert(n < RS_OTF2_MORE);
        OTF2_Type type = f->type == RS_OUT_TEXT ? OTF2_TYPE_STRING : OTF2_TYPE_UINT64;
        RS_TRY(rs_otf2_attribute(&o->archive, f->name, f->doc, type, &o->facts[n++], err));
    }
    return RS_OK;
}

static enum rs_status put(struct rs_otf2 *o, unsigned fact, struct rs_value v, struct rs_err *err)
{
    if (v.type == RS_OUT_NULL) return RS_OK;
    return v.type == RS_OUT_TEXT ? rs_otf2_put_text(&o->archive, o->facts[fact], v.text, err)
                                 : rs_otf2_put_u64(&o->archive, o->facts[fact], v.u, err);
}

static enum rs_status put_all(struct rs_otf2 *o, const struct otf2_row *r, enum when when, struct rs_err *err)
{
    for (unsigned i = 0; i < RS_OTF2_FACTS; i++)
        if (facts[i].when == when) RS_TRY(put(o, i, facts[i].get(r), err));
    return RS_OK;
}

enum rs_status rs_otf2_put_begin(struct rs_otf2 *o, uint32_t part, uint8_t flags, struct rs_err *err)
{
    const struct rs_model *m = o->t->model;
    struct otf2_row r = {.o = o, .m = m, .part = part, .op = m->parts.op[part], .flags = flags};
    RS_TRY(put_all(o, &r, BEGIN, err));
    struct rs_op_key op = rs_op_key(m, r.op);
    unsigned n = RS_OTF2_FACTS;
    for (const struct rs_out_field *f = rs_op_fields; f < rs_op_fields + RS_OP_FIELDS; f++)
        if (is_more(f)) RS_TRY(put(o, n++, f->get(&op), err));
    return RS_OK;
}

enum rs_status rs_otf2_put_end(struct rs_otf2 *o, uint32_t part, uint8_t flags, int64_t end, int64_t fade,
                               struct rs_err *err)
{
    const struct rs_model *m = o->t->model;
    struct otf2_row r = {o, m, part, m->parts.op[part], flags, end, fade};
    return put_all(o, &r, END, err);
}

/* ---- metrics ---- */

static uint64_t bytes_of(const struct rs_model *m, uint32_t op)
{
    return rs_size_known(m, op) ? m->ops.bytes[op] : 0;
}

/* clang-format off */
#define METRIC(id, unit, value, description)                                                                           \
    static uint64_t metric_##id(const struct rs_otf2 *o, uint32_t part)                                                \
    {                                                                                                                  \
        return value;                                                                                                  \
    }
#include "export/otf2/metrics.inc"
#undef METRIC

const struct rs_otf2_metric_row rs_otf2_metrics[RS_OTF2_METRICS] = {
#define METRIC(id, unit, value, description) {#id, unit, description, metric_##id},
#include "export/otf2/metrics.inc"
#undef METRIC
};
/* clang-format on */

#endif
