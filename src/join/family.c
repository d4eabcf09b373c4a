#include "join/family.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/memory.h"
#include "base/mix.h"
#include "join/classes.h"
#include "join/ranks.h"
#include "nccl/digest.h"

enum {
    FEW = 64, /* splits of one communicator that are always tried */
    NEAR = 6, /* splits tried after the last one found: siblings follow each other */
    SMALL = 8, /* colours that are always tried */
    GUESSES = SMALL + 5 + RS_FAMILY_COLORS,
};

uint32_t rs_family_most_work = 60000000;

/* ---- PyTorch's colours ---- */

/* Python's hash of a tuple of small numbers (3.8 and newer). */
static uint64_t tuple_hash(const int32_t *ranks, size_t n)
{
    const uint64_t p1 = 11400714785074694791u, p2 = 14029467366897019727u, p5 = 2870177450012600261u;
    uint64_t h = p5;
    for (size_t i = 0; i < n; i++) {
        h += (uint64_t)ranks[i] * p2;
        h = h << 31 | h >> 33;
        h *= p1;
    }
    h += n ^ (p5 ^ 3527539u);
    return h == UINT64_MAX ? 1546275796u : h;
}

/* The usual combination of hashes in C++, for numbers that are their own hash. */
static uint64_t folded_hash(const int32_t *ranks, size_t n)
{
    uint64_t h = 0;
    for (size_t i = 0; i < n; i++) h ^= (uint64_t)ranks[i] + 0x9e3779b9u + (h << 6) + (h >> 2);
    return h;
}

static uint64_t without_sign(uint64_t h)
{
    return h >> 63 ? -h : h;
}

void rs_family_colors(const int32_t *ranks, size_t n, int32_t colors[RS_FAMILY_COLORS])
{
    uint64_t tuple = without_sign(tuple_hash(ranks, n));
    colors[0] = (int32_t)(tuple & INT32_MAX); /* computed in Python */
    colors[1] = (int32_t)(uint32_t)tuple; /* older versions: 32 bits, sometimes negative */
    colors[2] = (int32_t)(without_sign(folded_hash(ranks, n)) % INT32_MAX); /* computed in C++ */
}

/* ---- subsets ---- */

struct at_place {
    uint32_t place;
    int32_t rank;
};

struct work {
    struct rs_model *m;
    uint32_t *places_at; /* by communicator: its first place; one more at the end */
    struct at_place *places; /* of a communicator, by place */
    uint32_t *comms_at; /* by place: its first communicator; one more at the end */
    uint32_t *comms; /* ascending */
    int64_t *created; /* in step with `comms` */
    int32_t *ranks; /* in the parent, of the child at hand */
    uint8_t *asked; /* by communicator: it may be the parent of one with an unknown parent */
    int32_t *last; /* by communicator: number of the child that was found last */
    int64_t left; /* remaining work */
};

/* Ranks that share a GPU are one place: which of them is in a communicator is not always known. Members without a place
 * are sorted last and have no parent. */
static uint32_t place_of(const struct rs_model *m, uint32_t member)
{
    return m->members[member].place == RS_NONE ? m->nranks : m->members[member].place;
}

static int by_place(const void *a, const void *b)
{
    const struct at_place *x = a, *y = b;
    if (x->place != y->place) return x->place < y->place ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static void index_members(struct work *w)
{
    struct rs_model *m = w->m;
    uint32_t n = m->nranks + 1;
    w->places_at = rs_zalloc((size_t)m->ncomms + 1, sizeof *w->places_at);
    w->places = rs_zalloc((size_t)m->nmembers + 1, sizeof *w->places);
    w->comms_at = rs_zalloc((size_t)n + 2, sizeof *w->comms_at);
    w->comms = rs_zalloc((size_t)m->nmembers + 1, sizeof *w->comms);
    w->created = rs_zalloc((size_t)m->nmembers + 1, sizeof *w->created);
    w->ranks = rs_zalloc((size_t)m->nmembers + 1, sizeof *w->ranks);
    w->asked = rs_zalloc((size_t)m->ncomms + 1, sizeof *w->asked);
    w->last = rs_zalloc((size_t)m->ncomms + 1, sizeof *w->last);
    uint32_t at = 0;
    for (uint32_t c = 0; c < m->ncomms; c++) {
        w->places_at[c] = at;
        for (uint32_t i = m->comms[c].first_member; i != RS_NONE && at < m->nmembers; i = m->members[i].next) {
            w->places[at++] = (struct at_place){place_of(m, i), m->members[i].rank};
            w->comms_at[place_of(m, i) + 2]++;
        }
        qsort(w->places + w->places_at[c], at - w->places_at[c], sizeof *w->places, by_place);
    }
    w->places_at[m->ncomms] = at;
    for (uint32_t p = 0; p < n; p++) w->comms_at[p + 2] += w->comms_at[p + 1];
    for (uint32_t c = 0; c < m->ncomms; c++)
        for (uint32_t i = m->comms[c].first_member; i != RS_NONE; i = m->members[i].next) {
            uint32_t to = w->comms_at[place_of(m, i) + 1];
            if (to >= at) break;
            w->comms_at[place_of(m, i) + 1]++;
            w->comms[to] = c;
            w->created[to] = m->members[i].created;
        }
}

/* The rank of a place in a communicator; -1: none. */
static int32_t rank_in(const struct work *w, uint32_t comm, uint32_t place)
{
    uint32_t low = w->places_at[comm], high = w->places_at[comm + 1];
    RS_BISECT(low, high, mid, w->places[mid].place < place);
    return low < w->places_at[comm + 1] && w->places[low].place == place ? w->places[low].rank : -1;
}

/* Whether `parent` contains all of `child`; then w->ranks are their ranks there, in the child's order. */
static bool contains(struct work *w, uint32_t parent, uint32_t child)
{
    const struct rs_model *m = w->m;
    if (m->comms[parent].nmembers < m->comms[child].nmembers || m->comms[parent].nranks < m->comms[child].nranks)
        return false;
    uint32_t n = 0;
    for (uint32_t i = m->comms[child].first_member; i != RS_NONE; i = m->members[i].next) {
        int32_t rank = rank_in(w, parent, place_of(m, i));
        w->left--;
        if (rank < 0) return false;
        w->ranks[n++] = rank;
    }
    return n > 0;
}

/* ---- search ---- */

/* Colours that a program is likely to have used for these ranks. */
static int guess(const struct work *w, uint32_t child, int32_t colors[GUESSES], int *from_ranks)
{
    const struct rs_comm_row *c = &w->m->comms[child];
    int n = 0;
    for (int32_t i = 0; i < SMALL; i++) colors[n++] = i;
    int32_t first = w->ranks[0], size = c->nranks > 0 ? c->nranks : 1;
    int64_t step = c->nmembers > 1 ? (int64_t)w->ranks[1] - first : 1;
    if (step < 1) step = 1;
    int64_t block = step * size;
    const int64_t likely[] = {first, first / size, first % step, first / block, first / block * step + first % step};
    for (size_t i = 0; i < sizeof likely / sizeof *likely; i++)
        if (likely[i] >= SMALL) colors[n++] = (int32_t)likely[i];
    *from_ranks = n;
    if (c->nmembers == (uint32_t)size) { /* the list is complete */
        rs_family_colors(w->ranks, c->nmembers, colors + n);
        n += RS_FAMILY_COLORS;
    }
    return n;
}

static bool try_counts(struct work *w, uint32_t parent, uint32_t child, int32_t from, int32_t to)
{
    struct rs_comm_row *c = &w->m->comms[child];
    uint64_t hash = w->m->comms[parent].hash;
    int32_t colors[GUESSES];
    int from_ranks, n = guess(w, child, colors, &from_ranks);
    for (int32_t count = from; count <= to && w->left > 0; count++) {
        int tried = count ? n : 1; /* number 0 is a shrink, of colour 0 */
        w->left -= tried;
        for (int k = 0; k < tried; k++) {
            if (rs_nccl_split_hash(hash, count, colors[k]) != c->hash) continue;
            c->parent = (struct rs_parent){parent, count, colors[k], k >= from_ranks, c->parent.hash};
            w->last[parent] = count;
            return true;
        }
    }
    return false;
}

static bool try_pair(struct work *w, uint32_t parent, uint32_t child, int32_t from, int32_t to)
{
    int32_t last = w->last[parent];
    return (last && try_counts(w, parent, child, last, last + NEAR)) || try_counts(w, parent, child, from, to);
}

/* Parents that are larger than the child, or those of the same size. The newest first: of several communicators with
 * one hash, the latest before the child is its parent. */
static void try_candidates(struct work *w, uint32_t child, bool larger, int32_t from, int32_t to)
{
    const struct rs_model *m = w->m;
    const struct rs_comm_row *c = &m->comms[child];
    if (!c->hash || c->first_member == RS_NONE) return;
    uint32_t place = place_of(m, c->first_member);
    if (place == m->nranks) return;
    int64_t created = m->members[c->first_member].created;
    for (uint32_t k = w->comms_at[place + 1]; k-- > w->comms_at[place] && w->left > 0;) {
        uint32_t parent = w->comms[k];
        w->left--;
        if (parent == child || !m->comms[parent].hash || m->comms[parent].hash == c->hash) continue;
        if (larger != (m->comms[parent].nranks > c->nranks)) continue;
        if (created != RS_TIME_NONE && w->created[k] != RS_TIME_NONE && w->created[k] > created) continue;
        if (!contains(w, parent, child)) continue;
        w->asked[parent] = 1;
        if (try_pair(w, parent, child, from, to)) return;
    }
}

/* Any colour below the number of ranks: looks up all digests of the likely parents. */
static void try_all_colors(struct work *w)
{
    struct rs_model *m = w->m;
    struct rs_map open = {0};
    for (uint32_t c = 0; c < m->ncomms; c++)
        if (m->comms[c].parent.comm == RS_NONE && m->comms[c].hash) rs_map_put(&open, m->comms[c].hash, c);
    for (uint32_t p = 0; p < m->ncomms && w->left > 0; p++) {
        if (!w->asked[p]) continue;
        for (int32_t count = 1; count <= FEW && w->left > 0; count++)
            for (int32_t color = SMALL; color < m->comms[p].nranks && w->left > 0; color++) {
                w->left--;
                uint64_t *child = rs_map_find(&open, rs_nccl_split_hash(m->comms[p].hash, count, color));
                if (!child || *child == p || !contains(w, p, (uint32_t)*child)) continue;
                m->comms[*child].parent = (struct rs_parent){p, count, color, false, m->comms[*child].parent.hash};
            }
    }
    rs_map_free(&open);
}

static enum rs_status find_parents(struct work *w, struct rs_err *err)
{
    struct rs_model *m = w->m;
    index_members(w);
    w->left = rs_family_most_work;
    /* Finds nearly all. Each group of PyTorch is a split of the first communicator, so numbers grow with the groups. */
    int32_t most = (int32_t)(m->ncomms < rs_family_most_work ? m->ncomms : rs_family_most_work);
    const struct {
        bool larger;
        int32_t from, to;
    } rounds[] = {{true, 0, NEAR},
                  {false, 0, NEAR},
                  {true, NEAR + 1, FEW},
                  {false, NEAR + 1, FEW},
                  {true, FEW + 1, FEW + most},
                  {false, FEW + 1, FEW + most}};
    for (size_t r = 0; r < sizeof rounds / sizeof *rounds; r++)
        for (uint32_t c = 0; c < m->ncomms; c++)
            if (m->comms[c].parent.comm == RS_NONE)
                try_candidates(w, c, rounds[r].larger, rounds[r].from, rounds[r].to);
    try_all_colors(w);
    if (w->left > 0) return RS_OK;
    return rs_model_note(m, err,
                         "the search for parents of communicators was stopped early: there are %u communicators, and "
                         "some are shown without their parent",
                         m->ncomms);
}

/* ---- the first communicator ---- */

/* A process's first communicator, if an importer had to guess it, was not split from another: it is the root of its
 * family. */
static void settle_first(struct rs_model *m)
{
    enum { DEEPEST = 64 }; /* damaged hashes may form a cycle */
    struct rs_map roots = {0}; /* root << 32 | process -> 1 */
    for (uint32_t i = 0; i < m->nmembers; i++) {
        struct rs_member *x = &m->members[i];
        uint32_t root = x->comm;
        if (x->created_from != RS_LIFE_FIRST_INIT || x->created == RS_TIME_NONE) continue;
        for (int n = 0; n < DEEPEST && m->comms[root].parent.comm != RS_NONE; n++) root = m->comms[root].parent.comm;
        if (root == x->comm) continue;
        uint64_t *at;
        rs_map_at(&roots, (uint64_t)root << 32 | x->proc, (uint64_t)x->created, &at);
        x->created = RS_TIME_NONE;
    }
    for (uint32_t i = 0; i < m->nmembers && rs_map_count(&roots); i++) {
        struct rs_member *x = &m->members[i];
        const uint64_t *at = rs_map_find(&roots, (uint64_t)x->comm << 32 | x->proc);
        if (!at) continue;
        x->created = (int64_t)*at;
        x->created_from = RS_LIFE_FIRST_INIT;
    }
    rs_map_free(&roots);
}

/* A parent reported by a tool is used where the hashes show none. */
static void use_recorded(struct rs_model *m)
{
    enum { DEEPEST = 64 };
    struct rs_map by_hash = {0};
    for (uint32_t c = 0; c < m->ncomms; c++)
        if (m->comms[c].hash) rs_map_put(&by_hash, rs_mix(m->comms[c].tool, m->comms[c].hash), c);
    for (uint32_t c = 0; c < m->ncomms; c++) {
        struct rs_parent *p = &m->comms[c].parent;
        if (p->comm != RS_NONE || !p->hash) continue;
        uint32_t parent = (uint32_t)rs_map_get(&by_hash, rs_mix(m->comms[c].tool, p->hash), RS_NONE), up = parent;
        for (int k = 0; k < DEEPEST && up != RS_NONE && up != c; k++) up = m->comms[up].parent.comm;
        if (parent == RS_NONE || up != RS_NONE) continue; /* its own ancestor: a damaged file */
        p->comm = parent;
        p->count = -1;
    }
    rs_map_free(&by_hash);
}

enum rs_status rs_family_find(struct rs_model *m, struct rs_err *err)
{
    struct work w = {.m = m};
    for (uint32_t c = 0; c < m->ncomms; c++) {
        const struct rs_parent *p = &m->comms[c].parent;
        m->comms[c].parent = (struct rs_parent){.comm = RS_NONE, .hash = p->hash, .color = p->hash ? p->color : 0};
    }
    enum rs_status status = find_parents(&w, err);
    if (status == RS_OK) use_recorded(m);
    if (status == RS_OK) settle_first(m);
    free(w.places_at);
    free(w.places);
    free(w.comms_at);
    free(w.comms);
    free(w.created);
    free(w.ranks);
    free(w.asked);
    free(w.last);
    if (status == RS_OK) {
        rs_classes_find(m);
        return RS_OK;
    }
    return status;
}
