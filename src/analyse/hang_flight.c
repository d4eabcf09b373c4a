#include "analyse/hang_flight.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/hang_phrases.h"
#include "analyse/hang_rows.h"
#include "analyse/hang_words.h"
#include "base/mix.h"
#include "join/flow.h"
#include "nccl/abi.h"

static uint64_t number_key(uint32_t member, uint64_t seq)
{
    return rs_mix(rs_mix(11, member), seq);
}

/* The first collective of a number of a member, whatever its function; RS_NONE: none. */
static uint32_t at_number(const struct rs_hang_state *s, uint32_t member, uint64_t seq)
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

void rs_hang_flight_make(struct rs_hang_state *s)
{
    const struct rs_model *m = s->m;
    const struct rs_parts *t = &m->parts;
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->member[i] == RS_NONE || t->kind[i] != RS_PART_COLL || t->seq[i] == UINT64_MAX) continue;
        if (!rs_hang_is_told(m, m->members[t->member[i]].comm)) continue;
        uint64_t *at;
        rs_map_at(&s->numbers, number_key(t->member[i], t->seq[i]), i, &at);
        uint64_t *proven = &s->proven[m->members[t->member[i]].comm];
        if ((t->flags[i] & RS_PART_SETTLED) && t->seq[i] >= *proven && needs_all(m, i)) *proven = t->seq[i] + 1;
    }
    for (uint32_t i = 0; i < m->nmembers; i++) {
        uint64_t asked = m->members[i].asked, *least = &s->least[m->members[i].comm];
        if (asked && asked < *least) *least = asked;
    }
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

enum rs_stage rs_hang_flight_part(const struct rs_hang_state *s, uint32_t part)
{
    const struct rs_parts *t = &s->m->parts;
    const struct rs_proc *p = rs_part_proc(s->m, part);
    if (t->flags[part] & RS_PART_SELF) return RS_STAGE_ENDED;
    if (t->flags[part] & RS_PART_DONE) return is_impossible(s, part) ? RS_STAGE_RUNNING : RS_STAGE_ENDED;
    if (t->flags[part] & RS_PART_STARTED) return RS_STAGE_RUNNING;
    /* A start is only told where the tool was asked to look for starts. */
    return p->ncovers && (p->covers[0].mask & RS_KERNEL_CH) ? RS_STAGE_LAUNCHED : RS_STAGE_ENTERED;
}

bool rs_hang_is_older(const struct rs_hang_state *s, uint32_t member)
{
    uint64_t asked = s->m->members[member].asked;
    return asked && s->proven[s->m->members[member].comm] > asked;
}

enum rs_stage rs_hang_flight_stage(const struct rs_hang_state *s, uint32_t op, uint32_t member)
{
    const struct rs_model *m = s->m;
    uint64_t seq = m->ops.seq[op], asked = m->members[member].asked;
    if (m->ops.kind[op] != RS_OP_COLL || seq == UINT64_MAX) return RS_STAGE_NOT_RECORDED;
    if (asked && seq >= asked) return rs_hang_is_older(s, member) ? RS_STAGE_NOT_RECORDED : RS_STAGE_ABSENT;
    /* It called something else under this number, or has not come that far. */
    if (at_number(s, member, seq) != RS_NONE) return RS_STAGE_ABSENT;
    uint32_t first = s->first[member];
    bool before = first != RS_NONE && m->parts.kind[first] == RS_PART_COLL && m->parts.seq[first] <= seq;
    return before ? RS_STAGE_ABSENT : RS_STAGE_NOT_RECORDED;
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
    return at_number(&w->state, r->member, w->m->ops.seq[op]);
}

/* "rank 2 called Broadcast", "ranks 0, 1 and 3 called AllReduce" */
static void group_words(struct rs_strbuf *s, const struct rs_model *m, const struct rs_hang_who *who, uint32_t n,
                        uint16_t func)
{
    rs_phrase_ranks(s, m, who, n);
    rs_strbuf_printf(s, " called %s", rs_model_text(m, func));
}

static void say_types(struct rs_hang_work *w, uint32_t op, uint32_t odd, uint32_t usual, bool majority)
{
    const struct rs_model *m = w->m;
    struct rs_hang *h = w->out;
    struct rs_hang_who *others = NULL;
    uint32_t nothers = 0;
    for (uint32_t i = 0; i < w->state.nrows; i++) {
        const struct rs_hang_rank *r = &w->state.rows[i];
        uint32_t part = called(w, op, r);
        if (part != RS_NONE && m->parts.func[part] == m->parts.func[usual])
            rs_hang_add_who(&others, &nothers, rs_hang_who_of(m, op, r));
    }
    struct rs_strbuf detail = {0}, act = {0};
    const char *name = m->comms[m->ops.comm[op]].name;
    rs_strbuf_printf(&detail, "COLLECTIVE_TYPE_MISMATCH: as number %" PRIu64 " of %s ", m->ops.seq[op],
                     name ? name : "?");
    group_words(&detail, m, others, nothers, m->parts.func[usual]);
    rs_strbuf_puts(&detail, ", ");
    if (majority)
        group_words(&detail, m, h->guilty, h->nguilty, m->parts.func[odd]);
    else
        rs_strbuf_printf(&detail, "others %s", rs_model_text(m, m->parts.func[odd]));
    rs_strbuf_puts(&act, "The programs do not make the same calls in the same order on this process group");
    rs_strbuf_puts(&act, majority ? ": look at what these ranks do there, in the frames of their dumps."
                                  : ", and no side has more ranks: look at the frames of both in the dumps.");
    rs_hang_tell(h, &detail, &act);
    rs_strbuf_free(&detail);
    rs_strbuf_free(&act);
    free(others);
}

void rs_hang_look_types(struct rs_hang_work *w, uint32_t *op, bool *found)
{
    const struct rs_model *m = w->m;
    const struct rs_hang_state *s = &w->state;
    if (m->ops.kind[*op] != RS_OP_COLL || m->ops.seq[*op] == UINT64_MAX) return;
    uint32_t usual = RS_NONE, odd = RS_NONE, lead = 0, all = 0, same = 0;
    for (uint32_t i = 0; i < s->nrows; i++) { /* a majority, if there is one, is what is left (Boyer and Moore) */
        uint32_t part = called(w, *op, &s->rows[i]);
        if (part == RS_NONE) continue;
        all++;
        if (!lead) usual = part;
        lead = m->parts.func[part] == m->parts.func[usual] ? lead + 1 : lead - 1;
    }
    for (uint32_t i = 0; i < s->nrows; i++) {
        uint32_t part = called(w, *op, &s->rows[i]);
        if (part == RS_NONE) continue;
        if (m->parts.func[part] == m->parts.func[usual])
            same++;
        else if (odd == RS_NONE)
            odd = part;
    }
    if (odd == RS_NONE || m->parts.op[usual] == RS_NONE) return;
    *op = m->parts.op[usual];
    rs_hang_rows_find(&w->state, *op);
    bool majority = 2 * same > all;
    for (uint32_t i = 0; i < s->nrows; i++) {
        uint32_t part = called(w, *op, &s->rows[i]);
        bool differs = part != RS_NONE && m->parts.func[part] != m->parts.func[usual];
        if (differs || (!majority && part != RS_NONE)) rs_hang_accuse(w, *op, &s->rows[i]);
    }
    w->out->verdict = RS_VERDICT_MISMATCH;
    *found = true;
    say_types(w, *op, odd, usual, majority);
}

/* ---- all are in it ---- */

static void stage_words(struct rs_strbuf *s, const struct rs_hang *h, const struct rs_model *m, const char *before,
                        enum rs_stage stage, const char *behind)
{
    rs_strbuf_puts(s, before);
    rs_phrase_stage(s, m, h, stage);
    rs_strbuf_puts(s, behind);
}

void rs_hang_look_flight(struct rs_hang_work *w, uint32_t op)
{
    const struct rs_hang_state *s = &w->state;
    struct rs_hang *h = w->out;
    uint32_t count[RS_STAGE_UNSEEN + 1] = {0};
    char text[160];
    rs_hang_op_text(w->m, op, text, sizeof text);
    for (uint32_t i = 0; i < s->nrows; i++) count[s->rows[i].stage]++;
    uint32_t unseen = count[RS_STAGE_UNSEEN] + count[RS_STAGE_NOT_RECORDED], ended = count[RS_STAGE_ENDED];
    uint32_t pending = s->nrows - unseen - ended;
    h->verdict = RS_VERDICT_STALLED_STEP;
    struct rs_strbuf detail = {0}, act = {0};
    if (ended && ended > pending) /* where most are done, those that are not have the trouble */
        for (uint32_t i = 0; i < s->nrows; i++) {
            enum rs_stage stage = s->rows[i].stage;
            if (stage != RS_STAGE_ENDED && stage != RS_STAGE_UNSEEN && stage != RS_STAGE_NOT_RECORDED)
                rs_hang_accuse(w, op, &s->rows[i]);
        }
    if (ended) {
        stage_words(&detail, h, w->m, "COLLECTIVE_STATE_MISMATCH: complete on rank ", RS_STAGE_ENDED,
                    ", and not on the others");
        rs_strbuf_printf(&act, "%s has ended on some ranks and not on others. ", text);
        rs_strbuf_puts(&act, "Look at the GPUs and links of those where it has not (nvidia-smi, dmesg).");
    } else if (unseen) {
        rs_strbuf_printf(&detail, "UNDECIDED: of %" PRIu32 " of %" PRIu32 " ranks there is no dump that shows it",
                         unseen, s->nrows);
        rs_strbuf_printf(&act,
                         "All ranks whose dumps show it are in %s, and wait for the others: look at the ranks without "
                         "a dump first. A process that died leaves none.",
                         text);
    } else {
        rs_strbuf_puts(&detail,
                       "FULLY_MATCHED: all ranks called it with the same arguments, and it is complete on none");
        rs_strbuf_printf(&act,
                         "All ranks are in %s, and call the same: look at the GPUs and the links between them "
                         "(nvidia-smi, dmesg).",
                         text);
    }
    rs_strbuf_puts(&act,
                   " A dump does not tell when it was made: if the job was running well, this was merely in flight.");
    rs_hang_tell(h, &detail, &act);
    rs_strbuf_free(&detail);
    rs_strbuf_free(&act);
}

/* NCCL may get through, with wrong results: sizes that differ are within what its buffers hold. The latest such one. */
void rs_hang_look_results(struct rs_hang_work *w, uint32_t *op, bool *found)
{
    const struct rs_model *m = w->m;
    const struct rs_ops *o = &m->ops;
    uint32_t last = RS_NONE;
    for (uint32_t i = 0; i < o->n; i++) {
        if (o->comm[i] == RS_NONE || !(o->flags[i] & RS_OP_MISMATCH) || !rs_hang_is_told(m, o->comm[i])) continue;
        if (o->over[i] != RS_NONE || o->kind[i] == RS_OP_FANOUT || !rs_filter_op(w->filter, m, i)) continue;
        if (last == RS_NONE || rs_op_begin(m, i) >= rs_op_begin(m, last)) last = i;
    }
    if (last == RS_NONE) return;
    *op = last;
    rs_hang_rows_find(&w->state, last);
    rs_hang_look_mismatch(w, last, found);
}

/* ---- some did not come ---- */

void rs_hang_flight_absent(struct rs_strbuf *detail, const struct rs_hang *h, const struct rs_model *m)
{
    const struct rs_hang_who *first = &h->guilty[0];
    if (m->ops.kind[h->op] == RS_OP_PAIR) {
        bool receiver = first->comm_rank == m->ops.dst[h->op];
        rs_strbuf_puts(detail, receiver ? "a send without its receive" : "a receive without its send");
        return;
    }
    if (m->ops.seq[h->op] == UINT64_MAX || first->member == RS_NONE || !m->members[first->member].asked) return;
    uint64_t last = m->members[first->member].asked - 1;
    int32_t rank = first->rank >= 0 ? first->rank : first->comm_rank;
    if (last)
        rs_strbuf_printf(detail, "rank %d enqueued number %" PRIu64 " last, the others wait in %" PRIu64, rank, last,
                         m->ops.seq[h->op]);
    else
        rs_strbuf_printf(detail, "rank %d has enqueued nothing on this group, the others wait in %" PRIu64, rank,
                         m->ops.seq[h->op]);
}
