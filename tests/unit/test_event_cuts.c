/* Where a process is cut into pieces: what hangs on each other stays together, when a piece is over, and what comes to it
 * all the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "events/cuts.h"
#include "format/handle.h"
#include "nccl/abi.h"

enum { NONCE = 0x1234, LEAST = 10 };

struct row {
    struct rs_flight flight;
    struct rs_event event;
};

struct world {
    struct rs_model model;
    int64_t starts[4], ends[4], after[4]; /* of parts */
    struct rs_flights flights;
    struct rs_event_pieces pieces;
    struct rs_event_cuts cuts;
    uint32_t number, begun, closed;
    int64_t now;
};

static enum rs_status begun(void *to, uint32_t number, struct rs_err *err)
{
    struct world *w = to;
    (void)err;
    assert_int_equal(number, w->number);
    w->begun++;
    return RS_OK;
}

static enum rs_status closed(void *to, struct rs_err *err)
{
    (void)err;
    ((struct world *)to)->closed++;
    return RS_OK;
}

static void make(struct world *w)
{
    *w = (struct world){
        .pieces = {.least = LEAST, .lag = LEAST, .patience = 4 * LEAST, .begun = begun, .closed = closed}};
    for (int i = 0; i < 4; i++) w->starts[i] = w->ends[i] = w->after[i] = RS_TIME_NONE;
    w->model.parts.start = w->starts;
    w->model.parts.end = w->ends;
    w->model.parts.after = w->after;
    w->model.parts.n = 4;
    rs_flights_init(&w->flights, sizeof(struct row));
    rs_event_cuts_make(&w->cuts, &w->model, &w->pieces, w);
}

/* A start; its row. `parent` 0: none. */
static uint32_t start(struct world *w, uint64_t type, uint64_t parent, uint32_t part)
{
    struct rs_err err;
    struct rs_flight_parent above = rs_flights_parent(&w->flights, parent, false);
    uint32_t piece, row;
    w->now++;
    assert_int_equal(rs_event_cuts_start(&w->cuts, &w->flights, type, w->number, w->now, &above, &piece, &err), RS_OK);
    rs_flights_add(&w->flights, rs_handle(NONCE, 1, w->number + 1), &row);
    struct row *r = rs_flight_at(&w->flights, row);
    r->flight.number = w->number++;
    r->flight.part = part;
    r->flight.piece = piece;
    r->flight.type = (uint32_t)type;
    r->event = (struct rs_event){.handle = r->flight.handle,
                                 .number = r->flight.number,
                                 .parent = above.number,
                                 .piece = piece,
                                 .part = part,
                                 .type = type};
    if (part != RS_NONE) rs_event_cuts_part(&w->cuts, piece, part);
    rs_flights_keep(&w->flights, row, false);
    return row;
}

static struct rs_event *at(const struct world *w, uint32_t row)
{
    return &((struct row *)rs_flight_at(&w->flights, row))->event;
}

static void stop(struct world *w, uint32_t row)
{
    rs_event_cuts_end(&w->cuts, at(w, row));
    rs_flights_end(&w->flights, row);
}

/* Calls that hang on nothing and are over at once. */
static void others(struct world *w, uint32_t n)
{
    while (n--) stop(w, start(w, RS_COLL_API, 0, RS_NONE));
}

/* A call in flight keeps its piece open, and what hangs on it joins it there, however much has started since. */
static void test_stays_together(void **state)
{
    (void)state;
    struct world w;
    make(&w);
    uint32_t call = start(&w, RS_COLL_API, 0, RS_NONE);
    uint64_t handle = at(&w, call)->handle;
    others(&w, 5 * LEAST);
    assert_int_equal(w.begun, 5);
    assert_int_equal(w.closed, 0);
    uint32_t child = start(&w, RS_COLL, handle, RS_NONE);
    assert_int_equal(at(&w, child)->piece, 0);
    assert_int_equal(at(&w, child)->parent, 0);
    uint64_t below = at(&w, child)->handle;
    stop(&w, child);
    stop(&w, call);
    uint32_t late = start(&w, RS_KERNEL_CH, below, RS_NONE); /* nothing was closed meanwhile: no root came */
    assert_int_equal(at(&w, late)->piece, 0);
    stop(&w, late);
    others(&w, 1);
    assert_int_equal(w.closed, 4); /* the newest and the one before are kept */
    assert_int_equal(w.pieces.late, 0);
    rs_flights_free(&w.flights);
}

/* A piece waits for its operations, as the model has their ends; what is later still is told. */
static void test_waits_for_operations(void **state)
{
    (void)state;
    struct world w;
    make(&w);
    w.ends[2] = 4 * LEAST;
    uint32_t op = start(&w, RS_COLL, 0, 2);
    uint64_t handle = at(&w, op)->handle;
    stop(&w, op);
    others(&w, 3 * LEAST);
    assert_int_equal(w.closed, 0);
    others(&w, LEAST);
    assert_true(w.closed > 0);
    uint32_t late = start(&w, RS_KERNEL_CH, handle, 2);
    assert_int_equal(at(&w, late)->parent, RS_NONE);
    assert_int_equal(at(&w, late)->piece, w.begun);
    assert_int_equal(w.pieces.late, 1);
    rs_flights_free(&w.flights);
}

/* One whose end is not known is waited for until it begins, and as long as it is known to go on. */
static void test_waits_for_hanging(void **state)
{
    (void)state;
    for (int begins = 0; begins < 2; begins++) {
        struct world w;
        make(&w);
        *(begins ? &w.starts[1] : &w.after[1]) = 4 * LEAST;
        uint32_t op = start(&w, RS_COLL, 0, 1);
        uint64_t handle = at(&w, op)->handle;
        stop(&w, op);
        others(&w, 3 * LEAST);
        assert_int_equal(w.closed, 0);
        uint32_t kernel = start(&w, RS_KERNEL_CH, handle, 1);
        assert_int_equal(at(&w, kernel)->parent, 0);
        others(&w, 3 * LEAST);
        assert_int_equal(w.closed, 0); /* the kernel is under way */
        rs_flights_free(&w.flights);
    }
}

/* Launches have no parent here: no piece begins between one and the operations behind it. With calls only those begin
 * pieces. */
static void test_roots(void **state)
{
    (void)state;
    struct world w;
    make(&w);
    for (int i = 0; i < 4 * LEAST; i++) {
        uint32_t launch = start(&w, RS_KERNEL_LAUNCH, 0, RS_NONE), op = start(&w, RS_COLL, 0, RS_NONE);
        assert_int_equal(at(&w, launch)->piece, at(&w, op)->piece);
        stop(&w, launch);
        stop(&w, op);
    }
    assert_true(w.begun > 4);
    uint32_t so_far = w.begun, call = start(&w, RS_GROUP_API, 0, RS_NONE);
    stop(&w, call);
    for (int i = 0; i < 4 * LEAST; i++) stop(&w, start(&w, RS_KERNEL_LAUNCH, 0, RS_NONE));
    assert_true(w.begun <= so_far + 1);
    rs_flights_free(&w.flights);
}

/* Calls are recorded no more: then launches begin pieces, and when these are not recorded either, operations; calls when
 * they come back. */
static void test_roots_change(void **state)
{
    (void)state;
    static const uint64_t types[] = {RS_COLL_API, RS_KERNEL_LAUNCH, RS_COLL, RS_COLL_API};
    struct world w;
    make(&w);
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        for (int i = 0; i < 1 << 16; i++) stop(&w, start(&w, types[k], 0, RS_NONE));
        uint32_t so_far = w.begun;
        for (int i = 0; i < 4 * LEAST; i++) stop(&w, start(&w, types[k], 0, RS_NONE));
        assert_int_equal(w.begun, so_far + 4);
        assert_true(w.begun - w.closed <= 2);
    }
    rs_flights_free(&w.flights);
}

/* Every replay of a graph hangs on the calls that were captured: from then on there is one piece, and none is closed. */
static void test_captured(void **state)
{
    (void)state;
    struct world w;
    make(&w);
    others(&w, LEAST / 2);
    uint32_t call = start(&w, RS_COLL_API, 0, RS_NONE);
    uint64_t handle = at(&w, call)->handle;
    rs_flights_keep(&w.flights, call, true);
    stop(&w, call);
    for (int i = 0; i < 10 * LEAST; i++) {
        uint32_t op = start(&w, RS_COLL, handle, RS_NONE);
        assert_int_equal(at(&w, op)->piece, 0);
        stop(&w, op);
        others(&w, 1);
    }
    assert_int_equal(w.begun, 0);
    assert_int_equal(w.closed, 0);
    rs_flights_free(&w.flights);
}

/* What never stops keeps all pieces open, which become no more than there is room for, until it is let go: not before
 * its operation is over. */
static void test_never_stops(void **state)
{
    (void)state;
    struct world w;
    make(&w);
    w.ends[1] = 10 * RS_EVENT_PIECES * LEAST;
    uint32_t op = start(&w, RS_COLL, 0, 1);
    others(&w, 3 * RS_EVENT_PIECES * LEAST);
    assert_int_equal(w.begun, RS_EVENT_PIECES - 1);
    assert_int_equal(w.closed, 0);
    assert_false(rs_event_cuts_stuck(&w.cuts, w.number, w.now));
    assert_true(rs_event_cuts_stuck(&w.cuts, w.number, w.ends[1]));
    assert_false(rs_event_cuts_stuck(&w.cuts, w.number, w.ends[1])); /* not again and again */
    others(&w, LEAST);
    assert_true(rs_event_cuts_stuck(&w.cuts, w.number, w.ends[1]));
    stop(&w, op);
    assert_false(rs_event_cuts_stuck(&w.cuts, w.number, w.ends[1]));
    rs_flights_free(&w.flights);
}

/* The proxy thread may sleep through all pieces: it keeps none open, and its event goes to the newest. */
static void test_sleeps(void **state)
{
    (void)state;
    struct world w;
    make(&w);
    uint32_t sleep = start(&w, RS_PROXY_CTRL, 0, RS_NONE);
    others(&w, 5 * LEAST);
    assert_true(w.closed >= 3);
    rs_event_cuts_end(&w.cuts, at(&w, sleep));
    assert_int_equal(at(&w, sleep)->piece, w.begun);
    rs_flights_end(&w.flights, sleep);
    others(&w, 3 * LEAST);
    assert_int_equal(w.begun - w.closed, 1);
    rs_flights_free(&w.flights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stays_together),    cmocka_unit_test(test_waits_for_operations),
        cmocka_unit_test(test_waits_for_hanging), cmocka_unit_test(test_roots),
        cmocka_unit_test(test_roots_change),      cmocka_unit_test(test_captured),
        cmocka_unit_test(test_never_stops),       cmocka_unit_test(test_sleeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
