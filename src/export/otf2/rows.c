#ifndef RS_NO_OTF2

#include "export/otf2/rows.h"

#include <stdlib.h>

#include "export/otf2/kinds.h"
#include "export/otf2/places.h"
#include "export/otf2/spans.h"

/* ---- attributes ---- */

static enum rs_status attribute(struct rs_otf2 *o, uint32_t *id, const char *name, const char *unit, bool text,
                                struct rs_err *err)
{
    if (*id != RS_NONE) return RS_OK;
    return rs_otf2_attribute(&o->archive, name, unit, text ? OTF2_TYPE_STRING : OTF2_TYPE_UINT64, id, err);
}

static enum rs_status put_argument(struct rs_otf2 *o, uint8_t kind, unsigned i, int64_t value, struct rs_err *err)
{
    const struct rs_event_arg *arg = rs_bar_arg(&o->t->kinds.rows[kind], i);
    if (!arg->label || value == RS_BAR_NO_ARG || value < 0) return RS_OK;
    bool text = arg->unit == RS_UNIT_TEXT, time = arg->unit == RS_UNIT_TIME;
    RS_TRY(attribute(o, &o->args[kind][i], arg->label, rs_bar_units[arg->unit], text, err));
    if (text) return rs_otf2_put_text(&o->archive, o->args[kind][i], rs_texts_at(&o->t->texts, (uint32_t)value), err);
    return rs_otf2_put_u64(&o->archive, o->args[kind][i], time ? rs_otf2_time(o, value) : (uint64_t)value, err);
}

static enum rs_status put_mark(struct rs_otf2 *o, uint8_t kind, unsigned i, uint32_t at, struct rs_err *err)
{
    const char *mark = o->t->kinds.rows[kind].marks[i];
    if (!mark || !at) return RS_OK;
    RS_TRY(attribute(o, &o->marks[kind][i], mark, "this state begins so many ns behind the begin", false, err));
    return rs_otf2_put_u64(&o->archive, o->marks[kind][i], at, err);
}

static enum rs_status put_flag(struct rs_otf2 *o, enum rs_otf2_fact fact, bool is, struct rs_err *err)
{
    return is ? rs_otf2_put_u64(&o->archive, o->facts[fact], 1, err) : RS_OK;
}

static enum rs_status put_bar(struct rs_otf2 *o, void *with, uint32_t i, bool end, struct rs_err *err)
{
    const struct rs_bars *b = with;
    const struct rs_timeline *t = o->t;
    if (end) {
        RS_TRY(put_flag(o, RS_OTF2_end_bounded, b->flags[i] & RS_BAR_END_BOUNDED, err));
        return put_flag(o, RS_OTF2_open, b->flags[i] & RS_BAR_OPEN, err);
    }
    if (b->op[i] != RS_BAR_NONE) {
        uint64_t id = t->model->ops.id[t->ops[b->op[i]]];
        RS_TRY(rs_otf2_put_u64(&o->archive, o->facts[RS_OTF2_operation], id, err));
    }
    RS_TRY(put_flag(o, RS_OTF2_start_unknown, b->flags[i] & RS_BAR_START_UNKNOWN, err));
    const int64_t args[RS_BAR_ARGS] = {b->a1[i], b->a2[i], b->a3[i], b->a4[i], b->a5[i], b->a6[i]};
    const uint32_t marks[RS_BAR_MARKS] = {b->m1[i], b->m2[i], b->m3[i]};
    for (unsigned k = 0; k < RS_BAR_ARGS; k++) RS_TRY(put_argument(o, b->kind[i], k, args[k], err));
    for (unsigned k = 0; k < RS_BAR_MARKS; k++) RS_TRY(put_mark(o, b->kind[i], k, marks[k], err));
    return RS_OK;
}

/* ---- lanes ---- */

static enum rs_status region_of(struct rs_otf2 *o, const struct rs_bars *b, uint32_t i, uint32_t *region,
                                struct rs_err *err)
{
    const struct rs_bar_kind *kind = &o->t->kinds.rows[b->kind[i]];
    const char *name = b->name[i] ? rs_texts_at(&o->t->texts, b->name[i]) : kind->label;
    return rs_otf2_region(&o->archive, (uint64_t)b->kind[i] << 32 | b->name[i], name, kind->id, kind->explain,
                          rs_otf2_role(o->t, b->kind[i]), rs_otf2_paradigm(o->t, b->kind[i]), region, err);
}

/* Lanes [from, to) are one that was split. */
static enum rs_status write_lanes(struct rs_otf2 *o, const struct rs_bars *b, uint32_t from, uint32_t to,
                                  struct rs_err *err)
{
    const struct rs_bar_lane *lane = &b->lanes[from];
    struct rs_otf2_location where;
    uint32_t n = 0, all = 0;
    for (uint32_t k = from; k < to; k++) all += b->lanes[k].n;
    struct rs_otf2_span *spans = malloc(((size_t)all + 1) * sizeof *spans);
    if (!spans) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    enum rs_status status = rs_otf2_place_row(o, lane->group, rs_otf2_is_on_gpu(lane->row),
                                              rs_texts_at(&o->t->texts, lane->label), &where, err);
    for (uint32_t k = from; k < to; k++)
        for (uint32_t i = b->lanes[k].from; i < b->lanes[k].from + b->lanes[k].n && status == RS_OK; i++) {
            spans[n] = (struct rs_otf2_span){.start = b->start[i], .end = b->start[i] + b->dur[i], .token = i};
            status = region_of(o, b, i, &spans[n++].region, err);
        }
    struct rs_bars bars = *b; /* rs_otf2_put takes what may be changed */
    if (status == RS_OK) status = rs_otf2_write_spans(o, spans, n, &where, put_bar, &bars, err);
    free(spans);
    return status;
}

enum rs_status rs_otf2_write_rows(struct rs_otf2 *o, const struct rs_bars *bars, struct rs_err *err)
{
    const struct rs_bar_lane *lanes = bars->lanes;
    for (uint32_t from = 0, to; from < bars->nlanes; from = to) {
        for (to = from + 1; to < bars->nlanes && lanes[to].group == lanes[from].group &&
                            lanes[to].row == lanes[from].row && lanes[to].label == lanes[from].label;)
            to++;
        /* Operations are written from the model; those of ranks and processes are what was lost. */
        if (lanes[from].row == RS_ROW_OPERATIONS && o->t->groups[lanes[from].group].level == RS_GROUP_COMM) continue;
        RS_TRY(write_lanes(o, bars, from, to, err));
    }
    return RS_OK;
}

#endif
