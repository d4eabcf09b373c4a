/* Packets of a Perfetto trace, sequence by sequence, to a stream.
 *
 * A process of the run is a sequence with one state. In each piece of the process, a track begins with new defaults, so
 * that events need not name their track, and with a snapshot that resets the sequence's own clock (64) to 0: times
 * increase on a track, and each event has its distance from the one before it. Names, categories, names of arguments and
 * texts are written once per sequence, in the packet that uses them first, and referred to by a number after that, from
 * 1, so that most are one byte. Sequence 1 is for what needs no state:
 * tracks, clocks, flags.
 *
 *     rs_packets_sequence(p);
 *     rs_packets_track(p, track);
 *     rs_packets_begin(p, 100);       then fields of TrackEvent into p->event; rs_packets_intern() for names
 *     rs_packets_event(p, at, true);
 *     rs_packets_slice_end(p, at);
 *
 * The trace's clock is called BOOTTIME, as Perfetto's readers expect, and is the common axis: ns of wall
 * time. Owned by the exporter; the first failure is kept and reported by rs_packets_check(). One thread at a time. */
#ifndef RS_EXPORT_PERFETTO_PACKETS_H
#define RS_EXPORT_PERFETTO_PACKETS_H

#include <stdio.h>

#include "base/err.h"
#include "export/perfetto/fields.h"
#include "export/perfetto/wire.h"

/* Tables of texts that a sequence interns; each counts its own numbers. */
enum rs_interned { RS_INTERNED_CATEGORIES, RS_INTERNED_NAMES, RS_INTERNED_KEYS, RS_INTERNED_TEXTS, RS_INTERNED_TABLES };

struct rs_packets_text {
    uint32_t sequence, iid; /* the last sequence that knows it, and by which number */
};

struct rs_packets {
    FILE *file;
    const char *name; /* of the output, for messages */
    uint64_t base; /* what the trace's clock shows at t = 0 of the timeline */
    struct rs_wire event, interned; /* of the current packet */
    struct rs_wire out, packet, row;
    uint32_t sequence; /* the current one */
    bool fresh; /* its state is not begun yet */
    int64_t last; /* ns of the last event of the track */
    struct {
        struct rs_packets_text *texts; /* by key */
        uint32_t n;
        uint32_t last; /* number given out in this sequence */
    } tables[RS_INTERNED_TABLES];
    struct rs_err err; /* the first failure */
};

/* `begin`: wall ns of t = 0. */
void rs_packets_open(struct rs_packets *p, FILE *file, const char *name, int64_t begin);
/* A packet with one message on sequence 1; `at` < 0: without a time. */
void rs_packets_plain(struct rs_packets *p, uint32_t field, const struct rs_wire *message, int64_t at);
/* A new sequence. */
void rs_packets_sequence(struct rs_packets *p);
/* Events from here on are on this track, and their times rise. */
void rs_packets_track(struct rs_packets *p, uint64_t track);
/* `names`: the event refers to what is interned. */
void rs_packets_event(struct rs_packets *p, int64_t at, bool names);
void rs_packets_slice_end(struct rs_packets *p, int64_t at);
/* Out of line part of rs_packets_intern(). */
uint32_t rs_packets_tell(struct rs_packets *p, enum rs_interned table, uint32_t key, const char *text);
/* Hands on what is gathered. */
void rs_packets_flush(struct rs_packets *p);
enum rs_status rs_packets_check(const struct rs_packets *p, struct rs_err *err);
void rs_packets_free(struct rs_packets *p);

/* Begins an event, with so much room in p->event; false: there is none. */
static inline void rs_packets_begin(struct rs_packets *p, size_t room)
{
    rs_wire_clear(&p->event);
    rs_wire_clear(&p->interned);
    rs_wire_room(&p->event, room);
}

/* The number by which the sequence knows `text`; `key` is never another text's. */
static inline uint32_t rs_packets_intern(struct rs_packets *p, enum rs_interned table, uint32_t key, const char *text)
{
    if (key < p->tables[table].n && p->tables[table].texts[key].sequence == p->sequence)
        return p->tables[table].texts[key].iid;
    return rs_packets_tell(p, table, key, text);
}

#endif
