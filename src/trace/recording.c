#include "trace/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/live.h"

enum { MAX_STORED = RS_BUFFER_BYTES + 2048 };

bool rs_recording_recognise(const void *bytes, size_t n)
{
    uint64_t magic = RS_FILE_MAGIC;
    return n >= sizeof magic && !memcmp(bytes, &magic, sizeof magic);
}

void rs_recording_damage(struct rs_recording *r, const char *path, uint64_t offset, uint64_t bytes, const char *why)
{
    struct rs_damage *grown = realloc(r->damages, (r->ndamages + 1) * sizeof *grown);
    if (!grown) return;
    r->damages = grown;
    struct rs_damage *d = &grown[r->ndamages];
    *d = (struct rs_damage){.path = strdup(path), .offset = offset, .bytes = bytes};
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

/* The chunk at `at`, if there is a whole one; else why not. */
static bool chunk_at(const struct rs_recording *r, uint64_t at, uint64_t end, struct rs_piece *piece, const char **why)
{
    struct rs_chunk_header *h = &piece->header;
    if (end - at < sizeof *h) return *why = "the file ends inside a chunk's header", false;
    memcpy(h, r->file.data + at, sizeof *h);
    if (h->magic != RS_CHUNK_MAGIC) return *why = "no chunk begins here", false;
    if (h->header_bytes != sizeof *h || (h->kind != RS_CHUNK_EVENTS && h->kind != RS_CHUNK_FACTS) ||
        h->coding > RS_CODING_ZSTD || h->stored_bytes > MAX_STORED || h->from > h->to ||
        h->to - h->from > RS_BUFFER_BYTES / 8)
        return *why = "a chunk's header makes no sense", false;
    if (h->stored_bytes > end - at - sizeof *h) return *why = "the file ends inside a chunk", false;
    piece->stored = r->file.data + at + sizeof *h;
    piece->offset = at;
    if (rs_chunk_checksum(h, piece->stored) != h->checksum) return *why = "a chunk's checksum is wrong", false;
    if (h->nonce != r->header.nonce) return *why = "a chunk of another recording", false;
    return true;
}

static enum rs_status add_piece(struct rs_piece **list, size_t *n, const struct rs_piece *piece, struct rs_err *err)
{
    if (!(*n & (*n - 1))) { /* full at powers of two */
        struct rs_piece *grown = realloc(*list, (*n ? *n * 2 : 1) * sizeof *grown);
        if (!grown) return rs_fail(err, RS_NO_MEMORY, "out of memory");
        *list = grown;
    }
    (*list)[(*n)++] = *piece;
    return RS_OK;
}

static enum rs_status add(struct rs_recording *r, const struct rs_piece *piece, struct rs_err *err)
{
    bool facts = piece->header.kind == RS_CHUNK_FACTS;
    return add_piece(facts ? &r->facts : &r->events, facts ? &r->nfacts : &r->nevents, piece, err);
}

/* A quick look, for long stretches of nothing. */
static bool may_begin(const struct rs_recording *r, uint64_t at, uint64_t end)
{
    uint32_t magic = RS_CHUNK_MAGIC;
    return end - at >= sizeof magic && !memcmp(r->file.data + at, &magic, sizeof magic);
}

/* Takes in all whole chunks between `at` and `end`. `ring`: what is not a chunk there was written over, and no damage. */
static enum rs_status scan(struct rs_recording *r, uint64_t at, uint64_t end, bool ring, struct rs_err *err)
{
    while (at < end) {
        struct rs_piece piece = {0};
        const char *why, *first_why;
        if (chunk_at(r, at, end, &piece, &first_why)) {
            RS_TRY(add(r, &piece, err));
            at += sizeof piece.header + ((piece.header.stored_bytes + 7) & ~7u);
            continue;
        }
        uint64_t bad = at;
        do at += 8;
        while (at < end && (!may_begin(r, at, end) || !chunk_at(r, at, end, &piece, &why)));
        if (at > end) at = end;
        bool tail = at == end;
        /* A kill, or a look at a running process, may find the last chunk half written: its words are still in the live
         * file. */
        bool half_written = tail && r->live_path;
        if (!ring && !half_written) rs_recording_damage(r, r->path, bad, at - bad, first_why);
    }
    return RS_OK;
}

static int by_sequence(const void *a, const void *b)
{
    const struct rs_piece *x = a, *y = b;
    return x->header.sequence < y->header.sequence ? -1 : x->header.sequence > y->header.sequence;
}

static int by_place(const void *a, const void *b)
{
    const struct rs_piece *p = a, *q = b;
    const struct rs_chunk_header *x = &p->header, *y = &q->header;
    if (x->slot != y->slot) return x->slot < y->slot ? -1 : 1;
    if (x->generation != y->generation) return x->generation < y->generation ? -1 : 1;
    uint32_t from = x->from + p->skip, other = y->from + q->skip; /* a live piece begins behind what chunks hold */
    return from < other ? -1 : from > other;
}

/* Event chunks by sequence: counts what lies between them, and in a ring keeps only the newest run without a gap. */
static void account(struct rs_recording *r)
{
    uint64_t end = 0;
    if (r->nevents) qsort(r->events, r->nevents, sizeof *r->events, by_sequence);
    size_t kept = r->nevents != 0; /* a chunk that is there twice counts once */
    for (size_t i = 1; i < r->nevents; i++)
        if (r->events[i].header.sequence != r->events[kept - 1].header.sequence) r->events[kept++] = r->events[i];
    r->nevents = kept;
    if (r->header.ring_end) {
        if (!r->nevents) return;
        size_t first = r->nevents - 1;
        while (first && r->events[first - 1].header.sequence + 1 == r->events[first].header.sequence) first--;
        memmove(r->events, r->events + first, (r->nevents - first) * sizeof *r->events);
        r->nevents -= first;
        r->overwritten = r->events[0].header.records_before;
        return;
    }
    for (size_t i = 0; i < r->nevents; i++) {
        const struct rs_chunk_header *h = &r->events[i].header;
        if (h->records_before > end) r->damaged += h->records_before - end;
        end = h->records_before + h->records;
    }
    /* What the file said of itself before its end was cut off. A running process may be ahead of what was mapped. */
    if (!r->live_path && r->header.status.sealed_records > end) r->damaged += r->header.status.sealed_records - end;
}

/* Up to which word chunks hold a buffer, in a list by place. */
static uint32_t sealed_to(const struct rs_piece *list, size_t n, const struct rs_chunk_header *buffer)
{
    size_t low = 0, high = n; /* the first piece behind (slot, generation) */
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

/* Puts live buffers in, each without what its chunks hold already. Both lists are by place, before and after. */
static enum rs_status add_live(struct rs_recording *r, struct rs_live *live, struct rs_err *err)
{
    size_t nevents = r->nevents, nfacts = r->nfacts;
    for (size_t i = 0; i < live->npieces; i++) {
        struct rs_piece *p = &live->pieces[i];
        bool facts = p->header.kind == RS_CHUNK_FACTS;
        uint32_t to = sealed_to(facts ? r->facts : r->events, facts ? nfacts : nevents, &p->header);
        if (to > p->skip) p->skip = to;
        if (p->skip >= p->header.to) continue;
        RS_TRY(add(r, p, err));
        p->copy = NULL; /* the recording's now */
    }
    return RS_OK;
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
        return rs_fail(err, RS_BAD_INPUT, "%s: cut off inside its header (%zu of %zu bytes)", r->path, r->file.size,
                       sizeof *h);
    memcpy(h, r->file.data, sizeof *h);
    if (h->header_bytes != sizeof *h || h->features & ~(uint32_t)RS_FEATURE_ALL)
        return rs_fail(err, RS_BAD_INPUT, "%s: made by a newer ringscope (features 0x%x, header of %u bytes)", r->path,
                       h->features, h->header_bytes);
    r->header_right = rs_header_checksum(h) == h->checksum;
    h->host[sizeof h->host - 1] = h->boot_id[sizeof h->boot_id - 1] = h->live_name[sizeof h->live_name - 1] = 0;
    for (char *c = h->host; *c; c++) /* it goes to terminals */
        if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
    if (h->ring_end < h->ring_begin || (h->ring_end && h->ring_begin < sizeof *h))
        return rs_fail(err, RS_BAD_INPUT, "%s: its header is damaged (ring from %llu to %llu)", r->path,
                       (unsigned long long)h->ring_begin, (unsigned long long)h->ring_end);
    return RS_OK;
}

static enum rs_status load(struct rs_recording *r, struct rs_live *live, struct rs_err *err)
{
    RS_TRY(rs_file_map(&r->file, r->path, err));
    RS_TRY(read_header(r, err));
    /* The live file first: what leaves it meanwhile is in a chunk by the time the chunks are read. */
    const struct rs_status_block *st = &r->header.status;
    bool needed = !rs_recording_is_cut(r) && (st->state != RS_STATE_CLOSED || st->live_left);
    if (needed && r->header.live_place != RS_LIVE_ANONYMOUS) {
        RS_TRY(rs_live_open(live, r->path, &r->header, err));
        r->live_missing = !live->path;
        r->live_path = live->path;
        live->path = NULL;
        rs_file_unmap(&r->file);
        RS_TRY(rs_file_map(&r->file, r->path, err));
        RS_TRY(read_header(r, err));
        if (st->state == RS_STATE_CLOSED && !st->live_left) r->live_missing = false; /* it closed just now */
    }
    if (r->live_path) {
        if (live->status.heartbeat_tick > r->header.status.heartbeat_tick) r->header.status = live->status;
        for (size_t i = 0; i < live->ndamages; i++)
            rs_recording_damage(r, r->live_path, live->damages[i].offset, live->damages[i].bytes, live->damages[i].why);
    }
    for (int i = 0; i < RS_LOST_COUNTS; i++) {
        uint64_t a = r->header.status.lost[i], b = r->live_path ? live->lost[i] : 0;
        r->lost[i] = a > b ? a : b;
    }
    if (!r->header_right) rs_recording_damage(r, r->path, 0, sizeof r->header, "the file header's checksum is wrong");
    uint64_t size = r->file.size, begin = sizeof r->header;
    if (r->header.ring_end) {
        uint64_t end = r->header.ring_end < size ? r->header.ring_end : size;
        RS_TRY(scan(r, r->header.ring_begin, end, true, err));
        begin = r->header.ring_end;
    }
    RS_TRY(scan(r, begin, size, false, err));
    /* Its status may be newer than what was mapped while the process runs; then it has a live file. */
    uint64_t end = r->header.status.file_end;
    if (!r->live_path && end > size) rs_recording_damage(r, r->path, size, end - size, "the file is cut off here");
    account(r);
    sort_by_place(r);
    RS_TRY(add_live(r, live, err));
    sort_by_place(r);
    return RS_OK;
}

enum rs_status rs_recording_open(struct rs_recording **out, const char *path, struct rs_err *err)
{
    struct rs_recording *r = calloc(1, sizeof *r);
    struct rs_live live = {0};
    *out = NULL;
    if (!r || !(r->path = strdup(path))) {
        rs_recording_close(r);
        return rs_fail(err, RS_NO_MEMORY, "%s: out of memory", path);
    }
    enum rs_status status = load(r, &live, err);
    rs_live_close(&live);
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

void rs_recording_rest(struct rs_recording *r)
{
    rs_codec_free(r->codec);
    r->codec = NULL;
    rs_file_rest(&r->file);
}

const uint64_t *rs_recording_words(struct rs_recording *r, const struct rs_piece *p)
{
    const struct rs_chunk_header *h = &p->header;
    const char *why = "";
    if (!r->codec) r->codec = rs_codec_create();
    if (!r->codec) {
        rs_recording_damage(r, r->path, p->offset, h->stored_bytes, "out of memory");
        return NULL;
    }
    const uint64_t *words = rs_codec_decode(r->codec, p->stored, h->stored_bytes, h->coding, h->to - h->from, &why);
    /* A running process may have gone round its ring since the chunk was found: then it is another one's place now. */
    if (r->header.ring_end && !p->copy && rs_chunk_checksum(h, p->stored) != h->checksum) {
        if (h->kind == RS_CHUNK_EVENTS) r->overwritten += h->records;
        return NULL;
    }
    if (!words) {
        rs_recording_damage(r, r->path, p->offset, sizeof *h + h->stored_bytes, why);
        if (h->kind == RS_CHUNK_EVENTS) r->damaged += h->records;
    }
    return words;
}
