/* Perfetto's own format (.pftrace), written by hand: Protocol Buffers without their library.
 *
 * A process a rank, a track a communicator with a track a lane below it; a bar is a slice's begin and end
 * (perfetto/packets.h), and slices of a track lie beside or inside each other (nests.h). Slices of an operation also
 * carry its number as correlation id. */
#include <stdlib.h>

#include "export/exporter.h"
#include "export/nests.h"
#include "export/perfetto/flows.h"
#include "export/perfetto/packets.h"
#include "export/perfetto/tracks.h"
#include "export/rank_counters.h"
#include "export/rank_rows.h"
#include "export/slice_args.h"
#include "model/model.h"

struct perfetto {
    struct rs_packets packets;
    struct rs_rank_rows rows;
    struct rs_pf_tracks tracks;
    struct rs_slice_args args;
    struct rs_flows flows;
    struct rs_rank_counters counters;
    struct rs_nests nests;
};

static enum rs_status begin(struct rs_export *x, struct rs_err *err)
{
    struct rs_timeline *t = x->timeline;
    struct perfetto *p = calloc(1, sizeof *p);
    if (!p) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    x->state = p;
    rs_packets_open(&p->packets, x->file, x->name, t->begin);
    RS_TRY(rs_rank_rows_init(&p->rows, t, err));
    RS_TRY(rs_slice_args_init(&p->args, t, err));
    RS_TRY(rs_flows_init(&p->flows, t, err));
    rs_pf_tracks_open(&p->tracks, &p->packets, t, &p->rows);
    return rs_pf_tracks_head(&p->tracks, err);
}

/* ---- a slice ---- */

/* Keys of categories count by row; behind them what was lost, and what was not recorded. */
static uint32_t category_of(struct rs_packets *p, const struct rs_timeline *t, const struct rs_bars *b, uint32_t i)
{
    uint8_t kind = b->kind[i];
    uint32_t key = kind == RS_BAR_LOSS ? RS_ROWS : kind == RS_BAR_BLANK ? RS_ROWS + 1 : t->kinds.rows[kind].row;
    return rs_packets_intern(p, RS_INTERNED_CATEGORIES, key, rs_slice_category(t, b, i));
}

/* Keys of names count by kind, and behind those by text. */
static uint32_t name_of(struct rs_packets *p, const struct rs_timeline *t, const struct rs_bars *b, uint32_t i)
{
    uint32_t text = b->name[i], key = text ? RS_BAR_KINDS + text : b->kind[i];
    return rs_packets_intern(p, RS_INTERNED_NAMES, key,
                             text ? rs_texts_at(&t->texts, text) : t->kinds.rows[b->kind[i]].label);
}

/* An annotation is at most 18 bytes, so that its length is one byte that can be filled in behind it; with that and its
 * tag it is ARGUMENT. The rest of what begins a slice, but for its flows, is HEAD at most. */
enum { ARGUMENT = 20, HEAD = 14 };

static uint8_t *put_argument(struct rs_packets *p, const struct rs_slice_args *args, const struct rs_slice_arg *a,
                             uint8_t *to)
{
    static const uint8_t fields[] = {
        [RS_SLICE_INT] = PF_NOTE_INT,     [RS_SLICE_UINT] = PF_NOTE_UINT,   [RS_SLICE_BOOL] = PF_NOTE_BOOL,
        [RS_SLICE_HEX] = PF_NOTE_POINTER, [RS_SLICE_DIGITS] = PF_NOTE_UINT, [RS_SLICE_TEXT] = PF_NOTE_STRING_IID,
    };
    uint8_t *length = to + 1;
    uint64_t value = a->value;
    uint32_t key = rs_packets_intern(p, RS_INTERNED_KEYS, a->key, args->keys[a->key]);
    if (a->type == RS_SLICE_TEXT)
        value = rs_packets_intern(p, RS_INTERNED_TEXTS, (uint32_t)value, rs_texts_at(&args->t->texts, (uint32_t)value));
    *to = PF_EVENT_DEBUG_ANNOTATIONS << 3 | 2;
    to += 2;
    *to++ = PF_NOTE_NAME_IID << 3;
    to = rs_wire_put(to, key);
    to = rs_wire_put(to, (uint64_t)fields[a->type] << 3);
    to = rs_wire_put(to, value);
    *length = (uint8_t)(to - length - 1);
    return to;
}

static enum rs_status begin_slice(struct perfetto *p, const struct rs_timeline *t, const struct rs_bars *b, uint32_t i,
                                  struct rs_err *err)
{
    struct rs_packets *out = &p->packets;
    const struct rs_slice_args *args = &p->args;
    uint32_t part = args->part_of_bar[i];
    RS_TRY(rs_slice_args_of(&p->args, b, i, true, err));
    if (!rs_packets_begin(out, HEAD + RS_SLICE_MOST * ARGUMENT)) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    uint8_t *to = out->event.data;
    *to++ = PF_EVENT_TYPE << 3;
    *to++ = PF_SLICE_BEGIN;
    *to++ = PF_EVENT_CATEGORY_IIDS << 3;
    to = rs_wire_put(to, category_of(out, t, b, i));
    *to++ = PF_EVENT_NAME_IID << 3;
    to = rs_wire_put(to, name_of(out, t, b, i));
    for (unsigned k = 0; k < args->n; k++)
        if (args->args[k].type != RS_SLICE_NULL) to = put_argument(out, args, &args->args[k], to);
    out->event.n = (size_t)(to - out->event.data);
    rs_flows_put(&p->flows, b, i, part, &out->event);
    if (part != RS_NONE && b->op[i] != RS_BAR_NONE)
        rs_wire_uint(&out->event, PF_EVENT_CORRELATION_ID, (uint64_t)b->op[i] + 1);
    rs_packets_event(out, b->start[i], true);
    return RS_OK;
}

/* Ends slices from bar `open` outwards, up to `until`, which goes on. */
static void end_slices(struct perfetto *p, const struct rs_bars *b, uint32_t open, uint32_t until)
{
    for (; open != until; open = p->nests.within[open])
        rs_packets_slice_end(&p->packets, b->start[open] + b->dur[open]);
}

static enum rs_status put_track(struct perfetto *p, const struct rs_timeline *t, const struct rs_bars *b, uint32_t l,
                                struct rs_err *err)
{
    const struct rs_nests *nests = &p->nests;
    uint32_t row = p->rows.of_group[b->lanes[l].group], open = RS_NONE;
    uint64_t track;
    RS_TRY(rs_pf_tracks_lane(&p->tracks, &b->lanes[l], &track, err));
    rs_packets_track(&p->packets, track);
    rs_slice_args_track(&p->args, &b->lanes[l]);
    for (uint32_t k = nests->from[l]; k < nests->from[l + 1]; k++) {
        uint32_t i = nests->order[k];
        end_slices(p, b, open, nests->within[i]);
        RS_TRY(begin_slice(p, t, b, i, err));
        open = i;
        if (p->args.part_of_bar[i] != RS_NONE && row != RS_NONE)
            RS_TRY(rs_rank_counters_add(&p->counters, b, i, row, err));
    }
    end_slices(p, b, open, RS_NONE);
    return rs_packets_check(&p->packets, err);
}

static void put_counter(void *to, uint32_t row, enum rs_rank_counter counter, bool first, int64_t at, uint64_t value)
{
    struct perfetto *p = to;
    struct rs_packets *out = &p->packets;
    if (first) rs_packets_track(out, rs_pf_tracks_counter(&p->tracks, row, counter));
    rs_packets_begin(out, 0);
    rs_wire_uint(&out->event, PF_EVENT_TYPE, PF_COUNTER);
    rs_wire_uint(&out->event, PF_EVENT_COUNTER_VALUE, value);
    rs_packets_event(out, at, false);
}

/* ---- the exporter ---- */

static enum rs_status piece(struct rs_export *x, uint32_t proc, const struct rs_bars *b, struct rs_err *err)
{
    struct perfetto *p = x->state;
    const struct rs_timeline *t = x->timeline;
    RS_TRY(rs_slice_args_piece(&p->args, proc, b, err));
    RS_TRY(rs_nests_piece(&p->nests, b, err));
    RS_TRY(rs_flows_piece(&p->flows, b, &p->nests, err));
    if (!b->piece) {
        rs_pf_tracks_process(&p->tracks);
        rs_packets_sequence(&p->packets);
    }
    for (uint32_t l = 0; l < b->nlanes; l++)
        if (p->nests.from[l] < p->nests.from[l + 1]) RS_TRY(put_track(p, t, b, l, err));
    if (b->last) rs_rank_counters_put(&p->counters, put_counter, p);
    rs_flows_done(&p->flows, b);
    rs_nests_free(&p->nests);
    rs_slice_args_done(&p->args);
    return rs_packets_check(&p->packets, err);
}

static enum rs_status end(struct rs_export *x, struct rs_err *err)
{
    struct perfetto *p = x->state;
    rs_packets_flush(&p->packets);
    RS_TRY(rs_packets_check(&p->packets, err));
    return fflush(x->file) == 0 ? RS_OK : rs_fail_errno(err, "%s: cannot write", x->name);
}

static void free_state(struct rs_export *x)
{
    struct perfetto *p = x->state;
    if (!p) return;
    rs_pf_tracks_free(&p->tracks);
    rs_packets_free(&p->packets);
    rs_rank_rows_free(&p->rows);
    rs_slice_args_free(&p->args);
    rs_flows_free(&p->flows);
    rs_rank_counters_free(&p->counters);
    rs_nests_free(&p->nests);
    free(p);
    x->state = NULL;
}

const struct rs_exporter rs_exporter_perfetto = {
    .name = "perfetto",
    .what = "the same for ui.perfetto.dev, smaller and quicker",
    .suffixes = ".pftrace .perfetto-trace",
    .output = RS_EXPORT_STREAM,
    .binary = true,
    .to_bound = true,
    .rows = (1ull << RS_ROWS) - 1,
    .begin = begin,
    .piece = piece,
    .end = end,
    .free = free_state,
};
