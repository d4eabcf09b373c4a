/* Pipeline-parallel steps: see step.h.
 *
 * A stage is `lanes` neighbouring ranks, each of another replica of the pipeline (and of another part of its tensors);
 * all of them run the same program: a list of actions, made by a schedule. Programs are executed side by side as far as
 * their partners allow, so that operations come in an order that is consistent with each rank's own. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/room.h"
#include "gen/step.h"

const char *const rs_gen_schedule_names[RS_GEN_SCHEDULES] = {"gpipe", "1f1b", "interleaved"};

enum { TINY = 4096 };
enum toward { NEXT, PREVIOUS, NEIGHBOURS };
enum what {
    COMPUTE,
    EXCHANGE, /* a group call with one neighbour, who makes the opposite one */
    POST, /* a send beside everything that follows */
    TAKE, /* a receive of one */
};

struct action {
    enum what what;
    enum toward toward;
    bool send, receive; /* of an exchange */
};

/* Sends that nobody has received yet, in order; each of `lanes` pairs. */
struct channel {
    struct rs_gen_posted *posted;
    uint32_t n, cap, taken;
};

struct stage {
    struct action *actions;
    uint32_t n, cap, done;
    struct channel channels[NEIGHBOURS];
};

struct pipe {
    struct rs_gen_job *j;
    struct stage *stages;
    struct rs_gen_pair *pairs; /* room for an exchange of all lanes */
    int n, lanes;
    double part; /* of the compute of a step, in one action */
};

/* ---- schedules ---- */

static void add(struct stage *g, struct action a)
{
    RS_ROOM(g->actions, g->n, g->cap);
    g->actions[g->n++] = a;
}

static void compute(struct stage *g)
{
    add(g, (struct action){.what = COMPUTE});
}

/* An exchange of stage s, if there is such a neighbour. */
static void exchange(const struct pipe *p, int s, enum toward toward, bool send, bool receive)
{
    if (toward == NEXT ? s + 1 < p->n : s > 0) add(&p->stages[s], (struct action){EXCHANGE, toward, send, receive});
}

/* All micro-batches forward, then all back. */
static void gpipe(const struct pipe *p, int s, int batches)
{
    for (int back = 0; back < 2; back++)
        for (int b = 0; b < batches; b++) {
            exchange(p, s, back ? NEXT : PREVIOUS, false, true);
            compute(&p->stages[s]);
            exchange(p, s, back ? PREVIOUS : NEXT, true, false);
        }
}

/* As many forward as there are stages behind, then one forward and one back in turn. */
static void one_forward_one_back(const struct pipe *p, int s, int batches)
{
    struct stage *g = &p->stages[s];
    int behind = p->n - 1 - s, first = behind < batches ? behind : batches, rest = batches - first;
    for (int b = 0; b < first; b++) {
        exchange(p, s, PREVIOUS, false, true);
        compute(g);
        exchange(p, s, NEXT, true, false);
    }
    if (rest) exchange(p, s, PREVIOUS, false, true);
    for (int b = 0; b < rest; b++) {
        compute(g);
        exchange(p, s, NEXT, true, true);
        compute(g);
        exchange(p, s, PREVIOUS, true, b + 1 < rest);
    }
    for (int b = 0; b < first; b++) {
        exchange(p, s, NEXT, false, true);
        compute(g);
        exchange(p, s, PREVIOUS, true, false);
    }
}

/* The k-th of the parts that stage s computes in one direction: groups of as many micro-batches as there are stages go
 * through the first chunk of each stage, then through the second, ...; the last stage passes them on to the first. */
static void chunk(const struct pipe *p, int s, int k, int chunks, bool back)
{
    struct stage *g = &p->stages[s];
    int at = k % (p->n * chunks) / p->n, c = back ? chunks - 1 - at : at;
    bool begins = !s && !c, ends = s == p->n - 1 && c == chunks - 1;
    enum toward from = back ? NEXT : PREVIOUS, to = back ? PREVIOUS : NEXT;
    if (!(back ? ends : begins)) add(g, (struct action){.what = TAKE, .toward = from});
    compute(g);
    if (!(back ? begins : ends)) add(g, (struct action){.what = POST, .toward = to});
}

/* One forward and one back in turn, over several chunks of layers per stage. */
static void interleaved(const struct pipe *p, int s, int batches, int chunks)
{
    int all = batches * chunks, ahead = (p->n - s - 1) * 2 + (chunks - 1) * p->n;
    int first = ahead < all ? ahead : all;
    for (int k = 0; k < first; k++) chunk(p, s, k, chunks, false);
    for (int k = first; k < all; k++) {
        chunk(p, s, k, chunks, false);
        chunk(p, s, k - first, chunks, true);
    }
    for (int k = all - first; k < all; k++) chunk(p, s, k, chunks, true);
}

/* ---- actions ---- */

/* A part of the compute of a stage: a tensor-parallel all-reduce at the end of each of its layers. */
static void run_compute(const struct pipe *p, int s)
{
    struct rs_gen_job *j = p->j;
    const struct rs_gen_config *c = j->cfg;
    int chunks = c->schedule == RS_GEN_INTERLEAVED ? c->chunks : 1, groups = p->lanes / j->tensor, layers = 1;
    if (j->tensor > 1 && c->layers > p->n * chunks) layers = c->layers / (p->n * chunks);
    for (int i = 0; i < layers; i++) {
        for (int l = 0; l < p->lanes; l++) rs_gen_compute(j, s * p->lanes + l, p->part / layers);
        for (int g = 0; g < groups && j->tensor > 1; g++)
            rs_gen_op_coll(j, j->tp + s * groups + g, RS_GEN_ALLREDUCE, (uint64_t)c->bytes / 4, RS_GEN_MAIN,
                           (uint32_t)i);
    }
}

static int neighbour(const struct pipe *p, int s, enum toward toward)
{
    return (s + (toward == NEXT ? 1 : p->n - 1)) % p->n;
}

/* A pair from one stage to another in lane l, in the communicator that all lanes share or in that of the lane. */
static struct rs_gen_pair pair(const struct pipe *p, int from, int to, int l)
{
    bool own = p->j->pp >= 0;
    return (struct rs_gen_pair){.src = own ? from : from * p->lanes + l,
                                .dst = own ? to : to * p->lanes + l,
                                .bytes = (uint64_t)p->j->cfg->bytes / 8};
}

static void run_exchange(const struct pipe *p, int s, int other, const struct action *a)
{
    struct rs_gen_job *j = p->j;
    bool both = a->send && a->receive;
    int n = 0;
    for (int l = 0; l < p->lanes; l++) {
        if (a->send) p->pairs[n++] = pair(p, s, other, l);
        if (a->receive) p->pairs[n++] = pair(p, other, s, l);
        if (!both && j->pp < 0 && l + 1 < p->lanes) continue; /* one call of each rank, whatever the others do */
        rs_gen_op_pairs(j, j->pp >= 0 ? j->pp + l : j->world, p->pairs, n, both ? 2 : 1, both);
        n = 0;
    }
}

static enum rs_gen_stream stream_of(enum toward toward)
{
    return toward == NEXT ? RS_GEN_SIDE : RS_GEN_BACK;
}

static void run_post(const struct pipe *p, int s, enum toward toward)
{
    struct channel *c = &p->stages[s].channels[toward];
    for (int l = 0; l < p->lanes; l++) {
        RS_ROOM(c->posted, c->n, c->cap);
        int from = s * p->lanes + l, to = neighbour(p, s, toward) * p->lanes + l;
        struct rs_gen_pair one = {.src = from > to, .dst = from < to, .bytes = (uint64_t)p->j->cfg->bytes / 8};
        int comm = (toward == NEXT ? p->j->forward : p->j->backward) + from;
        rs_gen_op_post(p->j, comm, one, stream_of(toward), &c->posted[c->n++]);
    }
}

/* Stage s takes what its neighbour has posted; false: that has posted nothing yet. */
static bool run_take(const struct pipe *p, int s, enum toward from)
{
    struct channel *c = &p->stages[neighbour(p, s, from)].channels[from == NEXT ? PREVIOUS : NEXT];
    if (c->taken == c->n) return false;
    for (int l = 0; l < p->lanes; l++) rs_gen_op_take(p->j, &c->posted[c->taken++]);
    return true;
}

/* Does the next action of a stage; false: it has none, or waits for a neighbour. */
static bool act(const struct pipe *p, int s)
{
    struct stage *g = &p->stages[s];
    if (g->done == g->n) return false;
    const struct action *a = &g->actions[g->done];
    if (a->what == TAKE && !run_take(p, s, a->toward)) return false;
    if (a->what == EXCHANGE) {
        int other = neighbour(p, s, a->toward);
        struct stage *o = &p->stages[other];
        const struct action *b = o->done < o->n ? &o->actions[o->done] : NULL;
        if (!b || b->what != EXCHANGE || b->toward == a->toward) return false;
        run_exchange(p, s, other, a);
        o->done++;
    }
    if (a->what == COMPUTE) run_compute(p, s);
    if (a->what == POST) run_post(p, s, a->toward);
    g->done++;
    return true;
}

static void micro_batches(struct rs_gen_job *j)
{
    const struct rs_gen_config *c = j->cfg;
    struct pipe p = {.j = j, .n = j->stages, .lanes = c->ranks / j->stages, .part = 0.5 / c->microbatches};
    if (c->schedule == RS_GEN_INTERLEAVED) p.part /= c->chunks;
    p.stages = rs_zalloc((size_t)p.n, sizeof *p.stages);
    p.pairs = rs_zalloc((size_t)p.lanes * 2, sizeof *p.pairs);
    for (int s = 0; s < p.n; s++) {
        switch (c->schedule) {
        case RS_GEN_1F1B: one_forward_one_back(&p, s, c->microbatches); break;
        case RS_GEN_INTERLEAVED: interleaved(&p, s, c->microbatches, c->chunks); break;
        default: gpipe(&p, s, c->microbatches); break;
        }
    }
    for (bool any = true; any;) {
        any = false;
        for (int s = 0; s < p.n; s++)
            while (act(&p, s)) any = true;
    }
    for (int s = 0; s < p.n; s++) {
        free(p.stages[s].actions);
        for (int t = 0; t < NEIGHBOURS; t++) free(p.stages[s].channels[t].posted);
    }
    free(p.stages);
    free(p.pairs);
}

/* ---- workloads ---- */

void rs_gen_pipeline(struct rs_gen_job *j)
{
    const struct rs_gen_config *c = j->cfg;
    if (j->step % 4 == 0 && c->api != 6) /* 2.29 to 2.30 report only the API call of broadcasts */
        rs_gen_op_coll(j, j->world, RS_GEN_BROADCAST, (uint64_t)c->bytes / 16, RS_GEN_MAIN, 30);
    micro_batches(j);
    rs_gen_join_streams(j);
    rs_gen_op_coll(j, j->world, RS_GEN_ALLREDUCE, (uint64_t)c->bytes / 2, RS_GEN_MAIN, 0);
    rs_gen_op_coll(j, j->world, RS_GEN_ALLREDUCE, TINY, RS_GEN_MAIN, 31);
}

void rs_gen_tpppdp(struct rs_gen_job *j)
{
    const struct rs_gen_config *c = j->cfg;
    int groups = j->dp >= 0 ? j->stages * j->tensor : 0;
    micro_batches(j);
    rs_gen_join_streams(j);
    for (int g = 0; g < groups; g++)
        rs_gen_op_coll(j, j->dp + g, RS_GEN_REDUCESCATTER, (uint64_t)c->bytes, RS_GEN_MAIN, 20);
    for (int g = 0; g < groups; g++)
        rs_gen_op_coll(j, j->dp + g, RS_GEN_ALLGATHER, (uint64_t)c->bytes, RS_GEN_MAIN, 21);
    if (j->world >= 0) rs_gen_op_coll(j, j->world, RS_GEN_ALLREDUCE, TINY, RS_GEN_MAIN, 23);
}
