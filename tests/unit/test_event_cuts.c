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

struct world {
    struct rs_model model;
    int64_t ends[4]; /* of parts */
    struct rs_event_flights flights;
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
    *w = (struct world){.pieces = {.least = LEAST, .lag = LEAST, .begun = begun, .closed = closed}};
    for (int i = 0; i < 4; i++) w->ends[i] = RS_TIME_NONE;
    w->model.parts.end = w->ends;
    w->model.parts.n = 4;
    rs_event_flights_make(&w->flights);
    rs_event_cuts_make(&w->cuts, &w->model, &w->pieces, w);
}

/* A start; its row. `parent` 0: none. */
static uint32_t start(struct world *w, uint64_t type, uint64_t parent, uint32_t part)
{
    struct rs_err err;
    struct rs_event_parent above = rs_event_flights_parent(&w->flights, parent, false);
    uint32_t piece, row;
    w->now++;
    assert_int_equal(rs_event_cuts_start(&w->cuts, &w->flights, type, w->number, w->now, &above, &piece, &err), RS_OK);
    assert_int_equal(rs_event_flights_add(&w->flights, rs_handle(NONCE, 1, w->number + 1), &row, &err), RS_OK);
    struct rs_event *e = &w->flights.rows[row].event;
    e->number = w->number++;
    e->parent = above.number;
    e->piece = piece;
    e->part = part;
    e->type = type;
    if (part != RS_NONE) rs_event_cuts_part(&w->cuts, piece, part);
    assert_int_equal(rs_event_flights_keep(&w->flights, row, false, &err), RS_OK);
    return row;
}

static const struct rs_event *at(const struct world *w, uint32_t row)
{
    return &w->flights.rows[row].event;
}

static void stop(struct world *w, uint32_t row)
{
    rs_event_cuts_end(&w->cuts, at(w, row)->piece);
    rs_event_flights_end(&w->flights, row);
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
    rs_event_flights_free(&w.flights);
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
    rs_event_flights_free(&w.flights);
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
    rs_event_flights_free(&w.flights);
}

/* Every replay of a graph hangs on the calls that were captured: from then on there is one piece, and none is closed. */
static void test_captured(void **state)
{
    (void)state;
    struct world w;
    struct rs_err err;
    make(&w);
    others(&w, LEAST / 2);
    uint32_t call = start(&w, RS_COLL_API, 0, RS_NONE);
    uint64_t handle = at(&w, call)->handle;
    assert_int_equal(rs_event_flights_keep(&w.flights, call, true, &err), RS_OK);
    stop(&w, call);
    for (int i = 0; i < 10 * LEAST; i++) {
        uint32_t op = start(&w, RS_COLL, handle, RS_NONE);
        assert_int_equal(at(&w, op)->piece, 0);
        stop(&w, op);
        others(&w, 1);
    }
    assert_int_equal(w.begun, 0);
    assert_int_equal(w.closed, 0);
    rs_event_flights_free(&w.flights);
}

/* What never stops keeps all pieces open: they become no more than there is room for. */
static void test_never_stops(void **state)
{
    (void)state;
    struct world w;
    make(&w);
    start(&w, RS_COLL_API, 0, RS_NONE);
    others(&w, 3 * RS_EVENT_PIECES * LEAST);
    assert_int_equal(w.begun, RS_EVENT_PIECES - 1);
    assert_int_equal(w.closed, 0);
    rs_event_flights_free(&w.flights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stays_together), cmocka_unit_test(test_waits_for_operations),
        cmocka_unit_test(test_roots),          cmocka_unit_test(test_captured),
        cmocka_unit_test(test_never_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
