#include "trace/overview.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- hosts, communicators ---- */

static void count_places(struct rs_overview *o, const struct rs_inputs *in)
{
    struct rs_map hashes = {0};
    for (size_t i = 0; i < in->n; i++) {
        uint64_t hash, one;
        for (size_t pos = 0; rs_map_next(&o->summaries[i].comm_hashes, &pos, &hash, &one);)
            rs_map_put(&hashes, hash, 1);
    }
    o->communicators = rs_map_count(&hashes);
    rs_map_free(&hashes);
    for (size_t i = 0; i < in->n; i++) {
        size_t e = 0;
        while (e < i && strcmp(in->sources[e].recording->header.host, in->sources[i].recording->header.host)) e++;
        o->hosts += e == i;
    }
}

/* For how long KernelCh was requested: until the last sign of life. */
static void add_detail(struct rs_overview *o, struct rs_source *s)
{
    const struct rs_process *p = &s->process;
    int64_t end = rs_source_end_ns(s);
    o->triggers += p->ntriggers;
    for (size_t i = 0; i < p->nmasks; i++) {
        int64_t from = rs_clock_ns(&s->clock, p->masks[i].tick);
        int64_t to = i + 1 < p->nmasks ? rs_clock_ns(&s->clock, p->masks[i + 1].tick) : end;
        if (to <= from || (uint64_t)to - (uint64_t)from > UINT64_C(1) << 52) continue; /* damaged */
        o->requested_ns += to - from;
        if (p->masks[i].mask & RS_KERNEL_CH) o->detail_ns += to - from;
    }
}

static void add_up(struct rs_overview *o, struct rs_inputs *in)
{
    struct rs_summary *sum = &o->sum;
    o->accounted = o->same_mask = true;
    for (size_t i = 0; i < in->n; i++) {
        const struct rs_process *p = &in->sources[i].process;
        o->accounted &= rs_source_accounted(&in->sources[i]);
        if (!i && p->nmasks) o->mask = p->masks[0].mask;
        o->same_mask &= p->nmasks == 1 && p->masks[0].mask == o->mask;
        add_detail(o, &in->sources[i]);
        const struct rs_summary *s = &o->summaries[i];
        const struct rs_recording *r = in->sources[i].recording;
        o->lost += rs_recording_lost(r);
        o->overwritten += r->overwritten;
        o->damaged += r->damaged;
        o->cut += p->left_out;
        o->cuts += p->cut;
        for (int c = 0; c < RS_CALL_LOST; c++) sum->calls[c] += s->calls[c];
        for (int t = 0; t <= RS_NCCL_TYPE_BITS; t++) sum->events[t] += s->events[t];
        sum->callbacks += s->callbacks;
        sum->threads += s->threads;
        if (!s->callbacks) continue;
        if (!sum->from_ns || s->from_ns < sum->from_ns) sum->from_ns = s->from_ns;
        if (s->to_ns > sum->to_ns) sum->to_ns = s->to_ns;
        if (s->to_ns - s->from_ns > o->longest_ns) o->longest_ns = s->to_ns - s->from_ns;
    }
}

static bool same_text(const char *a, const char *b)
{
    return a && b && !strcmp(a, b);
}

void rs_overview_init(struct rs_overview *o, struct rs_inputs *in, void (*progress)(size_t done, size_t all))
{
    *o = (struct rs_overview){0};
    o->summaries = rs_zalloc(in->n + 1, sizeof *o->summaries);
    for (size_t i = 0; i < in->n; i++) {
        rs_summary_init(&o->summaries[i], &in->sources[i]);
        if (progress) progress(i + 1, in->n);
    }
    add_up(o, in);
    count_places(o, in);
    rs_differences_find(&o->differences, in);
    const char *version = in->n ? rs_process_info(&in->sources[0].process, "nccl.version") : NULL;
    for (size_t i = 1; i < in->n && version; i++)
        if (!same_text(version, rs_process_info(&in->sources[i].process, "nccl.version"))) version = NULL;
    o->nccl_version = version;
}

void rs_overview_free(struct rs_overview *o, size_t n)
{
    for (size_t i = 0; o->summaries && i < n; i++) rs_summary_free(&o->summaries[i]);
    rs_differences_free(&o->differences);
    free(o->summaries);
    *o = (struct rs_overview){0};
}

double rs_recorder_ns(struct rs_source *source, const struct rs_summary *summary, int64_t *span_ns)
{
    const struct rs_status_block *st = &source->recording->header.status;
    int64_t end = rs_source_end_ns(source);
    *span_ns = (summary->to_ns > end ? summary->to_ns : end) - rs_source_begin_ns(source);
    if (*span_ns <= 0 || !st->callback_cost_ps) return -1;
    double callbacks =
        (double)(summary->callbacks + rs_recording_lost(source->recording)) * st->callback_cost_ps * 1e-3;
    return callbacks + (double)st->sealer_cpu_ns;
}

double rs_recorder_share(struct rs_source *source, const struct rs_summary *summary)
{
    int64_t span;
    double ns = rs_recorder_ns(source, summary, &span);
    return ns < 0 ? -1 : ns / (double)span;
}
