#include "model/filter.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

void rs_filter_resolve(struct rs_filter *f, struct rs_model *m)
{
    int64_t begin = rs_model_begin(m);
    if (begin == RS_TIME_NONE) begin = 0;
    if (f->from_relative && __builtin_add_overflow(f->from, begin, &f->from)) f->from = INT64_MAX;
    if (f->to_relative && __builtin_add_overflow(f->to, begin, &f->to)) f->to = INT64_MAX;
    f->from_relative = f->to_relative = false;
}

/* A name, or the "desc" of PyTorch's "desc:name", as reports show it. */
static bool is_named(const char *name, const char *want)
{
    size_t n = strlen(want);
    return !strcmp(name, want) || (n && !strncmp(name, want, n) && name[n] == ':');
}

bool rs_filter_comm(const struct rs_filter *f, const struct rs_model *m, uint32_t comm)
{
    if (!f->ncomms) return true;
    const struct rs_comm_row *c = &m->comms[comm];
    char hex[19];
    snprintf(hex, sizeof hex, "0x%016" PRIx64, c->hash);
    for (size_t i = 0; i < f->ncomms; i++) {
        const char *want = f->comms[i];
        for (uint32_t v = comm; v != RS_NONE; v = m->comms[v].view) /* by the name of any tool */
            if (m->comms[v].name && is_named(m->comms[v].name, want)) return true;
        const char *digits = !strncasecmp(want, "0x", 2) ? hex : hex + 2;
        if (strlen(want) >= 4 && !strncasecmp(digits, want, strlen(want))) return true;
    }
    return false;
}

static bool is_asked_for(const struct rs_filter *f, int32_t rank)
{
    for (size_t i = 0; i < f->nranks; i++)
        if (rank >= f->ranks[i].from && rank <= f->ranks[i].to) return true;
    return !f->nranks;
}

bool rs_filter_rank(const struct rs_filter *f, const struct rs_model *m, uint32_t member)
{
    if (!f->nranks) return true;
    const struct rs_member *x = &m->members[member];
    return is_asked_for(f, x->global_rank >= 0 ? x->global_rank : x->rank);
}

bool rs_filter_rank_row(const struct rs_filter *f, const struct rs_model *m, uint32_t rank_id)
{
    const struct rs_rank *r = &m->ranks[rank_id];
    return r->number < 0 && r->member != RS_NONE ? rs_filter_rank(f, m, r->member) : is_asked_for(f, r->number);
}

bool rs_filter_func(const struct rs_filter *f, const char *func)
{
    for (size_t i = 0; i < f->nfuncs; i++)
        if (!strcasecmp(f->funcs[i], func)) return true;
    return !f->nfuncs;
}

bool rs_filter_time(const struct rs_filter *f, int64_t ns)
{
    if (!f->has_from && !f->has_to) return true;
    return ns != RS_TIME_NONE && (!f->has_from || ns >= f->from) && (!f->has_to || ns < f->to);
}

bool rs_filter_op(const struct rs_filter *f, const struct rs_model *m, uint32_t op)
{
    if (!rs_filter_comm(f, m, m->ops.comm[op])) return false;
    if (!rs_filter_func(f, rs_model_text(m, m->ops.func[op]))) return false;
    bool rank = !f->nranks;
    for (uint32_t i = 0; i < m->ops.nparts[op] && !rank; i++)
        rank = rs_filter_rank(f, m, m->parts.member[m->order[m->ops.part[op] + i]]);
    return rank && rs_filter_time(f, (f->has_from || f->has_to) ? rs_op_begin(m, op) : 0);
}

void rs_filter_describe(const struct rs_filter *f, struct rs_strbuf *to)
{
    for (size_t i = 0; i < f->nranks; i++)
        rs_strbuf_printf(to, f->ranks[i].from == f->ranks[i].to ? "%s--rank %d" : "%s--rank %d-%d", to->len ? " " : "",
                         f->ranks[i].from, f->ranks[i].to);
    for (size_t i = 0; i < f->ncomms; i++) rs_strbuf_printf(to, "%s--comm %s", to->len ? " " : "", f->comms[i]);
    for (size_t i = 0; i < f->nfuncs; i++) rs_strbuf_printf(to, "%s--func %s", to->len ? " " : "", f->funcs[i]);
    if (f->has_from) rs_strbuf_printf(to, "%s--from %lld", to->len ? " " : "", (long long)f->from);
    if (f->has_to) rs_strbuf_printf(to, "%s--to %lld", to->len ? " " : "", (long long)f->to);
}
