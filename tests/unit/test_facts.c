/* Facts that find no room: counted in the mapping itself, where a kill leaves them. */
#include "plugin/facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plugin/buffers.h"

enum { BYTES = 2 << 20, ROUNDS = 20000 };

/* Nobody seals here, as when a disk does not answer: the few buffers of facts fill up. */
static void test_lost_lives(void **state)
{
    (void)state;
    struct rs_fact_comm_end end = {0};
    void *memory = aligned_alloc(4096, BYTES);
    memset(memory, 0, BYTES);
    assert_true(rs_pool_open(memory, BYTES));
    rs_facts_open();
    uint64_t kept = 0, notes = 0;
    for (int i = 0; i < ROUNDS; i++) {
        kept += rs_fact(RS_FACT_COMM_END, 1, &end, sizeof end, NULL, 0);
        notes += rs_fact_info("key", "value");
    }
    const struct rs_live_header *live = memory;
    assert_in_range(kept, 1, ROUNDS - 1);
    assert_int_equal(live->lost_lives, ROUNDS - kept);
    assert_int_equal(live->lost_facts, ROUNDS - notes);
    struct rs_status_block status = {0};
    rs_facts_status(&status);
    assert_int_equal(status.lost_lives, ROUNDS - kept);
    assert_int_equal(status.lost_facts, ROUNDS - notes);
    /* After the close beginnings and ends of communicators are counted where late callbacks are; notes are not. */
    static uint64_t late; /* as long as the program lives */
    assert_int_equal(rs_pool_close(&late, 0), 0);
    for (int i = 0; i < 3; i++) assert_false(rs_fact(RS_FACT_COMM_END, 1, &end, sizeof end, NULL, 0));
    assert_false(rs_fact_info("key", "value"));
    assert_int_equal(late, 3);
    assert_int_equal(live->lost_lives, ROUNDS - kept);
    assert_int_equal(live->lost_facts, ROUNDS - notes + 1);
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lost_lives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
