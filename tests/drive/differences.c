/* How often `ringscope diff` is right about generated runs: differences DIR FROM COUNT NOISE [WORKLOAD]
 *
 * Three runs on each side that differ from launch to launch by NOISE (0.01: compute and transfers each by 1 %, one sigma), of
 * each workload: the same job on both sides; and on side B a link at half speed, a GPU that is 15 % slower, a program that
 * launches 2 ms late. A gate of 5 % must let the first pass, and stop the others with the right cause and the right rank.
 * Comparison i uses six seeds of its own, derived from FROM + i. Prints, for each workload and case, how often it was wrong. */
#include <string.h>
#include <unistd.h>

#include "base/mix.h"
#include "compare/comparison.h"
#include "rates.h"

enum { STEPS = 30, RUNS = 3 };
#define BOUND 0.05

enum fault { NONE, LINK, GPU, LAUNCH, FAULTS };
static const char *const fault_names[FAULTS] = {"same", "link", "gpu", "launch"};

static const struct {
    const char *name;
    enum rs_gen_workload workload;
    bool overlap;
    int link[2]; /* that its operations use */
    bool launches; /* are known: not in a CUDA graph */
} workloads[] = {{"ddp", RS_GEN_DDP, false, {3, 4}, true},
                 {"ddp-overlap", RS_GEN_DDP, true, {3, 4}, true},
                 {"tpdp", RS_GEN_TPDP, false, {1, 5}, true},
                 {"alltoall", RS_GEN_ALLTOALL, false, {3, 4}, true},
                 {"graph", RS_GEN_GRAPH, false, {3, 4}, false}};
enum { WORKLOADS = sizeof workloads / sizeof *workloads };

/* A run with the fault, at a rank. */
static void make(struct rs_run_figures *f, const char *dir, int workload, double noise, uint64_t seed, enum fault fault,
                 int rank)
{
    struct rs_gen_config c;
    struct rs_model m;
    struct rs_err err;
    struct rs_filter all = {0};
    struct rs_profile_options options = {.filter = &all, .warmup = 1, .warmup_steps = RS_NONE};
    rs_gen_config_default(&c);
    c.dir = dir;
    c.seed = seed;
    c.steps = STEPS;
    c.workload = workloads[workload].workload;
    c.overlap = workloads[workload].overlap;
    c.run_noise = noise;
    c.rank_noise = noise / 4;
    if (fault == LINK)
        c.slow_link[c.nslow_link++] = (struct rs_gen_link){workloads[workload].link[0], workloads[workload].link[1], 2};
    if (fault == GPU) c.slow_factor[c.nslow_factor++] = (struct rs_gen_amount){rank, 1.15};
    if (fault == LAUNCH) c.slow_cpu[c.nslow_cpu++] = (struct rs_gen_amount){rank, 2000};
    rs_make_and_read(&m, &c);
    if (rs_run_figures_init(f, dir, &m, &options, &err) != RS_OK) rs_rates_die(&err);
    rs_model_free(&m);
}

/* The cause that comes first, and only the rank that has the fault. */
static bool is_right(const struct rs_comparison *c, int workload, enum fault fault, int rank)
{
    static const enum rs_cause_kind kinds[FAULTS] = {
        [LINK] = RS_CAUSE_TRANSFER, [GPU] = RS_CAUSE_GPU, [LAUNCH] = RS_CAUSE_LAUNCH};
    const struct rs_step_cause *x = c->causes;
    if (!c->ncauses || x->kind != (fault == LINK || workloads[workload].launches ? kinds[fault] : RS_CAUSE_RANK))
        return false;
    return fault == LINK || (!x->all && x->nranks == 1 && x->ranks[0] == rank);
}

static void compare(const char *dir, int workload, double noise, uint64_t seed, struct rs_rate rates[FAULTS][2])
{
    struct rs_run_figures a[RUNS], b[RUNS];
    uint64_t random = rs_mix(0x64696666, seed) >> 8;
    for (int i = 0; i < RUNS; i++) make(&a[i], dir, workload, noise, random + (uint64_t)i, NONE, 0);
    for (int fault = 0; fault < FAULTS; fault++) {
        struct rs_comparison c;
        int rank = (int)(rs_mix(random, (uint64_t)fault) % 8);
        for (int i = 0; i < RUNS; i++)
            make(&b[i], dir, workload, noise, random + RUNS + (uint64_t)i, (enum fault)fault, rank);
        rs_comparison_init(&c, (struct rs_side){a, RUNS}, (struct rs_side){b, RUNS});
        bool stops = rs_comparison_regressed(&c, BOUND),
             right = stops && is_right(&c, workload, (enum fault)fault, rank);
        bool wrong = fault == NONE ? stops : !right;
        rs_rate_add(&rates[fault][0], fault == NONE ? stops : !stops);
        if (fault != NONE) rs_rate_add(&rates[fault][1], !right);
        if (wrong) {
            printf("  %s, %s, seed %" PRIu64 ", rank %d:", workloads[workload].name, fault_names[fault], seed, rank);
            for (uint32_t i = 0; i < c.nconclusion; i++) printf(" %s", c.conclusion[i]);
            printf("\n");
            fflush(stdout);
        }
        rs_comparison_free(&c);
        for (int i = 0; i < RUNS; i++) rs_run_figures_free(&b[i]);
    }
    for (int i = 0; i < RUNS; i++) rs_run_figures_free(&a[i]);
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: differences DIR FROM COUNT NOISE [WORKLOAD]\n");
        return 2;
    }
    char dir[4096];
    snprintf(dir, sizeof dir, "%s/run%d", argv[1], (int)getpid());
    uint64_t from = strtoull(argv[2], NULL, 10), n = strtoull(argv[3], NULL, 10);
    for (int w = 0; w < WORKLOADS; w++) {
        struct rs_rate rates[FAULTS][2] = {{{0}}};
        char name[64];
        if (argc > 5 && strcmp(argv[5], workloads[w].name) != 0) continue;
        for (uint64_t i = from; i < from + n; i++) compare(dir, w, atof(argv[4]), i, rates);
        for (int fault = 0; fault < FAULTS; fault++) {
            snprintf(name, sizeof name, "%s %s: %s", workloads[w].name, fault_names[fault],
                     fault ? "missed" : "stopped");
            rs_rate_print(name, &rates[fault][0]);
            snprintf(name, sizeof name, "%s %s: wrong cause", workloads[w].name, fault_names[fault]);
            rs_rate_print(name, &rates[fault][1]);
        }
    }
    return 0;
}
