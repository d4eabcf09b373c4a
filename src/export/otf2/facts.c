#ifndef RS_NO_OTF2

#include "export/otf2/facts.h"

#include "join/op_facts.h"
#include "timeline/span.h"

static const struct {
    const char *name, *description;
    OTF2_Type type;
} facts[RS_OTF2_FACTS] = {
    [RS_OTF2_OPERATION] = {"operation", "the operation's id, as `ringscope ops` prints it in hex", OTF2_TYPE_UINT64},
    [RS_OTF2_FANOUT] = {"fanout", "the id of the fan-out that a send or receive is part of", OTF2_TYPE_UINT64},
    [RS_OTF2_SEQUENCE] = {"sequence", "as NCCL numbers the operation", OTF2_TYPE_UINT64},
    [RS_OTF2_BYTES] = {"bytes", "of the operation; absent: not known", OTF2_TYPE_UINT64},
    [RS_OTF2_COUNT] = {"count", "elements, as this rank said", OTF2_TYPE_UINT64},
    [RS_OTF2_DATATYPE] = {"datatype", "of the elements", OTF2_TYPE_STRING},
    [RS_OTF2_ALGORITHM] = {"algorithm", "as NCCL chose it", OTF2_TYPE_STRING},
    [RS_OTF2_PROTOCOL] = {"protocol", "as NCCL chose it", OTF2_TYPE_STRING},
    [RS_OTF2_LAUNCHED] = {"launched", "time at which its kernel was launched", OTF2_TYPE_UINT64},
    [RS_OTF2_START_UNKNOWN] = {"start_unknown", "1: when it began is not told; the time is that of its launch, or call",
                               OTF2_TYPE_UINT64},
    [RS_OTF2_WAIT] = {"wait_ns", "how long this rank waited for the last one; absent: not, or less than clocks err",
                      OTF2_TYPE_UINT64},
    [RS_OTF2_ERROR] = {"error_ns", "how far times of its ranks may err against each other", OTF2_TYPE_UINT64},
    [RS_OTF2_LAST] = {"last", "1: the last to arrive, by more than clocks err", OTF2_TYPE_UINT64},
    [RS_OTF2_END_BOUNDED] = {"end_bounded",
                             "1: the end is not known; the time is its upper bound, without one its lower bound",
                             OTF2_TYPE_UINT64},
    [RS_OTF2_END_AFTER] = {"end_after", "time that is a lower bound of the end", OTF2_TYPE_UINT64},
    [RS_OTF2_END_BEFORE] = {"end_before", "time that is an upper bound of the end", OTF2_TYPE_UINT64},
    [RS_OTF2_OPEN] = {"open", "1: it had not ended when the recording did", OTF2_TYPE_UINT64},
};

enum rs_status rs_otf2_facts_make(struct rs_otf2 *o, struct rs_err *err)
{
    for (unsigned i = 0; i < RS_OTF2_FACTS; i++)
        RS_TRY(rs_otf2_attribute(&o->archive, facts[i].name, facts[i].description, facts[i].type, &o->facts[i], err));
    return RS_OK;
}

static enum rs_status put(struct rs_otf2 *o, enum rs_otf2_fact fact, uint64_t value, struct rs_err *err)
{
    return rs_otf2_put_u64(&o->archive, o->facts[fact], value, err);
}

static enum rs_status put_string(struct rs_otf2 *o, enum rs_otf2_fact fact, uint16_t string, struct rs_err *err)
{
    if (!string) return RS_OK;
    return rs_otf2_put_text(&o->archive, o->facts[fact], rs_model_text(o->t->model, string), err);
}

enum rs_status rs_otf2_put_begin(struct rs_otf2 *o, uint32_t part, uint8_t flags, struct rs_err *err)
{
    const struct rs_model *m = o->t->model;
    uint32_t op = m->parts.op[part], fanout = m->ops.fanout[op];
    int64_t at, dur, launched = m->parts.launched[part];
    RS_TRY(put(o, RS_OTF2_OPERATION, m->ops.id[op], err));
    if (fanout < m->ops.n) RS_TRY(put(o, RS_OTF2_FANOUT, m->ops.id[fanout], err));
    if (m->ops.seq[op] != UINT64_MAX) RS_TRY(put(o, RS_OTF2_SEQUENCE, m->ops.seq[op], err));
    if (rs_size_known(m, op)) RS_TRY(put(o, RS_OTF2_BYTES, m->ops.bytes[op], err));
    RS_TRY(put(o, RS_OTF2_COUNT, m->parts.count[part], err));
    RS_TRY(put_string(o, RS_OTF2_DATATYPE, m->parts.dtype[part], err));
    RS_TRY(put_string(o, RS_OTF2_ALGORITHM, m->parts.algo[part], err));
    RS_TRY(put_string(o, RS_OTF2_PROTOCOL, m->parts.proto[part], err));
    if (rs_span_place(o->t, launched, launched, &at, &dur)) RS_TRY(put(o, RS_OTF2_LAUNCHED, rs_otf2_time(o, at), err));
    return flags & RS_BAR_START_UNKNOWN ? put(o, RS_OTF2_START_UNKNOWN, 1, err) : RS_OK;
}

enum rs_status rs_otf2_put_end(struct rs_otf2 *o, uint32_t part, uint8_t flags, int64_t end, int64_t fade,
                               struct rs_err *err)
{
    const struct rs_model *m = o->t->model;
    uint32_t op = m->parts.op[part];
    int64_t wait = rs_stretch_wait(o->t, part), error = rs_op_error(m, op);
    if (wait) RS_TRY(put(o, RS_OTF2_WAIT, (uint64_t)wait, err));
    if (error != RS_TIME_NONE && error >= 0) RS_TRY(put(o, RS_OTF2_ERROR, (uint64_t)error, err));
    if (rs_stretch_is_last(o->t, part)) RS_TRY(put(o, RS_OTF2_LAST, 1, err));
    if (flags & RS_BAR_END_BOUNDED) {
        RS_TRY(put(o, RS_OTF2_END_BOUNDED, 1, err));
        RS_TRY(put(o, RS_OTF2_END_AFTER, rs_otf2_time(o, end - fade), err));
    }
    if (fade > 0) RS_TRY(put(o, RS_OTF2_END_BEFORE, rs_otf2_time(o, end), err));
    return flags & RS_BAR_OPEN ? put(o, RS_OTF2_OPEN, 1, err) : RS_OK;
}

#endif
