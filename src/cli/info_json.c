#include "cli/info_json.h"

#include "cli/info_others.h"
#include "cli/model_json.h"
#include "cli/settings_text.h"
#include "fields/process.h"
#include "nccl/names.h"

static const char *const call_names[RS_CALL_LOST] = {"init", "start", "stop", "state", "finalize"};

const char *rs_process_end(struct rs_source *s)
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
    rs_json_key(j, "calls");
    calls_json(j, s);
    rs_json_key(j, "events");
    events_json(j, s);
}

static void times(struct rs_json *j, int64_t from, int64_t to, bool known)
{
    if (known)
        rs_json_key_i64(j, "from_ns", from);
    else
        rs_json_key_null(j, "from_ns");
    if (known)
        rs_json_key_i64(j, "to_ns", to);
    else
        rs_json_key_null(j, "to_ns");
}

static void who(struct rs_json *j, const struct rs_source *s)
{
    rs_json_key_str(j, "host", s->recording->header.host);
    rs_json_key_u64(j, "pid", s->recording->header.pid);
}

static void communicators(struct rs_json *j, struct rs_source *s)
{
    rs_json_array(j);
    for (size_t i = 0; i < s->process.ncomms; i++) {
        const struct rs_comm *c = &s->process.comms[i];
        const struct rs_fact_comm *f = &c->fact;
        rs_json_object(j);
        if (f->comm_id)
            rs_json_key_hex(j, "comm", f->comm_id);
        else
            rs_json_key_null(j, "comm");
        rs_json_key_str(j, "name", c->name);
        rs_json_key_number_or_null(j, "rank", f->rank);
        rs_json_key_number_or_null(j, "nranks", f->nranks);
        rs_json_key_number_or_null(j, "nnodes", f->nnodes);
        rs_json_key_u64(j, "api", f->api);
        if (f->device >= 0)
            rs_json_key_i64(j, "device", f->device);
        else
            rs_json_key_null(j, "device");
        rs_json_key_str(j, "bus_id", f->bus_id[0] ? f->bus_id : NULL);
        rs_uuid_json(j, f->uuid);
        rs_json_key_i64(j, "created_ns", rs_clock_ns(&s->clock, c->created_tick));
        if (c->destroyed_tick)
            rs_json_key_i64(j, "destroyed_ns", rs_clock_ns(&s->clock, c->destroyed_tick));
        else
            rs_json_key_null(j, "destroyed_ns");
        rs_json_end(j);
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
        .state = rs_process_end(s),
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
    int64_t end = rs_source_end_ns(s);
    for (size_t i = 0; i < p->nmasks || !i; i++) { /* at least one: a recording without a mask fact has gaps too */
        bool known = i < p->nmasks;
        rs_json_object(j);
        who(j, s);
        times(j, known ? rs_clock_ns(&s->clock, p->masks[i].tick) : rs_source_begin_ns(s),
              i + 1 < p->nmasks ? rs_clock_ns(&s->clock, p->masks[i + 1].tick) : end, true);
        if (known)
            rs_json_key_u64(j, "mask", p->masks[i].mask);
        else
            rs_json_key_null(j, "mask");
        rs_json_key(j, "gaps");
        rs_json_array(j);
        for (size_t g = 0; g < sum->ngaps && !i; g++) {
            rs_json_object(j);
            times(j, sum->gaps[g].from_ns, sum->gaps[g].to_ns, true);
            rs_json_key_u64(j, "tid", sum->gaps[g].tid);
            rs_json_key_u64(j, "lost", sum->gaps[g].lost);
            rs_json_end(j);
        }
        rs_json_end(j);
        if (s->recording->overwritten && sum->events_from_ns)
            rs_json_key_i64(j, "overwritten_before_ns", sum->events_from_ns);
        rs_json_end(j);
    }
}

static void inputs_and_damages(struct rs_json *j, const struct rs_inputs *in)
{
    rs_json_key(j, "inputs");
    rs_json_array(j);
    for (size_t i = 0; i < in->n; i++) {
        const struct rs_recording *r = in->sources[i].recording;
        rs_json_object(j);
        rs_json_key_str(j, "path", r->path);
        rs_json_key_str(j, "format", "ringscope");
        rs_json_key_bool(j, "complete", rs_source_complete(&in->sources[i]));
        rs_json_key_bool(j, "crash_safe", r->header.live_place != RS_LIVE_ANONYMOUS);
        rs_json_key_bool(j, "live_missing", r->live_missing);
        if (in->sources[i].process.cut) {
            const char *by = in->sources[i].process.cut_by;
            rs_json_key_str(j, "cut_by", by ? by : "");
        }
        rs_json_end(j);
    }
    rs_info_others_inputs_json(j, in);
    for (size_t i = 0; i < in->nunreadable; i++) {
        rs_json_object(j);
        rs_json_key_str(j, "path", in->unreadable[i].path);
        rs_json_key_null(j, "format");
        rs_json_key_bool(j, "complete", false);
        rs_json_key_null(j, "crash_safe");
        rs_json_key_str(j, "why", in->unreadable[i].why);
        rs_json_end(j);
    }
    rs_json_end(j);
    rs_json_key(j, "damages");
    rs_json_array(j);
    for (size_t i = 0; i < in->n; i++)
        for (size_t k = 0; k < in->sources[i].recording->ndamages; k++) {
            const struct rs_damage *d = &in->sources[i].recording->damages[k];
            rs_json_object(j);
            rs_json_key_str(j, "path", d->path);
            rs_json_key_u64(j, "offset", d->offset);
            rs_json_key_u64(j, "bytes", d->bytes);
            rs_json_key_str(j, "why", d->why);
            rs_json_end(j);
        }
    rs_json_end(j);
    rs_json_key(j, "notes");
    rs_json_array(j);
    for (size_t i = 0; i < in->n; i++)
        for (size_t k = 0; k < in->sources[i].process.nnotes; k++) {
            rs_json_object(j);
            who(j, &in->sources[i]);
            rs_json_key_str(j, "text", in->sources[i].process.notes[k].text);
            rs_json_end(j);
        }
    rs_json_end(j);
}

void rs_info_json(struct rs_json *j, struct rs_inputs *in, const struct rs_overview *o, const struct rs_run_line *runs,
                  size_t nruns, const struct rs_info_who *who)
{
    rs_json_object(j);
    rs_json_key_u64(j, "processes", in->n);
    rs_json_key_u64(j, "ranks", who->model.nranks);
    rs_json_key_u64(j, "hosts", o->hosts);
    rs_json_key_u64(j, "communicators", o->communicators);
    rs_json_key_number_or_null(j, "world_size", who->model.world);
    counts(j, o);
    rs_json_key_str(j, "nccl_version", o->nccl_version);
    times(j, o->sum.from_ns, o->sum.to_ns, o->sum.callbacks);
    rs_json_key_number_or_null(j, "longest_ns", o->sum.callbacks ? o->longest_ns : -1);
    rs_json_key(j, "runs");
    rs_json_array(j);
    for (size_t i = 0; i < nruns; i++) {
        rs_json_object(j);
        rs_json_key_u64(j, "run", runs[i].run);
        rs_json_key_u64(j, "processes", runs[i].processes);
        times(j, runs[i].from_ns, runs[i].to_ns, true);
        rs_json_key_i64(j, "longest_ns", runs[i].longest_ns);
        rs_json_end(j);
    }
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
