#include "foreign/kineto/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/mix.h"
#include "base/room.h"
#include "foreign/json_fields.h"
#include "foreign/torch.h"

enum { MOST_RANKS = 1 << 20, MOST_NAMESAKES = 4096 };

/* ---- distributedInfo ---- */

struct ranks {
    int32_t *v;
    uint32_t n, cap;
};

static void add_rank(struct ranks *r, int64_t v)
{
    if (v < 0 || v > INT32_MAX || r->n >= MOST_RANKS) return;
    RS_ROOM(r->v, r->n, r->cap);
    r->v[r->n++] = (int32_t)v;
}

/* [0, 1], or the text "[0, 1]". */
static void take_ranks(struct ranks *r, struct rs_scan *s)
{
    r->n = 0;
    enum rs_token t = rs_scan_next(s);
    int64_t v;
    if (t == RS_T_ARRAY) {
        for (unsigned depth = s->depth; (t = rs_scan_next(s)) != RS_T_END && s->depth >= depth;)
            if (s->depth == depth && (t == RS_T_NUMBER || t == RS_T_STRING) && rs_scan_i64(s, &v)) add_rank(r, v);
    } else if (t == RS_T_OBJECT) {
        rs_scan_leave(s, s->depth);
    } else if (t == RS_T_STRING) {
        size_t most = s->n / 2 + 1;
        int32_t *list = rs_alloc(most * sizeof *list);
        bool cut;
        uint32_t n = rs_torch_ranks(s->text, s->n, list, (uint32_t)most, &cut);
        for (uint32_t i = 0; i < n && !cut; i++) add_rank(r, list[i]);
        free(list);
        return;
    }
}

/* A text of a token, kept. */
static void keep_text(struct rs_kineto *k, const struct rs_scan *s, const char **text)
{
    char *room = rs_alloc(s->n + 1);
    size_t n = rs_scan_text(s, room, s->n + 1);
    *text = rs_arena_text(&k->arena, room, n);
    free(room);
}

static void add_group(struct rs_kineto *k, const struct rs_kineto_group *g, const struct ranks *r, uint32_t *index)
{
    RS_ROOM(k->groups, k->ngroups, k->cap_groups);
    *index = k->ngroups;
    struct rs_kineto_group *to = &k->groups[k->ngroups];
    *to = *g;
    to->nranks = r->n;
    to->ranks = r->n ? rs_arena_alloc(&k->arena, r->n * sizeof *to->ranks) : NULL;
    if (r->n && !to->ranks) rs_memory_out();
    if (r->n) memcpy(to->ranks, r->v, r->n * sizeof *to->ranks);
    uint64_t *at;
    rs_map_at(&k->group_ids, rs_mix_text(0, g->name), RS_KINETO_NONE, &at);
    to->next = (uint32_t)*at;
    *at = k->ngroups++;
}

/* One object of pg_config. */
static void take_group(struct rs_kineto *k, struct rs_scan *s, struct ranks *r)
{
    struct rs_kineto_group g = {.name = "", .desc = "", .size = -1};
    bool named = false;
    uint32_t index;
    int64_t size;
    r->n = 0;
    for (unsigned depth = s->depth; rs_json_take_key(s, depth);) {
        bool name = rs_scan_is(s, "pg_name"), uid = rs_scan_is(s, "uid"), desc = rs_scan_is(s, "pg_desc");
        if (rs_scan_is(s, "ranks")) {
            take_ranks(r, s);
        } else if (rs_scan_is(s, "pg_size")) {
            rs_json_take_i64(s, &size);
            if (size > 0 && size <= INT32_MAX) g.size = (int32_t)size;
        } else if (name || desc || (uid && !named)) {
            enum rs_token t = rs_scan_next(s);
            if (t == RS_T_OBJECT || t == RS_T_ARRAY)
                rs_scan_leave(s, s->depth);
            else if (t != RS_T_END)
                keep_text(k, s, desc ? &g.desc : &g.name);
            named |= name;
        } else {
            rs_scan_skip(s);
        }
    }
    add_group(k, &g, r, &index);
}

static void take_list(struct rs_kineto *k, struct rs_scan *s, struct ranks *r)
{
    unsigned depth = s->depth;
    while (rs_json_take_object(s, depth)) take_group(k, s, r);
}

/* pg_config: a list, or the text of one. */
static void take_groups(struct rs_kineto *k, struct rs_scan *s, struct ranks *r)
{
    enum rs_token t = rs_scan_next(s);
    if (t == RS_T_ARRAY) {
        take_list(k, s, r);
        return;
    }
    if (t == RS_T_OBJECT) rs_scan_leave(s, s->depth);
    if (t != RS_T_STRING) return;
    char *text = rs_alloc(s->n + 1);
    size_t n = rs_scan_text(s, text, s->n + 1);
    struct rs_scan inner;
    rs_scan_memory(&inner, text, n);
    if (rs_scan_next(&inner) == RS_T_ARRAY) take_list(k, &inner, r);
    rs_scan_free(&inner);
    free(text);
}

static int32_t take_number(struct rs_scan *s)
{
    int64_t v;
    rs_json_take_i64(s, &v);
    return v >= 0 && v <= INT32_MAX ? (int32_t)v : -1;
}

void rs_kineto_info_read(struct rs_kineto *k, struct rs_scan *s)
{
    struct ranks r = {0};
    unsigned depth = rs_json_take_into(s, RS_T_OBJECT);
    while (depth && rs_json_take_key(s, depth)) {
        if (rs_scan_is(s, "rank")) {
            k->rank = take_number(s);
        } else if (rs_scan_is(s, "world_size")) {
            k->world = take_number(s);
        } else if (rs_scan_is(s, "pg_config")) {
            take_groups(k, s, &r);
        } else if (rs_scan_is(s, "nccl_version")) {
            enum rs_token t = rs_scan_next(s);
            if (t == RS_T_STRING) keep_text(k, s, &k->nccl_version);
            if (t == RS_T_OBJECT || t == RS_T_ARRAY) rs_scan_leave(s, s->depth);
        } else {
            rs_scan_skip(s);
        }
    }
    free(r.v);
}

/* ---- groups of calls ---- */

uint32_t rs_kineto_group_add(struct rs_kineto *k, const char *name)
{
    struct rs_kineto_group g = {
        .name = rs_arena_text(&k->arena, name, strlen(name)), .desc = "", .size = -1, .rank = -1};
    struct ranks none = {0};
    uint32_t index;
    add_group(k, &g, &none, &index);
    return index;
}

int32_t rs_kineto_group_rank(const struct rs_kineto_group *g, int32_t global)
{
    for (uint32_t i = 0; i < g->nranks; i++)
        if (g->ranks[i] == global) return (int32_t)i;
    return -1;
}

/* The ranks that a call names: its list, or, where that is cut, the first, the stride and the size. */
static void ranks_of(const struct rs_kineto *k, const struct rs_kineto_call *c, struct ranks *r)
{
    int32_t list[64];
    bool cut = false;
    const struct rs_kineto_name *text = &k->names[c->pg_ranks];
    uint32_t n = rs_torch_ranks(text->text, text->n, list, sizeof list / sizeof *list, &cut);
    r->n = 0;
    for (uint32_t i = 0; i < n && !cut; i++) add_rank(r, list[i]);
    if (!cut && n) return;
    r->n = 0;
    if (c->first_rank < 0 || c->stride <= 0 || c->group_size <= 0 || c->group_size > MOST_RANKS) return;
    for (int64_t i = 0; i < c->group_size; i++) add_rank(r, c->first_rank + i * c->stride);
}

/* Whether a group may be the call's. `r`: the ranks that the call names, perhaps none. */
static bool may_be(const struct rs_kineto_group *g, const char *name, const struct ranks *r, int32_t size)
{
    if (strcmp(g->name, name)) return false;
    if (!r->n || !g->nranks) return size <= 0 || !g->nranks || (int32_t)g->nranks == size;
    return g->nranks == r->n && !memcmp(g->ranks, r->v, r->n * sizeof *r->v);
}

static void text_of(struct rs_kineto *k, uint32_t name, const char **text)
{
    struct rs_scan s = {.text = k->names[name].text, .n = k->names[name].n};
    keep_text(k, &s, text);
}

static void find_group(struct rs_kineto *k, struct rs_kineto_call *c, struct ranks *r)
{
    struct rs_kineto_group g = {.size = c->group_size};
    ranks_of(k, c, r);
    text_of(k, c->pg_name, &g.name);
    uint64_t i = rs_map_get(&k->group_ids, rs_mix_text(0, g.name), RS_KINETO_NONE);
    for (unsigned tries = 0; i != RS_KINETO_NONE && tries < MOST_NAMESAKES; i = k->groups[i].next, tries++)
        if (may_be(&k->groups[i], g.name, r, c->group_size)) {
            c->group = (uint32_t)i;
            return;
        }
    text_of(k, c->pg_desc, &g.desc);
    add_group(k, &g, r, &c->group);
}

/* The rank of the trace as a collective has it: its place in the group. The Rank of a broadcast is its root, that of a
 * send its peer. */
static int32_t rank_by_call(const struct rs_kineto *k, const struct rs_kineto_call *c)
{
    static const char *const own[] = {"AllReduce", "AllGather", "ReduceScatter"};
    const struct rs_kineto_group *g = &k->groups[c->group];
    if (c->lane == RS_KINETO_NONE || c->rank < 0 || (uint32_t)c->rank >= g->nranks) return -1;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!strcmp(c->func, own[i])) return g->ranks[c->rank];
    return -1;
}

/* Of groups of two that only send and receive: who is not the peer. */
static int32_t rank_left(const struct rs_kineto *k, const struct rs_kineto_call *c)
{
    const struct rs_kineto_group *g = &k->groups[c->group];
    bool p2p = !strcmp(c->func, "Send") || !strcmp(c->func, "Recv");
    if (!p2p || g->nranks != 2 || c->lane == RS_KINETO_NONE || c->rank < 0 || c->rank > 1) return -1;
    return g->ranks[!c->rank];
}

static void find_rank(struct rs_kineto *k)
{
    for (uint32_t i = 0; i < k->ncalls && k->rank < 0; i++)
        if (k->calls[i].func) k->rank = rank_by_call(k, &k->calls[i]);
    for (uint32_t i = 0; i < k->ncalls && k->rank < 0; i++)
        if (k->calls[i].func) k->rank = rank_left(k, &k->calls[i]);
}

void rs_kineto_groups_find(struct rs_kineto *k)
{
    struct rs_map seen = {0}; /* what calls say of their groups -> group */
    struct ranks r = {0};
    for (uint32_t i = 0; i < k->ncalls; i++) {
        struct rs_kineto_call *c = &k->calls[i];
        if (!c->func) continue;
        uint64_t key = rs_mix(rs_mix(rs_mix(0, c->pg_name), c->pg_ranks), (uint32_t)c->group_size), *at;
        key = rs_mix(rs_mix(key, (uint32_t)c->first_rank), (uint32_t)c->stride);
        rs_map_at(&seen, key, RS_KINETO_NONE, &at);
        if (*at == RS_KINETO_NONE) {
            find_group(k, c, &r);
            *at = c->group;
        }
        c->group = (uint32_t)*at;
    }
    rs_map_free(&seen);
    free(r.v);
    if (k->rank < 0) find_rank(k);
}

void rs_kineto_groups_settle(struct rs_kineto *k)
{
    for (uint32_t i = 0; i < k->ngroups; i++) {
        struct rs_kineto_group *g = &k->groups[i];
        g->hash = rs_torch_group(g->name, strlen(g->name), g->ranks, g->nranks);
        g->rank = rs_kineto_group_rank(g, k->rank);
    }
}
