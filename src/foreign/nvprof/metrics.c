#include "foreign/nvprof/metrics.h"

#include <stdio.h>
#include <string.h>

static enum rs_metric_column column_of(struct rs_slice f)
{
    static const struct {
        const char *name;
        enum rs_metric_column column;
    } names[] = {{"Device", RS_MC_DEVICE},    {"Kernel", RS_MC_OF},       {"Invocations", RS_MC_CALLS},
                 {"Metric Name", RS_MC_NAME}, {"Event Name", RS_MC_NAME}, {"name", RS_MC_NAME},
                 {"Min", RS_MC_MIN},          {"Max", RS_MC_MAX},         {"Avg", RS_MC_MEAN},
                 {"min", RS_MC_MIN},          {"max", RS_MC_MAX},         {"mean", RS_MC_MEAN}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (rs_slice_is(f, names[i].name)) return names[i].column;
    return RS_MC_OTHER;
}

enum { MOST = 16 };

/* Columns that are at least two spaces apart. */
static unsigned split_spaces(struct rs_slice f, struct rs_slice *fields)
{
    unsigned n = 0;
    f = rs_slice_trim(f);
    while (f.n && n < MOST) {
        size_t i = 0;
        while (i < f.n && !(f.text[i] == ' ' && i + 1 < f.n && f.text[i + 1] == ' ')) i++;
        fields[n++] = (struct rs_slice){f.text, i};
        f = rs_slice_trim((struct rs_slice){f.text + i, f.n - i});
    }
    return n;
}

/* "| a | b |" */
static unsigned split_bars(struct rs_slice f, struct rs_slice *fields)
{
    unsigned n = 0;
    for (size_t at = 1; at < f.n && n < MOST;) {
        const char *bar = memchr(f.text + at, '|', f.n - at);
        if (!bar) break;
        size_t end = (size_t)(bar - f.text);
        fields[n++] = rs_slice_trim((struct rs_slice){f.text + at, end - at});
        at = end + 1;
    }
    return n;
}

static bool take_heading(struct rs_metric_reader *r, const struct rs_slice *fields, unsigned n)
{
    unsigned has = 0;
    r->n = 0;
    for (unsigned i = 0; i < n; i++) {
        r->columns[i] = column_of(rs_slice_trim(fields[i]));
        has |= 1u << r->columns[i];
    }
    const unsigned wanted = 1u << RS_MC_NAME | 1u << RS_MC_MIN | 1u << RS_MC_MAX | 1u << RS_MC_MEAN;
    if ((has & wanted) != wanted) return false;
    r->n = n;
    return true;
}

static void take_row(const struct rs_metric_reader *r, const struct rs_slice *fields, unsigned n,
                     struct rs_metric_line *row)
{
    *row = (struct rs_metric_line){0};
    for (unsigned i = 0; i < n && i < r->n; i++) row->cells[r->columns[i]] = rs_slice_trim(fields[i]);
    if (!row->cells[RS_MC_OF].n) row->cells[RS_MC_OF] = (struct rs_slice){r->of, strlen(r->of)};
}

static bool begins(struct rs_slice f, const char *word)
{
    return f.n >= strlen(word) && !memcmp(f.text, word, strlen(word));
}

enum rs_metric_taken rs_metric_nvprof(struct rs_metric_reader *r, struct rs_slice line, struct rs_metric_line *row)
{
    struct rs_slice fields[MOST], f = rs_slice_trim(line);
    if (r->drawn) *r = (struct rs_metric_reader){0};
    if (!f.n) return RS_METRIC_TABLE;
    if (begins(f, "Kernel: ")) {
        snprintf(r->of, sizeof r->of, "%.*s", (int)(f.n - 8 < sizeof r->of ? f.n - 8 : sizeof r->of - 1), f.text + 8);
        return RS_METRIC_TABLE;
    }
    bool csv = f.text[0] == '"';
    unsigned n = csv ? rs_csv_split(f.text, f.n, fields, MOST) : split_spaces(f, fields);
    if (!r->n || r->csv != csv) {
        r->csv = csv;
        return take_heading(r, fields, n) ? RS_METRIC_TABLE : RS_METRIC_NOT;
    }
    if (begins(f, "Device \"") && n < 3) return RS_METRIC_TABLE; /* text: the kernels below are on it */
    if (n != r->n) return RS_METRIC_NOT;
    take_row(r, fields, n, row);
    return RS_METRIC_ROW;
}

enum rs_metric_taken rs_metric_drawn(struct rs_metric_reader *r, struct rs_slice line, struct rs_metric_line *row)
{
    struct rs_slice fields[MOST], f = rs_slice_trim(line);
    if (!r->drawn) *r = (struct rs_metric_reader){.drawn = true};
    if (begins(f, "+--") || begins(f, "+==")) return RS_METRIC_TABLE;
    if (!begins(f, "|")) { /* the text above a table is its title */
        r->n = 0;
        snprintf(r->of, sizeof r->of, "%.*s", (int)(f.n < sizeof r->of ? f.n : sizeof r->of - 1), f.text);
        return RS_METRIC_NOT;
    }
    unsigned n = split_bars(f, fields);
    if (!r->n) return take_heading(r, fields, n) ? RS_METRIC_TABLE : RS_METRIC_NOT;
    if (n != r->n) return RS_METRIC_NOT;
    take_row(r, fields, n, row);
    return RS_METRIC_ROW;
}

bool rs_metric_value(struct rs_slice f, double *value, struct rs_slice *unit)
{
    const char *open = memchr(f.text ? f.text : "", '(', f.n);
    *unit = (struct rs_slice){"", 0};
    if (open && f.n && f.text[f.n - 1] == ')') { /* a level of 0 to 10 */
        return rs_slice_double((struct rs_slice){open + 1, f.n - (size_t)(open - f.text) - 2}, value);
    }
    size_t n = 0;
    while (n < f.n &&
           ((f.text[n] >= '0' && f.text[n] <= '9') || f.text[n] == '.' || (!n && f.text[n] == '-') ||
            ((f.text[n] == 'e' || f.text[n] == 'E') && n + 1 < f.n && (f.text[n + 1] == '+' || f.text[n + 1] == '-')) ||
            (n && (f.text[n] == '+' || f.text[n] == '-') && (f.text[n - 1] == 'e' || f.text[n - 1] == 'E'))))
        n++;
    *unit = rs_slice_trim((struct rs_slice){f.text + n, f.n - n});
    return n && rs_slice_double((struct rs_slice){f.text, n}, value);
}
