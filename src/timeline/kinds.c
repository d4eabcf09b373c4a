#include "timeline/kinds.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "explain/terms.h"
#include "model/model.h"

const struct rs_row_kind rs_row_kinds[RS_ROWS] = {
    [RS_ROW_OPERATIONS] = {.id = "operations", .label = "operations", .on = true, .summary = true},
    [RS_ROW_CALLS] = {.id = "calls", .label = "API calls", .on = true},
    [RS_ROW_LAUNCHES] = {.id = "launches", .label = "launches", .on = true},
    [RS_ROW_CHANNELS] = {.id = "channels", .label = "GPU channels", .on = true, .many = true, .depth = RS_DEPTH_NET},
    [RS_ROW_PROXY] = {.id = "proxy", .label = "proxy operations", .on = true, .many = true, .depth = RS_DEPTH_NET},
    [RS_ROW_STEPS] = {.id = "steps", .label = "network steps", .many = true, .depth = RS_DEPTH_NET},
    [RS_ROW_NETWORK] = {.id = "network", .label = "network plugin", .many = true, .depth = RS_DEPTH_ALL},
    [RS_ROW_COPY_ENGINE] = {.id = "ce", .label = "copy engine", .on = true},
    [RS_ROW_PROXY_THREAD] = {.id = "proxy-thread", .label = "proxy thread", .depth = RS_DEPTH_ALL},
    [RS_ROW_COMPUTE] = {.id = "compute", .label = "compute", .on = true, .summary = true},
    [RS_ROW_COMM] = {.id = "comm", .label = "communication kernels", .on = true},
    [RS_ROW_COPIES] = {.id = "copies", .label = "copies", .on = true},
    [RS_ROW_ANNOTATIONS] = {.id = "annotations", .label = "annotations", .on = true},
    [RS_ROW_HOST] = {.id = "host", .label = "host calls"},
};

const char *const rs_bar_units[RS_UNITS] = {
    [RS_UNIT_TIME] = "time", [RS_UNIT_BYTES] = "bytes", [RS_UNIT_TEXT] = "string", [RS_UNIT_HEX] = "hex"};

/* The text of a term; NULL: none of that name. */
static const char *sentence(const struct rs_term_table *table, const char *kind, const char *name)
{
    for (size_t i = 0; i < table->n; i++)
        if (!strcmp(table->terms[i].kind, kind) && !strcmp(table->terms[i].name, name)) return table->terms[i].text;
    return NULL;
}

/* clang-format off */
const struct rs_event_arg rs_event_args[RS_EVENT_ARGS] = {
#define ARG(id, unit_, label_, ...)                                                                                    \
    [RS_EVENT_ARG_##id] = {.key = #id, .label = label_, .unit = RS_UNIT_##unit_, __VA_ARGS__},
#define COLUMN_ARG(id, unit_, label_, column, comment, ...) ARG(id, unit_, label_, .has_column = true, __VA_ARGS__)
#include "timeline/event_args.inc"
#undef ARG
#undef COLUMN_ARG
};

#define IS(id) RS_EVENT_ARG_##id
#define OPERATION_ARGS(first) {first, IS(bytes), IS(count), IS(datatype), IS(algorithm), IS(launched)}
#define CALL_ARGS                                                                                                      \
    {IS(communicator), IS(count), IS(datatype), IS(root), IS(stream_handle), IS(captured_into_a_graph)}
#define PROXY_ARGS {IS(peer), IS(bytes), IS(channel), IS(steps), IS(chunk), IS(posted_by_pid)}
#define STEP_ARGS {IS(peer), IS(bytes), IS(channel), IS(step), IS(of_steps)}
#define WORK_ARGS {IS(stream), IS(device), IS(launched), IS(bytes)}
#define THREAD_ARGS {IS(thread)}

/* clang-format on */

static const struct rs_bar_kind fixed[RS_BAR_FIXED_KINDS] = {
    [RS_BAR_OTHER] = {"other", "other", RS_ROW_OPERATIONS, "other", NULL, {0}, OPERATION_ARGS(IS(root))},
    [RS_BAR_LOSS] = {"lost",
                     "lost",
                     RS_ROW_OPERATIONS,
                     "lost",
                     "Callbacks were lost here: what happened is not in the recording.",
                     {0},
                     {IS(collectives), IS(sends_and_receives), IS(other_callbacks)}},
    [RS_BAR_BLANK] = {"not-recorded", "not recorded", RS_ROW_OPERATIONS, "not-recorded", NULL, {0}, {0}},
    [RS_BAR_GROUP_API] = {"GroupApi",
                          "group call",
                          RS_ROW_CALLS,
                          "group",
                          NULL,
                          {"ncclGroupStart returned", "ncclGroupEnd called"},
                          {IS(depth), IS(captured_into_a_graph)}},
    [RS_BAR_COLL_API] = {"CollApi", "collective call", RS_ROW_CALLS, "call", NULL, {0}, CALL_ARGS},
    [RS_BAR_P2P_API] = {"P2pApi", "send or receive call", RS_ROW_CALLS, "call", NULL, {0}, CALL_ARGS},
    [RS_BAR_ENQUEUED] = {"enqueued", "called", RS_ROW_CALLS, "call", NULL, {0}, CALL_ARGS},
    [RS_BAR_PLAN] = {"Group", "plan", RS_ROW_LAUNCHES, "group", NULL, {0}, {IS(communicator)}},
    [RS_BAR_LAUNCH] = {"KernelLaunch",
                       "kernel launch",
                       RS_ROW_LAUNCHES,
                       "launch",
                       NULL,
                       {0},
                       {IS(communicator), IS(rank), IS(operations), IS(stream_handle)}},
    [RS_BAR_HOST_LAUNCH] = {"launch", "launch", RS_ROW_LAUNCHES, "launch", NULL, {0}, THREAD_ARGS},
    [RS_BAR_CHANNEL] = {"KernelCh",
                        "channel",
                        RS_ROW_CHANNELS,
                        "channel",
                        NULL,
                        {0},
                        {IS(channel), IS(told_to_the_host), IS(told_to_end)}},
    [RS_BAR_PHASE] = {"KernelPhase",
                      "phase",
                      RS_ROW_CHANNELS,
                      "phase",
                      NULL,
                      {0},
                      {IS(channel), IS(told_to_the_host), IS(told_to_end)}},
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
                       {IS(queue_pair), IS(bytes), IS(device), IS(work_request), IS(opcode), IS(peer)}},
    [RS_BAR_NET_SOCKET] = {"NetPlugin socket",
                           "socket",
                           RS_ROW_NETWORK,
                           "network",
                           NULL,
                           {"updated"},
                           {IS(descriptor), IS(bytes), IS(operation), IS(peer)}},
    [RS_BAR_NET] = {"NetPlugin",
                    "network plugin",
                    RS_ROW_NETWORK,
                    "network",
                    NULL,
                    {"updated"},
                    {IS(plugin), IS(bytes), IS(peer)}},
    [RS_BAR_CE_COLL] = {"CeColl",
                        "copy engine",
                        RS_ROW_COPY_ENGINE,
                        "copy-engine",
                        NULL,
                        {0},
                        {IS(function), IS(count), IS(datatype), IS(root), IS(synchronisation), IS(batches)}},
    [RS_BAR_CE_SYNC] =
        {"CeSync", "synchronisation", RS_ROW_COPY_ENGINE, "copy-engine", NULL, {0}, {IS(ranks), IS(complete)}},
    [RS_BAR_CE_BATCH] = {"CeBatch", "batch of copies", RS_ROW_COPY_ENGINE, "copy", NULL, {0}, {IS(copies), IS(bytes)}},
    [RS_BAR_PROXY_IDLE] = {"ProxyCtrlIdle", "idle", RS_ROW_PROXY_THREAD, "proxy-idle", NULL, {0}, {0}},
    [RS_BAR_PROXY_ACTIVE] = {"ProxyCtrlActive", "active", RS_ROW_PROXY_THREAD, "proxy-thread", NULL, {0}, {0}},
    [RS_BAR_PROXY_SLEEP] = {"ProxyCtrlSleep", "asleep", RS_ROW_PROXY_THREAD, "proxy-idle", NULL, {"woken"}, {0}},
    [RS_BAR_PROXY_WAKEUP] = {"ProxyCtrlWakeup", "woken", RS_ROW_PROXY_THREAD, "proxy-thread", NULL, {0}, {0}},
    [RS_BAR_PROXY_APPEND] =
        {"ProxyCtrlAppend", "takes work over", RS_ROW_PROXY_THREAD, "proxy-thread", NULL, {"taken over"}, {0}},
    [RS_BAR_PROXY_CTRL] = {"ProxyCtrl", "proxy thread", RS_ROW_PROXY_THREAD, "proxy-thread", NULL, {0}, {0}},
    [RS_BAR_COMPUTE] = {"compute",
                        "kernel",
                        RS_ROW_COMPUTE,
                        "compute",
                        "A kernel that does not communicate, on its stream.",
                        {0},
                        WORK_ARGS},
    [RS_BAR_COMM] = {"comm",
                     "communication kernel",
                     RS_ROW_COMM,
                     "channel",
                     "A kernel of NCCL or another library that communicates, on its stream: waits and transfers alike.",
                     {0},
                     WORK_ARGS},
    [RS_BAR_COPY] = {"copy", "copy", RS_ROW_COPIES, "copy", "A copy between memories, on its stream.", {0}, WORK_ARGS},
    [RS_BAR_SET] =
        {"set", "memory set", RS_ROW_COPIES, "copy", "Memory of the GPU is filled, on a stream.", {0}, WORK_ARGS},
    [RS_BAR_RANGE] = {"range",
                      "range",
                      RS_ROW_ANNOTATIONS,
                      "annotation",
                      "A range named by the program or a framework, on a host thread.",
                      {0},
                      THREAD_ARGS},
    [RS_BAR_GPU_RANGE] = {"gpu-range",
                          "range on the GPU",
                          RS_ROW_ANNOTATIONS,
                          "annotation",
                          "What an annotation of the host covers on a stream, according to the tool.",
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
        .args = OPERATION_ARGS(pair ? IS(peer) : IS(root)),
    };
}

static void make_fixed(struct rs_kinds *k)
{
    memcpy(k->rows, fixed, sizeof fixed);
    k->n = RS_BAR_FIXED_KINDS;
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
        k->rows[sentences[i].kind].explain = sentence(&rs_terms_nccl, sentences[i].type, sentences[i].name);
    k->rows[RS_BAR_BLANK].explain = sentence(&rs_terms_words, "word", "not recorded");
}

void rs_kinds_make(struct rs_kinds *k, const struct rs_model *m)
{
    bool *seen = rs_zalloc(m->strings.n + 1, sizeof *seen);
    if (!k->n) make_fixed(k);
    for (uint32_t i = 0; i < m->parts.n && k->n < RS_BAR_KINDS; i++) {
        uint16_t func = rs_bar_func(m, i);
        if (!func || func >= m->strings.n || seen[func]) continue;
        seen[func] = true;
        if (rs_kind_of_func(k, m, func) == RS_BAR_OTHER) add_func(k, rs_model_text(m, func));
    }
    free(seen);
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
