#include "analyse/network.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/quantile.h"
#include "base/memory.h"
#include "base/room.h"

struct work {
    struct rs_matrix *out;
    const struct rs_view *view;
    struct rs_map members; /* communicator, rank -> member */
    struct rs_map index; /* rank, peer -> row */
    uint32_t cap;
    struct sample *samples;
    uint32_t nsamples;
    struct rs_map used; /* communicator, row -> nothing */
    uint32_t cap_uses;
};

/* ---- rows ---- */

static void index_members(struct work *w)
{
    const struct rs_model *m = w->view->model;
    for (uint32_t i = 0; i < m->nmembers; i++)
        if (m->members[i].rank >= 0)
            rs_map_put(&w->members, (uint64_t)m->members[i].comm << 32 | (uint32_t)m->members[i].rank, i);
}

/* The rank of the job of a peer without a recording: known if ranks of the communicator are ranks of the job. */
static int32_t rank_of_unseen(const struct rs_model *m, uint32_t member, int32_t peer)
{
    const struct rs_member *x = &m->members[member];
    return x->global_rank >= 0 && x->global_rank == x->rank && m->comms[x->comm].nranks == m->world ? peer : -1;
}

static uint32_t rank_id_of(const struct work *w, uint32_t member, int32_t peer)
{
    const struct rs_model *m = w->view->model;
    uint64_t at = rs_map_get(&w->members, (uint64_t)m->members[member].comm << 32 | (uint32_t)peer, RS_NONE);
    return at == RS_NONE ? RS_NONE : m->members[at].rank_id;
}

/* Unrecorded peers: by their rank of the job, else all peers of a rank together. */
static uint64_t key_of(uint32_t rank_id, uint32_t peer_id, int32_t unseen)
{
    uint64_t other = peer_id != RS_NONE ? peer_id : UINT64_C(0x80000000) | (uint32_t)(unseen & 0x7fffffff);
    return (uint64_t)rank_id << 32 | other;
}

static void row_of(struct work *w, const struct rs_net *net, struct rs_link_row **row)
{
    const struct rs_model *m = w->view->model;
    uint32_t rank_id = m->members[net->member].rank_id, peer_id = rank_id_of(w, net->member, net->peer);
    int32_t unseen = peer_id == RS_NONE ? rank_of_unseen(m, net->member, net->peer) : -1;
    uint64_t *at;
    rs_map_at(&w->index, key_of(rank_id, peer_id, unseen), w->out->nrows, &at);
    if (*at == w->out->nrows) {
        RS_ROOM(w->out->rows, w->out->nrows, w->cap);
        w->out->rows[w->out->nrows++] =
            (struct rs_link_row){.rank_id = rank_id,
                                 .peer_id = peer_id,
                                 .rank = m->ranks[rank_id].number,
                                 .peer = peer_id != RS_NONE ? m->ranks[peer_id].number : unseen,
                                 .p_value = 1};
    }
    *row = &w->out->rows[*at];
}

struct scope {
    const struct rs_filter *filter;
    int64_t from; /* what ended before is ignored */
};

static bool passes(const struct rs_model *m, const struct scope *s, uint32_t member, int64_t from, int64_t to)
{
    return m->members[member].rank_id != RS_NONE && rs_filter_comm(s->filter, m, m->members[member].comm) &&
           rs_filter_rank(s->filter, m, member) && rs_filter_time(s->filter, from) &&
           (s->from == RS_TIME_NONE || to >= s->from);
}

static void note_use(struct work *w, uint32_t comm, uint32_t row)
{
    uint64_t *at;
    rs_map_at(&w->used, (uint64_t)comm << 32 | row, 0, &at);
    if ((*at)++) return;
    RS_ROOM(w->out->uses, w->out->nuses, w->cap_uses);
    w->out->uses[w->out->nuses++] = (struct rs_link_use){comm, row};
}

static void collect(struct work *w, const struct scope *scope)
{
    const struct rs_model *m = w->view->model;
    index_members(w);
    for (uint32_t i = 0; i < m->nnets; i++) {
        const struct rs_net *n = &m->nets[i];
        if (!passes(m, scope, n->member, n->from, n->to)) continue;
        struct rs_link_row *r = NULL;
        row_of(w, n, &r);
        r->gpu_ns = rs_time_plus(r->gpu_ns, n->gpu_ns);
        r->credit_ns = rs_time_plus(r->credit_ns, n->credit_ns);
        r->net_ns = rs_time_plus(r->net_ns, n->send_ns);
        r->recv_ns = rs_time_plus(r->recv_ns, n->recv_ns);
        r->flush_ns = rs_time_plus(r->flush_ns, n->flush_ns);
        r->consume_ns = rs_time_plus(r->consume_ns, n->consume_ns);
        r->bytes += n->sent_bytes;
        r->messages += n->sent;
        r->received_bytes += n->received_bytes;
        r->received_messages += n->received;
        if (n->sent) note_use(w, m->members[n->member].comm, (uint32_t)(r - w->out->rows));
    }
}

static int by_time(const void *a, const void *b)
{
    const struct rs_link_row *x = a, *y = b;
    if (x->net_ns != y->net_ns) return x->net_ns > y->net_ns ? -1 : 1;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    if (x->rank_id != y->rank_id) return x->rank_id < y->rank_id ? -1 : 1;
    return x->peer_id < y->peer_id ? -1 : x->peer_id > y->peer_id;
}

/* ---- samples by kind and link ---- */

enum {
    ENOUGH_MESSAGES = 16,
    ENOUGH_LINKS = 2,
    FEWEST_BLOCKS = 4,
    MOST_BLOCKS = 32,
};
#define STEADY 0.7 /* share of blocks in which a slow link is slow */

/* A block of messages of a link. Kinds are sorted together, in them links, in those sends before receives, then by time. */
struct sample {
    uint64_t kind;
    uint32_t row;
    uint32_t received; /* 0, 1 */
    int64_t from;
    uint32_t index; /* in the model */
};

static enum rs_link_place place_of(const struct rs_model *m, const struct rs_link_row *r)
{
    if (r->peer_id == RS_NONE) return RS_LINK_UNKNOWN;
    uint32_t a = m->ranks[r->rank_id].host, b = m->ranks[r->peer_id].host;
    if (a == b) return a == RS_NONE ? RS_LINK_UNKNOWN : RS_LINK_IN_HOST;
    return rs_host_name(m, a) && rs_host_name(m, b) ? RS_LINK_BETWEEN_HOSTS : RS_LINK_UNKNOWN;
}

/* Links that can be compared: also in or between rails, where devices have NICs of their own. */
static uint64_t kind_of(const struct rs_model *m, const struct rs_link_row *r, const struct rs_net_sample *s)
{
    int32_t a = m->ranks[r->rank_id].device, b = r->peer_id != RS_NONE ? m->ranks[r->peer_id].device : -1;
    return (uint64_t)m->comms[m->members[s->member].comm].class << 16 | (uint64_t)s->size << 8 |
           (unsigned)place_of(m, r) << 1 | (a == b);
}

static int by_kind(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    if (x->received != y->received) return x->received < y->received ? -1 : 1;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* The row of the link that a sample is of: from the sender, whose row it is. RS_NONE: the sender is not recorded. */
static uint32_t link_of(struct work *w, const struct rs_net_sample *s)
{
    const struct rs_model *m = w->view->model;
    uint32_t own = m->members[s->member].rank_id, other = rank_id_of(w, s->member, s->peer);
    int32_t unseen = other == RS_NONE ? rank_of_unseen(m, s->member, s->peer) : -1;
    if (!s->sent && other == RS_NONE) return RS_NONE;
    return (uint32_t)rs_map_get(&w->index, s->sent ? key_of(own, other, unseen) : key_of(other, own, -1), RS_NONE);
}

static void collect_samples(struct work *w, const struct scope *scope)
{
    const struct rs_model *m = w->view->model;
    w->samples = rs_alloc(((size_t)m->nnet_samples + 1) * sizeof *w->samples);
    for (uint32_t i = 0; i < m->nnet_samples; i++) {
        const struct rs_net_sample *s = &m->net_samples[i];
        if (!s->n || !passes(m, scope, s->member, s->from, s->to)) continue;
        uint32_t row = link_of(w, s);
        if (row == RS_NONE) continue;
        w->samples[w->nsamples++] = (struct sample){
            .kind = kind_of(m, &w->out->rows[row], s), .row = row, .received = !s->sent, .from = s->from, .index = i};
    }
    if (w->nsamples) qsort(w->samples, w->nsamples, sizeof *w->samples, by_kind);
}

/* ---- one kind ---- */

/* A link's messages of one kind. */
struct lane {
    uint32_t row;
    uint32_t sent, nsent, received, nreceived; /* samples */
    uint64_t messages; /* sent */
    uint32_t worst; /* sum of its ranks over the blocks: 1 is the slowest */
};

struct kind {
    struct lane *lanes;
    uint32_t n; /* that are compared */
    uint32_t blocks;
    int64_t *ns; /* medians: of each block, those of all lanes */
    double *ratios; /* of each lane, those of all blocks: to the others */
};

static void list_lanes(const struct work *w, struct kind *k, uint32_t first, uint32_t end)
{
    k->n = 0;
    for (uint32_t i = first; i < end;) {
        struct lane l = {.row = w->samples[i].row, .sent = i};
        for (; i < end && w->samples[i].row == l.row && !w->samples[i].received; i++, l.nsent++)
            l.messages += w->view->model->net_samples[w->samples[i].index].messages;
        l.received = i;
        for (; i < end && w->samples[i].row == l.row; i++) l.nreceived++;
        if (l.messages >= ENOUGH_MESSAGES && l.nsent >= FEWEST_BLOCKS) k->lanes[k->n++] = l;
    }
}

/* As many blocks as all have; links with less than half as many as usual are not compared. */
static void choose_blocks(struct kind *k, int64_t *scratch)
{
    for (uint32_t i = 0; i < k->n; i++) scratch[i] = k->lanes[i].nsent;
    uint32_t usual = (uint32_t)rs_median(scratch, k->n), kept = 0;
    k->blocks = MOST_BLOCKS;
    for (uint32_t i = 0; i < k->n; i++) {
        if (k->lanes[i].nsent * 2 < usual) continue;
        if (k->lanes[i].nsent < k->blocks) k->blocks = k->lanes[i].nsent;
        k->lanes[kept++] = k->lanes[i];
    }
    k->n = kept;
}

/* The median time of the messages in one of the blocks; -1: there are none. */
static int64_t median_in(const struct work *w, uint32_t first, uint32_t n, uint32_t block, uint32_t blocks,
                         int64_t **scratch, uint32_t *cap)
{
    uint32_t from = (uint32_t)((uint64_t)block * n / blocks), to = (uint32_t)((uint64_t)(block + 1) * n / blocks);
    uint32_t count = 0;
    for (uint32_t i = from; i < to; i++) {
        const struct rs_net_sample *s = &w->view->model->net_samples[w->samples[first + i].index];
        for (uint32_t j = 0; j < s->n; j++) {
            RS_ROOM(*scratch, count, *cap);
            (*scratch)[count++] = s->ns[j];
        }
    }
    return count ? rs_median(*scratch, count) : -1;
}

/* Both the send and the receive contain the transfer: the shorter one does not contain the wait for the other. */
static void measure(const struct work *w, struct kind *k)
{
    int64_t *scratch = NULL;
    uint32_t cap = 0;
    for (uint32_t b = 0; b < k->blocks; b++)
        for (uint32_t i = 0; i < k->n; i++) {
            const struct lane *l = &k->lanes[i];
            int64_t sent = median_in(w, l->sent, l->nsent, b, k->blocks, &scratch, &cap);
            int64_t received = median_in(w, l->received, l->nreceived, b, k->blocks, &scratch, &cap);
            k->ns[(size_t)b * k->n + i] = received >= 0 && received < sent ? received : sent;
        }
    free(scratch);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* How many of a sorted list are at least `value`. */
static uint32_t at_least(const int64_t *list, uint32_t n, int64_t value)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (list[mid] < value)
            low = mid + 1;
        else
            high = mid;
    }
    return n - low;
}

/* The lower median of a sorted list of at least two, without one of its values: a link is not compared with itself. */
static int64_t median_without(const int64_t *list, size_t n, int64_t value)
{
    size_t k = (n - 2) / 2;
    return list[value > list[k] ? k : k + 1];
}

static void rank_links(struct kind *k, int64_t *list)
{
    for (uint32_t b = 0; b < k->blocks; b++) {
        const int64_t *ns = &k->ns[(size_t)b * k->n];
        for (uint32_t i = 0; i < k->n; i++) list[i] = ns[i];
        qsort(list, k->n, sizeof *list, by_value);
        for (uint32_t i = 0; i < k->n; i++) {
            k->lanes[i].worst += at_least(list, k->n, ns[i]);
            int64_t others = median_without(list, k->n, ns[i]);
            k->ratios[(size_t)i * k->blocks + b] = others > 0 ? (double)ns[i] / (double)others : 1;
        }
    }
}

/* below[s]: the chance that `blocks` numbers, each 1 to n with equal chance, add up to at most blocks + s. */
static double *chances(uint32_t n, uint32_t blocks)
{
    size_t most = (size_t)blocks * (n - 1) + 1;
    double *now = rs_zalloc(most, sizeof *now), *next = rs_zalloc(most, sizeof *next);
    for (size_t s = 0; s < most; s++) now[s] = 1; /* no number: the sum is 0 */
    for (uint32_t b = 0; b < blocks; b++) { /* the sum over one number's values, of cumulative chances */
        double sum = 0;
        for (size_t s = 0; s < most; s++) {
            sum += now[s];
            if (s >= n) sum -= now[s - n];
            next[s] = sum / n;
        }
        double *swap = now;
        now = next;
        next = swap;
    }
    free(next);
    return now;
}

static int by_ratio(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* How many of the lowest and highest of n values are outside a 95 % interval of their median. */
static uint32_t outside(uint32_t n)
{
    double chance = pow(0.5, n), sum = chance;
    uint32_t k = 0;
    while (k < n / 2 && sum <= 0.025) {
        chance *= (double)(n - k) / (k + 1);
        k++;
        sum += chance;
    }
    return k ? k - 1 : 0;
}

static void describe(const struct work *w, struct kind *k, const double *below, int64_t *scratch)
{
    for (uint32_t i = 0; i < k->n; i++) {
        const struct lane *l = &k->lanes[i];
        struct rs_link_row *r = &w->out->rows[l->row];
        for (uint32_t b = 0; b < k->blocks; b++) scratch[b] = k->ns[(size_t)b * k->n + i];
        int64_t median = rs_median(scratch, k->blocks);
        /* Of the sizes of a link, the one with the most time is compared. */
        if (r->compared && (double)r->compared * (double)r->median_ns >= (double)l->messages * (double)median) continue;
        double *ratios = &k->ratios[(size_t)i * k->blocks];
        uint32_t steady = 0, cut = outside(k->blocks), mid = (k->blocks - 1) / 2;
        for (uint32_t b = 0; b < k->blocks; b++) steady += ratios[b] >= (1 + RS_SLOW_RATIO) / 2;
        qsort(ratios, k->blocks, sizeof *ratios, by_ratio);
        r->slower = ratios[mid];
        r->low = ratios[cut];
        r->high = ratios[k->blocks - 1 - cut];
        r->p_value = below[l->worst - k->blocks];
        r->steady = (double)steady / k->blocks;
        r->median_ns = median;
        r->usual_ns = r->slower > 0 ? (int64_t)((double)median / r->slower) : 0;
        r->compared = l->messages;
        r->blocks = k->blocks;
        r->links = k->n;
    }
}

static void compare_kind(const struct work *w, uint32_t first, uint32_t end)
{
    struct kind k = {.lanes = rs_alloc((size_t)(end - first) * sizeof *k.lanes)};
    list_lanes(w, &k, first, end);
    int64_t *scratch = rs_alloc(((size_t)k.n + MOST_BLOCKS) * sizeof *scratch);
    if (k.n) choose_blocks(&k, scratch);
    if (k.n >= ENOUGH_LINKS) {
        k.ns = rs_alloc((size_t)k.n * k.blocks * sizeof *k.ns);
        k.ratios = rs_alloc((size_t)k.n * k.blocks * sizeof *k.ratios);
        measure(w, &k);
        rank_links(&k, scratch);
        double *below = chances(k.n, k.blocks);
        describe(w, &k, below, scratch);
        free(below);
        free(k.ns);
        free(k.ratios);
    }
    free(scratch);
    free(k.lanes);
}

static void compare(struct work *w)
{
    struct rs_matrix *n = w->out;
    for (uint32_t i = 0, end; i < w->nsamples; i = end) {
        for (end = i + 1; end < w->nsamples && w->samples[end].kind == w->samples[i].kind;) end++;
        compare_kind(w, i, end);
    }
    for (uint32_t i = 0; i < n->nrows; i++) n->judged += n->rows[i].compared > 0;
    for (uint32_t i = 0; i < n->nrows; i++) {
        struct rs_link_row *r = &n->rows[i];
        r->place = place_of(w->view->model, r);
        r->p_value = r->compared ? fmin(1, r->p_value * n->judged) : 1; /* of any link */
    }
}

/* ---- slow links, and what they share ---- */

static bool is_slow(const struct rs_link_row *r)
{
    double ratio = r->place == RS_LINK_BETWEEN_HOSTS ? RS_SLOW_RATIO : RS_SLOW_RATIO_IN_HOST;
    return r->compared && r->p_value <= RS_SLOW_CHANCE && r->low >= ratio && r->steady >= STEADY;
}

/* A rank or a host that sends or receives: its compared links, the slow ones, and the slow ones that are named by it. */
struct end {
    uint32_t links, slow, named;
    uint32_t entry; /* in rs_matrix.slow, plus 1; 0: none */
    uint32_t rank_id; /* of its slow links; RS_NONE: of several ranks */
};

enum { ENDS = 4 }; /* of a link */

/* The ends of a link in an array: those that send, then those that receive, ranks before hosts; after them those of links
 * inside a host. RS_NONE: unknown. */
static void ends_of(const struct rs_model *m, const struct rs_link_row *r, uint32_t at[ENDS], uint32_t rank_ids[ENDS])
{
    uint32_t ids[] = {r->rank_id, r->peer_id}, each = m->nranks + m->nhosts;
    uint32_t inside = r->place == RS_LINK_IN_HOST ? 2 * each : 0;
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t host = ids[k] != RS_NONE && r->place == RS_LINK_BETWEEN_HOSTS ? m->ranks[ids[k]].host : RS_NONE;
        at[2 * k] = ids[k] != RS_NONE ? inside + k * each + ids[k] : RS_NONE;
        at[2 * k + 1] = host != RS_NONE ? k * each + m->nranks + host : RS_NONE;
        rank_ids[2 * k] = rank_ids[2 * k + 1] = ids[k];
    }
}

static void count_ends(const struct rs_model *m, const struct rs_matrix *n, struct end *ends)
{
    for (uint32_t i = 0; i < n->nrows; i++) {
        const struct rs_link_row *r = &n->rows[i];
        if (!r->compared) continue;
        uint32_t at[ENDS], ids[ENDS];
        ends_of(m, r, at, ids);
        for (int k = 0; k < ENDS; k++) {
            if (at[k] == RS_NONE) continue;
            struct end *e = &ends[at[k]];
            e->links++;
            if (!is_slow(r)) continue;
            e->rank_id = e->slow++ && e->rank_id != ids[k] ? RS_NONE : ids[k];
        }
    }
}

/* The end that explains most slow links of those of this one; RS_NONE: none, it is the link. */
static uint32_t best_end(const struct rs_model *m, const struct end *ends, const struct rs_link_row *r)
{
    uint32_t at[ENDS], ids[ENDS], best = RS_NONE;
    ends_of(m, r, at, ids);
    for (int k = 0; k < ENDS; k++) {
        if (at[k] == RS_NONE) continue;
        const struct end *e = &ends[at[k]];
        bool shared = e->slow >= 2 && e->slow * 5 >= e->links * 4 && (!(k & 1) || e->rank_id == RS_NONE);
        if (shared && (best == RS_NONE || e->slow > ends[best].slow)) best = at[k];
    }
    return best;
}

static void add_link(const struct rs_model *m, const struct rs_matrix *n, struct rs_slow_link *to, uint32_t row)
{
    const struct rs_link_row *r = &n->rows[row];
    uint32_t host = m->ranks[r->rank_id].host, peer_host = r->peer_id != RS_NONE ? m->ranks[r->peer_id].host : RS_NONE;
    if (!to->links++) {
        *to = (struct rs_slow_link){to->scope, row, 1,      r->rank_id, r->peer_id, host,
                                    peer_host, 0,   r->low, r->high,    r->p_value, r->place};
    }
    if (to->rank_id != r->rank_id) to->rank_id = RS_NONE;
    if (to->peer_id != r->peer_id) to->peer_id = RS_NONE;
    if (to->host != host) to->host = RS_NONE;
    if (to->peer_host != peer_host) to->peer_host = RS_NONE;
    to->slower += (r->slower - to->slower) / to->links;
    to->low = fmin(to->low, r->low);
    to->high = fmax(to->high, r->high);
    to->p_value = fmin(to->p_value, r->p_value);
    if (to->place != r->place) to->place = RS_LINK_UNKNOWN;
    if (r->slower > n->rows[to->row].slower) to->row = row;
}

static int by_slowness(const void *a, const void *b)
{
    const struct rs_slow_link *x = a, *y = b;
    if (x->slower > y->slower || x->slower < y->slower) return x->slower > y->slower ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static enum rs_slow_scope scope_of(const struct rs_model *m, uint32_t end)
{
    uint32_t each = m->nranks + m->nhosts;
    bool receives = end / each % 2, host = end % each >= m->nranks;
    if (host) return receives ? RS_SLOW_RECEIVING_HOST : RS_SLOW_SENDING_HOST;
    return receives ? RS_SLOW_RECEIVER : RS_SLOW_SENDER;
}

static void name_slow(struct work *w)
{
    const struct rs_model *m = w->view->model;
    struct rs_matrix *n = w->out;
    size_t nends = 4 * ((size_t)m->nranks + m->nhosts);
    struct end *ends = rs_zalloc(nends + 1, sizeof *ends);
    n->slow = rs_zalloc((size_t)n->nrows + 1, sizeof *n->slow);
    count_ends(m, n, ends);
    for (uint32_t i = 0; i < n->nrows; i++) {
        uint32_t end = is_slow(&n->rows[i]) ? best_end(m, ends, &n->rows[i]) : RS_NONE;
        if (end != RS_NONE) ends[end].named++;
    }
    for (uint32_t i = 0; i < n->nrows; i++) {
        if (!is_slow(&n->rows[i])) continue;
        uint32_t at = best_end(m, ends, &n->rows[i]);
        struct end *e = at != RS_NONE && ends[at].named >= 2 ? &ends[at] : NULL;
        if (!e || !e->entry) {
            n->slow[n->nslow++].scope = e ? scope_of(m, at) : RS_SLOW_LINK;
            if (e) e->entry = n->nslow;
        }
        add_link(m, n, &n->slow[(e ? e->entry : n->nslow) - 1], i);
    }
    if (n->nslow) qsort(n->slow, n->nslow, sizeof *n->slow, by_slowness);
    free(ends);
}

static int by_comm(const void *a, const void *b)
{
    const struct rs_link_use *x = a, *y = b;
    if (x->comm != y->comm) return x->comm < y->comm ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Sorts the rows; what refers to them follows. */
static void sort_rows(struct work *w)
{
    struct rs_matrix *n = w->out;
    struct rs_link_row *r = n->rows;
    uint64_t *keys = rs_alloc((size_t)n->nrows * sizeof *keys);
    for (uint32_t i = 0; i < n->nrows; i++) keys[i] = key_of(r[i].rank_id, r[i].peer_id, r[i].peer);
    qsort(r, n->nrows, sizeof *r, by_time);
    for (uint32_t i = 0; i < n->nrows; i++) rs_map_put(&w->index, key_of(r[i].rank_id, r[i].peer_id, r[i].peer), i);
    for (uint32_t i = 0; i < n->nuses; i++) n->uses[i].row = (uint32_t)rs_map_get(&w->index, keys[n->uses[i].row], 0);
    if (n->nuses) qsort(n->uses, n->nuses, sizeof *n->uses, by_comm);
    free(keys);
}

void rs_matrix_find(struct rs_matrix *n, const struct rs_view *view, const struct rs_filter *filter, int64_t from)
{
    struct work w = {.out = n, .view = view};
    struct scope scope = {filter, from};
    *n = (struct rs_matrix){0};
    collect(&w, &scope);
    if (n->nrows) {
        sort_rows(&w);
        collect_samples(&w, &scope);
        compare(&w);
        name_slow(&w);
    }
    free(w.samples);
    rs_map_free(&w.members);
    rs_map_free(&w.index);
    rs_map_free(&w.used);
}

void rs_matrix_free(struct rs_matrix *n)
{
    free(n->rows);
    free(n->uses);
    free(n->slow);
    *n = (struct rs_matrix){0};
}

/* ---- without a slow link ---- */

uint32_t rs_matrix_link(const struct rs_matrix *n, int32_t rank, int32_t peer)
{
    for (uint32_t i = 0; i < n->nrows; i++)
        if (n->rows[i].rank == rank && n->rows[i].peer == peer && n->rows[i].messages) return i;
    return RS_NONE;
}

/* The first use of a communicator, or where it would be. */
static uint32_t uses_of(const struct rs_matrix *n, uint32_t comm)
{
    uint32_t low = 0, high = n->nuses;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (n->uses[mid].comm < comm)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

bool rs_matrix_cure(const struct rs_matrix *n, uint32_t row, uint32_t comm, bool pair, struct rs_link_cure *cure)
{
    *cure = (struct rs_link_cure){1, 1, 1};
    const struct rs_link_row *r = row < n->nrows ? &n->rows[row] : NULL;
    if (!r || !r->compared || !(r->low > 0)) return false;
    double pace = 1; /* of the slowest other link */
    bool used = false;
    for (uint32_t i = uses_of(n, comm); i < n->nuses && n->uses[i].comm == comm; i++) {
        const struct rs_link_row *x = &n->rows[n->uses[i].row];
        used |= n->uses[i].row == row;
        if (n->uses[i].row != row && !pair && x->place == r->place && x->compared) pace = fmax(pace, x->slower);
    }
    if (used) *cure = (struct rs_link_cure){fmin(1, pace / r->slower), fmin(1, pace / r->high), fmin(1, pace / r->low)};
    return true;
}
