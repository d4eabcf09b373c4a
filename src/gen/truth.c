#include "gen/truth.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "gen/truth_json.h"

struct lost {
    uint64_t op;
    int rank;
    unsigned what;
};
struct fanout {
    int comm, depth;
    int64_t step;
    uint64_t first, n;
};
struct mismatch {
    uint64_t op, count;
    int rank;
};

struct rs_gen_truth {
    struct rs_out out;
    struct rs_json json;
    bool times;
    const struct rs_gen_job *job;
    struct lost *lost;
    size_t nlost, lost_cap;
    struct fanout *fanouts;
    size_t nfanouts, fanouts_cap;
    struct mismatch mismatches[RS_GEN_MAX_EACH];
    int nmismatches;
    struct rs_gen_verdict verdict;
    bool hung;
    bool no_memory;
};

static void *grow(struct rs_gen_truth *t, void *list, size_t n, size_t *cap, size_t size)
{
    if (n < *cap) return list;
    void *grown = realloc(list, (*cap ? *cap * 2 : 64) * size);
    if (!grown) {
        t->no_memory = true;
        return NULL;
    }
    *cap = *cap ? *cap * 2 : 64;
    return grown;
}

/* ---- while the job is computed ---- */

enum rs_status rs_gen_truth_open(struct rs_gen_truth **out, const struct rs_gen_job *job, struct rs_err *err)
{
    static const char *const columns[] = {"op",   "comm", "func", "seq",   "replay",  "bytes",
                                          "step", "src",  "dst",  "index", "complete"};
    char path[4200];
    struct rs_gen_truth *t = *out = calloc(1, sizeof *t);
    if (!t) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    snprintf(path, sizeof path, "%s/truth.json", job->cfg->dir);
    t->job = job;
    t->times = job->cfg->truth_times;
    RS_TRY(rs_out_open(&t->out, path, true, err));
    struct rs_json *j = &t->json;
    rs_json_to_file(j, t->out.file, "truth.json");
    rs_json_object(j);
    rs_json_key_str(j, "made_by", "ringscope gen " RS_VERSION);
    rs_gen_truth_options(j, job->cfg);
    rs_gen_truth_comms(j, job);
    rs_json_key(j, "operation_columns");
    rs_json_array(j);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) rs_json_str(j, columns[i]);
    if (t->times) rs_json_str(j, "starts");
    if (t->times) rs_json_str(j, "ends");
    rs_json_end(j);
    rs_json_key(j, "operations");
    rs_json_array(j);
    return RS_OK;
}

static void put_or_null(struct rs_json *j, int64_t value, bool known)
{
    if (known)
        rs_json_i64(j, value);
    else
        rs_json_null(j);
}

void rs_gen_truth_op(struct rs_gen_truth *t, const struct rs_gen_op *op, const int64_t *start, const int64_t *end,
                     int members)
{
    if (!t) return;
    struct rs_json *j = &t->json;
    bool p2p = op->src >= 0;
    rs_json_array(j);
    rs_json_u64(j, op->number);
    rs_json_i64(j, op->comm);
    rs_json_str(j, rs_gen_func_names[op->func]);
    put_or_null(j, (int64_t)op->seq, !p2p);
    put_or_null(j, op->replay, op->replay >= 0);
    rs_json_u64(j, op->bytes);
    rs_json_i64(j, op->step);
    put_or_null(j, op->src, p2p);
    put_or_null(j, op->dst, p2p);
    put_or_null(j, (int64_t)op->index, p2p);
    rs_json_i64(j, op->complete);
    for (int which = 0; t->times && which < 2; which++) {
        rs_json_array(j);
        for (int m = 0; m < members; m++) rs_gen_truth_time(j, which ? end[m] : start[m]);
        rs_json_end(j);
    }
    rs_json_end(j);
}

void rs_gen_truth_fanout(struct rs_gen_truth *t, int comm, int64_t step, int depth, uint64_t first, uint64_t n)
{
    if (!t) return;
    struct fanout *list = grow(t, t->fanouts, t->nfanouts, &t->fanouts_cap, sizeof *list);
    if (!list) return;
    t->fanouts = list;
    list[t->nfanouts++] = (struct fanout){comm, depth, step, first, n};
}

void rs_gen_truth_mismatch(struct rs_gen_truth *t, uint64_t op, int rank, uint64_t count)
{
    if (!t || t->nmismatches == RS_GEN_MAX_EACH) return;
    t->mismatches[t->nmismatches++] = (struct mismatch){op, count, rank};
}

void rs_gen_truth_hang(struct rs_gen_truth *t, const struct rs_gen_verdict *v)
{
    if (!t) return;
    t->verdict = *v;
    t->hung = true;
}

void rs_gen_truth_note_slow(struct rs_gen_truth *t, struct rs_gen_slot *s, uint64_t op, int rank, unsigned what)
{
    if (s->loss->noted == s->loss->total) return;
    s->loss->noted = s->loss->total;
    if (!t || op == UINT64_MAX) return;
    if (t->nlost && t->lost[t->nlost - 1].op == op && t->lost[t->nlost - 1].rank == rank) {
        t->lost[t->nlost - 1].what |= what;
        return;
    }
    struct lost *list = grow(t, t->lost, t->nlost, &t->lost_cap, sizeof *list);
    if (!list) return;
    t->lost = list;
    list[t->nlost++] = (struct lost){op, rank, what};
}

/* ---- at the end ---- */

static int by_op(const void *a, const void *b)
{
    const struct lost *x = a, *y = b;
    if (x->op != y->op) return x->op < y->op ? -1 : 1;
    return x->rank - y->rank;
}

static void put_lost(struct rs_json *j, struct rs_gen_truth *t)
{
    if (t->nlost) qsort(t->lost, t->nlost, sizeof *t->lost, by_op);
    rs_json_key(j, "lost_columns");
    rs_json_array(j);
    rs_json_str(j, "op");
    rs_json_str(j, "rank");
    rs_json_str(j, "what");
    rs_json_end(j);
    rs_json_key(j, "lost");
    rs_json_array(j);
    for (size_t i = 0, k; i < t->nlost; i = k) {
        unsigned what = 0;
        for (k = i; k < t->nlost && !by_op(&t->lost[k], &t->lost[i]); k++) what |= t->lost[k].what;
        rs_json_array(j);
        rs_json_u64(j, t->lost[i].op);
        rs_json_i64(j, t->lost[i].rank);
        rs_json_u64(j, what);
        rs_json_end(j);
    }
    rs_json_end(j);
}

static void put_fanouts(struct rs_json *j, const struct rs_gen_truth *t)
{
    rs_json_key(j, "fanout_columns");
    rs_json_array(j);
    const char *const columns[] = {"comm", "step", "depth", "first_op", "ops"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) rs_json_str(j, columns[i]);
    rs_json_end(j);
    rs_json_key(j, "fanouts");
    rs_json_array(j);
    for (size_t i = 0; i < t->nfanouts; i++) {
        const struct fanout *f = &t->fanouts[i];
        rs_json_array(j);
        rs_json_i64(j, f->comm);
        rs_json_i64(j, f->step);
        rs_json_i64(j, f->depth);
        rs_json_u64(j, f->first);
        rs_json_u64(j, f->n);
        rs_json_end(j);
    }
    rs_json_end(j);
}

static void put_verdict(struct rs_json *j, const struct rs_gen_truth *t, const struct rs_gen_job *job)
{
    const struct rs_gen_verdict *v = &t->verdict;
    rs_json_key(j, "hang");
    if (!t->hung) {
        rs_json_null(j);
        return;
    }
    rs_json_object(j);
    rs_json_key_str(j, "verdict", v->verdict);
    if (v->comm >= 0) {
        rs_json_key_hex(j, "comm", job->comms[v->comm].hash);
        rs_json_key_str(j, "func", rs_gen_func_names[v->func]);
        rs_json_key_u64(j, "seq", v->seq);
        rs_json_key_u64(j, "op", v->op);
    } else {
        rs_json_key_null(j, "comm");
        rs_json_key_null(j, "func");
        rs_json_key_null(j, "seq");
        rs_json_key_null(j, "op");
    }
    rs_json_key(j, "ranks");
    rs_json_array(j);
    if (v->rank >= 0) rs_json_i64(j, v->rank);
    rs_json_end(j);
    rs_json_key_number_or_null(j, "peer", v->peer);
    rs_json_key_number_or_null(j, "step", v->step);
    rs_json_key_str(j, "state", v->state);
    if (v->other_comm >= 0)
        rs_json_key_hex(j, "other_comm", job->comms[v->other_comm].hash);
    else
        rs_json_key_null(j, "other_comm");
    rs_json_end(j);
}

enum rs_status rs_gen_truth_close(struct rs_gen_truth *t, struct rs_gen_job *job, int64_t end, struct rs_err *err)
{
    if (!t) return RS_OK;
    struct rs_json *j = &t->json;
    uint64_t lost, kept = rs_gen_job_callbacks(job, &lost);
    rs_json_end(j); /* operations */
    rs_json_key_i64(j, "steps", job->step);
    rs_json_key_u64(j, "callbacks", kept);
    rs_json_key_u64(j, "callbacks_lost", lost);
    rs_json_key_i64(j, "begin_ns", RS_GEN_EPOCH_NS);
    rs_json_key_i64(j, "end_ns", RS_GEN_EPOCH_NS + end);
    rs_gen_truth_hosts(j, job, end);
    rs_gen_truth_gpus(j, job, end);
    rs_gen_truth_straggler(j, job);
    put_fanouts(j, t);
    rs_json_key(j, "mismatches");
    rs_json_array(j);
    for (int i = 0; i < t->nmismatches; i++) {
        rs_json_object(j);
        rs_json_key_u64(j, "op", t->mismatches[i].op);
        rs_json_key_i64(j, "rank", t->mismatches[i].rank);
        rs_json_key_u64(j, "count", t->mismatches[i].count);
        rs_json_end(j);
    }
    rs_json_end(j);
    put_lost(j, t);
    put_verdict(j, t, job);
    rs_json_end(j);
    rs_json_newline(j);
    if (t->no_memory) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    RS_TRY(rs_json_finish(j, err));
    return rs_out_commit(&t->out, err);
}

void rs_gen_truth_free(struct rs_gen_truth *t)
{
    if (!t) return;
    rs_out_abort(&t->out);
    free(t->lost);
    free(t->fanouts);
    free(t);
}
