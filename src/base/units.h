/* Numbers for people: times, sizes, counts and rates in few digits. Pure functions; any thread.
 *
 * The text is returned by value, for use in calls: printf("%s\n", rs_text_ns(t).s). */
#ifndef RS_BASE_UNITS_H
#define RS_BASE_UNITS_H

#include <stdint.h>

struct rs_text {
    char s[40];
};

struct rs_text rs_text_ns(int64_t ns); /* "870 ns", "12.3 us", "2.0 s", "3 min 05 s", "2 h 05 min" */
struct rs_text rs_text_after(int64_t ns); /* relative to another time: "+12.3 us" */
struct rs_text rs_text_bytes(uint64_t bytes); /* "512 B", "1.2 MiB" */
struct rs_text rs_text_size(uint64_t bytes); /* of messages: "8.0 MiB" where that is exact, else "1,051,648 B" */
struct rs_text rs_text_count(uint64_t count); /* "1,234,567" */
struct rs_text rs_text_when(int64_t ns); /* ", from 2026-11-15 01:07:04 UTC"; "" for times that are not wall time */
struct rs_text rs_text_rate(double gbs); /* GB/s: "0.131", "29.1", "182"; "<0.001"; "?" for NAN */

#endif
