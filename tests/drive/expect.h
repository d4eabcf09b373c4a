/* Lines that say what a recording must hold: the driver prints them from what it passed, `verify --dump` from what it
 * reads, and a test compares the two. One line a value, so that the order of members does not matter:
 *
 *   000012 start.rank=3
 *   000012 start.args.channelId=200 */
#ifndef RS_TESTS_EXPECT_H
#define RS_TESTS_EXPECT_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

static inline void say_int(unsigned n, const char *what, const char *name, int64_t v)
{
    printf("%06u %s%s=%" PRId64 "\n", n, what, name, v);
}
static inline void say_uint(unsigned n, const char *what, const char *name, uint64_t v)
{
    printf("%06u %s%s=%" PRIu64 "\n", n, what, name, v);
}
static inline void say_hex(unsigned n, const char *what, const char *name, uint64_t v)
{
    printf("%06u %s%s=0x%" PRIx64 "\n", n, what, name, v);
}
static inline void say_text(unsigned n, const char *what, const char *name, const char *v)
{
    printf("%06u %s%s=%s%s%s\n", n, what, name, v ? "\"" : "", v ? v : "null", v ? "\"" : "");
}

#endif
