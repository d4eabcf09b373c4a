/* Calls that no careful caller would make; each is recorded as it came. */
#include <string.h>

#include "expect.h"
#include "fields.h"

static const struct plugin *plugin;
static unsigned ordinal;

static void say_start(uint64_t type, void *context, void *parent, int rank)
{
    say_hex(ordinal, "start", ".type", type);
    say_hex(ordinal, "start", ".parent", (uintptr_t)parent);
    say_hex(ordinal, "start", ".context", (uintptr_t)context);
    say_int(ordinal, "start", ".rank", rank);
}

static void *step(void *context, void *parent, int number)
{
    say_start(RS_PROXY_STEP, context, parent, 3);
    say_int(ordinal, "start.args.", "step", number);
    void *handle = plugin_start_step(plugin, context, parent, 3, number);
    say_hex(ordinal++, "start", ".handle", (uintptr_t)handle);
    return handle;
}

static void stop(void *handle)
{
    say_hex(ordinal, "stop", ".handle", (uintptr_t)handle);
    plugin_stop(plugin, handle);
    ordinal++;
}

static void state(void *handle, int number)
{
    say_hex(ordinal, "state", ".handle", (uintptr_t)handle);
    say_int(ordinal, "state", ".state", number);
    plugin_state(plugin, handle, number, NULL);
    ordinal++;
}

/* One pointer, several texts: NCCL's strings are static, but a library that is loaded again may bring others to the same
 * address. */
static void changing_text(void *context)
{
    char text[16];
    for (int i = 0; i < 40; i++) {
        snprintf(text, sizeof text, "text %d", i % 13);
        struct rs_nccl_descr_v7 d = {.type = RS_P2P_API, .p2pApi = {.func = text}};
        say_start(d.type, context, NULL, 0);
        say_text(ordinal, "start.args.", "func", text);
        say_text(ordinal, "start.args.", "datatype", NULL);
        say_uint(ordinal, "start.args.", "count", 0);
        say_uint(ordinal, "start.args.", "graphCaptured", 0);
        say_uint(ordinal, "start.args.", "userTag", 0);
        say_hex(ordinal, "start.args.", "stream", 0);
        void *handle = plugin_start(plugin, context, &d);
        say_hex(ordinal++, "start", ".handle", (uintptr_t)handle);
    }
}

void play_hazards(const struct plugin *p, void *context)
{
    plugin = p;
    void *foreign = (void *)(uintptr_t)UINT64_C(0x1234567890abcdef), *first = NULL, *latest = NULL;
    struct {
        void *context, *parent;
    } odd[] = {{context, NULL}, {NULL, NULL}, {foreign, foreign}, {context, foreign}, {(char *)context + 1, context}};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        for (int repeat = 0; repeat < 3; repeat++) { /* the same step over and over (H4) */
            latest = step(odd[i].context, odd[i].parent, 0);
            if (!first) first = latest;
        }
    void *handles[] = {NULL, latest, latest, first, foreign, context, (void *)(uintptr_t)UINT64_MAX, (void *)1};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) {
        stop(handles[i]);
        stop(handles[i]);
        state(handles[i], RS_ST_OP_IN_PROGRESS);
        state(handles[i], RS_ST_STEP_SEND_WAIT);
    }
    if (p->version == 7) changing_text(context);
    /* The context is gone, a stranger's and no context go too, and calls still come (H8, H9). */
    plugin_finalize(p, context);
    plugin_finalize(p, context);
    plugin_finalize(p, foreign);
    plugin_finalize(p, NULL);
    latest = step(context, latest, 1);
    state(latest, RS_ST_STEP_RECV_WAIT);
    stop(latest);
    stop(first);
}
