/* Alignment of clocks against jobs whose true times are known: made here, with clocks that are off, drift and wander,
 * ends that scatter, are biased by rank and by who was last, and are sometimes far too late. */
#include "join/clocks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "join/clock_rows.h"
#include "join/samples.h"

enum { MOST_RANKS = 64, SECONDS = 64 };
#define EPOCH INT64_C(1768435200000000000)

/* ---- numbers ---- */

static uint64_t rng;

static uint64_t next(void)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return rng * 0x2545f4914f6cdd1d;
}

static double uniform(double low, double high)
{
    return low + (high - low) * ((double)(next() >> 11) / 9007199254740992.0);
}

static double normal(void)
{
    return sqrt(-2 * log(uniform(1e-12, 1))) * cos(6.283185307179586 * uniform(0, 1));
}

static double exponential(double mean)
{
    return -mean * log(uniform(1e-12, 1));
}

/* ---- a job ---- */

struct clock {
    int64_t at_zero; /* what it shows at true time 0 */
    double gained[SECONDS + 1], rate[SECONDS + 1]; /* by true second */
};

static void clock_make(struct clock *c, int64_t at_zero, double ppm, double wander_ppm)
{
    c->at_zero = at_zero;
    c->gained[0] = 0;
    c->rate[0] = ppm * 1e-6;
    for (int i = 1; i <= SECONDS; i++) {
        c->gained[i] = c->gained[i - 1] + c->rate[i - 1] * 1e9;
        c->rate[i] = c->rate[i - 1] + wander_ppm * 1e-6 * normal();
    }
}

static int64_t shows(const struct clock *c, double t)
{
    int i = t < 0 ? 0 : t >= SECONDS * 1e9 ? SECONDS - 1 : (int)(t / 1e9);
    return c->at_zero + llround(t + c->gained[i] + c->rate[i] * (t - i * 1e9));
}

struct job {
    struct rs_model m;
    int ranks, hosts;
    struct clock host[MOST_RANKS], gpu[MOST_RANKS];
    double bias[MOST_RANKS], late[MOST_RANKS]; /* ns */
    uint32_t member[MOST_RANKS], domain[MOST_RANKS]; /* of the communicator in use */
    uint32_t proc[MOST_RANKS];
    uint16_t all_reduce;
    double t; /* true ns */
    double jitter, tails, by_last;
    bool host_ends; /* no timers: the hosts saw the ends */
};

static int host_of(const struct job *j, int rank)
{
    return rank * j->hosts / j->ranks;
}

static void job_make(struct job *j, int ranks, int hosts, uint64_t seed)
{
    memset(j, 0, sizeof *j);
    rng = seed * 0x9e3779b97f4a7c15 + 1;
    for (int i = 0; i < 8; i++) next();
    j->ranks = ranks;
    j->hosts = hosts;
    j->jitter = 2000;
    j->by_last = 2000;
    j->tails = 0.01;
    for (int h = 0; h < hosts; h++) clock_make(&j->host[h], EPOCH + llround(uniform(-5e8, 5e8)), uniform(-50, 50), 0.1);
    for (int r = 0; r < ranks; r++) {
        char name[16];
        uint8_t uuid[16] = {(uint8_t)(r + 1), 1};
        uint32_t host;
        int h = host_of(j, r);
        clock_make(&j->gpu[r], EPOCH + llround(uniform(-3e9, 3e9)), uniform(-50, 50), 0.1);
        j->bias[r] = uniform(-4000, 4000);
        snprintf(name, sizeof name, "host%d", h);
        rs_model_host(&j->m, name, name, &host);
        rs_model_gpu(&j->m, host, uuid, &j->domain[r]);
        rs_model_proc(&j->m, &j->proc[r]);
        j->m.procs[j->proc[r]].host = host;
        j->m.procs[j->proc[r]].pid = 100 + (uint32_t)r;
        j->m.procs[j->proc[r]].first = j->m.procs[j->proc[r]].begin = shows(&j->host[h], 0);
        j->m.domains[j->domain[r]].bounds = calloc(1, sizeof(struct rs_bounds));
    }
    rs_model_string(&j->m, "AllReduce", &j->all_reduce);
}

/* A communicator of ranks first, first + stride, ... */
static uint32_t job_comm(struct job *j, int first, int n, int stride, uint32_t *members)
{
    uint32_t comm;
    rs_model_comm(&j->m, next(), &comm);
    j->m.comms[comm].nranks = n;
    for (int i = 0; i < n; i++) {
        rs_model_member(&j->m, comm, &members[i]);
        struct rs_member *x = &j->m.members[members[i]];
        x->rank = i;
        x->global_rank = first + i * stride;
        x->proc = j->proc[first + i * stride];
        x->gpu = j->domain[first + i * stride];
    }
    return comm;
}

static uint32_t add_part(struct job *j, uint32_t member, uint32_t op, double launched, double start, double end)
{
    int r = j->m.members[member].global_rank, h = host_of(j, r);
    struct rs_parts *p = &j->m.parts;
    uint32_t i;
    rs_model_part(&j->m, &i);
    rs_model_order(&j->m, i);
    p->member[i] = member;
    p->op[i] = op;
    p->func[i] = j->all_reduce;
    p->enqueued[i] = p->launched[i] = shows(&j->host[h], launched);
    if (j->host_ends) {
        p->start[i] = shows(&j->host[h], start);
        p->end[i] = shows(&j->host[h], end + exponential(10e3));
        p->start_source[i] = p->end_source[i] = RS_FROM_PROXY;
        return i;
    }
    p->start[i] = shows(&j->gpu[r], start);
    p->end[i] = shows(&j->gpu[r], end);
    p->start_source[i] = p->end_source[i] = RS_FROM_KERNEL;
    struct rs_bounds *b = j->m.domains[j->domain[r]].bounds;
    rs_bounds_add_lower(b, p->start[i], p->launched[i]);
    rs_bounds_add_upper(b, p->start[i], shows(&j->host[h], start + 1000 + exponential(8e3)));
    rs_bounds_add_upper(b, p->end[i], shows(&j->host[h], end + 1000 + exponential(8e3)));
    return i;
}

static uint32_t add_op(struct job *j, enum rs_op_kind kind, uint32_t comm, uint32_t nparts)
{
    uint32_t op;
    rs_model_op(&j->m, &op);
    j->m.ops.kind[op] = (uint8_t)kind;
    j->m.ops.comm[op] = comm;
    j->m.ops.func[op] = j->all_reduce;
    j->m.ops.part[op] = j->m.norder;
    j->m.ops.nparts[op] = nparts;
    return op;
}

/* One all-reduce: starts about j->t, takes 40 us and more. j->t moves to its end. */
static void all_reduce(struct job *j, const uint32_t *members, int n)
{
    uint32_t op = add_op(j, RS_OP_COLL, j->m.members[members[0]].comm, (uint32_t)n);
    double start[MOST_RANKS], last = 0;
    int who = 0;
    for (int i = 0; i < n; i++) {
        start[i] = j->t + j->late[j->m.members[members[i]].global_rank] + exponential(30e3);
        if (start[i] > last) {
            last = start[i];
            who = i;
        }
    }
    double done = last + 40e3 + exponential(20e3);
    for (int i = 0; i < n; i++) {
        int r = j->m.members[members[i]].global_rank;
        double end = done + j->bias[r] + j->jitter * normal() + j->by_last * sin(7.0 * r + 13.0 * who);
        if (uniform(0, 1) < j->tails) end += exponential(50e3);
        add_part(j, members[i], op, start[i] - 4e3 - exponential(10e3), start[i], end);
    }
    j->t = done;
}

/* ---- judging ---- */

static double axis_of(struct job *j, uint32_t domain, const struct clock *c, double t)
{
    return (double)(rs_axis_common(&j->m.domains[domain].axis, shows(c, t)) - EPOCH);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Counts the clocks that are off by more than they say, at a true time; all against the median GPU. */
static int wrong_clocks(struct job *j, double t, double *worst_stated)
{
    double at[MOST_RANKS], sorted[MOST_RANKS];
    int wrong = 0;
    for (int r = 0; r < j->ranks; r++) sorted[r] = at[r] = axis_of(j, j->domain[r], &j->gpu[r], t);
    qsort(sorted, (size_t)j->ranks, sizeof *sorted, by_value);
    double middle = (sorted[(j->ranks - 1) / 2] + sorted[j->ranks / 2]) / 2;
    for (int r = 0; r < j->ranks; r++) {
        const struct rs_domain *g = &j->m.domains[j->domain[r]], *h = &j->m.domains[g->host_domain];
        double off = axis_of(j, g->host_domain, &j->host[host_of(j, r)], t) - middle;
        wrong += fabs(at[r] - middle) > (double)g->error_ns || fabs(off) > (double)h->error_ns;
        *worst_stated = fmax(*worst_stated, fmax((double)g->error_ns, (double)h->error_ns));
    }
    return wrong;
}

static void align(struct job *j)
{
    struct rs_err err = {0};
    if (rs_clocks_align(&j->m, true, &err) != RS_OK) fail_msg("%s", err.msg);
    assert_true(j->m.aligned);
}

/* ---- tests ---- */

/* One communicator that spans all, or groups of 8 and groups across them. */
static void play(struct job *j, bool spans, int steps, double pause)
{
    uint32_t world[MOST_RANKS], tp[8][8], dp[8][8];
    if (spans) {
        job_comm(j, 0, j->ranks, 1, world);
    } else {
        for (int i = 0; i < 8; i++) job_comm(j, i * 8, 8, 1, tp[i]);
        for (int i = 0; i < 8; i++) job_comm(j, i, 8, 8, dp[i]);
    }
    for (int s = 0; s < steps; s++) {
        j->t += pause;
        if (spans) {
            all_reduce(j, world, j->ranks);
            continue;
        }
        double t = j->t, end = t;
        for (int way = 0; way < 2; way++, t = end)
            for (int i = 0; i < 8; i++) {
                j->t = t;
                all_reduce(j, way ? dp[i] : tp[i], 8);
                end = fmax(end, j->t);
            }
        j->t = end;
    }
}

static struct job *new_job(int ranks, int hosts, uint64_t seed)
{
    struct job *j = malloc(sizeof *j);
    assert_non_null(j);
    job_make(j, ranks, hosts, seed);
    return j;
}

static void free_job(struct job *j)
{
    rs_model_free(&j->m);
    free(j);
}

static void coverage(bool spans, int seeds, double late, double most)
{
    int wrong = 0, all = 0;
    double worst = 0;
    for (int seed = 1; seed <= seeds; seed++) {
        struct job *j = new_job(64, 8, (uint64_t)seed + (spans ? 1000 : 0));
        j->late[5] = late;
        play(j, spans, 150, 20e6 * seed / seeds);
        align(j);
        for (int k = 1; k < 20; k += 6, all += 64) wrong += wrong_clocks(j, j->t * k / 20, &worst);
        free_job(j);
    }
    print_message("%d of %d pairs off by more than stated; largest stated %.1f us\n", wrong, all, worst / 1e3);
    assert_true(wrong * 100 <= all);
    assert_true(worst <= most);
}

static void test_coverage_world(void **state)
{
    (void)state;
    coverage(true, 25, 0, 50e3);
}

static void test_coverage_groups(void **state)
{
    (void)state;
    coverage(false, 15, 0, 25e3);
}

static void test_coverage_straggler(void **state)
{
    (void)state;
    coverage(true, 10, 2e6, 45e3);
}

/* Rank 5 is always 2 ms late. The middle of what causality allows would move its clock by about 1 ms and hide half of
 * that; the fit does not. */
static void test_straggler_keeps_its_clock(void **state)
{
    (void)state;
    struct job *j = new_job(16, 2, 5);
    j->late[5] = 2e6;
    play(j, true, 400, 5e6);
    align(j);
    const struct rs_domain *d = &j->m.domains[j->domain[5]];
    double off = axis_of(j, j->domain[5], &j->gpu[5], j->t / 2) - axis_of(j, j->domain[6], &j->gpu[6], j->t / 2);
    double middle = (double)(d->hull_low_ns + d->hull_high_ns) / 2;
    assert_true(fabs(off) < (double)d->error_ns);
    assert_true(fabs(off + middle) > 800e3);
    /* On the common axis it starts 2 ms after the others. */
    double sum = 0;
    for (uint32_t k = 0; k < j->m.ops.n; k++) {
        const uint32_t *parts = &j->m.order[j->m.ops.part[k]];
        sum += (double)(j->m.parts.start[parts[5]] - j->m.parts.start[parts[6]]) / j->m.ops.n;
    }
    assert_true(fabs(sum - 2e6) < 0.02 * 2e6);
    free_job(j);
}

/* A tenth of the ends of one rank are garbage, and a whole operation here and there. */
static void test_broken_ends(void **state)
{
    (void)state;
    struct job *j = new_job(8, 2, 6);
    play(j, true, 400, 5e6);
    for (uint32_t k = 0; k < j->m.ops.n; k++) {
        const uint32_t *parts = &j->m.order[j->m.ops.part[k]];
        if (uniform(0, 1) < 0.1) j->m.parts.end[parts[3]] += llround(uniform(-1e9, 1e9));
        if (k % 50 == 7) j->m.parts.end[parts[3]] = k % 100 == 7 ? INT64_MAX : INT64_MIN + 1;
        if (k % 20 == 3)
            for (int i = 0; i < 8; i++) j->m.parts.end[parts[i]] += llround(uniform(0, 1e8));
    }
    align(j);
    double stated = 0;
    assert_int_equal(wrong_clocks(j, j->t / 2, &stated), 0);
    assert_true(stated < 35e3);
    free_job(j);
}

/* Ends that come before other ranks' starts, always: the fit follows them, the hull does not. The stated errors grow until
 * no operation contradicts them. */
static void test_errors_grow_to_the_hull(void **state)
{
    (void)state;
    struct job *j = new_job(4, 2, 7);
    j->bias[2] = -500e3;
    play(j, true, 200, 5e6);
    align(j);
    uint32_t broken = 0;
    for (uint32_t k = 0; k < j->m.ops.n; k++) {
        const uint32_t *parts = &j->m.order[j->m.ops.part[k]];
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++) {
                int64_t allowed = j->m.domains[j->domain[a]].error_ns + j->m.domains[j->domain[b]].error_ns;
                broken += j->m.parts.end[parts[a]] + allowed < j->m.parts.start[parts[b]];
            }
    }
    assert_true(broken <= 2); /* of 200, one is not believed */
    assert_true(j->m.domains[j->domain[2]].error_ns > 150000);
    free_job(j);
    j = new_job(4, 2, 7);
    play(j, true, 200, 5e6);
    align(j);
    for (int r = 0; r < 4; r++) {
        assert_true(j->m.domains[j->domain[r]].error_ns < 40000);
        assert_true(j->m.domains[j->domain[r]].hull_low_ns <= 0);
        assert_true(j->m.domains[j->domain[r]].hull_high_ns >= 0);
    }
    free_job(j);
}

static uint32_t island_of(const struct job *j, int rank)
{
    return j->m.domains[j->domain[rank]].island;
}

/* Ranks 0 to 3 and 4 to 7 never meet, and rank 8 is alone. */
static void test_islands(void **state)
{
    (void)state;
    struct job *j = new_job(9, 9, 8);
    uint32_t one[5], two[4];
    job_comm(j, 0, 5, 1, one);
    job_comm(j, 5, 3, 1, two);
    for (int s = 0; s < 200; s++) {
        j->t += 5e6;
        all_reduce(j, one, 5);
        all_reduce(j, two, 3);
    }
    align(j);
    for (int r = 1; r < 5; r++) assert_int_equal(island_of(j, r), island_of(j, 0));
    for (int r = 6; r < 8; r++) assert_int_equal(island_of(j, r), island_of(j, 5));
    assert_int_not_equal(island_of(j, 0), island_of(j, 5));
    assert_int_not_equal(island_of(j, 8), island_of(j, 0));
    assert_int_not_equal(island_of(j, 8), island_of(j, 5));
    const struct rs_domain *alone = &j->m.domains[j->m.domains[j->domain[8]].host_domain];
    assert_int_equal(alone->method, RS_CLOCK_WALL);
    assert_true(alone->error_ns == RS_TIME_NONE);
    /* Wall time: of a host in it. */
    assert_true(fabs(axis_of(j, j->domain[5], &j->gpu[5], 1e9) - (double)(shows(&j->host[5], 1e9) - EPOCH)) < 100e3);
    int walls = 0;
    for (uint32_t i = 0; i < j->m.nnotes; i++) walls += strstr(j->m.notes[i].text, "clocks: ") != NULL;
    assert_int_equal(walls, 1); /* rank 8 did nothing: nothing to say of its host or its GPU */
    for (uint32_t i = 0; i < j->m.nnotes; i++) assert_null(strstr(j->m.notes[i].text, "no wall time"));
    assert_int_equal(j->m.domains[j->domain[8]].method, RS_CLOCK_NONE);
    free_job(j);
}

/* The ends of some ranks of all-reduce `op` are not known. */
static void lose_ends(struct job *j, uint32_t op, uint32_t first, uint32_t n)
{
    for (uint32_t i = first; i < first + n; i++) {
        uint32_t part = j->m.order[j->m.ops.part[op] + i];
        j->m.parts.end[part] = RS_TIME_NONE;
        j->m.parts.end_source[part] = RS_FROM_NOTHING;
    }
}

/* Ranks 0 and 1 are never seen to end what 2 and 3 end: one communicator, and nothing relates their clocks. */
static void test_nothing_in_common(void **state)
{
    (void)state;
    struct job *j = new_job(4, 4, 8);
    uint32_t all[4];
    job_comm(j, 0, 4, 1, all);
    for (uint32_t s = 0; s < 200; s++) {
        j->t += 5e6;
        all_reduce(j, all, 4);
        lose_ends(j, s, s % 2 ? 0 : 2, 2);
    }
    align(j);
    assert_int_equal(island_of(j, 1), island_of(j, 0));
    assert_int_not_equal(island_of(j, 2), island_of(j, 0));
    assert_int_not_equal(island_of(j, 3), island_of(j, 0));
    /* Each two of them are compared, as exactly as is said. */
    for (int r = 0; r < 4; r += 2) {
        const struct rs_domain *a = &j->m.domains[j->domain[r]], *b = &j->m.domains[j->domain[r + 1]];
        assert_int_equal(b->island, a->island);
        assert_true(a->fitted > 50 && b->fitted > 50);
        for (double t = 1e8; t < 9e8; t += 1e8) {
            double apart = axis_of(j, j->domain[r], &j->gpu[r], t) - axis_of(j, j->domain[r + 1], &j->gpu[r + 1], t);
            assert_true(fabs(apart) < (double)(a->error_ns + b->error_ns));
        }
    }
    free_job(j);
}

/* An end that is not known relates no clocks: all-reduces with one known end of two are no moments. */
static void test_moments(void **state)
{
    (void)state;
    struct job *j = new_job(2, 2, 8);
    uint32_t both[2];
    job_comm(j, 0, 2, 1, both);
    for (uint32_t s = 0; s < 60; s++) {
        j->t += 5e6;
        all_reduce(j, both, 2);
        if (s % 3 == 2) lose_ends(j, s, 1, 1);
    }
    int64_t *bases, *lasts;
    struct rs_samples samples = {0};
    rs_samples_spans(&j->m, &bases, &lasts);
    rs_samples_collectives(&samples, &j->m, bases);
    assert_true(samples.nmoments > 10 && samples.nmoments <= 40);
    for (uint32_t i = 0; i < samples.nmoments; i++) {
        assert_int_equal(samples.moments[i].n, 2);
        assert_int_not_equal(samples.moments[i].op % 3, 2);
    }
    rs_samples_free(&samples);
    free(bases);
    free(lasts);
    free_job(j);
}

/* Two groups on hosts of their own, tied by sends from one to the other, and back where `both`. */
static void pipeline(bool both)
{
    struct job *j = new_job(8, 2, 9);
    uint32_t a[4], b[4], across[8];
    job_comm(j, 0, 4, 1, a);
    job_comm(j, 4, 4, 1, b);
    uint32_t comm = job_comm(j, 0, 8, 1, across);
    for (int s = 0; s < 300; s++) {
        j->t += 5e6;
        double t = j->t;
        all_reduce(j, a, 4);
        j->t = t;
        all_reduce(j, b, 4);
        for (int i = 0; i < 4; i++) {
            int src = both && s % 2 ? 4 + i : i, dst = src ^ 4;
            double end = j->t + 50e3 + exponential(10e3);
            uint32_t op = add_op(j, RS_OP_PAIR, comm, 2);
            uint32_t send = add_part(j, across[src], op, j->t - 9e3, j->t, end + j->bias[src] + 2000 * normal());
            uint32_t recv = add_part(j, across[dst], op, j->t - 9e3, j->t, end + 5e3 + j->bias[dst] + 2000 * normal());
            j->m.parts.kind[send] = RS_PART_SEND;
            j->m.parts.kind[recv] = RS_PART_RECV;
        }
    }
    align(j);
    double stated = 0;
    assert_int_equal(wrong_clocks(j, j->t / 2, &stated), 0);
    assert_true(stated < 80e3);
    assert_int_equal(island_of(j, 0), island_of(j, 7));
    int by_pairs = 0;
    for (int r = 0; r < 8; r++) by_pairs += j->m.domains[j->domain[r]].method == RS_CLOCK_PAIRS;
    assert_int_equal(by_pairs, 4);
    free_job(j);
}

static void test_pairs(void **state)
{
    (void)state;
    pipeline(true);
    pipeline(false);
}

/* Two communicators of two GPUs on one host: tied through the host's clock. */
static void test_one_host(void **state)
{
    (void)state;
    struct job *j = new_job(4, 1, 10);
    uint32_t a[2], b[2];
    job_comm(j, 0, 2, 1, a);
    job_comm(j, 2, 2, 1, b);
    for (int s = 0; s < 300; s++) {
        j->t += 5e6;
        all_reduce(j, a, 2);
        all_reduce(j, b, 2);
    }
    align(j);
    double stated = 0;
    assert_int_equal(wrong_clocks(j, j->t / 2, &stated), 0);
    assert_true(stated < 35e3);
    for (int r = 1; r < 4; r++) assert_int_equal(island_of(j, r), island_of(j, 0));
    free_job(j);
}

/* No timers at all: hosts' clocks by what their proxies saw. */
static void test_host_ends(void **state)
{
    (void)state;
    struct job *j = new_job(8, 4, 11);
    j->host_ends = true;
    play(j, true, 400, 5e6);
    align(j);
    for (int r = 2; r < 8; r += 2) {
        uint32_t d = j->m.domains[j->domain[r]].host_domain, d0 = j->m.domains[j->domain[0]].host_domain;
        double off = axis_of(j, d, &j->host[r / 2], j->t / 2) - axis_of(j, d0, &j->host[0], j->t / 2);
        assert_int_equal(j->m.domains[d].method, RS_CLOCK_ENDS);
        assert_true(fabs(off) < (double)(j->m.domains[d].error_ns + j->m.domains[d0].error_ns));
        assert_true(j->m.domains[d].error_ns < 30000);
    }
    free_job(j);
}

/* Timers of an operation that ran before: they lie before the launch. Kernels of graphs do so rightly. */
static void test_stale(void **state)
{
    (void)state;
    struct job *j = new_job(4, 2, 12);
    play(j, true, 200, 5e6);
    uint32_t stale = j->m.order[j->m.ops.part[100] + 1], graph = j->m.order[j->m.ops.part[100] + 2];
    j->m.parts.start[stale] -= 5000000;
    j->m.parts.end[stale] -= 5000000;
    j->m.parts.launched[graph] += 5000000;
    j->m.parts.captured[graph] = 1;
    j->m.parts.flags[graph] |= RS_PART_CAPTURED;
    uint32_t old = j->m.order[j->m.ops.part[101] + 1]; /* v4: no launch is told, and the operation after it began */
    j->m.parts.enqueued[old] = j->m.parts.launched[old] + 5000000;
    j->m.parts.launched[old] = RS_TIME_NONE;
    j->m.parts.group[old] = j->m.parts.launch[old];
    align(j);
    assert_false(j->m.parts.flags[old] & RS_PART_STALE);
    assert_true(j->m.parts.flags[stale] & RS_PART_STALE);
    assert_true(j->m.parts.start[stale] == RS_TIME_NONE && j->m.parts.end[stale] == RS_TIME_NONE);
    assert_int_equal(j->m.parts.end_source[stale], RS_FROM_NOTHING);
    assert_false(j->m.parts.flags[graph] & RS_PART_STALE);
    assert_true(j->m.parts.start[graph] != RS_TIME_NONE);
    uint64_t all = 0;
    for (int r = 0; r < 4; r++) all += j->m.domains[j->domain[r]].stale;
    assert_int_equal(all, 1);
    free_job(j);
}

/* Kernels start in the order of their launches: one with a time from before the launch that came before it has the time of
 * older work, aligned or not. */
static void test_overtaken(void **state)
{
    (void)state;
    for (int aligned = 0; aligned < 2; aligned++) {
        struct job *j = new_job(4, 2, 16);
        play(j, true, 200, 5e6);
        struct rs_parts *p = &j->m.parts;
        for (uint32_t i = 0; i < p->n; i++) p->launch[i] = p->group[i] = i / 4 + 1;
        const uint32_t *order = j->m.order, *first = j->m.ops.part;
        uint32_t older = order[first[99] + 1], overtaken = order[first[101] + 1];
        p->start[overtaken] = p->start[older];
        p->end[overtaken] = p->end[older];
        p->launched[overtaken] = RS_TIME_NONE; /* by that it could be told as well */
        assert_int_equal(rs_clocks_align(&j->m, aligned, NULL), RS_OK);
        for (uint32_t i = 0; i < p->n; i++) {
            assert_int_equal((p->flags[i] & RS_PART_STALE) != 0, i == overtaken);
            assert_int_equal(p->start[i] == RS_TIME_NONE, i == overtaken);
        }
        assert_int_equal(j->m.domains[j->domain[1]].stale, 1);
        free_job(j);
    }
}

/* Rank 3 tells the ends of one function too late: whichever function its clock follows, its error covers the other. */
static void test_function_off(void **state)
{
    (void)state;
    enum { LATE = 30000 };
    for (int share = 3; share < 7; share++) { /* tenths of all operations */
        struct job *j = new_job(8, 2, 17);
        uint16_t other;
        rs_model_string(&j->m, "AllGather", &other);
        play(j, true, 1000, 5e6);
        for (uint32_t k = 0; k < j->m.ops.n; k++) {
            if ((int)(k * 7 % 10) >= share) continue;
            uint32_t *parts = &j->m.order[j->m.ops.part[k]];
            j->m.ops.func[k] = other;
            for (int r = 0; r < 8; r++) j->m.parts.func[parts[r]] = other;
            j->m.parts.end[parts[3]] += LATE;
        }
        align(j);
        double stated = 0;
        assert_int_equal(wrong_clocks(j, j->t / 2, &stated), 0);
        assert_true((double)j->m.domains[j->domain[3]].error_ns > 0.85 * LATE);
        for (int r = 0; r < 8; r++) assert_true(r == 3 || (double)j->m.domains[j->domain[r]].error_ns < 0.85 * LATE);
        free_job(j);
    }
}

/* Every time of the model is moved by the clock it came from; what is not known stays so. */
static void test_all_times_move(void **state)
{
    (void)state;
    struct job *j = new_job(4, 2, 13);
    play(j, true, 200, 5e6);
    struct rs_model *m = &j->m;
    struct rs_proc *p = &m->procs[j->proc[3]];
    double t = j->t / 2;
    int64_t host = shows(&j->host[1], t);
    p->covers = calloc(1, sizeof *p->covers);
    p->gaps = calloc(1, sizeof *p->gaps);
    p->ncovers = p->ngaps = 1;
    p->covers[0].from = p->covers[0].to = p->gaps[0].from = p->gaps[0].to = p->begin = p->end = p->first = p->last =
        host;
    m->members[3].created = host; /* of rank 3: members are in order */
    struct rs_open open = {.proc = j->proc[3], .since = host};
    struct rs_net net = {.member = 3, .from = host, .to = host};
    rs_model_open(m, &open);
    rs_model_net(m, &net);
    uint32_t after = m->order[m->ops.part[100] + 3];
    m->parts.after[after] = shows(&j->gpu[3], t);
    m->parts.after_source[after] = RS_FROM_KERNEL;
    m->parts.enqueued[after] = host;
    m->parts.launched[after] = RS_TIME_NONE;
    align(j);
    double want = axis_of(j, m->domains[j->domain[3]].host_domain, &j->host[1], t);
    const int64_t moved[] = {p->covers[0].from,
                             p->covers[0].to,
                             p->gaps[0].from,
                             p->gaps[0].to,
                             p->begin,
                             p->end,
                             p->first,
                             p->last,
                             m->opens[0].since,
                             m->nets[0].from,
                             m->nets[0].to,
                             m->members[3].created,
                             m->parts.enqueued[after]};
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) assert_true(fabs((double)(moved[i] - EPOCH) - want) < 2);
    assert_true(fabs((double)(m->parts.after[after] - EPOCH) - axis_of(j, j->domain[3], &j->gpu[3], t)) < 2);
    assert_true(m->parts.launched[after] == RS_TIME_NONE);
    assert_true(m->members[3].destroyed == RS_TIME_NONE);
    assert_true(p->overwritten_until == RS_TIME_NONE);
    free_job(j);
}

static void test_not_aligned(void **state)
{
    (void)state;
    struct job *j = new_job(4, 2, 14);
    play(j, true, 50, 5e6);
    int64_t start = j->m.parts.start[7], end = j->m.parts.end[7], launched = j->m.parts.launched[7];
    assert_int_equal(rs_clocks_align(&j->m, false, NULL), RS_OK);
    assert_false(j->m.aligned);
    assert_true(j->m.parts.start[7] == start && j->m.parts.end[7] == end && j->m.parts.launched[7] == launched);
    for (uint32_t i = 0; i < j->m.ndomains; i++) {
        assert_int_equal(j->m.domains[i].method, RS_CLOCK_NONE);
        assert_int_equal(j->m.domains[i].island, i);
        assert_true(j->m.domains[i].error_ns == RS_TIME_NONE);
    }
    struct rs_late late;
    rs_clocks_late(&j->m, j->domain[0], &late);
    assert_true(late.p50_ns > 2000 && late.p50_ns < 15000);
    free_job(j);
}

/* Timers are read 1 us late, and 8 us more on average. */
static void test_late(void **state)
{
    (void)state;
    struct job *j = new_job(8, 2, 15);
    play(j, true, 400, 5e6);
    align(j);
    struct rs_late late;
    rs_clocks_late(&j->m, j->domain[2], &late);
    assert_true(fabs((double)late.p50_ns - 6545) < 6000);
    assert_true(fabs((double)late.p99_ns - 37841) < 12000);
    free_job(j);
}

static void test_empty(void **state)
{
    (void)state;
    struct rs_model m = {0};
    assert_int_equal(rs_clocks_align(&m, true, NULL), RS_OK);
    assert_true(m.aligned);
    rs_model_free(&m);
}

/* Islands are numbered from the reference's, wherever its clock is in the list; only its clocks have an error. */
static void test_island_numbers(void **state)
{
    (void)state;
    static const struct rs_filter everything;
    struct rs_model m = {0};
    uint32_t alone, host, clocks[3];
    rs_model_host(&m, "alone", "alone", &alone);
    rs_model_host(&m, "host", "host", &host);
    clocks[0] = m.hosts[alone].domain;
    clocks[1] = m.hosts[host].domain;
    rs_model_gpu(&m, host, (uint8_t[16]){1}, &clocks[2]);
    static const uint8_t methods[] = {RS_CLOCK_WALL, RS_CLOCK_REFERENCE, RS_CLOCK_BOUNDS};
    for (uint32_t i = 0; i < 3; i++) {
        m.domains[clocks[i]].method = methods[i];
        m.domains[clocks[i]].island = clocks[i ? 1 : 0];
        m.domains[clocks[i]].error_ns = 10 * i;
    }
    m.aligned = true;
    struct rs_clock_rows rows;
    rs_clock_rows_init(&rows, &m, &everything);
    assert_int_equal(rows.nislands, 2);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(rows.islands[clocks[i]], i ? 0 : 1);
        assert_int_equal(rs_clock_error(&m, &rows, clocks[i]), i ? 10 * i : RS_TIME_NONE);
    }
    rs_clock_rows_free(&rows);
    rs_model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coverage_world),
        cmocka_unit_test(test_coverage_groups),
        cmocka_unit_test(test_coverage_straggler),
        cmocka_unit_test(test_straggler_keeps_its_clock),
        cmocka_unit_test(test_broken_ends),
        cmocka_unit_test(test_errors_grow_to_the_hull),
        cmocka_unit_test(test_islands),
        cmocka_unit_test(test_nothing_in_common),
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_one_host),
        cmocka_unit_test(test_host_ends),
        cmocka_unit_test(test_stale),
        cmocka_unit_test(test_overtaken),
        cmocka_unit_test(test_function_off),
        cmocka_unit_test(test_all_times_move),
        cmocka_unit_test(test_not_aligned),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_island_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
