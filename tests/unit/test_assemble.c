/* The assembler of events: steps that are started again and again, rows that are used again, handles that come again, and
 * what nobody ever stops. */
#include "assemble/assemble.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "nccl/abi.h"

enum { NONCE = 0x1234, PID = 77, MOST = 1 << 16 }; /* rows in flight before the older ones are given up */

static struct rs_model m;
static struct rs_assembly a;
static unsigned overs[4]; /* by enum rs_over */
static uint64_t latest; /* handle of the latest that was over */
static struct rs_start seen; /* the latest start */

static enum rs_status place(struct rs_assembly *at, struct rs_start *s, struct rs_err *err)
{
    (void)at, (void)err;
    if (s->cb->type == RS_COLL) s->part = (uint32_t)s->cb->small;
    return RS_OK;
}
static enum rs_status started(struct rs_assembly *at, uint32_t row, const struct rs_start *s, struct rs_err *err)
{
    (void)err;
    const struct rs_flight *f = rs_flight_at(&at->flights, row);
    assert_int_equal(f->handle, s->cb->handle);
    assert_int_equal(f->part, s->part);
    seen = *s;
    return RS_OK;
}
static enum rs_status changed(struct rs_assembly *at, uint32_t row, const struct rs_callback *cb, int64_t now,
                              struct rs_err *err)
{
    (void)at, (void)row, (void)cb, (void)now, (void)err;
    return RS_OK;
}
static enum rs_status over(struct rs_assembly *at, uint32_t row, enum rs_over how, int64_t now, struct rs_err *err)
{
    (void)now, (void)err;
    const struct rs_flight *f = rs_flight_at(&at->flights, row);
    assert_true(f->used);
    overs[how]++;
    latest = f->handle;
    return RS_OK;
}
static const struct rs_visitor visitor = {.row = sizeof(struct rs_flight) + 24,
                                          .types = UINT64_MAX & ~(uint64_t)RS_GROUP,
                                          .place = place,
                                          .started = started,
                                          .changed = changed,
                                          .over = over};

static int set_up(void **state)
{
    (void)state;
    uint32_t proc;
    m = (struct rs_model){0};
    for (int i = 0; i < 4; i++) overs[i] = 0;
    rs_model_proc(&m, &proc);
    m.procs[proc].nonce = NONCE;
    m.procs[proc].pid = PID;
    rs_assembly_init(&a, &m, NULL, proc, &visitor, NULL);
    return 0;
}
static int tear_down(void **state)
{
    (void)state;
    rs_assembly_free(&a);
    rs_model_free(&m);
    return 0;
}

static uint64_t own(uint64_t counter)
{
    return rs_handle(NONCE, 1, counter);
}
static uint32_t find(uint64_t counter)
{
    return rs_flights_find(&a.flights, own(counter));
}
static const struct rs_flight *at(uint32_t row)
{
    return rs_flight_at(&a.flights, row);
}
static uint32_t start(unsigned kind, uint32_t type, uint64_t counter, uint64_t parent, uint64_t small)
{
    uint64_t args[2] = {PID, 0};
    struct rs_callback cb = {.call = RS_CALL_START,
                             .kind = kind,
                             .type = type,
                             .handle = own(counter),
                             .parent = parent,
                             .small = small,
                             .args = args};
    assert_int_equal(rs_assembly_take(&a, &cb, 5, NULL), RS_OK);
    return find(counter);
}
static uint32_t start_op(uint64_t counter)
{
    return start(RS_K_PROXY_OP, RS_PROXY_OP, counter, 0, 0);
}
static uint32_t start_step(uint64_t counter, uint64_t op, int32_t step)
{
    return start(RS_K_PROXY_STEP, RS_PROXY_STEP, counter, own(op), (uint64_t)step);
}
static void stop(uint64_t counter)
{
    struct rs_callback cb = {.call = RS_CALL_STOP, .handle = own(counter)};
    assert_int_equal(rs_assembly_take(&a, &cb, 6, NULL), RS_OK);
}
static unsigned steps_of(uint32_t op)
{
    unsigned n = 0;
    for (uint32_t i = at(op)->steps; i != RS_NONE; i = at(i)->steps, n++) {
        assert_int_equal(at(i)->type, RS_PROXY_STEP);
        assert_int_equal(at(i)->owner, op);
    }
    return n;
}

static void test_plain(void **state)
{
    (void)state;
    assert_int_equal(find(1), RS_NONE);
    uint32_t op = start_op(10), k = start(RS_K_KERNEL_CH, RS_KERNEL_CH, 11, 0, 0);
    assert_int_equal(find(10), op);
    assert_int_equal(find(11), k);
    assert_int_equal(at(k)->part, RS_NONE);
    assert_int_equal(at(k)->number, 1);
    start(RS_K_GROUP, RS_GROUP, 12, 0, 0); /* has no row, and its number */
    assert_int_equal(find(12), RS_NONE);
    assert_int_equal(a.flights.used, 2);
    stop(10);
    stop(10); /* again: nothing */
    assert_int_equal(find(10), RS_NONE);
    assert_int_equal(find(11), k);
    assert_int_equal(start_op(13), op); /* the row is used again */
    assert_int_equal(at(op)->number, 3);
    assert_int_equal(at(op)->steps, RS_NONE);
    assert_int_equal(overs[RS_OVER_STOPPED], 1);
    assert_int_equal(overs[RS_OVER_UNSTOPPED], 0);
}

/* Timers are numbered, of kernels that have one. */
static void test_timers(void **state)
{
    (void)state;
    start(RS_K_KERNEL_CH, RS_KERNEL_CH, 1, 0, 0);
    assert_int_equal(seen.timer, 0);
    start(RS_K_KERNEL_CH_V3, RS_KERNEL_CH, 2, 0, 0);
    start(RS_K_KERNEL_CH, RS_KERNEL_CH, 3, 0, 0);
    assert_int_equal(seen.timer, 1);
    assert_int_equal(a.timers, 2);
}

/* Parents are found after their stop, and by what is below them. */
static void test_parents(void **state)
{
    (void)state;
    start(RS_K_COLL_V4, RS_COLL, 1, 0, 44);
    stop(1);
    uint32_t op = start(RS_K_PROXY_OP, RS_PROXY_OP, 2, own(1), 0);
    assert_int_equal(seen.parent.number, 0);
    assert_int_equal(at(op)->part, 44);
    assert_int_equal(at(start_step(3, 2, 0))->part, 44);
    assert_int_equal(seen.parent.row, op);
    start(RS_K_PROXY_OP, RS_PROXY_OP, 4, rs_handle(NONCE + 1, 1, 1), 0); /* another process's */
    assert_true(seen.foreign);
    assert_int_equal(seen.part, RS_NONE);
    stop(2);
    start_step(5, 2, 1); /* what is above it is over: it is an event all the same */
    assert_int_equal(at(find(5))->owner, RS_NONE);
}

static void test_same_step(void **state)
{
    (void)state;
    uint32_t op = start_op(1), other = start_op(2);
    uint32_t first = start_step(3, 1, 0), beside = start_step(4, 2, 0);
    for (uint64_t i = 0; i < 10000; i++) {
        assert_int_equal(start_step(100 + i, 1, 0), first);
        assert_true(seen.again);
    }
    assert_int_equal(a.flights.used, 4);
    assert_int_equal(overs[RS_OVER_POLLED], 10000);
    assert_int_equal(find(100 + 9998), RS_NONE);
    assert_int_equal(find(100 + 9999), first);
    assert_int_equal(find(4), beside);
    assert_int_equal(steps_of(op), 1);
    assert_int_equal(steps_of(other), 1);
    uint32_t next = start_step(5, 1, 1);
    assert_int_not_equal(next, first);
    assert_false(seen.again);
    assert_int_equal(steps_of(op), 2);
    assert_int_equal(start_step(6, 1, 0), first); /* again, while a later one is open */
    assert_true(seen.again);
    assert_int_equal(find(5), next);
    assert_int_equal(steps_of(op), 2);
}

static void test_ends(void **state)
{
    (void)state;
    uint32_t op = start_op(1), other = start_op(2);
    for (int32_t i = 0; i < 8; i++) start_step(10 + (uint64_t)i, 1, i);
    uint32_t foreign = start_step(20, 2, 3);
    for (uint64_t h = 10; h < 18; h += 3) stop(h); /* 10, 13, 16: ends and middle */
    assert_int_equal(steps_of(op), 5);
    assert_int_equal(a.flights.used, 8);
    stop(1); /* the rest goes with it, before it */
    assert_int_equal(latest, own(1));
    assert_int_equal(overs[RS_OVER_STOPPED], 4);
    assert_int_equal(overs[RS_OVER_UNSTOPPED], 5);
    assert_int_equal(a.flights.used, 2);
    for (uint64_t h = 10; h < 18; h++) assert_int_equal(find(h), RS_NONE);
    assert_int_equal(find(20), foreign);
    assert_int_equal(steps_of(other), 1);
}

/* The counter of handles went round: the latest is meant. */
static void test_handles_again(void **state)
{
    (void)state;
    start_op(1);
    start_step(2, 1, 0);
    start_step(3, 1, 1);
    uint32_t again = start_op(1);
    assert_int_equal(a.flights.used, 1);
    assert_int_equal(overs[RS_OVER_UNSTOPPED], 3);
    assert_int_equal(find(1), again);
    assert_int_equal(find(3), RS_NONE);
    assert_int_equal(steps_of(again), 0);
    start_step(4, 1, 0);
    start_step(4, 1, 1); /* a step's */
    assert_int_equal(steps_of(again), 1);
    assert_int_equal(a.flights.used, 2);
    start_step(5, 1, 0);
    uint32_t taken = start_step(5, 1, 1); /* the same step as one, with the handle of the other */
    assert_int_equal(find(5), taken);
    assert_int_equal(steps_of(again), 1);
    /* Damaged: a step that names itself as its parent. */
    start_step(1, 1, 7);
    stop(1);
    assert_int_equal(a.flights.used, 0);
}

/* A captured parent that was overwritten is over at once, and known for good. */
static void test_recovered(void **state)
{
    (void)state;
    struct rs_callback cb = {.call = RS_CALL_START,
                             .kind = RS_K_COLL_API,
                             .type = RS_COLL_API,
                             .handle = own(9),
                             .small = 1,
                             .recovered = true};
    assert_int_equal(rs_assembly_take(&a, &cb, 5, NULL), RS_OK);
    assert_int_equal(a.flights.used, 0);
    for (uint64_t i = 10; i < 1 << 19; i += 1 << 8) start(RS_K_COLL_V4, RS_COLL, i, own(9), 1);
    assert_int_equal(seen.parent.number, 0);
}

static void test_give_up(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < MOST; i++) start_op(1 + i);
    assert_int_equal(a.flights.used, MOST);
    assert_int_equal(overs[RS_OVER_UNSTOPPED], 0);
    uint32_t cap = a.flights.cap;
    start_op(1 + MOST);
    assert_int_equal(overs[RS_OVER_UNSTOPPED], MOST / 2); /* the older half */
    assert_int_equal(a.flights.used, MOST / 2 + 1);
    assert_int_equal(find(MOST / 2), RS_NONE);
    assert_int_not_equal(find(MOST / 2 + 1), RS_NONE);
    assert_int_equal(a.flights.cap, cap); /* bounded */
}

/* It happens at the start of a step whose operation is among the oldest: that one stays. */
static void test_give_up_for_a_step(void **state)
{
    (void)state;
    uint32_t op = start_op(1);
    for (int32_t i = 0; i < 3; i++) start_step(2 + (uint64_t)i, 1, i);
    for (uint64_t i = 4; i < MOST; i++) start_op(1 + i);
    assert_int_equal(a.flights.used, MOST);
    uint32_t step = start_step(1000000, 1, 9);
    assert_int_equal(find(1), op);
    assert_int_equal(at(step)->owner, op);
    assert_int_equal(at(op)->steps, step);
    assert_true(overs[RS_OVER_UNSTOPPED] > 0);
    /* Nothing is used twice: every row in use is found under its handle, and they are as many as are counted. */
    uint32_t used = 0;
    for (uint32_t i = 0; i < a.flights.n; i++) {
        if (!at(i)->used) continue;
        used++;
        assert_int_equal(rs_flights_find(&a.flights, at(i)->handle), i);
    }
    assert_int_equal(used, a.flights.used);
    for (uint64_t i = 0; i < 1000; i++) assert_int_equal(at(start_op(2000000 + i))->handle, own(2000000 + i));
    stop(1);
    assert_int_equal(find(1000000), RS_NONE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_plain),     TEST(test_timers),  TEST(test_parents),
                                       TEST(test_same_step), TEST(test_ends),    TEST(test_handles_again),
                                       TEST(test_recovered), TEST(test_give_up), TEST(test_give_up_for_a_step)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
