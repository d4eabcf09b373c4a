/* Moments in words, the same everywhere: of a run, and of the world. Pure functions; any thread. */
#ifndef RS_BASE_MOMENT_H
#define RS_BASE_MOMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RS_MOMENT_ROOM = 40 };

/* Counted from a run's first event: "5.503212s". Rounded down, so that --from with it takes in what began there. */
void rs_moment_text(int64_t ns, char *to, size_t room);
/* "2026-11-15 01:07:04.120345 UTC", of ns since 1970. False, and "", for times of a tool's own zero: they have no date. */
bool rs_moment_utc(int64_t ns, char *to, size_t room);

#endif
