/* Any bytes as a recording, with or without a live file. Checksums would end nearly every input early: half of the inputs
 * get right ones before they are opened. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/callbacks.h"
#include "trace/clock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t looked_at; /* so that everything is */
static char folder[64], path[96], live_path[96];

static void clean_up(void)
{
    unlink(path);
    unlink(live_path);
    rmdir(folder);
}

static void set_up(void)
{
    snprintf(folder, sizeof folder, "/dev/shm/ringscope-fuzz.XXXXXX");
    if (!mkdtemp(folder)) abort();
    snprintf(path, sizeof path, "%s/x.rsc", folder);
    snprintf(live_path, sizeof live_path, "%s/x.live", folder);
    atexit(clean_up);
}

static void write_file(const char *to, const void *bytes, size_t n)
{
    FILE *f = fopen(to, "wbe");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f)) abort();
}

/* Makes headers believable: the file's, and those of chunks wherever a chunk may begin. */
static void put_right(uint8_t *bytes, size_t size)
{
    struct rs_file_header h;
    if (size < sizeof h) return;
    memcpy(&h, bytes, sizeof h);
    h.magic = RS_FILE_MAGIC;
    h.header_bytes = sizeof h;
    h.features = 0;
    if (h.ring_end % 3) h.ring_begin = h.ring_end = 0; /* mostly without a ring */
    snprintf(h.live_name, sizeof h.live_name, "x.live"); /* nowhere else: the fuzzer opens no strange files */
    h.checksum = rs_header_checksum(&h);
    memcpy(bytes, &h, sizeof h);
    for (size_t at = sizeof h; size - at >= sizeof(struct rs_chunk_header);) {
        struct rs_chunk_header c;
        memcpy(&c, bytes + at, sizeof c);
        c.magic = RS_CHUNK_MAGIC;
        c.header_bytes = sizeof c;
        c.kind = c.kind % 2 ? RS_CHUNK_EVENTS : RS_CHUNK_FACTS;
        c.coding %= 3;
        size_t left = size - at - sizeof c;
        if (c.stored_bytes > left) c.stored_bytes = (uint32_t)(c.stored_bytes % (left + 1));
        if (c.coding == RS_CODING_RAW) c.to = c.from + c.stored_bytes / 8, c.stored_bytes &= ~7u;
        c.nonce = h.nonce;
        c.checksum = rs_chunk_checksum(&c, bytes + at + sizeof c);
        memcpy(bytes + at, &c, sizeof c);
        at += sizeof c + ((c.stored_bytes + 7u) & ~7u);
        if (at > size) break;
    }
}

/* The second half of some inputs is the live file. */
static size_t write_live(uint8_t *bytes, size_t size)
{
    unlink(live_path);
    if (size < 4096 || bytes[size - 1] % 2) return size;
    struct rs_file_header h;
    memcpy(&h, bytes, sizeof h);
    size_t half = size / 2;
    struct rs_live_header l;
    if (size - half < sizeof l) return size;
    memcpy(&l, bytes + half, sizeof l);
    l.magic = RS_LIVE_MAGIC;
    l.nonce = h.nonce;
    l.pid = h.pid;
    memcpy(l.boot_id, h.boot_id, sizeof l.boot_id);
    l.boot_id[sizeof l.boot_id - 1] = 0;
    if (l.slots_at % 2) { /* offsets that lead somewhere */
        l.slots_at = sizeof l;
        l.slots %= 4;
        l.buffers_at = sizeof l + l.slots * sizeof(struct rs_slot);
    }
    memcpy(bytes + half, &l, sizeof l);
    write_file(live_path, bytes + half, size - half);
    return half;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!folder[0]) set_up();
    if (size < 8 || size > 256 * 1024) return 0;
    uint8_t *bytes = malloc(size);
    if (!bytes) return 0;
    memcpy(bytes, data, size);
    size_t n = size;
    if (bytes[size - 2] % 4) {
        n = write_live(bytes, size);
        put_right(bytes, n);
    }
    /* A live_name that is a path would be followed. */
    size_t name = offsetof(struct rs_file_header, live_name);
    if (n > name) bytes[name] = 0;
    write_file(path, bytes, n);
    free(bytes);

    struct rs_err err = {0};
    struct rs_recording *r;
    if (rs_recording_open(&r, path, &err) != RS_OK) {
        if (!err.msg[0]) abort(); /* says why */
        return 0;
    }
    struct rs_process p;
    struct rs_cursor *cursor;
    struct rs_clock clock;
    rs_process_read(&p, r);
    rs_clock_prepare(&clock, r, &p);
    rs_cursor_open(&cursor, r, &p);
    struct rs_callback cb;
    uint64_t sum = 0;
    while (rs_cursor_next(cursor, &cb)) {
        sum += (uint64_t)rs_clock_ns(&clock, cb.tick) + strlen(cb.thread_name);
        for (const struct rs_field *f = rs_callback_fields(&cb); f && f->name; f++) {
            uint64_t v = rs_callback_field(&cb, f);
            const char *text = f->format == RS_F_STRING ? rs_process_string(&p, v) : NULL;
            sum += v + (text ? strlen(text) : 0);
        }
        if (cb.call == RS_CALL_LOST)
            for (int i = 0; i < RS_LOST_COUNTS; i++) sum += cb.args[i];
    }
    looked_at = sum;
    rs_cursor_close(cursor);
    for (size_t i = 0; i < r->ndamages; i++)
        if (!r->damages[i].path || !r->damages[i].why[0]) abort();
    rs_process_free(&p);
    rs_recording_close(r);
    return 0;
}
