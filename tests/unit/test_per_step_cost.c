/* A recording and its live file as a kill may leave them: at every moment between writing a record, sealing its buffer and
 * using the buffer again, each record is read exactly once. The files are laid out here from layout.h, so that moments of a
 * few nanoseconds can be held still. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/callbacks.h"

enum { NONCE = 0x4321, BUFFERS = 3, THREAD_WORDS = 4, RECORD_WORDS = 2 };

struct live_file {
    struct rs_live_header header;
    uint8_t padding[RS_LIVE_PAGE - sizeof(struct rs_live_header)];
    struct rs_slot slots[BUFFERS];
    struct rs_buffer buffers[BUFFERS];
};

static struct live_file live;
static uint8_t file[1 << 20];
static size_t file_bytes;
static uint64_t sequence, records_before;
static char folder[64], path[96], live_path[96];

static void begin(void)
{
    memset(&live, 0, sizeof live);
    live.header = (struct rs_live_header){.magic = RS_LIVE_MAGIC,
                                          .nonce = NONCE,
                                          .pid = 77,
                                          .slots = BUFFERS,
                                          .buffers = BUFFERS,
                                          .slots_at = offsetof(struct live_file, slots),
                                          .buffers_at = offsetof(struct live_file, buffers)};
    struct rs_file_header h = {.magic = RS_FILE_MAGIC,
                               .header_bytes = sizeof h,
                               .nonce = NONCE,
                               .pid = 77,
                               .tick_source = RS_TICK_CLOCK_RAW,
                               .live_place = RS_LIVE_TMPFS,
                               .live_name = "x.live"};
    h.checksum = rs_header_checksum(&h);
    h.status.state = RS_STATE_RUNNING;
    memcpy(file, &h, sizeof h);
    file_bytes = sizeof h;
    sequence = records_before = 0;
}

/* Puts `n` numbered records, from number `from` on, into buffer `b` as the thread of `slot` would. */
static void fill(unsigned b, unsigned slot, uint32_t generation, uint64_t from, unsigned n)
{
    struct rs_buffer *buf = &live.buffers[b];
    *buf = (struct rs_buffer){
        .generation = generation, .slot = slot, .first_handle = rs_handle(NONCE, slot, 0), .limit = 8000};
    buf->tick_base = buf->tick_now = from;
    uint64_t *w = buf->words;
    *w++ = RS_K_THREAD;
    *w++ = 100 + slot;
    *w++ = 0;
    *w++ = 0;
    for (unsigned i = 0; i < n; i++) {
        *w++ = (RS_K_STATE_ARG + 9) | 1 << 8 | (uint64_t)i << 32;
        *w++ = from + i;
    }
    buf->commit = (uint64_t)(w - buf->words);
    live.slots[slot].tid = 100 + slot;
    live.slots[slot].buffer = b + 1;
    live.slots[slot].generation = generation;
}

/* Word at which record `i` of a buffer begins. */
static uint32_t word_of(unsigned i)
{
    return THREAD_WORDS + i * RECORD_WORDS;
}

/* Appends a chunk of the words [from, to) of buffer `b`, of which the file has only the first `bytes` (0: all). */
static void chunk(unsigned b, uint32_t from, uint32_t to, size_t bytes)
{
    const struct rs_buffer *buf = &live.buffers[b];
    struct rs_chunk_header h = {.magic = RS_CHUNK_MAGIC,
                                .kind = RS_CHUNK_EVENTS,
                                .coding = RS_CODING_RAW,
                                .header_bytes = sizeof h,
                                .stored_bytes = (to - from) * 8,
                                .sequence = sequence++,
                                .records_before = records_before,
                                .nonce = NONCE,
                                .generation = buf->generation,
                                .slot = (uint16_t)buf->slot,
                                .from = from,
                                .to = to,
                                .tid = 100 + buf->slot,
                                .tick_base = buf->tick_base,
                                .next_handle = buf->first_handle};
    h.records = (to - (from ? from : THREAD_WORDS)) / RECORD_WORDS;
    records_before += h.records;
    h.checksum = rs_chunk_checksum(&h, buf->words + from);
    memcpy(file + file_bytes, &h, sizeof h);
    memcpy(file + file_bytes + sizeof h, buf->words + from, h.stored_bytes);
    file_bytes += bytes ? bytes : sizeof h + h.stored_bytes;
}

static void write_file(const char *to, const void *bytes, size_t n)
{
    FILE *f = fopen(to, "wbe");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* Every number from 0 to `n` - 1, once and in order, and nothing damaged. */
static void expect_once(uint64_t n)
{
    write_file(path, file, file_bytes);
    write_file(live_path, &live, sizeof live);
    struct rs_err err = {0};
    struct rs_recording *r;
    struct rs_process p;
    struct rs_cursor *cursor;
    struct rs_callback cb;
    assert_int_equal(rs_recording_open(&r, path, &err), RS_OK);
    rs_process_read(&p, r);
    rs_cursor_open(&cursor, r, &p);
    uint64_t next = 0;
    for (; rs_cursor_next(cursor, &cb); next++) {
        assert_int_equal(cb.call, RS_CALL_STATE);
        assert_int_equal(cb.args[0], next);
        assert_int_equal(cb.tick, next);
        assert_true(cb.tid >= 100);
    }
    assert_int_equal(next, n);
    assert_int_equal(r->ndamages, 0);
    assert_int_equal(r->damaged, 0);
    rs_cursor_close(cursor);
    rs_process_free(&p);
    rs_recording_close(r);
}

static void test_before_sealing(void **state)
{
    (void)state;
    begin();
    fill(0, 0, 1, 0, 50);
    expect_once(50);
    /* The last record is written, but not committed. */
    live.buffers[0].commit -= RECORD_WORDS;
    expect_once(49);
}

static void test_while_sealing(void **state)
{
    (void)state;
    for (size_t cut = 1; cut < 112 + 8 * word_of(50); cut += 37) { /* the chunk is written in part */
        begin();
        fill(0, 0, 1, 0, 50);
        chunk(0, 0, word_of(50), cut);
        expect_once(50);
    }
}

static void test_sealed_but_not_marked(void **state)
{
    (void)state;
    begin();
    fill(0, 0, 1, 0, 50);
    chunk(0, 0, word_of(50), 0);
    expect_once(50);
    /* In parts, and the owner went on meanwhile. */
    for (unsigned marked = 0; marked < 3; marked++) {
        begin();
        fill(0, 0, 1, 0, 50);
        chunk(0, 0, word_of(20), 0);
        chunk(0, word_of(20), word_of(33), 0);
        live.buffers[0].sealed = marked == 0 ? 0 : word_of(marked == 1 ? 20 : 33);
        expect_once(50);
    }
}

static void test_reuse(void **state)
{
    (void)state;
    begin();
    fill(0, 0, 1, 0, 50);
    chunk(0, 0, word_of(50), 0);
    live.buffers[0].sealed = word_of(50);
    live.slots[0].buffer = 0;
    expect_once(50); /* released */
    live.buffers[0].generation = 0;
    expect_once(50); /* somebody else prepares it */
    live.buffers[0].commit = 0;
    expect_once(50);
    fill(0, 0, 2, 50, 10); /* and has written into it */
    expect_once(60);
    fill(0, 1, 1, 50, 10); /* the same, by another slot with a like generation */
    expect_once(60);
}

static void test_several(void **state)
{
    (void)state;
    begin();
    fill(0, 0, 7, 0, 30);
    chunk(0, 0, word_of(30), 0); /* full, sealed, not marked */
    fill(1, 0, 8, 30, 30);
    chunk(1, 0, word_of(12), 0);
    live.buffers[1].sealed = word_of(12);
    fill(2, 0, 9, 60, 5);
    expect_once(65);
    live.buffers[0].sealed = word_of(30);
    expect_once(65);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/ringscope-once.XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/x.rsc", folder);
    snprintf(live_path, sizeof live_path, "%s/x.live", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    unlink(live_path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_before_sealing), cmocka_unit_test(test_while_sealing),
                                       cmocka_unit_test(test_sealed_but_not_marked), cmocka_unit_test(test_reuse),
                                       cmocka_unit_test(test_several)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
