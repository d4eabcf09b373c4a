#include "foreign/contents.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "foreign/formats.h"
#include "nccl/abi.h"
#include "nccl/names.h"

enum rs_status rs_sentences_add(struct rs_sentences *s, struct rs_err *err, const char *fmt, ...)
{
    (void)err;
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    int length = vasprintf(&text, fmt, args);
    va_end(args);
    char **grown = length >= 0 ? rs_realloc(s->rows, (s->n + 1) * sizeof *s->rows) : NULL;
    if (!grown) rs_memory_out();
    s->rows = grown;
    grown[s->n++] = text;
    return RS_OK;
}

/* ---- counts ---- */

/* One row per process of the model; the caller frees it. */
static struct rs_counts *count_all(const struct rs_model *m)
{
    struct rs_counts *all = rs_zalloc(m->nprocs + 1, sizeof *all);
    for (uint32_t i = 0; i < m->parts.n; i++) {
        struct rs_counts *f = &all[m->members[m->parts.member[i]].proc];
        bool ended = m->parts.end[i] != RS_TIME_NONE, started = m->parts.start[i] != RS_TIME_NONE;
        if (m->parts.kind[i] < 5) f->parts[m->parts.kind[i]]++;
        f->started += started;
        f->ended += ended;
        f->bounded += !ended && started && (m->parts.after[i] != RS_TIME_NONE || m->parts.before[i] != RS_TIME_NONE);
        f->net += (m->parts.flags[i] & RS_PART_NET) != 0;
    }
    for (uint32_t i = 0; i < m->ntags; i++) {
        struct rs_counts *f = &all[m->members[m->parts.member[m->tags[i].part]].proc];
        f->timed += m->tags[i].duration_ns != RS_TIME_NONE && m->parts.start[m->tags[i].part] == RS_TIME_NONE;
        f->ids += m->tags[i].has_comms_id;
        f->ids_read += m->tags[i].has_comms_id && m->tags[i].comms_id_read;
    }
    for (uint32_t i = 0; i < m->activities.n; i++)
        all[m->lanes[m->activities.lane[i]].proc].activities[m->activities.kind[i]]++;
    for (uint32_t i = 0; i < m->nstats; i++) all[m->stats[i].proc].stats++;
    for (uint32_t i = 0; i < m->nmembers; i++) {
        all[m->members[i].proc].members++;
        all[m->members[i].proc].made_up += m->comms[m->members[i].comm].made_up;
    }
    return all;
}

static void add_counts(struct rs_counts *sum, const struct rs_counts *row)
{
    for (int i = 0; i < 5; i++) sum->parts[i] += row->parts[i];
    for (int i = 0; i < RS_ACTIVITY_KINDS; i++) sum->activities[i] += row->activities[i];
    sum->started += row->started;
    sum->ended += row->ended;
    sum->bounded += row->bounded;
    sum->timed += row->timed;
    sum->ids += row->ids;
    sum->ids_read += row->ids_read;
    sum->net += row->net;
    sum->stats += row->stats;
    sum->members += row->members;
    sum->made_up += row->made_up;
}

/* ---- what it contains ---- */

/* "3 collectives, 1 send" */
static void count(struct rs_strbuf *s, uint64_t n, const char *one, const char *many)
{
    if (n) rs_strbuf_printf(s, "%s%s %s", s->len ? ", " : "", rs_text_count(n).s, n == 1 ? one : many);
}

static enum rs_status say_counts(struct rs_contents *f, struct rs_strbuf *s, const char *suffix, struct rs_err *err)
{
    enum rs_status status = RS_OK;
    if (s->len) status = rs_sentences_add(&f->contains, err, "%s%s", rs_strbuf_borrow(s), suffix);
    rs_strbuf_free(s);
    return status;
}

/* What the model has of the file: operations, times, GPU work, host events, statistics. */
static enum rs_status say_all_counts(struct rs_contents *f, struct rs_err *err)
{
    const struct rs_counts *x = &f->counts;
    struct rs_strbuf s = {0};
    count(&s, x->parts[RS_PART_COLL], "collective", "collectives");
    count(&s, x->parts[RS_PART_SEND], "send", "sends");
    count(&s, x->parts[RS_PART_RECV], "receive", "receives");
    count(&s, x->parts[RS_PART_CE], "collective by copy engine", "collectives by copy engine");
    count(&s, x->parts[RS_PART_API], "call without more", "calls without more");
    if (s.len)
        rs_strbuf_printf(&s, " of %" PRIu32 " communicator%s: starts of %s, ends of %s", x->members,
                         x->members == 1 ? "" : "s", rs_text_count(x->started).s, rs_text_count(x->ended).s);
    if (s.len && x->bounded) rs_strbuf_printf(&s, ", %s ends between two times", rs_text_count(x->bounded).s);
    if (s.len && x->timed) rs_strbuf_printf(&s, ", of %s how long they took and not when", rs_text_count(x->timed).s);
    if (s.len && x->net) rs_strbuf_printf(&s, ", network work of %s", rs_text_count(x->net).s);
    RS_TRY(say_counts(f, &s, ".", err));
    const uint64_t *a = x->activities;
    count(&s, a[RS_ACT_COMPUTE], "kernel", "kernels");
    count(&s, a[RS_ACT_COMM], "communication kernel", "communication kernels");
    count(&s, a[RS_ACT_COPY] + a[RS_ACT_SET], "copy or set", "copies and sets");
    RS_TRY(say_counts(f, &s, " on the GPU.", err));
    count(&s, a[RS_ACT_STEP], "step", "steps");
    count(&s, a[RS_ACT_RANGE], "annotation", "annotations");
    count(&s, a[RS_ACT_LAUNCH], "launch", "launches");
    count(&s, a[RS_ACT_SYNC], "wait for the GPU", "waits for the GPU");
    count(&s, a[RS_ACT_MEMORY] + a[RS_ACT_CALL], "other call", "other calls");
    RS_TRY(say_counts(f, &s, " on host threads.", err));
    count(&s, x->stats, "row of statistics", "rows of statistics");
    RS_TRY(say_counts(f, &s, ": how often and how long, not when.", err));
    if (x->ids)
        RS_CONTAINS(f, "PyTorch's Comms Id of operations: %s, of which %s were read and the others computed.",
                    rs_text_count(x->ids).s, rs_text_count(x->ids_read).s);
    return RS_OK;
}

/* ---- what a recording does not contain ---- */

static enum rs_status missing_in_recording(struct rs_contents *f, const struct rs_model *m, struct rs_err *err)
{
    if (f->proc == RS_NONE) return RS_OK;
    const struct rs_proc *p = &m->procs[f->proc];
    uint64_t mask = 0;
    for (uint32_t i = 0; i < p->ncovers; i++) mask |= p->covers[i].mask;
    struct rs_strbuf s = {0};
    for (unsigned bit = 0; bit < RS_NCCL_TYPE_BITS; bit++)
        if (p->ncovers && !(mask >> bit & 1))
            rs_strbuf_printf(&s, "%s%s", s.len ? ", " : "", rs_nccl_type_name(UINT64_C(1) << bit));
    enum rs_status status = RS_OK;
    if (s.len)
        status = rs_sentences_add(&f->missing, err,
                                  "Events of these types, which were not asked for (RINGSCOPE_EVENTS): %s.",
                                  rs_strbuf_borrow(&s));
    rs_strbuf_free(&s);
    RS_TRY(status);
    if (p->lost) RS_MISSING(f, "%s callbacks that found no room (lost, and counted).", rs_text_count(p->lost).s);
    if (p->overwritten)
        RS_MISSING(f, "%s callbacks from the beginning, which RINGSCOPE_KEEP=last wrote over.",
                   rs_text_count(p->overwritten).s);
    if (p->damaged) RS_MISSING(f, "%s callbacks in places that cannot be read.", rs_text_count(p->damaged).s);
    if (p->cut_until != RS_TIME_NONE)
        RS_MISSING(f, "What was cut off: it was cut out of a larger recording (`ringscope export --format rsc`).");
    if (p->ended == RS_END_KILLED) RS_MISSING(f, "An end: the process was killed, or died, without closing it.");
    if (p->ended == RS_END_REPLACED)
        RS_MISSING(f, "An end: the process called execve, and went on as another program.");
    if (p->ended == RS_END_ALIVE) RS_MISSING(f, "An end: the process still runs.");
    RS_MISSING(f, "Kernels that are not NCCL's, and host code: NCCL does not see them. A trace of PyTorch's profiler "
                  "of the same job can be read together with it.");
    return RS_OK;
}

/* ---- all files ---- */

/* Its processes, and what the model has of them. */
static void find_procs(struct rs_contents *f, const struct rs_model *m, const struct rs_counts *all, uint32_t proc)
{
    f->from = f->to = RS_TIME_NONE;
    f->proc = RS_NONE;
    for (uint32_t i = 0; i < m->nprocs; i++) {
        const struct rs_proc *p = &m->procs[i];
        if (proc != RS_NONE ? i != proc : !p->path || strcmp(p->path, f->path) != 0) continue;
        f->processes++;
        f->proc = f->processes == 1 ? i : RS_NONE;
        add_counts(&f->counts, &all[i]);
        if (p->first != RS_TIME_NONE && (f->from == RS_TIME_NONE || p->first < f->from)) f->from = p->first;
        if (p->last != RS_TIME_NONE && (f->to == RS_TIME_NONE || p->last > f->to)) f->to = p->last;
    }
    for (int k = 0; k < 5; k++) f->operations += f->counts.parts[k];
}

/* A row for each file, the process that it is of, and its format (NULL: a recording). */
static uint32_t list_files(struct rs_contents *files, const struct rs_inputs *in, uint32_t *procs,
                           const struct rs_format **formats)
{
    uint32_t n = 0;
    for (size_t i = 0; i < in->n; i++) {
        procs[n] = RS_NONE;
        files[n++] = (struct rs_contents){.path = in->sources[i].recording->path,
                                          .format = rs_tool_name(RS_TOOL_RINGSCOPE),
                                          .what = "recording of ringscope",
                                          .complete = rs_source_complete(&in->sources[i])};
    }
    for (size_t i = 0; i < in->nothers; i++) {
        const struct rs_format *format = formats[n] = rs_format_at(in->others[i].format);
        if (!format) continue;
        procs[n] = in->others[i].proc;
        files[n++] = (struct rs_contents){.path = in->others[i].path,
                                          .format = rs_tool_name((uint8_t)format->tool),
                                          .what = format->what,
                                          .damage = in->others[i].why,
                                          .complete = in->others[i].complete};
    }
    return n;
}

/* What all files of a format contain, where it says more than the model's counts. */
static enum rs_status describe(struct rs_contents *files, uint32_t n, const struct rs_format *const *formats,
                               struct rs_contents **some, struct rs_err *err)
{
    for (uint32_t i = 0; i < n; i++)
        if (!formats[i] || !formats[i]->contents) RS_TRY(say_all_counts(&files[i], err));
    const struct rs_format *format;
    for (int f = 0; (format = rs_format_at(f)); f++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < n && format->contents; i++)
            if (formats[i] == format) some[count++] = &files[i];
        if (count) RS_TRY(format->contents(some, count, err));
    }
    return RS_OK;
}

static enum rs_status say_missing(struct rs_contents *f, const struct rs_format *format, const struct rs_model *m,
                                  struct rs_err *err)
{
    if (f->damage && *f->damage) RS_MISSING(f, "What could not be read: %s.", f->damage);
    return format ? format->missing(f, err) : missing_in_recording(f, m, err);
}

enum rs_status rs_contents_find(struct rs_contents **files, uint32_t *n, const struct rs_inputs *in,
                                const struct rs_model *m, struct rs_err *err)
{
    size_t most = in->n + in->nothers + 1;
    struct rs_counts *all = count_all(m);
    uint32_t *procs = rs_zalloc(most, sizeof *procs);
    const struct rs_format **formats = rs_zalloc(most, sizeof *formats);
    struct rs_contents **some = rs_zalloc(most, sizeof *some);
    *files = rs_zalloc(most, sizeof **files);
    *n = 0;
    enum rs_status status = RS_OK;
    if (!*files) rs_memory_out();
    *n = list_files(*files, in, procs, formats);
    for (uint32_t i = 0; i < *n; i++) find_procs(&(*files)[i], m, all, procs[i]);
    status = describe(*files, *n, formats, some, err);
    for (uint32_t i = 0; i < *n && status == RS_OK; i++) status = say_missing(&(*files)[i], formats[i], m, err);
    free(all);
    free(procs);
    free(formats);
    free(some);
    if (status != RS_OK) rs_contents_free(*files, *n);
    return status;
}

static void free_sentences(struct rs_sentences *s)
{
    for (uint32_t i = 0; i < s->n; i++) free(s->rows[i]);
    free(s->rows);
}

void rs_contents_free(struct rs_contents *files, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        free_sentences(&files[i].contains);
        free_sentences(&files[i].missing);
    }
    free(files);
}
