/* Files of stage times: both layouts, all units, marks, and lines that make no sense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "foreign/stages/stages.h"

static enum rs_status take(struct rs_stage_file *f, const char *text, struct rs_err *err)
{
    struct rs_bytes *bytes;
    assert_int_equal(rs_bytes_memory(&bytes, "x.csv", text, strlen(text), 0, err), RS_OK);
    enum rs_status status = rs_stage_file_read(f, bytes, err);
    rs_bytes_close(bytes);
    return status;
}

/* "rank.chunk name start-end; ..." in the order of the rows. */
static void expect(const char *text, const char *truth, uint64_t bad, const char *why)
{
    struct rs_stage_file f;
    struct rs_err err;
    char seen[1024] = "";
    assert_int_equal(take(&f, text, &err), RS_OK);
    for (uint32_t i = 0; i < f.nrows; i++) {
        const struct rs_stage_row *r = &f.rows[i];
        size_t n = strlen(seen);
        snprintf(seen + n, sizeof seen - n, "%d.%d %s %d-%d; ", (int)r->rank, (int)r->chunk, f.names[r->name],
                 (int)r->start, (int)r->end);
    }
    assert_string_equal(seen, truth);
    assert_int_equal(f.bad, bad);
    if (why) assert_string_equal(f.why, why);
    rs_stage_file_free(&f);
}

static void test_layouts(void **state)
{
    (void)state;
    expect("rank,chunk,name,start_ns,end_ns\n0,0,a,10,20\n0,0,b,20,25\r\n\n1,7,a,3,4\n",
           "0.0 a 10-20; 0.0 b 20-25; 1.7 a 3-4; ", 0, NULL);
    expect("Name, Time_us ,EVENT,chunk,rank,more\na,1.5,begin,0,2,x\na,2,end,0,2,x\nb,1,Start,0,2\nb,1.001,STOP,0,2\n",
           "2.0 a 1500-2000; 2.0 b 1000-1001; ", 0, NULL);
    expect("# a comment\nstage,time_ms,rank,chunk\nload_begin,1,0,0\nload_end,2,0,0\n", "0.0 load 1000000-2000000; ", 0,
           NULL);
    expect("{\"rank\": 1, \"chunk\": 2, \"name\": \"a\", \"start_s\": 0.5, \"end_s\": 1, \"x\": {\"name\": 3}}\n",
           "1.2 a 500000000-1000000000; ", 0, NULL);
    /* Marks: each stage lasts until the next time of its chunk; the last only ends it. */
    expect("rank,chunk,name,time\n0,0,a,10\n0,0,b,30\n0,0,done,35\n0,1,a,40\n0,1,b,60\n0,1,done,61\n",
           "0.0 a 10-30; 0.0 b 30-35; 0.1 a 40-60; 0.1 b 60-61; ", 0, NULL);
    /* Without chunks the i-th is chunk i; without a rank it is not known. */
    expect("name,start,end\na,1,2\nb,2,3\na,4,5\nb,5,6\n", "-1.0 a 1-2; -1.0 b 2-3; -1.1 a 4-5; -1.1 b 5-6; ", 0, NULL);
}

static void test_bad_lines(void **state)
{
    (void)state;
    const char *head = "rank,chunk,name,start_ns,end_ns\n0,0,a,10,20\n";
    static const struct {
        const char *line, *why;
    } cases[] = {{"x,0,a,1,2\n", "line 3: the rank is 'x', not a number"},
                 {"0,-,a,1,2\n", "line 3: the chunk is '-', not a number"},
                 {"0,0,a,soon,2\n", "line 3: the start is 'soon', not a number"},
                 {"0,0,a,1\n", "line 3: no end"},
                 {"0,0,a,3,2\n", "line 3: it ends before it begins"},
                 {"0,0,,1,2\n", "line 3: no name, or one that is too long"},
                 {"{\"rank\": 0, \"name\": \"a\"\n", "line 3: not a JSON object"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s%s", head, cases[i].line);
        expect(text, "0.0 a 10-20; ", 1, cases[i].why);
    }
    expect("rank,chunk,name,event,time\n0,0,a,begin,1\n0,0,a,end,2\n0,1,a,begin,3\n0,2,a,end,4\n0,3,a,middle,5\n",
           "0.0 a 1-2; ", 3, "line 6: the event is 'middle', not begin or end");
    expect("{\"name\":\"a\",\"start\":1,\"end\":2}\nrubbish\n", "-1.0 a 1-2; ", 1, "line 2: not a JSON object");
}

static void test_no_use(void **state)
{
    (void)state;
    struct rs_stage_file f;
    struct rs_err err;
    assert_int_equal(take(&f, "a,b\n1,2\n", &err), RS_BAD_INPUT);
    assert_non_null(strstr(err.msg, "x.csv: line 1: no heading"));
    assert_int_equal(take(&f, "", &err), RS_BAD_INPUT);
    assert_non_null(strstr(err.msg, "no stages"));
    assert_int_equal(take(&f, "name,start,end\na,b,c\n", &err), RS_BAD_INPUT);
    assert_non_null(strstr(err.msg, "line 2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_layouts), cmocka_unit_test(test_bad_lines),
                                       cmocka_unit_test(test_no_use)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
