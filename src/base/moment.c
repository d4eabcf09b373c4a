#include "base/moment.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

void rs_moment_text(int64_t ns, char *to, size_t room)
{
    int64_t us = ns / 1000 - (ns % 1000 < 0);
    uint64_t size = us < 0 ? 0 - (uint64_t)us : (uint64_t)us;
    snprintf(to, room, "%s%" PRIu64 ".%06" PRIu64 "s", us < 0 ? "-" : "", size / 1000000, size % 1000000);
}

bool rs_moment_utc(int64_t ns, char *to, size_t room)
{
    const int64_t second = 1000000000, sensible = 1000000000 * second; /* of 2001 */
    time_t t = (time_t)(ns / second);
    struct tm tm;
    to[0] = '\0';
    if (ns < sensible || !gmtime_r(&t, &tm)) return false;
    size_t n = strftime(to, room, "%Y-%m-%d %H:%M:%S", &tm);
    snprintf(to + n, room - n, ".%06d UTC", (int)(ns % second / 1000));
    return true;
}
