/* Many generated hangs as Flight Recorder dumps: how often the culprits are named, and how often somebody innocent is.
 *
 * A job of TP x PP x DP ranks is played call by call until nothing moves: a collective ends when all its ranks have
 * called it and their earlier calls have ended, a send with its receive. A rank may run ahead of its GPU by some calls.
 * Faults are put into it; what each rank has called and seen to complete becomes its dump, in the forms that real dumps
 * have: all entries, the last entries of a ring, pending entries only, with and without a summary, some files missing,
 * names of other backends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/hang.h"
#include "base/strbuf.h"
#include "foreign/flight/model.h"
#include "join/join.h"

enum { MOST_RANKS = 16, MOST_CALLS = 400, STEPS = 3, GROUPS = 4 };
enum { WORLD, TP, PP, DP };
enum func { ALLREDUCE, REDUCESCATTER, ALLGATHER, BROADCAST, SEND, RECV };
enum fault { NOTHING, SLEEP, KILL, SIZE, TYPE, ORDER, GPU, FAULTS };
enum form { WHOLE, RING, ACTIVE, NO_STATUS, FORMS };

struct call {
    uint8_t group, func;
    int peer; /* of a send or receive: rank in the group */
    int count;
    int seq; /* in the group, from 1: of collectives, of sends and receives */
    int index; /* of a pair: how many before it in this direction */
    bool ended, seen;
};

struct rank {
    struct call calls[MOST_CALLS];
    int n, called;
    int stop; /* calls nothing from this call on; -1: never */
    int blind; /* its watchdog sees no completion from this call on; -1: never */
};

struct job {
    uint64_t random;
    int tp, pp, dp, n, ahead;
    bool eager; /* sends end without their receives */
    struct rank ranks[MOST_RANKS];
};

static int pick(struct job *j, int n)
{
    j->random = j->random * 6364136223846793005u + 1442695040888963407u;
    return (int)((j->random >> 33) % (uint64_t)n);
}

/* ---- groups ---- */

static int place(const struct job *j, int r, int group)
{
    return group == WORLD ? r : group == TP ? r % j->tp : group == PP ? r / j->tp % j->pp : r / (j->tp * j->pp);
}

static int size_of(const struct job *j, int group)
{
    return group == WORLD ? j->n : group == TP ? j->tp : group == PP ? j->pp : j->dp;
}

/* The rank of the job that has a place in the group of r. */
static int member(const struct job *j, int r, int group, int at)
{
    int t = place(j, r, TP), p = place(j, r, PP), d = place(j, r, DP);
    if (group == WORLD) return at;
    if (group == TP) t = at;
    if (group == PP) p = at;
    if (group == DP) d = at;
    return (d * j->pp + p) * j->tp + t;
}

/* ---- the program ---- */

static void add(const struct job *j, struct rank *x, int group, int func, int peer, int count)
{
    if (size_of(j, group) == 1) return;
    struct call *c = &x->calls[x->n++];
    *c = (struct call){.group = (uint8_t)group, .func = (uint8_t)func, .peer = peer, .count = count};
}

/* Numbers are given when faults have changed the program. */
static void number(struct rank *x)
{
    int seq[GROUPS] = {0}, p2p[GROUPS] = {0}, index[2][MOST_RANKS] = {{0}};
    for (int i = 0; i < x->n; i++) {
        struct call *c = &x->calls[i];
        bool pair = c->func >= SEND;
        c->seq = pair ? ++p2p[c->group] : ++seq[c->group];
        if (pair) c->index = index[c->func == SEND][c->peer]++;
    }
}

static void program(struct job *j, int r)
{
    struct rank *x = &j->ranks[r];
    int p = place(j, r, PP);
    *x = (struct rank){.stop = -1, .blind = -1};
    for (int s = 0; s < STEPS; s++) {
        for (int mb = 0; mb < 2; mb++) {
            if (p > 0) add(j, x, PP, RECV, p - 1, 512);
            add(j, x, TP, ALLREDUCE, -1, 1024);
            if (p < j->pp - 1) add(j, x, PP, SEND, p + 1, 512);
        }
        for (int mb = 0; mb < 2; mb++) {
            if (p < j->pp - 1) add(j, x, PP, RECV, p + 1, 512);
            add(j, x, TP, ALLREDUCE, -1, 2048);
            if (p > 0) add(j, x, PP, SEND, p - 1, 512);
        }
        add(j, x, DP, ALLREDUCE, -1, 65536);
        add(j, x, DP, ALLREDUCE, -1, 4096);
        add(j, x, WORLD, REDUCESCATTER, -1, 64);
        add(j, x, WORLD, ALLGATHER, -1, 64);
    }
}

/* ---- playing ---- */

/* The call of a rank that meets one of r; NULL: not called. */
static struct call *meets(struct job *j, int r, const struct call *c, int other)
{
    struct rank *x = &j->ranks[other];
    for (int i = 0; i < x->called; i++) {
        struct call *d = &x->calls[i];
        if (d->group != c->group || (c->func >= SEND) != (d->func >= SEND)) continue;
        if (c->func < SEND && d->seq == c->seq) return d;
        if (c->func >= SEND && d->func != c->func && d->index == c->index && d->peer == place(j, r, c->group)) return d;
    }
    return NULL;
}

static bool is_first(const struct rank *x, const struct call *c)
{
    for (const struct call *d = x->calls; d < c; d++)
        if (!d->ended && !(d->func == SEND)) return false; /* sends are left to themselves */
    return true;
}

static bool may_end(struct job *j, int r, const struct call *c)
{
    if (c->ended || !is_first(&j->ranks[r], c)) return false;
    if (c->func == SEND && j->eager) return true;
    int n = c->func >= SEND ? 1 : size_of(j, c->group);
    for (int i = 0; i < n; i++) {
        int other = member(j, r, c->group, c->func >= SEND ? c->peer : i);
        const struct call *d = meets(j, r, c, other);
        if (!d || (!d->ended && !is_first(&j->ranks[other], d))) return false;
        if (c->func < SEND && (d->func != c->func || d->count != c->count)) return false;
    }
    return true;
}

static void play(struct job *j)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (int r = 0; r < j->n; r++) {
            struct rank *x = &j->ranks[r];
            int open = 0;
            for (int i = 0; i < x->called; i++) {
                if (may_end(j, r, &x->calls[i])) x->calls[i].ended = moved = true;
                x->calls[i].seen = x->calls[i].ended && (x->blind < 0 || i < x->blind);
                open += !x->calls[i].ended && x->calls[i].func != SEND;
            }
            if (x->called == x->n || x->called == x->stop || open >= j->ahead) continue;
            x->called++;
            moved = true;
        }
    }
}

/* ---- faults ---- */

/* A call of the last step, of a group or of any (-1); -1: none. */
static int some_call(struct job *j, const struct rank *x, int group)
{
    for (int tries = 0; tries < 64; tries++) {
        int i = x->n - 1 - pick(j, x->n / STEPS);
        if (group < 0 || x->calls[i].group == group) return i;
    }
    return -1;
}

static bool put_fault(struct job *j, int r, enum fault f)
{
    struct rank *x = &j->ranks[r];
    int at = some_call(j, x, f == SIZE || f == TYPE || f == ORDER ? DP : -1);
    if (at < 0) return false;
    if (f == SLEEP || f == KILL || f == GPU) x->stop = at;
    if (f == GPU) x->blind = at - 4 - pick(j, 4);
    if (f == SIZE) x->calls[at].count *= 16;
    if (f == TYPE) x->calls[at].func = BROADCAST;
    if (f == ORDER) { /* the second group's call comes first */
        int to = at;
        while (x->calls[to].group != WORLD) to++;
        struct call moved = x->calls[to];
        memmove(&x->calls[at + 1], &x->calls[at], (size_t)(to - at) * sizeof moved);
        x->calls[at] = moved;
    }
    number(x);
    return true;
}

/* Whether somebody waits for what a rank has not done, and nothing else may hold that; of calls that differ: all have
 * called. */
static bool is_visible(struct job *j, int r, enum fault f)
{
    for (int i = 0; i < j->ranks[r].called && f == SLEEP; i++)
        if (!j->ranks[r].calls[i].ended) return false;
    for (int other = 0; other < j->n; other++) {
        for (int i = 0; i < j->ranks[other].called && other != r; i++) {
            const struct call *c = &j->ranks[other].calls[i];
            if (c->ended || !is_first(&j->ranks[other], c)) continue;
            bool pair = c->func >= SEND;
            if (pair ? member(j, other, c->group, c->peer) != r
                     : member(j, other, c->group, place(j, r, c->group)) != r)
                continue;
            const struct call *d = meets(j, other, c, r);
            bool idle = j->ranks[r].called == j->ranks[r].stop && !d;
            bool differs = d && (d->func != c->func || d->count != c->count);
            if (f == SLEEP || f == KILL ? idle : f == ORDER ? d && !pair : differs && !pair) return true;
        }
    }
    return false;
}

/* ---- dumps ---- */

static const char *const funcs[] = {"all_reduce", "_reduce_scatter_base", "_all_gather_base", "broadcast", "send",
                                    "recv"};
static const char *const descs[] = {"default_pg", "tp", "pp", "dp"};

static int name_of(const struct job *j, int r, int group)
{
    int least = member(j, r, group, 0);
    return group == WORLD ? 0 : group * MOST_RANKS + least;
}

static void entry(struct rs_strbuf *s, const struct job *j, int r, int i, const char *backend, bool first)
{
    const struct call *c = &j->ranks[r].calls[i];
    char name[64];
    bool pair = c->func >= SEND;
    snprintf(name, sizeof name, "%s:%s", backend, funcs[c->func]);
    if (pair) {
        size_t n = strlen(name);
        snprintf(name + n, sizeof name - n, " %d%s%d", place(j, r, PP), c->func == SEND ? "->" : "<-", c->peer);
    }
    int in = c->count * (c->func == REDUCESCATTER ? j->n : 1), out = c->count * (c->func == ALLGATHER ? j->n : 1);
    rs_strbuf_printf(s,
                     "%s{\"record_id\": %d, \"pg_id\": %d, \"process_group\": [\"%d\", \"%s\"], \"collective_seq_id\": "
                     "%d, \"p2p_seq_id\": %d, \"profiling_name\": \"%s\", \"time_created_ns\": %d, \"input_sizes\": "
                     "[[%d]], \"output_sizes\": [[%d]], \"input_dtypes\": [\"Float\"], \"output_dtypes\": "
                     "[\"Float\"], \"state\": \"%s\", \"retired\": %s, \"is_p2p\": %s, \"frames\": [{\"name\": "
                     "\"step\", \"filename\": \"train.py\", \"line\": %d}]}",
                     first ? "" : ", ", i, c->group, name_of(j, r, c->group), descs[c->group], pair ? 0 : c->seq,
                     pair ? c->seq : 0, name, 1000000 + i * 1000 + r, in, out, c->seen ? "completed" : "scheduled",
                     c->seen ? "true" : "false", pair ? "true" : "false", i);
}

static void dump(struct rs_strbuf *s, const struct job *j, int r, enum form form, const char *backend)
{
    const struct rank *x = &j->ranks[r];
    rs_strbuf_puts(s, "{\"version\": \"2.10\", \"comm_lib_version\": \"2.28.9\", \"pg_config\": {");
    for (int g = 0; g < GROUPS; g++) {
        rs_strbuf_printf(s, "%s\"%d\": {\"name\": \"%d\", \"desc\": \"%s\", \"ranks\": \"[", g ? ", " : "",
                         name_of(j, r, g), name_of(j, r, g), descs[g]);
        for (int i = 0; i < size_of(j, g); i++) rs_strbuf_printf(s, "%s%d", i ? ", " : "", member(j, r, g, i));
        rs_strbuf_puts(s, "]\"}");
    }
    rs_strbuf_puts(s, "}, \"entries\": [");
    bool first = true;
    for (int i = form == RING && x->called > 24 ? x->called - 24 : 0; i < x->called; i++) {
        if (form == ACTIVE && x->calls[i].seen) continue;
        entry(s, j, r, i, backend, first);
        first = false;
    }
    rs_strbuf_puts(s, "]");
    for (int g = 0; g < GROUPS && form != NO_STATUS; g++) {
        int enqueued = -1, completed = -1;
        for (int i = 0; i < x->called; i++) {
            if (x->calls[i].group != g) continue;
            enqueued = x->calls[i].seq;
            if (x->calls[i].seen) completed = x->calls[i].seq;
        }
        rs_strbuf_printf(s,
                         "%s\"%d\": {\"last_enqueued_collective\": %d, \"last_started_collective\": -1, "
                         "\"last_completed_collective\": %d}",
                         g ? ", " : ", \"pg_status\": {", g, enqueued, completed);
    }
    rs_strbuf_puts(s, form != NO_STATUS ? "}}" : "}");
}

/* ---- one job ---- */

struct rates {
    int jobs, found, missed, innocent, suspected;
};

static uint32_t set_of(const struct rs_hang_who *who, uint32_t n)
{
    uint32_t set = 0;
    for (uint32_t i = 0; i < n; i++)
        if (who[i].rank >= 0) set |= 1u << who[i].rank;
    return set;
}

/* `must`: are to be named; `may`: may be. */
static void judge(struct job *j, enum form form, uint32_t missing, uint32_t must, uint32_t may, struct rates *rates,
                  const char *what)
{
    static const char *const backends[] = {"nccl", "nccl2", "ncclx", "gloo", "xccl"};
    const char *backend = backends[pick(j, 5)];
    struct rs_model m = {0};
    struct rs_err err = {0};
    for (int r = 0; r < j->n; r++) {
        if (missing >> r & 1) continue;
        struct rs_strbuf s = {0};
        struct rs_flight f;
        char path[32];
        uint32_t proc;
        snprintf(path, sizeof path, "fr_rank%d.json", r);
        dump(&s, j, r, form, backend);
        assert_int_equal(rs_flight_parse(&f, rs_strbuf_borrow(&s), s.len, path, &err), RS_OK);
        assert_int_equal(f.damage.code, RS_OK);
        assert_int_equal(rs_flight_to_model(&m, &f, path, &proc, &err), RS_OK);
        rs_flight_free(&f);
        rs_strbuf_free(&s);
    }
    rs_model_link(&m);
    assert_int_equal(rs_join(&m, true, &err), RS_OK);
    struct rs_hang h;
    rs_hang_find(&m, &(struct rs_filter){0}, &h);
    uint32_t named = 0, unsure = 0;
    for (uint32_t i = 0; i < h.nfindings; i++) {
        const struct rs_hang_finding *f = &h.findings[i];
        uint32_t set = set_of(f->guilty, f->nguilty) | set_of(f->suspects, f->nsuspects);
        if (f->undecided || f->nsuspects)
            unsure |= set;
        else
            named |= set;
    }
    bool innocent = named & ~(must | may), found = !(must & ~missing & ~(named | unsure));
    if (must && !(must & ~missing)) found = must & unsure || named & may; /* all of them left no dump */
    rates->jobs++;
    rates->innocent += innocent;
    rates->found += found && !innocent;
    rates->missed += !found;
    rates->suspected += (unsure & ~(must | may)) != 0;
    if (innocent || !found)
        print_message("  %s, form %d: must %x may %x missing %x, named %x unsure %x: %s\n", what, form, must, may,
                      missing, named, unsure, rs_verdict_name(h.findings[0].verdict));
    assert_int_not_equal(h.findings[0].verdict, RS_VERDICT_NONE);
    rs_hang_free(&h);
    rs_model_free(&m);
}

static void try_job(uint64_t seed, enum fault a, enum fault b, int missing_files, enum form form, struct rates *rates)
{
    static const int shapes[][3] = {{2, 2, 2}, {2, 1, 4}, {4, 2, 2}, {1, 4, 2}, {2, 4, 2}, {1, 1, 8}, {2, 2, 4}};
    struct job *j = calloc(1, sizeof *j);
    assert_non_null(j);
    j->random = seed * 2654435761u + 1;
    const int *shape = shapes[pick(j, sizeof shapes / sizeof *shapes)];
    j->tp = shape[0], j->pp = shape[1], j->dp = shape[2];
    j->n = j->tp * j->pp * j->dp;
    j->ahead = 1 + pick(j, 3) * 4;
    j->eager = pick(j, 2);
    for (int r = 0; r < j->n; r++) {
        program(j, r);
        number(&j->ranks[r]);
    }
    int one = pick(j, j->n), two = (one + 1 + pick(j, j->n - 1)) % j->n;
    assert_true(put_fault(j, one, a));
    if (b) assert_true(put_fault(j, two, b));
    play(j);
    uint32_t must = 0, may = 1u << one | (b ? 1u << two : 0), missing = 0;
    if (is_visible(j, one, a) && a != GPU && !(a == ORDER && b)) must |= 1u << one;
    if (b && is_visible(j, two, b) && b != GPU) must |= 1u << two;
    if (a == GPU && !b) must |= 1u << one;
    if (a == KILL) missing |= 1u << one;
    if (b == KILL) missing |= 1u << two;
    for (int i = 0; i < missing_files; i++) missing |= 1u << pick(j, j->n);
    /* What differs in a group whose other ranks left nothing cannot be seen. */
    if (missing_files && (a == SIZE || a == TYPE || a == ORDER)) must = 0;
    if (must & ~missing && must & missing) must &= ~missing; /* with one that is proven, the absent are not suspected */
    char what[96];
    snprintf(what, sizeof what, "seed %d faults %d %d, %dx%dx%d ahead %d eager %d", (int)seed, a, b, j->tp, j->pp,
             j->dp, j->ahead, j->eager);
    judge(j, form, missing, must, may, rates, what);
    free(j);
}

static void check_rates(const char *what, const struct rates *r, int least_percent)
{
    print_message("%s: %d jobs, culprits named in %d, missed in %d, somebody innocent named in %d, suspected in %d\n",
                  what, r->jobs, r->found, r->missed, r->innocent, r->suspected);
    assert_int_equal(r->innocent, 0);
    assert_true(r->found * 100 >= r->jobs * least_percent);
}

enum { SEEDS = 40 };

static void one_fault(void **state)
{
    (void)state;
    static const char *const names[] = {"",          "asleep", "killed", "wrong size", "wrong function", "wrong order",
                                        "GPU failed"};
    for (enum fault f = SLEEP; f < FAULTS; f++) {
        struct rates r = {0};
        for (uint64_t seed = 1; seed <= SEEDS; seed++) try_job(seed, f, NOTHING, 0, (enum form)(seed % FORMS), &r);
        check_rates(names[f], &r, 95);
    }
}

static void two_faults(void **state)
{
    (void)state;
    static const enum fault pairs[][2] = {{SLEEP, SLEEP}, {SLEEP, KILL}, {SLEEP, GPU}, {SLEEP, SIZE}, {ORDER, SLEEP}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct rates r = {0};
        char what[32];
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
            try_job(seed, pairs[i][0], pairs[i][1], 0, (enum form)(seed % FORMS), &r);
        snprintf(what, sizeof what, "faults %d and %d", pairs[i][0], pairs[i][1]);
        check_rates(what, &r, 90);
    }
}

static void missing_files(void **state)
{
    (void)state;
    for (enum fault f = SLEEP; f < FAULTS; f++) {
        struct rates r = {0};
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
            try_job(seed, f, NOTHING, 1 + (int)(seed % 4), (enum form)(seed % FORMS), &r);
        check_rates("with missing dumps", &r, 90);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_fault), cmocka_unit_test(two_faults),
                                       cmocka_unit_test(missing_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
