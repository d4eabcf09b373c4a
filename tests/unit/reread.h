/* Whole cases of the second reading (src/events): a script is played, and all events of its recording are kept. */
#ifndef RS_TESTS_REREAD_H
#define RS_TESTS_REREAD_H

#include "script.h"

#include "base/room.h"
#include "events/events.h"
#include "foreign/formats.h"

#define GPU_NS UINT64_C(1756135989724672000)
#define HASH UINT64_C(0x5555666677778888)

enum { COLL, OTHER, CTX, CALL, GROUP, LAUNCH, PLAN, KERNEL, RECV_OP, SEND_OP, RECV, SEND, WIRE, STRANGE, PHASE, P2P };

struct run {
    struct rs_inputs in;
    struct rs_model m;
    struct rs_event *events; /* what they point to is not good any more */
    uint32_t n, cap;
    uint64_t words; /* sum of first arguments: they can be read while an event is handed out */
    char thread[17];
};

static inline enum rs_status keep(void *to, const struct rs_event *e, struct rs_err *err)
{
    (void)err;
    struct run *r = to;
    RS_ROOM(r->events, r->n, r->cap);
    r->events[r->n++] = *e;
    snprintf(r->thread, sizeof r->thread, "%s", e->thread);
    if (e->call) r->words += e->call->handle == e->handle && e->call->parent == e->parent_handle;
    return RS_OK;
}

static inline void read_events(struct run *r, uint32_t proc, uint64_t types)
{
    struct rs_err err = {0};
    r->n = 0;
    r->words = 0;
    if (rs_events_read(&r->m, &r->in, proc, types, NULL, keep, r, &err) != RS_OK) fail_msg("%s", err.msg);
    if (proc < r->in.n) assert_int_equal(r->words, r->n);
}

static inline void open_run(struct run *r, char *path)
{
    struct rs_err err = {0};
    *r = (struct run){0};
    char *paths[] = {path};
    if (rs_inputs_open(&r->in, paths, 1, NULL, &err) != RS_OK || rs_formats_recognise(&r->in, &err) != RS_OK ||
        rs_import(&r->m, &r->in, NULL, &err) != RS_OK || rs_formats_fill(&r->m, &r->in, NULL, &err) != RS_OK)
        fail_msg("%s", err.msg);
    rs_model_link(&r->m);
}

static inline void close_run(struct run *r)
{
    free(r->events);
    rs_model_free(&r->m);
    rs_inputs_close(&r->in);
}

static inline void play_run(struct run *r, void (*script)(void), int signal)
{
    empty_folder();
    memset(notes, 0, sizeof *notes);
    play_end(play_begin(script), signal);
    open_run(r, folder);
    read_events(r, 0, UINT64_MAX);
}

static inline const struct rs_event *event_of(const struct run *r, unsigned note)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (r->events[i].handle == handle_of(note)) return &r->events[i];
    fail_msg("no event of handle %u", note);
    return NULL;
}

static inline uint32_t count_of(const struct run *r, uint64_t type)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n; i++) n += r->events[i].type == type;
    return n;
}

/* Everything is recorded. */
static inline int reread_set_up(void **state)
{
    int bad = script_set_up(state);
    return bad ? bad : setenv("RINGSCOPE_EVENTS", "all", 1);
}

#endif
