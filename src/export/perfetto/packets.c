#include "export/perfetto/packets.h"

#include <stdlib.h>

#include "base/memory.h"

enum { FLUSH_AT = 1 << 18, PLAIN = 1 };

void rs_packets_open(struct rs_packets *p, FILE *file, const char *name, int64_t begin)
{
    *p = (struct rs_packets){.file = file, .name = name, .base = begin > 0 ? (uint64_t)begin : 0, .sequence = PLAIN};
    p->err.code = RS_OK;
}

void rs_packets_flush(struct rs_packets *p)
{
    if (p->err.code == RS_OK && p->out.n && fwrite(p->out.data, 1, p->out.n, p->file) != p->out.n)
        rs_fail_errno(&p->err, "%s: cannot write", p->name);
    rs_wire_clear(&p->out);
}

enum rs_status rs_packets_check(const struct rs_packets *p, struct rs_err *err)
{
    if (p->err.code != RS_OK && err) *err = p->err;
    return p->err.code;
}

void rs_packets_free(struct rs_packets *p)
{
    for (int i = 0; i < RS_INTERNED_TABLES; i++) free(p->tables[i].texts);
    rs_wire_free(&p->event);
    rs_wire_free(&p->interned);
    rs_wire_free(&p->out);
    rs_wire_free(&p->packet);
    rs_wire_free(&p->row);
    *p = (struct rs_packets){0};
}

/* The current packet is complete. */
static void put_packet(struct rs_packets *p)
{
    rs_wire_message(&p->out, PF_TRACE_PACKET, &p->packet);
    if (p->out.n >= FLUSH_AT) rs_packets_flush(p);
}

void rs_packets_plain(struct rs_packets *p, uint32_t field, const struct rs_wire *message, int64_t at)
{
    rs_wire_clear(&p->packet);
    if (at >= 0) rs_wire_uint(&p->packet, PF_PACKET_TIMESTAMP, p->base + (uint64_t)at);
    rs_wire_uint(&p->packet, PF_PACKET_SEQUENCE_ID, PLAIN);
    rs_wire_message(&p->packet, field, message);
    put_packet(p);
}

/* A row of a clock snapshot, into p->row. */
static void clock_row(struct rs_packets *p, uint32_t id, uint64_t at, bool incremental)
{
    struct rs_wire *inner = &p->event;
    rs_wire_clear(inner);
    rs_wire_uint(inner, PF_CLOCK_ID, id);
    rs_wire_uint(inner, PF_CLOCK_TIMESTAMP, at);
    if (incremental) rs_wire_uint(inner, PF_CLOCK_INCREMENTAL, 1);
    rs_wire_message(&p->row, PF_SNAPSHOT_CLOCKS, inner);
}

void rs_packets_sequence(struct rs_packets *p)
{
    p->sequence++;
    p->fresh = true;
    for (int i = 0; i < RS_INTERNED_TABLES; i++) p->tables[i].last = 0;
}

void rs_packets_track(struct rs_packets *p, uint64_t track)
{
    p->last = 0;
    rs_wire_clear(&p->packet);
    rs_wire_uint(&p->packet, PF_PACKET_SEQUENCE_ID, p->sequence);
    if (p->fresh) rs_wire_uint(&p->packet, PF_PACKET_SEQUENCE_FLAGS, PF_STATE_CLEARED);
    p->fresh = false;
    rs_wire_clear(&p->event);
    rs_wire_uint(&p->event, PF_EVENT_TRACK_UUID, track);
    rs_wire_clear(&p->row);
    rs_wire_message(&p->row, PF_DEFAULTS_TRACK_EVENT, &p->event);
    rs_wire_uint(&p->row, PF_DEFAULTS_CLOCK, PF_OWN_CLOCK);
    rs_wire_message(&p->packet, PF_PACKET_DEFAULTS, &p->row);
    rs_wire_clear(&p->row);
    clock_row(p, PF_OWN_CLOCK, 0, true);
    clock_row(p, PF_BOOTTIME, p->base, false);
    rs_wire_message(&p->packet, PF_PACKET_CLOCK_SNAPSHOT, &p->row);
    put_packet(p);
}

/* What each event of a sequence begins with, HEAD bytes at most; returns where it ends. Events are written to `out`
 * without a detour: there are millions. Defaults hold without the flag: it is for interned names. */
enum { HEAD = 32 };

static uint8_t *put_head(struct rs_packets *p, uint8_t *to, int64_t at, bool names)
{
    uint64_t after = at > p->last ? (uint64_t)(at - p->last) : 0;
    p->last += (int64_t)after;
    *to++ = PF_PACKET_TIMESTAMP << 3;
    to = rs_wire_put(to, after);
    *to++ = PF_PACKET_SEQUENCE_ID << 3;
    to = rs_wire_put(to, p->sequence);
    if (!names) return to;
    *to++ = PF_PACKET_SEQUENCE_FLAGS << 3;
    *to++ = PF_NEEDS_STATE;
    return to;
}

void rs_packets_event(struct rs_packets *p, int64_t at, bool names)
{
    uint8_t head[HEAD];
    rs_wire_clear(&p->packet);
    if (p->interned.n) rs_wire_message(&p->packet, PF_PACKET_INTERNED_DATA, &p->interned);
    rs_wire_room(&p->out, 2 * HEAD + p->packet.n + p->event.n);
    uint8_t *end = put_head(p, head, at, names), *to = p->out.data + p->out.n;
    *end++ = PF_PACKET_TRACK_EVENT << 3 | 2;
    end = rs_wire_put(end, p->event.n);
    size_t n = (size_t)(end - head);
    *to++ = PF_TRACE_PACKET << 3 | 2;
    to = rs_wire_put(to, p->packet.n + n + p->event.n);
    if (p->packet.n) to = mempcpy(to, p->packet.data, p->packet.n);
    memcpy(to, head, sizeof head); /* of a size that is known: faster than its n bytes */
    to = mempcpy(to + n, p->event.data, p->event.n);
    p->out.n = (size_t)(to - p->out.data);
    if (p->out.n >= FLUSH_AT) rs_packets_flush(p);
}

void rs_packets_slice_end(struct rs_packets *p, int64_t at)
{
    static const uint8_t end[] = {PF_PACKET_TRACK_EVENT << 3 | 2, 2, PF_EVENT_TYPE << 3, PF_SLICE_END};
    rs_wire_room(&p->out, 2 * HEAD);
    uint8_t *to = p->out.data + p->out.n, *length = to + 1;
    *to = PF_TRACE_PACKET << 3 | 2;
    to = put_head(p, length + 1, at, false);
    memcpy(to, end, sizeof end);
    to += sizeof end;
    *length = (uint8_t)(to - length - 1);
    p->out.n = (size_t)(to - p->out.data);
    if (p->out.n >= FLUSH_AT) rs_packets_flush(p);
}

uint32_t rs_packets_tell(struct rs_packets *p, enum rs_interned table, uint32_t key, const char *text)
{
    static const uint8_t fields[RS_INTERNED_TABLES] = {
        [RS_INTERNED_CATEGORIES] = PF_INTERNED_CATEGORIES,
        [RS_INTERNED_NAMES] = PF_INTERNED_NAMES,
        [RS_INTERNED_KEYS] = PF_INTERNED_NOTE_NAMES,
        [RS_INTERNED_TEXTS] = PF_INTERNED_STRINGS,
    };
    uint32_t have = p->tables[table].n;
    if (key >= have) {
        uint32_t n = key < UINT32_MAX / 2 ? key + key / 2 + 64 : UINT32_MAX;
        struct rs_packets_text *texts = rs_realloc(p->tables[table].texts, (size_t)n * sizeof *texts);
        memset(texts + have, 0, (size_t)(n - have) * sizeof *texts);
        p->tables[table].texts = texts;
        p->tables[table].n = n;
    }
    uint32_t iid = ++p->tables[table].last;
    p->tables[table].texts[key] = (struct rs_packets_text){p->sequence, iid};
    rs_wire_clear(&p->row);
    rs_wire_uint(&p->row, PF_ROW_IID, iid);
    rs_wire_string(&p->row, PF_ROW_NAME, text);
    rs_wire_message(&p->interned, fields[table], &p->row);
    return iid;
}
