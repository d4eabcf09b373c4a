#include "analyse/profile_words.h"

#include <inttypes.h>
#include <math.h>

#include "analyse/words.h"
#include "base/strbuf.h"

/* What all ranks whose compute is seen did together. */
struct totals {
    uint32_t ranks, blind; /* whose compute is seen; whose NCCL operations alone are */
    uint32_t split; /* ranks whose waits are known */
    double span, wait, transfer, unclear, idle, launch_gaps, host_gaps;
    double wait_error;
    int64_t most_unclear; /* of any rank: of exposed time */
    uint32_t least, most; /* rows that wait least and most; RS_NONE */
    uint32_t idlest; /* by the host's gaps */
    uint32_t synchronised; /* ranks with a wait behind each block */
};

static double ns_of(int64_t ns)
{
    return ns == RS_TIME_NONE ? 0 : (double)ns;
}

static void look_at(struct totals *t, const struct rs_profile *p, uint32_t i)
{
    const struct rs_profile_row *row = &p->rows[i];
    const struct rs_overlap_times *x = &row->overlap.exact;
    if (row->track && !row->track->has_work) t->blind++;
    if (!row->track || !row->track->has_work || x->span == RS_TIME_NONE) return;
    t->ranks++;
    t->span += ns_of(x->span);
    t->wait += ns_of(x->wait);
    t->transfer += ns_of(x->transfer);
    t->unclear += ns_of(x->unclear);
    if (x->unclear > t->most_unclear) t->most_unclear = x->unclear;
    t->idle += ns_of(x->idle);
    t->launch_gaps += ns_of(row->launches.launch_gap_ns);
    t->host_gaps += ns_of(row->launches.host_gap_ns);
    t->wait_error += ns_of(row->overlap.wait_error_ns);
    t->synchronised += row->launches.synchronised >= RS_SYNC_RANGES;
    if (x->wait != RS_TIME_NONE) {
        t->split++;
        if (t->least == RS_NONE || x->wait < p->rows[t->least].overlap.exact.wait) t->least = i;
        if (t->most == RS_NONE || x->wait > p->rows[t->most].overlap.exact.wait) t->most = i;
    }
    if (t->idlest == RS_NONE || row->launches.host_gap_ns > p->rows[t->idlest].launches.host_gap_ns) t->idlest = i;
}

static void words_rank(struct rs_strbuf *s, const struct rs_profile *p, uint32_t i)
{
    const struct rs_profile_row *row = &p->rows[i];
    if (row->rank >= 0)
        rs_strbuf_printf(s, "rank %" PRId32, row->rank);
    else if (row->track)
        rs_strbuf_printf(s, "process %" PRIu32, p->view.model->procs[row->track->proc].pid);
    else
        rs_strbuf_puts(s, "the rank");
}

static enum rs_status say(struct rs_profile *p, struct rs_strbuf *s, struct rs_err *err)
{
    if (p->nconclusion == sizeof p->conclusion / sizeof *p->conclusion) {
        rs_strbuf_clear(s);
        return RS_OK;
    }
    enum rs_status status = rs_strbuf_take(s, &p->conclusion[p->nconclusion], err);
    if (status == RS_OK) p->nconclusion++;
    return status;
}

/* ---- sentences ---- */

enum { UNCLEAR_SHARE = 10 }; /* unknown time is small up to this part of the difference that a sentence rests on */

/* Waiting in NCCL with nothing computed meanwhile: balance. The rank that waits least is the one that the others wait
 * for, where it waits for less than half of what the most patient one does, beyond the error, and where what is not
 * known of any rank could not change that. */
static enum rs_status say_wait(struct rs_profile *p, const struct totals *t, struct rs_strbuf *s, struct rs_err *err)
{
    const struct rs_overlap *least = &p->rows[t->least].overlap, *most = &p->rows[t->most].overlap;
    rs_strbuf_printf(s, "%.0f %% of the GPUs' time is waiting for other ranks in NCCL with nothing computed meanwhile",
                     100 * t->wait / t->span);
    int64_t lead = rs_time_minus(most->exact.wait, least->exact.wait);
    bool one = t->split > 1 && least->exact.wait < most->exact.wait / 2 && lead / 2 > most->wait_error_ns;
    if (one && t->most_unclear > lead / UNCLEAR_SHARE) {
        rs_strbuf_puts(s,
                       "; for whom is not known here, since of some ranks too much is neither known as waiting nor as "
                       "transfer: `ringscope report` says who was late in which operation.");
    } else if (one) {
        const struct rs_profile_row *late = &p->rows[t->least];
        rs_strbuf_puts(s, ". The others wait for ");
        words_rank(s, p, t->least);
        rs_strbuf_puts(s, ", which itself waits only ");
        rs_words_ns(s, least->exact.wait);
        rs_strbuf_puts(s, " (");
        words_rank(s, p, t->most);
        rs_strbuf_puts(s, ": ");
        rs_words_ns(s, most->exact.wait);
        rs_strbuf_printf(s, "); its GPU is idle for %.0f %% of the time", rs_idle_pct(&least->exact));
        if (late->launches.host_gap_ns > least->exact.idle / 2)
            rs_strbuf_puts(s, ", mostly because its host launches nothing: look at what the program does there");
        else
            rs_strbuf_puts(s, ": give it less to do, or what the others have");
        rs_strbuf_putc(s, '.');
    } else {
        rs_strbuf_puts(s, ", and no single rank is to blame: `ringscope report` says who was late in which operation.");
    }
    return say(p, s, err);
}

static enum rs_status say_transfer(struct rs_profile *p, const struct totals *t, struct rs_strbuf *s,
                                   struct rs_err *err)
{
    rs_strbuf_printf(
        s,
        "%.0f %% of the GPUs' time goes into transfers with nothing computed meanwhile: hide communication "
        "behind compute (start it earlier, on a stream of its own), or make it faster.",
        100 * t->transfer / t->span);
    return say(p, s, err);
}

static enum rs_status say_launches(struct rs_profile *p, const struct totals *t, struct rs_strbuf *s,
                                   struct rs_err *err)
{
    const struct rs_launches *l = &p->rows[t->idlest].launches;
    rs_strbuf_printf(s, "Launch-bound: for %.0f %% of the time GPUs are idle because the next launch comes too late",
                     100 * t->launch_gaps / t->span);
    if (l->median_kernel_ns != RS_TIME_NONE) {
        rs_strbuf_puts(s, " (kernels of ");
        rs_words_ns(s, l->median_kernel_ns);
        rs_strbuf_puts(s, " as a rule");
        if (!isnan(l->kernels_a_step)) rs_strbuf_printf(s, ", %.0f a step", l->kernels_a_step);
        rs_strbuf_putc(s, ')');
    }
    rs_strbuf_puts(s, ": CUDA graphs, fused kernels or larger batches help.");
    return say(p, s, err);
}

static enum rs_status say_host(struct rs_profile *p, struct rs_strbuf *s, uint32_t row, struct rs_err *err)
{
    const struct rs_profile_row *r = &p->rows[row];
    rs_strbuf_puts(s, "The GPU of ");
    words_rank(s, p, row);
    rs_strbuf_printf(s, " is idle for %.0f %% of the time because its host launches nothing (",
                     100 * ns_of(r->launches.host_gap_ns) / ns_of(r->overlap.exact.span));
    rs_words_ns(s, r->launches.host_gap_ns);
    rs_strbuf_printf(s,
                     " in %" PRIu64 " gaps): look at what the program does there (input, synchronisation, CPU work).",
                     r->launches.host_gaps);
    return say(p, s, err);
}

static enum rs_status say_pipeline(struct rs_profile *p, struct rs_strbuf *s, struct rs_err *err)
{
    const struct rs_pipeline *x = &p->rows[p->worst].pipeline;
    rs_strbuf_printf(s, "Pipeline of ");
    words_rank(s, p, p->worst);
    rs_strbuf_printf(s, "%s: ", p->nrows > 1 ? ", the lowest" : "");
    if (x->verdict == RS_PIPELINED)
        rs_strbuf_puts(s, "its stages lie over each other as well as they can");
    else if (x->verdict == RS_SERIALISED)
        rs_strbuf_puts(s, "its stages follow each other");
    else
        rs_strbuf_puts(s, "its stages lie over each other in part");
    rs_strbuf_printf(s, " (score %.2f, ", x->score);
    rs_words_ns(s, x->hidden_ns);
    rs_strbuf_puts(s, " hidden in a period of ");
    rs_words_ns(s, x->period.p50);
    rs_strbuf_putc(s, ')');
    if (x->bubble_ns > 0) {
        rs_strbuf_puts(s, ", with a bubble of ");
        rs_words_ns(s, x->bubble_ns);
        rs_strbuf_puts(s, " in which none of them runs");
    }
    rs_strbuf_putc(s, '.');
    return say(p, s, err);
}

static enum rs_status say_blind(struct rs_profile *p, const struct totals *t, struct rs_strbuf *s, struct rs_err *err)
{
    rs_strbuf_printf(
        s, "%s: NCCL sees no compute. Add a PyTorch profiler (Kineto) or Nsight Systems trace of the same job.",
        t->ranks ? "Of some ranks overlap is not known" : "Overlap is not known");
    return say(p, s, err);
}

/* The largest loss first, and a second one where it is not much smaller. Below 5 % of the time nothing is worth a
 * sentence. */
static enum rs_status say_losses(struct rs_profile *p, const struct totals *t, struct rs_strbuf *s, struct rs_err *err)
{
    enum { WAIT, TRANSFER, LAUNCHES, HOST, LOSSES };
    double loss[LOSSES] = {t->wait > t->wait_error ? t->wait : 0, t->transfer, t->launch_gaps, t->host_gaps};
    double first = 0;
    for (int said = 0; said < 2; said++) {
        int worst = 0;
        for (int i = 1; i < LOSSES; i++)
            if (loss[i] > loss[worst]) worst = i;
        if (loss[worst] < 0.05 * t->span || loss[worst] < first / 4) break;
        first = loss[worst] > first ? loss[worst] : first;
        loss[worst] = 0;
        switch (worst) {
        case WAIT: RS_TRY(say_wait(p, t, s, err)); break;
        case TRANSFER: RS_TRY(say_transfer(p, t, s, err)); break;
        case LAUNCHES: RS_TRY(say_launches(p, t, s, err)); break;
        default: RS_TRY(say_host(p, s, t->idlest, err)); break;
        }
    }
    if (first > 0) return RS_OK;
    if (t->unclear > 0.05 * t->span)
        rs_strbuf_printf(
            s,
            "%.0f %% of the GPUs' time is communication with nothing computed meanwhile; how much of it is "
            "waiting is not known: that takes the traces of all ranks, and clock errors below the waits.",
            100 * t->unclear / t->span);
    else
        rs_strbuf_puts(
            s, "Communication costs little here: nothing exposed, and no gap in the work of the GPUs, reaches 5 % "
               "of the time.");
    return say(p, s, err);
}

static enum rs_status conclude(struct rs_profile *p, struct rs_strbuf *s, struct rs_err *err)
{
    struct totals t = {.least = RS_NONE, .most = RS_NONE, .idlest = RS_NONE};
    for (uint32_t i = 0; i < p->nrows; i++) look_at(&t, p, i);
    if (t.synchronised) {
        rs_strbuf_printf(
            s,
            "This profile was taken with a wait for the GPU behind each %s: it shows where time is spent, not "
            "what overlaps or how fast the program is without that.",
            p->rows[t.idlest].launches.synchronised == RS_SYNC_KERNELS ? "kernel" : "block");
        RS_TRY(say(p, s, err));
    }
    if (t.ranks && t.span > 0) RS_TRY(say_losses(p, &t, s, err));
    if (p->worst != RS_NONE && p->rows[p->worst].source != RS_PIPELINE_PAIRS) RS_TRY(say_pipeline(p, s, err));
    if (t.blind) RS_TRY(say_blind(p, &t, s, err));
    if (p->nconclusion) return RS_OK;
    bool stages = false;
    for (uint32_t i = 0; i < p->nrows; i++) stages |= p->rows[i].source == RS_PIPELINE_FILE;
    if (stages)
        rs_strbuf_puts(s, "No score: that takes at least two stages, and two chunks in a row behind the warm-up.");
    else if (!p->nrows)
        rs_strbuf_puts(s, "No rank with a time axis is here: nothing can be said of overlap.");
    else
        rs_strbuf_puts(s, "No times of kernels are here: nothing can be said of overlap.");
    return say(p, s, err);
}

enum rs_status rs_profile_conclude(struct rs_profile *p, struct rs_err *err)
{
    struct rs_strbuf s = {0};
    enum rs_status status = conclude(p, &s, err);
    rs_strbuf_free(&s);
    return status;
}
