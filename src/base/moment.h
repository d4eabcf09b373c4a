/* Points in time as text, relative to a run and as dates. Pure functions; any thread. */
#ifndef RS_BASE_MOMENT_H
#define RS_BASE_MOMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RS_MOMENT_ROOM = 40 };

/* Since a run's first event: "5.503212s". Rounded down, so that --from with it includes what began there. */
void rs_moment_text(int64_t ns, char *to, size_t room);
/* "2026-11-15 01:07:04.120345 UTC", from ns since 1970. False, and "", for times with a zero of the tool's own: no
 * date. */
bool rs_moment_utc(int64_t ns, char *to, size_t room);

#endif
