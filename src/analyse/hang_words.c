#include "analyse/hang_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyse/hang_flight.h"
#include "analyse/hang_phrases.h"
#include "base/strbuf.h"
#include "nccl/abi.h"
#include "nccl/names.h"

static uint32_t count_stage(const struct rs_hang *h, enum rs_stage stage)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < h->nrows; i++) n += h->rows[i].stage == stage;
    return n;
}

static void keep(struct rs_hang *h, struct rs_strbuf *s, const char **to)
{
    *to = rs_arena_text(&h->arena, rs_strbuf_borrow(s), s->len);
    rs_strbuf_clear(s);
}

/* What was built becomes the next sentence of the conclusion. */
static void conclude(struct rs_hang *h, struct rs_strbuf *s)
{
    if (h->nconclusion == RS_HANG_CONCLUSIONS) {
        rs_strbuf_clear(s);
        return;
    }
    keep(h, s, &h->conclusion[h->nconclusion++]);
}

void rs_hang_tell(struct rs_hang *h, struct rs_strbuf *detail, struct rs_strbuf *act)
{
    keep(h, detail, &h->detail);
    conclude(h, act);
}

/* ---- stalled ---- */

static void stalled_words(struct rs_strbuf *s, struct rs_strbuf *act, const struct rs_hang *h, const struct rs_model *m,
                          const struct rs_stalled *st)
{
    const char *state = rs_nccl_state_name(st->state);
    if (st->kind == RS_STALL_SOMEWHERE) {
        rs_strbuf_printf(s, "all network steps stand at step %d", st->step);
        rs_strbuf_puts(act,
                       "Every kernel runs, and every step of the network waits at the same place: they do not tell "
                       "which rank is behind. Look for GPUs or links within a host that do not move (nvidia-smi, "
                       "dmesg).");
        return;
    }
    if (st->kind == RS_STALL_NONE) {
        rs_strbuf_puts(s, "all kernels have started and none goes on; no network step was open");
        if (h->nguilty) {
            rs_strbuf_puts(act, "The kernel of ");
            rs_phrase_ranks(act, m, h->guilty, h->nguilty);
            rs_strbuf_puts(
                act, " does not end, while the others' have: look at that GPU and its links (nvidia-smi, dmesg).");
        } else {
            rs_strbuf_puts(
                act, "Every kernel runs and waits, and no step of the network tells for whom: look at the GPUs and "
                     "the links between them (nvidia-smi nvlink, dmesg); record with RINGSCOPE_EVENTS=net.");
        }
        return;
    }
    int32_t rank = st->rank, peer = st->peer;
    const char *of = rs_phrase_job_ranks(m, h->comm, &rank, &peer) ? "" : " of the communicator";
    rs_strbuf_printf(s, "step %d of channel %d, %s rank %d %s rank %d%s, is in %s", st->step, st->channel,
                     st->is_send ? "sent by" : "received by", rank, st->is_send ? "to" : "from", peer, of,
                     state ? state : "no state");
    if (!h->nguilty && st->kind == RS_STALL_GPU && st->is_send) {
        rs_strbuf_printf(act,
                         "All wait for rank %d%s: its GPU gives no data to send. It, or a rank before it on its host, "
                         "does not go on, and not all of what these did was recorded: which of them it is cannot be "
                         "told. Look at the GPUs of that host (nvidia-smi, dmesg for Xid).",
                         rank, of);
        return;
    }
    if (!h->nguilty) {
        rs_strbuf_printf(act,
                         "The data stops between ranks %d and %d%s, and not all of what these did was recorded: who is "
                         "to blame cannot be told.",
                         rank, peer, of);
        return;
    }
    const struct rs_hang_who *from = st->kind != RS_STALL_LINK || st->is_send ? h->guilty : &h->peer,
                             *to = from == h->guilty ? &h->peer : h->guilty;
    rs_strbuf_puts(act, st->kind == RS_STALL_LINK ? "Data from " : "All wait for ");
    rs_phrase_ranks(act, m, from, 1);
    if (st->kind == RS_STALL_LINK) {
        rs_strbuf_puts(act, st->state == RS_ST_STEP_SEND_PEER_WAIT
                                ? " is held back for want of credits, and is waited for at "
                                : " does not arrive at ");
        rs_phrase_ranks(act, m, to, 1);
        rs_strbuf_puts(act, ": look at the network between these two (NIC, cable, switch port; ibstat, counters).");
    } else if (st->kind == RS_STALL_GPU) {
        const char *why = "does not take the data that has arrived. Look at that GPU";
        if (st->is_send)
            why = st->fed ? "gives no data to send, though it has received what it needs. Look at that GPU"
                          : "gives no data to send: it, or a rank before it on its host, does not go on. Look at the "
                            "GPUs of that host";
        rs_strbuf_printf(act, ": its GPU %s (nvidia-smi, dmesg for Xid).", why);
    } else {
        rs_strbuf_printf(act, ": it does nothing for rank %d%s. Look at its process and its network thread.", peer, of);
    }
}

void rs_hang_say_stalled(struct rs_hang *h, const struct rs_model *m, const struct rs_stalled *st)
{
    struct rs_strbuf s = {0}, act = {0};
    stalled_words(&s, &act, h, m, st);
    rs_hang_tell(h, &s, &act);
    rs_strbuf_free(&s);
    rs_strbuf_free(&act);
}

/* ---- circles ---- */

void rs_hang_say_cycle(struct rs_hang *h, const struct rs_model *m, uint32_t op, uint32_t next)
{
    char a[160], b[160];
    struct rs_strbuf s = {0};
    rs_hang_op_text(m, op, a, sizeof a);
    rs_hang_op_text(m, next, b, sizeof b);
    bool both = false; /* the strays have made the other call as well */
    for (uint32_t i = 0; i < h->nrows; i++) both |= h->rows[i].part != RS_NONE && h->busy[i] != RS_NONE;
    if (h->verdict == RS_VERDICT_MISMATCH)
        rs_strbuf_printf(&s, "at the same place some called %s and others %s", a, b);
    else
        rs_strbuf_printf(&s, "two orders: %s before %s, and %s before %s", a, b, b, a);
    keep(h, &s, &h->detail);
    rs_phrase_ranks(&s, m, h->guilty, h->nguilty);
    if (s.data) s.data[0] = 'R';
    if (h->nguilty > 8) rs_strbuf_clear(&s), rs_strbuf_printf(&s, "%" PRIu32 " ranks", h->nguilty);
    if (h->verdict == RS_VERDICT_MISMATCH)
        rs_strbuf_printf(&s,
                         " called %s where the others called %s: the programs do not make the same calls in the "
                         "same order on this communicator.",
                         b, a);
    else
        rs_strbuf_printf(&s,
                         " entered %s %s %s, the others the other way round: each waits for the other. Make all "
                         "ranks use these communicators in one order.",
                         b, both ? "before" : "and never came to", a);
    conclude(h, &s);
    rs_strbuf_free(&s);
}

/* ---- the rest ---- */

static void dead_words(struct rs_strbuf *s, const struct rs_hang *h, const struct rs_model *m, const char *op)
{
    int64_t end = RS_TIME_NONE, died = m->procs[m->members[h->guilty[0].member].proc].end;
    for (uint32_t i = 0; i < h->nrows; i++)
        if (h->rows[i].member != RS_NONE && rs_hang_member_end(m, h->rows[i].member) > end)
            end = rs_hang_member_end(m, h->rows[i].member);
    bool one = h->nguilty == 1;
    rs_strbuf_puts(s, one ? "The process of " : "The processes of ");
    rs_phrase_ranks(s, m, h->guilty, h->nguilty);
    rs_strbuf_puts(s, one ? " ended without closing, " : " ended without closing, the first of them ");
    rs_phrase_span(s, rs_time_minus(end, died));
    rs_strbuf_printf(s,
                     " before the others, which wait for %s in %s. Look at %s exit status and log, and at %s "
                     "(out of memory, Xid in dmesg).",
                     one ? "it" : "them", op, one ? "its" : "their", one ? "its host" : "their hosts");
}

/* What a rank that did not come does instead. */
static void instead_words(struct rs_strbuf *s, const struct rs_hang *h, const struct rs_model *m)
{
    const struct rs_hang_rank *row = NULL;
    uint32_t last = RS_NONE;
    for (uint32_t i = 0; i < h->nrows && !row; i++)
        if (h->rows[i].rank == h->guilty[0].comm_rank) row = &h->rows[i], last = h->last[i];
    if (!row || row->member == RS_NONE) return;
    const struct rs_proc *p = &m->procs[m->members[row->member].proc];
    const char *it = h->nguilty == 1 ? "It" : "The first of them";
    if (row->stage == RS_STAGE_CALLED) {
        rs_strbuf_printf(s, " %s called it, and never launched its kernel.", it);
    } else if (last == RS_NONE) {
        rs_strbuf_printf(s, " %s has called nothing at all.", it);
    } else if (rs_hang_closed(p)) {
        rs_strbuf_printf(s, " %s closed its recording and ended.",
                         h->nguilty == 1 ? "Its process" : "The first of them");
    } else {
        char text[160];
        text[0] = 0;
        if (m->parts.op[last] != RS_NONE) rs_hang_op_text(m, m->parts.op[last], text, sizeof text);
        rs_strbuf_printf(s, " %s is in no NCCL call%s", it, p->complete ? "" : " that was recorded (some were lost)");
        if (row->since != RS_TIME_NONE && p->end > row->since && !rs_tool_has(p->tool, RS_CAP_DUMP)) {
            rs_strbuf_puts(s, ", for ");
            rs_phrase_span(s, rs_time_minus(p->end, row->since));
        }
        if (text[0]) rs_strbuf_printf(s, "; the last it did was %s", text);
        rs_strbuf_putc(s, '.');
    }
    if (p->pid)
        rs_strbuf_printf(s, " Look at what its program does (py-spy dump --pid %" PRIu32 ", gdb).", p->pid);
    else
        rs_strbuf_puts(s, " Look at what its program does (py-spy dump, gdb).");
}

static void arguments(struct rs_strbuf *s, const struct rs_model *m, uint32_t odd, uint32_t usual)
{
    const struct rs_parts *t = &m->parts;
    bool roots = t->kind[odd] == RS_PART_COLL && t->peer[odd] != t->peer[usual];
    rs_strbuf_printf(s, "count %" PRIu64 " of %s", t->count[odd], rs_model_text(m, t->dtype[odd]));
    if (roots) rs_strbuf_printf(s, " (root %d)", t->peer[odd]);
    rs_strbuf_printf(s, " against count %" PRIu64 " of %s", t->count[usual], rs_model_text(m, t->dtype[usual]));
    if (roots) rs_strbuf_printf(s, " (root %d)", t->peer[usual]);
}

static bool same_arguments(const struct rs_parts *t, uint32_t a, uint32_t b)
{
    return t->count[a] == t->count[b] && t->dtype[a] == t->dtype[b] && t->peer[a] == t->peer[b] &&
           t->func[a] == t->func[b];
}

/* What one group of ranks gave, and what the rest. */
static void mismatch_words(struct rs_strbuf *s, struct rs_strbuf *detail, const struct rs_hang *h,
                           const struct rs_model *m, const char *op)
{
    const struct rs_parts *t = &m->parts;
    uint32_t odd = RS_NONE, usual = RS_NONE;
    for (uint32_t i = 0; i < h->nrows; i++) {
        uint32_t p = h->rows[i].part;
        if (p == RS_NONE) continue;
        bool differs = t->flags[p] & RS_PART_MISMATCH;
        if (differs && odd == RS_NONE)
            odd = p;
        else if (usual == RS_NONE && (!differs || (odd != RS_NONE && !same_arguments(t, odd, p))))
            usual = p; /* where no side has more ranks, all differ: one of the other side */
    }
    if (usual == RS_NONE && h->nguilty == h->nrows) usual = odd; /* each by itself is right: their sums differ */
    rs_phrase_ranks(s, m, h->guilty, h->nguilty);
    if (s->data) s->data[0] = 'R';
    rs_strbuf_printf(s, h->nguilty == 1 ? " called %s with other arguments than the others" : " do not agree on %s",
                     op);
    if (odd != RS_NONE && usual != RS_NONE) {
        if (rs_hang_is_told(m, h->comm)) rs_strbuf_printf(detail, "%s: ", rs_hang_rule(m, odd, usual));
        size_t before = detail->len;
        uint64_t in, out;
        if (rs_hang_sums(m, h->op, &in, &out))
            rs_strbuf_printf(detail, "all ranks together give %" PRIu64 " elements and take %" PRIu64, in, out);
        else
            arguments(detail, m, odd, usual);
        rs_strbuf_printf(s, ": %s", rs_strbuf_borrow(detail) + before);
    }
    if (h->nrows && count_stage(h, RS_STAGE_ENDED) == h->nrows)
        rs_strbuf_puts(
            s, ". It is complete on all ranks all the same, with wrong results: what holds the job is not in NCCL");
    rs_strbuf_puts(s, ". Look at the program: shapes or branches differ between ranks.");
}

static void unknown_words(struct rs_strbuf *s, enum rs_hang_unknown why)
{
    static const char *const words[] = {
        [RS_HANG_KNOWN] = "",
        [RS_HANG_BLIND] = "Whether something hangs cannot be told from these files: they were written when programs "
                          "ended, and say nothing of what was still running.",
        [RS_HANG_UNTOLD] = "All ranks called the same operation last, and what became of it was not recorded: whether "
                           "they hang in it cannot be told. Record KernelCh (RINGSCOPE_EVENTS=ops or net; NCCL 2.26 "
                           "or newer).",
        [RS_HANG_CUT] = "These recordings were cut out of larger ones: nothing hangs in what was kept, and whether "
                        "something hung in what was cut off cannot be told.",
        [RS_HANG_NOT_RECORDED] = "Nothing hangs in what was recorded, but of processes that did not close the last "
                                 "operations may be absent (lost, not asked for, or a live file is missing): whether "
                                 "they hang cannot be told. See `ringscope info`.",
    };
    rs_strbuf_puts(s, words[why]);
}

static void none_words(struct rs_strbuf *s, const struct rs_hang *h, const struct rs_model *m, uint32_t pending,
                       bool open)
{
    uint32_t n = 0, dumps = 0, all = 0;
    for (uint32_t p = 0; p < m->nprocs; p++) {
        if (m->procs[p].same != RS_NONE) continue;
        all++;
        n += !rs_hang_closed(&m->procs[p]);
        dumps += rs_tool_has(m->procs[p].tool, RS_CAP_DUMP);
    }
    if (!open)
        rs_strbuf_puts(s, h->nunseen ? "All processes that are here came to their end: nothing hangs in what is here."
                                     : "All processes came to their end: nothing hangs.");
    else if (h->left_out)
        rs_strbuf_printf(s,
                         "%" PRIu32 " pending operation%s not pass the filters, and %s not looked at: whether the job "
                         "hangs there is not told. Of the others none hangs.",
                         h->left_out, h->left_out == 1 ? " does" : "s do", h->left_out == 1 ? "was" : "were");
    else if (pending)
        rs_strbuf_printf(s,
                         "When the recordings end %" PRIu32 " operation%s in flight, for no longer than usual: nothing "
                         "hangs.",
                         pending, pending == 1 ? " was" : "s were");
    else if (dumps == all)
        rs_strbuf_puts(
            s, "Nothing was pending in NCCL when these dumps were made: if the job stood still then, look outside "
               "NCCL (data loading, a checkpoint, a barrier of another kind).");
    else
        rs_strbuf_printf(s,
                         "%" PRIu32 " of %" PRIu32 " processes did not close, and nothing was pending in NCCL: nothing "
                         "hangs there.",
                         n, all);
}

static void main_words(struct rs_strbuf *s, struct rs_strbuf *detail, const struct rs_hang *h, const struct rs_model *m,
                       uint32_t pending, bool open)
{
    char op[160] = "";
    if (h->op != RS_NONE) rs_hang_op_text(m, h->op, op, sizeof op);
    switch (h->verdict) {
    case RS_VERDICT_NONE: none_words(s, h, m, pending, open); break;
    case RS_VERDICT_UNKNOWN: unknown_words(s, h->unknown); break;
    case RS_VERDICT_RANK_DEAD: dead_words(s, h, m, op); break;
    case RS_VERDICT_NOT_JOINED:
        rs_phrase_ranks(s, m, h->guilty, h->nguilty);
        if (s->data) s->data[0] = 'R';
        if (h->nguilty > 8) rs_strbuf_clear(s), rs_strbuf_printf(s, "%" PRIu32 " ranks", h->nguilty);
        rs_strbuf_printf(s, " did not join %s, in which %" PRIu32 " rank%s wait%s.", op, h->nwaiting,
                         h->nwaiting == 1 ? "" : "s", h->nwaiting == 1 ? "s" : "");
        if (rs_hang_is_told(m, h->comm)) rs_hang_flight_absent(detail, h, m);
        instead_words(s, h, m);
        break;
    case RS_VERDICT_MISMATCH: mismatch_words(s, detail, h, m, op); break;
    case RS_VERDICT_STREAM_BLOCKED:
        rs_strbuf_puts(s, h->nguilty == 1 ? "The kernel of " : "The kernels of ");
        rs_phrase_ranks(s, m, h->guilty, h->nguilty);
        rs_strbuf_printf(s, " for %s %s launched and never started: something before it on its stream does not end. ",
                         op, h->nguilty == 1 ? "was" : "were");
        rs_strbuf_puts(s, "Look at what that GPU runs (a kernel in a loop, a wait for an event).");
        break;
    case RS_VERDICT_OUTSIDE_NCCL:
        rs_strbuf_puts(s,
                       "Everything that was called is complete in NCCL, and no process has called since: look outside "
                       "NCCL (data loading, a checkpoint, a barrier of another kind).");
        break;
    default: break; /* said already */
    }
    bool behind = h->verdict == RS_VERDICT_NOT_JOINED || h->verdict == RS_VERDICT_STREAM_BLOCKED;
    if (behind && rs_hang_is_told(m, h->comm))
        rs_strbuf_printf(s,
                         " A dump does not tell when it was made: if the job was running well, %s merely behind the "
                         "others then.",
                         h->nguilty == 1 ? "this rank was" : "these ranks were");
}

/* What weakens the verdict. */
static void doubt_words(struct rs_strbuf *s, const struct rs_hang *h, const struct rs_model *m)
{
    uint32_t gaps = count_stage(h, RS_STAGE_NOT_RECORDED), dark = count_stage(h, RS_STAGE_ENTERED);
    if (gaps) {
        rs_strbuf_puts(s, "Of rank ");
        rs_phrase_stage(s, m, h, RS_STAGE_NOT_RECORDED);
        rs_strbuf_puts(
            s, " nothing was recorded here (lost, overwritten or not asked for): it may be where the others are, "
               "or the cause.");
    } else if (dark) {
        rs_strbuf_puts(s, "Kernels were not recorded on all ranks: whether theirs had started is not known.");
    }
}

void rs_hang_say(struct rs_hang *h, const struct rs_model *m, uint32_t pending, bool open)
{
    struct rs_strbuf s = {0}, detail = {0};
    if (!h->nconclusion) main_words(&s, &detail, h, m, pending, open);
    if (s.len) conclude(h, &s);
    if (detail.len) keep(h, &detail, &h->detail);
    doubt_words(&s, h, m);
    if (s.len) conclude(h, &s);
    if (h->nunseen) {
        rs_strbuf_puts(&s, h->nunseen == 1 ? "Rank " : "Ranks ");
        for (uint32_t i = 0; i < h->nunseen && i < 8; i++) rs_strbuf_printf(&s, "%s%d", i ? ", " : "", h->unseen[i]);
        if (h->nunseen > 8) rs_strbuf_printf(&s, " and %" PRIu32 " more", h->nunseen - 8);
        rs_strbuf_printf(&s, " left no recording here: what %s did is not known.", h->nunseen == 1 ? "it" : "they");
        conclude(h, &s);
    }
    rs_strbuf_free(&s);
    rs_strbuf_free(&detail);
}
