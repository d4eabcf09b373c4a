#include "timeline/kinds.h"

#include <stdlib.h>
#include <string.h>

#include "explain/terms.h"
#include "model/model.h"

const struct rs_row_kind rs_row_kinds[RS_ROWS] = {
    [RS_ROW_OPERATIONS] = {"operations", "operations", true, true},
    [RS_ROW_CALLS] = {"calls", "API calls", true, false},
    [RS_ROW_LAUNCHES] = {"launches", "launches", true, false},
    [RS_ROW_CHANNELS] = {"channels", "GPU channels", true, false},
    [RS_ROW_PROXY] = {"proxy", "proxy operations", true, false},
    [RS_ROW_STEPS] = {"steps", "network steps", false, false},
    [RS_ROW_NETWORK] = {"network", "network plugin", false, false},
    [RS_ROW_COPY_ENGINE] = {"ce", "copy engine", true, false},
    [RS_ROW_PROXY_THREAD] = {"proxy-thread", "proxy thread", false, false},
    [RS_ROW_COMPUTE] = {"compute", "compute", true, true},
    [RS_ROW_COMM] = {"comm", "NCCL kernels", true, false},
    [RS_ROW_COPIES] = {"copies", "copies", true, false},
    [RS_ROW_ANNOTATIONS] = {"annotations", "annotations", true, false},
    [RS_ROW_HOST] = {"host", "host calls", false, false},
};

/* What the term of a table says; NULL: it has none of that name. */
static const char *sentence(const struct rs_term_table *table, const char *kind, const char *name)
{
    for (size_t i = 0; i < table->n; i++)
        if (!strcmp(table->terms[i].kind, kind) && !strcmp(table->terms[i].name, name)) return table->terms[i].text;
    return NULL;
}

#define CALL_ARGS                                                                                                      \
    {                                                                                                                  \
        {"communicator", "string"}, {"count", NULL}, {"datatype", "string"}, {"root", NULL}, {"stream", "hex"},        \
        {                                                                                                              \
            "captured into a graph", NULL                                                                              \
        }                                                                                                              \
    }
#define PROXY_ARGS                                                                                                     \
    {                                                                                                                  \
        {"peer", NULL}, {"bytes", "bytes"}, {"channel", NULL}, {"steps", NULL}, {"chunk", "bytes"},                    \
        {                                                                                                              \
            "posted by pid", NULL                                                                                      \
        }                                                                                                              \
    }
#define STEP_ARGS                                                                                                      \
    {                                                                                                                  \
        {"peer", NULL}, {"bytes", "bytes"}, {"channel", NULL}, {"step", NULL},                                         \
        {                                                                                                              \
            "of steps", NULL                                                                                           \
        }                                                                                                              \
    }
#define WORK_ARGS                                                                                                      \
    {                                                                                                                  \
        {"stream", NULL}, {"device", NULL}, {"launched", "time"},                                                      \
        {                                                                                                              \
            "bytes", "bytes"                                                                                           \
        }                                                                                                              \
    }
#define THREAD_ARGS                                                                                                    \
    {                                                                                                                  \
        {                                                                                                              \
            "thread", NULL                                                                                             \
        }                                                                                                              \
    }

static const struct rs_bar_kind fixed[RS_BAR_FIXED_KINDS] = {
    [RS_BAR_OTHER] = {"other", "other", RS_ROW_OPERATIONS, "other", NULL, {0}, {{0}}},
    [RS_BAR_LOSS] = {"lost",
                     "lost",
                     RS_ROW_OPERATIONS,
                     "lost",
                     NULL,
                     {0},
                     {{"collectives", NULL}, {"sends and receives", NULL}, {"other callbacks", NULL}}},
    [RS_BAR_BLANK] = {"not-recorded", "not recorded", RS_ROW_OPERATIONS, "not-recorded", NULL, {0}, {{0}}},
    [RS_BAR_GROUP_API] = {"GroupApi",
                          "group call",
                          RS_ROW_CALLS,
                          "group",
                          NULL,
                          {"ncclGroupStart returned", "ncclGroupEnd called"},
                          {{"depth", NULL}, {"captured into a graph", NULL}}},
    [RS_BAR_COLL_API] = {"CollApi", "collective call", RS_ROW_CALLS, "call", NULL, {0}, CALL_ARGS},
    [RS_BAR_P2P_API] = {"P2pApi", "send or receive call", RS_ROW_CALLS, "call", NULL, {0}, CALL_ARGS},
    [RS_BAR_ENQUEUED] = {"enqueued", "called", RS_ROW_CALLS, "call", NULL, {0}, CALL_ARGS},
    [RS_BAR_PLAN] = {"Group", "plan", RS_ROW_LAUNCHES, "group", NULL, {0}, {{"communicator", "string"}}},
    [RS_BAR_LAUNCH] = {"KernelLaunch",
                       "kernel launch",
                       RS_ROW_LAUNCHES,
                       "launch",
                       NULL,
                       {0},
                       {{"communicator", "string"}, {"rank", NULL}, {"operations", NULL}, {"stream", "hex"}}},
    [RS_BAR_HOST_LAUNCH] = {"launch", "launch", RS_ROW_LAUNCHES, "launch", NULL, {0}, THREAD_ARGS},
    [RS_BAR_CHANNEL] = {"KernelCh",
                        "channel",
                        RS_ROW_CHANNELS,
                        "channel",
                        NULL,
                        {0},
                        {{"channel", NULL}, {"told to the host", "time"}, {"told to end", "time"}}},
    [RS_BAR_PHASE] = {"KernelPhase",
                      "phase",
                      RS_ROW_CHANNELS,
                      "phase",
                      NULL,
                      {0},
                      {{"channel", NULL}, {"told to the host", "time"}, {"told to end", "time"}}},
    [RS_BAR_PROXY_SEND] = {"ProxyOp send", "proxy send", RS_ROW_PROXY, "proxy-send", NULL, {"in progress"}, PROXY_ARGS},
    [RS_BAR_PROXY_RECV] =
        {"ProxyOp recv", "proxy receive", RS_ROW_PROXY, "proxy-recv", NULL, {"in progress"}, PROXY_ARGS},
    [RS_BAR_STEP_SEND] = {"ProxyStep send",
                          "step, send",
                          RS_ROW_STEPS,
                          "step-send",
                          NULL,
                          {"waits for the GPU", "waits for the peer", "sends"},
                          STEP_ARGS},
    [RS_BAR_STEP_RECV] = {"ProxyStep recv",
                          "step, receive",
                          RS_ROW_STEPS,
                          "step-recv",
                          NULL,
                          {"waits for data", "flushes", "waits for the GPU"},
                          STEP_ARGS},
    [RS_BAR_NET_IB] = {"NetPlugin IB",
                       "queue pair",
                       RS_ROW_NETWORK,
                       "network",
                       NULL,
                       {"updated"},
                       {{"queue pair", NULL},
                        {"bytes", "bytes"},
                        {"device", NULL},
                        {"work request", "hex"},
                        {"opcode", NULL},
                        {"peer", NULL}}},
    [RS_BAR_NET_SOCKET] = {"NetPlugin socket",
                           "socket",
                           RS_ROW_NETWORK,
                           "network",
                           NULL,
                           {"updated"},
                           {{"descriptor", NULL}, {"bytes", "bytes"}, {"operation", NULL}, {"peer", NULL}}},
    [RS_BAR_NET] = {"NetPlugin",
                    "network plugin",
                    RS_ROW_NETWORK,
                    "network",
                    NULL,
                    {"updated"},
                    {{"plugin", "hex"}, {"bytes", "bytes"}, {"peer", NULL}}},
    [RS_BAR_CE_COLL] = {"CeColl",
                        "copy engine",
                        RS_ROW_COPY_ENGINE,
                        "copy-engine",
                        NULL,
                        {0},
                        {{"function", "string"},
                         {"count", NULL},
                         {"datatype", "string"},
                         {"root", NULL},
                         {"synchronisation", "string"},
                         {"batches", NULL}}},
    [RS_BAR_CE_SYNC] = {"CeSync",
                        "synchronisation",
                        RS_ROW_COPY_ENGINE,
                        "copy-engine",
                        NULL,
                        {0},
                        {{"ranks", NULL}, {"complete", NULL}}},
    [RS_BAR_CE_BATCH] =
        {"CeBatch", "batch of copies", RS_ROW_COPY_ENGINE, "copy", NULL, {0}, {{"copies", NULL}, {"bytes", "bytes"}}},
    [RS_BAR_PROXY_IDLE] = {"ProxyCtrlIdle", "idle", RS_ROW_PROXY_THREAD, "proxy-idle", NULL, {0}, {{0}}},
    [RS_BAR_PROXY_ACTIVE] = {"ProxyCtrlActive", "active", RS_ROW_PROXY_THREAD, "proxy-thread", NULL, {0}, {{0}}},
    [RS_BAR_PROXY_SLEEP] = {"ProxyCtrlSleep", "asleep", RS_ROW_PROXY_THREAD, "proxy-idle", NULL, {"woken"}, {{0}}},
    [RS_BAR_PROXY_WAKEUP] = {"ProxyCtrlWakeup", "woken", RS_ROW_PROXY_THREAD, "proxy-thread", NULL, {0}, {{0}}},
    [RS_BAR_PROXY_APPEND] =
        {"ProxyCtrlAppend", "takes work over", RS_ROW_PROXY_THREAD, "proxy-thread", NULL, {"taken over"}, {{0}}},
    [RS_BAR_PROXY_CTRL] = {"ProxyCtrl", "proxy thread", RS_ROW_PROXY_THREAD, "proxy-thread", NULL, {0}, {{0}}},
    [RS_BAR_COMPUTE] =
        {"compute", "kernel", RS_ROW_COMPUTE, "compute", "A kernel that is not NCCL's, on its stream.", {0}, WORK_ARGS},
    [RS_BAR_COMM] = {"comm",
                     "NCCL kernel",
                     RS_ROW_COMM,
                     "channel",
                     "A kernel of NCCL's as a tool saw it, on its stream: waits and transfers of its operations alike.",
                     {0},
                     WORK_ARGS},
    [RS_BAR_COPY] = {"copy", "copy", RS_ROW_COPIES, "copy", "A copy between memories, on its stream.", {0}, WORK_ARGS},
    [RS_BAR_SET] =
        {"set", "memory set", RS_ROW_COPIES, "copy", "Memory of the GPU is filled, on a stream.", {0}, WORK_ARGS},
    [RS_BAR_RANGE] = {"range",
                      "range",
                      RS_ROW_ANNOTATIONS,
                      "annotation",
                      "What the program or a framework calls the stretch, on a host thread.",
                      {0},
                      THREAD_ARGS},
    [RS_BAR_GPU_RANGE] = {"gpu-range",
                          "range on the GPU",
                          RS_ROW_ANNOTATIONS,
                          "annotation",
                          "What an annotation of the host covers on a stream, as the tool says.",
                          {0},
                          WORK_ARGS},
    [RS_BAR_STEP] = {"step",
                     "step",
                     RS_ROW_ANNOTATIONS,
                     "step",
                     "One repetition of the training loop, as the framework annotates it.",
                     {0},
                     THREAD_ARGS},
    [RS_BAR_SYNC] =
        {"sync", "synchronisation", RS_ROW_HOST, "sync", "A host call that waits for the GPU.", {0}, THREAD_ARGS},
    [RS_BAR_MEMORY] = {"memory",
                       "memory call",
                       RS_ROW_HOST,
                       "host",
                       "A host call that allocates or frees memory of the GPU.",
                       {0},
                       THREAD_ARGS},
    [RS_BAR_CALL] = {"host-call", "host call", RS_ROW_HOST, "host", "Another call on a host thread.", {0}, THREAD_ARGS},
};

/* Sentences of the kinds that `explain` has a term for. */
static const struct {
    uint8_t kind;
    const char *type, *name;
} sentences[] = {
    {RS_BAR_GROUP_API, "event", "GroupApi"},
    {RS_BAR_COLL_API, "event", "CollApi"},
    {RS_BAR_P2P_API, "event", "P2pApi"},
    {RS_BAR_ENQUEUED, "event", "CollApi"},
    {RS_BAR_PLAN, "event", "Group"},
    {RS_BAR_LAUNCH, "event", "KernelLaunch"},
    {RS_BAR_HOST_LAUNCH, "event", "KernelLaunch"},
    {RS_BAR_CHANNEL, "event", "KernelCh"},
    {RS_BAR_PHASE, "event", "KernelPhase"},
    {RS_BAR_PROXY_SEND, "event", "ProxyOp"},
    {RS_BAR_PROXY_RECV, "event", "ProxyOp"},
    {RS_BAR_STEP_SEND, "event", "ProxyStep"},
    {RS_BAR_STEP_RECV, "event", "ProxyStep"},
    {RS_BAR_NET_IB, "event", "NetPlugin"},
    {RS_BAR_NET_SOCKET, "event", "NetPlugin"},
    {RS_BAR_NET, "event", "NetPlugin"},
    {RS_BAR_CE_COLL, "event", "CeColl"},
    {RS_BAR_CE_SYNC, "event", "CeSync"},
    {RS_BAR_CE_BATCH, "event", "CeBatch"},
    {RS_BAR_PROXY_IDLE, "state", "ProxyCtrlIdle"},
    {RS_BAR_PROXY_ACTIVE, "state", "ProxyCtrlActive"},
    {RS_BAR_PROXY_SLEEP, "state", "ProxyCtrlSleep"},
    {RS_BAR_PROXY_WAKEUP, "state", "ProxyCtrlWakeup"},
    {RS_BAR_PROXY_APPEND, "state", "ProxyCtrlAppend"},
    {RS_BAR_PROXY_CTRL, "event", "ProxyCtrl"},
};

/* The bar of an operation on one rank. */
static void add_func(struct rs_kinds *k, const char *func)
{
    bool pair = !strcmp(func, "Send") || !strcmp(func, "Recv");
    const char *explain = sentence(&rs_terms_nccl, "value", func);
    k->rows[k->n++] = (struct rs_bar_kind){
        .id = func,
        .label = func,
        .row = RS_ROW_OPERATIONS,
        .colour = func,
        .explain = explain ? explain : sentence(&rs_terms_nccl, "event", pair ? "P2p" : "Coll"),
        .args = {{pair ? "peer" : "root", NULL},
                 {"bytes", "bytes"},
                 {"count", NULL},
                 {"datatype", "string"},
                 {"algorithm", "string"},
                 {"launched", "time"}},
    };
}

enum { MOST_FUNCS = 100 };

enum rs_status rs_kinds_make(struct rs_kinds *k, const struct rs_model *m, struct rs_err *err)
{
    bool *seen = calloc(m->strings.n + 1, sizeof *seen);
    if (!seen) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    memcpy(k->rows, fixed, sizeof fixed);
    k->n = RS_BAR_FIXED_KINDS;
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
        k->rows[sentences[i].kind].explain = sentence(&rs_terms_nccl, sentences[i].type, sentences[i].name);
    k->rows[RS_BAR_LOSS].explain = "Callbacks were lost here: what happened is not in the recording.";
    k->rows[RS_BAR_BLANK].explain = sentence(&rs_terms_words, "word", "not recorded");
    for (uint32_t i = 0; i < m->parts.n && k->n < RS_BAR_FIXED_KINDS + MOST_FUNCS; i++) {
        uint16_t func = rs_bar_func(m, i);
        if (!func || func >= m->strings.n || seen[func]) continue;
        seen[func] = true;
        add_func(k, rs_model_text(m, func));
    }
    free(seen);
    /* An operation of another function has the same arguments. */
    add_func(k, "other");
    memcpy(k->rows[RS_BAR_OTHER].args, k->rows[--k->n].args, sizeof k->rows->args);
    return RS_OK;
}

uint16_t rs_bar_func(const struct rs_model *m, uint32_t part)
{
    uint32_t op = m->parts.op[part];
    return m->parts.func[part] || op >= m->ops.n ? m->parts.func[part] : m->ops.func[op];
}

uint8_t rs_kind_of_func(const struct rs_kinds *k, const struct rs_model *m, uint16_t func)
{
    const char *text = rs_model_text(m, func);
    for (unsigned i = RS_BAR_FIXED_KINDS; i < k->n; i++)
        if (!strcmp(k->rows[i].id, text)) return (uint8_t)i;
    return RS_BAR_OTHER;
}
