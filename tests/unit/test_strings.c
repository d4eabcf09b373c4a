/* Strings: one id a text whatever pointer it comes by, one fact an id, and no end of the world when tables are full. */
#include "plugin/strings.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "plugin/buffers.h"
#include "plugin/facts.h"

static void *pool;

static int set_up(void **state)
{
    (void)state;
    size_t bytes = rs_pool_bytes((size_t)16 << 20);
    pool = aligned_alloc(4096, bytes);
    memset(pool, 0, bytes);
    return rs_pool_open(pool, bytes) ? 0 : -1;
}

/* The texts of the string facts in buffer `b`, checked against the id that they must have. */
static unsigned facts_seen(const char *const *texts, unsigned n)
{
    unsigned seen = 0;
    for (uint32_t i = 0; i < RS_FACTS_BUFFERS; i++) {
        const struct rs_buffer *b = &rs_pool.buffers[i];
        const char *at = (const char *)b->words, *end = at + (size_t)(uint32_t)b->commit * 8;
        while (at < end) {
            struct rs_fact_head head;
            memcpy(&head, at, sizeof head);
            if (head.type == RS_FACT_STRING) {
                uint32_t id;
                memcpy(&id, at + sizeof head, sizeof id);
                for (unsigned k = 0; k < n; k++)
                    if (rs_string_id(texts[k]) == id) {
                        assert_string_equal(at + sizeof head + sizeof id, texts[k]);
                        seen++;
                    }
            }
            at += sizeof head + ((head.bytes + 7u) & ~7u);
        }
    }
    return seen;
}

static void test_ids(void **state)
{
    (void)state;
    static const char *const texts[] = {"AllReduce", "", "ncclFloat32", "RING"};
    assert_int_equal(rs_string_id(NULL), RS_STRING_NULL);
    uint64_t ids[4];
    for (int i = 0; i < 4; i++) {
        ids[i] = rs_string_id(texts[i]);
        assert_true(ids[i] != RS_STRING_NULL && ids[i] != RS_STRING_UNKNOWN);
        for (int k = 0; k < i; k++) assert_true(ids[k] != ids[i]);
    }
    for (int i = 0; i < 4; i++) assert_int_equal(rs_string_id(texts[i]), ids[i]);
    char copy[16]; /* another pointer, the same text; then the same pointer, another text */
    strcpy(copy, "RING");
    assert_int_equal(rs_string_id(copy), ids[3]);
    strcpy(copy, "AllReduce");
    assert_int_equal(rs_string_id(copy), ids[0]);
    strcpy(copy, "AllReducE");
    uint64_t other = rs_string_id(copy);
    for (int i = 0; i < 4; i++) assert_true(other != ids[i]);
    strcpy(copy, "RING");
    assert_int_equal(rs_string_id(copy), ids[3]);
    assert_int_equal(facts_seen(texts, 4), 4); /* each once */
}

static char shared_texts[64][16];
static void *asks(void *arg)
{
    uint64_t *ids = arg;
    for (int round = 0; round < 200; round++)
        for (int i = 0; i < 64; i++) ids[i] = rs_string_id(shared_texts[i]);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[8];
    static uint64_t ids[8][64];
    for (int i = 0; i < 64; i++) snprintf(shared_texts[i], sizeof shared_texts[i], "t%d", i);
    for (int t = 0; t < 8; t++) assert_int_equal(pthread_create(&threads[t], NULL, asks, ids[t]), 0);
    for (int t = 0; t < 8; t++) pthread_join(threads[t], NULL);
    for (int t = 1; t < 8; t++) assert_memory_equal(ids[t], ids[0], sizeof ids[0]);
}

static void test_too_many(void **state)
{
    (void)state;
    uint64_t before = rs_string_id("AllReduce");
    unsigned unknown = 0;
    char text[48];
    for (int i = 0; i < 10000; i++) {
        snprintf(text, sizeof text, "a text that nobody has ever seen %d", i);
        unknown += rs_string_id(text) == RS_STRING_UNKNOWN;
    }
    assert_true(unknown > 0 && unknown < 10000);
    assert_int_equal(rs_string_id("AllReduce"), before);
    assert_int_equal(rs_string_id("yet another"), RS_STRING_UNKNOWN);
}

/* ---- signal handlers ---- */

enum { SIGNALS = 2000 };
static _Atomic unsigned calls; /* of the handler */
static unsigned unknown; /* of them: those that came in the middle of it */

static void asks_too(int number)
{
    char text[16] = "handler 00000";
    for (unsigned i = 0, n = atomic_load(&calls); i < 5; i++, n /= 10) text[12 - i] = (char)('0' + n % 10);
    (void)number;
    unknown += rs_string_id(text) == RS_STRING_UNKNOWN;
    rs_fact_info("from", text);
    atomic_fetch_add(&calls, 1);
}

static void *sends(void *to)
{
    for (unsigned i = 0; i < SIGNALS; i++) {
        pthread_kill(*(pthread_t *)to, SIGUSR1);
        while (atomic_load(&calls) <= i) {
        }
    }
    return NULL;
}

/* A handler that interrupts its own thread where that holds a lock must not wait for it. */
static void test_handler(void **state)
{
    (void)state;
    pthread_t thread, self = pthread_self();
    rs_strings_reset();
    signal(SIGUSR1, asks_too);
    alarm(60); /* ends a test that waits for itself */
    assert_int_equal(pthread_create(&thread, NULL, sends, &self), 0);
    char text[32];
    for (unsigned i = 0; atomic_load(&calls) < SIGNALS; i++) {
        snprintf(text, sizeof text, "thread %u", i);
        rs_string_id(text);
        rs_fact_info("of", text);
    }
    pthread_join(thread, NULL);
    alarm(0);
    signal(SIGUSR1, SIG_DFL);
    assert_true(unknown > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ids), cmocka_unit_test(test_threads),
                                       cmocka_unit_test(test_too_many), cmocka_unit_test(test_handler)};
    int failed = cmocka_run_group_tests(tests, set_up, NULL);
    free(pool);
    return failed;
}
