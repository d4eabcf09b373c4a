#include "trace/recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "trace/chunks.h"
#include "trace/live.h"

/* ---- what is missing ----
 *
 * Every chunk says how many callbacks precede it, and the status how many there are in all, so whatever is missing is
 * counted. In a ring, what was overwritten is distinguished from what is damaged: the oldest is overwritten first, so
 * nothing newer than a whole chunk of the last two rounds was. */

/* What the file contains according to the newest status: at a kill it may be more, never less. */
struct expected {
    uint64_t file_end, records;
    uint32_t event_chunks, fact_chunks; /* 0, 0: not counted */
};

static int by_sequence(const void *a, const void *b)
{
    const struct rs_segment *x = a, *y = b;
    return x->header.sequence < y->header.sequence ? -1 : x->header.sequence > y->header.sequence;
}

/* By sequence, each once. */
static size_t put_in_order(struct rs_segment *list, size_t n)
{
    if (n) qsort(list, n, sizeof *list, by_sequence);
    size_t kept = n != 0;
    for (size_t i = 1; i < n; i++)
        if (list[i].header.sequence != list[kept - 1].header.sequence) list[kept++] = list[i];
    return kept;
}

static uint64_t end_of(const struct rs_segment *p)
{
    return p->offset + rs_chunk_bytes(&p->header);
}

static uint64_t records_to(const struct rs_segment *p)
{
    return p->header.records_before + p->header.records;
}

/* Callbacks missing between the segments, from the `first` on, and after the last. */
static uint64_t count_gaps(const struct rs_recording *r, size_t first, uint64_t from, uint64_t all)
{
    uint64_t missing = 0, end = from;
    for (size_t i = first; i < r->nevents; i++) {
        const struct rs_segment *p = &r->events[i];
        if (p->header.records_before > end) missing += p->header.records_before - end;
        if (records_to(p) > end) end = records_to(p);
    }
    return missing + (all > end ? all - end : 0);
}

/* ---- rings ---- */

/* The oldest chunk (or what is left of it) in [from, to) that could not be read and is older than `than`. Its header is
 * plausible, not certain. */
static bool find_remains(const struct rs_recording *r, uint64_t from, uint64_t to, const struct rs_segment *than,
                         struct rs_chunk_header *found)
{
    for (uint64_t at = from; at < to; at += 8)
        if (rs_chunk_header_at(r, at, to, found) && found->kind == RS_CHUNK_EVENTS &&
            at + rs_chunk_bytes(found) <= to && found->sequence < than->header.sequence &&
            found->records_before <= than->header.records_before &&
            than->header.sequence - found->sequence <= (r->header.ring_end - r->header.ring_begin) / RS_CHUNK_LEAST)
            return true;
    return false;
}

/* Whether the chunk after `p` was written at `at`: one field of its header may be damaged. */
static bool follows_at(const struct rs_recording *r, const struct rs_segment *p, uint64_t at)
{
    struct rs_chunk_header next;
    if (r->file.size < sizeof next || at > r->file.size - sizeof next) return false;
    memcpy(&next, r->file.data + at, sizeof next);
    return (next.magic == RS_CHUNK_MAGIC) + (next.nonce == r->header.nonce) + (next.header_bytes == sizeof next) +
               (next.sequence == p->header.sequence + 1) + (next.records_before == records_to(p)) >=
           4;
}

/* Whether `p`, in the part of the ring that the newest round has not reached, is of the previous round, though the next
 * chunk was not found: else it is of an earlier one, and the previous round ended before it. */
static bool is_of_last_round(const struct rs_recording *r, const struct rs_segment *p)
{
    if (r->header.ring_end - end_of(p) >= RS_CHUNK_MOST) return true; /* rounds do not end so early */
    return follows_at(r, p, end_of(p)) || follows_at(r, p, r->header.ring_begin);
}

/* The oldest segment of the newest round, or of what is left of the previous one. */
static size_t oldest(const struct rs_recording *r, uint64_t head)
{
    size_t first = r->nevents - 1;
    bool before = false; /* in the previous round */
    while (first) {
        const struct rs_segment *p = &r->events[first - 1], *next = &r->events[first];
        if (!before && p->offset >= head) {
            before = true;
            bool gap = p->header.sequence + 1 != next->header.sequence;
            if (gap && !is_of_last_round(r, p)) break;
        } else if (p->offset >= next->offset || (before && p->offset < head)) {
            break;
        }
        first--;
    }
    return first;
}

/* Whether nothing was ever written after the newest chunk, nor over the first. */
static bool never_wrapped(const struct rs_recording *r, uint64_t head)
{
    enum { LOOK_AT = 4096 };
    uint64_t end = r->header.ring_end < r->file.size ? r->header.ring_end : r->file.size;
    struct rs_chunk_header torn;
    if (rs_chunk_header_at(r, r->header.ring_begin, end, &torn) &&
        torn.sequence > r->events[r->nevents - 1].header.sequence)
        return false;
    if (rs_chunk_header_at(r, head, end, &torn)) head += rs_chunk_bytes(&torn);
    if (head >= end) return false;
    if (end - head > LOOK_AT) end = head + LOOK_AT;
    while (head < end && !r->file.data[head]) head++;
    return head == end;
}

static void account_ring(struct rs_recording *r, const struct expected *want)
{
    if (!r->nevents) {
        r->damaged = want->records; /* everything: a ring is never empty after its first chunk */
        return;
    }
    uint64_t head = end_of(&r->events[r->nevents - 1]);
    size_t first = oldest(r, head);
    const struct rs_segment *p = &r->events[first];
    uint64_t before = p->header.records_before, gone = before;
    r->damaged = count_gaps(r, first, before, want->records);
    struct rs_chunk_header remains;
    if (!before) {
        gone = 0;
    } else if (never_wrapped(r, head)) {
        r->damaged += before;
        gone = 0;
    } else {
        /* What could not be read before it was overwritten, unless it is still there. */
        bool behind = p->offset >= head;
        uint64_t from = behind ? head : r->header.ring_begin, to = p->offset;
        if (to == from && !behind) { /* it is the first of its round: the previous round ended at the ring's end */
            from = head;
            to = r->header.ring_end < r->file.size ? r->header.ring_end : r->file.size;
        }
        bool found = find_remains(r, from, to, p, &remains);
        /* Chunks of earlier rounds stay at the ring's end. */
        if (found && p->header.sequence - remains.sequence <= (to - from) / RS_CHUNK_LEAST) {
            r->damaged += before - remains.records_before;
            gone = remains.records_before;
        }
    }
    r->overwritten = gone;
    memmove(r->events, r->events + first, (r->nevents - first) * sizeof *r->events);
    r->nevents -= first;
}

/* ---- facts ---- */

/* Whether any chunk of facts is missing. They are written in order, so those after the last one found can only be in a
 * hole, or after the end. */
static bool misses_facts(const struct rs_recording *r, const struct expected *want, const struct rs_holes *holes)
{
    uint64_t all = r->nfacts ? r->facts[r->nfacts - 1].header.sequence + 1 : 0;
    if (all > r->nfacts || want->fact_chunks > all) return true;
    if (want->fact_chunks || want->event_chunks) return false;
    uint64_t last = r->nfacts ? r->facts[r->nfacts - 1].offset : 0;
    if (r->file.size < want->file_end) return true;
    for (size_t i = 0; i < holes->n; i++)
        if (holes->list[i].from > last && holes->list[i].from < want->file_end &&
            (!r->header.ring_end || holes->list[i].from >= r->header.ring_end))
            return true;
    return false;
}

/* Removes duplicates and, in a ring, what is left of earlier rounds; sets `overwritten`, `damaged` and `unknown`.
 * `holes`: of all parts of the file. Leaves segments in the order of their sequence numbers. */
static void account(struct rs_recording *r, const struct expected *want, const struct rs_holes *holes)
{
    r->nevents = put_in_order(r->events, r->nevents);
    r->nfacts = put_in_order(r->facts, r->nfacts);
    r->overwritten = r->damaged = 0;
    if (r->header.ring_end)
        account_ring(r, want);
    else
        r->damaged = count_gaps(r, 0, 0, want->records);
    if (misses_facts(r, want, holes)) r->unknown |= RS_UNKNOWN_FACTS;
}

/* ---- the recording ---- */

bool rs_recording_recognise(const void *bytes, size_t n)
{
    uint64_t magic = RS_FILE_MAGIC;
    return n >= sizeof magic && !memcmp(bytes, &magic, sizeof magic);
}

void rs_recording_damage(struct rs_recording *r, const char *path, uint64_t offset, uint64_t bytes, const char *why)
{
    if (!(r->ndamages & (r->ndamages - 1))) { /* full at powers of two */
        struct rs_damage *grown = rs_realloc(r->damages, (r->ndamages ? r->ndamages * 2 : 1) * sizeof *grown);
        r->damages = grown;
    }
    struct rs_damage *d = &r->damages[r->ndamages];
    *d = (struct rs_damage){.path = rs_strdup(path), .offset = offset, .bytes = bytes};
    if (!d->path) return;
    snprintf(d->why, sizeof d->why, "%s", why);
    r->ndamages++;
}

uint64_t rs_recording_lost(const struct rs_recording *r)
{
    uint64_t sum = r->header.status.lost_unopened + r->header.status.lost_late + r->header.status.lost_lives;
    for (int i = 0; i < RS_LOST_COUNTS; i++) sum += r->lost[i];
    return sum;
}

static int by_place(const void *a, const void *b)
{
    const struct rs_segment *p = a, *q = b;
    const struct rs_chunk_header *x = &p->header, *y = &q->header;
    if (x->slot != y->slot) return x->slot < y->slot ? -1 : 1;
    if (x->generation != y->generation) return x->generation < y->generation ? -1 : 1;
    uint32_t from = x->from + p->skip, other = y->from + q->skip; /* a live segment begins after its chunks */
    return from < other ? -1 : from > other;
}

/* Up to which word a buffer is in chunks, in a list by slot, generation, from. */
static uint32_t sealed_to(const struct rs_segment *list, size_t n, const struct rs_chunk_header *buffer)
{
    size_t low = 0, high = n; /* the first segment after (slot, generation) */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct rs_chunk_header *h = &list[middle].header;
        bool behind = h->slot != buffer->slot ? h->slot > buffer->slot : h->generation > buffer->generation;
        if (behind)
            high = middle;
        else
            low = middle + 1;
    }
    if (!low) return 0;
    const struct rs_chunk_header *h = &list[low - 1].header;
    return h->slot == buffer->slot && h->generation == buffer->generation ? h->to : 0;
}

/* Whether the ring wrapped around since the live file was read: chunks of its words may have been overwritten. Chunks
 * are in order. */
static bool went_round(const struct rs_recording *r, const struct rs_live *live)
{
    return r->header.ring_end && r->nevents && live->status.event_chunks &&
           r->events[0].header.sequence > live->status.event_chunks;
}

/* Adds live buffers, each without what is in chunks already. Both lists are by slot, generation, from, before and
 * after. */
static void add_live(struct rs_recording *r, struct rs_live *live, bool round)
{
    size_t nevents = r->nevents, nfacts = r->nfacts;
    for (size_t i = 0; i < live->nsegments; i++) {
        struct rs_segment *p = &live->segments[i];
        bool facts = p->header.kind == RS_CHUNK_FACTS;
        uint32_t to = sealed_to(facts ? r->facts : r->events, facts ? nfacts : nevents, &p->header);
        /* Sealed into a chunk that is missing, though nothing overwrites it; or discarded by an older recorder, which
         * counted one by one. */
        bool kept = (facts || !r->header.ring_end) && !live->closing;
        if (kept && p->skip > to && !r->damaged)
            r->unknown |= rs_recording_lost(r) ? RS_UNKNOWN_END : RS_UNKNOWN_COPIED;
        if (to > p->skip) p->skip = to;
        if (p->skip >= p->header.to) continue;
        if (round && !facts && !to) { /* it may be among those overwritten: counted once, and unknown */
            r->unknown |= RS_UNKNOWN_COPIED;
            continue;
        }
        rs_chunks_add(r, p);
        p->copy = NULL; /* the recording's now */
    }
}

/* Whether each buffer that a slot has filled is in chunks or in the live file. The lists are by slot, generation, from.
 * The newest may just be in transit. */
static bool has_all_buffers(const struct rs_recording *r, const struct rs_live *live)
{
    enum { FULL = sizeof((struct rs_buffer *)0)->words / 8 - RS_RECORD_MAX };
    size_t i = 0;
    for (uint32_t slot = 0; slot < live->nslots; slot++) {
        uint32_t last = 0, to = FULL;
        bool whole = true;
        for (; i < r->nevents && r->events[i].header.slot == slot; i++) {
            const struct rs_chunk_header *h = &r->events[i].header;
            if (h->generation == UINT32_MAX) continue; /* constructed, for unreported losses */
            if (h->generation != last) whole &= h->generation == last + 1 && to >= FULL;
            last = h->generation;
            to = h->to;
        }
        uint32_t newest = live->generations[slot];
        if (!whole || (newest && last + 1 < newest) || (newest && last < newest && to < FULL)) return false;
    }
    return true;
}

static void sort_by_place(struct rs_recording *r)
{
    if (r->nevents) qsort(r->events, r->nevents, sizeof *r->events, by_place);
    if (r->nfacts) qsort(r->facts, r->nfacts, sizeof *r->facts, by_place);
}

static enum rs_status read_header(struct rs_recording *r, struct rs_err *err)
{
    struct rs_file_header *h = &r->header;
    if (!rs_recording_recognise(r->file.data, r->file.size))
        return rs_fail(err, RS_BAD_INPUT, "%s: not a ringscope recording", r->path);
    if (r->file.size < sizeof *h)
        return rs_fail(err, RS_BAD_INPUT, "%s: truncated inside its header (%zu of %zu bytes)", r->path, r->file.size,
                       sizeof *h);
    memcpy(h, r->file.data, sizeof *h);
    if (h->header_bytes != sizeof *h || h->features & ~(uint32_t)RS_FEATURE_ALL)
        return rs_fail(err, RS_BAD_INPUT, "%s: made by a newer ringscope (features 0x%x, header of %u bytes)", r->path,
                       h->features, h->header_bytes);
    r->header_right = rs_header_checksum(h) == h->checksum;
    h->host[sizeof h->host - 1] = h->boot_id[sizeof h->boot_id - 1] = h->live_name[sizeof h->live_name - 1] = 0;
    for (char *c = h->host; *c; c++) /* printed on terminals */
        if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
    if (h->ring_end < h->ring_begin || (h->ring_end && h->ring_begin < sizeof *h))
        return rs_fail(err, RS_BAD_INPUT, "%s: its header is damaged (ring from %llu to %llu)", r->path,
                       (unsigned long long)h->ring_begin, (unsigned long long)h->ring_end);
    return RS_OK;
}

/* Maps the file and reads its header. A running process may write in between: then once more. */
static enum rs_status map_file(struct rs_recording *r, struct rs_err *err)
{
    for (int i = 0; i < 2; i++) {
        rs_file_unmap(&r->file);
        RS_TRY(rs_file_map(&r->file, r->path, err));
        RS_TRY(read_header(r, err));
        if (r->header.status.file_end <= r->file.size) break;
    }
    return RS_OK;
}

static bool needs_live(const struct rs_recording *r)
{
    const struct rs_status_block *st = &r->header.status;
    return !rs_recording_is_cut(r) && (st->state != RS_STATE_CLOSED || st->live_left);
}

/* Maps the file, and reads the live file if that is needed. The live file first: what leaves it meanwhile is in a chunk
 * by the time the chunks are read. */
static enum rs_status open_files(struct rs_recording *r, struct rs_live *live, struct rs_err *err)
{
    RS_TRY(map_file(r, err));
    if (r->header.status.state != RS_STATE_CLOSED) r->alive = rs_process_alive(&r->header, -1, 0);
    for (int i = 0; i < 3 && needs_live(r) && r->header.live_place != RS_LIVE_ANONYMOUS; i++) {
        uint32_t state = r->header.status.state;
        rs_live_close(live);
        rs_live_open(live, r->path, &r->header, err);
        r->alive = live->alive;
        RS_TRY(map_file(r, err));
        if (r->header.status.state == state) break;
        rs_live_close(live); /* closed or reopened meanwhile */
    }
    if (r->header.status.state == RS_STATE_CLOSED) r->alive = RS_ALIVE_NO;
    r->live_missing = needs_live(r) && r->header.live_place != RS_LIVE_ANONYMOUS && !live->path;
    r->live_path = live->path;
    live->path = NULL;
    return RS_OK;
}

/* The newest status, and what the file contains according to it. */
static struct expected expect(struct rs_recording *r, const struct rs_live *live)
{
    struct rs_status_block *st = &r->header.status;
    struct expected want = {st->file_end, st->sealed_records, st->event_chunks, st->fact_chunks};
    if (!r->live_path) return want;
    const struct rs_status_block *l = &live->status;
    uint64_t late = st->lost_late; /* counted only in the file */
    if (l->heartbeat_tick >= st->heartbeat_tick) *st = *l;
    st->lost_late = late;
    if (l->lost_lives > st->lost_lives) st->lost_lives = l->lost_lives;
    if (l->lost_facts > st->lost_facts) st->lost_facts = l->lost_facts;
    if (l->file_end > want.file_end) want.file_end = l->file_end;
    if (l->sealed_records > want.records) want.records = l->sealed_records;
    if (l->event_chunks > want.event_chunks) want.event_chunks = l->event_chunks;
    if (l->fact_chunks > want.fact_chunks) want.fact_chunks = l->fact_chunks;
    return want;
}

/* Whether the words of the partly written chunk at `at` are still in the live file. */
static bool is_in_live(const struct rs_recording *r, const struct rs_live *live, uint64_t at)
{
    struct rs_chunk_header h;
    if (!rs_chunk_header_at(r, at, r->file.size, &h)) return true; /* not even its header was written */
    for (size_t i = 0; i < live->nsegments; i++) {
        const struct rs_segment *p = &live->segments[i];
        if (p->header.slot == h.slot && p->header.generation == h.generation)
            return p->skip <= h.from && p->header.to >= h.to;
    }
    return false;
}

/* Notes the parts of the file where chunks should be. */
static void note_holes(struct rs_recording *r, const struct rs_live *live, const struct expected *want,
                       const struct rs_holes *holes, bool elsewhere)
{
    bool counted =
        want->event_chunks || want->fact_chunks; /* updated after each chunk: after `file_end` there is one at most */
    for (size_t i = 0; i < holes->n; i++) {
        const struct rs_hole *h = &holes->list[i];
        if (h->from < r->header.ring_end) continue; /* see account_ring() */
        /* After a kill, or while the process runs, the last chunk may be partly written: its words are in the live
         * file. */
        bool last = h->to == r->file.size && h->from >= want->file_end;
        if (last && rs_may_run(r->alive)) continue;
        if (last && r->live_path && (counted || is_in_live(r, live, h->from))) continue;
        rs_recording_damage(r, r->path, h->from, h->to - h->from, h->why);
        if (last) r->unknown |= RS_UNKNOWN_END;
    }
    if (r->header.ring_end && r->damaged)
        rs_recording_damage(r, r->path, r->header.ring_begin, r->header.ring_end - r->header.ring_begin,
                            "chunks in the ring are damaged or missing");
    if (r->file.size >= want->file_end || elsewhere) return;
    /* Complete by its own count: then it is older than its live file. */
    const struct rs_file_header *own = (const void *)r->file.data;
    char why[160];
    if (!holes->n && own->status.file_end <= r->file.size && r->live_path) {
        snprintf(why, sizeof why,
                 "copied while the process ran? %" PRIu64 " callbacks are neither here nor in the live file",
                 r->damaged);
        r->unknown |= RS_UNKNOWN_COPIED;
    } else {
        snprintf(why, sizeof why, "the file is truncated here");
    }
    rs_recording_damage(r, r->path, r->file.size, want->file_end - r->file.size, why);
}

/* Whether recording and live file were copied one after the other while the process ran. The recorder writes each chunk
 * before it counts it in the live file, and each status into the live file first. */
static bool is_of_two_moments(const struct rs_recording *r, const struct rs_live *live)
{
    const struct rs_file_header *own = (const void *)r->file.data;
    const struct rs_status_block *l = &live->status;
    uint64_t events = r->nevents ? r->events[r->nevents - 1].header.sequence + 1 : 0;
    uint64_t facts = r->nfacts ? r->facts[r->nfacts - 1].header.sequence + 1 : 0;
    bool counted = l->event_chunks || l->fact_chunks;
    uint64_t more = (events > l->event_chunks ? events - l->event_chunks : 0) +
                    (facts > l->fact_chunks ? facts - l->fact_chunks : 0);
    return own->status.heartbeat_tick > l->heartbeat_tick || (counted && more > 1);
}

static void find_chunks(struct rs_recording *r, struct rs_holes *holes)
{
    uint64_t size = r->file.size, begin = sizeof r->header;
    r->nevents = r->nfacts = 0;
    holes->n = 0;
    if (r->header.ring_end) {
        uint64_t end = r->header.ring_end < size ? r->header.ring_end : size;
        rs_chunks_find(r, r->header.ring_begin, end, holes);
        begin = r->header.ring_end;
    }
    rs_chunks_find(r, begin, size, holes);
}

static void read_chunks(struct rs_recording *r, struct rs_live *live, struct rs_holes *holes)
{
    struct expected want = expect(r, live);
    /* The parts of a file written by another host may become visible in any order. */
    bool elsewhere = r->alive == RS_ALIVE_PERHAPS;
    if (elsewhere) want = (struct expected){0};
    for (int i = 0; i < 4; i++) { /* a ring may be written while it is read */
        find_chunks(r, holes);
        account(r, &want, holes);
        if (!r->header.ring_end || !r->damaged || !rs_may_run(r->alive)) break;
    }
    note_holes(r, live, &want, holes, elsewhere);
    if (r->unknown & RS_UNKNOWN_FACTS && !r->ndamages)
        rs_recording_damage(r, r->path, r->file.size, 0, "chunks of facts are missing");
    if (r->live_path && !rs_may_run(r->alive) && is_of_two_moments(r, live)) r->unknown |= RS_UNKNOWN_COPIED;
    bool counted = want.event_chunks || want.fact_chunks || r->header.status.state == RS_STATE_CLOSED;
    if (!counted && r->damaged && !elsewhere && !r->header.ring_end) r->unknown |= RS_UNKNOWN_END;
}

static enum rs_status load(struct rs_recording *r, struct rs_live *live, struct rs_holes *holes, struct rs_err *err)
{
    RS_TRY(open_files(r, live, err));
    read_chunks(r, live, holes);
    if (!r->header_right) rs_recording_damage(r, r->path, 0, sizeof r->header, "the file header's checksum is wrong");
    for (size_t i = 0; r->live_path && i < live->ndamages; i++)
        rs_recording_damage(r, r->live_path, live->damages[i].offset, live->damages[i].bytes, live->damages[i].why);
    for (int i = 0; i < RS_LOST_COUNTS; i++) {
        uint64_t a = r->header.status.lost[i], b = r->live_path ? live->lost[i] : 0;
        r->lost[i] = a > b ? a : b;
    }
    bool closed = r->header.status.state == RS_STATE_CLOSED;
    if (r->live_missing) r->unknown |= RS_UNKNOWN_LIVE_MISSING;
    if (r->header.live_place == RS_LIVE_ANONYMOUS && !closed) r->unknown |= RS_UNKNOWN_PRIVATE;
    if (!r->header_right) r->unknown |= RS_UNKNOWN_HEADER;
    if (live->ndamages) r->unknown |= RS_UNKNOWN_LIVE;
    if (r->header.status.inside_at_close) r->unknown |= RS_UNKNOWN_CLOSE;
    bool round = went_round(r, live);
    sort_by_place(r);
    add_live(r, live, round);
    sort_by_place(r);
    if (rs_file_trouble(&r->file)) rs_recording_damage(r, r->path, 0, r->file.size, rs_file_trouble(&r->file));
    /* The last buffer before a LOST record need not be full. */
    bool whole = !r->damaged && !r->ndamages && !r->header.ring_end && !live->closing && !rs_recording_lost(r);
    if (r->live_path && whole && !rs_may_run(r->alive) && !has_all_buffers(r, live)) r->unknown |= RS_UNKNOWN_END;
    return RS_OK;
}

enum rs_status rs_recording_open(struct rs_recording **out, const char *path, struct rs_err *err)
{
    struct rs_recording *r = rs_zalloc(1, sizeof *r);
    struct rs_live live = {0};
    *out = NULL;
    r->path = rs_strdup(path);
    struct rs_holes holes = {0};
    enum rs_status status = load(r, &live, &holes, err);
    rs_live_close(&live);
    free(holes.list);
    if (status != RS_OK) {
        rs_recording_close(r);
        return status;
    }
    *out = r;
    return RS_OK;
}

void rs_recording_close(struct rs_recording *r)
{
    if (!r) return;
    for (size_t i = 0; i < r->nevents; i++) free(r->events[i].copy);
    for (size_t i = 0; i < r->nfacts; i++) free(r->facts[i].copy);
    for (size_t i = 0; i < r->ndamages; i++) free(r->damages[i].path);
    free(r->events);
    free(r->facts);
    free(r->damages);
    free(r->live_path);
    free(r->path);
    rs_file_unmap(&r->file);
    rs_codec_free(r->codec);
    free(r);
}

void rs_recording_drop_memory(struct rs_recording *r)
{
    rs_codec_free(r->codec);
    r->codec = NULL;
    rs_file_drop_pages(&r->file);
}

const uint64_t *rs_recording_words(struct rs_recording *r, struct rs_segment *p)
{
    const struct rs_chunk_header *h = &p->header;
    const char *why = "";
    if (p->gone) return NULL;
    if (!r->codec) r->codec = rs_codec_new();
    if (!r->codec) rs_memory_out();
    const uint64_t *words = rs_codec_decode(r->codec, p->stored, h->stored_bytes, h->coding, h->to - h->from, &why);
    if (!words && why == rs_codec_no_memory) rs_memory_out();
    /* A running process may have overwritten the chunk in its ring since it was found. A truncated file reads as zeros,
     * which a raw chunk would not show. */
    bool ring = r->header.ring_end && h->kind == RS_CHUNK_EVENTS;
    bool doubtful = !p->copy && (ring || h->coding == RS_CODING_RAW || rs_file_trouble(&r->file));
    bool changed = doubtful && rs_chunk_checksum(h, p->stored) != h->checksum;
    if (words && !changed) return words;
    p->gone = true;
    if (changed && ring && rs_may_run(r->alive)) {
        r->overwritten += h->records;
        return NULL;
    }
    if (rs_file_trouble(&r->file))
        why = rs_file_trouble(&r->file);
    else if (changed)
        why = "the file changed while it was read";
    rs_recording_damage(r, r->path, p->offset, sizeof *h + h->stored_bytes, why);
    if (h->kind == RS_CHUNK_EVENTS)
        r->damaged += h->records;
    else
        r->unknown |= RS_UNKNOWN_FACTS;
    return NULL;
}

/* ---- what is unknown ---- */

static const struct {
    const char *name, *text;
} unknowns[] = {
    {"live_missing", "its live file was not found, and with it what was not written to the recording yet"},
    {"private_memory", "its buffers are in private memory: what was not written to the recording cannot be counted"},
    {"header", "its header is damaged"},
    {"facts", "facts are damaged: init and finalize calls may be among them"},
    {"end", "its end is damaged, by an unknown amount"},
    {"copied", "recording and live file are from different times, as when a folder is copied while the job runs"},
    {"live_damaged", "its live file is damaged"},
    {"close", "threads were inside a callback when it was closed: one callback of each may be lost"},
};

static size_t index_of(unsigned bit)
{
    size_t i = bit ? (size_t)__builtin_ctz(bit) : SIZE_MAX;
    return i < sizeof unknowns / sizeof *unknowns ? i : SIZE_MAX;
}

const char *rs_unknown_name(unsigned bit)
{
    return index_of(bit) == SIZE_MAX ? "" : unknowns[index_of(bit)].name;
}

const char *rs_unknown_text(unsigned bit)
{
    return index_of(bit) == SIZE_MAX ? "" : unknowns[index_of(bit)].text;
}
