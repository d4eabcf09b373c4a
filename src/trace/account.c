#include "trace/account.h"

#include <stdlib.h>
#include <string.h>

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

/* Callbacks that lie between the segments, from the `first` on, and behind the last. */
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

/* The chunk, or what is left of it, that could not be read in [from, to) and is older than `than`: the oldest. Its header
 * makes sense; what it says is not sure. */
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

/* Whether the chunk behind `p` was written at `at`: one field of its header may be what is damaged. */
static bool follows_at(const struct rs_recording *r, const struct rs_segment *p, uint64_t at)
{
    struct rs_chunk_header next;
    if (r->file.size < sizeof next || at > r->file.size - sizeof next) return false;
    memcpy(&next, r->file.data + at, sizeof next);
    return (next.magic == RS_CHUNK_MAGIC) + (next.nonce == r->header.nonce) + (next.header_bytes == sizeof next) +
               (next.sequence == p->header.sequence + 1) + (next.records_before == records_to(p)) >=
           4;
}

/* Whether `p`, in the part of the ring that the newest round has not reached, is of the round before, though the next
 * chunk is not to be found: else it is of an earlier one, and the round before ended in front of it. */
static bool is_of_last_round(const struct rs_recording *r, const struct rs_segment *p)
{
    if (r->header.ring_end - end_of(p) >= RS_CHUNK_MOST) return true; /* no round ends so early */
    return follows_at(r, p, end_of(p)) || follows_at(r, p, r->header.ring_begin);
}

/* The oldest segment that belongs to the rounds that are there: the newest, and what it has left of the one before. */
static size_t oldest(const struct rs_recording *r, uint64_t head)
{
    size_t first = r->nevents - 1;
    bool before = false; /* in the round before the newest */
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

/* Whether nothing was ever written behind the newest chunk, nor over the first. */
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

static void account_ring(struct rs_recording *r, const struct rs_expected *want)
{
    if (!r->nevents) {
        r->damaged = want->records; /* all of it: a ring is never empty after its first chunk */
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
        /* In front of it what could not be read was written over, unless it is there still. */
        bool behind = p->offset >= head;
        uint64_t from = behind ? head : r->header.ring_begin, to = p->offset;
        if (to == from && !behind) { /* it is the first of its round: the round before ended at the ring's end */
            from = head;
            to = r->header.ring_end < r->file.size ? r->header.ring_end : r->file.size;
        }
        bool found = find_remains(r, from, to, p, &remains);
        /* A ring's end is also where chunks of earlier rounds stay. */
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

/* Whether any of their chunks is missing. They are written one after the other, so those behind the last that is there
 * can only be in a hole, or behind the end. */
static bool lacks_facts(const struct rs_recording *r, const struct rs_expected *want, const struct rs_holes *holes)
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

void rs_account(struct rs_recording *r, const struct rs_expected *want, const struct rs_holes *holes)
{
    r->nevents = put_in_order(r->events, r->nevents);
    r->nfacts = put_in_order(r->facts, r->nfacts);
    r->overwritten = r->damaged = 0;
    if (r->header.ring_end)
        account_ring(r, want);
    else
        r->damaged = count_gaps(r, 0, 0, want->records);
    if (lacks_facts(r, want, holes)) r->unknown |= RS_UNKNOWN_FACTS;
}
