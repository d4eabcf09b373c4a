#include "foreign/kineto/args.h"

#include <string.h>

#include "foreign/json_fields.h"
#include "foreign/torch.h"

void rs_kineto_args_none(struct rs_kineto_args *a)
{
    static const struct rs_kineto_args none = {
        .external = RS_KINETO_NO_ID,
        .device = -1,
        .stream = -1,
        .comm = {.seq = -1,
                 .dtype = "",
                 .lane = RS_KINETO_NONE,
                 .row = RS_KINETO_NONE,
                 .rank = -1,
                 .src = -1,
                 .dst = -1,
                 .group_size = -1,
                 .first_rank = -1,
                 .stride = -1,
                 .device = -1,
                 .kernel = RS_KINETO_NONE,
                 .group = RS_KINETO_NONE,
                 .number = UINT64_MAX,
                 .step = RS_KINETO_NONE},
    };
    *a = none;
}

static bool plain(enum rs_token t)
{
    return t == RS_T_STRING || t == RS_T_NUMBER || t == RS_T_WORD;
}

static void take_i32(const struct rs_scan *s, int32_t *v)
{
    int64_t x;
    if (rs_scan_i64(s, &x) && x >= INT32_MIN && x <= INT32_MAX) *v = (int32_t)x;
}

/* What is told of a communication. The value is at hand, a plain one. */
static enum rs_status take_comm(struct rs_kineto_call *c, struct rs_kineto *k, const struct rs_scan *s, const char *key,
                                size_t n, struct rs_err *err)
{
#define IS(word) (n == sizeof(word) - 1 && !memcmp(key, word, sizeof(word) - 1))
    if (IS("Collective name")) {
        c->func = rs_torch_func(s->text, s->n);
    } else if (IS("dtype")) {
        c->dtype = rs_torch_dtype(s->text, s->n);
    } else if (IS("In msg nelems")) {
        rs_scan_u64(s, &c->in);
    } else if (IS("Out msg nelems")) {
        rs_scan_u64(s, &c->out);
    } else if (IS("Group size")) {
        take_i32(s, &c->group_size);
    } else if (IS("Process Group Name")) {
        c->has_pg_name = true;
        return rs_kineto_name(k, s->text, s->n, &c->pg_name, err);
    } else if (IS("Process Group ID") && !c->has_pg_name) { /* older */
        return rs_kineto_name(k, s->text, s->n, &c->pg_name, err);
    } else if (IS("Process Group Description")) {
        return rs_kineto_name(k, s->text, s->n, &c->pg_desc, err);
    } else if (IS("Process Group Ranks")) {
        return rs_kineto_name(k, s->text, s->n, &c->pg_ranks, err);
    } else if (IS("Rank")) {
        take_i32(s, &c->rank);
    } else if (IS("Src Rank")) {
        take_i32(s, &c->src);
    } else if (IS("Dst Rank")) {
        take_i32(s, &c->dst);
    } else if (IS("Seq")) {
        if (!rs_scan_i64(s, &c->seq) || c->seq < 0) c->seq = -1;
    } else if (IS("Comms Id")) {
        c->has_comms_id = rs_scan_u64(s, &c->comms_id);
    } else if (IS("Global rank start")) {
        take_i32(s, &c->first_rank);
    } else if (IS("Global rank stride")) {
        take_i32(s, &c->stride);
    }
    return RS_OK;
}

/* Whether a key can be one of a communication's, by its length and first letter. */
static bool may_be_comm(const char *key, size_t n)
{
    return n >= 3 && n <= 25 && memchr("CdIOGPRSD", key[0], 9);
}

enum rs_status rs_kineto_args_read(struct rs_kineto_args *a, struct rs_kineto *k, struct rs_scan *s, bool brief,
                                   struct rs_err *err)
{
    unsigned depth = rs_json_take_into(s, RS_T_OBJECT);
    char key[32];
    while (depth && rs_json_take_key(s, depth)) {
        size_t n = s->n;
        if (n >= sizeof key) {
            rs_scan_skip(s);
            continue;
        }
        memcpy(key, s->text, n); /* the text is gone with the next token */
        enum rs_token t = rs_scan_next(s);
        if (!plain(t)) {
            if (t == RS_T_OBJECT || t == RS_T_ARRAY) rs_scan_leave(s, s->depth);
            continue;
        }
        if (n == 11 && (IS("External id") || IS("external id"))) {
            rs_scan_u64(s, &a->external);
        } else if (n == 11 && IS("correlation")) {
            rs_scan_u64(s, &a->correlation);
        } else if (n == 6 && IS("device")) {
            rs_scan_i64(s, &a->device);
        } else if (n == 6 && IS("stream")) {
            rs_scan_i64(s, &a->stream);
        } else if (n == 5 && IS("bytes")) {
            rs_scan_u64(s, &a->bytes);
        } else if (n == 4 && IS("name")) {
            RS_TRY(rs_kineto_name(k, s->text, s->n, &a->label, err));
        } else if (may_be_comm(key, n)) {
            RS_TRY(take_comm(&a->comm, k, s, key, n, err));
        }
        if (brief && a->correlation && a->device >= 0 && a->stream >= 0) rs_scan_leave(s, depth);
    }
    return RS_OK;
}
