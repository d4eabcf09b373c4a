/* The operations of a step, by workload: see step.h. */
#include <stdlib.h>

#include "base/memory.h"
#include "gen/step.h"

const char *const rs_gen_workload_names[RS_GEN_WORKLOADS] = {"ddp",   "tpdp", "pipeline", "alltoall",
                                                             "graph", "mix",  "tpppdp"};

enum { TINY = 4096, KEY_TOKENS = 0x300 };

/* Sizes of buckets: the largest first, a tiny one last. */
static uint64_t bucket_bytes(const struct rs_gen_config *c, int i)
{
    if (i == c->buckets - 1 && i) return TINY;
    uint64_t bytes = (uint64_t)c->bytes >> (i % 4);
    return bytes > TINY ? bytes : TINY;
}

static void ddp(struct rs_gen_job *j)
{
    const struct rs_gen_config *c = j->cfg;
    for (int b = 0; b < c->buckets; b++) {
        rs_gen_compute_all(j, (b ? 0 : 0.4) + 0.6 / c->buckets); /* forward, then backward */
        rs_gen_op_coll(j, j->world, RS_GEN_ALLREDUCE, bucket_bytes(c, b), c->overlap ? RS_GEN_SIDE : RS_GEN_MAIN,
                       (uint32_t)b);
    }
}

static void tpdp(struct rs_gen_job *j)
{
    const struct rs_gen_config *c = j->cfg;
    int per_host = c->ranks / c->hosts;
    uint64_t bytes = (uint64_t)c->bytes;
    for (int l = 0; l < c->layers; l++) {
        rs_gen_compute_all(j, 0.9 / c->layers);
        for (int h = 0; h < c->hosts; h++)
            rs_gen_op_coll(j, j->tp + h, RS_GEN_ALLREDUCE, bytes / 4, RS_GEN_MAIN, (uint32_t)l);
        for (int i = 0; i < per_host && c->overlap; i++) /* the gradients of each layer */
            rs_gen_op_coll(j, j->dp + i, RS_GEN_REDUCESCATTER, bytes / (uint64_t)c->layers, RS_GEN_SIDE, 20);
    }
    rs_gen_compute_all(j, 0.1);
    if (c->overlap) rs_gen_join_streams(j);
    for (int i = 0; i < per_host && !c->overlap; i++)
        rs_gen_op_coll(j, j->dp + i, RS_GEN_REDUCESCATTER, bytes, RS_GEN_MAIN, 20);
    for (int i = 0; i < per_host; i++) rs_gen_op_coll(j, j->dp + i, RS_GEN_ALLGATHER, bytes, RS_GEN_MAIN, 21);
    for (int i = 0; i < per_host; i++) rs_gen_op_coll(j, j->dp + i, RS_GEN_ALLREDUCE, TINY, RS_GEN_MAIN, 22);
    if (j->world >= 0) rs_gen_op_coll(j, j->world, RS_GEN_ALLREDUCE, TINY, RS_GEN_MAIN, 23);
}

static void alltoall(struct rs_gen_job *j)
{
    const struct rs_gen_config *c = j->cfg;
    int n = c->ranks, npairs = 0;
    struct rs_gen_pair *pairs = rs_zalloc((size_t)n * (size_t)n, sizeof *pairs);
    uint64_t each = ((uint64_t)c->bytes / 4 / (uint64_t)n) & ~UINT64_C(1);
    if (each < 2) each = 2;
    rs_gen_compute_all(j, 0.4);
    for (int s = 0; s < n; s++)
        for (int d = 0; d < n; d++) pairs[npairs++] = (struct rs_gen_pair){s, d, each};
    rs_gen_op_pairs(j, j->world, pairs, npairs, 1, true);
    /* Tokens of experts: uneven, and some pairs exchange nothing. */
    rs_gen_compute_all(j, 0.4);
    npairs = 0;
    struct rs_gen_rng rng = {rs_gen_hash(c->seed, KEY_TOKENS, (uint64_t)j->step)};
    for (int s = 0; s < n; s++)
        for (int d = 0; d < n; d++) {
            uint64_t x = rs_gen_next(&rng);
            if (s == d || (n > 2 && x % 5 == 0)) continue;
            pairs[npairs++] = (struct rs_gen_pair){s, d, (each / 4 + (x >> 8) % each + 2) & ~UINT64_C(1)};
        }
    rs_gen_op_pairs(j, j->world, pairs, npairs, 2, true);
    rs_gen_compute_all(j, 0.2);
    rs_gen_op_coll(j, j->world, RS_GEN_ALLREDUCE, (uint64_t)c->bytes / 2, RS_GEN_MAIN, 0);
    free(pairs);
}

static void graph(struct rs_gen_job *j, struct rs_gen_programs *p)
{
    const struct rs_gen_config *c = j->cfg;
    int want = c->buckets < RS_GEN_MAX_CAPTURED ? c->buckets : RS_GEN_MAX_CAPTURED;
    if (c->ranks < 2) return; /* NCCL does not report collectives of one rank */
    if (!p->ncaptured) {
        rs_gen_op_coll(j, j->world, RS_GEN_ALLREDUCE, TINY, RS_GEN_MAIN, 40); /* warming up, not captured */
        for (; p->ncaptured < want; p->ncaptured++)
            rs_gen_op_capture(j, j->world, bucket_bytes(c, p->ncaptured), (uint32_t)p->ncaptured,
                              &p->captured[p->ncaptured]);
    }
    for (int i = 0; i < p->ncaptured; i++) {
        rs_gen_compute_all(j, 1.0 / p->ncaptured);
        rs_gen_op_replay(j, &p->captured[i]);
    }
}

void rs_gen_step(struct rs_gen_job *j, struct rs_gen_programs *p)
{
    enum rs_gen_workload w = j->cfg->workload;
    if (w == RS_GEN_MIX) w = (enum rs_gen_workload)(j->step % RS_GEN_MIX);
    rs_gen_step_begin(j);
    switch (w) {
    case RS_GEN_DDP: ddp(j); break;
    case RS_GEN_TPDP: tpdp(j); break;
    case RS_GEN_PIPELINE: rs_gen_pipeline(j); break;
    case RS_GEN_TPPPDP: rs_gen_tpppdp(j); break;
    case RS_GEN_ALLTOALL: alltoall(j); break;
    default: graph(j, p); break;
    }
}

void rs_gen_programs_free(struct rs_gen_programs *p)
{
    for (int i = 0; i < p->ncaptured; i++) free(p->captured[i].api);
    *p = (struct rs_gen_programs){0};
}
