#include "bundle/overview.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/room.h"

enum { BUSY, KIND, FLAGS, MOST, SPOOLED }; /* rows of o->bytes */

enum rs_status rs_overviews_open(struct rs_overviews *o, double span, const char *folder, struct rs_err *err)
{
    *o = (struct rs_overviews){.span = span, .now = RS_OVERVIEW_MOST};
    RS_TRY(rs_spool_open(&o->lanes, folder, err));
    RS_TRY(rs_pieces_open(&o->pieces, folder, err));
    o->time = rs_alloc(RS_OVERVIEW_MOST * sizeof *o->time);
    o->most = rs_alloc(RS_OVERVIEW_MOST * sizeof *o->most);
    o->bytes = rs_alloc(RS_OVERVIEW_MOST * (size_t)SPOOLED);
    o->piece = rs_alloc((size_t)RS_OVERVIEW_MOST * RS_OVERVIEW_LANES * 3);
    return RS_OK;
}

/* The number of buckets for `lanes` lanes: a power of two. */
static uint32_t buckets_for(uint64_t lanes)
{
    uint32_t buckets = RS_OVERVIEW_MOST;
    while (buckets > RS_OVERVIEW_LEAST && lanes * buckets > RS_OVERVIEW_ALL) buckets /= 2;
    return buckets;
}

/* The value of a bucket for a length of time: not 0 if there is anything. */
static uint8_t share(double part, double width)
{
    double v = round(255 * part / width);
    return v <= 1 ? 1 : v >= 255 ? 255 : (uint8_t)v;
}

struct stretch {
    double from, to;
    double weight; /* of its time: a fading end counts half */
    uint8_t kind, flags;
};

static void cover(struct rs_overviews *o, const struct stretch *s, double width)
{
    uint32_t n = o->now;
    double at = floor(s->from / width);
    uint32_t b = at <= 0 ? 0 : at >= n ? n - 1 : (uint32_t)at;
    for (bool first = true; b < n && (first || b * width < s->to); b++, first = false) {
        double low = s->from > b * width ? s->from : b * width,
               high = s->to < (b + 1) * width ? s->to : (b + 1) * width;
        double here = high > low ? (high - low) * s->weight : 0;
        o->time[b] += here;
        o->bytes[FLAGS * n + b] |= s->flags;
        if (here < o->most[b]) continue;
        o->most[b] = here;
        o->bytes[KIND * n + b] = s->kind;
    }
}

enum rs_status rs_overviews_lane(struct rs_overviews *o, const struct rs_bars *bars, const struct rs_bar_lane *lane,
                                 struct rs_err *err)
{
    o->now = buckets_for((uint64_t)o->n + 1);
    uint32_t n = o->now;
    double width = o->span / n;
    memset(o->bytes, 0, (size_t)n * SPOOLED);
    for (uint32_t b = 0; b < n; b++) o->time[b] = 0;
    for (uint32_t b = 0; b < n; b++) o->most[b] = -1; /* empty */
    for (uint32_t i = lane->from; i < lane->from + lane->n; i++) {
        double start = (double)bars->start[i], end = start + (double)bars->dur[i];
        struct stretch s = {start, end, 1, bars->kind[i], bars->flags[i]};
        cover(o, &s, width);
        if (bars->fade[i] <= 0) continue;
        s = (struct stretch){end, end + (double)bars->fade[i], 0.5, bars->kind[i], bars->flags[i]};
        cover(o, &s, width);
    }
    for (uint32_t b = 0; b < n; b++)
        if (o->most[b] >= 0) {
            o->bytes[BUSY * n + b] = share(o->time[b], width);
            o->bytes[MOST * n + b] = share(o->most[b], width);
        }
    RS_ROOM(o->buckets, o->n, o->cap);
    o->buckets[o->n++] = (uint16_t)n;
    return rs_spool_write(&o->lanes, o->bytes, (size_t)n * SPOOLED, err);
}

/* Two buckets become one, in place; the rows move together. */
static void halve(uint8_t *bytes, uint32_t n)
{
    uint32_t half = n / 2;
    for (uint32_t b = 0; b < half; b++) {
        const uint8_t *busy = bytes + BUSY * n + 2 * b, *most = bytes + MOST * n + 2 * b;
        const uint8_t *kind = bytes + KIND * n + 2 * b, *flags = bytes + FLAGS * n + 2 * b;
        uint8_t longer = most[1] > most[0];
        uint8_t row[SPOOLED] = {[BUSY] = (uint8_t)((busy[0] + busy[1] + 1) / 2),
                                [KIND] = kind[longer],
                                [FLAGS] = flags[0] | flags[1],
                                [MOST] = (uint8_t)((most[longer] + 1) / 2)};
        for (int k = 0; k < SPOOLED; k++) bytes[(uint32_t)k * n + b] = row[k]; /* b <= 2b: read before overwritten */
    }
    for (uint32_t k = 1; k < SPOOLED; k++) memmove(bytes + k * half, bytes + k * n, half);
}

static enum rs_status pack_piece(struct rs_overviews *o, uint32_t rows, struct rs_packer *table, struct rs_zip *z,
                                 struct rs_err *err)
{
    size_t room = (size_t)RS_OVERVIEW_MOST * RS_OVERVIEW_LANES;
    rs_packer_begin(table, rows);
    rs_packer_u8(table, "busy", o->piece + BUSY * room);
    rs_packer_u8(table, "kind", o->piece + KIND * room);
    rs_packer_u8(table, "flags", o->piece + FLAGS * room);
    return rs_pieces_add(&o->pieces, z, table, err);
}

enum rs_status rs_overviews_pack(struct rs_overviews *o, struct rs_packer *table, struct rs_zip *z, uint32_t *buckets,
                                 struct rs_err *err)
{
    *buckets = buckets_for(o->n);
    RS_TRY(rs_spool_rewind(&o->lanes, err));
    for (uint32_t lane = 0; lane < o->n; lane++) {
        uint32_t n = o->buckets[lane], at = lane % RS_OVERVIEW_LANES;
        RS_TRY(rs_spool_read(&o->lanes, o->bytes, (size_t)n * SPOOLED, err));
        for (; n > *buckets; n /= 2) halve(o->bytes, n);
        for (size_t k = 0; k < MOST; k++)
            memcpy(o->piece + k * RS_OVERVIEW_MOST * RS_OVERVIEW_LANES + (size_t)at * n, o->bytes + k * n, n);
        if (at + 1 == RS_OVERVIEW_LANES || lane + 1 == o->n) RS_TRY(pack_piece(o, (at + 1) * n, table, z, err));
    }
    return RS_OK;
}

void rs_overviews_free(struct rs_overviews *o)
{
    rs_spool_close(&o->lanes);
    rs_pieces_free(&o->pieces);
    free(o->buckets);
    free(o->time);
    free(o->most);
    free(o->bytes);
    free(o->piece);
    *o = (struct rs_overviews){0};
}
