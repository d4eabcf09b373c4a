#include "analyse/hang_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyse/hang_equals.h"
#include "analyse/hang_flight.h"
#include "analyse/hang_phrases.h"
#include "base/moment.h"
#include "base/room.h"
#include "base/strbuf.h"
#include "nccl/abi.h"
#include "nccl/names.h"

static uint32_t count_stage(const struct rs_hang_finding *h, enum rs_stage stage)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < h->nrows; i++) n += h->rows[i].stage == stage;
    return n;
}

static const char *keep(struct rs_hang *h, struct rs_strbuf *s)
{
    const char *text = s->len ? rs_arena_text(&h->arena, rs_strbuf_borrow(s), s->len) : NULL;
    rs_strbuf_clear(s);
    return text;
}

void rs_hang_set_words(struct rs_hang_work *w, struct rs_hang_words *words)
{
    w->now.detail = keep(w->out, &words->detail);
    w->now.evidence = keep(w->out, &words->said);
    w->now.advice = keep(w->out, &words->act);
    rs_strbuf_free(&words->detail);
    rs_strbuf_free(&words->said);
    rs_strbuf_free(&words->act);
}

/* "Ranks 3 and 4", at the beginning of a sentence. */
static void begin_ranks(struct rs_strbuf *s, const struct rs_model *m, const struct rs_hang_who *who, uint32_t n)
{
    size_t before = s->len;
    rs_phrase_ranks(s, m, who, n);
    if (s->data && s->data[before] == 'r') s->data[before] = 'R';
}

/* ---- stalled ---- */

/* No step of the network was open. */
static void kernels_words(struct rs_hang_words *x, const struct rs_hang_finding *h, const struct rs_model *m)
{
    rs_strbuf_puts(&x->detail, "all kernels have started and none goes on; no network step was open");
    if (h->nguilty) {
        bool one = h->nguilty == 1;
        rs_strbuf_puts(&x->said, one ? "The kernel of " : "The kernels of ");
        rs_phrase_ranks(&x->said, m, h->guilty, h->nguilty);
        rs_strbuf_printf(&x->said, " %s not end, while those of the others have.", one ? "does" : "do");
        rs_strbuf_printf(&x->act, "Look at %s links (nvidia-smi, dmesg).",
                         one ? "that GPU and its" : "those GPUs and their");
    } else {
        rs_strbuf_puts(&x->said, "Every kernel runs and waits, and no network step shows for whom.");
        rs_strbuf_puts(&x->act, "Look at the GPUs and the links between them (nvidia-smi nvlink, dmesg); record with "
                                "RINGSCOPE_EVENTS=net.");
    }
}

/* Not all was recorded: who is behind is unknown. */
static void hidden_words(struct rs_hang_words *x, const struct rs_stalled *st, int32_t rank, int32_t peer,
                         const char *of)
{
    if (st->kind == RS_STALL_GPU && st->is_send) {
        rs_strbuf_printf(&x->said,
                         "All wait for rank %d%s: its GPU gives no data to send. It, or a rank before it on its host, "
                         "does not go on. Not all of what these did was recorded: which of them it is, is unknown.",
                         rank, of);
        rs_strbuf_puts(&x->act, "Look at the GPUs of that host (nvidia-smi, dmesg for Xid).");
    } else {
        rs_strbuf_printf(&x->said,
                         "The data stops between ranks %d and %d%s. Not all of what these did was recorded: which of "
                         "them is to blame is unknown.",
                         rank, peer, of);
        rs_strbuf_puts(&x->act, "Look at both.");
    }
}

static void blamed_words(struct rs_hang_words *x, const struct rs_hang_finding *h, const struct rs_model *m,
                         const struct rs_stalled *st, int32_t peer, const char *of)
{
    const struct rs_hang_who *from = st->kind != RS_STALL_LINK || st->is_send ? h->guilty : &h->peer,
                             *to = from == h->guilty ? &h->peer : h->guilty;
    rs_strbuf_puts(&x->said, st->kind == RS_STALL_LINK ? "Data from " : "All wait for ");
    rs_phrase_ranks(&x->said, m, from, 1);
    if (st->kind == RS_STALL_LINK) {
        rs_strbuf_puts(&x->said, st->state == RS_ST_STEP_SEND_PEER_WAIT
                                     ? " is held back by missing credits, and is waited for at "
                                     : " does not arrive at ");
        rs_phrase_ranks(&x->said, m, to, 1);
        rs_strbuf_puts(&x->act, "Look at the network between these two (NIC, cable, switch port; ibstat, counters)");
    } else if (st->kind == RS_STALL_GPU) {
        bool before = st->is_send && !st->fed;
        rs_strbuf_puts(&x->said, !st->is_send ? ": its GPU does not take the data that has arrived"
                                 : st->fed    ? ": its GPU gives no data to send, though it has received what it needs"
                                              : ": its GPU gives no data to send: it, or a rank before it on its host, "
                                                "does not go on");
        rs_strbuf_printf(&x->act, "Look at %s (nvidia-smi, dmesg for Xid)",
                         before ? "the GPUs of that host" : "that GPU");
    } else {
        rs_strbuf_printf(&x->said, ": it does nothing for rank %d%s", peer, of);
        rs_strbuf_puts(&x->act, "Look at its process and its network thread");
    }
    rs_strbuf_putc(&x->said, '.');
    rs_strbuf_putc(&x->act, '.');
}

void rs_hang_say_stalled(struct rs_hang_work *w, const struct rs_stalled *st)
{
    const struct rs_hang_finding *h = &w->now;
    struct rs_hang_words x = {0};
    if (st->kind == RS_STALL_SOMEWHERE) {
        rs_strbuf_printf(&x.detail, "all network steps are at step %d", st->step);
        rs_strbuf_puts(&x.said, "Every kernel runs, and every network step waits at the same position: they do not "
                                "show which rank is behind.");
        rs_strbuf_puts(&x.act, "Look for GPUs or links within a host that do not move (nvidia-smi, dmesg).");
    } else if (st->kind == RS_STALL_NONE) {
        kernels_words(&x, h, w->m);
    } else {
        const char *state = rs_nccl_state_name(st->state);
        int32_t rank = st->rank, peer = st->peer;
        const char *of = rs_phrase_job_ranks(w->m, h->comm, &rank, &peer) ? "" : " of the communicator";
        rs_strbuf_printf(&x.detail, "step %d of channel %d, %s rank %d %s rank %d%s, is in %s", st->step, st->channel,
                         st->is_send ? "sent by" : "received by", rank, st->is_send ? "to" : "from", peer, of,
                         state ? state : "no state");
        if (h->nguilty)
            blamed_words(&x, h, w->m, st, peer, of);
        else
            hidden_words(&x, st, rank, peer, of);
    }
    rs_hang_set_words(w, &x);
}

/* ---- cycles ---- */

void rs_hang_say_instead(struct rs_hang_work *w, uint32_t odd, uint32_t usual)
{
    char a[160], b[160];
    struct rs_hang_words x = {0};
    rs_hang_op_text(w->m, usual, a, sizeof a);
    rs_hang_op_text(w->m, odd, b, sizeof b);
    rs_strbuf_printf(&x.detail, "at the same position some called %s and others %s", a, b);
    begin_ranks(&x.said, w->m, w->now.guilty, w->now.nguilty);
    if (w->now.undecided && w->now.nguilty > 1)
        rs_strbuf_printf(&x.said, " do not agree: some called %s, others %s.", b, a);
    else
        rs_strbuf_printf(&x.said, " called %s where the others called %s.", b, a);
    rs_strbuf_puts(&x.act, "The programs do not make the same calls in the same order on this communicator: look at "
                           "the branches of the program there.");
    rs_hang_set_words(w, &x);
}

void rs_hang_say_cycle(struct rs_hang_work *w, uint32_t op, uint32_t next)
{
    const struct rs_hang_finding *h = &w->now;
    char a[160], b[160];
    struct rs_hang_words x = {0};
    rs_hang_op_text(w->m, op, a, sizeof a);
    rs_hang_op_text(w->m, next, b, sizeof b);
    bool pair = w->m->ops.kind[op] == RS_OP_PAIR;
    bool both = false; /* the strays have made the other call as well */
    for (uint32_t i = 0; i < h->nrows; i++) both |= h->rows[i].part != RS_NONE && h->busy[i] != RS_NONE;
    rs_strbuf_printf(&x.detail, "two orders: %s before %s, and %s before %s", a, b, b, a);
    begin_ranks(&x.said, w->m, h->guilty, h->nguilty);
    if (h->undecided)
        rs_strbuf_printf(&x.said, " %s not agree on the order of %s and %s: each waits for the other.",
                         h->nguilty == 1 ? "does" : "do", a, b);
    else
        rs_strbuf_printf(&x.said, " entered %s %s %s, the others the other way round: each waits for the other.", b,
                         both ? "before" : "and never came to", a);
    rs_strbuf_puts(&x.act, pair ? "Look at the program: a send or a receive is missing there, or their order differs "
                                  "between the two ranks."
                                : "Make all ranks use these communicators in one order.");
    rs_hang_set_words(w, &x);
}

/* ---- the rest ---- */

static void dead_words(struct rs_hang_words *x, const struct rs_hang_finding *h, const struct rs_model *m,
                       const char *op)
{
    int64_t end = RS_TIME_NONE, died = m->procs[m->members[h->guilty[0].member].proc].end;
    for (uint32_t i = 0; i < h->nrows; i++)
        if (h->rows[i].member != RS_NONE && rs_hang_member_end(m, h->rows[i].member) > end)
            end = rs_hang_member_end(m, h->rows[i].member);
    bool one = h->nguilty == 1;
    rs_strbuf_puts(&x->said, one ? "The process of " : "The processes of ");
    rs_phrase_ranks(&x->said, m, h->guilty, h->nguilty);
    rs_strbuf_puts(&x->said, one ? " ended without closing, " : " ended without closing, the first of them ");
    rs_phrase_span(&x->said, rs_time_minus(end, died));
    rs_strbuf_printf(&x->said, " before the others, which wait for %s in %s.", one ? "it" : "them", op);
    rs_strbuf_printf(&x->act, "Look at %s exit status and log, and at %s (out of memory, Xid in dmesg).",
                     one ? "its" : "their", one ? "its host" : "their hosts");
}

/* What a rank that did not come does instead. */
static void instead_words(struct rs_hang_words *x, const struct rs_hang_finding *h, const struct rs_model *m)
{
    const struct rs_hang_rank *row = NULL;
    uint32_t last = RS_NONE;
    for (uint32_t i = 0; i < h->nrows && !row; i++)
        if (h->rows[i].rank == h->guilty[0].comm_rank) row = &h->rows[i], last = h->last[i];
    if (!row || row->member == RS_NONE) return;
    const struct rs_proc *p = &m->procs[m->members[row->member].proc];
    const char *it = h->nguilty == 1 ? "It" : "The first of them";
    if (row->stage == RS_STAGE_CALLED) {
        rs_strbuf_printf(&x->said, " %s called it, and never launched its kernel.", it);
    } else if (last == RS_NONE) {
        rs_strbuf_printf(&x->said, " %s has no pending NCCL call%s.", it,
                         p->active_only ? "" : ", and made none before");
    } else if (rs_hang_closed(p)) {
        rs_strbuf_printf(&x->said, " %s closed its recording and ended.",
                         h->nguilty == 1 ? "Its process" : "The first of them");
    } else {
        char text[160];
        text[0] = 0;
        if (m->parts.op[last] != RS_NONE) rs_hang_op_text(m, m->parts.op[last], text, sizeof text);
        rs_strbuf_printf(&x->said, " %s is in no NCCL call%s", it,
                         p->complete || p->active_only ? "" : " that was recorded (some were lost)");
        if (row->since != RS_TIME_NONE && p->end > row->since && !rs_tool_has(p->tool, RS_CAP_DUMP)) {
            rs_strbuf_puts(&x->said, ", for ");
            rs_phrase_span(&x->said, rs_time_minus(p->end, row->since));
            char utc[RS_MOMENT_ROOM];
            if (rs_moment_utc(row->since, utc, sizeof utc)) rs_strbuf_printf(&x->said, " since %s", utc);
        }
        if (text[0]) rs_strbuf_printf(&x->said, "; its last call was %s", text);
        rs_strbuf_putc(&x->said, '.');
    }
    if (x->act.len) rs_strbuf_putc(&x->act, ' ');
    if (p->pid)
        rs_strbuf_printf(&x->act, "Look at what its program does (py-spy dump --pid %" PRIu32 ", gdb).", p->pid);
    else
        rs_strbuf_puts(&x->act, "Look at what its program does (py-spy dump, gdb).");
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

/* What one group of ranks gave, and what the rest. */
static void mismatch_words(struct rs_hang_words *x, const struct rs_hang_finding *h, const struct rs_model *m,
                           const char *op)
{
    uint32_t odd = RS_NONE, usual = RS_NONE;
    for (uint32_t i = 0; i < h->nrows; i++) {
        uint32_t p = h->rows[i].part;
        if (p == RS_NONE) continue;
        bool guilty = rs_hang_is_guilty(h, h->rows[i].rank);
        if (guilty && odd == RS_NONE)
            odd = p;
        else if (usual == RS_NONE && (!guilty || (odd != RS_NONE && !rs_hang_same_call(m, odd, p))))
            usual = p; /* where no side has more ranks, all are named: one of the other side */
    }
    if (usual == RS_NONE && h->nguilty == h->nrows) usual = odd; /* each by itself is right: their sums differ */
    begin_ranks(&x->said, m, h->guilty, h->nguilty);
    rs_strbuf_printf(&x->said,
                     h->nguilty == 1 ? " called %s with other arguments than the others" : " do not agree on %s", op);
    if (odd != RS_NONE && usual != RS_NONE) {
        if (rs_hang_has_states(m, h->comm)) rs_strbuf_printf(&x->detail, "%s: ", rs_hang_rule(m, odd, usual));
        size_t before = x->detail.len;
        uint64_t in, out;
        if (rs_hang_sums(m, h->op, &in, &out))
            rs_strbuf_printf(&x->detail, "all ranks together give %" PRIu64 " elements and take %" PRIu64, in, out);
        else
            arguments(&x->detail, m, odd, usual);
        rs_strbuf_printf(&x->said, ": %s", rs_strbuf_borrow(&x->detail) + before);
    }
    rs_strbuf_putc(&x->said, '.');
    if (h->nrows && count_stage(h, RS_STAGE_ENDED) == h->nrows)
        rs_strbuf_puts(&x->said, " It is complete on all ranks all the same, with wrong results: what holds the job is "
                                 "not in NCCL.");
    rs_strbuf_puts(&x->act, "Look at the program: shapes or branches differ between ranks.");
}

void rs_hang_say_odd(struct rs_hang_work *w, uint32_t usual)
{
    const struct rs_model *m = w->m;
    const struct rs_hang_finding *h = &w->now;
    struct rs_hang_words x = {0};
    char op[160];
    uint32_t odd = usual;
    for (uint32_t i = 0; i < h->nrows; i++)
        if (h->rows[i].part != RS_NONE && rs_hang_is_guilty(h, h->rows[i].rank)) odd = h->rows[i].part;
    rs_hang_op_text(m, h->op, op, sizeof op);
    if (rs_hang_has_states(m, h->comm)) rs_strbuf_printf(&x.detail, "%s: ", rs_hang_rule(m, odd, usual));
    if (m->parts.func[odd] != m->parts.func[usual])
        rs_strbuf_printf(&x.detail, "%s against %s of equal ranks in other groups",
                         rs_model_text(m, m->parts.func[odd]), rs_model_text(m, m->parts.func[usual]));
    else
        arguments(&x.detail, m, odd, usual);
    begin_ranks(&x.said, m, h->guilty, h->nguilty);
    rs_strbuf_printf(&x.said, " did not call %s as equal ranks in other groups did.", op);
    rs_strbuf_puts(&x.act, "Look at the program: shapes or branches differ between ranks.");
    rs_hang_set_words(w, &x);
}

static void unknown_words(struct rs_strbuf *s, enum rs_hang_unknown why)
{
    static const char *const words[] = {
        [RS_HANG_KNOWN] = "",
        [RS_HANG_BLIND] = "These files cannot show whether something hangs: they were written when programs ended, and "
                          "do not contain what was still running.",
        [RS_HANG_NO_OUTCOME] =
            "All ranks called the same operation last, and whether it completed was not recorded: whether "
            "they hang in it is unknown. Record KernelCh (RINGSCOPE_EVENTS=ops or net; NCCL 2.26 "
            "or newer).",
        [RS_HANG_MOMENTS] =
            "These dumps are of different moments, between which the job made progress: what is pending "
            "in the later ones may have been in flight. Make all dumps at one time, and again if they "
            "still differ.",
        [RS_HANG_CUT] = "These recordings were cut out of larger ones: nothing hangs in what was kept; whether "
                        "something hung in the rest is unknown.",
        [RS_HANG_COUNTS] =
            "NCCL RAS shows no rank behind: all have launched the same collectives. Whether these ended is not in its "
            "answer, nor are sends, receives and collectives in CUDA graphs: whether the job hangs is unknown. Give "
            "recordings or dumps of the Flight Recorder.",
        [RS_HANG_NOT_RECORDED] = "Nothing hangs in what was recorded, but of processes that did not close the last "
                                 "operations may be absent (lost, not requested, or a live file is missing): whether "
                                 "they hang is unknown. See `ringscope info`.",
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
    if (h->moving)
        rs_strbuf_puts(s, "The counts of NCCL RAS changed from one answer to the next: the job was moving.");
    else if (!open)
        rs_strbuf_puts(s, h->nunseen ? "All processes that are here ended: nothing hangs in what is here."
                                     : "All processes ended: nothing hangs.");
    else if (h->left_out)
        rs_strbuf_printf(s,
                         "%" PRIu32 " pending operation%s not pass the filters, and %s not looked at: whether the job "
                         "hangs there is unknown. Of the others none hangs.",
                         h->left_out, h->left_out == 1 ? " does" : "s do", h->left_out == 1 ? "was" : "were");
    else if (pending)
        rs_strbuf_printf(s,
                         "When the recordings end %" PRIu32 " operation%s in flight, for no longer than usual: nothing "
                         "hangs.",
                         pending, pending == 1 ? " was" : "s were");
    else if (dumps == all)
        rs_strbuf_puts(
            s, "Nothing was pending in NCCL when these dumps were made: if the job was stuck then, look outside "
               "NCCL (data loading, a checkpoint, a barrier of another kind).");
    else
        rs_strbuf_printf(s,
                         "%" PRIu32 " of %" PRIu32 " processes did not close, and nothing was pending in NCCL: nothing "
                         "hangs there.",
                         n, all);
}

void rs_hang_say_finding(struct rs_hang_work *w)
{
    struct rs_hang_finding *h = &w->now;
    const struct rs_model *m = w->m;
    struct rs_hang_words x = {0};
    char op[160] = "";
    if (h->evidence) return;
    if (h->op != RS_NONE) rs_hang_op_text(m, h->op, op, sizeof op);
    bool one = h->nguilty == 1;
    switch (h->verdict) {
    case RS_VERDICT_RANK_DEAD: dead_words(&x, h, m, op); break;
    case RS_VERDICT_NOT_JOINED:
        begin_ranks(&x.said, m, h->guilty, h->nguilty);
        rs_strbuf_printf(&x.said, " did not join %s, in which %" PRIu32 " rank%s wait%s.", op, h->nwaiting,
                         h->nwaiting == 1 ? "" : "s", h->nwaiting == 1 ? "s" : "");
        if (rs_hang_has_states(m, h->comm)) {
            rs_hang_flight_absent(&x.detail, w);
            rs_hang_flight_stale(&x.said, &x.act, w);
        }
        instead_words(&x, h, m);
        break;
    case RS_VERDICT_MISMATCH: mismatch_words(&x, h, m, op); break;
    case RS_VERDICT_STREAM_BLOCKED:
        rs_strbuf_puts(&x.said, one ? "The kernel of " : "The kernels of ");
        rs_phrase_ranks(&x.said, m, h->guilty, h->nguilty);
        rs_strbuf_printf(&x.said, " for %s %s launched and never started: something before %s does not end.", op,
                         one ? "was" : "were", one ? "it on its stream" : "them on their streams");
        rs_strbuf_printf(&x.act, "Look at what %s (a kernel in a loop, a wait for an event).",
                         one ? "that GPU runs" : "those GPUs run");
        break;
    default: break; /* said already */
    }
    bool behind = h->verdict == RS_VERDICT_NOT_JOINED || h->verdict == RS_VERDICT_STREAM_BLOCKED;
    if (behind && rs_hang_has_states(m, h->comm))
        rs_strbuf_printf(&x.act,
                         " A dump does not record when it was made: if the job was running well, %s merely behind the "
                         "others then.",
                         one ? "this rank was" : "these ranks were");
    rs_hang_set_words(w, &x);
}

/* ---- the conclusion ---- */

/* What was built becomes the next sentence. */
static void conclude(struct rs_hang *h, struct rs_strbuf *s)
{
    const char *text = keep(h, s);
    if (!text) return;
    RS_ROOM(h->conclusion, h->nconclusion, h->cap_conclusion);
    h->conclusion[h->nconclusion++] = text;
}

/* What weakens a finding. */
static void doubt_words(struct rs_strbuf *s, const struct rs_hang_finding *h, const struct rs_model *m)
{
    uint32_t gaps = count_stage(h, RS_STAGE_NOT_RECORDED), dark = count_stage(h, RS_STAGE_ENTERED);
    if (h->op == RS_NONE) return;
    if (gaps) {
        rs_strbuf_puts(s, gaps == 1 ? "Of rank " : "Of ranks ");
        rs_phrase_stage(s, m, h, RS_STAGE_NOT_RECORDED);
        rs_strbuf_printf(s,
                         " nothing was recorded here (lost, overwritten or not requested): %s may be where the others "
                         "are, or the cause.",
                         gaps == 1 ? "it" : "they");
    } else if (dark) {
        rs_strbuf_puts(s, "Kernels were not recorded on all ranks: whether theirs had started is unknown.");
    }
}

static void finding_words(struct rs_strbuf *s, const struct rs_hang_finding *f)
{
    if (f->evidence) rs_strbuf_puts(s, f->evidence);
    if (f->frames) {
        size_t n = strcspn(f->frames, "\n");
        rs_strbuf_printf(s, " Its last recorded call is at %.*s.", (int)(n < 400 ? n : 400), f->frames);
    }
    if (f->advice) rs_strbuf_printf(s, "%s%s", s->len ? " " : "", f->advice);
}

void rs_hang_conclude(struct rs_hang_work *w, bool open)
{
    enum { SAID = 16 }; /* findings whose sentences are in the conclusion; all are in the list */
    struct rs_hang *h = w->out;
    const struct rs_model *m = w->m;
    struct rs_strbuf s = {0};
    const struct rs_hang_finding *first = &h->findings[0];
    switch (first->verdict) {
    case RS_VERDICT_NONE: none_words(&s, h, m, w->in_flight, open); break;
    case RS_VERDICT_UNKNOWN: unknown_words(&s, h->unknown); break;
    case RS_VERDICT_OUTSIDE_NCCL:
        rs_strbuf_puts(&s, "Everything that was called is complete in NCCL, and no process has called since: look "
                           "outside NCCL (data loading, a checkpoint, a barrier of another kind).");
        break;
    default: break;
    }
    conclude(h, &s);
    for (uint32_t i = 0; i < h->nfindings && i < SAID; i++) {
        finding_words(&s, &h->findings[i]);
        conclude(h, &s);
    }
    if (h->nfindings > SAID) rs_strbuf_printf(&s, "%" PRIu32 " more causes were found.", h->nfindings - SAID);
    conclude(h, &s);
    doubt_words(&s, first, m);
    conclude(h, &s);
    if (h->nunseen) {
        rs_strbuf_puts(&s, h->nunseen == 1 ? "Rank " : "Ranks ");
        for (uint32_t i = 0; i < h->nunseen && i < 8; i++) rs_strbuf_printf(&s, "%s%d", i ? ", " : "", h->unseen[i]);
        if (h->nunseen > 8) rs_strbuf_printf(&s, " and %" PRIu32 " more", h->nunseen - 8);
        rs_strbuf_printf(&s, " left no recording here: what %s did is unknown.", h->nunseen == 1 ? "it" : "they");
        conclude(h, &s);
    }
    rs_strbuf_free(&s);
}
