/* How often reports of generated runs are right: conclusions DIR clean|late|sometimes|idle FROM COUNT [CASE]
 *
 *   clean  nothing is wrong: whether anyone is named, by workload and by shape of noise
 *   late   8 ranks, one of them late by 100 or 300 us per step: whether that rank is named, and others
 *   sometimes  the same, late by 2 ms in three of ten steps
 *   idle   a pipeline in which one rank is late by less than the others wait anyway: nobody is named
 *
 * Run i has the seed FROM + i. Runs are written into DIR, read, joined and reported in this process. Prints one line for
 * each case, with the upper end of the 95 % interval of the share, and what was said in the runs that were wrong. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mix.h"
#include "conclude/report.h"
#include "rates.h"

static const char *const noises[] = {"default", "gauss", "folded", "tails",  "slices",  "bursts",
                                     "host",    "bias",  "ranks",  "jitter", "overlap", "pauses"};
enum { NOISES = sizeof noises / sizeof *noises, STEPS = 30 };

/* ---- runs ---- */

static void add_noise(struct rs_gen_config *c, unsigned kind, uint64_t random)
{
    static const struct rs_gen_variation shapes[] = {
        [RS_GEN_GAUSS] = {RS_GEN_GAUSS, 50, 0, 0},      [RS_GEN_FOLDED] = {RS_GEN_FOLDED, 50, 0, 0},
        [RS_GEN_TAILS] = {RS_GEN_TAILS, 50, 0.05, 0},   [RS_GEN_SLICES] = {RS_GEN_SLICES, 4000, 0.02, 0},
        [RS_GEN_BURSTS] = {RS_GEN_BURSTS, 200, 0.2, 5}, [RS_GEN_HOST] = {RS_GEN_HOST, 50, 0, 0},
    };
    static const double biases[] = {5, 10, 20};
    if (kind >= 1 && kind <= RS_GEN_SHAPES) c->noise[c->nnoise++] = shapes[kind - 1];
    if (kind == 7) c->bias_us = biases[random % 3];
    if (kind == 8) c->rank_noise = 0.002;
    if (kind == 9) c->jitter_us = 20, c->tails = 0.05;
    if (kind == 10) c->overlap = c->workload == RS_GEN_DDP || c->workload == RS_GEN_TPDP;
    if (kind == 11) {
        c->pauses[c->npauses++] = (struct rs_gen_pause){RS_GEN_WARM_UP, -1, 3, 50e3};
        c->pauses[c->npauses++] = (struct rs_gen_pause){RS_GEN_PROFILER, -1, 10, 100e3};
        c->pauses[c->npauses++] = (struct rs_gen_pause){RS_GEN_PAUSE, (int)(random % (unsigned)c->ranks), 20, 20e3};
    }
}

static void make_clean(struct rs_gen_config *c, unsigned *noise)
{
    static const int sizes[] = {2, 4, 8, 8, 16, 16, 32, 64};
    uint64_t random = rs_mix(0x636c65616eu, c->seed);
    c->workload = (enum rs_gen_workload)(c->seed % RS_GEN_WORKLOADS);
    c->ranks = sizes[(random >> 8) % (sizeof sizes / sizeof *sizes)];
    bool pipelined = c->workload == RS_GEN_PIPELINE || c->workload == RS_GEN_TPPPDP;
    if (c->workload == RS_GEN_TPPPDP && c->ranks < 8) c->ranks = 8;
    if (pipelined) c->schedule = (enum rs_gen_schedule)((random >> 16) % RS_GEN_SCHEDULES);
    if (c->schedule == RS_GEN_INTERLEAVED) c->microbatches = 8;
    if (pipelined && c->ranks >= 8 && (random >> 24) % 2) c->stages = 4; /* with replicas: ranks have equals */
    c->hosts = c->ranks < 4 ? 2 : c->ranks <= 8 ? 2 : c->ranks / 8;
    if (c->workload == RS_GEN_MIX) c->steps = 5 * STEPS; /* its step is one of each workload */
    *noise = (unsigned)(c->seed / RS_GEN_WORKLOADS % NOISES);
    add_noise(c, *noise, random >> 32);
}

/* ---- reports ---- */

struct seen {
    bool right, others; /* the rank was named; anyone else was */
    char *said;
};

/* `late`: the rank that is late, and how; -1: none. */
static struct seen report_of(struct rs_gen_config *c, int late, enum rs_finding_kind kind)
{
    struct rs_err err;
    struct rs_model m;
    struct rs_report r;
    struct seen seen = {0};
    struct rs_filter all = {0};
    rs_make_and_read(&m, c);
    if (rs_report_init(&r, &m, &(struct rs_report_options){.filter = &all, .network = true, .warmup = RS_NONE}, &err) !=
        RS_OK)
        rs_rates_die(&err);
    for (uint32_t i = 0; i < r.findings.n; i++) {
        const struct rs_finding *f = &r.findings.rows[i];
        if (!f->named) continue;
        bool right = f->scope == RS_SCOPE_RANK && f->kind == kind && m.ranks[f->rank_id].number == late;
        seen.right |= right;
        seen.others |= !right;
    }
    seen.said = r.nconclusion ? strdup(r.conclusion[0]) : strdup("");
    rs_report_free(&r);
    rs_model_free(&m);
    return seen;
}

static struct seen report(struct rs_gen_config *c, int late)
{
    return report_of(c, late, RS_PERSISTENT);
}

/* ---- counting ---- */

static void print_wrong(const struct rs_gen_config *c, const char *noise, const struct seen *s)
{
    printf("  seed %" PRIu64 " %s, %d ranks, %s: %s\n", c->seed, rs_gen_workload_names[c->workload], c->ranks, noise,
           s->said);
    fflush(stdout);
}

static void begin(struct rs_gen_config *c, const char *dir, uint64_t seed)
{
    rs_gen_config_default(c);
    c->dir = dir;
    c->seed = seed;
    c->steps = STEPS;
}

static void clean(const char *dir, uint64_t from, uint64_t n, const char *only)
{
    struct rs_rate all = {0}, by_workload[RS_GEN_WORKLOADS] = {{0}}, by_noise[NOISES] = {{0}};
    for (uint64_t i = from; i < from + n; i++) {
        struct rs_gen_config c;
        unsigned noise;
        begin(&c, dir, i);
        make_clean(&c, &noise);
        if (only && strcmp(only, rs_gen_workload_names[c.workload]) && strcmp(only, noises[noise])) continue;
        struct seen s = report(&c, -1);
        if (s.others) print_wrong(&c, noises[noise], &s);
        rs_rate_add(&all, s.others);
        rs_rate_add(&by_workload[c.workload], s.others);
        rs_rate_add(&by_noise[noise], s.others);
        free(s.said);
    }
    for (int i = 0; i < RS_GEN_WORKLOADS; i++) rs_rate_print(rs_gen_workload_names[i], &by_workload[i]);
    for (int i = 0; i < NOISES; i++) rs_rate_print(noises[i], &by_noise[i]);
    rs_rate_print("clean: named", &all);
}

static void late(const char *dir, uint64_t from, uint64_t n, const char *only)
{
    static const enum rs_gen_workload workloads[] = {RS_GEN_DDP, RS_GEN_TPDP};
    static const double amounts[] = {100, 300};
    for (int w = 0; w < 2; w++)
        for (int a = 0; a < 2; a++) {
            struct rs_rate missed = {0}, others = {0};
            char name[64];
            if (only && strcmp(only, rs_gen_workload_names[workloads[w]])) continue;
            for (uint64_t i = from; i < from + n; i++) {
                struct rs_gen_config c;
                begin(&c, dir, i);
                c.workload = workloads[w];
                c.nslow = 1;
                c.slow[0] = (struct rs_gen_amount){(int)(rs_mix(7, i) % 8), amounts[a]};
                struct seen s = report(&c, c.slow[0].who);
                if (!s.right || s.others) print_wrong(&c, "default", &s);
                rs_rate_add(&missed, !s.right);
                rs_rate_add(&others, s.others);
                free(s.said);
            }
            snprintf(name, sizeof name, "%s %.0f us: missed", rs_gen_workload_names[workloads[w]], amounts[a]);
            rs_rate_print(name, &missed);
            snprintf(name, sizeof name, "%s %.0f us: others", rs_gen_workload_names[workloads[w]], amounts[a]);
            rs_rate_print(name, &others);
        }
}

/* Late by 2 ms in a part of the steps only. */
static void sometimes(const char *dir, uint64_t from, uint64_t n)
{
    static const enum rs_gen_workload workloads[] = {RS_GEN_DDP, RS_GEN_TPDP};
    struct rs_rate missed = {0}, others = {0};
    for (uint64_t i = from; i < from + n; i++) {
        struct rs_gen_config c;
        begin(&c, dir, i);
        c.workload = workloads[i % 2];
        c.nsporadic = 1;
        c.sporadic[0] = (struct rs_gen_sporadic){(int)(rs_mix(7, i) % 8), 0.3, 2000};
        struct seen s = report_of(&c, c.sporadic[0].rank, RS_SPORADIC);
        if (!s.right || s.others) print_wrong(&c, "default", &s);
        rs_rate_add(&missed, !s.right);
        rs_rate_add(&others, s.others);
        free(s.said);
    }
    rs_rate_print("sometimes 2 ms: missed", &missed);
    rs_rate_print("sometimes 2 ms: others", &others);
}

static void idle(const char *dir, uint64_t from, uint64_t n)
{
    struct rs_rate named = {0};
    for (uint64_t i = from; i < from + n; i++) {
        struct rs_gen_config c;
        begin(&c, dir, i);
        c.workload = RS_GEN_PIPELINE;
        c.nslow = 1;
        c.slow[0] = (struct rs_gen_amount){5, 300};
        struct seen s = report(&c, -1);
        if (s.others) print_wrong(&c, "default", &s);
        rs_rate_add(&named, s.others);
        free(s.said);
    }
    rs_rate_print("pipeline 300 us: named", &named);
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: conclusions DIR clean|late|sometimes|idle FROM COUNT [WORKLOAD|NOISE]\n");
        return 2;
    }
    char dir[4096];
    snprintf(dir, sizeof dir, "%s/run%d", argv[1], (int)getpid());
    uint64_t from = strtoull(argv[3], NULL, 10), n = strtoull(argv[4], NULL, 10);
    if (!strcmp(argv[2], "clean")) clean(dir, from, n, argc > 5 ? argv[5] : NULL);
    if (!strcmp(argv[2], "late")) late(dir, from, n, argc > 5 ? argv[5] : NULL);
    if (!strcmp(argv[2], "sometimes")) sometimes(dir, from, n);
    if (!strcmp(argv[2], "idle")) idle(dir, from, n);
    return 0;
}
