#include "join/early_ends.h"

#include "join/p2p_streams.h"
#include "join/waits.h"

enum {
    PAIRS_LEAST = 2, /* pairs as proof: one may have the time of another operation */
    PAIRS_SHARE = 100, /* and at least one in this many pairs */
};

static bool is_p2p(const struct rs_parts *t, uint32_t i)
{
    return (t->kind[i] == RS_PART_SEND || t->kind[i] == RS_PART_RECV) && !(t->flags[i] & RS_PART_SELF);
}

static bool shares_kernel(const struct rs_parts *t, uint32_t a, uint32_t b)
{
    return t->member[a] == t->member[b] && is_p2p(t, b) && rs_launched_together(t, a, b);
}

/* A send or receive whose end is a timer of a kernel with several of them. Parts of one launch are adjacent. */
static bool may_be_early(const struct rs_model *m, uint32_t i)
{
    const struct rs_parts *t = &m->parts;
    if (!is_p2p(t, i) || t->end[i] == RS_TIME_NONE || t->end_source[i] != RS_FROM_KERNEL) return false;
    uint32_t domain = rs_part_end_domain(m, i);
    if (domain == RS_NONE || m->domains[domain].rigid) return false; /* from the driver: the kernel's real end */
    return (i && shares_kernel(t, i, i - 1)) || (i + 1 < t->n && shares_kernel(t, i, i + 1));
}

void rs_early_ends_find(struct rs_model *m)
{
    const struct rs_ops *o = &m->ops;
    struct rs_parts *t = &m->parts;
    uint64_t pairs = 0, proofs = 0;
    for (uint32_t op = 0; op < o->n; op++) {
        if (o->kind[op] != RS_OP_PAIR || o->nparts[op] != 2) continue;
        uint32_t a = m->order[o->part[op]], b = m->order[o->part[op] + 1];
        uint32_t send = t->kind[a] == RS_PART_SEND ? a : b, recv = send == a ? b : a;
        if (t->start[send] == RS_TIME_NONE || !may_be_early(m, recv)) continue;
        pairs++;
        proofs += rs_ends_before(m, recv, send);
    }
    if (proofs < PAIRS_LEAST || proofs < pairs / PAIRS_SHARE) return;
    for (uint32_t i = 0; i < t->n; i++)
        if (may_be_early(m, i)) t->flags[i] |= RS_PART_END_EARLY;
}
