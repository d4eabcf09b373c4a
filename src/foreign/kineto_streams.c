#include "foreign/kineto_streams.h"

#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "base/room.h"

/* What one rank sent to, or received from, another in a group. */
struct side {
    uint64_t n, sizes; /* hash of all sizes in their order */
    uint64_t first, last; /* the collectives in front of the first and the last; 0: none */
};

struct stream {
    struct side side[2]; /* sends, receives */
};

struct streams {
    struct stream *rows;
    uint32_t n, cap;
    struct rs_map ids; /* hash of group, source and destination -> row */
};

static enum rs_status find(struct streams *s, uint64_t group, int32_t src, int32_t dst, struct stream **row,
                           struct rs_err *err)
{
    uint64_t *at;
    RS_ROOM(s->rows, s->n, s->cap, err);
    RS_TRY(rs_map_at(&s->ids, rs_mix(rs_mix(rs_mix(0, group), (uint32_t)src), (uint32_t)dst), s->n, &at, err));
    if (*at == s->n) s->rows[s->n++] = (struct stream){0};
    *row = &s->rows[*at];
    return RS_OK;
}

static uint64_t mark_of(const struct rs_kineto_call *c)
{
    uint64_t h = 7;
    for (const char *p = c->func; *p; p++) h = rs_mix(h, (unsigned char)*p);
    h = rs_mix(h, c->number);
    return h ? h : 1;
}

/* Goes through the sends and receives of a trace: `compare` is the second time, when both sides are known. */
static enum rs_status walk(struct streams *s, struct rs_kineto *k, uint64_t *marks, bool compare, struct rs_err *err)
{
    for (uint32_t g = 0; g < k->ngroups; g++) marks[g] = 0;
    for (uint32_t i = 0; i < k->ncalls; i++) {
        const struct rs_kineto_call *c = &k->calls[i];
        struct rs_kineto_group *g = &k->groups[c->group];
        bool send = !strcmp(c->func, "Send"), recv = !strcmp(c->func, "Recv");
        if (!send && !recv) {
            marks[c->group] = mark_of(c);
            continue;
        }
        int32_t peer = rs_kineto_peer(c, g);
        struct stream *row;
        if (g->rank < 0 || peer < 0) continue;
        RS_TRY(find(s, g->hash, send ? g->rank : peer, send ? peer : g->rank, &row, err));
        if (compare) {
            const struct side *a = &row->side[0], *b = &row->side[1];
            if (a->n != b->n || a->sizes != b->sizes || a->first != b->first || a->last != b->last || !a->first)
                g->in_step = false;
            continue;
        }
        struct side *side = &row->side[recv];
        if (!side->n++) side->first = marks[c->group];
        side->last = marks[c->group];
        side->sizes = rs_mix(side->sizes, recv ? c->out : c->in);
    }
    return RS_OK;
}

enum rs_status rs_kineto_streams_compare(struct rs_kineto_file *files, size_t n, struct rs_err *err)
{
    struct streams s = {0};
    uint32_t most = 0;
    for (size_t i = 0; i < n; i++)
        if (files[i].k.ngroups > most) most = files[i].k.ngroups;
    uint64_t *marks = malloc(((size_t)most + 1) * sizeof *marks);
    enum rs_status status = marks ? RS_OK : rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < n; i++)
        for (uint32_t g = 0; g < files[i].k.ngroups; g++) files[i].k.groups[g].in_step = true;
    for (size_t i = 0; i < n && status == RS_OK; i++) status = walk(&s, &files[i].k, marks, false, err);
    for (size_t i = 0; i < n && status == RS_OK; i++) status = walk(&s, &files[i].k, marks, true, err);
    free(marks);
    free(s.rows);
    rs_map_free(&s.ids);
    return status;
}
