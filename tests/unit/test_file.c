/* Mapped files, outputs that appear whole or not at all, listings. Works in a folder of its own. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/guard.h"

static char folder[] = "/tmp/ringscope-test-file.XXXXXX";

static int enter_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL || chdir(folder) != 0 ? -1 : 0;
}

static int leave_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    return chdir("/") != 0 || system(command) != 0 ? -1 : 0;
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void expect_file(const char *path, const char *text)
{
    struct rs_file_map map;
    struct rs_err err = {0};
    if (rs_file_map(&map, path, &err) != RS_OK) fail_msg("%s", err.msg);
    assert_int_equal(map.size, strlen(text));
    assert_memory_equal(map.data, text, map.size);
    rs_file_unmap(&map);
}

static size_t files_here(void)
{
    struct rs_dir dir;
    assert_int_equal(rs_dir_list(&dir, ".", NULL, NULL), RS_OK);
    size_t n = dir.count;
    rs_dir_free(&dir);
    return n;
}

static void test_map(void **state)
{
    (void)state;
    struct rs_file_map map;
    struct rs_err err;
    write_file("m", "hello");
    assert_int_equal(rs_file_map(&map, "m", &err), RS_OK);
    assert_true(map.mapped);
    assert_int_equal(map.size, 5);
    assert_memory_equal(map.data, "hello", 5);
    rs_file_unmap(&map);
    assert_null(map.data);
    rs_file_unmap(&map);

    write_file("empty", "");
    assert_int_equal(rs_file_map(&map, "empty", &err), RS_OK);
    assert_int_equal(map.size, 0);
    assert_non_null(map.data);
    rs_file_unmap(&map);

    assert_int_equal(rs_file_map(&map, "absent", &err), RS_NOT_FOUND);
    assert_int_equal(err.code, RS_NOT_FOUND);
    assert_non_null(strstr(err.msg, "absent: "));
    assert_int_equal(rs_file_map(&map, ".", &err), RS_BAD_INPUT);
    /* Says size 0 and has content: must be read. */
    assert_int_equal(rs_file_map(&map, "/proc/self/status", &err), RS_OK);
    assert_false(map.mapped);
    assert_true(map.size > 100);
    rs_file_unmap(&map);
}

/* More than a pipe holds, so that it comes in many pieces. */
static void test_map_pipe(void **state)
{
    (void)state;
    enum { N = 300000 };
    int fd[2];
    assert_int_equal(pipe(fd), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        static char data[N];
        for (size_t i = 0; i < N; i++) data[i] = (char)(i * 7);
        _exit(rs_write_all(fd[1], data, N, "pipe", NULL) == RS_OK ? 0 : 1);
    }
    close(fd[1]);
    char path[64];
    snprintf(path, sizeof(path), "/dev/fd/%d", fd[0]);
    struct rs_file_map map;
    assert_int_equal(rs_file_map_stream(&map, path, NULL), RS_OK);
    assert_false(map.mapped);
    assert_int_equal(map.size, N);
    for (size_t i = 0; i < N; i++)
        if (map.data[i] != (uint8_t)(i * 7)) fail_msg("byte %zu is wrong", i);
    rs_file_unmap(&map);
    close(fd[0]);
}

/* What may have no end is refused once it is open: what its name meant before does not count. */
static void test_map_endless(void **state)
{
    (void)state;
    struct rs_file_map map;
    struct rs_err err;
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(symlink("/dev/zero", "zeros"), 0);
    static const char *const names[] = {"fifo", "zeros", "/dev/zero"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(rs_file_map(&map, names[i], &err), RS_BAD_INPUT);
        assert_non_null(strstr(err.msg, ": not a file"));
    }
    assert_int_equal(unlink("fifo"), 0);
    assert_int_equal(unlink("zeros"), 0);
}

static void test_write_all_fails(void **state)
{
    (void)state;
    int fd = open("/dev/full", O_WRONLY);
    if (fd < 0) skip();
    struct rs_err err;
    assert_int_equal(rs_write_all(fd, "x", 1, "the disk", &err), RS_FAILED);
    assert_string_equal(err.msg, "the disk: cannot write: No space left on device");
    close(fd);
}

static void test_out(void **state)
{
    (void)state;
    struct rs_out out;
    struct rs_err err;
    size_t before = files_here();
    assert_int_equal(rs_out_open(&out, "o", false, &err), RS_OK);
    fputs("first", out.file);
    assert_int_equal(access("o", F_OK), -1); /* not there before it is whole */
    assert_int_equal(rs_out_commit(&out, &err), RS_OK);
    expect_file("o", "first");
    struct stat st;
    mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(stat("o", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0666 & ~mask);

    assert_int_equal(rs_out_open(&out, "o", false, &err), RS_BAD_INPUT);
    assert_non_null(strstr(err.msg, "--force"));
    assert_int_equal(rs_out_open(&out, "o", true, &err), RS_OK);
    fputs("second", out.file);
    expect_file("o", "first");
    rs_out_abort(&out);
    rs_out_abort(&out);
    expect_file("o", "first");
    assert_int_equal(rs_out_open(&out, "o", true, &err), RS_OK);
    fputs("third", out.file);
    assert_int_equal(rs_out_commit(&out, &err), RS_OK);
    expect_file("o", "third");

    /* A file that comes while ours is being written is not overwritten either. */
    assert_int_equal(rs_out_open(&out, "p", false, &err), RS_OK);
    fputs("mine", out.file);
    write_file("p", "theirs");
    assert_int_equal(rs_out_commit(&out, &err), RS_BAD_INPUT);
    assert_non_null(strstr(err.msg, "p: exists already: it was created while"));
    expect_file("p", "theirs");
    assert_int_equal(files_here(), before + 2); /* o and p: nothing temporary is left */
    /* A link to nowhere is somebody's. */
    assert_int_equal(symlink("nowhere", "link"), 0);
    assert_int_equal(rs_out_open(&out, "link", false, &err), RS_BAD_INPUT);
    assert_int_equal(unlink("link"), 0);
    /* A name as long as names may be leaves no room for more. */
    char name[256];
    memset(name, 'n', 255);
    name[255] = 0;
    assert_int_equal(rs_out_open(&out, name, false, &err), RS_OK);
    assert_int_equal(rs_out_commit(&out, &err), RS_OK);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(rs_out_open(&out, "no/such/folder", false, &err), RS_FAILED);
    assert_int_equal(rs_out_open(&out, ".", true, &err), RS_BAD_INPUT);
}

static void test_out_in_place(void **state)
{
    (void)state;
    struct rs_out out;
    struct rs_err err;
    size_t before = files_here();
    assert_int_equal(rs_out_open(&out, "/dev/null", false, &err), RS_OK);
    fputs("gone", out.file);
    assert_int_equal(rs_out_commit(&out, &err), RS_OK);
    assert_int_equal(access("/dev/null", W_OK), 0);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(rs_out_open(&out, "/dev/full", false, &err), RS_OK);
        fputs("no room", out.file);
        assert_int_equal(rs_out_commit(&out, &err), RS_FAILED);
        assert_non_null(strstr(err.msg, "No space left"));
    }
    assert_int_equal(rs_out_open(&out, "-", false, &err), RS_OK);
    assert_ptr_equal(out.file, stdout);
    rs_out_abort(&out);
    assert_int_equal(files_here(), before);
}

static void test_dir(void **state)
{
    (void)state;
    struct rs_dir dir;
    struct rs_err err;
    assert_int_equal(rs_dir_make("d/e//f/", &err), RS_OK);
    assert_int_equal(rs_dir_make("d/e/f", &err), RS_OK);
    const char *names[] = {"b.rsc", "a.rsc", "B.rsc", ".rsc", "a.rsc.tmp", "x"};
    for (size_t i = 0; i < 6; i++) {
        char path[64];
        snprintf(path, sizeof(path), "d/e/f/%s", names[i]);
        write_file(path, "");
    }
    assert_int_equal(rs_dir_list(&dir, "d/e/f", ".rsc", &err), RS_OK);
    const char *sorted[] = {".rsc", "B.rsc", "a.rsc", "b.rsc"};
    assert_int_equal(dir.count, 4);
    for (size_t i = 0; i < 4; i++) assert_string_equal(dir.names[i], sorted[i]);
    rs_dir_free(&dir);
    rs_dir_free(&dir);
    assert_int_equal(rs_dir_list(&dir, "nowhere", NULL, &err), RS_NOT_FOUND);
    assert_int_equal(rs_dir_make("d/e/f/x/y", &err), RS_FAILED);
    assert_non_null(strstr(err.msg, "d/e/f/x: "));
    assert_non_null(strstr(err.msg, strerror(ENOTDIR)));
}

static void test_shrinks(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20 };
    struct rs_file_map map, other;
    struct rs_err err;
    char *text = malloc(BYTES + 1);
    assert_non_null(text);
    memset(text, 'x', BYTES);
    text[BYTES] = 0;
    write_file("long", text);
    write_file("other", text);
    for (int i = 0; i < 2; i++) { /* the second time its guard is another one */
        write_file("long", text);
        assert_int_equal(rs_file_map(&map, "long", &err), RS_OK);
        assert_int_equal(rs_file_map(&other, "other", &err), RS_OK);
        assert_null(rs_file_trouble(&map));
        assert_int_equal(rs_guard_trouble_of("long") != NULL, i);
        assert_int_equal(truncate("long", 100000), 0);
        size_t xs = 0;
        for (size_t at = 0; at < map.size; at++) xs += map.data[at] == 'x';
        assert_int_equal(xs, 100000); /* the rest reads as zeros */
        assert_string_equal(rs_file_trouble(&map), "became shorter while it was read");
        rs_file_drop_pages(&map);
        assert_int_equal(map.data[BYTES - 1], 0);
        assert_int_equal(map.data[99999], 'x');
        assert_int_equal(other.data[BYTES - 1], 'x');
        assert_null(rs_file_trouble(&other));
        rs_file_unmap(&map);
        rs_file_unmap(&other);
        assert_non_null(rs_guard_trouble_of("long"));
        assert_null(rs_guard_trouble_of("other"));
    }
    free(text);
}

enum { NO_MOUNT = 77 };

/* In a tmpfs of 64 KiB that is full: a hole of 1 MiB, one page, and a hole. */
static int read_holes(void)
{
    enum { PAGE = 4096, HOLE = 1 << 20 };
    struct rs_file_map map;
    char page[PAGE];
    memset(page, 'x', sizeof page);
    if ((unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS)) ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) || mkdir("tiny", 0700) ||
        mount("tmpfs", "tiny", "tmpfs", 0, "size=64k"))
        return NO_MOUNT;
    int fd = open("tiny/holes", O_RDWR | O_CREAT, 0600), filler = open("tiny/filler", O_WRONLY | O_CREAT, 0600);
    if (ftruncate(fd, 2 * HOLE) || pwrite(fd, page, PAGE, HOLE) != PAGE) return 2;
    while (write(filler, page, PAGE) > 0) {
    }
    if (rs_file_map(&map, "tiny/holes", NULL) != RS_OK) return 3;
    size_t xs = 0, others = 0;
    for (size_t i = 0; i < map.size; i++) {
        xs += map.data[i] == 'x';
        others += map.data[i] && map.data[i] != 'x';
    }
    if (xs != PAGE || others) return 4;
    if (rs_file_trouble(&map)) return 5;
    if (ftruncate(fd, HOLE / 2)) return 6;
    rs_file_drop_pages(&map);
    if (map.data[HOLE + 1] || !rs_file_trouble(&map)) return 7;
    return 0;
}

static void test_holes_of_a_full_tmpfs(void **state)
{
    (void)state;
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) _exit(read_holes());
    assert_int_equal(waitpid(child, &status, 0), child);
    rmdir("tiny");
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_MOUNT) skip();
    assert_int_equal(status, 0);
}

/* A fault in what is not ours ends the program, as ever. */
static void test_bus_of_others(void **state)
{
    (void)state;
    struct rs_file_map map;
    struct rs_err err;
    write_file("mine", "x");
    write_file("theirs", "x");
    int status;
    pid_t child = fork();
    if (!child) {
        const struct rlimit none = {0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGBUS, SIG_DFL);
        if (rs_file_map(&map, "mine", &err) != RS_OK) _exit(4);
        int fd = open("theirs", O_RDONLY);
        const volatile char *data = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
        if (truncate("theirs", 0)) _exit(3);
        _exit(data[0]);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
#ifndef __SANITIZE_ADDRESS__ /* which ends it with an exit status of its own */
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
#endif
}

static void test_err(void **state)
{
    (void)state;
    struct rs_err err;
    assert_int_equal(rs_fail(&err, RS_BAD_INPUT, "at %d", 7), RS_BAD_INPUT);
    assert_int_equal(rs_err_wrap(&err, "file %s", "x"), RS_BAD_INPUT);
    assert_string_equal(err.msg, "file x: at 7");
    assert_int_equal(rs_fail(NULL, RS_NOT_FOUND, "nobody listens"), RS_NOT_FOUND);
    /* The longest texts stay inside, and the cause survives a long context. */
    char big[3000];
    memset(big, 'z', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';
    rs_fail(&err, RS_FAILED, "cause");
    rs_err_wrap(&err, "%s", big);
    assert_non_null(strstr(err.msg, "cause"));
    rs_fail(&err, RS_FAILED, "%s", big);
    rs_err_wrap(&err, "context");
    assert_memory_equal(err.msg, "context: zzz", 12);
    assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
    errno = ENOENT;
    rs_fail_errno(&err, "%s", big);
    assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_map_pipe),
        cmocka_unit_test(test_write_all_fails),
        cmocka_unit_test(test_out),
        cmocka_unit_test(test_out_in_place),
        cmocka_unit_test(test_dir),
        cmocka_unit_test(test_err),
        cmocka_unit_test(test_shrinks),
        cmocka_unit_test(test_bus_of_others),
        cmocka_unit_test(test_map_endless),
        cmocka_unit_test(test_holes_of_a_full_tmpfs),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
