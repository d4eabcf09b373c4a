#include "gen/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/memory.h"
#include "format/fact.h"
#include "gen/dumps.h"
#include "gen/slot.h"

enum {
    CALLBACK_PS = 12500, /* cost of one callback in the status */
    SEALER_NS_A_RECORD = 30, /* CPU time of the background thread, about */
    PID_NAMESPACE = 0x7fffffff, /* of no container on this machine: these pids must not match running processes */
};

static bool failed(const struct rs_gen_file *f)
{
    return f->disk->err.code != RS_OK;
}

/* Writes the parts at `at`; `flags` for open(). */
static void put(struct rs_gen_file *f, const char *path, int flags, struct iovec *parts, int nparts, uint64_t at)
{
    if (failed(f)) return;
    int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0644);
    if (fd < 0) {
        rs_fail_errno(&f->disk->err, "cannot write %s", path);
        return;
    }
    for (int i = 0; i < nparts && !failed(f);) {
        ssize_t n = pwritev(fd, parts + i, nparts - i, (off_t)at);
        if (n <= 0) {
            rs_fail_errno(&f->disk->err, "cannot write %s", path);
            break;
        }
        at += (uint64_t)n;
        for (; i < nparts && (size_t)n >= parts[i].iov_len; i++) n -= (ssize_t)parts[i].iov_len;
        if (i < nparts) {
            parts[i].iov_base = (char *)parts[i].iov_base + n;
            parts[i].iov_len -= (size_t)n;
        }
    }
    if (close(fd) && !failed(f)) rs_fail_errno(&f->disk->err, "cannot write %s", path);
}

static void put_bytes(struct rs_gen_file *f, const char *path, int flags, const void *bytes, size_t n, uint64_t at)
{
    struct iovec part = {(void *)(uintptr_t)bytes, n};
    put(f, path, flags, &part, 1, at);
}

/* ---- chunks and facts ---- */

void rs_gen_chunk(struct rs_gen_file *f, struct rs_chunk_header *h, const uint64_t *words, uint32_t n)
{
    static const char zeros[8];
    enum rs_chunk_coding coding;
    const void *stored = rs_codec_encode(f->disk->codec, h->kind, words, n, &h->stored_bytes, &coding);
    h->magic = RS_CHUNK_MAGIC;
    h->coding = (uint8_t)coding;
    h->header_bytes = sizeof *h;
    h->nonce = f->header.nonce;
    h->sequence = f->sequence[h->kind]++;
    h->records_before = f->records;
    h->checksum = rs_chunk_checksum(h, stored);
    uint32_t padding = -h->stored_bytes & 7;
    uint64_t bytes = sizeof *h + h->stored_bytes + padding, at = f->end;
    struct iovec parts[3] = {{h, sizeof *h}, {(void *)(uintptr_t)stored, h->stored_bytes}, {(void *)zeros, padding}};
    if (h->kind == RS_CHUNK_EVENTS && f->header.ring_end) {
        at = f->ring_at + bytes > f->header.ring_end ? f->header.ring_begin : f->ring_at;
        f->ring_at = at + bytes;
    } else {
        f->end = at + bytes;
    }
    put(f, f->path, 0, parts, padding ? 3 : 2, at);
    if (h->kind == RS_CHUNK_EVENTS) f->records += h->records;
}

static void seal_facts(struct rs_gen_file *f)
{
    if (f->facts_sealed == f->nfacts_words) return;
    struct rs_chunk_header h = {.kind = RS_CHUNK_FACTS,
                                .records = f->nfacts,
                                .slot = RS_SLOT_FACTS,
                                .generation = f->facts_generation,
                                .from = f->facts_sealed,
                                .to = f->nfacts_words};
    rs_gen_chunk(f, &h, f->facts + f->facts_sealed, f->nfacts_words - f->facts_sealed);
    f->facts_sealed = f->nfacts_words;
    f->nfacts = 0;
}

void rs_gen_fact(struct rs_gen_file *f, enum rs_fact_type type, uint64_t tick, const void *a, size_t a_bytes,
                 const void *b, size_t b_bytes)
{
    if (f->dump) return;
    size_t bytes = a_bytes + b_bytes;
    uint32_t words = rs_fact_words(bytes);
    if (f->nfacts_words + words > RS_GEN_WORDS) {
        seal_facts(f);
        f->nfacts_words = f->facts_sealed = 0;
        f->facts_generation++;
    }
    rs_fact_encode(f->facts + f->nfacts_words, type, tick, a, a_bytes, b, b_bytes);
    f->nfacts_words += words;
    f->nfacts++;
    f->lives += type == RS_FACT_COMM || type == RS_FACT_COMM_END;
}

void rs_gen_fact_info(struct rs_gen_file *f, int64_t t, const char *key, const char *value)
{
    rs_gen_fact(f, RS_FACT_INFO, rs_gen_host_tick(f->host, t), key, strlen(key) + 1, value, strlen(value) + 1);
}

/* ---- the background thread ---- */

static struct rs_clock_bracket bracket(struct rs_gen_file *f, int64_t t, bool wall)
{
    int64_t width = 30 + rs_gen_below(&f->rng, 24), at = t + 8 + rs_gen_below(&f->rng, (uint32_t)width - 15);
    return (struct rs_clock_bracket){
        .before = rs_gen_host_tick(f->host, t),
        .after = rs_gen_host_tick(f->host, t + width),
        .ns = (uint64_t)(wall ? rs_gen_host_wall(f->host, at) : rs_gen_host_raw(f->host, at))};
}

static void sample(struct rs_gen_file *f, int64_t t)
{
    struct rs_fact_clock s = {.raw = bracket(f, t, false), .real = bracket(f, t + 300, true)};
    rs_gen_fact(f, RS_FACT_CLOCK, s.raw.before, &s, sizeof s, NULL, 0);
}

void rs_gen_file_until(struct rs_gen_file *f, int64_t t)
{
    if (f->dump) return;
    for (; t >= f->next_second; f->next_second += RS_GEN_SECOND) {
        sample(f, f->next_second);
        seal_facts(f);
        for (uint32_t i = 0; i < f->nslots; i++) rs_gen_slot_seal(f->slots[i]);
    }
}

/* ---- life ---- */

enum rs_status rs_gen_file_open(struct rs_gen_file *f, struct rs_gen_disk *disk, struct rs_gen_host *host, uint32_t pid,
                                uint32_t nonce, int64_t t, uint64_t ring_bytes, uint32_t nslots, uint64_t seed)
{
    *f = (struct rs_gen_file){.disk = disk, .host = host, .nslots = nslots, .facts_generation = 1, .rng = {seed}};
    f->facts = rs_zalloc(RS_GEN_WORDS, sizeof *f->facts);
    f->slots = rs_zalloc(nslots, sizeof *f->slots);
    snprintf(f->path, sizeof f->path, "%s/%s.%u.rsc", disk->dir, host->name, pid);
    struct rs_file_header *h = &f->header;
    *h = (struct rs_file_header){.magic = RS_FILE_MAGIC,
                                 .header_bytes = sizeof *h,
                                 .features = 0,
                                 .nonce = nonce,
                                 .pid = pid,
                                 .created_ns = (uint64_t)rs_gen_host_wall(host, t),
                                 .created_tick = rs_gen_host_tick(host, t),
                                 .tick_source = RS_TICK_TSC,
                                 .live_place = RS_LIVE_TMPFS,
                                 .process_start_ns = (uint64_t)(rs_gen_host_raw(host, t) / 10000000 - 700) * 10000000,
                                 .pid_namespace = PID_NAMESPACE};
    memcpy(h->host, host->name, sizeof h->host);
    memcpy(h->boot_id, host->boot_id, sizeof h->boot_id);
    snprintf(h->live_name, sizeof h->live_name, "%.64s.%u.live", host->name, pid);
    f->slot_limit = RS_GEN_LIMIT;
    f->end = sizeof *h;
    if (ring_bytes) {
        h->ring_begin = f->ring_at = sizeof *h;
        h->ring_end = f->end = (sizeof *h + ring_bytes) & ~UINT64_C(7);
        /* Four chunks fit even if nothing can be compressed. */
        uint64_t words = ring_bytes / 4 / 8 - sizeof(struct rs_chunk_header) / 8 - RS_RECORD_MAX;
        if (words < f->slot_limit) f->slot_limit = (uint32_t)words;
    }
    h->checksum = rs_header_checksum(h);
    h->status = (struct rs_status_block){.state = RS_STATE_RUNNING, .callback_cost_ps = CALLBACK_PS};
    put_bytes(f, f->path, O_CREAT | O_TRUNC, h, sizeof *h, 0);
    sample(f, t + 100000);
    f->next_second = t + RS_GEN_SECOND;
    return disk->err.code;
}

void rs_gen_file_free(struct rs_gen_file *f)
{
    rs_gen_dump_free(f->dump);
    for (uint32_t i = 0; f->slots && i < f->nslots; i++) rs_gen_slot_free(f->slots[i]);
    free(f->slots);
    free(f->facts);
    *f = (struct rs_gen_file){0};
}

/* The live file of a process that did not close: slots and, in their buffers, what was not sealed yet. */
static void put_live(struct rs_gen_file *f)
{
    char path[4096];
    uint32_t n = f->nslots;
    struct rs_live_header h = {.magic = RS_LIVE_MAGIC,
                               .nonce = f->header.nonce,
                               .pid = f->header.pid,
                               .slots = n,
                               .buffers = n,
                               .slots_at = RS_LIVE_PAGE,
                               .buffers_at = RS_LIVE_PAGE * (2 + n * sizeof(struct rs_slot) / RS_LIVE_PAGE),
                               .process_start_ns = f->header.process_start_ns,
                               .status = f->header.status};
    memcpy(h.boot_id, f->header.boot_id, sizeof h.boot_id);
    snprintf(path, sizeof path, "%.*slive", (int)strlen(f->path) - 3, f->path);
    put_bytes(f, path, O_CREAT | O_TRUNC, &h, sizeof h, 0);
    for (uint32_t i = 0; i < n; i++) {
        const struct rs_gen_slot *s = f->slots[i];
        struct rs_slot slot = {.buffer = s->limit ? i + 1 : 0,
                               .generation = s->generation,
                               .next_handle = s->next_handle,
                               .tid = s->generation ? s->tid : 0};
        if (s->loss) {
            for (int c = 0; c < RS_LOST_COUNTS; c++) {
                slot.lost[c] = s->loss->lost[c];
                slot.lost_in_records[c] = s->loss->lost[c] - s->loss->unmarked[c];
            }
            slot.lost_first_tick = s->loss->first_tick;
            slot.lost_last_tick = s->loss->last_tick;
        }
        put_bytes(f, path, 0, &slot, sizeof slot, h.slots_at + i * sizeof slot);
        struct rs_buffer *b = rs_zalloc(1, sizeof *b);
        if (s->limit) {
            b->commit = s->n | (s->next_handle - s->buffer_handle) << 32;
            b->first_handle = s->buffer_handle;
            b->tick_now = s->tick_now;
            b->tick_base = s->buffer_tick;
            b->limit = s->limit;
            b->generation = s->generation;
            b->slot = i;
            b->sealed = s->sealed;
            memcpy(b->words, s->words, s->n * sizeof *s->words);
        }
        put_bytes(f, path, 0, b, sizeof *b, h.buffers_at + (uint64_t)i * sizeof *b);
        free(b);
    }
}

void rs_gen_file_close(struct rs_gen_file *f, int64_t t, bool closed)
{
    if (f->dump) {
        if (!failed(f)) rs_gen_dump_write(f->dump, f->disk->dir, &f->disk->err);
        return;
    }
    struct rs_status_block *st = &f->header.status;
    rs_gen_file_until(f, t);
    if (closed) {
        sample(f, t);
        for (uint32_t i = 0; i < f->nslots; i++) rs_gen_slot_seal(f->slots[i]);
        for (uint32_t i = 0; i < f->nslots; i++) rs_gen_slot_mark(f->slots[i]);
        st->state = RS_STATE_CLOSED;
    }
    seal_facts(f);
    for (uint32_t i = 0; i < f->nslots; i++)
        for (int c = 0; f->slots[i]->loss && c < RS_LOST_COUNTS; c++) st->lost[c] += f->slots[i]->loss->lost[c];
    st->heartbeat_tick = rs_gen_host_tick(f->host, t + 1000);
    st->heartbeat_ns = (uint64_t)rs_gen_host_wall(f->host, t + 1000);
    st->file_end = f->end;
    st->sealed_records = f->records;
    st->event_chunks = (uint32_t)f->sequence[RS_CHUNK_EVENTS];
    st->fact_chunks = (uint32_t)f->sequence[RS_CHUNK_FACTS];
    st->sealer_cpu_ns = 2000000 + f->records * SEALER_NS_A_RECORD;
    put_bytes(f, f->path, 0, &f->header, sizeof f->header, 0);
    if (!closed) put_live(f);
}
