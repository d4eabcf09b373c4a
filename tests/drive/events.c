/* Checks the second reading (src/events) of whole runs: `events IN...` reads
 * the inputs, joins them, reads every event of every process again, and
 * compares with what the first reading says: counts by type, numbers, parents,
 * parts, times. Prints what does not fit, one line each, and the counts; exits
 * with 1 when something did not. `events --list IN...` prints each event as a
 * line of JSON instead; `events --time IN...` only how fast it was. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/room.h"
#include "events/events.h"
#include "foreign/formats.h"
#include "import/import.h"
#include "join/join.h"
#include "nccl/names.h"
#include "trace/summary.h"

enum { MOST_SAID = 20 };

struct row {
    uint64_t type, handle, parent_handle;
    uint32_t parent, part;
    bool there;
};

struct check {
    struct rs_model *model;
    uint32_t proc;
    uint64_t events, counts[RS_NCCL_TYPE_BITS + 1];
    struct row *rows; /* by number */
    uint32_t n, cap;
    uint64_t recovered, open, polled, stale, unended, with_part, said;
};

static void say(struct check *c, const struct rs_event *e, const char *what)
{
    const char *type = rs_nccl_type_name(e->type);
    if (c->said++ < MOST_SAID)
        printf("process %" PRIu32 ", event %" PRIu32 " (%s): %s\n", c->proc, e->number, type ? type : "?", what);
}

static enum rs_status note(struct check *c, const struct rs_event *e)
{
    while (c->n <= e->number) {
        RS_ROOM(c->rows, c->n, c->cap);
        c->rows[c->n++] = (struct row){0};
    }
    struct row *r = &c->rows[e->number];
    if (r->there) say(c, e, "its number came before");
    *r = (struct row){e->type, e->handle, e->parent_handle, e->parent, e->part, true};
    return RS_OK;
}

static enum rs_status check_event(void *to, const struct rs_event *e, struct rs_err *err)
{
    (void)err;
    struct check *c = to;
    const struct rs_model *m = c->model;
    c->events++;
    if (e->call && e->call->recovered)
        c->recovered++;
    else
        c->counts[e->type ? (unsigned)__builtin_ctzll(e->type) : RS_NCCL_TYPE_BITS]++;
    c->open += e->open;
    c->polled += e->polled;
    c->stale += e->stale;
    c->with_part += e->part != RS_NONE;
    c->unended += e->end == RS_TIME_NONE && !e->open && !e->polled;
    if (e->proc != c->proc) say(c, e, "another process");
    if (e->open && e->end != RS_TIME_NONE) say(c, e, "open, and has an end");
    if (e->stale && e->gpu_start != RS_TIME_NONE) say(c, e, "stale, and has GPU times");
    if (e->gpu_end != RS_TIME_NONE && e->gpu_end < e->gpu_start) say(c, e, "GPU times run backwards");
    if (e->end != RS_TIME_NONE && e->start != RS_TIME_NONE && e->end < e->start) say(c, e, "ends before it starts");
    if (e->part != RS_NONE && e->member != RS_NONE && e->type != RS_GROUP_API && m->parts.member[e->part] != e->member)
        say(c, e, "its member is not its part's");
    if (e->type == RS_KERNEL_CH && e->part != RS_NONE && e->gpu_start != RS_TIME_NONE &&
        m->parts.start_source[e->part] == RS_FROM_KERNEL && !(m->parts.flags[e->part] & RS_PART_LENT_START)) {
        if (e->gpu_start + 2 < m->parts.start[e->part]) say(c, e, "starts before its part");
        bool own = !(m->parts.flags[e->part] & RS_PART_LENT_END);
        if (own && m->parts.end_source[e->part] == RS_FROM_KERNEL && e->gpu_end != RS_TIME_NONE &&
            e->gpu_end > m->parts.end[e->part] + 2)
            say(c, e, "ends after its part");
    }
    return note(c, e);
}

/* Whether the part of an event is the one of the operation that it is or hangs
 * on, as the handles say. */
static bool has_its_part(const struct check *c, const struct row *r)
{
    uint64_t handle = r->handle;
    bool call = (r->type & (RS_COLL_API | RS_P2P_API)) != 0;
    for (int depth = 0; !call && !(r->type & (RS_COLL | RS_P2P | RS_CE_COLL)) && depth < 8; depth++) {
        handle = r->parent_handle; /* under PXN the way ends here, in another process */
        if (r->parent == RS_NONE) break;
        r = &c->rows[r->parent];
    }
    return c->model->parts.handle[r->part] == handle;
}

static void check_row(struct check *c, const struct row *r, const struct rs_event *e, const struct rs_map *handles)
{
    const struct row *parent = r->parent < c->n ? &c->rows[r->parent] : NULL;
    if (!r->there)
        say(c, e, "is missing");
    else if (r->parent != RS_NONE && (r->parent >= e->number || !parent->there))
        say(c, e, "its parent does not come before it");
    else if (r->parent != RS_NONE && parent->handle != r->parent_handle)
        say(c, e, "its parent is another");
    else if (r->parent == RS_NONE && r->parent_handle && rs_map_find(handles, r->parent_handle))
        say(c, e, "its parent is there, and was not found");
    else if (r->part != RS_NONE && !has_its_part(c, r))
        say(c, e, "its part is another's");
    else if (r->part == RS_NONE && parent && parent->part != RS_NONE)
        say(c, e, "its parent's part is not its own");
}

/* When all events of the process are in. */
static enum rs_status check_rows(struct check *c)
{
    struct rs_map handles = {0};
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < c->n && status == RS_OK; i++) {
        const struct rs_event e = {.number = i, .type = c->rows[i].type};
        check_row(c, &c->rows[i], &e, &handles);
        rs_map_put(&handles, c->rows[i].handle, i);
    }
    rs_map_free(&handles);
    return status;
}

static enum rs_status check_process(struct check *c, struct rs_inputs *in, struct rs_err *err)
{
    c->n = 0;
    c->recovered = c->open = c->polled = c->stale = c->unended = c->events = c->with_part = 0;
    memset(c->counts, 0, sizeof c->counts);
    RS_TRY(rs_events_read(c->model, in, c->proc, UINT64_MAX, NULL, check_event, c, err));
    RS_TRY(check_rows(c));
    printf("process %" PRIu32 ": %" PRIu64 " events, %" PRIu64 " of parts, %" PRIu64 " open, %" PRIu64
           " polled, %" PRIu64 " stale, %" PRIu64 " without an end, %" PRIu64 " recovered\n",
           c->proc, c->events, c->with_part, c->open, c->polled, c->stale, c->unended, c->recovered);
    if (c->proc >= in->n) return RS_OK;
    struct rs_summary s;
    rs_summary_init(&s, &in->sources[c->proc]);
    for (unsigned i = 0; i <= RS_NCCL_TYPE_BITS; i++) {
        const struct rs_event e = {.type = i < RS_NCCL_TYPE_BITS ? UINT64_C(1) << i : 0};
        char what[80];
        snprintf(what, sizeof what, "%" PRIu64 " of them, not %" PRIu64, c->counts[i], s.events[i]);
        if (c->counts[i] != s.events[i]) say(c, &e, what);
    }
    rs_summary_free(&s);
    return RS_OK;
}

static void print_time(const char *key, int64_t ns)
{
    if (ns == RS_TIME_NONE)
        printf(",\"%s\":null", key);
    else
        printf(",\"%s\":%" PRId64, key, ns);
}

static enum rs_status list_event(void *to, const struct rs_event *e, struct rs_err *err)
{
    (void)err;
    const struct rs_model *m = ((struct check *)to)->model;
    const char *type = rs_nccl_type_name(e->type);
    printf("{\"host\":\"%s\",\"pid\":%" PRIu32 ",\"number\":%" PRIu32 ",\"type\":\"%s\",\"event\":\"0x%" PRIx64
           "\",\"parent_event\":\"0x%" PRIx64 "\"",
           rs_host_label(m, m->procs[e->proc].host), m->procs[e->proc].pid, e->number, type ? type : "?", e->handle,
           e->parent_handle);
    if (e->parent != RS_NONE) printf(",\"parent\":%" PRIu32, e->parent);
    if (e->part != RS_NONE)
        printf(",\"part_event\":\"0x%" PRIx64 "\",\"part_pid\":%" PRIu32, m->parts.handle[e->part],
               rs_part_proc(m, e->part)->pid);
    print_time("start_ns", e->start);
    print_time("end_ns", e->end);
    print_time("gpu_start_ns", e->gpu_start);
    print_time("gpu_end_ns", e->gpu_end);
    printf(",\"channel\":%d,\"peer\":%d,\"step\":%d,\"steps\":%d,\"is_send\":%d,"
           "\"bytes\":%" PRId64 ",\"states\":%u,\"open\":%s,\"polled\":%s,\"stale\":%s}\n",
           e->channel, e->peer, e->step, e->steps, e->is_send, e->bytes, e->nstates, e->open ? "true" : "false",
           e->polled ? "true" : "false", e->stale ? "true" : "false");
    return RS_OK;
}

static enum rs_status count_event(void *to, const struct rs_event *e, struct rs_err *err)
{
    (void)e, (void)err;
    ++*(uint64_t *)to;
    return RS_OK;
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static enum rs_status time_all(struct rs_model *m, struct rs_inputs *in, struct rs_err *err)
{
    uint64_t events = 0;
    double from = cpu_seconds();
    for (uint32_t i = 0; i < m->nprocs; i++)
        RS_TRY(rs_events_read(m, in, i, UINT64_MAX, NULL, count_event, &events, err));
    double spent = cpu_seconds() - from;
    printf("%" PRIu64 " callbacks, %" PRIu64 " events, %.3f s of CPU time: %.2f M callbacks/s, %.2f M events/s\n",
           m->callbacks, events, spent, (double)m->callbacks / spent / 1e6, (double)events / spent / 1e6);
    return RS_OK;
}

static enum rs_status read_model(struct rs_model *m, struct rs_inputs *in, char **paths, size_t n, struct rs_err *err)
{
    RS_TRY(rs_inputs_open(in, paths, n, NULL, err));
    RS_TRY(rs_inputs_choose(in, RS_RUN_ALL, err));
    RS_TRY(rs_formats_recognise(in, err));
    RS_TRY(rs_import(m, in, NULL, err));
    RS_TRY(rs_formats_fill(m, in, NULL, err));
    rs_model_link(m);
    return rs_join(m, true, err);
}

int main(int argc, char **argv)
{
    bool list = argc > 1 && !strcmp(argv[1], "--list"), times = argc > 1 && !strcmp(argv[1], "--time");
    int first = 1 + (list || times);
    struct rs_inputs in = {0};
    struct rs_model m = {0};
    struct rs_err err = {0};
    struct check c = {.model = &m};
    enum rs_status status = read_model(&m, &in, argv + first, (size_t)(argc - first), &err);
    if (status == RS_OK && times) status = time_all(&m, &in, &err);
    for (uint32_t i = 0; i < m.nprocs && status == RS_OK && !times; i++) {
        c.proc = i;
        status =
            list ? rs_events_read(&m, &in, i, UINT64_MAX, NULL, list_event, &c, &err) : check_process(&c, &in, &err);
    }
    if (status != RS_OK) fprintf(stderr, "events: %s\n", err.msg);
    free(c.rows);
    rs_model_free(&m);
    rs_inputs_close(&in);
    return status != RS_OK || c.said;
}
