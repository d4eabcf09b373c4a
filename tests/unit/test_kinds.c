/* The tables of record kinds and the packing of handles: every field lies inside its record, and no two fields share a
 * bit. */
#include "format/kinds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "format/handle.h"
#include "nccl/abi.h"

static void check_fields(const struct rs_field *fields, unsigned args)
{
    uint64_t small = 0, words[RS_RECORD_MAX] = {0};
    for (const struct rs_field *f = fields; f && f->name; f++) {
        assert_true(f->bits >= 1 && f->shift + f->bits <= 64);
        if (f->source == RS_FROM_WORD) assert_true(f->word < args);
        uint64_t *bits = f->source == RS_FROM_SMALL ? &small : &words[f->word];
        uint64_t own = (f->bits == 64 ? UINT64_MAX : (UINT64_C(1) << f->bits) - 1) << f->shift;
        if (*bits & own) fail_msg("%s overlaps", f->name);
        *bits |= own;
        if (f->format == RS_F_STRING) assert_int_equal(f->bits, 16);
        if (f->format == RS_F_POINTER || f->format == RS_F_HANDLE) assert_int_equal(f->bits, 64);
        if (f->format == RS_F_BOOL) assert_int_equal(f->bits, 1);
        for (const struct rs_field *g = fields; g < f; g++) assert_string_not_equal(f->name, g->name);
    }
    /* A word that no field reads would be written for nothing. */
    for (unsigned i = 0; fields && i < args; i++) assert_true(words[i] != 0);
}

static void test_tables(void **state)
{
    (void)state;
    uint32_t types = 0;
    for (unsigned kind = 0; kind < 256; kind++) {
        const struct rs_kind_info *info = rs_kind_start(kind);
        assert_int_equal(info != NULL, rs_kind_is_start(kind));
        if (!info) continue;
        assert_true(rs_kind_args[kind] != 0xff);
        assert_true(kind == RS_K_START_RAW || (info->type && !(info->type & (info->type - 1))));
        assert_true(info->fields || !rs_kind_args[kind]);
        assert_true(6u + rs_kind_args[kind] <= RS_RECORD_MAX);
        check_fields(info->fields, rs_kind_args[kind]);
        types |= info->type;
    }
    assert_int_equal(types, (1 << RS_NCCL_TYPE_BITS) - 1);
    check_fields(rs_kind_state_fields(RS_K_NET_UPDATE_IB), rs_kind_args[RS_K_NET_UPDATE_IB]);
    check_fields(rs_kind_state_fields(RS_K_NET_UPDATE_SOCK), rs_kind_args[RS_K_NET_UPDATE_SOCK]);
    assert_null(rs_kind_state_fields(RS_K_STOP));
    for (unsigned s = 0; s < RS_NCCL_STATES; s++) {
        assert_int_equal(rs_kind_args[RS_K_STATE + s], 0);
        assert_int_equal(rs_kind_args[RS_K_STATE_ARG + s], 1);
    }
    assert_true(2u + RS_LOST_COUNTS + 1 <= RS_RECORD_MAX);
}

static void test_handles(void **state)
{
    (void)state;
    const uint32_t nonces[] = {1, 0x8000, 0xffff},
                   slots[] = {0, 1, RS_SLOT_LIMIT - 1, RS_SLOT_OVERFLOW, RS_SLOT_CONTEXT};
    const uint64_t counters[] = {0, 1, RS_COUNTER_MASK - 1, RS_COUNTER_MASK};
    for (int n = 0; n < 3; n++)
        for (int s = 0; s < 5; s++)
            for (int c = 0; c < 4; c++) {
                uint64_t h = rs_handle(nonces[n], slots[s], counters[c]);
                assert_true(h != 0);
                assert_int_equal(rs_handle_nonce(h), nonces[n]);
                assert_int_equal(rs_handle_slot(h), slots[s]);
                assert_true(rs_handle_counter(h) == counters[c]);
            }
    /* A counter that wraps stays inside its field. */
    assert_true(rs_handle(5, 7, RS_COUNTER_MASK + 1) == rs_handle(5, 7, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables), cmocka_unit_test(test_handles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
