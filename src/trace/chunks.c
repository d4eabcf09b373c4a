#include "trace/chunks.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { VAIN_TIMES = 4 }; /* times the file's size may be checked in vain before fewer places are tried */

static bool makes_sense(const struct rs_recording *r, const struct rs_chunk_header *h)
{
    return h->header_bytes == sizeof *h && (h->kind == RS_CHUNK_EVENTS || h->kind == RS_CHUNK_FACTS) &&
           h->coding <= RS_CODING_ZSTD && h->stored_bytes <= RS_STORED_MAX && h->from <= h->to &&
           h->to - h->from <= RS_BUFFER_BYTES / 8 && h->nonce == r->header.nonce;
}

bool rs_chunk_header_at(const struct rs_recording *r, uint64_t at, uint64_t end, struct rs_chunk_header *h)
{
    if (at > end || end - at < sizeof *h) return false;
    memcpy(h, r->file.data + at, sizeof *h);
    return h->magic == RS_CHUNK_MAGIC && makes_sense(r, h);
}

/* The chunk at `at`, if there is a whole one; else why not, and how many bytes were checked. */
static bool chunk_at(const struct rs_recording *r, uint64_t at, uint64_t end, struct rs_segment *segment,
                     const char **why, uint64_t *checked)
{
    struct rs_chunk_header *h = &segment->header;
    *checked = 0;
    if (end - at < sizeof *h) return *why = "the file ends inside a chunk's header", false;
    memcpy(h, r->file.data + at, sizeof *h);
    if (h->magic != RS_CHUNK_MAGIC) return *why = "no chunk begins here", false;
    if (h->nonce != r->header.nonce) return *why = "a chunk of another recording", false;
    if (!makes_sense(r, h)) return *why = "a chunk's header is invalid", false;
    if (h->stored_bytes > end - at - sizeof *h) return *why = "the file ends inside a chunk", false;
    segment->stored = r->file.data + at + sizeof *h;
    segment->offset = at;
    if (rs_chunk_checksum(h, segment->stored) == h->checksum) return true;
    *checked = rs_chunk_bytes(h);
    return *why = "a chunk's checksum is wrong", false;
}

static void add_piece(struct rs_segment **list, size_t *n, const struct rs_segment *segment)
{
    if (!(*n & (*n - 1))) { /* full at powers of two */
        struct rs_segment *grown = rs_realloc(*list, (*n ? *n * 2 : 1) * sizeof *grown);
        *list = grown;
    }
    (*list)[(*n)++] = *segment;
}

void rs_chunks_add(struct rs_recording *r, const struct rs_segment *segment)
{
    bool facts = segment->header.kind == RS_CHUNK_FACTS;
    add_piece(facts ? &r->facts : &r->events, facts ? &r->nfacts : &r->nevents, segment);
}

static void add_hole(struct rs_holes *holes, uint64_t from, uint64_t to, const char *why)
{
    if (!(holes->n & (holes->n - 1))) {
        struct rs_hole *grown = rs_realloc(holes->list, (holes->n ? holes->n * 2 : 1) * sizeof *grown);
        holes->list = grown;
    }
    holes->list[holes->n++] = (struct rs_hole){from, to, why};
}

/* A quick check, for long ranges without chunks. */
static bool may_begin(const struct rs_recording *r, uint64_t at, uint64_t end)
{
    uint32_t magic = RS_CHUNK_MAGIC;
    return end - at >= sizeof magic && !memcmp(r->file.data + at, &magic, sizeof magic);
}

/* How far to advance after bytes that are not a chunk. */
static uint64_t step(const struct rs_recording *r, struct rs_holes *holes, uint64_t checked)
{
    holes->vain += checked;
    return checked && holes->vain / VAIN_TIMES > r->file.size ? checked : 8;
}

void rs_chunks_find(struct rs_recording *r, uint64_t at, uint64_t end, struct rs_holes *holes)
{
    while (at < end) {
        struct rs_segment segment = {0};
        const char *why, *first_why;
        uint64_t checked;
        if (chunk_at(r, at, end, &segment, &first_why, &checked)) {
            rs_chunks_add(r, &segment);
            at += rs_chunk_bytes(&segment.header);
            continue;
        }
        uint64_t bad = at;
        for (bool whole = false; !whole && at < end;) {
            at += step(r, holes, checked);
            while (at < end && !may_begin(r, at, end))
                at = r->file.hole < at && at < r->file.data_again ? r->file.data_again : at + 8;
            whole = at < end && chunk_at(r, at, end, &segment, &why, &checked);
        }
        add_hole(holes, bad, at < end ? at : end, first_why);
    }
}
