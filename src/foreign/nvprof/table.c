#include "foreign/nvprof/table.h"

#include <string.h>

static const struct {
    const char *name;
    enum rs_nvprof_column column;
} names[] = {
    {"Type", RS_NC_TYPE},       {"Time(%)", RS_NC_PERCENT},   {"Time", RS_NC_TIME},
    {"Calls", RS_NC_CALLS},     {"Avg", RS_NC_AVG},           {"Min", RS_NC_MIN},
    {"Max", RS_NC_MAX},         {"Name", RS_NC_NAME},         {"Start", RS_NC_START},
    {"Size", RS_NC_SIZE},       {"Duration", RS_NC_DURATION}, {"Device", RS_NC_DEVICE},
    {"Context", RS_NC_CONTEXT}, {"Stream", RS_NC_STREAM},     {"Correlation_ID", RS_NC_CORRELATION},
};

static enum rs_nvprof_column column_of(struct rs_slice f)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (rs_slice_is(f, names[i].name)) return names[i].column;
    return RS_NC_OTHER;
}

/* Text columns stand at least two spaces apart; single ones belong to a cell ("(24 1 1)", "Tesla V100"). The last of
 * `most` is all that is left. */
static unsigned split_text(const char *text, size_t n, struct rs_slice *fields, unsigned most)
{
    struct rs_slice rest = rs_slice_trim((struct rs_slice){text, n});
    unsigned count = 0;
    while (rest.n && count < most) {
        size_t i = 0;
        if (count + 1 == most)
            i = rest.n;
        else
            while (i < rest.n && !(rest.text[i] == ' ' && i + 1 < rest.n && rest.text[i + 1] == ' ')) i++;
        fields[count++] = (struct rs_slice){rest.text, i};
        rest = rs_slice_trim((struct rs_slice){rest.text + i, rest.n - i});
    }
    return count;
}

bool rs_nvprof_header(struct rs_nvprof_table *t, const char *text, size_t n)
{
    struct rs_slice f = rs_slice_trim((struct rs_slice){text, n}), fields[RS_NVPROF_COLUMNS];
    if (f.n && f.text[0] == '"') {
        f.text++;
        f.n--;
    }
    /* Nearly all lines end here. */
    bool likely = false;
    static const char *const first[] = {"Type", "Time(%)", "Start"};
    for (size_t i = 0; i < 3; i++) likely |= f.n > strlen(first[i]) && !memcmp(f.text, first[i], strlen(first[i]));
    if (!likely) return false;

    bool csv = memchr(text, ',', n) != NULL;
    unsigned count =
        csv ? rs_csv_split(text, n, fields, RS_NVPROF_COLUMNS) : split_text(text, n, fields, RS_NVPROF_COLUMNS);
    struct rs_nvprof_table found = {.n = count, .csv = csv, .wants_units = csv};
    unsigned has = 0;
    for (unsigned i = 0; i < count; i++) {
        found.column[i] = column_of(fields[i]);
        has |= 1u << found.column[i];
    }
    const unsigned summary = 1u << RS_NC_PERCENT | 1u << RS_NC_TIME | 1u << RS_NC_CALLS | 1u << RS_NC_NAME;
    const unsigned trace = 1u << RS_NC_START | 1u << RS_NC_DURATION | 1u << RS_NC_NAME;
    found.trace = (has & trace) == trace;
    if (!found.trace && (has & summary) != summary) return false;
    *t = found;
    return true;
}

bool rs_nvprof_units(struct rs_nvprof_table *t, const char *text, size_t n)
{
    static const char *const units[] = {"",   "%",  "s",  "ms",  "us",   "ns",   "B",    "KB",
                                        "MB", "GB", "TB", "B/s", "KB/s", "MB/s", "GB/s", "TB/s"};
    struct rs_slice fields[RS_NVPROF_COLUMNS];
    unsigned count = rs_csv_split(text, n, fields, RS_NVPROF_COLUMNS);
    bool any = false;
    if (count > t->n) return false;
    for (unsigned i = 0; i < count; i++) {
        bool known = false;
        for (size_t u = 0; u < sizeof units / sizeof *units; u++) known |= rs_slice_is(fields[i], units[u]);
        if (!known) return false;
        any |= fields[i].n > 0;
    }
    if (!any) return false;
    for (unsigned i = 0; i < count; i++) {
        memcpy(t->unit[i], fields[i].text, fields[i].n); /* the longest has 4 letters */
        t->unit[i][fields[i].n] = 0;
    }
    t->wants_units = false;
    return true;
}

bool rs_nvprof_split(const struct rs_nvprof_table *t, const char *text, size_t n, struct rs_nvprof_cells *c)
{
    struct rs_slice fields[RS_NVPROF_COLUMNS];
    for (unsigned i = 0; i <= RS_NC_OTHER; i++) {
        c->cell[i] = (struct rs_slice){"", 0};
        c->unit[i] = NULL;
    }
    if (!t->n) return false;
    unsigned skip = 0, count;
    if (t->csv) {
        count = rs_csv_split(text, n, fields, t->n);
    } else {
        /* The type stands only in the first row of a part. */
        if (t->column[0] == RS_NC_TYPE) {
            struct rs_slice first;
            if (!split_text(text, n, &first, 1)) return false;
            size_t i = 0;
            while (i < first.n && first.text[i] != ' ') i++;
            skip = i && first.text[i - 1] == '%';
        }
        count = split_text(text, n, fields, t->n - skip);
    }
    if (count + skip != t->n) return false;
    for (unsigned i = 0; i < count; i++) {
        enum rs_nvprof_column column = t->column[i + skip];
        if (rs_slice_is(fields[i], "-")) continue;
        c->cell[column] = fields[i];
        c->unit[column] = t->csv ? t->unit[i + skip] : NULL;
    }
    return c->cell[RS_NC_NAME].n > 0;
}

/* The number of a cell, and its unit, which in text is glued to it. */
static bool number_and_unit(const struct rs_nvprof_cells *c, enum rs_nvprof_column column, struct rs_slice *number,
                            struct rs_slice *unit)
{
    *number = c->cell[column];
    if (c->unit[column]) {
        *unit = (struct rs_slice){c->unit[column], strlen(c->unit[column])};
    } else {
        size_t n = number->n;
        while (n && ((number->text[n - 1] | 32) >= 'a' && (number->text[n - 1] | 32) <= 'z')) n--;
        *unit = (struct rs_slice){number->text + n, number->n - n};
        number->n = n;
    }
    return number->n > 0;
}

bool rs_nvprof_time(const struct rs_nvprof_cells *c, enum rs_nvprof_column column, int64_t *ns)
{
    struct rs_slice number, unit;
    if (!number_and_unit(c, column, &number, &unit)) return false;
    if (rs_slice_is(unit, "s")) return rs_slice_fixed(number, 9, ns);
    if (rs_slice_is(unit, "ms")) return rs_slice_fixed(number, 6, ns);
    if (rs_slice_is(unit, "us")) return rs_slice_fixed(number, 3, ns);
    return rs_slice_is(unit, "ns") && rs_slice_fixed(number, 0, ns);
}

int64_t rs_nvprof_bytes(const struct rs_nvprof_cells *c)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    struct rs_slice number, unit;
    double v;
    if (!number_and_unit(c, RS_NC_SIZE, &number, &unit) || !rs_slice_double(number, &v)) return -1;
    for (unsigned i = 0; i < 5; i++, v *= 1024)
        if (rs_slice_is(unit, units[i])) return v >= 0 && v < 9e15 ? (int64_t)(v + 0.5) : -1;
    return -1;
}
