#include "compare/baseline.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/room.h"
#include "base/scan.h"

static const char format[] = "ringscope baseline";

/* ---- writing ---- */

static void write_figure(struct rs_json *j, const struct rs_figure *f)
{
    rs_json_object(j);
    rs_json_key_str(j, "measure", rs_measures[f->measure].name);
    if (*f->of) rs_json_key_str(j, "of", f->of);
    if (f->rank >= 0) rs_json_key_i64(j, "rank", f->rank);
    rs_json_key_double(j, "value", f->value);
    rs_json_key_double(j, "error", f->error);
    if (f->whole > 0) rs_json_key_double(j, "whole", f->whole);
    rs_json_key_double(j, "share", f->share);
    rs_json_end(j);
    rs_json_newline(j);
}

static void write_finding(struct rs_json *j, const struct rs_run_finding *f)
{
    rs_json_object(j);
    rs_json_key_str(j, "kind", f->kind);
    rs_json_key_str(j, "scope", f->scope);
    rs_json_key_str(j, "name", f->name);
    rs_json_key_str(j, "why", f->why);
    rs_json_key_number_or_null(j, "rank", f->rank);
    rs_json_key_double(j, "late_ns", f->late);
    rs_json_key_double(j, "cost", f->cost);
    rs_json_key_double(j, "cost_low", f->cost_low);
    rs_json_key_str(j, "text", f->text);
    rs_json_end(j);
    rs_json_newline(j);
}

static void write_run(struct rs_json *j, const struct rs_run_figures *run)
{
    rs_json_object(j);
    rs_json_key_str(j, "path", run->path);
    rs_json_key_u64(j, "ranks", run->ranks);
    rs_json_key_u64(j, "hosts", run->hosts);
    rs_json_key_u64(j, "steps", run->steps);
    rs_json_key_u64(j, "operations", run->operations);
    rs_json_key(j, "settings");
    rs_json_object(j);
    for (uint32_t i = 0; i < run->nsettings; i++) rs_json_key_str(j, run->settings[i].name, run->settings[i].value);
    rs_json_end(j);
    rs_json_key(j, "figures");
    rs_json_array(j);
    for (uint32_t i = 0; i < run->nfigures; i++) write_figure(j, &run->figures[i]);
    rs_json_end(j);
    rs_json_key(j, "findings");
    rs_json_array(j);
    for (uint32_t i = 0; i < run->nfindings; i++) write_finding(j, &run->findings[i]);
    rs_json_end(j);
    rs_json_end(j);
    rs_json_newline(j);
}

void rs_baseline_write(struct rs_json *j, const struct rs_run_figures *runs, uint32_t n)
{
    rs_json_object(j);
    rs_json_key_str(j, "format", format);
    rs_json_key_u64(j, "version", RS_BASELINE_VERSION);
    rs_json_key(j, "runs");
    rs_json_array(j);
    for (uint32_t i = 0; i < n; i++) write_run(j, &runs[i]);
    rs_json_end(j);
    rs_json_end(j);
    rs_json_newline(j);
}

/* ---- reading ---- */

bool rs_baseline_is(const char *head, size_t n)
{
    struct rs_scan s;
    bool is = false;
    rs_scan_memory(&s, head, n);
    if (rs_scan_next(&s) == RS_T_OBJECT && rs_scan_next(&s) == RS_T_KEY && rs_scan_is(&s, "format"))
        is = rs_scan_next(&s) == RS_T_STRING && rs_scan_is(&s, format);
    rs_scan_free(&s);
    return is;
}

enum { MOST_TEXT = 4096 }; /* bytes of a name */

/* The keys of the object that is open, one after the other: *token is that of the value. False: no more. */
static bool next_key(struct rs_scan *s, char key[64], enum rs_token *token)
{
    for (;;) {
        enum rs_token t = rs_scan_next(s);
        if (t == RS_T_END || t == RS_T_CLOSE) return false;
        if (t == RS_T_KEY) {
            rs_scan_text(s, key, 64);
            *token = rs_scan_next(s);
            return *token != RS_T_END && *token != RS_T_CLOSE;
        }
        rs_scan_skip(s);
    }
}

/* The objects of the array that is open. False: no more. */
static bool next_object(struct rs_scan *s)
{
    for (;;) {
        enum rs_token t = rs_scan_next(s);
        if (t == RS_T_OBJECT) return true;
        if (t == RS_T_END || t == RS_T_CLOSE) return false;
        rs_scan_skip(s);
    }
}

static char *text_of(const struct rs_scan *s)
{
    char text[MOST_TEXT];
    rs_scan_text(s, text, sizeof text);
    return rs_strdup(text);
}

static void take_text(const struct rs_scan *s, enum rs_token t, char **to)
{
    if (t != RS_T_STRING) return;
    free(*to);
    *to = text_of(s);
}

static double number_of(const struct rs_scan *s, enum rs_token t)
{
    double value = NAN;
    if (t == RS_T_NUMBER) rs_scan_double(s, &value);
    return value;
}

static void take_count(const struct rs_scan *s, enum rs_token t, uint32_t *to)
{
    uint64_t value;
    if (t == RS_T_NUMBER && rs_scan_u64(s, &value) && value < RS_NONE) *to = (uint32_t)value;
}

static int32_t rank_of(const struct rs_scan *s, enum rs_token t)
{
    int64_t value;
    return t == RS_T_NUMBER && rs_scan_i64(s, &value) && value >= 0 && value <= INT32_MAX ? (int32_t)value : -1;
}

static void read_figure(struct rs_scan *s, struct rs_run_figures *run)
{
    struct rs_figure f = {.measure = RS_MEASURE_COUNT, .rank = -1, .value = NAN, .error = NAN, .share = NAN};
    char key[64];
    enum rs_token t;
    while (next_key(s, key, &t)) {
        if (!strcmp(key, "measure") && t == RS_T_STRING) {
            for (int m = 0; m < RS_MEASURE_COUNT; m++)
                if (rs_scan_is(s, rs_measures[m].name)) f.measure = (enum rs_measure)m;
        } else if (!strcmp(key, "of")) {
            take_text(s, t, &f.of);
        } else if (!strcmp(key, "rank")) {
            f.rank = rank_of(s, t);
        } else if (!strcmp(key, "value")) {
            f.value = number_of(s, t);
        } else if (!strcmp(key, "error")) {
            f.error = fabs(number_of(s, t));
        } else if (!strcmp(key, "whole")) {
            f.whole = number_of(s, t);
        } else if (!strcmp(key, "share")) {
            f.share = number_of(s, t);
        }
        rs_scan_skip(s); /* a value that is not a scalar */
    }
    if (!isfinite(f.whole) || f.whole < 0) f.whole = 0;
    if (!isfinite(f.error)) f.error = NAN;
    if (!isfinite(f.share)) f.share = NAN;
    if (f.measure != RS_MEASURE_COUNT) rs_run_figure(run, &f); /* else of a later version */
    free(f.of);
}

static void read_finding(struct rs_scan *s, struct rs_run_figures *run)
{
    struct rs_run_finding f = {.rank = -1, .late = NAN, .cost = NAN, .cost_low = NAN};
    char key[64];
    enum rs_token t;
    while (next_key(s, key, &t)) {
        if (!strcmp(key, "kind")) take_text(s, t, &f.kind);
        if (!strcmp(key, "scope")) take_text(s, t, &f.scope);
        if (!strcmp(key, "name")) take_text(s, t, &f.name);
        if (!strcmp(key, "why")) take_text(s, t, &f.why);
        if (!strcmp(key, "text")) take_text(s, t, &f.text);
        if (!strcmp(key, "rank")) f.rank = rank_of(s, t);
        if (!strcmp(key, "late_ns")) f.late = number_of(s, t);
        if (!strcmp(key, "cost")) f.cost = number_of(s, t);
        if (!strcmp(key, "cost_low")) f.cost_low = number_of(s, t);
        rs_scan_skip(s);
    }
    if (f.kind && f.scope && f.name) rs_run_finding(run, &f);
    char *const texts[] = {f.kind, f.scope, f.name, f.why, f.text};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) free(texts[i]);
}

/* Names of settings are keys, and may be long. */
static void read_settings(struct rs_scan *s, struct rs_run_figures *run)
{
    for (;;) {
        enum rs_token t = rs_scan_next(s);
        if (t == RS_T_END || t == RS_T_CLOSE) return;
        if (t != RS_T_KEY) {
            rs_scan_skip(s);
            continue;
        }
        char *name = text_of(s);
        t = rs_scan_next(s);
        if (t == RS_T_STRING) {
            char *value = text_of(s);
            rs_run_setting(run, name, value);
            free(value);
        }
        free(name);
        if (t == RS_T_END || t == RS_T_CLOSE) return;
        rs_scan_skip(s);
    }
}

static void read_run(struct rs_scan *s, struct rs_run_figures *run)
{
    char key[64];
    enum rs_token t;
    while (next_key(s, key, &t)) {
        uint64_t operations;
        if (!strcmp(key, "path")) take_text(s, t, &run->path);
        if (!strcmp(key, "ranks")) take_count(s, t, &run->ranks);
        if (!strcmp(key, "hosts")) take_count(s, t, &run->hosts);
        if (!strcmp(key, "steps")) take_count(s, t, &run->steps);
        if (!strcmp(key, "operations") && t == RS_T_NUMBER && rs_scan_u64(s, &operations)) run->operations = operations;
        if (!strcmp(key, "settings") && t == RS_T_OBJECT) {
            read_settings(s, run);
        } else if (!strcmp(key, "figures") && t == RS_T_ARRAY) {
            while (next_object(s)) read_figure(s, run);
        } else if (!strcmp(key, "findings") && t == RS_T_ARRAY) {
            while (next_object(s)) read_finding(s, run);
        } else {
            rs_scan_skip(s);
        }
    }
    if (!run->path) run->path = rs_strdup("?");
}

static enum rs_status read_all(struct rs_baseline *b, struct rs_scan *s, const char *path, struct rs_err *err)
{
    char key[64];
    enum rs_token t = rs_scan_next(s);
    uint64_t version = 0;
    bool ours = false;
    while (t == RS_T_OBJECT && next_key(s, key, &t)) {
        if (!strcmp(key, "format")) ours = t == RS_T_STRING && rs_scan_is(s, format);
        if (!strcmp(key, "version")) rs_scan_u64(s, &version);
        if (ours && version > RS_BASELINE_VERSION)
            return rs_fail(err, RS_BAD_INPUT, "%s: a baseline of version %" PRIu64 ", this ringscope reads %d", path,
                           version, RS_BASELINE_VERSION);
        if (ours && version && !strcmp(key, "runs") && t == RS_T_ARRAY) {
            while (b->n < RS_BASELINE_RUNS && next_object(s)) {
                RS_ROOM(b->runs, b->n, b->cap);
                b->runs[b->n] = (struct rs_run_figures){0};
                read_run(s, &b->runs[b->n++]);
            }
        } else {
            rs_scan_skip(s);
        }
        t = RS_T_OBJECT;
    }
    if (s->err.code != RS_OK) return rs_fail(err, s->err.code, "%s", s->err.msg);
    if (!ours || !version)
        return rs_fail(err, RS_BAD_INPUT, "%s: not a baseline: `ringscope diff --save-baseline` writes one", path);
    if (s->cut || s->depth)
        return rs_fail(err, RS_BAD_INPUT, "%s: ends early, at byte %" PRIu64 ": write the baseline again", path,
                       s->offset);
    if (!b->n) return rs_fail(err, RS_BAD_INPUT, "%s: a baseline without runs", path);
    return RS_OK;
}

enum rs_status rs_baseline_read(struct rs_baseline *b, struct rs_bytes *bytes, struct rs_err *err)
{
    struct rs_scan s;
    *b = (struct rs_baseline){0};
    rs_scan_bytes(&s, bytes);
    enum rs_status status = read_all(b, &s, rs_bytes_path(bytes), err);
    rs_scan_free(&s);
    if (status != RS_OK) rs_baseline_free(b);
    return status;
}

void rs_baseline_free(struct rs_baseline *b)
{
    for (uint32_t i = 0; i < b->n; i++) rs_run_figures_free(&b->runs[i]);
    free(b->runs);
    *b = (struct rs_baseline){0};
}
