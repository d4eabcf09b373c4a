#include "export/rsc/cut.h"

#include <stdlib.h>
#include <string.h>

/* Words of a chunk: a record, and what may have to be said in front of it, still fits behind. */
enum { CHUNK_WORDS = RS_BUFFER_BYTES / 8, CHUNK_FULL = CHUNK_WORDS - RS_RECORD_MAX - 16 };

/* Where a row of records stands: in what is read, and in what is written. */
struct place {
    uint64_t tick_base, next_handle;
    uint32_t tid;
    char thread_name[16];
};

struct cutter {
    struct rs_rsc_file *to;
    struct rs_keep *keep;
    struct rs_cut_off off;
    uint64_t first; /* the earliest tick of all that is read */
    uint64_t *words; /* of the chunk at hand */
    uint32_t n;
    struct rs_chunk_header header; /* of the chunk at hand */
    struct place in, out;
    uint32_t generation;
};

static void seal(struct cutter *c)
{
    if (c->n) {
        c->header.generation = ++c->generation;
        rs_rsc_chunk(c->to, &c->header, c->words, c->n);
    }
    c->n = 0;
}

static void begin_chunk(struct cutter *c, uint16_t slot, uint64_t tick)
{
    c->header = (struct rs_chunk_header){.kind = RS_CHUNK_EVENTS,
                                         .slot = slot,
                                         .tid = c->in.tid,
                                         .tick_base = c->in.tick_base,
                                         .next_handle = c->in.next_handle,
                                         .first_tick = tick};
    memcpy(c->header.thread_name, c->in.thread_name, sizeof c->header.thread_name);
    c->out = c->in;
}

/* Says what has changed since the record before: thread, tick base. */
static void catch_up(struct cutter *c)
{
    if (c->out.tid != c->in.tid || memcmp(c->out.thread_name, c->in.thread_name, sizeof c->in.thread_name) != 0) {
        c->words[c->n++] = RS_K_THREAD;
        c->words[c->n++] = c->in.tid;
        memcpy(c->words + c->n, c->in.thread_name, sizeof c->in.thread_name);
        c->n += sizeof c->in.thread_name / sizeof *c->words;
    }
    if (c->out.tick_base != c->in.tick_base) {
        c->words[c->n++] = RS_K_TICK_BASE;
        c->words[c->n++] = c->in.tick_base;
    }
    uint64_t next = c->out.next_handle;
    c->out = c->in;
    c->out.next_handle = next;
}

/* `handle`: of a start its own, else the one that it is about. */
static void put_record(struct cutter *c, uint16_t slot, const uint64_t *w, unsigned n, uint64_t handle)
{
    unsigned kind = (unsigned)w[0] & 0xff;
    uint64_t ref = w[0] >> 8 & (RS_REF_LIMIT - 1), tick = c->in.tick_base + (w[0] >> 32);
    if (c->n > CHUNK_FULL) seal(c);
    if (!c->n) begin_chunk(c, slot, tick);
    catch_up(c);
    if (rs_kind_is_start(kind) && c->out.next_handle != handle) {
        c->words[c->n++] = RS_K_HANDLE;
        c->words[c->n++] = c->out.next_handle = handle;
    }
    uint64_t *head = &c->words[c->n++];
    *head = w[0];
    if (rs_kind_has_handle(kind) && ref && !rs_kind_is_start(kind)) { /* counted back from what would come next here */
        uint64_t back = c->out.next_handle - handle;
        bool fits = back && back < RS_REF_LIMIT;
        *head = (w[0] & ~((uint64_t)(RS_REF_LIMIT - 1) << 8)) | (fits ? back << 8 : 0);
        if (!fits) c->words[c->n++] = handle;
    }
    memcpy(c->words + c->n, w + 1, (n - 1) * sizeof *w);
    c->n += n - 1;
    if (rs_kind_is_start(kind)) c->out.next_handle++;
    c->header.records += kind != RS_K_LOST;
    if (tick > c->header.last_tick) c->header.last_tick = tick;
}

/* What stands in the stream between records; else takes the record at w. */
static void take(struct cutter *c, uint16_t slot, const uint64_t *w, unsigned n, bool skipped)
{
    unsigned kind = (unsigned)w[0] & 0xff;
    uint64_t ref = w[0] >> 8 & (RS_REF_LIMIT - 1);
    if (kind == RS_K_TICK_BASE) {
        c->in.tick_base = w[1];
    } else if (kind == RS_K_HANDLE) {
        c->in.next_handle = w[1];
    } else if (kind == RS_K_THREAD) {
        c->in.tid = (uint32_t)w[1];
        memcpy(c->in.thread_name, &w[2], sizeof c->in.thread_name);
    } else if (kind == RS_K_LOST) {
        if (!skipped) put_record(c, slot, w, n, 0);
    } else {
        bool start = rs_kind_is_start(kind);
        uint64_t handle = start ? c->in.next_handle : ref ? c->in.next_handle - ref : w[1];
        uint64_t tick = c->in.tick_base + (w[0] >> 32);
        if (!skipped && tick < c->first) c->first = tick;
        if (!skipped && rs_keep_has(c->keep, handle)) {
            put_record(c, slot, w, n, handle);
        } else if (!skipped) {
            c->off.left_out++;
            if (tick > c->off.until) c->off.until = tick;
        }
        if (start) c->in.next_handle++;
    }
}

static void cut_segment(struct cutter *c, struct rs_recording *from, struct rs_segment *segment)
{
    const struct rs_chunk_header *h = &segment->header;
    const uint64_t *words = rs_recording_words(from, segment);
    if (!words) return;
    c->in = (struct place){.tick_base = h->tick_base, .next_handle = h->next_handle, .tid = h->tid};
    memcpy(c->in.thread_name, h->thread_name, sizeof c->in.thread_name);
    for (uint32_t at = 0, n = h->to - h->from, size; at < n; at += size) {
        size = rs_record_words(words + at, n - at);
        if (!size) return; /* as readers do: the rest holds no record */
        take(c, h->slot, words + at, size, at < segment->skip);
    }
}

enum rs_status rs_rsc_cut_events(struct rs_rsc_file *to, struct rs_recording *from, struct rs_keep *keep,
                                 struct rs_cut_off *off, struct rs_err *err)
{
    struct cutter c = {.to = to, .keep = keep, .first = UINT64_MAX, .words = malloc(CHUNK_WORDS * sizeof *c.words)};
    if (!c.words) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < from->nevents && to->err.code == RS_OK; i++) {
        if (i && from->events[i].header.slot != from->events[i - 1].header.slot) {
            seal(&c);
            c.generation = 0;
        }
        cut_segment(&c, from, &from->events[i]);
    }
    seal(&c);
    free(c.words);
    rs_recording_rest(from);
    *off = c.off;
    /* What a ring has overwritten came before all that is left of it. */
    if (from->overwritten && c.first > off->until) off->until = c.first;
    off->left_out += from->overwritten + from->damaged;
    if (from->damaged) off->until = UINT64_MAX; /* when that was is not known */
    return RS_OK;
}

/* ---- facts ---- */

/* A captured parent is kept apart for the time when its start is overwritten; here it is one or the other. */
static bool is_wanted(const struct rs_recording *from, struct rs_keep *keep, const struct rs_fact_head *head,
                      const char *payload)
{
    uint64_t handle;
    switch (head->type) {
    case RS_FACT_CUT:
    case RS_FACT_CUT_OPS:
    case RS_FACT_CUT_UNTIL:
    case RS_FACT_CUT_STALE: return false; /* told anew */
    case RS_FACT_CAPTURED:
        if (head->bytes < sizeof handle) return false;
        memcpy(&handle, payload, sizeof handle);
        if (!rs_keep_has(keep, handle)) return false;
        for (size_t i = 0; i < from->nevents && !rs_recording_is_cut(from); i++)
            if (from->events[i].header.slot == rs_handle_slot(handle))
                return (from->events[i].header.next_handle - handle - 1) < RS_COUNTER_MASK / 2;
        return true;
    default: return true;
    }
}

void rs_rsc_cut_facts(struct rs_rsc_file *to, struct rs_recording *from, struct rs_keep *keep)
{
    for (size_t i = 0; i < from->nfacts; i++) {
        struct rs_segment *segment = &from->facts[i];
        const uint64_t *words = rs_recording_words(from, segment);
        const char *bytes = (const char *)words;
        size_t n = words ? (size_t)(segment->header.to - segment->header.from) * 8 : 0, at = 0;
        struct rs_fact_head head;
        while (n - at >= sizeof head) {
            memcpy(&head, bytes + at, sizeof head);
            const char *payload = bytes + at + sizeof head;
            if (head.bytes > n - at - sizeof head) break;
            if (at >= (size_t)segment->skip * 8 && is_wanted(from, keep, &head, payload))
                rs_rsc_fact(to, head.type, head.tick, payload, head.bytes, NULL, 0);
            at += sizeof head + (((size_t)head.bytes + 7) & ~(size_t)7);
            if (at > n) break;
        }
    }
}
