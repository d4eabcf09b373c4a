#include "load.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nccl_mask;
_Atomic int warnings;

static void logger(int level, unsigned long flags, const char *file, int line, const char *fmt, ...)
{
    (void)flags, (void)file, (void)line;
    if (level == RS_NCCL_LOG_WARN) atomic_fetch_add(&warnings, 1);
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fprintf(stderr, "%s: %s\n", level == RS_NCCL_LOG_WARN ? "WARN" : "INFO", text);
}

static void must(rs_nccl_result answer, const char *what)
{
    if (answer == RS_NCCL_SUCCESS) return;
    fprintf(stderr, "%s answered %d\n", what, answer);
    exit(9);
}

void plugin_open(struct plugin *p, int api)
{
    const char *path = getenv("PLUGIN");
    p->lib = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!p->lib) {
        fprintf(stderr, "PLUGIN: %s\n", path ? dlerror() : "not set");
        exit(9);
    }
    for (p->version = api; p->version > 0; p->version--) {
        char symbol[32];
        snprintf(symbol, sizeof symbol, "ncclProfiler_v%d", p->version);
        if ((p->any = dlsym(p->lib, symbol))) return;
    }
    fprintf(stderr, "%s: no ncclProfiler_v%d or older\n", path, api);
    exit(9);
}

void plugin_close(struct plugin *p)
{
    dlclose(p->lib);
    *p = (struct plugin){0};
}

void *plugin_init(const struct plugin *p, const char *name, uint64_t id, int nnodes, int nranks, int rank)
{
    void *context = NULL;
    rs_nccl_result answer = -1;
    switch (p->version) {
    case 1: answer = p->v1->init(&context, &nccl_mask); break;
    case 2: answer = p->v2->init(&context, &nccl_mask); break;
    case 3: answer = p->v3->init(&context, &nccl_mask); break;
    case 4: answer = p->v4->init(&context, &nccl_mask, name, id, nnodes, nranks, rank, logger); break;
    case 5: answer = p->v5->init(&context, id, &nccl_mask, name, nnodes, nranks, rank, logger); break;
    case 6: answer = p->v6->init(&context, id, &nccl_mask, name, nnodes, nranks, rank, logger); break;
    case 7: answer = p->v7->init(&context, id, &nccl_mask, name, nnodes, nranks, rank, logger); break;
    }
    must(answer, "init");
    return context;
}

#define EACH_VERSION(CALL)                                                                                             \
    switch (p->version) {                                                                                              \
        CALL(1) CALL(2) CALL(3) CALL(4) CALL(5) CALL(6) CALL(7)                                                        \
    }

void plugin_finalize(const struct plugin *p, void *context)
{
#define CALL(V)                                                                                                        \
    case V: must(p->v##V->finalize(context), "finalize"); break;
    EACH_VERSION(CALL)
#undef CALL
}

void *plugin_start(const struct plugin *p, void *context, void *descr)
{
    void *handle = NULL;
#define CALL(V)                                                                                                        \
    case V: must(p->v##V->startEvent(context, &handle, descr), "startEvent"); break;
    EACH_VERSION(CALL)
#undef CALL
    return handle;
}

void plugin_stop(const struct plugin *p, void *handle)
{
#define CALL(V)                                                                                                        \
    case V: must(p->v##V->stopEvent(handle), "stopEvent"); break;
    EACH_VERSION(CALL)
#undef CALL
}

void plugin_state(const struct plugin *p, void *handle, int state, void *args)
{
#define CALL(V)                                                                                                        \
    case V: must(p->v##V->recordEventState(handle, state, args), "recordEventState"); break;
    EACH_VERSION(CALL)
#undef CALL
}

void *plugin_start_step(const struct plugin *p, void *context, void *parent, int rank, int step)
{
    void *handle = NULL;
#define CALL(V)                                                                                                        \
    case V: {                                                                                                          \
        struct rs_nccl_descr_v##V d = {.type = RS_PROXY_STEP, .parentObj = parent, .rank = rank};                      \
        d.proxyStep.step = step;                                                                                       \
        must(p->v##V->startEvent(context, &handle, &d), "startEvent");                                                 \
        break;                                                                                                         \
    }
    EACH_VERSION(CALL)
#undef CALL
    return handle;
}
