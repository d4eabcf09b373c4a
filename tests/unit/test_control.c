/* The control file: what changes the mask while a job runs, and what does not. */
#include "plugin/control.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/settings.h"
#include "plugin/detail.h"
#include "plugin/masks.h"

/* None of these asks for shared memory. */
enum { WANTED = 0x12, ALWAYS = RS_MASK_ALWAYS };

static char dir[] = "/tmp/ringscope-control.XXXXXX", path[64];
static int mask;
static uint64_t contexts;

/* As the next communicator does, since no group call is open: NCCL's mask is set to what is wanted. */
static int seen(void)
{
    rs_masks_join(&mask, 7, NULL, ++contexts, WANTED);
    assert_int_equal(mask & ALWAYS, ALWAYS);
    return mask & ~ALWAYS;
}

/* As a shell does it, but with that time in seconds: the file system's clock may stand still between two changes. */
static void write_at(time_t time, const char *text)
{
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    struct timespec both[2] = {{.tv_sec = time}, {.tv_sec = time}};
    assert_int_equal(utimensat(AT_FDCWD, path, both, 0), 0);
    rs_control_look(dir, false);
}

static void test_changes(void **state)
{
    (void)state;
    assert_int_equal(seen(), WANTED);
    write_at(1000, "events=off\n");
    assert_int_equal(seen(), 0);
    write_at(2000, "what is this\n");
    assert_int_equal(seen(), 0);
    write_at(3000, "# a remark\n events = 0x10 \n");
    assert_int_equal(seen(), 0x10);
    unlink(path);
    rs_control_look(dir, false);
    assert_int_equal(seen(), WANTED);
}

/* Looked at between a shell's emptying and its writing, both at the same time by the file system's clock. */
static void test_seen_empty(void **state)
{
    (void)state;
    write_at(4000, "");
    assert_int_equal(seen(), WANTED);
    write_at(4000, "events=off\n");
    assert_int_equal(seen(), 0);
}

/* An earlier job's file means nothing until it changes. */
static void test_first(void **state)
{
    (void)state;
    write_at(5000, "events=0x10\n");
    rs_control_reset();
    rs_masks_reset();
    mask = 0;
    rs_control_look(dir, true);
    rs_control_look(dir, false);
    assert_int_equal(seen(), WANTED);
    write_at(6000, "events=0x10\n");
    assert_int_equal(seen(), 0x10);
}

/* Not a file, or not one of our own: as if there was none. */
static void test_strangers(void **state)
{
    (void)state;
    char other[80];
    snprintf(other, sizeof other, "%s/other", dir);
    write_at(7000, "events=off\n");
    assert_int_equal(seen(), 0);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink(other, path), 0);
    rs_control_look(dir, false);
    assert_int_equal(seen(), WANTED);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    rs_control_look(dir, false); /* does not wait for a writer */
    assert_int_equal(seen(), WANTED);
    unlink(path);
    assert_int_equal(rename(other, path), 0);
    if (chown(path, 65534, 65534)) skip(); /* needs root */
    rs_control_look(dir, false);
    assert_int_equal(seen(), WANTED);
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(dir)) return -1;
    snprintf(path, sizeof path, "%s/control", dir);
    static const struct rs_config config; /* detail all the time */
    rs_detail_start(&config);
    rs_control_look(dir, true);
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_seen_empty),
        cmocka_unit_test(test_first),
        cmocka_unit_test(test_strangers),
    };
    return cmocka_run_group_tests(tests, set_up, clean_up);
}
