#include "analyse/hang_flight.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/hang_equals.h"
#include "analyse/hang_phrases.h"
#include "analyse/hang_rows.h"
#include "analyse/hang_words.h"
#include "base/bisect.h"
#include "base/memory.h"
#include "base/mix.h"
#include "join/flow.h"
#include "nccl/abi.h"

static uint64_t number_key(uint32_t member, uint64_t seq)
{
    return rs_mix(rs_mix(11, member), seq);
}

uint32_t rs_hang_at_number(const struct rs_hang_state *s, uint32_t member, uint64_t seq)
{
    uint32_t part = (uint32_t)rs_map_get(&s->numbers, number_key(member, seq), RS_NONE);
    bool found = part != RS_NONE && s->m->parts.member[part] == member && s->m->parts.seq[part] == seq;
    return found ? part : RS_NONE; /* two keys of one hash: the second is not found */
}

/* Whether a collective ends nowhere before all ranks have come. */
static bool needs_all(const struct rs_model *m, uint32_t part)
{
    return rs_func_flow(m, m->parts.func[part]) == RS_FLOW_ALL;
}

static bool is_numbered(const struct rs_model *m, uint32_t part)
{
    const struct rs_parts *t = &m->parts;
    return t->member[part] != RS_NONE && t->kind[part] == RS_PART_COLL && t->seq[part] != UINT64_MAX &&
           rs_hang_has_states(m, m->members[t->member[part]].comm);
}

/* How far each member came: by its entries, and by the summary of its dump where that counts collectives. */
static void count_calls(struct rs_hang_state *s)
{
    const struct rs_model *m = s->m;
    for (uint32_t i = 0; i < m->parts.n; i++) {
        uint32_t x = m->parts.member[i];
        if (x == RS_NONE || !rs_hang_has_states(m, m->members[x].comm)) continue;
        if (m->parts.kind[i] == RS_PART_SEND || m->parts.kind[i] == RS_PART_RECV) s->has_pairs[m->members[x].comm] = 1;
    }
    for (uint32_t i = 0; i < m->nmembers; i++) {
        const struct rs_member *x = &m->members[i];
        s->asked[i] = x->asked;
        if (s->has_pairs[x->comm]) continue;
        if (x->enqueued > s->asked[i]) s->asked[i] = x->enqueued;
        s->done[i] = x->completed;
    }
    for (uint32_t i = 0; i < m->parts.n; i++) {
        if (!is_numbered(m, i) || !(m->parts.flags[i] & RS_PART_SETTLED)) continue;
        uint64_t *done = &s->done[m->parts.member[i]];
        if (m->parts.seq[i] >= *done) *done = m->parts.seq[i] + 1;
    }
    for (uint32_t i = 0; i < m->nmembers; i++) {
        uint64_t *least = &s->least[m->members[i].comm], *most = &s->most[m->members[i].comm];
        if (s->asked[i] && s->asked[i] < *least) *least = s->asked[i];
        if (s->done[i] > *most) *most = s->done[i];
    }
}

/* What a rank's dump calls pending, and its peers have ended with its help. Its own watchdog does not see completions
 * any more: its GPU or its process failed, or its dump was made before theirs. */
static void find_stale(struct rs_hang_state *s)
{
    const struct rs_model *m = s->m;
    uint32_t *furthest = rs_alloc(((size_t)m->ncomms + 1) * sizeof *furthest); /* by communicator: a member */
    for (uint32_t i = 0; i < m->nmembers; i++)
        if (s->done[i] && s->done[i] == s->most[m->members[i].comm]) furthest[m->members[i].comm] = i;
    for (uint32_t i = 0; i < m->parts.n; i++) {
        if (!is_numbered(m, i) || (m->parts.flags[i] & RS_PART_DONE)) continue;
        uint32_t x = m->parts.member[i], comm = m->members[x].comm, proc = m->members[x].proc;
        uint64_t seq = m->parts.seq[i];
        if (seq < s->done[x] || seq >= s->most[comm] || seq >= s->least[comm] || !needs_all(m, i)) continue;
        uint32_t ended = rs_hang_at_number(s, furthest[comm], seq);
        if (ended != RS_NONE && m->parts.func[ended] != m->parts.func[i]) continue; /* it had completed another */
        if (s->stale_from[proc] == RS_NONE) s->stale_from[proc] = i;
        s->stale_to[proc] = i;
    }
    for (uint32_t p = 0; p < m->nprocs; p++) /* a single one: its watchdog may not have looked yet */
        if (s->stale_from[p] == s->stale_to[p]) s->stale_from[p] = s->stale_to[p] = RS_NONE;
    free(furthest);
}

void rs_hang_flight_make(struct rs_hang_state *s)
{
    const struct rs_model *m = s->m;
    const struct rs_parts *t = &m->parts;
    count_calls(s);
    for (uint32_t i = 0; i < t->n; i++) {
        if (!is_numbered(m, i)) continue;
        uint64_t *at;
        rs_map_at(&s->numbers, number_key(t->member[i], t->seq[i]), i, &at);
        uint64_t *proven = &s->proven[m->members[t->member[i]].comm];
        if ((t->flags[i] & RS_PART_SETTLED) && t->seq[i] >= *proven && needs_all(m, i)) *proven = t->seq[i] + 1;
    }
    find_stale(s);
}

/* Whether a part can only end when all ranks, or its sender, have come, and one surely did not. */
static bool is_impossible(const struct rs_hang_state *s, uint32_t part)
{
    const struct rs_model *m = s->m;
    uint32_t op = m->parts.op[part], comm = m->members[m->parts.member[part]].comm;
    if (op == RS_NONE || (m->parts.flags[part] & RS_PART_SETTLED)) return false;
    if (m->parts.kind[part] == RS_PART_RECV)
        return m->ops.nparts[op] == 1 && rs_presence(&s->presence, m, op, m->ops.root[op]) == RS_MISSING;
    if (m->parts.kind[part] != RS_PART_COLL || m->parts.seq[part] == UINT64_MAX) return false;
    /* A rank that others prove to have come further than its dump says was dumped before them. */
    return m->parts.seq[part] >= s->least[comm] && s->proven[comm] <= s->least[comm] && needs_all(m, part);
}

/* Of a process that does not see completions: whether this one is over as well. Collectives of one group run one after
 * the other. Whether its sends and receives are over is not known: they do not show what holds the rank. */
static bool is_stale(const struct rs_hang_state *s, uint32_t part)
{
    const struct rs_model *m = s->m;
    uint32_t x = m->parts.member[part], comm = m->members[x].comm, proc = m->members[x].proc;
    if (s->stale_to[proc] == RS_NONE) return false;
    if (m->parts.kind[part] != RS_PART_COLL || m->parts.seq[part] == UINT64_MAX) return true;
    return part <= s->stale_to[proc] && m->parts.seq[part] < s->least[comm] && m->parts.seq[part] < s->most[comm];
}

enum rs_stage rs_hang_flight_part(const struct rs_hang_state *s, uint32_t part)
{
    const struct rs_parts *t = &s->m->parts;
    const struct rs_proc *p = rs_part_proc(s->m, part);
    if (t->flags[part] & RS_PART_SELF) return RS_STAGE_ENDED;
    bool counted = t->kind[part] == RS_PART_COLL && t->seq[part] < s->done[t->member[part]];
    if (counted || (t->flags[part] & RS_PART_DONE)) return is_impossible(s, part) ? RS_STAGE_RUNNING : RS_STAGE_ENDED;
    if (is_stale(s, part)) return RS_STAGE_ENDED;
    if (t->flags[part] & RS_PART_STARTED) return RS_STAGE_RUNNING;
    /* A start is only recorded where the tool was asked to look for starts. */
    return p->ncovers && (p->covers[0].mask & RS_KERNEL_CH) ? RS_STAGE_LAUNCHED : RS_STAGE_ENTERED;
}

bool rs_hang_is_older(const struct rs_hang_state *s, uint32_t member)
{
    return s->asked[member] && s->proven[s->m->members[member].comm] > s->asked[member];
}

enum rs_stage rs_hang_flight_stage(const struct rs_hang_state *s, uint32_t op, uint32_t member)
{
    const struct rs_model *m = s->m;
    uint64_t seq = m->ops.seq[op], asked = s->asked[member];
    if (m->ops.kind[op] != RS_OP_COLL || seq == UINT64_MAX) return RS_STAGE_NOT_RECORDED;
    if (asked && seq >= asked) return rs_hang_is_older(s, member) ? RS_STAGE_NOT_RECORDED : RS_STAGE_ABSENT;
    if (seq < s->done[member]) return RS_STAGE_ENDED;
    /* It called something else under this number, or has not come that far. */
    if (rs_hang_at_number(s, member, seq) != RS_NONE) return RS_STAGE_ABSENT;
    if (asked && m->procs[m->members[member].proc].active_only) return RS_STAGE_ENDED;
    uint32_t first = s->first[member];
    bool before = first != RS_NONE && m->parts.kind[first] == RS_PART_COLL && m->parts.seq[first] <= seq;
    return before ? RS_STAGE_ABSENT : RS_STAGE_NOT_RECORDED;
}

bool rs_hang_flight_pair(const struct rs_hang_state *s, struct rs_hang_rank *row)
{
    const struct rs_proc *p = &s->m->procs[s->m->members[row->member].proc];
    bool stale = row->part != RS_NONE && is_stale(s, row->part);
    if (row->part != RS_NONE && !stale) return false;
    if (!stale && !p->active_only) return false;
    row->part = RS_NONE;
    row->stage = RS_STAGE_ABSENT;
    return true;
}

const char *rs_hang_rule(const struct rs_model *m, uint32_t a, uint32_t b)
{
    const struct rs_parts *t = &m->parts;
    if (t->func[a] != t->func[b] && t->kind[a] == RS_PART_COLL) return "COLLECTIVE_TYPE_MISMATCH";
    return t->count[a] == t->count[b] && t->dtype[a] != t->dtype[b] ? "COLLECTIVE_DTYPE_MISMATCH"
                                                                    : "SIZE_OR_SYNTAX_MISMATCH";
}

bool rs_hang_sums(const struct rs_model *m, uint32_t op, uint64_t *in, uint64_t *out)
{
    *in = *out = 0;
    if (m->ops.kind[op] != RS_OP_COLL || strcmp(rs_model_text(m, m->ops.func[op]), "AlltoAll") != 0) return false;
    for (uint32_t i = 0; i < m->ops.nparts[op]; i++) {
        const struct rs_tag *tag = rs_part_tag(m, m->order[m->ops.part[op] + i]);
        if (!tag || !tag->in_count || !tag->out_count) return false;
        *in += tag->in_count;
        *out += tag->out_count;
    }
    return *in != *out;
}

/* ---- other functions under the same number ---- */

static uint32_t called(const struct rs_hang_work *w, uint32_t op, const struct rs_hang_rank *r)
{
    if (r->part != RS_NONE || r->member == RS_NONE) return r->part;
    return rs_hang_at_number(&w->state, r->member, w->m->ops.seq[op]);
}

/* "rank 2 called Broadcast", "ranks 0, 1 and 3 called AllReduce" */
static void group_words(struct rs_strbuf *s, const struct rs_model *m, const struct rs_hang_who *who, uint32_t n,
                        uint16_t func)
{
    rs_phrase_ranks(s, m, who, n);
    rs_strbuf_printf(s, " called %s", rs_model_text(m, func));
}

static void say_types(struct rs_hang_work *w, uint32_t op, uint32_t odd, uint32_t usual)
{
    const struct rs_model *m = w->m;
    const struct rs_hang_finding *h = &w->now;
    struct rs_hang_who *others = NULL;
    uint32_t nothers = 0;
    for (uint32_t i = 0; i < w->state.nrows; i++) {
        const struct rs_hang_rank *r = &w->state.rows[i];
        uint32_t part = called(w, op, r);
        if (part != RS_NONE && m->parts.func[part] == m->parts.func[usual])
            rs_hang_add_who(&others, &nothers, rs_hang_who_of(m, op, r));
    }
    struct rs_hang_words x = {0};
    const char *name = m->comms[m->ops.comm[op]].name;
    rs_strbuf_printf(&x.said, "As number %" PRIu64 " of %s ", m->ops.seq[op], name ? name : "?");
    group_words(&x.said, m, others, nothers, m->parts.func[usual]);
    rs_strbuf_puts(&x.said, ", ");
    if (h->undecided)
        rs_strbuf_printf(&x.said, "others %s", rs_model_text(m, m->parts.func[odd]));
    else
        group_words(&x.said, m, h->guilty, h->nguilty, m->parts.func[odd]);
    rs_strbuf_printf(&x.detail, "COLLECTIVE_TYPE_MISMATCH: a%s", rs_strbuf_borrow(&x.said) + 1);
    rs_strbuf_putc(&x.said, '.');
    rs_strbuf_puts(&x.act, "The programs do not make the same calls in the same order on this process group");
    rs_strbuf_puts(&x.act, h->undecided ? ", and no side has more ranks: look at the frames of both in the dumps."
                                        : ": look at what these ranks do there, in the frames of their dumps.");
    rs_hang_set_words(w, &x);
    free(others);
}

/* A part with the function that most ranks called; *odd: one with another, RS_NONE: all called the same. Where no
 * function has a majority, the equal ranks of other groups decide; else *undecided. */
static uint32_t usual_type(const struct rs_hang_work *w, uint32_t op, uint32_t *odd, bool *undecided)
{
    const struct rs_model *m = w->m;
    const struct rs_hang_state *s = &w->state;
    uint32_t usual = RS_NONE, lead = 0, all = 0, same = 0;
    for (uint32_t i = 0; i < s->nrows; i++) { /* a majority, if there is one, is what is left (Boyer and Moore) */
        uint32_t part = called(w, op, &s->rows[i]);
        if (part == RS_NONE) continue;
        all++;
        if (!lead) usual = part;
        lead = m->parts.func[part] == m->parts.func[usual] ? lead + 1 : lead - 1;
    }
    *odd = RS_NONE;
    for (uint32_t i = 0; i < s->nrows; i++) {
        uint32_t part = called(w, op, &s->rows[i]);
        if (part == RS_NONE) continue;
        bool equal = m->parts.func[part] == m->parts.func[usual];
        same += equal;
        if (!equal && *odd == RS_NONE) *odd = part;
    }
    *undecided = 2 * same <= all;
    if (!*undecided || *odd == RS_NONE) return usual;
    uint32_t equals = rs_hang_usual_call(s, op);
    if (equals == RS_NONE) return usual;
    if (m->parts.func[equals] == m->parts.func[*odd]) {
        uint32_t swap = usual;
        usual = *odd;
        *odd = swap;
    }
    *undecided = m->parts.func[equals] != m->parts.func[usual];
    return usual;
}

bool rs_hang_look_types(struct rs_hang_work *w, uint32_t *op)
{
    const struct rs_model *m = w->m;
    const struct rs_hang_state *s = &w->state;
    if (m->ops.kind[*op] != RS_OP_COLL || m->ops.seq[*op] == UINT64_MAX) return false;
    uint32_t odd, usual = usual_type(w, *op, &odd, &w->now.undecided);
    if (odd == RS_NONE || m->parts.op[usual] == RS_NONE) {
        w->now.undecided = false;
        return false;
    }
    *op = m->parts.op[usual];
    rs_hang_rows_find(&w->state, *op);
    for (uint32_t i = 0; i < s->nrows; i++) {
        uint32_t part = called(w, *op, &s->rows[i]);
        bool differs = part != RS_NONE && m->parts.func[part] != m->parts.func[usual];
        if (differs || (w->now.undecided && part != RS_NONE)) rs_hang_accuse(w, *op, &s->rows[i]);
    }
    w->now.verdict = RS_VERDICT_MISMATCH;
    say_types(w, *op, odd, usual);
    return true;
}

/* ---- all are in it ---- */

static void stage_words(struct rs_strbuf *s, const struct rs_hang_work *w, const char *before, enum rs_stage stage,
                        const char *after)
{
    rs_strbuf_puts(s, before);
    rs_phrase_stage(s, w->m, &w->now, stage);
    rs_strbuf_puts(s, after);
}

/* Whether a rank of the communicator left nothing at all: neither a dump nor a recording. */
static bool left_nothing(const struct rs_hang_work *w, uint32_t op, const struct rs_hang_rank *r)
{
    int32_t rank = rs_job_rank(w->m, w->m->ops.comm[op], r->rank);
    uint32_t low = 0, high = w->out->nunseen;
    RS_BISECT(low, high, mid, w->out->unseen[mid] < rank);
    return rank < 0 || (low < w->out->nunseen && w->out->unseen[low] == rank);
}

void rs_hang_look_flight(struct rs_hang_work *w, uint32_t op, bool wanted)
{
    const struct rs_hang_state *s = &w->state;
    struct rs_hang_finding *h = &w->now;
    uint32_t count[RS_STAGE_UNSEEN + 1] = {0};
    char text[160];
    rs_hang_op_text(w->m, op, text, sizeof text);
    for (uint32_t i = 0; i < s->nrows; i++) count[s->rows[i].stage]++;
    uint32_t unseen = count[RS_STAGE_UNSEEN] + count[RS_STAGE_NOT_RECORDED], ended = count[RS_STAGE_ENDED];
    uint32_t pending = s->nrows - unseen - ended;
    h->verdict = RS_VERDICT_STALLED_STEP;
    struct rs_hang_words x = {0};
    for (uint32_t i = 0; i < s->nrows; i++) {
        const struct rs_hang_rank *r = &s->rows[i];
        bool there = r->stage != RS_STAGE_UNSEEN && r->stage != RS_STAGE_NOT_RECORDED;
        /* Where most ranks are done, or others wait for the rest, the rest is to blame. */
        if (ended && (ended > pending || wanted) && there && r->stage != RS_STAGE_ENDED) rs_hang_accuse(w, op, r);
        if (!ended && r->stage == RS_STAGE_UNSEEN && left_nothing(w, op, r))
            rs_hang_add_who(&h->suspects, &h->nsuspects, rs_hang_who_of(w->m, op, r));
    }
    if (ended) {
        stage_words(&x.detail, w, "COLLECTIVE_STATE_MISMATCH: complete on rank ", RS_STAGE_ENDED,
                    ", and not on the others");
        rs_strbuf_printf(&x.said, "%s has ended on some ranks and not on others.", text);
        rs_strbuf_puts(&x.act, "Look at the GPUs and links of the ranks where it has not (nvidia-smi, dmesg).");
    } else if (unseen) {
        rs_strbuf_printf(&x.detail, "UNDECIDED: of %" PRIu32 " of %" PRIu32 " ranks there is no dump that shows it",
                         unseen, s->nrows);
        rs_strbuf_printf(&x.said, "All ranks whose dumps show it are in %s, and wait for the others.", text);
        rs_strbuf_puts(&x.act, "Look at the ranks without a dump first: a process that died leaves none.");
    } else {
        rs_strbuf_puts(&x.detail,
                       "FULLY_MATCHED: all ranks called it with the same arguments, and it is complete on none");
        rs_strbuf_printf(&x.said, "All ranks are in %s, and call the same.", text);
        rs_strbuf_puts(&x.act, "Look at the GPUs and the links between them (nvidia-smi, dmesg).");
    }
    rs_strbuf_puts(&x.act,
                   " A dump does not record when it was made: if the job was running well, this was merely in flight.");
    rs_hang_set_words(w, &x);
}

/* NCCL may get through, with wrong results: sizes that differ are within what its buffers hold. The latest such one. */
bool rs_hang_look_results(struct rs_hang_work *w, uint32_t *op)
{
    const struct rs_model *m = w->m;
    const struct rs_ops *o = &m->ops;
    uint32_t last = RS_NONE;
    for (uint32_t i = 0; i < o->n; i++) {
        if (o->comm[i] == RS_NONE || !(o->flags[i] & RS_OP_MISMATCH) || !rs_hang_has_states(m, o->comm[i])) continue;
        if (o->over[i] != RS_NONE || o->kind[i] == RS_OP_FANOUT || !rs_filter_op(w->filter, m, i)) continue;
        if (last == RS_NONE || rs_op_begin(m, i) >= rs_op_begin(m, last)) last = i;
    }
    if (last == RS_NONE) return false;
    *op = last;
    rs_hang_rows_find(&w->state, last);
    return rs_hang_look_mismatch(w, last);
}

/* ---- some did not come ---- */

void rs_hang_flight_absent(struct rs_strbuf *detail, const struct rs_hang_work *w)
{
    const struct rs_model *m = w->m;
    const struct rs_hang_finding *h = &w->now;
    const struct rs_hang_who *first = &h->guilty[0];
    if (m->ops.kind[h->op] == RS_OP_PAIR) {
        bool receiver = first->comm_rank == m->ops.dst[h->op];
        rs_strbuf_puts(detail, receiver ? "a send without its receive" : "a receive without its send");
        return;
    }
    if (m->ops.seq[h->op] == UINT64_MAX || first->member == RS_NONE || !w->state.asked[first->member]) return;
    uint64_t last = w->state.asked[first->member] - 1;
    int32_t rank = first->rank >= 0 ? first->rank : first->comm_rank;
    if (last)
        rs_strbuf_printf(detail, "rank %d enqueued number %" PRIu64 " last, the others wait in %" PRIu64, rank, last,
                         m->ops.seq[h->op]);
    else
        rs_strbuf_printf(detail, "rank %d has enqueued nothing on this group, the others wait in %" PRIu64, rank,
                         m->ops.seq[h->op]);
}

/* ---- completions that a rank does not see ---- */

/* How many of its collectives its peers have ended, and its own dump calls pending. */
static uint32_t count_stale(const struct rs_hang_state *s, uint32_t proc)
{
    uint32_t n = 0;
    for (uint32_t i = s->stale_from[proc]; i <= s->stale_to[proc] && i < s->m->parts.n; i++)
        n += is_numbered(s->m, i) && s->m->members[s->m->parts.member[i]].proc == proc && is_stale(s, i);
    return n;
}

void rs_hang_flight_stale(struct rs_strbuf *said, struct rs_strbuf *act, const struct rs_hang_work *w)
{
    const struct rs_hang_state *s = &w->state;
    uint32_t stale = RS_NONE;
    for (uint32_t i = 0; i < w->now.nguilty && stale == RS_NONE; i++) {
        uint32_t x = w->now.guilty[i].member;
        if (x != RS_NONE && s->stale_from[w->m->members[x].proc] != RS_NONE) stale = w->m->members[x].proc;
    }
    if (stale == RS_NONE) return;
    char text[160];
    uint32_t op = w->m->parts.op[s->stale_from[stale]], n = count_stale(s, stale);
    rs_strbuf_printf(said, " %" PRIu32 " collective%s that %s peers have completed with it %s pending in its dump", n,
                     n == 1 ? "" : "s", w->now.nguilty == 1 ? "its" : "the first's", n == 1 ? "is" : "are");
    if (op != RS_NONE) {
        rs_hang_op_text(w->m, op, text, sizeof text);
        rs_strbuf_printf(said, ", from %s on", text);
    }
    rs_strbuf_puts(said, ": it sees no completions.");
    rs_strbuf_printf(act, "%sLook at its GPU first (nvidia-smi, dmesg for Xid, CUDA errors in its log).",
                     act->len ? " " : "");
}

bool rs_hang_look_stale(struct rs_hang_work *w, uint32_t proc, uint32_t *op)
{
    const struct rs_model *m = w->m;
    uint32_t part = w->state.stale_from[proc];
    if (part == RS_NONE || m->parts.op[part] == RS_NONE) return false;
    *op = m->parts.op[part];
    rs_hang_rows_find(&w->state, *op);
    for (uint32_t i = 0; i < w->state.nrows; i++)
        if (w->state.rows[i].part == part) rs_hang_accuse(w, *op, &w->state.rows[i]);
    if (!w->now.nguilty) return false;
    w->now.verdict = RS_VERDICT_STALLED_STEP;
    struct rs_hang_words x = {0};
    char text[160];
    rs_hang_op_text(m, *op, text, sizeof text);
    rs_strbuf_printf(&x.detail, "COLLECTIVE_STATE_MISMATCH: %s is complete on its peers, and pending in its own dump",
                     text);
    rs_strbuf_puts(&x.said, "Of ");
    rs_phrase_ranks(&x.said, m, w->now.guilty, w->now.nguilty);
    rs_strbuf_puts(&x.said, " the dump is behind:");
    rs_hang_flight_stale(&x.said, &x.act, w);
    rs_strbuf_puts(&x.act, " If its dump was made before those of the others, it stopped first.");
    rs_hang_set_words(w, &x);
    return true;
}
