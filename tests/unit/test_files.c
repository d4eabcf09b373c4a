/* What other programs do to a recording while it is written: its header comes back, under whatever name the file has. And
 * chunks, which stop at the limit. */
#include "plugin/files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/codec.h"
#include "plugin/chunks.h"

static struct rs_config config = {.memory = 4 << 20, .buffers = RS_BUFFERS_MEMORY};
static struct rs_files files;

static int set_up(void **state)
{
    (void)state;
    char why[512], fallback[512];
    const char *tmp = getenv("TMP");
    snprintf(config.dir, sizeof config.dir, "%s/files.XXXXXX", tmp ? tmp : "/tmp");
    return mkdtemp(config.dir) && rs_files_open(&files, &config, why, sizeof why, fallback, sizeof fallback) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    rs_files_undo(&files);
    rmdir(config.dir);
    return 0;
}

static void expect_header(const char *path)
{
    struct rs_file_header h;
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fread(&h, sizeof h, 1, f), 1);
    fclose(f);
    assert_true(h.magic == RS_FILE_MAGIC && h.checksum == rs_header_checksum(&h));
}

static void test_cut(void **state)
{
    (void)state;
    assert_int_equal(rs_files_look(&files, sizeof files.header), RS_FILES_SAME);
    assert_int_equal(truncate(files.path, 0), 0);
    assert_int_equal(rs_files_look(&files, sizeof files.header), RS_FILES_CUT);
    expect_header(files.path);
    assert_int_equal(rs_files_look(&files, sizeof files.header), RS_FILES_SAME);
}

static void test_cut_and_renamed(void **state)
{
    (void)state;
    char other[5000];
    snprintf(other, sizeof other, "%s.other", files.path);
    assert_int_equal(truncate(files.path, 500), 0);
    assert_int_equal(rename(files.path, other), 0);
    assert_int_equal(rs_files_look(&files, sizeof files.header), RS_FILES_DELETED);
    expect_header(other);
    assert_int_equal(rename(other, files.path), 0);
}

/* Not a byte of event chunks lies behind the limit; facts may. */
static void test_limit(void **state)
{
    (void)state;
    enum { WORDS = 64, CHUNK = sizeof(struct rs_chunk_header) + WORDS * 8 };
    static const uint64_t words[WORDS];
    for (unsigned spare = 0; spare < 2; spare++) {
        struct rs_chunk_file f = {.files = &files, .end = sizeof files.header};
        f.limit = f.end + 2 * CHUNK - spare;
        for (unsigned i = 0; i < 4; i++) {
            struct rs_chunk_header h = {.kind = RS_CHUNK_EVENTS, .to = WORDS, .records = 1};
            bool fits = i < 2 - spare;
            assert_int_equal(rs_chunk_write(&f, &h, words, WORDS, true), fits ? RS_CHUNK_WRITTEN : RS_CHUNK_PAST_LIMIT);
        }
        struct stat now;
        assert_int_equal(stat(files.path, &now), 0);
        assert_int_equal(f.end, sizeof files.header + (2 - spare) * CHUNK);
        assert_int_equal(f.records, 2 - spare);
        assert_int_equal(now.st_size, f.end);
        struct rs_chunk_header h = {.kind = RS_CHUNK_FACTS, .to = WORDS, .records = 1};
        for (unsigned i = 0; i < 2; i++) assert_int_equal(rs_chunk_write(&f, &h, words, WORDS, true), RS_CHUNK_WRITTEN);
        assert_true(f.end > f.limit);
        assert_int_equal(truncate(files.path, sizeof files.header), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_cut, set_up, tear_down),
                                       cmocka_unit_test_setup_teardown(test_limit, set_up, tear_down),
                                       cmocka_unit_test_setup_teardown(test_cut_and_renamed, set_up, tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
