/* ringscope info: what a recording contains, what is missing, and how the processes ended. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/info_foreign.h"
#include "cli/json.h"
#include "cli/print/output.h"
#include "cli/print/screen.h"
#include "cli/print/table.h"
#include "cli/reading.h"
#include "cli/settings.h"
#include "fields/info.h"
#include "fields/process.h"
#include "format/settings.h"
#include "nccl/names.h"
#include "trace/overview.h"

/* ---- JSON ----
 * `ringscope info --json`: the JSON contract of info. Fields may be added, not renamed. */

static const char *const call_names[RS_CALL_LOST] = {"init", "start", "stop", "state", "finalize"};

/* "running" (of a cut: when it was made), "idle", "closed", "killed": not closed, and gone or not heard of for a while; "replaced": it called execve. */
static const char *process_end(struct rs_source *s)
{
    const struct rs_status_block *st = &s->recording->header.status;
    if (st->state == RS_STATE_CLOSED) return "closed";
    enum rs_alive alive = s->recording->alive;
    if (!s->process.ran_on && !rs_may_run(alive)) return alive == RS_ALIVE_REPLACED ? "replaced" : "killed";
    return st->state == RS_STATE_IDLE ? "idle" : "running";
}

static void calls_json(struct rs_json *j, const struct rs_summary *s)
{
    rs_json_object(j);
    for (int c = 0; c < RS_CALL_LOST; c++) rs_json_key_u64(j, call_names[c], s->calls[c]);
    rs_json_end(j);
}

static void events_json(struct rs_json *j, const struct rs_summary *s)
{
    rs_json_object(j);
    for (int t = 0; t < RS_NCCL_TYPE_BITS; t++)
        if (s->events[t]) rs_json_key_u64(j, rs_nccl_type_name(UINT64_C(1) << t), s->events[t]);
    if (s->events[RS_NCCL_TYPE_BITS]) rs_json_key_u64(j, "unknown", s->events[RS_NCCL_TYPE_BITS]);
    rs_json_end(j);
}

/* Of all processes together. */
static void counts(struct rs_json *j, const struct rs_overview *o)
{
    const struct rs_summary *s = &o->sum;
    rs_json_key_u64(j, "callbacks", s->callbacks);
    rs_json_key_u64(j, "lost", o->lost);
    rs_json_key_u64(j, "overwritten", o->overwritten);
    rs_json_key_u64(j, "damaged", o->damaged);
    rs_json_key_u64(j, "cut", o->cut);
    if (o->accounted)
        rs_json_key_u64(j, "emitted", s->callbacks + o->lost + o->overwritten + o->damaged + o->cut);
    else
        rs_json_key_null(j, "emitted");
    if (o->requested_ns > 0)
        rs_json_key_double(j, "detail_share", (double)o->detail_ns / (double)o->requested_ns);
    else
        rs_json_key_null(j, "detail_share");
    rs_json_key_u64(j, "triggers", o->triggers);
    rs_json_key(j, "calls");
    calls_json(j, s);
    rs_json_key(j, "events");
    events_json(j, s);
}

static void communicators(struct rs_json *j, struct rs_source *s)
{
    rs_json_array(j);
    for (size_t i = 0; i < s->process.ncomms; i++) {
        const struct rs_comm *c = &s->process.comms[i];
        const struct rs_fact_comm *f = &c->fact;
        char uuid[37];
        struct rs_init_row row = {
            .comm = f->comm_id,
            .name = c->name,
            .rank = f->rank,
            .nranks = f->nranks,
            .nnodes = f->nnodes,
            .api = f->api,
            .device = f->device,
            .bus_id = f->bus_id[0] ? f->bus_id : NULL,
            .uuid = rs_uuid_text(f->uuid, uuid),
            .created_ns = rs_clock_ns(&s->clock, c->created_tick),
            .destroyed_ns = c->destroyed_tick ? rs_clock_ns(&s->clock, c->destroyed_tick) : RS_TIME_NONE,
        };
        rs_out_json(j, &rs_out_init, &row);
    }
    rs_json_end(j);
}

static void unknown(struct rs_json *j, const struct rs_recording *r)
{
    rs_json_array(j);
    for (unsigned bit = 1; bit <= RS_UNKNOWN_ALL; bit <<= 1)
        if (r->unknown & bit) rs_json_str(j, rs_unknown_name(bit));
    rs_json_end(j);
}

struct process {
    struct rs_source *source;
    const struct rs_summary *sum;
};

static void process_part(struct rs_json *j, const struct rs_process_row *row, enum rs_process_part part)
{
    const struct process *p = row->of;
    switch (part) {
    case RS_PROCESS_CALLS: calls_json(j, p->sum); break;
    case RS_PROCESS_EVENTS: events_json(j, p->sum); break;
    case RS_PROCESS_UNKNOWN: unknown(j, p->source->recording); break;
    case RS_PROCESS_COMMUNICATORS: communicators(j, p->source); break;
    }
}

static void process(struct rs_json *j, struct rs_source *s, const struct rs_summary *sum)
{
    const struct rs_recording *r = s->recording;
    struct process of = {s, sum};
    struct rs_process_row row = {
        .recording = true,
        .host = r->header.host,
        .pid = r->header.pid,
        .run = s->run,
        .path = r->path,
        .state = process_end(s),
        .ended_well = r->header.status.state == RS_STATE_CLOSED,
        .callbacks = (int64_t)sum->callbacks,
        .lost = (int64_t)rs_recording_lost(r),
        .overwritten = (int64_t)r->overwritten,
        .damaged = (int64_t)r->damaged,
        .cut = (int64_t)s->process.left_out,
        .from = sum->callbacks ? sum->from_ns : RS_TIME_NONE,
        .to = sum->callbacks ? sum->to_ns : RS_TIME_NONE,
        .threads = sum->threads,
        .bytes = r->file.size,
        .clock_samples = s->process.nclocks,
        .clock_error_ns = s->clock.n ? s->clock.error_ns : -1,
        .recorder_share = rs_recorder_share(s, sum),
        .nccl_version = rs_process_info(&s->process, "nccl.version"),
        .write = process_part,
        .of = &of,
    };
    row.emitted = rs_source_accounted(s) ? row.callbacks + row.lost + row.overwritten + row.damaged + row.cut : -1;
    rs_out_json(j, &rs_out_process, &row);
}

static void coverage(struct rs_json *j, struct rs_source *s, const struct rs_summary *sum)
{
    const struct rs_process *p = &s->process;
    struct rs_gap_row *gaps = rs_zalloc(sum->ngaps + 1, sizeof *gaps);
    for (size_t i = 0; i < sum->ngaps; i++) {
        const struct rs_lost_span *g = &sum->gaps[i];
        gaps[i] = (struct rs_gap_row){g->from_ns, g->to_ns, g->tid, g->lost};
    }
    for (size_t i = 0; i < p->nmasks || !i; i++) { /* at least one: a recording without a mask fact has gaps too */
        struct rs_coverage_row row = {
            .host = s->recording->header.host,
            .pid = s->recording->header.pid,
            .from_ns = i < p->nmasks ? rs_clock_ns(&s->clock, p->masks[i].tick) : rs_source_begin_ns(s),
            .to_ns = i + 1 < p->nmasks ? rs_clock_ns(&s->clock, p->masks[i + 1].tick) : rs_source_end_ns(s),
            .overwritten_before_ns =
                s->recording->overwritten && sum->events_from_ns ? sum->events_from_ns : RS_TIME_NONE,
            .has_mask = i < p->nmasks,
            .mask = i < p->nmasks ? p->masks[i].mask : 0,
            .gaps = gaps,
            .ngaps = i ? 0 : sum->ngaps,
        };
        rs_out_json(j, &rs_out_coverage, &row);
    }
    free(gaps);
}

static void inputs_and_damages(struct rs_json *j, const struct rs_inputs *in)
{
    rs_json_key(j, "inputs");
    rs_json_array(j);
    for (size_t i = 0; i < in->n; i++) {
        const struct rs_recording *r = in->sources[i].recording;
        const struct rs_process *p = &in->sources[i].process;
        struct rs_input_row row = {
            .recording = true,
            .path = r->path,
            .format = "ringscope",
            .complete = rs_source_complete(&in->sources[i]),
            .crash_safe = r->header.live_place != RS_LIVE_ANONYMOUS,
            .live_missing = r->live_missing,
            .cut_by = !p->cut     ? NULL
                      : p->cut_by ? p->cut_by
                                  : "",
        };
        rs_out_json(j, &rs_out_input, &row);
    }
    rs_info_others_inputs_json(j, in);
    for (size_t i = 0; i < in->nunreadable; i++) {
        struct rs_input_row row = {.path = in->unreadable[i].path, .why = in->unreadable[i].why};
        rs_out_json(j, &rs_out_input, &row);
    }
    rs_json_end(j);
    rs_json_key(j, "damages");
    rs_json_array(j);
    for (size_t i = 0; i < in->n; i++)
        for (size_t k = 0; k < in->sources[i].recording->ndamages; k++) {
            const struct rs_damage *d = &in->sources[i].recording->damages[k];
            rs_out_json(j, &rs_out_damage, &(struct rs_damage_row){d->path, d->why, d->offset, d->bytes});
        }
    rs_json_end(j);
    rs_json_key(j, "notes");
    rs_json_array(j);
    for (size_t i = 0; i < in->n; i++) {
        const struct rs_file_header *h = &in->sources[i].recording->header;
        const struct rs_process *p = &in->sources[i].process;
        for (size_t k = 0; k < p->nnotes; k++)
            rs_out_json(j, &rs_out_note, &(struct rs_note_row){h->host, h->pid, p->notes[k].text});
    }
    rs_json_end(j);
}

/* Files of other tools are listed, and not counted in the sums. */
static void info_json(struct rs_json *j, struct rs_inputs *in, const struct rs_overview *o,
                      const struct rs_run_row *runs, size_t nruns, const struct rs_info_who *who)
{
    rs_json_object(j);
    rs_json_key_u64(j, "processes", in->n);
    rs_json_key_u64(j, "ranks", who->model.nranks);
    rs_json_key_u64(j, "hosts", o->hosts);
    rs_json_key_u64(j, "communicators", o->communicators);
    rs_json_key_number_or_null(j, "world_size", who->model.world);
    counts(j, o);
    rs_json_key_str(j, "nccl_version", o->nccl_version);
    rs_time_json(j, "from_ns", o->sum.callbacks ? o->sum.from_ns : RS_TIME_NONE);
    rs_time_json(j, "to_ns", o->sum.callbacks ? o->sum.to_ns : RS_TIME_NONE);
    rs_json_key_number_or_null(j, "longest_ns", o->sum.callbacks ? o->longest_ns : -1);
    rs_json_key(j, "runs");
    rs_json_array(j);
    for (size_t i = 0; i < nruns; i++) rs_out_json(j, &rs_out_run, &runs[i]);
    rs_json_end(j);
    rs_json_key(j, "coverage");
    rs_json_array(j);
    for (size_t i = 0; i < in->n; i++) coverage(j, &in->sources[i], &o->summaries[i]);
    rs_json_end(j);
    rs_settings_json(j, &o->differences);
    inputs_and_damages(j, in);
    rs_json_key(j, "process_list");
    rs_json_array(j);
    for (size_t i = 0; i < in->n; i++) process(j, &in->sources[i], &o->summaries[i]);
    if (in->nothers) rs_info_others_processes_json(j, in, who);
    rs_json_end(j);
    rs_json_end(j);
    rs_json_newline(j);
}

/* ---- text ---- */

enum { MOST_ROWS = 40 }; /* of processes, in the text; --json has them all */

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void print_head(const struct rs_inputs *in, const struct rs_overview *o, const struct rs_model *who,
                       const struct rs_run_row *runs, size_t nruns)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < in->n; i++) bytes += in->sources[i].recording->file.stored;
    rs_screen_print("%zu process%s on %zu host%s, %" PRIu32 " rank%s", in->n, in->n == 1 ? "" : "es", o->hosts,
                    plural(o->hosts), who->nranks, plural(who->nranks));
    if (who->world > 0 && (uint32_t)who->world > who->nranks) rs_screen_print(" of %" PRId32, who->world);
    rs_screen_print(", %zu communicator%s", o->communicators, plural(o->communicators));
    if (o->nccl_version) rs_screen_print(", NCCL %s", o->nccl_version);
    rs_screen_print("\n");
    if (o->sum.callbacks) {
        time_t t = (time_t)(o->sum.from_ns / 1000000000);
        struct tm tm;
        char when[64];
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", gmtime_r(&t, &tm));
        rs_screen_print("from %s UTC by the clocks as recorded, callbacks over %s", when, rs_text_ns(o->longest_ns).s);
        if (in->n > 1) rs_screen_print(" (the longest process)");
        rs_screen_print("; %s on disk, %.1f bytes per callback\n", rs_text_bytes(bytes).s,
                        (double)bytes / (double)o->sum.callbacks);
    }
    if (nruns > 1) {
        rs_screen_print("\nruns in these inputs (the newest is used; --run selects another)\n");
        for (size_t i = 0; i < nruns; i++)
            rs_screen_print("  run %" PRIu64 ": %" PRIu64 " process%s, %s\n", runs[i].run, runs[i].processes,
                            runs[i].processes == 1 ? "" : "es", rs_text_ns(runs[i].longest_ns).s);
    }
}

/* Which events NCCL was asked for: what was not asked for is not there, and that is no loss. */
static void print_mask(const struct rs_overview *o)
{
    if (!o->same_mask) {
        rs_screen_print("requested  differs between processes or over time: see coverage in --json\n");
        if (!o->requested_ns) return;
        rs_screen_print("detail     GPU times (KernelCh) %.1f %% of the time",
                        100 * (double)o->detail_ns / (double)o->requested_ns);
        if (o->triggers)
            rs_screen_print("; %s window%s opened by unusual intervals between calls", rs_text_count(o->triggers).s,
                            o->triggers == 1 ? "" : "s");
        rs_screen_print("\n");
        return;
    }
    const char *name = rs_setting_mask_name((int)o->mask);
    if (name)
        rs_screen_print("requested  %s", name);
    else
        rs_screen_print("requested  mask 0x%" PRIx64, o->mask);
    for (int t = 0, any = 0; t < RS_NCCL_TYPE_BITS; t++)
        if (!(o->mask >> t & 1)) rs_screen_print("%s%s", any++ ? ", " : ", not: ", rs_nccl_type_name(UINT64_C(1) << t));
    rs_screen_print("\n");
}

static void print_counts(const struct rs_overview *o)
{
    const struct rs_summary *s = &o->sum;
    uint64_t emitted = s->callbacks + o->lost + o->overwritten + o->damaged + o->cut;
    rs_screen_print("\ncallbacks  %s%s emitted = %s kept + %s overwritten + %s lost", o->accounted ? "" : "at least ",
                    rs_text_count(emitted).s, rs_text_count(s->callbacks).s, rs_text_count(o->overwritten).s,
                    rs_text_count(o->lost).s);
    if (o->damaged) rs_screen_print(" + %s unreadable", rs_text_count(o->damaged).s);
    if (o->cut) rs_screen_print(" + %s cut off", rs_text_count(o->cut).s);
    rs_screen_print("\n           %s start, %s stop, %s state, %s init, %s finalize\nevents     ",
                    rs_text_count(s->calls[RS_CALL_START]).s, rs_text_count(s->calls[RS_CALL_STOP]).s,
                    rs_text_count(s->calls[RS_CALL_STATE]).s, rs_text_count(s->calls[RS_CALL_INIT]).s,
                    rs_text_count(s->calls[RS_CALL_FINALIZE]).s);
    int any = 0;
    for (int t = 0; t < RS_NCCL_TYPE_BITS; t++) {
        if (!s->events[t]) continue;
        if (any) rs_screen_print(", ");
        rs_screen_print("%s %s", rs_text_count(s->events[t]).s, rs_nccl_type_name(UINT64_C(1) << t));
        any++;
    }
    if (s->events[RS_NCCL_TYPE_BITS])
        rs_screen_print("%s%s of unknown type", any ? ", " : "", rs_text_count(s->events[RS_NCCL_TYPE_BITS]).s);
    else if (!any)
        rs_screen_print("none");
    rs_screen_print("\n");
    print_mask(o);
}

/* Of recordings that `export --format rsc` wrote. */
static void print_cuts(const struct rs_overview *o, const struct rs_inputs *in)
{
    const char *by = NULL;
    bool same = true;
    for (size_t i = 0; i < in->n; i++) {
        const struct rs_process *p = &in->sources[i].process;
        if (!p->cut) continue;
        const char *mine = p->cut_by ? p->cut_by : "";
        same &= !by || !strcmp(by, mine);
        by = mine;
    }
    if (!by) return;
    rs_screen_print("cut        ");
    if (o->cuts < in->n) rs_screen_print("%zu of %zu recordings ", o->cuts, in->n);
    rs_screen_print("cut out of %s", in->n == 1 ? "a larger recording" : "larger recordings");
    if (same && *by) {
        rs_screen_print(": ");
        rs_screen_print("%s", by);
    }
    rs_screen_print("\n");
}

/* Whether a process needs a look: it did not end well, or something of it is missing. */
static bool is_bad(struct rs_source *s)
{
    return s->recording->header.status.state != RS_STATE_CLOSED || !rs_source_complete(s);
}

enum { SHORT_S = 10 };
#define SHORT_NS (SHORT_S * INT64_C(1000000000)) /* a run of this length is short */

static void add_row(struct rs_table *t, const struct rs_model *who, uint32_t proc, struct rs_source *s,
                    const struct rs_summary *sum)
{
    const struct rs_recording *r = s->recording;
    char ranks[64];
    rs_info_ranks_text(who, proc, ranks, sizeof ranks);
    rs_table_cell(t, "%s", r->header.host);
    rs_table_cell(t, "%" PRIu32, r->header.pid);
    rs_table_cell(t, "%s", ranks);
    rs_table_cell(t, "%s", rs_text_count(sum->callbacks).s);
    rs_table_cell(t, "%s", rs_text_count(rs_recording_lost(r)).s);
    rs_table_cell(t, "%" PRIu64, sum->threads);
    rs_table_cell(t, "%zu", s->process.nclocks);
    rs_table_cell(t, "%s", s->clock.n ? rs_text_ns(s->clock.error_ns).s : "?");
    int64_t span;
    double ns = rs_recorder_ns(s, sum, &span);
    if (ns < 0)
        rs_table_cell(t, "?");
    else if (span < SHORT_NS) /* mostly the opening of the recording: a share would say nothing of longer runs */
        rs_table_cell(t, "%s of %s", rs_text_ns((int64_t)ns).s, rs_text_ns(span).s);
    else
        rs_table_cell(t, "%.3f %%", 100 * ns / (double)span);
    const char *end = process_end(s);
    rs_table_cell(t, "%s", !strcmp(end, "closed") ? "cleanly" : !strcmp(end, "replaced") ? "replaced by execve" : end);
}

static void print_processes(struct rs_inputs *in, const struct rs_overview *o, const struct rs_model *who)
{
    static const enum rs_heading numbers[] = {RS_H_PID,     RS_H_RANK,          RS_H_CALLBACKS,   RS_H_LOST,
                                              RS_H_THREADS, RS_H_CLOCK_SAMPLES, RS_H_CLOCK_ERROR, RS_H_RECORDER_SHARE};
    struct rs_table t = {0};
    rs_table_column(&t, RS_LEFT, RS_H_HOST);
    rs_table_numbers(&t, numbers, sizeof numbers / sizeof *numbers);
    rs_table_column(&t, RS_LEFT, RS_H_ENDED);
    size_t rows = 0;
    bool few = in->n <= MOST_ROWS; /* of many, those that need a look come first */
    for (int bad = 1; bad >= 0; bad--)
        for (size_t i = 0; i < in->n && rows < MOST_ROWS; i++)
            if (few ? bad : is_bad(&in->sources[i]) == bad) {
                add_row(&t, who, (uint32_t)i, &in->sources[i], &o->summaries[i]);
                rows++;
            }
    rs_screen_print("\n");
    rs_table_print(&t, "", stdout);
    rs_table_free(&t);
    if (in->n > MOST_ROWS) rs_screen_print("and %zu more (--json has all)\n", in->n - MOST_ROWS);
}

/* Of which processes it is not known how many callbacks they made, by reason. */
static void print_unknown(const struct rs_inputs *in)
{
    for (unsigned bit = 1; bit <= RS_UNKNOWN_ALL; bit <<= 1) {
        size_t n = 0;
        const struct rs_file_header *first = NULL;
        for (size_t i = 0; i < in->n; i++) {
            if (!(in->sources[i].recording->unknown & bit)) continue;
            if (!n++) first = &in->sources[i].recording->header;
        }
        if (!n) continue;
        rs_screen_print("Number of missing callbacks unknown: %s, pid %" PRIu32, first->host, first->pid);
        if (n > 1) rs_screen_print(" and %zu more", n - 1);
        rs_screen_print(": %s.\n", rs_unknown_text(bit));
    }
}

/* What a user should know before trusting the rest. */
static void print_verdict(struct rs_inputs *in, const struct rs_overview *o, const struct rs_model *who)
{
    size_t killed = 0, unsafe = 0, complete = 0, running = 0, replaced = 0, whole = 0;
    for (size_t i = 0; i < in->n; i++) {
        const char *end = process_end(&in->sources[i]);
        const struct rs_recording *r = in->sources[i].recording;
        killed += !strcmp(end, "killed");
        whole += !strcmp(end, "killed") && !r->unknown && !r->damaged && !r->ndamages;
        replaced += !strcmp(end, "replaced");
        running += !strcmp(end, "running") || !strcmp(end, "idle");
        unsafe += r->header.live_place == RS_LIVE_ANONYMOUS;
        complete += rs_source_complete(&in->sources[i]);
    }
    rs_screen_print("\n");
    if (complete == in->n && !in->nunreadable)
        rs_screen_print("Nothing is missing: every callback that NCCL made%s was kept%s.\n", running ? " so far" : "",
                        o->cut ? ", or cut off" : "");
    else
        rs_screen_print("%zu of %zu recordings are complete.\n", complete, in->n + in->nunreadable);
    print_unknown(in);
    if (killed)
        rs_screen_print("%zu process%s did not exit cleanly (killed, or without exit handlers)%s.\n", killed,
                        killed == 1 ? "" : "es",
                        killed > whole ? ""
                        : killed == 1  ? "; its recording was kept"
                                       : "; their recordings were kept");
    if (replaced)
        rs_screen_print(
            "%zu process%s called execve and continued as another program; what %s recorded before was kept.\n",
            replaced, replaced == 1 ? "" : "es", replaced == 1 ? "it" : "they");
    if (unsafe) rs_screen_print("%zu had buffers in private memory: a kill loses the newest records.\n", unsafe);
    if (who->world > 0 && who->nranks < (uint32_t)who->world)
        rs_screen_print("%" PRIu32 " of %" PRId32 " ranks are not in these recordings.\n",
                        (uint32_t)who->world - who->nranks, who->world);
    for (size_t i = 0, said = 0; i < in->n && said < 5; i++)
        for (size_t k = 0; k < in->sources[i].process.nnotes && said < 5; k++, said++) {
            rs_screen_print("note (%s, pid %" PRIu32 "): ", in->sources[i].recording->header.host,
                            in->sources[i].recording->header.pid);
            rs_screen_print("%s\n", in->sources[i].process.notes[k].text);
        }
}

/* What the runs were, before only one of them is kept. */
static struct rs_run_row *list_runs(struct rs_inputs *in)
{
    struct rs_run_row *runs = rs_zalloc(in->nruns + 1, sizeof *runs);
    for (size_t i = 0; runs && i < in->n; i++) {
        struct rs_source *s = &in->sources[i];
        struct rs_run_row *r = &runs[s->run];
        int64_t from = rs_source_begin_ns(s), to = rs_source_end_ns(s);
        r->run = s->run;
        if (!r->processes++ || from < r->from_ns) r->from_ns = from;
        if (to > r->to_ns) r->to_ns = to;
        if (to - from > r->longest_ns) r->longest_ns = to - from;
    }
    return runs;
}

static enum rs_status print_json(struct rs_inputs *in, const struct rs_overview *o, const struct rs_run_row *runs,
                                 size_t nruns, const struct rs_info_who *who, struct rs_err *err)
{
    struct rs_json *j = rs_output_json();
    if (o)
        info_json(j, in, o, runs, nruns, who);
    else
        rs_info_others_json(j, in, who);
    return rs_json_finish(j, err);
}

static int show(const struct rs_command *self, struct rs_inputs *in, bool json, const struct rs_run_row *runs,
                size_t nruns, const struct rs_info_who *who)
{
    struct rs_overview o;
    struct rs_err err;
    rs_overview_init(&o, in, rs_reading_progress);
    int status = RS_EXIT_FINE;
    if (json) {
        if (print_json(in, &o, runs, nruns, who, &err) != RS_OK) status = rs_print_err(self->name, &err);
    } else {
        print_head(in, &o, &who->model, runs, nruns);
        print_counts(&o);
        print_cuts(&o, in);
        print_processes(in, &o, &who->model);
        rs_settings_print(&o.differences);
        print_verdict(in, &o, &who->model);
        if (in->nothers) rs_info_others_print(in, who, false);
    }
    rs_overview_free(&o, in->n);
    return status;
}

static int show_others(const struct rs_command *self, struct rs_inputs *in, bool json, const struct rs_info_who *who)
{
    struct rs_err err;
    if (!json)
        rs_info_others_print(in, who, true);
    else if (print_json(in, NULL, NULL, 0, who, &err) != RS_OK)
        return rs_print_err(self->name, &err);
    return RS_EXIT_FINE;
}

static int read_all(const struct rs_command *self, struct rs_inputs *in, void *options)
{
    const struct rs_common *o = options;
    size_t nruns = in->nruns;
    struct rs_run_row *runs = list_runs(in);
    int status = runs ? rs_reading_choose(self, in, o->run) : RS_EXIT_FAILURE;
    struct rs_info_who who = {0};
    if (!status) status = rs_info_who_read(self, in, &who);
    if (!status) status = in->n ? show(self, in, o->json, runs, nruns, &who) : show_others(self, in, o->json, &who);
    rs_info_who_free(&who);
    free(runs);
    return status;
}

static int run(const struct rs_command *self, int argc, char **argv)
{
    struct rs_common common;
    int n, done = rs_common_parse(self, &common, RS_NO_OPTIONS, argc, argv, &n);
    return done >= 0 ? done : rs_reading_inputs(self, argv + 1, n, "all", read_all, &common);
}

const struct rs_command rs_cmd_info = {
    .name = "info",
    .summary = "what recordings and traces contain, what is missing, and how the processes ended",
    .usage = "[options] IN...",
    .text = "Counts callbacks and events, lists processes, ranks and communicators, losses, clock samples, and "
            "settings that\n"
            "differ between ranks; for files of other tools, the format and contents of each.",
    .examples = "ringscope info ringscope-run            # the newest run in the folder\n"
                "ringscope info --json run1 | jq .lost   # for scripts",
    .json = "one JSON object",
    .takes = "run",
    .run = run,
};
