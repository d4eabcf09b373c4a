#include "analyse/network.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/room.h"

enum { ENOUGH_MESSAGES = 16, ENOUGH_LINKS = 2 };
static const double SLOW = 2;

struct work {
    struct rs_matrix *out;
    const struct rs_view *view;
    struct rs_map members; /* communicator, rank -> member */
    struct rs_map index; /* rank, peer -> row */
    uint32_t cap;
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

static void row_of(struct work *w, const struct rs_net *net, struct rs_link_row **row)
{
    const struct rs_model *m = w->view->model;
    uint32_t comm = m->members[net->member].comm, rank_id = w->view->model->members[net->member].rank_id;
    uint64_t peer = rs_map_get(&w->members, (uint64_t)comm << 32 | (uint32_t)net->peer, RS_NONE), *at;
    int32_t unseen = peer == RS_NONE ? rank_of_unseen(m, net->member, net->peer) : -1;
    uint32_t peer_id = peer == RS_NONE ? RS_NONE : w->view->model->members[peer].rank_id;
    /* Unrecorded peers: by their rank of the job, else all peers of a rank together. */
    uint64_t other = peer_id != RS_NONE ? peer_id : UINT64_C(0x80000000) | (uint32_t)(unseen & 0x7fffffff);
    rs_map_at(&w->index, (uint64_t)rank_id << 32 | other, w->out->nrows, &at);
    if (*at == w->out->nrows) {
        RS_ROOM(w->out->rows, w->out->nrows, w->cap);
        w->out->rows[w->out->nrows++] =
            (struct rs_link_row){.rank_id = rank_id,
                                 .peer_id = peer_id,
                                 .rank = w->view->model->ranks[rank_id].number,
                                 .peer = peer_id != RS_NONE ? w->view->model->ranks[peer_id].number : unseen};
    }
    *row = &w->out->rows[*at];
}

static void collect(struct work *w, const struct rs_filter *filter, int64_t from)
{
    const struct rs_model *m = w->view->model;
    index_members(w);
    for (uint32_t i = 0; i < m->nnets; i++) {
        const struct rs_net *n = &m->nets[i];
        if (m->members[n->member].rank_id == RS_NONE) continue;
        if (!rs_filter_comm(filter, m, m->members[n->member].comm) || !rs_filter_rank(filter, m, n->member) ||
            !rs_filter_time(filter, n->from) || (from != RS_TIME_NONE && n->to < from))
            continue;
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

/* ---- slow links ---- */

static bool measurable(const struct rs_link_row *r)
{
    return r->messages >= ENOUGH_MESSAGES && r->bytes && r->net_ns > 0;
}

/* Links that can be compared: between hosts or not, and the power of two of their message size. */
static unsigned kind_of(const struct rs_view *v, const struct rs_link_row *r)
{
    bool remote = r->peer_id == RS_NONE || v->model->ranks[r->rank_id].host != v->model->ranks[r->peer_id].host;
    uint64_t size = r->bytes / r->messages;
    return (unsigned)(size ? 64 - __builtin_clzll(size) : 0) << 1 | remote;
}

/* fs per byte: integers for the selection. */
static int64_t per_byte(const struct rs_link_row *r)
{
    return (int64_t)((double)r->net_ns * 1e6 / (double)r->bytes);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The lower median of a sorted list of at least two, without one of its values: a link is not compared with itself. */
static int64_t median_without(const int64_t *list, size_t n, int64_t value)
{
    size_t k = (n - 2) / 2;
    return list[value > list[k] ? k : k + 1];
}

static void compare(struct work *w)
{
    struct rs_matrix *n = w->out;
    int64_t *list = rs_alloc(((size_t)n->nrows + 1) * sizeof *list);
    bool present[2 * 65] = {0};
    for (uint32_t i = 0; i < n->nrows; i++)
        if (measurable(&n->rows[i])) present[kind_of(w->view, &n->rows[i])] = true;
    for (unsigned kind = 0; kind < sizeof present; kind++) {
        if (!present[kind]) continue;
        size_t links = 0;
        for (uint32_t i = 0; i < n->nrows; i++)
            if (measurable(&n->rows[i]) && kind_of(w->view, &n->rows[i]) == kind) list[links++] = per_byte(&n->rows[i]);
        if (links < ENOUGH_LINKS) continue;
        qsort(list, links, sizeof *list, by_value);
        for (uint32_t i = 0; i < n->nrows; i++) {
            struct rs_link_row *r = &n->rows[i];
            if (!measurable(r) || kind_of(w->view, r) != kind) continue;
            int64_t others = median_without(list, links, per_byte(r));
            if (others > 0) r->slower = (double)per_byte(r) / (double)others;
        }
    }
    free(list);
}

/* Per sender or receiver: compared links, slow ones, and the slowest. */
struct end {
    uint32_t links, slow, worst;
};

static bool is_slow_end(const struct end *e)
{
    return e->slow >= 2 && e->slow * 5 >= e->links * 4;
}

static void count_ends(const struct rs_matrix *n, struct end *out, struct end *in)
{
    for (uint32_t i = 0; i < n->nrows; i++) {
        const struct rs_link_row *r = &n->rows[i];
        if (!(r->slower > 0)) continue;
        struct end *ends[] = {&out[r->rank_id], r->peer_id != RS_NONE ? &in[r->peer_id] : NULL};
        for (int k = 0; k < 2; k++) {
            struct end *e = ends[k];
            if (!e) continue;
            if (!e->links++ || r->slower > n->rows[e->worst].slower) e->worst = i;
            e->slow += r->slower >= SLOW;
        }
    }
}

static int by_slowness(const void *a, const void *b)
{
    const struct rs_slow_link *x = a, *y = b;
    if (x->slower > y->slower || x->slower < y->slower) return x->slower > y->slower ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static void name_slow(struct work *w)
{
    struct rs_matrix *n = w->out;
    uint32_t ranks = w->view->model->nranks;
    struct end *out = rs_zalloc(2 * (size_t)ranks + 1, sizeof *out), *in = out + ranks;
    n->slow = rs_alloc(((size_t)n->nrows + 2 * (size_t)ranks + 1) * sizeof *n->slow);
    count_ends(n, out, in);
    for (uint32_t i = 0; i < 2 * ranks; i++)
        if (is_slow_end(&out[i]))
            n->slow[n->nslow++] = (struct rs_slow_link){.scope = i < ranks ? RS_SLOW_SENDER : RS_SLOW_RECEIVER,
                                                        .row = out[i].worst,
                                                        .links = out[i].slow,
                                                        .slower = n->rows[out[i].worst].slower};
    for (uint32_t i = 0; i < n->nrows; i++) {
        const struct rs_link_row *r = &n->rows[i];
        if (r->slower < SLOW || is_slow_end(&out[r->rank_id])) continue;
        if (r->peer_id != RS_NONE && is_slow_end(&in[r->peer_id])) continue;
        n->slow[n->nslow++] = (struct rs_slow_link){.scope = RS_SLOW_LINK, .row = i, .links = 1, .slower = r->slower};
    }
    qsort(n->slow, n->nslow, sizeof *n->slow, by_slowness);
    free(out);
}

void rs_matrix_find(struct rs_matrix *n, const struct rs_view *view, const struct rs_filter *filter, int64_t from)
{
    struct work w = {.out = n, .view = view};
    *n = (struct rs_matrix){0};
    collect(&w, filter, from);
    if (n->nrows) {
        qsort(n->rows, n->nrows, sizeof *n->rows, by_time);
        compare(&w);
        name_slow(&w);
    }
    rs_map_free(&w.members);
    rs_map_free(&w.index);
}

void rs_matrix_free(struct rs_matrix *n)
{
    free(n->rows);
    free(n->slow);
    *n = (struct rs_matrix){0};
}
