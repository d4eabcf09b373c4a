#include "analyse/hang_health.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/hang_phrases.h"
#include "analyse/hang_words.h"
#include "base/memory.h"
#include "base/mix.h"
#include "base/room.h"

enum { REMOTE_ERROR = 6 }; /* ncclRemoteError: another rank's fault */
enum { MOST_FUNCTIONS = 16 }; /* of a communicator that are compared with each other; NCCL counts five */

/* Ranks of one communicator that have launched different numbers of one function: rows of `sorted`, by number. */
struct lag {
    uint32_t first, n;
    uint32_t behind; /* of these rows: with the lowest number */
    uint32_t causes; /* of those: ranks that wait for nobody */
};

struct health {
    const struct rs_model *m;
    uint32_t last; /* the latest answer */
    const struct rs_progress **sorted; /* of the latest answer: by communicator, function, number, rank */
    uint32_t nsorted;
    struct lag *lags;
    uint32_t nlags, cap_lags;
    struct rs_map waits; /* rank -> 1 + the lag in which it waits for another */
    struct rs_map ahead; /* lag and rank of its communicator: it is not behind there */
    struct rs_map at; /* rank -> 1 + a lag of its own, times 2, and whether it is behind there, if anywhere */
    struct rs_map members; /* rank -> a member that names its process */
    struct rs_map lost; /* rank -> enum rs_rank_condition of one whose process does not answer */
    const struct rs_condition **states; /* of the latest answer: the largest communicators first, each by rank */
    uint32_t nstates;
    struct rs_map named; /* ranks that are causes already */
    uint8_t *moved; /* by communicator: counts changed between answers */
    uint32_t answers; /* in which the counts of the latest were found again, unchanged: with it */
    uint32_t moving; /* communicators whose counts changed */
    int64_t span_s; /* between the first of these and the latest; -1: not known */
};

/* ---- ranks ---- */

/* The communicator as recordings have it. */
static uint32_t lead_of(const struct rs_model *m, uint32_t comm)
{
    return m->comms[comm].over != RS_NONE ? m->comms[comm].over : comm;
}

static struct rs_hang_who who_of(const struct rs_model *m, uint32_t comm, int32_t rank)
{
    uint32_t lead = lead_of(m, comm), member = rs_comm_member(m, lead, rank);
    if (member == RS_NONE) member = rs_comm_member(m, comm, rank);
    int32_t job = rs_job_rank(m, lead, rank);
    if (job < 0 && member != RS_NONE) job = m->members[member].global_rank;
    return (struct rs_hang_who){.rank = job, .comm_rank = rank, .member = member};
}

/* The same for a rank in all its communicators, as far as it is known. */
static uint64_t key_of(const struct rs_model *m, uint32_t comm, int32_t rank)
{
    struct rs_hang_who who = who_of(m, comm, rank);
    if (who.rank >= 0) return (uint64_t)who.rank;
    if (who.member != RS_NONE) return UINT64_C(1) << 62 | rs_hang_rank_of(m, who.member);
    return UINT64_C(1) << 63 | (uint64_t)comm << 32 | (uint32_t)rank;
}

static int by_rank(const void *a, const void *b)
{
    const struct rs_hang_who *x = a, *y = b;
    return x->comm_rank < y->comm_rank ? -1 : x->comm_rank > y->comm_rank;
}

/* ---- counts ---- */

static int by_count(const void *a, const void *b)
{
    const struct rs_progress *x = *(const struct rs_progress *const *)a, *y = *(const struct rs_progress *const *)b;
    if (x->comm != y->comm) return x->comm < y->comm ? -1 : 1;
    if (x->func != y->func) return x->func < y->func ? -1 : 1;
    if (x->n != y->n) return x->n < y->n ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static uint64_t count_key(const struct rs_progress *p)
{
    return rs_mix(rs_mix(rs_mix(1, p->comm), p->func), (uint32_t)p->rank);
}

/* Compares the latest answer with those before it. */
static void find_moved(struct health *h)
{
    const struct rs_model *m = h->m;
    struct rs_map counts = {0};
    uint8_t *same = rs_zalloc((size_t)m->nanswers + 1, sizeof *same);
    for (uint32_t i = 0; i < h->nsorted; i++) rs_map_put(&counts, count_key(h->sorted[i]), h->sorted[i]->n);
    for (uint32_t i = 0; i < m->nprogress; i++) {
        const struct rs_progress *p = &m->progress[i];
        const uint64_t *n = p->answer == h->last ? NULL : rs_map_find(&counts, count_key(p));
        if (!n) continue;
        same[p->answer] = 1;
        if (*n != p->n && !h->moved[p->comm]) h->moved[p->comm] = 1, h->moving++;
    }
    h->answers = 1;
    int64_t now = m->answers[h->last].time_s;
    for (uint32_t i = 0; i < h->last; i++) {
        if (!same[i]) continue;
        h->answers++;
        int64_t then = m->answers[i].time_s;
        if (now >= 0 && then >= 0 && now - then > h->span_s) h->span_s = now - then;
    }
    free(same);
    rs_map_free(&counts);
}

static void find_lags(struct health *h)
{
    const struct rs_model *m = h->m;
    for (uint32_t i = 0, end; i < h->nsorted; i = end) {
        const struct rs_progress *first = h->sorted[i];
        uint32_t behind = 0;
        for (end = i; end < h->nsorted; end++) {
            const struct rs_progress *p = h->sorted[end];
            if (p->comm != first->comm || p->func != first->func) break;
            behind += p->n == first->n;
        }
        if (behind == end - i || h->moved[first->comm]) continue;
        RS_ROOM(h->lags, h->nlags, h->cap_lags);
        h->lags[h->nlags++] = (struct lag){i, end - i, behind, 0};
        for (uint32_t k = i; k < end; k++) {
            uint64_t *at, key = key_of(m, first->comm, h->sorted[k]->rank);
            bool is_behind = k < i + behind;
            rs_map_at(&h->at, key, 0, &at);
            if (!*at || (is_behind && !(*at & 1))) *at = 2 * (uint64_t)h->nlags + is_behind;
            if (is_behind) continue;
            rs_map_at(&h->waits, key, h->nlags, &at);
            rs_map_put(&h->ahead, (uint64_t)h->nlags << 32 | (uint32_t)h->sorted[k]->rank, 1);
        }
    }
    for (uint32_t i = 0; i < h->nlags; i++) {
        struct lag *l = &h->lags[i];
        for (uint32_t k = l->first; k < l->first + l->behind; k++)
            l->causes += !rs_map_find(&h->waits, key_of(m, h->sorted[k]->comm, h->sorted[k]->rank));
    }
}

/* ---- words ---- */

static const char *func_text(const struct rs_model *m, uint16_t func)
{
    return func ? rs_model_text(m, func) : "another collective";
}

/* What the finding says holds for the moment of the answer. */
static void add_moment(const struct health *h, struct rs_strbuf *act)
{
    if (h->answers == 1)
        rs_strbuf_puts(act,
                       " NCCL RAS was asked once: ranks of a running job differ for moments, too. Ask again: if the "
                       "counts have not changed, the job hangs.");
    else if (h->span_s > 0)
        rs_strbuf_printf(act, " The counts are the same in %" PRIu32 " answers of NCCL RAS within %" PRId64 " s.",
                         h->answers, h->span_s);
    else
        rs_strbuf_printf(act,
                         " The counts are the same in %" PRIu32 " answers of NCCL RAS; when these were given is not in "
                         "them.",
                         h->answers);
}

static void say(struct rs_hang_work *w, const struct health *h, struct rs_hang_words *x)
{
    add_moment(h, &x->act);
    rs_hang_set_words(w, x);
}

static void begin_who(struct rs_strbuf *s, const struct rs_model *m, const struct rs_hang_who *who, uint32_t n)
{
    size_t before = s->len;
    rs_phrase_ranks(s, m, who, n);
    if (s->data && s->data[before] == 'r') s->data[before] = 'R';
}

static void add_look(struct rs_strbuf *act, const struct rs_model *m, const struct rs_hang_who *who, uint32_t n)
{
    uint32_t pid = who->member == RS_NONE ? 0 : m->procs[m->members[who->member].proc].pid;
    rs_strbuf_puts(act, n == 1 ? "Look at what its program does (py-spy dump"
                               : "Look at what their programs do (py-spy dump");
    if (pid) rs_strbuf_printf(act, " --pid %" PRIu32, pid);
    rs_strbuf_puts(act, ", gdb).");
}

/* ---- findings ---- */

static void begin(struct rs_hang_work *w, uint32_t comm, enum rs_verdict verdict)
{
    w->now.comm = lead_of(w->m, comm);
    w->now.verdict = verdict;
}

static void accuse(struct rs_hang_work *w, struct health *h, uint32_t comm, int32_t rank)
{
    rs_map_put(&h->named, key_of(h->m, comm, rank), 1);
    rs_hang_add_who(&w->now.guilty, &w->now.nguilty, who_of(h->m, comm, rank));
}

static int by_row_rank(const void *a, const void *b)
{
    const struct rs_hang_rank *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* The ranks of a lag are the evidence: who has launched the first collective that not all have, and who has not. */
static void keep_lag(struct rs_hang_work *w, const struct health *h, const struct lag *l)
{
    struct rs_hang_finding *f = &w->now;
    const struct rs_progress *first = h->sorted[l->first];
    f->func = first->func;
    f->seq = first->n;
    f->nrows = l->n;
    f->rows = rs_alloc(l->n * sizeof *f->rows);
    f->busy = rs_alloc(l->n * sizeof *f->busy);
    f->last = rs_alloc(l->n * sizeof *f->last);
    for (uint32_t i = 0; i < l->n; i++) {
        const struct rs_progress *p = h->sorted[l->first + i];
        struct rs_hang_who who = who_of(h->m, p->comm, p->rank);
        f->rows[i] = (struct rs_hang_rank){.rank = p->rank,
                                           .member = who.member,
                                           .part = RS_NONE,
                                           .stage = p->n > first->n ? RS_STAGE_ENTERED : RS_STAGE_ABSENT,
                                           .since = RS_TIME_NONE};
        f->busy[i] = f->last[i] = RS_NONE;
        if (p->n > first->n) rs_hang_add_who(&f->waiting, &f->nwaiting, who);
    }
    qsort(f->rows, l->n, sizeof *f->rows, by_row_rank);
    if (f->nwaiting) qsort(f->waiting, f->nwaiting, sizeof *f->waiting, by_rank);
    if (f->nguilty) qsort(f->guilty, f->nguilty, sizeof *f->guilty, by_rank);
}

/* "launched 49 AllReduce operations, the others 50 to 52" */
static void say_counts(struct rs_strbuf *s, const struct health *h, const struct lag *l)
{
    const struct rs_progress *low = h->sorted[l->first], *next = h->sorted[l->first + l->behind],
                             *high = h->sorted[l->first + l->n - 1];
    const char *func = low->func ? rs_model_text(h->m, low->func) : "collective";
    rs_strbuf_printf(s, "launched %" PRIu64 " %s operation%s, the other%s %" PRIu64, low->n, func,
                     low->n == 1 ? "" : "s", l->n - l->behind == 1 ? "" : "s", next->n);
    if (high->n > next->n) rs_strbuf_printf(s, " to %" PRIu64, high->n);
}

/* Ranks that are behind and wait for nobody. */
static void add_behind(struct rs_hang_work *w, struct health *h, const struct lag *l)
{
    const struct rs_model *m = h->m;
    const struct rs_progress *first = h->sorted[l->first];
    struct rs_hang_words x = {0};
    begin(w, first->comm, RS_VERDICT_NOT_JOINED);
    for (uint32_t i = l->first; i < l->first + l->behind; i++) {
        uint64_t key = key_of(m, first->comm, h->sorted[i]->rank);
        if (!rs_map_find(&h->waits, key) && !rs_map_find(&h->named, key)) accuse(w, h, first->comm, h->sorted[i]->rank);
    }
    if (!w->now.nguilty) return;
    keep_lag(w, h, l);
    char op[160];
    rs_hang_finding_text(m, &w->now, op, sizeof op);
    begin_who(&x.said, m, w->now.guilty, w->now.nguilty);
    rs_strbuf_puts(&x.said, w->now.nguilty == 1 ? " has " : " have ");
    say_counts(&x.said, h, l);
    rs_strbuf_printf(&x.said, ". %s in %s.", w->now.nwaiting == 1 ? "That one waits" : "Those wait", op);
    say_counts(&x.detail, h, l);
    add_look(&x.act, m, w->now.guilty, w->now.nguilty);
    say(w, h, &x);
    rs_hang_commit(w);
}

static bool is_ahead(const struct health *h, const struct lag *l, int32_t rank)
{
    return rs_map_find(&h->ahead, (uint64_t)(l - h->lags + 1) << 32 | (uint32_t)rank) != NULL;
}

/* Two functions of one communicator, where those behind in one are ahead in the other: they called it instead. */
static bool add_instead(struct rs_hang_work *w, struct health *h, const struct lag *a, const struct lag *b)
{
    const struct rs_model *m = h->m;
    const struct rs_progress *first = h->sorted[a->first];
    uint32_t na = 0, nb = 0;
    for (uint32_t i = a->first; i < a->first + a->behind; i++) na += is_ahead(h, b, h->sorted[i]->rank);
    for (uint32_t i = b->first; i < b->first + b->behind; i++) nb += is_ahead(h, a, h->sorted[i]->rank);
    if (!na || !nb) return false;
    const struct lag *odd = na <= nb ? a : b, *usual = odd == a ? b : a;
    const struct rs_progress *called = h->sorted[usual->first], *others = h->sorted[odd->first];
    begin(w, first->comm, RS_VERDICT_MISMATCH);
    w->now.undecided = na == nb;
    for (uint32_t i = odd->first; i < odd->first + odd->behind; i++)
        if (is_ahead(h, usual, h->sorted[i]->rank)) accuse(w, h, first->comm, h->sorted[i]->rank);
    for (uint32_t i = usual->first; i < usual->first + usual->behind && na == nb; i++)
        if (is_ahead(h, odd, h->sorted[i]->rank)) accuse(w, h, first->comm, h->sorted[i]->rank);
    keep_lag(w, h, odd);
    struct rs_hang_words x = {0};
    const char *one = func_text(m, called->func), *other = func_text(m, others->func);
    rs_strbuf_printf(&x.detail, "%s against %s", one, other);
    begin_who(&x.said, m, w->now.guilty, w->now.nguilty);
    if (na == nb)
        rs_strbuf_printf(&x.said, " do not agree: some called %s, others %s.", one, other);
    else
        rs_strbuf_printf(&x.said, " called %s where the others called %s.", one, other);
    rs_strbuf_puts(&x.act, "The programs do not make the same calls in the same order on this communicator: look at "
                           "the branches of the program there.");
    say(w, h, &x);
    rs_hang_commit(w);
    return true;
}

/* No rank is behind without waiting itself: ranks that wait for each other round a cycle of communicators. */
static void add_cycle(struct rs_hang_work *w, struct health *h)
{
    const struct rs_model *m = h->m;
    uint32_t *next = rs_alloc(((size_t)h->nlags + 1) * sizeof *next);
    uint8_t *seen = rs_zalloc((size_t)h->nlags + 1, sizeof *seen);
    for (uint32_t i = 0; i < h->nlags; i++) {
        const struct lag *l = &h->lags[i];
        next[i] =
            (uint32_t)rs_map_get(&h->waits, key_of(m, h->sorted[l->first]->comm, h->sorted[l->first]->rank), 1) - 1;
    }
    uint32_t at = 0;
    while (!seen[at]) seen[at] = 1, at = next[at];
    const struct lag *l = &h->lags[at];
    begin(w, h->sorted[l->first]->comm, RS_VERDICT_DEADLOCK);
    uint32_t i = at;
    char a[160], b[160] = "";
    do {
        const struct rs_progress *p = h->sorted[h->lags[i].first];
        if (!rs_map_find(&h->named, key_of(m, p->comm, p->rank))) accuse(w, h, p->comm, p->rank);
        i = next[i];
    } while (i != at);
    w->now.undecided = true;
    keep_lag(w, h, l);
    struct rs_hang_finding other = {.op = RS_NONE,
                                    .comm = lead_of(m, h->sorted[h->lags[next[at]].first]->comm),
                                    .func = h->sorted[h->lags[next[at]].first]->func,
                                    .seq = h->sorted[h->lags[next[at]].first]->n};
    rs_hang_finding_text(m, &w->now, a, sizeof a);
    rs_hang_finding_text(m, &other, b, sizeof b);
    struct rs_hang_words x = {0};
    rs_strbuf_printf(&x.detail, "%s and %s wait for each other", a, b);
    begin_who(&x.said, m, w->now.guilty, w->now.nguilty);
    rs_strbuf_printf(&x.said, " wait for each other: some are in %s, others in %s.", a, b);
    rs_strbuf_puts(&x.act, "Make all ranks use these communicators in one order.");
    say(w, h, &x);
    rs_hang_commit(w);
    free(next);
    free(seen);
}

static void add_lags(struct rs_hang_work *w, struct health *h)
{
    uint32_t causes = 0, before = w->out->nfindings;
    for (uint32_t i = 0; i < h->nlags; i++) {
        uint32_t comm = h->sorted[h->lags[i].first]->comm;
        for (uint32_t k = i + 1; k < h->nlags && k - i < MOST_FUNCTIONS && h->sorted[h->lags[k].first]->comm == comm;
             k++)
            if (add_instead(w, h, &h->lags[i], &h->lags[k])) break;
    }
    if (w->out->nfindings > before) return; /* what others wait for follows from it */
    /* Where all that are behind are causes, the evidence is plain: first. */
    for (int mixed = 0; mixed < 2; mixed++)
        for (uint32_t i = 0; i < h->nlags; i++) {
            const struct lag *l = &h->lags[i];
            causes += l->causes;
            if (l->causes && (l->causes < l->behind) == mixed) add_behind(w, h, l);
        }
    if (h->nlags && !causes) add_cycle(w, h);
}

/* ---- processes ---- */

static int by_comm(const void *a, const void *b, void *of)
{
    const struct rs_model *m = of;
    const struct rs_condition *x = *(const struct rs_condition *const *)a, *y = *(const struct rs_condition *const *)b;
    int32_t nx = m->comms[x->comm].nranks, ny = m->comms[y->comm].nranks;
    if (nx != ny) return nx > ny ? -1 : 1;
    if (x->comm != y->comm) return x->comm < y->comm ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static void find_states(struct health *h)
{
    const struct rs_model *m = h->m;
    for (uint32_t i = 0; i < m->nconditions; i++)
        if (m->conditions[i].answer == h->last || m->conditions[i].state == RS_RANK_DEAD) /* that is for good */
            h->states[h->nstates++] = &m->conditions[i];
    qsort_r(h->states, h->nstates, sizeof *h->states, by_comm, (void *)(uintptr_t)m);
    for (uint32_t i = 0; i < h->nstates; i++) {
        const struct rs_condition *c = h->states[i];
        uint64_t key = key_of(m, c->comm, c->rank);
        uint32_t member = rs_comm_member(m, c->comm, c->rank);
        if (member != RS_NONE) rs_map_put(&h->members, key, member);
        if (c->state == RS_RANK_DEAD || c->state == RS_RANK_SILENT) rs_map_put(&h->lost, key, c->state);
    }
}

static void say_left(struct rs_hang_words *x, const struct rs_model *m, const struct rs_hang_finding *f, uint32_t comm,
                     uint32_t running)
{
    bool one = f->nsuspects == 1;
    begin_who(&x->said, m, f->suspects, f->nsuspects);
    rs_strbuf_printf(&x->said,
                     " %s left communicator 0x%016" PRIx64 ", or never made it, while %" PRIu32
                     " rank%s in it: %s answers, and is in no such communicator.",
                     one ? "has" : "have", m->comms[comm].hash, running, running == 1 ? " is" : "s are",
                     one ? "its process" : "the process of each");
    rs_strbuf_printf(&x->act, "Look at %s log (an exception, an early exit).", one ? "its" : "their");
}

static void say_lost(struct rs_hang_words *x, const struct rs_model *m, const struct rs_hang_who *who, uint32_t n,
                     bool dead)
{
    bool one = n == 1;
    rs_strbuf_puts(&x->said, one ? "The process of " : "The processes of ");
    rs_phrase_ranks(&x->said, m, who, n);
    if (dead)
        rs_strbuf_printf(&x->said, " %s been unreachable for a minute: NCCL RAS considers %s dead.",
                         one ? "has" : "have", one ? "it" : "them");
    else
        rs_strbuf_printf(&x->said, " did not answer NCCL RAS: %s stopped, dead, or cannot be reached.",
                         one ? "it is" : "they are");
    rs_strbuf_printf(&x->act, "Look at %s exit status and log, and at %s (out of memory, Xid in dmesg).",
                     one ? "its" : "their", one ? "its host" : "their hosts");
}

/* Ranks in a state, each once, by the largest communicator that it is in. */
static void add_state(struct rs_hang_work *w, struct health *h, uint8_t state)
{
    const struct rs_model *m = h->m;
    bool dead = state == RS_RANK_DEAD, left = state == RS_RANK_LEFT;
    for (uint32_t i = 0, end; i < h->nstates; i = end) {
        uint32_t comm = h->states[i]->comm, running = 0, n = 0;
        for (end = i; end < h->nstates && h->states[end]->comm == comm; end++) {
            const struct rs_condition *c = h->states[end];
            running += c->state == RS_RANK_RUNNING;
            n += c->state == state && !rs_map_find(&h->named, key_of(m, comm, c->rank));
        }
        if (!n || (left && !running)) continue; /* a communicator that all destroy */
        struct rs_hang_words x = {0};
        struct rs_hang_finding *f = &w->now;
        begin(w, comm, left ? RS_VERDICT_NOT_JOINED : RS_VERDICT_RANK_DEAD);
        for (uint32_t k = i; k < end; k++) {
            uint64_t key = key_of(m, comm, h->states[k]->rank);
            if (h->states[k]->state != state || rs_map_find(&h->named, key)) continue;
            rs_map_put(&h->named, key, 1);
            struct rs_hang_who who = who_of(m, comm, h->states[k]->rank);
            if (dead)
                rs_hang_add_who(&f->guilty, &f->nguilty, who);
            else
                rs_hang_add_who(&f->suspects, &f->nsuspects, who);
        }
        if (left)
            say_left(&x, m, f, comm, running);
        else
            say_lost(&x, m, dead ? f->guilty : f->suspects, dead ? f->nguilty : f->nsuspects, dead);
        if (left) add_moment(h, &x.act);
        rs_hang_set_words(w, &x);
        rs_hang_commit(w);
    }
}

static const char *error_text(uint8_t error)
{
    static const char *const names[] = {"",
                                        "unhandled CUDA error",
                                        "system error",
                                        "internal error",
                                        "invalid argument",
                                        "invalid usage",
                                        "remote process error"};
    return error < sizeof names / sizeof *names ? names[error] : "unexpected error";
}

/* An error of NCCL, other than that of another rank, stops its communicator. */
static void add_errors(struct rs_hang_work *w, struct health *h)
{
    const struct rs_model *m = h->m;
    for (uint32_t i = 0; i < h->nstates; i++) {
        const struct rs_condition *c = h->states[i];
        if (!c->error || c->error == REMOTE_ERROR) continue;
        if (rs_map_find(&h->named, key_of(m, c->comm, c->rank))) continue;
        struct rs_hang_words x = {0};
        begin(w, c->comm, RS_VERDICT_STALLED_STEP);
        accuse(w, h, c->comm, c->rank);
        rs_strbuf_printf(&x.detail, "NCCL reports: %s", error_text(c->error));
        begin_who(&x.said, m, w->now.guilty, 1);
        rs_strbuf_printf(&x.said, " has an error in communicator 0x%016" PRIx64 ": %s. Nothing goes on there.",
                         m->comms[c->comm].hash, error_text(c->error));
        rs_strbuf_puts(&x.act, "Look at its log with NCCL_DEBUG=WARN, its GPU (dmesg for Xid) and its network.");
        rs_hang_set_words(w, &x);
        rs_hang_commit(w);
    }
}

/* ---- with recordings and dumps ---- */

static uint64_t key_of_who(const struct rs_model *m, const struct rs_hang_who *who)
{
    if (who->rank >= 0) return (uint64_t)who->rank;
    return who->member == RS_NONE ? UINT64_MAX : UINT64_C(1) << 62 | rs_hang_rank_of(m, who->member);
}

/* A lag of a rank, one in which it is behind if there is one; NULL: none. */
static const struct lag *lag_of(const struct health *h, uint64_t key, bool *behind)
{
    uint64_t at = rs_map_get(&h->at, key, 0);
    *behind = at & 1;
    return at ? &h->lags[at / 2 - 1] : NULL;
}

static void append(struct rs_hang_work *w, const char **to, const struct rs_strbuf *more)
{
    struct rs_strbuf s = {0};
    if (*to) rs_strbuf_puts(&s, *to);
    rs_strbuf_puts(&s, rs_strbuf_borrow(more));
    *to = rs_arena_text(&w->out->arena, rs_strbuf_borrow(&s), s.len);
    rs_strbuf_free(&s);
}

/* What the service says of a rank that a recording or a dump accuses. */
static void say_too(struct rs_hang_work *w, const struct health *h, struct rs_hang_finding *f)
{
    bool behind;
    uint64_t key = key_of_who(h->m, &f->guilty[0]), state = rs_map_get(&h->lost, key, RS_RANK_UNKNOWN);
    const struct lag *l = lag_of(h, key, &behind);
    const char *it = f->nguilty == 1 ? "it" : "the first of them";
    struct rs_strbuf s = {0};
    if (state != RS_RANK_UNKNOWN) {
        rs_strbuf_printf(&s, " NCCL RAS shows the same: %s %s.", it,
                         state == RS_RANK_DEAD ? "has been unreachable for a minute" : "did not answer");
    } else if (l && behind) {
        rs_strbuf_printf(&s, " NCCL RAS shows the same: %s has ", it);
        say_counts(&s, h, l);
        rs_strbuf_putc(&s, '.');
    } else if (l) {
        rs_strbuf_printf(&s, " NCCL RAS, asked at another moment, does not show %s behind the others.", it);
    }
    if (s.len) append(w, &f->evidence, &s);
    rs_strbuf_free(&s);
}

/* Whether the service shows that a rank, of which there is no recording or dump, is the cause. */
static bool is_cause(const struct health *h, const struct rs_hang_who *who, enum rs_verdict *verdict)
{
    bool behind;
    uint64_t key = key_of_who(h->m, who);
    bool dead = rs_map_get(&h->lost, key, RS_RANK_UNKNOWN) == RS_RANK_DEAD;
    *verdict = dead ? RS_VERDICT_RANK_DEAD : RS_VERDICT_NOT_JOINED;
    return dead || (lag_of(h, key, &behind) && behind && !rs_map_find(&h->waits, key));
}

static void say_decided(struct rs_hang_work *w, const struct health *h, struct rs_hang_finding *f)
{
    const struct rs_model *m = h->m;
    struct rs_hang_words x = {0};
    if (f->verdict == RS_VERDICT_RANK_DEAD) {
        say_lost(&x, m, f->guilty, f->nguilty, true);
    } else {
        bool behind;
        const struct lag *l = lag_of(h, key_of_who(m, &f->guilty[0]), &behind);
        begin_who(&x.said, m, f->guilty, f->nguilty);
        rs_strbuf_printf(&x.said, " left no recording here. NCCL RAS shows that %s ",
                         f->nguilty == 1 ? "it has" : "they are behind: the first has");
        say_counts(&x.said, h, l);
        rs_strbuf_putc(&x.said, '.');
        say_counts(&x.detail, h, l);
        add_look(&x.act, m, f->guilty, f->nguilty);
        add_moment(h, &x.act);
    }
    f->evidence = rs_arena_text(&w->out->arena, rs_strbuf_borrow(&x.said), x.said.len);
    f->advice = rs_arena_text(&w->out->arena, rs_strbuf_borrow(&x.act), x.act.len);
    f->detail = x.detail.len ? rs_arena_text(&w->out->arena, rs_strbuf_borrow(&x.detail), x.detail.len) : NULL;
    rs_strbuf_free(&x.said);
    rs_strbuf_free(&x.act);
    rs_strbuf_free(&x.detail);
}

/* A finding that accuses nobody: the service may know which rank without a recording or dump it is. */
static void decide(struct rs_hang_work *w, const struct health *h, struct rs_hang_finding *f)
{
    const struct rs_model *m = h->m;
    enum rs_verdict first = RS_VERDICT_NONE, verdict;
    for (uint32_t i = 0; i < (f->nsuspects ? f->nsuspects : f->nrows); i++) {
        struct rs_hang_who who = {-1, -1, RS_NONE};
        if (f->nsuspects)
            who = f->suspects[i];
        else if (f->rows[i].stage == RS_STAGE_UNSEEN)
            who = (struct rs_hang_who){rs_job_rank(m, f->comm, f->rows[i].rank), f->rows[i].rank, RS_NONE};
        if (!is_cause(h, &who, &verdict) || (first != RS_VERDICT_NONE && verdict != first)) continue;
        first = verdict;
        if (who.member == RS_NONE) who.member = (uint32_t)rs_map_get(&h->members, key_of_who(m, &who), RS_NONE);
        rs_hang_add_who(&f->guilty, &f->nguilty, who);
    }
    if (!f->nguilty) return;
    f->verdict = first;
    f->nsuspects = 0;
    f->undecided = false;
    say_decided(w, h, f);
}

/* ---- the search ---- */

/* Whether recordings or dumps answer, too. */
static bool is_alone(const struct rs_model *m)
{
    for (uint32_t p = 0; p < m->nprocs; p++)
        if (m->procs[p].same == RS_NONE && rs_tool_has(m->procs[p].tool, RS_CAP_OPEN)) return false;
    return true;
}

static void look(struct rs_hang_work *w, struct health *h, bool unsure)
{
    struct rs_hang *out = w->out;
    bool alone = is_alone(h->m), confirmed = h->answers > 1 && h->span_s > 0;
    for (uint32_t i = 0; i < out->nfindings; i++) {
        struct rs_hang_finding *f = &out->findings[i];
        bool told = f->verdict == RS_VERDICT_NOT_JOINED || f->verdict == RS_VERDICT_RANK_DEAD;
        if (f->nguilty && told) say_too(w, h, f);
        if (!f->nguilty) decide(w, h, f);
        for (uint32_t k = 0; k < f->nguilty; k++) rs_map_put(&h->named, key_of_who(h->m, &f->guilty[k]), 1);
    }
    bool others = out->nfindings;
    add_state(w, h, RS_RANK_DEAD);
    /* Recordings and dumps that show nothing weigh more than one moment. */
    if (others || !(alone || confirmed || unsure)) return;
    add_state(w, h, RS_RANK_SILENT);
    if (!out->nfindings) add_errors(w, h);
    if (!out->nfindings) add_lags(w, h);
    if (!out->nfindings && !h->moving) add_state(w, h, RS_RANK_LEFT);
    out->moving = h->moving && alone;
    if (!out->nfindings && alone && !h->moving) out->unknown = RS_HANG_COUNTS;
}

void rs_hang_look_health(struct rs_hang_work *w, bool unsure)
{
    const struct rs_model *m = w->m;
    if (!m->nanswers) return;
    struct health h = {.m = m, .last = m->nanswers - 1, .span_s = -1};
    h.moved = rs_zalloc((size_t)m->ncomms + 1, sizeof *h.moved);
    h.sorted = rs_alloc(((size_t)m->nprogress + 1) * sizeof *h.sorted);
    for (uint32_t i = 0; i < m->nprogress; i++)
        if (m->progress[i].answer == h.last) h.sorted[h.nsorted++] = &m->progress[i];
    qsort(h.sorted, h.nsorted, sizeof *h.sorted, by_count);
    h.states = rs_alloc(((size_t)m->nconditions + 1) * sizeof *h.states);
    find_moved(&h);
    find_lags(&h);
    find_states(&h);
    look(w, &h, unsure);
    free(h.states);
    free(h.sorted);
    free(h.moved);
    free(h.lags);
    rs_map_free(&h.waits);
    rs_map_free(&h.ahead);
    rs_map_free(&h.at);
    rs_map_free(&h.members);
    rs_map_free(&h.lost);
    rs_map_free(&h.named);
}
