#include "foreign/inspector/inspector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/mix.h"
#include "base/room.h"
#include "base/scan.h"
#include "foreign/formats.h"
#include "foreign/json_fields.h"
#include "foreign/lines.h"

/* ---- one line ----
 * A parsed line of Inspector's log.
 *
 * The struct holds its texts itself, so it is large: allocate it, once for all lines. */

enum { INSPECTOR_KERNELS = 256 }; /* of an operation: NCCL has at most 64 channels */

struct inspector_line {
    struct rs_scan s;
    struct rs_inspector_member member;
    struct rs_inspector_op op;
    char comm_name[256], host[256], version[32], git_rev[64], func[64];
    bool has_header, has_op;
    struct rs_inspector_kernel kernels[INSPECTOR_KERNELS];
    unsigned n_kernels;
};

static void take_header(struct inspector_line *l)
{
    struct rs_inspector_member *m = &l->member;
    unsigned depth = rs_json_take_into(&l->s, RS_T_OBJECT);
    while (depth && rs_json_take_key(&l->s, depth)) {
        if (rs_scan_is(&l->s, "id")) {
            rs_json_take_u64(&l->s, &m->comm);
            l->has_header = true;
        } else if (rs_scan_is(&l->s, "comm_name"))
            rs_json_take_text(&l->s, l->comm_name, sizeof l->comm_name);
        else if (rs_scan_is(&l->s, "rank"))
            rs_json_take_i64(&l->s, &m->rank);
        else if (rs_scan_is(&l->s, "n_ranks"))
            rs_json_take_i64(&l->s, &m->n_ranks);
        else if (rs_scan_is(&l->s, "nnodes"))
            rs_json_take_i64(&l->s, &m->n_nodes);
        else
            rs_scan_skip(&l->s);
    }
}

static void take_metadata(struct inspector_line *l)
{
    unsigned depth = rs_json_take_into(&l->s, RS_T_OBJECT);
    while (depth && rs_json_take_key(&l->s, depth)) {
        if (rs_scan_is(&l->s, "inspector_output_format_version"))
            rs_json_take_text(&l->s, l->version, sizeof l->version);
        else if (rs_scan_is(&l->s, "git_rev"))
            rs_json_take_text(&l->s, l->git_rev, sizeof l->git_rev);
        else if (rs_scan_is(&l->s, "hostname"))
            rs_json_take_text(&l->s, l->host, sizeof l->host);
        else if (rs_scan_is(&l->s, "pid"))
            rs_json_take_i64(&l->s, &l->member.pid);
        else if (rs_scan_is(&l->s, "dump_timestamp_us"))
            rs_json_take_i64(&l->s, &l->op.dump_us);
        else
            rs_scan_skip(&l->s);
    }
}

/* The two lists (order, times) name the same channels: they are merged. */
static void keep_kernel(struct inspector_line *l, const struct rs_inspector_kernel *k, bool times)
{
    unsigned i = 0;
    while (i < l->n_kernels && l->kernels[i].channel != k->channel) i++;
    if (i == INSPECTOR_KERNELS) return;
    struct rs_inspector_kernel *to = &l->kernels[i];
    if (i == l->n_kernels) {
        l->n_kernels++;
        *to = *k;
    } else if (times) {
        to->start_us = k->start_us;
        to->stop_us = k->stop_us;
        to->record_us = k->record_us;
    } else {
        to->start_sn = k->start_sn;
        to->stop_sn = k->stop_sn;
        to->record_sn = k->record_sn;
    }
}

static void take_kernels(struct inspector_line *l, bool times)
{
    unsigned list = rs_json_take_into(&l->s, RS_T_ARRAY);
    while (list && rs_json_take_object(&l->s, list)) {
        struct rs_inspector_kernel k = {-1, -1, -1, -1, -1, -1, -1};
        unsigned depth = l->s.depth;
        while (rs_json_take_key(&l->s, depth)) {
            if (rs_scan_is(&l->s, "channel_id"))
                rs_json_take_i64(&l->s, &k.channel);
            else if (rs_scan_is(&l->s, times ? "kernel_start_ts" : "kernel_start_sn"))
                rs_json_take_i64(&l->s, times ? &k.start_us : &k.start_sn);
            else if (rs_scan_is(&l->s, times ? "kernel_stop_ts" : "kernel_stop_sn"))
                rs_json_take_i64(&l->s, times ? &k.stop_us : &k.stop_sn);
            else if (rs_scan_is(&l->s, times ? "kernel_record_ts" : "kernel_record_sn"))
                rs_json_take_i64(&l->s, times ? &k.record_us : &k.record_sn);
            else
                rs_scan_skip(&l->s);
        }
        keep_kernel(l, &k, times);
    }
}

/* Keys of a point-to-point operation begin with p2p, those of a collective with coll: the rest is the same. */
static bool is_key(const struct inspector_line *l, const char *rest)
{
    const char *prefix = l->op.p2p ? "p2p" : "coll";
    size_t n = strlen(prefix), m = strlen(rest);
    return l->s.n == n + m && !memcmp(l->s.text, prefix, n) && !memcmp(l->s.text + n, rest, m);
}

static void take_events(struct inspector_line *l, bool times)
{
    unsigned depth = rs_json_take_into(&l->s, RS_T_OBJECT);
    while (depth && rs_json_take_key(&l->s, depth)) {
        if (is_key(l, times ? "_start_ts" : "_start_sn"))
            rs_json_take_i64(&l->s, times ? &l->op.start_us : &l->op.start_sn);
        else if (is_key(l, times ? "_stop_ts" : "_stop_sn"))
            rs_json_take_i64(&l->s, times ? &l->op.stop_us : &l->op.stop_sn);
        else if (rs_scan_is(&l->s, "kernel_events"))
            take_kernels(l, times);
        else
            rs_scan_skip(&l->s);
    }
}

static void take_timing(struct inspector_line *l)
{
    char text[32] = "";
    rs_json_take_text(&l->s, text, sizeof text);
    l->op.timing = !strcmp(text, "kernel_gpu")       ? RS_INSPECTOR_KERNEL_GPU
                   : !strcmp(text, "kernel_cpu")     ? RS_INSPECTOR_KERNEL_CPU
                   : !strcmp(text, "collective_cpu") ? RS_INSPECTOR_COLLECTIVE_CPU
                                                     : RS_INSPECTOR_UNKNOWN;
}

static void take_operation(struct inspector_line *l, bool p2p)
{
    unsigned depth = rs_json_take_into(&l->s, RS_T_OBJECT);
    l->op.p2p = p2p;
    while (depth && rs_json_take_key(&l->s, depth)) {
        if (is_key(l, "")) {
            rs_json_take_text(&l->s, l->func, sizeof l->func);
            l->has_op = true;
        } else if (is_key(l, "_sn"))
            rs_json_take_u64(&l->s, &l->op.sn);
        else if (is_key(l, "_peer"))
            rs_json_take_i64(&l->s, &l->op.peer);
        else if (is_key(l, "_msg_size_bytes"))
            rs_json_take_u64(&l->s, &l->op.bytes);
        else if (is_key(l, "_exec_time_us")) {
            rs_json_take_fixed(&l->s, 3, &l->op.exec_ns);
        } else if (is_key(l, "_timing_source"))
            take_timing(l);
        else if (is_key(l, "_algobw_gbs"))
            rs_json_take_double(&l->s, &l->op.algbw_gbs);
        else if (is_key(l, "_busbw_gbs"))
            rs_json_take_double(&l->s, &l->op.busbw_gbs);
        else if (rs_scan_is(&l->s, "event_trace_sn"))
            take_events(l, false);
        else if (rs_scan_is(&l->s, "event_trace_ts"))
            take_events(l, true);
        else
            rs_scan_skip(&l->s);
    }
}

/* NULL: the line is whole; else why it is not. */
static const char *inspector_parse(struct inspector_line *l, const char *text, size_t n)
{
    l->member = (struct rs_inspector_member){.rank = -1, .n_ranks = -1, .n_nodes = -1, .pid = -1};
    l->op = (struct rs_inspector_op){.peer = -1,
                                     .exec_ns = -1,
                                     .dump_us = -1,
                                     .start_us = -1,
                                     .stop_us = -1,
                                     .start_sn = -1,
                                     .stop_sn = -1,
                                     .algbw_gbs = NAN,
                                     .busbw_gbs = NAN};
    l->comm_name[0] = l->host[0] = l->version[0] = l->git_rev[0] = l->func[0] = 0;
    l->has_header = l->has_op = false;
    l->n_kernels = 0;
    rs_scan_memory(&l->s, text, n);
    unsigned depth = rs_json_take_into(&l->s, RS_T_OBJECT);
    if (!depth) return "not a JSON object";
    while (rs_json_take_key(&l->s, depth)) {
        if (rs_scan_is(&l->s, "header"))
            take_header(l);
        else if (rs_scan_is(&l->s, "metadata"))
            take_metadata(l);
        else if (rs_scan_is(&l->s, "coll_perf"))
            take_operation(l, false);
        else if (rs_scan_is(&l->s, "p2p_perf"))
            take_operation(l, true);
        else
            rs_scan_skip(&l->s);
    }
    if (l->s.cut) return "the line is cut off";
    if (rs_scan_next(&l->s) != RS_T_END) return "text after the object";
    return l->has_header ? NULL : "no header with a communicator";
}

/* ---- files ---- */

static bool same_member(const struct rs_inspector_member *m, const struct inspector_line *l)
{
    const struct rs_inspector_member *o = &l->member;
    return m->comm == o->comm && m->rank == o->rank && m->n_ranks == o->n_ranks && m->n_nodes == o->n_nodes &&
           m->pid == o->pid && !strcmp(m->host, l->host) && !strcmp(m->comm_name, l->comm_name) &&
           !strcmp(m->version, l->version) && !strcmp(m->git_rev, l->git_rev);
}

static void member_of(struct rs_inspector *p, const struct inspector_line *l, uint32_t *index)
{
    /* Nearly always the one of the line before. */
    if (p->n_ops && same_member(&p->members[p->ops[p->n_ops - 1].member], l)) {
        *index = p->ops[p->n_ops - 1].member;
        return;
    }
    char key[96];
    snprintf(key, sizeof key, "%llx %lld %lld %lld %lld", (unsigned long long)l->member.comm, (long long)l->member.rank,
             (long long)l->member.n_ranks, (long long)l->member.n_nodes, (long long)l->member.pid);
    uint64_t hash = rs_mix_text(rs_mix_text(rs_mix_text(0, key), l->host), l->comm_name), *known;
    hash = rs_mix_text(rs_mix_text(hash, l->version), l->git_rev);
    rs_map_at(&p->by_key, hash, 0, &known);
    if (*known && same_member(&p->members[*known - 1], l)) {
        *index = (uint32_t)(*known - 1);
        return;
    }
    struct rs_inspector_member m = l->member;
    m.comm_name = rs_arena_text(&p->texts, l->comm_name, strlen(l->comm_name));
    m.host = rs_arena_text(&p->texts, l->host, strlen(l->host));
    m.version = rs_arena_text(&p->texts, l->version, strlen(l->version));
    m.git_rev = rs_arena_text(&p->texts, l->git_rev, strlen(l->git_rev));
    RS_ROOM(p->members, p->n_members, p->members_cap);
    *index = p->n_members;
    p->members[p->n_members++] = m;
    *known = p->n_members;
}

static void keep_line(struct rs_inspector *p, struct inspector_line *l)
{
    struct rs_inspector_op *op = &l->op;
    uint64_t *place;
    member_of(p, l, &op->member);
    rs_map_at(&p->funcs, rs_mix_text(0, l->func), 0, &place);
    op->func = (const char *)(uintptr_t)*place;
    if (!op->func || strcmp(op->func, l->func) != 0) {
        op->func = rs_arena_text(&p->texts, l->func, strlen(l->func));
        *place = (uint64_t)(uintptr_t)op->func;
    }
    op->first_kernel = p->n_kernels;
    op->n_kernels = l->n_kernels;
    for (unsigned i = 0; i < l->n_kernels; i++) {
        RS_ROOM(p->kernels, p->n_kernels, p->kernels_cap);
        p->kernels[p->n_kernels++] = l->kernels[i];
        p->verbose |= l->kernels[i].start_us >= 0;
    }
    p->verbose |= op->start_us >= 0;
    RS_ROOM(p->ops, p->n_ops, p->ops_cap);
    p->ops[p->n_ops++] = *op;
    p->members[op->member].ops++;
}

static enum rs_status read_lines(struct rs_inspector *p, struct rs_lines *lines, const char *path, struct rs_err *err)
{
    struct inspector_line *l = rs_zalloc(1, sizeof *l);
    enum rs_status status = RS_OK;
    while (rs_lines_next(lines)) {
        if (!rs_slice_trim((struct rs_slice){lines->text, lines->n}).n) continue;
        const char *why =
            lines->shortened ? "the line is longer than any of Inspector" : inspector_parse(l, lines->text, lines->n);
        p->lines++;
        l->op.offset = lines->offset;
        if (why) {
            if (!p->bad_lines++)
                rs_fail(&p->damage, RS_BAD_INPUT, "%s: at byte %llu: %s", path, (unsigned long long)lines->offset, why);
        } else if (l->has_op) {
            keep_line(p, l);
        } else {
            p->other_lines++;
        }
    }
    if (lines->err.code != RS_OK && p->damage.code == RS_OK) p->damage = lines->err;
    free(l);
    rs_lines_free(lines);
    if (p->lines == p->bad_lines)
        status = p->damage.code != RS_OK ? rs_fail(err, RS_BAD_INPUT, "%s", p->damage.msg)
                                         : rs_fail(err, RS_BAD_INPUT, "%s: at byte 0: the file is empty", path);
    return status;
}

enum rs_status rs_inspector_read(struct rs_inspector *p, const char *path, struct rs_err *err)
{
    struct rs_bytes *bytes;
    struct rs_lines lines;
    *p = (struct rs_inspector){0};
    RS_TRY(rs_bytes_open(&bytes, path, err));
    rs_lines_bytes(&lines, bytes);
    enum rs_status status = read_lines(p, &lines, path, err);
    rs_bytes_close(bytes);
    return status;
}

enum rs_status rs_inspector_read_memory(struct rs_inspector *p, const char *path, const char *text, size_t n,
                                        struct rs_err *err)
{
    struct rs_lines lines;
    *p = (struct rs_inspector){0};
    rs_lines_memory(&lines, text, n);
    return read_lines(p, &lines, path, err);
}

void rs_inspector_free(struct rs_inspector *p)
{
    free(p->members);
    free(p->ops);
    free(p->kernels);
    rs_arena_free(&p->texts);
    rs_map_free(&p->by_key);
    rs_map_free(&p->funcs);
    *p = (struct rs_inspector){0};
}

bool rs_inspector_is(const char *path, const char *head, size_t n)
{
    (void)path;
    static const char *const words[] = {"\"inspector_output_format_version\"", "\"coll_perf\"", "\"p2p_perf\""};
    struct rs_slice f = rs_slice_trim((struct rs_slice){head, n});
    if (!f.n || f.text[0] != '{' || !memmem(f.text, f.n, "\"header\"", 8)) return false;
    for (size_t i = 0; i < 3; i++)
        if (memmem(f.text, f.n, words[i], strlen(words[i]))) return true;
    return false;
}
