#include "format/settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mix.h"

enum {
    MASK_OPS = RS_GROUP_API | RS_COLL_API | RS_P2P_API | RS_KERNEL_LAUNCH | RS_GROUP | RS_COLL | RS_P2P | RS_KERNEL_CH |
               RS_KERNEL_PHASE | RS_CE_COLL | RS_CE_SYNC | RS_CE_BATCH,
    MASK_NET = MASK_OPS | RS_PROXY_OP | RS_PROXY_STEP | RS_NET_PLUGIN,
    MASK_ALL = MASK_NET | RS_PROXY_CTRL,
};

static const struct rs_event_set names[] = {
    {"ops", MASK_OPS, "calls, launches, operations, GPU channels, copy engines"},
    {"net", MASK_NET, "also proxy operations, network steps and the network plugin (the default)"},
    {"all", MASK_ALL, "also what the proxy thread itself did"},
    {"off", 0, "group calls and launches alone, until it is switched on"},
};
enum { NAMES = sizeof names / sizeof *names };

const struct rs_event_set *rs_event_set_at(size_t index)
{
    return index < NAMES ? &names[index] : NULL;
}

bool rs_setting_mask(const char *text, int *mask)
{
    for (size_t i = 0; i < NAMES; i++)
        if (!strcasecmp(text, names[i].name)) return *mask = names[i].mask, true;
    int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10; /* never octal */
    char *end;
    errno = 0;
    unsigned long v = strtoul(text, &end, base);
    if (end == text || *end || errno || v > INT32_MAX || !isdigit((unsigned char)text[0])) return false;
    *mask = (int)v;
    return true;
}

const char *rs_setting_mask_name(int mask)
{
    for (size_t i = 0; i < NAMES; i++)
        if (mask == names[i].mask || mask == (names[i].mask | RS_MASK_ALWAYS) ||
            mask == (names[i].mask | RS_MASK_ALWAYS_V1))
            return names[i].name;
    return NULL;
}

/* A number and its unit, up to the end of the text or `stop`. NULL: there is none; else what follows it. */
static const char *duration(const char *text, char stop, uint64_t *ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {"min", 60000000000u}, {"h", 3600000000000u}};
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || errno) return NULL;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t n = strlen(units[i].name);
        if (strncmp(end, units[i].name, n) != 0 || end[n] != stop || v > UINT64_MAX / units[i].ns) continue;
        *ns = v * units[i].ns;
        return end + n;
    }
    return NULL;
}

bool rs_setting_detail(const char *text, struct rs_detail *detail)
{
    struct rs_detail d;
    if (!strcasecmp(text, "always")) return *detail = (struct rs_detail){0}, true;
    const char *period = duration(text, ':', &d.window_ns);
    if (!period || !duration(period + 1, 0, &d.period_ns)) return false;
    if (d.window_ns < 1000000 || d.window_ns >= d.period_ns || d.period_ns > 24 * 3600000000000u) return false;
    *detail = d;
    return true;
}

void rs_detail_window(const struct rs_detail *d, uint64_t ns, uint64_t *from, uint64_t *to)
{
    uint64_t period = ns / d->period_ns;
    *from = period * d->period_ns + rs_mix(UINT64_C(0x77696e646f777321), period) % (d->period_ns - d->window_ns + 1);
    *to = *from + d->window_ns;
}

bool rs_setting_bytes(const char *text, uint64_t *bytes)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || errno) return false;
    unsigned shift = 0;
    switch (toupper((unsigned char)*end)) {
    case 'K': shift = 10; break;
    case 'M': shift = 20; break;
    case 'G': shift = 30; break;
    case 'T': shift = 40; break;
    }
    if (shift) end++;
    if (shift && *end == 'i') end++;
    if (toupper((unsigned char)*end) == 'B') end++;
    if (*end || v > UINT64_MAX >> shift) return false;
    *bytes = (uint64_t)v << shift;
    return true;
}
