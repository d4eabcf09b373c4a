/* Events in flight by their handles: many of a slot, those that stay for long, parents after their stop, damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "assemble/flights.h"
#include "format/handle.h"
#include "nccl/abi.h"

enum { NONCE = 0x1234, RING = 1 << 18 };

static uint32_t add(struct rs_flights *f, uint64_t handle, uint32_t number)
{
    uint32_t row;
    rs_flights_add(f, handle, &row);
    struct rs_flight *r = rs_flight_at(f, row);
    r->number = number;
    r->part = number + 1;
    r->piece = number / 7;
    r->type = RS_COLL;
    return row;
}

static void keep(struct rs_flights *f, uint32_t row, bool always)
{
    bool kept = rs_flights_keeps(f);
    rs_flights_keep(f, row, always);
    if (always || kept) assert_true(rs_flights_keeps(f));
}

static void assert_parent(const struct rs_flights *f, uint64_t handle, bool flying, uint32_t number, uint32_t row)
{
    struct rs_flight_parent parent = rs_flights_parent(f, handle, flying);
    assert_int_equal(parent.number, number);
    assert_int_equal(parent.part, number == RS_NONE ? RS_NONE : number + 1);
    assert_int_equal(parent.row, row);
    assert_int_equal(parent.piece, number == RS_NONE ? RS_NONE : number / 7);
}

/* Two slots with the same counters; one of them stays in flight while its counter goes round the ring twice. */
static void test_long_flight(void **state)
{
    (void)state;
    struct rs_flights f;
    rs_flights_init(&f, sizeof(struct rs_flight));
    uint64_t first = RS_COUNTER_MASK - 1000; /* the counter wraps on the way, too */
    uint64_t old = rs_handle(NONCE, 3, first), other = rs_handle(NONCE, 5, first);
    uint32_t row = add(&f, old, 1), second = add(&f, other, 2);
    for (uint64_t i = 1; i <= 2 * RING + 5; i++) {
        uint64_t handle = rs_handle(NONCE, 3, first + i);
        uint32_t here = add(&f, handle, (uint32_t)i + 10);
        assert_int_equal(rs_flights_find(&f, handle), here);
        rs_flights_end(&f, here);
        assert_int_equal(rs_flights_find(&f, handle), RS_NONE);
    }
    assert_int_equal(rs_flights_find(&f, old), row);
    assert_parent(&f, old, true, 1, row);
    assert_parent(&f, old, false, 1, row);
    assert_int_equal(rs_flights_find(&f, other), second);
    rs_flights_end(&f, row);
    assert_int_equal(rs_flights_find(&f, old), RS_NONE);
    assert_int_equal(f.used, 1);
    rs_flights_free(&f);
}

/* Parents are known after their stop as long as the ring holds them, captured ones for good, others not. */
static void test_parents(void **state)
{
    (void)state;
    struct rs_flights f;
    rs_flights_init(&f, sizeof(struct rs_flight));
    for (uint32_t i = 0; i < RING + 100; i++) {
        uint64_t handle = rs_handle(NONCE, 0, 7 + i);
        uint32_t row = add(&f, handle, i);
        if (i % 3) keep(&f, row, i == 50);
        if (i % 3) assert_parent(&f, handle, false, i, RS_NONE);
        assert_parent(&f, handle, true, i, row);
        rs_flights_end(&f, row);
    }
    for (uint32_t i = 100; i < RING + 100; i++)
        assert_parent(&f, rs_handle(NONCE, 0, 7 + i), i & 1, i % 3 ? i : RS_NONE, RS_NONE);
    assert_parent(&f, rs_handle(NONCE, 0, 7 + 49), false, RS_NONE, RS_NONE); /* written over */
    assert_parent(&f, rs_handle(NONCE, 0, 7 + 50), false, 50, RS_NONE);
    assert_parent(&f, rs_handle(NONCE, 0, 7 + 100 + 16 * (uint64_t)RING), false, RS_NONE, RS_NONE);
    assert_parent(&f, 0, false, RS_NONE, RS_NONE);
    rs_flights_free(&f);
}

/* Threads that start more than can be remembered of all: none of them takes the room of those that come after it. */
static void test_many_slots(void **state)
{
    (void)state;
    enum { SLOTS = 24, STARTS = 1 << 18, LEAST = 1 << 14 };
    struct rs_flights f;
    rs_flights_init(&f, sizeof(struct rs_flight));
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        for (uint32_t i = 0; i < STARTS; i++) {
            uint64_t handle = rs_handle(NONCE, slot, i);
            uint32_t row = add(&f, handle, i);
            keep(&f, row, false);
            rs_flights_end(&f, row);
        }
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        for (uint32_t i = STARTS - LEAST; i < STARTS; i++)
            assert_parent(&f, rs_handle(NONCE, slot, i), false, i, RS_NONE);
    assert_true(f.nplaces <= 16 * RING);
    rs_flights_free(&f);
}

/* Handles that cannot be: of another nonce in the same slot, the same again and again, and far apart in every slot, which
 * must not take a full ring each. */
static void test_damaged(void **state)
{
    (void)state;
    struct rs_flights f;
    rs_flights_init(&f, sizeof(struct rs_flight));
    uint64_t own = rs_handle(NONCE, 1, 9), foreign = rs_handle(NONCE + 1, 1, 9);
    uint32_t a = add(&f, own, 1), b = add(&f, foreign, 2);
    assert_int_equal(rs_flights_find(&f, own), a);
    assert_int_equal(rs_flights_find(&f, foreign), b);
    rs_flights_end(&f, b);
    assert_int_equal(rs_flights_find(&f, foreign), RS_NONE);
    assert_int_equal(rs_flights_find(&f, own), a);
    uint32_t before = f.nplaces;
    for (uint32_t i = 0; i < 3; i++) { /* a damaged nonce that comes first must not hide the parents behind it */
        uint32_t row = add(&f, foreign, 3 + i);
        keep(&f, row, false);
        assert_parent(&f, foreign, false, 3 + i, RS_NONE);
        rs_flights_end(&f, row);
        assert_parent(&f, foreign, true, 3 + i, RS_NONE);
        row = add(&f, rs_handle(NONCE, 1, 10), 6 + i); /* the same handle again */
        keep(&f, row, false);
        rs_flights_end(&f, row);
        assert_parent(&f, rs_handle(NONCE, 1, 10), false, 6 + i, RS_NONE);
        rs_flights_end(&f, add(&f, rs_handle(NONCE, 1, 10), 20 + i)); /* and of what has no children */
        assert_parent(&f, rs_handle(NONCE, 1, 10), false, 6 + i, RS_NONE);
    }
    assert_int_equal(f.nplaces, before);
    for (uint32_t slot = 2; slot < 200; slot++)
        for (uint32_t i = 0; i < 3; i++) add(&f, rs_handle(NONCE, slot, 5 + (uint64_t)i * 2 * RING), 10 * slot + i);
    for (uint32_t slot = 2; slot < 200; slot++)
        for (uint32_t i = 0; i < 3; i++) {
            uint32_t row = rs_flights_find(&f, rs_handle(NONCE, slot, 5 + (uint64_t)i * 2 * RING));
            assert_true(row < f.n);
            assert_int_equal(((struct rs_flight *)rs_flight_at(&f, row))->number, 10 * slot + i);
        }
    assert_true(f.nplaces <= 17 * RING);
    rs_flights_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_long_flight), cmocka_unit_test(test_parents),
                                       cmocka_unit_test(test_many_slots), cmocka_unit_test(test_damaged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
