/* Running out of memory ends the process once, through what was set for it, wherever it happens. */
#include "base/memory.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/room.h"
#include "base/strbuf.h"

/* AddressSanitizer ends the program itself otherwise. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static const size_t far_too_much = SIZE_MAX / 4;

static void alloc(void)
{
    free(rs_alloc(far_too_much));
}

static void zalloc(void)
{
    free(rs_zalloc(1, far_too_much));
}

static void zalloc_overflow(void)
{
    free(rs_zalloc(SIZE_MAX / 2, 3));
}

static void grow(void)
{
    free(rs_realloc(malloc(8), far_too_much));
}

static void strbuf(void)
{
    struct rs_strbuf s = {0};
    rs_strbuf_puts(&s, "kept");
    rs_strbuf_add(&s, "", SIZE_MAX / 2);
}

static void map(void)
{
    struct rs_map m = {0};
    rs_map_reserve(&m, SIZE_MAX / 64);
}

static void map_of_slots(void)
{
    struct rs_map m = {0};
    rs_map_reserve(&m, SIZE_MAX / 4);
}

static void arena(void)
{
    struct rs_arena a = {0};
    rs_arena_alloc(&a, SIZE_MAX - 3);
}

static void room(void)
{
    void *rows = NULL;
    uint32_t cap = 0;
    rs_room(&rows, UINT32_MAX - 1, &cap, 8);
}

static const char *said;

static void end_here(const char *why)
{
    _exit(strcmp(why, said) ? 9 : 7);
}

static int ended(void (*what)(void), void (*end)(const char *), const char *why)
{
    pid_t child = fork();
    if (!child) {
        said = why;
        rs_memory_set_end(end);
        if (!end) close(STDERR_FILENO);
        what();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void test_ends(void **state)
{
    (void)state;
    void (*const all[])(void) = {alloc, zalloc, zalloc_overflow, grow, strbuf, map, map_of_slots, arena};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int status = ended(all[i], end_here, "out of memory");
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) fail_msg("case %zu: wait status %#x", i, (unsigned)status);
    }
    int status = ended(room, end_here, "more than 4 billion rows of one kind");
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    status = ended(alloc, NULL, NULL);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void test_nothing_is_something(void **state)
{
    (void)state;
    void *p = rs_alloc(0), *q = rs_zalloc(0, 8), *r = rs_realloc(NULL, 0);
    assert_non_null(p);
    assert_non_null(q);
    assert_non_null(r);
    r = rs_realloc(r, 0);
    assert_non_null(r);
    free(p);
    free(q);
    free(r);
}

static void test_texts(void **state)
{
    (void)state;
    char *whole = rs_strdup("whole"), *cut = rs_strndup("whole", 3), *all = rs_strndup("whole", 30), *made;
    assert_int_equal(rs_asprintf(&made, "%s %d", "part", 7), 6);
    assert_string_equal(whole, "whole");
    assert_string_equal(cut, "who");
    assert_string_equal(all, "whole");
    assert_string_equal(made, "part 7");
    free(whole);
    free(cut);
    free(all);
    free(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ends), cmocka_unit_test(test_nothing_is_something),
                                       cmocka_unit_test(test_texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
