#include "foreign/inspector/line.h"

#include <math.h>
#include <string.h>

#include "foreign/json_fields.h"

static void take_header(struct rs_inspector_line *l)
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

static void take_metadata(struct rs_inspector_line *l)
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

/* The two lists (order, times) name the same channels: they are laid together. */
static void keep_kernel(struct rs_inspector_line *l, const struct rs_inspector_kernel *k, bool times)
{
    unsigned i = 0;
    while (i < l->n_kernels && l->kernels[i].channel != k->channel) i++;
    if (i == RS_INSPECTOR_KERNELS) return;
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

static void take_kernels(struct rs_inspector_line *l, bool times)
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
static bool is_key(const struct rs_inspector_line *l, const char *rest)
{
    const char *prefix = l->op.p2p ? "p2p" : "coll";
    size_t n = strlen(prefix), m = strlen(rest);
    return l->s.n == n + m && !memcmp(l->s.text, prefix, n) && !memcmp(l->s.text + n, rest, m);
}

static void take_events(struct rs_inspector_line *l, bool times)
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

static void take_timing(struct rs_inspector_line *l)
{
    char text[32] = "";
    rs_json_take_text(&l->s, text, sizeof text);
    l->op.timing = !strcmp(text, "kernel_gpu")       ? RS_INSPECTOR_KERNEL_GPU
                   : !strcmp(text, "kernel_cpu")     ? RS_INSPECTOR_KERNEL_CPU
                   : !strcmp(text, "collective_cpu") ? RS_INSPECTOR_COLLECTIVE_CPU
                                                     : RS_INSPECTOR_UNKNOWN;
}

static void take_operation(struct rs_inspector_line *l, bool p2p)
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

const char *rs_inspector_parse(struct rs_inspector_line *l, const char *text, size_t n)
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
    if (rs_scan_next(&l->s) != RS_T_END) return "something stands behind the object";
    return l->has_header ? NULL : "no header with a communicator";
}
