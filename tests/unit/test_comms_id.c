/* PyTorch's Comms Id against values that its own code gave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nccl/comms_id.h"

static void vectors(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t seq;
        bool p2p;
        int64_t start, stride, size;
        uint64_t id;
    } known[] = {
        {"pg_uid_123", 42, false, 0, 1, 8, UINT64_C(12355216952906966814)},
        {"0", 1, false, 0, 1, 8, UINT64_C(2297668046887139419)},
        {"0", 1, false, 0, 1, 2, UINT64_C(2297668046887139027)},
        {"abcdefghijklmnopq", 7, true, 3, 4, 2, UINT64_C(16399385616536053305)},
        {"", 0, true, -1, -1, 2, UINT64_C(6142509196935731288)},
        {"0", 3, true, -1, -1, 2, UINT64_C(2297668041578267615)},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(known[i].id, rs_comms_id(known[i].name, strlen(known[i].name), known[i].seq, known[i].p2p,
                                                  known[i].start, known[i].stride, known[i].size));
}

static void differs_with_each_part(void **state)
{
    (void)state;
    uint64_t id = rs_comms_id("7", 1, 5, false, 2, 4, 8);
    assert_int_not_equal(id, rs_comms_id("8", 1, 5, false, 2, 4, 8));
    assert_int_not_equal(id, rs_comms_id("7", 1, 6, false, 2, 4, 8));
    assert_int_not_equal(id, rs_comms_id("7", 1, 5, true, 2, 4, 8));
    assert_int_not_equal(id, rs_comms_id("7", 1, 5, false, 3, 4, 8));
    assert_int_not_equal(id, rs_comms_id("7", 1, 5, false, 2, 5, 8));
    assert_int_not_equal(id, rs_comms_id("7", 1, 5, false, 2, 4, 9));
}

static void shape_is(const int32_t *ranks, uint32_t n, int64_t start, int64_t stride)
{
    int64_t s, d;
    rs_comms_shape(ranks, n, &s, &d);
    assert_int_equal(start, s);
    assert_int_equal(stride, d);
}

static void shapes(void **state)
{
    (void)state;
    shape_is(NULL, 0, 0, 1);
    shape_is((const int32_t[]){5}, 1, 5, 0);
    shape_is((const int32_t[]){1, 3, 5}, 3, 1, 2);
    shape_is((const int32_t[]){1, 3, 4}, 3, 1, -1);
    shape_is((const int32_t[]){4, 2}, 2, 4, -2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors),
        cmocka_unit_test(differs_with_each_part),
        cmocka_unit_test(shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
