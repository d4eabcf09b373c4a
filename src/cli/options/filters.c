#include "cli/options/filters.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One number with its unit, spaces before both allowed; *text goes behind it. */
static bool take_amount(const char **text, int64_t *ns)
{
    static const struct {
        const char *unit;
        long double ns;
    } units[] = {{"ns", 1}, {"us", 1e3L}, {"ms", 1e6L}, {"s", 1e9L}, {"min", 60e9L}, {"m", 60e9L}, {"h", 3600e9L}};
    char *end;
    long double v = strtold(*text, &end); /* 64 bits of it are exact: 1794711703.901234567s to the ns */
    if (end == *text || !(v >= 0)) return false;
    end += strspn(end, " ");
    size_t letters = 0;
    while (isalpha((unsigned char)end[letters])) letters++;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].unit) != letters || strncmp(end, units[i].unit, letters) != 0) continue;
        v *= units[i].ns;
        if (v > 9e18L) return false;
        *ns = (int64_t)(v + 0.5L);
        *text = end + letters;
        return true;
    }
    return false;
}

bool rs_filters_span(const char *text, int64_t *ns)
{
    *ns = 0;
    do { /* as it is printed, too: "867 ms", "2 h 05 min" */
        int64_t more;
        if (!take_amount(&text, &more) || __builtin_add_overflow(*ns, more, ns)) return false;
        text += strspn(text, " ");
    } while (*text);
    return true;
}

/* "2026-11-15 01:07:04.120345 UTC"; T for the space, Z for UTC, neither, and fewer digits or none behind the point. */
static bool take_date(const char *text, int64_t *ns)
{
    struct tm tm = {0};
    int n = 0;
    char between;
    if (sscanf(text, "%4d-%2d-%2d%c%2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &between, &tm.tm_hour,
               &tm.tm_min, &tm.tm_sec, &n) != 7 ||
        (between != ' ' && between != 'T'))
        return false;
    tm.tm_year -= 1900;
    tm.tm_mon--;
    time_t t = timegm(&tm);
    int64_t scale = 1000000000;
    *ns = (int64_t)t * scale;
    text += n;
    if (*text == '.')
        for (text++; isdigit((unsigned char)*text); text++) *ns += (*text - '0') * (scale /= 10);
    return t > 0 && (!*text || !strcmp(text, "Z") || !strcmp(text, " UTC"));
}

bool rs_filters_time(const char *text, int64_t *ns, bool *relative)
{
    enum { OLDEST_S = 1000000 }; /* of wall time, in 1970: a smaller number has no unit */
    *relative = rs_filters_span(text, ns);
    if (*relative || take_date(text, ns)) return true;
    char *end;
    long long v = strtoll(text, &end, 10);
    *ns = v;
    return end != text && !*end && v >= OLDEST_S * 1000000000ll;
}

const char *rs_filters_take_rank(void *filters, const char *text)
{
    struct rs_filters *f = filters;
    do {
        char *end;
        long from = strtol(text, &end, 10), last = from;
        if (end == text || from < 0) return "takes ranks, as in 3 or 0-7 or 1,5,9";
        if (*end == '-') {
            text = end + 1;
            last = strtol(text, &end, 10);
            if (end == text || last < from) return "takes ranges from low to high, as in 0-7";
        }
        if ((*end && *end != ',') || last > INT32_MAX) return "takes ranks, as in 3 or 0-7 or 1,5,9";
        if (f->filter.nranks == RS_FILTERS_MAX) return "names too many ranges";
        f->ranks[f->filter.nranks++] = (struct rs_range){(int32_t)from, (int32_t)last};
        text = *end ? end + 1 : end;
    } while (*text);
    return NULL;
}

const char *rs_filters_take_comm(void *filters, const char *text)
{
    struct rs_filters *f = filters;
    if (f->filter.ncomms == RS_FILTERS_MAX) return "names too many communicators";
    f->comms[f->filter.ncomms++] = text;
    return NULL;
}

const char *rs_filters_take_func(void *filters, const char *text)
{
    struct rs_filters *f = filters;
    if (f->filter.nfuncs == RS_FILTERS_MAX) return "names too many functions";
    f->funcs[f->filter.nfuncs++] = text;
    return NULL;
}

#define WRONG_TIME "takes " RS_FILTERS_TIMES

/* Whichever of both comes second in the arguments. */
static const char *check_span(const struct rs_filter *f)
{
    bool both = f->has_from && f->has_to && f->from_relative == f->to_relative;
    return both && f->from > f->to ? "makes a span that ends before it begins" : NULL;
}

const char *rs_filters_take_from(void *filters, const char *text)
{
    struct rs_filter *f = &((struct rs_filters *)filters)->filter;
    f->has_from = true;
    return rs_filters_time(text, &f->from, &f->from_relative) ? check_span(f) : WRONG_TIME;
}

const char *rs_filters_take_to(void *filters, const char *text)
{
    struct rs_filter *f = &((struct rs_filters *)filters)->filter;
    f->has_to = true;
    return rs_filters_time(text, &f->to, &f->to_relative) ? check_span(f) : WRONG_TIME;
}

const char *rs_filters_take_level(void *filters, const char *text)
{
    static const char *const names[] = {[RS_LEVEL_OPS] = "ops", [RS_LEVEL_NET] = "net", [RS_LEVEL_ALL] = "all"};
    struct rs_filters *f = filters;
    for (int i = 0; i < 3; i++) {
        if (strcmp(text, names[i])) continue;
        f->level = (enum rs_level)i;
        f->has_level = true;
        return NULL;
    }
    return "takes ops, net or all";
}

void rs_filters_make(struct rs_filters *f)
{
    *f = (struct rs_filters){.level = RS_LEVEL_NET};
    f->filter.ranks = f->ranks;
    f->filter.comms = f->comms;
    f->filter.funcs = f->funcs;
}
