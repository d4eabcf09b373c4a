#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* One decimal below 100, none above. `step` is the distance to the next unit: a value that would be rounded up to
 * that much is left to the next unit, where there is one. */
static struct rs_text scaled(double value, const char *const *units, int nunits, double step)
{
    int unit = 0;
    while (unit < nunits - 1 && value >= step - 0.5) {
        value /= step;
        unit++;
    }
    struct rs_text text;
    snprintf(text.s, sizeof(text.s), "%.*f %s", value < 99.95 && unit > 0 ? 1 : 0, value, units[unit]);
    return text;
}

struct rs_text rs_text_ns(int64_t ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    struct rs_text text;
    const char *sign = ns < 0 ? "-" : "";
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    uint64_t seconds = size / 1000000000u + (size % 1000000000u >= 500000000u);
    if (seconds >= 6000) {
        uint64_t minutes = (seconds + 30) / 60;
        snprintf(text.s, sizeof(text.s), "%s%" PRIu64 " h %02" PRIu64 " min", sign, minutes / 60, minutes % 60);
    } else if (seconds >= 100) {
        snprintf(text.s, sizeof(text.s), "%s%" PRIu64 " min %02" PRIu64 " s", sign, seconds / 60, seconds % 60);
    } else {
        struct rs_text plain = scaled((double)size, units, 4, 1000);
        snprintf(text.s, sizeof(text.s), "%s%.30s", sign, plain.s);
    }
    return text;
}

struct rs_text rs_text_bytes(uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    return scaled((double)bytes, units, 7, 1024);
}

struct rs_text rs_text_count(uint64_t count)
{
    char digits[24];
    int n = snprintf(digits, sizeof(digits), "%" PRIu64, count);
    struct rs_text text;
    int out = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0) text.s[out++] = ',';
        text.s[out++] = digits[i];
    }
    text.s[out] = '\0';
    return text;
}

struct rs_text rs_text_size(uint64_t bytes)
{
    uint64_t unit = 1;
    while (bytes / unit >= 1024) unit *= 1024;
    if (unit == 1 || (bytes % unit * 10 % unit == 0 && unit <= UINT64_MAX / 10240)) return rs_text_bytes(bytes);
    struct rs_text text = rs_text_count(bytes);
    snprintf(text.s + strlen(text.s), sizeof(text.s) - strlen(text.s), " B");
    return text;
}

struct rs_text rs_text_after(int64_t ns)
{
    struct rs_text text, plain = rs_text_ns(ns);
    snprintf(text.s, sizeof(text.s), "%s%.38s", ns < 0 ? "" : "+", plain.s);
    return text;
}

struct rs_text rs_text_when(int64_t ns)
{
    struct rs_text text = {""};
    time_t t = (time_t)(ns / 1000000000);
    struct tm tm;
    if (ns > INT64_C(1000000000000000000) && gmtime_r(&t, &tm)) /* of 2001 */
        strftime(text.s, sizeof(text.s), ", from %Y-%m-%d %H:%M:%S UTC", &tm);
    return text;
}

struct rs_text rs_text_rate(double gbs)
{
    struct rs_text text = {"?"};
    if (isnan(gbs)) return text;
    if (gbs > 0 && gbs < 0.0005)
        snprintf(text.s, sizeof(text.s), "<0.001");
    else
        snprintf(text.s, sizeof(text.s), "%.*f", gbs < 0.9995 ? 3 : gbs < 99.95 ? 1 : 0, gbs);
    return text;
}
