#include "foreign/comma/comma.h"

#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "foreign/formats.h"
#include "foreign/json_fields.h"

enum { MICROSECONDS = 3 }; /* digits to ns */

static void take_steps(struct rs_comma *p, struct rs_scan *s, struct rs_comma_proxy *x)
{
    unsigned list = rs_json_take_into(s, RS_T_ARRAY);
    if (!x->steps) x->first_step = p->n_steps;
    while (list && rs_json_take_object(s, list)) {
        struct rs_comma_step step = {-1, -1, -1, -1, -1};
        unsigned depth = s->depth;
        while (rs_json_take_key(s, depth)) {
            if (rs_scan_is(s, "step"))
                rs_json_take_i64(s, &step.step);
            else if (rs_scan_is(s, "size"))
                rs_json_take_i64(s, &step.bytes);
            else if (rs_scan_is(s, "start_time"))
                rs_json_take_fixed(s, MICROSECONDS, &step.start_ns);
            else if (rs_scan_is(s, "fifo_ready_time"))
                rs_json_take_fixed(s, MICROSECONDS, &step.fifo_ready_ns);
            else if (rs_scan_is(s, "end_time"))
                rs_json_take_fixed(s, MICROSECONDS, &step.end_ns);
            else
                rs_scan_skip(s);
        }
        if (s->cut) return;
        RS_ROOM(p->steps, p->n_steps, p->steps_cap);
        p->steps[p->n_steps++] = step;
        x->steps++;
    }
}

static void take_size(struct rs_scan *s, uint64_t *bytes)
{
    unsigned depth = rs_json_take_into(s, RS_T_OBJECT);
    while (depth && rs_json_take_key(s, depth)) {
        if (rs_scan_is(s, "size"))
            rs_json_take_u64(s, bytes);
        else
            rs_scan_skip(s);
    }
}

static void take_event(struct rs_comma *p, struct rs_scan *s, uint32_t parent);

static void take_proxies(struct rs_comma *p, struct rs_scan *s)
{
    unsigned list = rs_json_take_into(s, RS_T_ARRAY);
    while (list && rs_json_take_object(s, list)) take_event(p, s, p->n_ops);
}

static void keep_op(struct rs_comma *p, const struct rs_comma_op *op)
{
    RS_ROOM(p->ops, p->n_ops, p->ops_cap);
    p->ops[p->n_ops++] = *op;
}

/* `op` holds what both kinds have. */
static void keep_proxy(struct rs_comma *p, const struct rs_comma_proxy *x, const struct rs_comma_op *op)
{
    RS_ROOM(p->proxies, p->n_proxies, p->proxies_cap);
    struct rs_comma_proxy *to = &p->proxies[p->n_proxies++];
    *to = *x;
    to->comm = op->comm;
    to->rank = op->rank;
    to->peer = op->peer;
    to->pid = op->pid;
    to->start_ns = op->start_ns;
    to->dur_ns = op->dur_ns;
}

/* The object that the scanner is in. `parent`: the operation that it is a proxy operation of. All keys of both kinds
 * are taken, since their order is not fixed and the kind may come last. */
static void take_event(struct rs_comma *p, struct rs_scan *s, uint32_t parent)
{
    struct rs_comma_op op = {.rank = -1,
                             .seq = -1,
                             .peer = -1,
                             .pid = -1,
                             .channels = -1,
                             .start_ns = -1,
                             .dur_ns = -1,
                             .child_start_ns = -1,
                             .child_dur_ns = -1,
                             .offset = s->offset};
    struct rs_comma_proxy x = {.op = parent, .channel = -1, .n_steps = -1, .chunk_bytes = -1, .first_step = p->n_steps};
    char cat[16] = "";
    unsigned depth = s->depth;
    uint32_t proxies = p->n_proxies, steps = p->n_steps; /* to go back to when the object is not whole */
    const struct {
        const char *key;
        int64_t *to;
        unsigned digits;
    } numbers[] = {
        {"ts", &op.start_ns, MICROSECONDS},
        {"dur", &op.dur_ns, MICROSECONDS},
        {"child_start_ts", &op.child_start_ns, MICROSECONDS},
        {"child_dur", &op.child_dur_ns, MICROSECONDS},
        {"rank", &op.rank, 0},
        {"seq_num", &op.seq, 0},
        {"peer", &op.peer, 0},
        {"pid", &op.pid, 0},
        {"n_max_channel", &op.channels, 0},
        {"channel_id", &x.channel, 0},
        {"n_steps", &x.n_steps, 0},
        {"chunk_size", &x.chunk_bytes, 0},
    };
    enum { NUMBERS = sizeof numbers / sizeof *numbers };
    while (rs_json_take_key(s, depth)) {
        unsigned i = 0;
        while (i < NUMBERS && !rs_scan_is(s, numbers[i].key)) i++;
        if (i < NUMBERS)
            rs_json_take_fixed(s, numbers[i].digits, numbers[i].to);
        else if (rs_scan_is(s, "cat"))
            rs_json_take_text(s, cat, sizeof cat);
        else if (rs_scan_is(s, "name"))
            rs_json_take_text(s, op.name, sizeof op.name);
        else if (rs_scan_is(s, "algo"))
            rs_json_take_text(s, op.algo, sizeof op.algo);
        else if (rs_scan_is(s, "proto"))
            rs_json_take_text(s, op.proto, sizeof op.proto);
        else if (rs_scan_is(s, "comm_hash"))
            rs_json_take_u64(s, &op.comm);
        else if (rs_scan_is(s, "reclaimed"))
            rs_json_take_bool(s, &op.reclaimed);
        else if (rs_scan_is(s, "is_send"))
            rs_json_take_bool(s, &x.send);
        else if (rs_scan_is(s, "parent"))
            rs_json_take_u64(s, &x.parent);
        else if (rs_scan_is(s, "args"))
            take_size(s, &op.bytes);
        else if (rs_scan_is(s, "proxyops") && parent == RS_COMMA_NONE) /* one level: no recursion without a bound */
            take_proxies(p, s);
        else if (rs_scan_is(s, "steps"))
            take_steps(p, s, &x);
        else
            rs_scan_skip(s);
    }
    op.p2p = !strcmp(cat, "P2P");
    bool proxy = parent != RS_COMMA_NONE || !strcmp(cat, "PROXY");
    if (s->cut || (!proxy && !op.p2p && strcmp(cat, "COLL") != 0)) {
        p->n_proxies = proxies;
        p->n_steps = steps;
        return;
    }
    if (!proxy) {
        keep_op(p, &op);
        return;
    }
    if (parent == RS_COMMA_NONE) p->n_proxies = proxies; /* a proxy operation has none below it */
    keep_proxy(p, &x, &op);
}

static enum rs_status read_all(struct rs_comma *p, struct rs_scan *s, const char *path, struct rs_err *err)
{
    enum rs_status status = RS_OK;
    uint64_t last = 0;
    for (enum rs_token t; (t = rs_scan_next(s)) != RS_T_END;) {
        if (t != RS_T_OBJECT) continue; /* a list around all of them is fine */
        last = s->offset;
        take_event(p, s, RS_COMMA_NONE);
    }
    if (s->err.code != RS_OK)
        p->damage = s->err;
    else if (s->cut)
        rs_fail(&p->damage, RS_BAD_INPUT, "%s: at byte %llu: what begins here is cut off", path,
                (unsigned long long)last);
    rs_scan_free(s);
    if (!p->n_ops && !p->n_proxies)
        status = p->damage.code != RS_OK
                     ? rs_fail(err, RS_BAD_INPUT, "%s", p->damage.msg)
                     : rs_fail(err, RS_BAD_INPUT, "%s: at byte 0: no operation of CoMMA in it", path);
    return status;
}

enum rs_status rs_comma_read(struct rs_comma *p, const char *path, struct rs_err *err)
{
    struct rs_bytes *bytes;
    struct rs_scan s;
    *p = (struct rs_comma){0};
    RS_TRY(rs_bytes_open(&bytes, path, err));
    rs_scan_bytes(&s, bytes);
    enum rs_status status = read_all(p, &s, path, err);
    rs_bytes_close(bytes);
    return status;
}

enum rs_status rs_comma_read_memory(struct rs_comma *p, const char *path, const char *text, size_t n,
                                    struct rs_err *err)
{
    struct rs_scan s;
    *p = (struct rs_comma){0};
    rs_scan_memory(&s, text, n);
    return read_all(p, &s, path, err);
}

void rs_comma_free(struct rs_comma *p)
{
    free(p->ops);
    free(p->proxies);
    free(p->steps);
    *p = (struct rs_comma){0};
}

bool rs_comma_is(const char *path, const char *head, size_t n)
{
    (void)path;
    size_t i = 0;
    while (i < n && (head[i] == ' ' || head[i] == '\n' || head[i] == '[' || head[i] == '\r')) i++;
    /* "comm_hash" is CoMMA's alone: NCCL's example profiler writes CommHash. */
    return i < n && head[i] == '{' && memmem(head, n, "\"comm_hash\"", 11) && memmem(head, n, "\"cat\"", 5);
}
