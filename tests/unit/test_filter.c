/* Filters of ranks, communicators, functions and times over a small model. */
#include "model/filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#define EPOCH INT64_C(1756135989724672000)

/* Two communicators; rank 0 and 1 of the first are global ranks 4 and 5; those of the second are not known.
 *   op 0: AllReduce on the first, from EPOCH + 100 on;  op 1: Broadcast on the second, no start, enqueued EPOCH + 300. */
static void make(struct rs_model *m)
{
    *m = (struct rs_model){0};
    uint32_t c, x, p, o, proc;
    static const uint64_t hashes[] = {0xabcdef0123456789, 0x00cdef0123456789};
    static const char *const funcs[] = {"AllReduce", "Broadcast"};
    rs_model_proc(m, &proc);
    m->procs[proc].first = EPOCH;
    m->procs[proc].last = EPOCH + 1000;
    for (unsigned k = 0; k < 2; k++) {
        rs_model_comm(m, hashes[k], &c);
        m->comms[c].name = k ? NULL : "tp";
        rs_model_op(m, &o);
        m->ops.comm[o] = c;
        m->ops.part[o] = m->norder;
        m->ops.nparts[o] = 2;
        rs_model_string(m, funcs[k], &m->ops.func[o]);
        for (int32_t r = 0; r < 2; r++) {
            rs_model_member(m, c, &x);
            m->members[x].rank = r;
            m->members[x].global_rank = k ? -1 : 4 + r;
            rs_model_part(m, &p);
            m->parts.member[p] = x;
            m->parts.enqueued[p] = k && !r ? RS_TIME_NONE : EPOCH + 50 + 250 * k;
            rs_model_order(m, p);
        }
    }
    m->ops.first[0] = EPOCH + 100;
}

static unsigned passing(const struct rs_filter *f, const struct rs_model *m)
{
    return (rs_filter_op(f, m, 0) ? 1u : 0) + (rs_filter_op(f, m, 1) ? 2u : 0);
}

static void test_ranks(void **state)
{
    (void)state;
    struct rs_model m;
    make(&m);
    assert_int_equal(passing(&(struct rs_filter){0}, &m), 3);
    static const struct {
        struct rs_range ranges[2];
        size_t n;
        unsigned pass;
    } cases[] = {
        {{{5, 5}}, 1, 1}, /* a global rank */
        {{{0, 0}}, 1, 2}, /* in the communicator, where the global one is not known */
        {{{1, 4}}, 1, 3}, {{{2, 3}}, 1, 0}, {{{6, 9}, {5, 5}}, 2, 1}, {{{5, 4}}, 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(passing(&(struct rs_filter){.ranks = cases[i].ranges, .nranks = cases[i].n}, &m),
                         cases[i].pass);
    rs_model_free(&m);
}

static void test_comms(void **state)
{
    (void)state;
    struct rs_model m;
    make(&m);
    static const struct {
        const char *want;
        unsigned pass;
    } cases[] = {
        {"tp", 1},
        {"TP", 0},
        {"t", 0},
        {"0xabcdef0123456789", 1},
        {"abcdef0123456789", 1},
        {"ABCD", 1},
        {"0xABcdef", 1},
        {"00cd", 2},
        {"abc", 0},
        {"cdef", 0},
        {"", 0},
        {"0x00cdef", 2},
        {"0xabcdef01234567890", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(passing(&(struct rs_filter){.comms = &cases[i].want, .ncomms = 1}, &m), cases[i].pass);
    m.comms[0].name = "tp:3"; /* as PyTorch names groups: by the first part as well */
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(passing(&(struct rs_filter){.comms = &cases[i].want, .ncomms = 1}, &m), cases[i].pass);
    const char *const both[] = {"tp", "00cdef"};
    assert_int_equal(passing(&(struct rs_filter){.comms = both, .ncomms = 2}, &m), 3);
    rs_model_free(&m);
}

static void test_funcs(void **state)
{
    (void)state;
    struct rs_model m;
    make(&m);
    const char *const one[] = {"allreduce"}, *const two[] = {"Send", "BROADCAST"}, *const none[] = {"All"};
    assert_int_equal(passing(&(struct rs_filter){.funcs = one, .nfuncs = 1}, &m), 1);
    assert_int_equal(passing(&(struct rs_filter){.funcs = two, .nfuncs = 2}, &m), 2);
    assert_int_equal(passing(&(struct rs_filter){.funcs = none, .nfuncs = 1}, &m), 0);
    const struct rs_range four = {4, 4}; /* all filters must let it through */
    assert_int_equal(passing(&(struct rs_filter){.funcs = two, .nfuncs = 2, .ranks = &four, .nranks = 1}, &m), 0);
    rs_model_free(&m);
}

static void test_times(void **state)
{
    (void)state;
    struct rs_model m;
    make(&m);
    struct rs_filter f = {.has_from = true, .from = 100, .from_relative = true};
    rs_filter_resolve(&f, &m);
    assert_int_equal(f.from, EPOCH + 100);
    assert_false(f.from_relative);
    rs_filter_resolve(&f, &m); /* once */
    assert_int_equal(f.from, EPOCH + 100);
    assert_int_equal(passing(&f, &m), 3);
    f = (struct rs_filter){.has_from = true, .from = EPOCH + 101};
    assert_int_equal(passing(&f, &m), 2); /* that one has no start: its call counts */
    f = (struct rs_filter){.has_to = true, .to = EPOCH + 300};
    assert_int_equal(passing(&f, &m), 1); /* the end is not part of it */
    f = (struct rs_filter){.has_from = true, .has_to = true, .from = EPOCH + 300, .to = EPOCH + 301};
    assert_int_equal(passing(&f, &m), 2);
    assert_false(rs_filter_time(&f, RS_TIME_NONE));
    assert_true(rs_filter_time(&(struct rs_filter){0}, RS_TIME_NONE));
    m.parts.enqueued[3] = RS_TIME_NONE; /* nothing is known of op 1 */
    assert_int_equal(passing(&f, &m), 0);
    assert_int_equal(passing(&(struct rs_filter){0}, &m), 3);
    rs_model_free(&m);
}

/* As one would give it on the command line. */
static void test_description(void **state)
{
    (void)state;
    static const struct rs_range ranks[] = {{3, 3}, {5, 7}};
    static const char *const comms[] = {"tp"}, *const funcs[] = {"AllReduce", "Send"};
    struct rs_strbuf s = {0};
    rs_filter_describe(&(struct rs_filter){0}, &s);
    assert_int_equal(s.len, 0);
    rs_filter_describe(&(struct rs_filter){.ranks = ranks, .nranks = 2}, &s);
    assert_string_equal(rs_strbuf_borrow(&s), "--rank 3 --rank 5-7");
    rs_strbuf_free(&s);
    s = (struct rs_strbuf){0};
    rs_filter_describe(
        &(struct rs_filter){.comms = comms, .ncomms = 1, .funcs = funcs, .nfuncs = 2, .has_from = true, .from = 17},
        &s);
    assert_string_equal(rs_strbuf_borrow(&s), "--comm tp --func AllReduce --func Send --from 17");
    rs_strbuf_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranks), cmocka_unit_test(test_comms),
                                       cmocka_unit_test(test_funcs), cmocka_unit_test(test_times),
                                       cmocka_unit_test(test_description)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
