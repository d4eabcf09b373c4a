#include "foreign/nccl_tests/json.h"

#include <math.h>
#include <string.h>

#include "foreign/json_fields.h"
#include "foreign/nccl_tests/names.h"

/* What is known before the results come. */
struct config {
    const char *said; /* function by the program's name; NULL: not told */
    int64_t threads, gpus, processes; /* of a communicator; -1: not told */
};

static struct rs_slice text_of(const char *text)
{
    return (struct rs_slice){text, strlen(text)};
}

/* "args": the program and its options. */
static void take_args(struct rs_scan *s, struct config *c)
{
    char text[4096];
    unsigned depth = rs_json_take_into(s, RS_T_ARRAY);
    bool first = true;
    while (depth && s->depth >= depth) {
        enum rs_token t = rs_scan_next(s);
        if (t == RS_T_END || s->depth < depth) return;
        if (t == RS_T_STRING && first) {
            rs_scan_text(s, text, sizeof text);
            c->said = rs_nccl_tests_named(text_of(text));
        }
        first = false;
    }
}

/* One element a process, whatever its GPUs (versions 2 and 3): those of the first group are the communicator's. */
static void take_devices(struct rs_scan *s, struct config *c)
{
    unsigned list = rs_json_take_into(s, RS_T_ARRAY);
    int64_t of = -1;
    c->processes = 0;
    while (list && rs_json_take_object(s, list)) {
        int64_t group = 0;
        unsigned depth = s->depth;
        while (rs_json_take_key(s, depth)) {
            if (rs_scan_is(s, "group"))
                rs_json_take_i64(s, &group);
            else
                rs_scan_skip(s);
        }
        if (of < 0) of = group;
        c->processes += group == of;
    }
}

static void take_config(struct rs_scan *s, struct config *c)
{
    unsigned depth = rs_json_take_into(s, RS_T_OBJECT);
    while (depth && rs_json_take_key(s, depth)) {
        if (rs_scan_is(s, "nthreads"))
            rs_json_take_i64(s, &c->threads);
        else if (rs_scan_is(s, "ngpus"))
            rs_json_take_i64(s, &c->gpus);
        else if (rs_scan_is(s, "devices"))
            take_devices(s, c);
        else
            rs_scan_skip(s);
    }
}

static int32_t ranks_of(const struct config *c)
{
    enum { MOST = 1 << 20 };
    if (c->threads < 1 || c->gpus < 1 || c->processes < 1) return -1;
    if (c->threads > MOST || c->gpus > MOST || c->processes > MOST) return -1;
    int64_t n = c->threads * c->gpus;
    return n > MOST || n * c->processes > INT32_MAX ? -1 : (int32_t)(n * c->processes);
}

/* null: it was not run so. */
static void take_half(struct rs_scan *s, struct rs_nccl_tests_half *half)
{
    unsigned depth = rs_json_take_into(s, RS_T_OBJECT);
    while (depth && rs_json_take_key(s, depth)) {
        double *to = NULL;
        if (rs_scan_is(s, "time") || rs_scan_is(s, "cpu_time"))
            to = &half->time_us;
        else if (rs_scan_is(s, "alg_bw"))
            to = &half->algbw;
        else if (rs_scan_is(s, "bus_bw"))
            to = &half->busbw;
        if (!to) {
            rs_scan_skip(s);
            continue;
        }
        rs_json_take_double(s, to);
        if (!isfinite(*to) || *to < 0) *to = NAN;
    }
}

static void take_root(struct rs_scan *s, int32_t *root)
{
    char text[32];
    int64_t v;
    rs_json_take_text(s, text, sizeof text); /* "    -1" */
    *root = rs_slice_fixed(rs_slice_trim(text_of(text)), 0, &v) && v <= INT32_MAX ? (int32_t)v : -1;
}

static enum rs_status take_results(struct rs_nccl_tests *t, struct rs_scan *s, const struct config *c,
                                   struct rs_err *err)
{
    unsigned list = rs_json_take_into(s, RS_T_ARRAY);
    while (list && rs_json_take_object(s, list)) {
        const struct rs_nccl_tests_half none = {NAN, NAN, NAN};
        struct rs_nccl_tests_row row = {.root = -1, .nranks = ranks_of(c), .out_of_place = none, .in_place = none};
        char type[32] = "";
        unsigned depth = s->depth;
        while (rs_json_take_key(s, depth)) {
            if (rs_scan_is(s, "size"))
                rs_json_take_u64(s, &row.bytes);
            else if (rs_scan_is(s, "type"))
                rs_json_take_text(s, type, sizeof type);
            else if (rs_scan_is(s, "redop"))
                rs_json_take_text(s, row.redop, sizeof row.redop);
            else if (rs_scan_is(s, "root"))
                take_root(s, &row.root);
            else if (rs_scan_is(s, "out_of_place"))
                take_half(s, &row.out_of_place);
            else if (rs_scan_is(s, "in_place"))
                take_half(s, &row.in_place);
            else
                rs_scan_skip(s);
        }
        if (s->cut) return RS_OK;
        row.dtype = rs_nccl_tests_dtype(text_of(type));
        RS_TRY(rs_nccl_tests_keep(t, &row, c->said, err));
    }
    return RS_OK;
}

static enum rs_status read_object(struct rs_nccl_tests *t, struct rs_scan *s, const char *path, struct rs_err *err)
{
    struct config c = {NULL, -1, -1, -1};
    unsigned depth = rs_json_take_into(s, RS_T_OBJECT);
    bool results = false;
    while (depth && rs_json_take_key(s, depth)) {
        if (rs_scan_is(s, "args")) {
            take_args(s, &c);
        } else if (rs_scan_is(s, "config")) {
            take_config(s, &c);
        } else if (rs_scan_is(s, "results")) {
            results = true;
            RS_TRY(take_results(t, s, &c, err));
        } else {
            rs_scan_skip(s);
        }
    }
    if (!results) return rs_fail(err, RS_BAD_INPUT, "%s: no results of nccl-tests are in it", path);
    if (s->err.code != RS_OK) {
        t->damage = s->err;
    } else if (s->cut) {
        t->bad_lines++;
        rs_fail(&t->damage, RS_BAD_INPUT, "%s: at byte %llu: the file ends within its results", path,
                (unsigned long long)s->offset);
    }
    return RS_OK;
}

enum rs_status rs_nccl_tests_json(struct rs_nccl_tests *t, struct rs_bytes *bytes, const char *path, struct rs_err *err)
{
    struct rs_scan s;
    rs_scan_bytes(&s, bytes);
    enum rs_status status = read_object(t, &s, path, err);
    rs_scan_free(&s);
    return status;
}

/* version, start_time and args come first, and args names the program. */
bool rs_nccl_tests_json_is(const char *head, size_t n)
{
    struct rs_scan s;
    struct config c = {NULL, -1, -1, -1};
    bool versioned = false;
    rs_scan_memory(&s, head, n);
    unsigned depth = rs_json_take_into(&s, RS_T_OBJECT);
    for (int i = 0; depth && i < 3 && rs_json_take_key(&s, depth); i++) {
        versioned |= i == 0 && rs_scan_is(&s, "version");
        if (versioned && rs_scan_is(&s, "args"))
            take_args(&s, &c);
        else
            rs_scan_skip(&s);
    }
    rs_scan_free(&s);
    return c.said != NULL;
}
