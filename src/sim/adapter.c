#include "sim/adapter.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sim/descr.h"

enum {
    NET_BITS = RS_PROXY_OP | RS_PROXY_STEP | RS_NET_PLUGIN,
    CE_BITS = RS_CE_COLL | RS_CE_SYNC | RS_CE_BATCH,
};

/* The logger that the plugin is given: like NCCL's, silent unless NCCL_DEBUG says otherwise. */
static void log_line(int level, unsigned long flags, const char *file, int line, const char *fmt, ...)
{
    (void)flags;
    const char *debug = getenv("NCCL_DEBUG");
    int threshold = 1;
    if (debug && strcasecmp(debug, "WARN") == 0) threshold = RS_NCCL_LOG_WARN;
    if (debug && (strcasecmp(debug, "INFO") == 0 || strcasecmp(debug, "TRACE") == 0)) threshold = RS_NCCL_LOG_INFO;
    if (level > threshold) return;
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fprintf(stderr, "NCCL %s %s:%d %s\n", level == RS_NCCL_LOG_WARN ? "WARN" : "INFO", file ? file : "?", line, text);
}

void rs_sim_call_init(struct rs_sim_plugin *p, const struct rs_sim_init *in, void **ctx)
{
    int *mask = rs_sim_mask_at();
    if (!p) return;
    switch (p->version) {
    case 0: {
        const char *want = getenv("RINGSCOPE_EVENTS");
        int all = 0xffff & ~RS_PROXY_CTRL;
        if (want && strcmp(want, "all") == 0)
            all = 0xffff;
        else if (want && strcmp(want, "ops") == 0)
            all &= ~NET_BITS;
        else if (want && strcmp(want, "net") != 0)
            all = (int)strtol(want, NULL, 0);
        __atomic_store_n(mask, all, __ATOMIC_RELAXED);
        break;
    }
    case 1: p->v1->init(ctx, mask); break;
    case 2: p->v2->init(ctx, mask); break;
    case 3: p->v3->init(ctx, mask); break;
    case 4: p->v4->init(ctx, mask, in->name, in->hash, in->nnodes, in->nranks, in->rank, log_line); break;
    case 5: p->v5->init(ctx, in->hash, mask, in->name, in->nnodes, in->nranks, in->rank, log_line); break;
    case 6: p->v6->init(ctx, in->hash, mask, in->name, in->nnodes, in->nranks, in->rank, log_line); break;
    default: p->v7->init(ctx, in->hash, mask, in->name, in->nnodes, in->nranks, in->rank, log_line); break;
    }
    if (p->version == 5 && p->native > 5) __atomic_fetch_and(mask, ~CE_BITS, __ATOMIC_RELAXED);
    atomic_fetch_add(&p->counts->init, 1);
}

void rs_sim_call_finalize(struct rs_sim_plugin *p, void *ctx)
{
    if (!p) return;
    if (p->version > 0) p->v1->finalize(ctx); /* the same in all versions */
    atomic_fetch_add(&p->counts->finalize, 1);
}

/* The event types that a version of the interface knows. */
static uint64_t known_types(int version)
{
    static const uint64_t known[8] = {0xffff, 0x3f, 0x3f, 0xff, 0xff, 0xfff, 0x7fff, 0xffff};
    return known[version];
}

void rs_sim_call_start(struct rs_sim_plugin *p, void *ctx, void **handle, const struct rs_sim_event *ev)
{
    if (!p || !(known_types(p->version) & ev->type)) return; /* a shim drops it and leaves *handle alone */
    struct rs_sim_event older;
    if (p->version > 0 && p->version < 5 && (ev->type == RS_COLL || ev->type == RS_P2P)) {
        older = *ev;
        older.parent = ev->parent_group;
        ev = &older;
    }
    switch (p->version) {
    case 0: *handle = p; break;
    case 1: rs_sim_start_v1(p, ctx, handle, ev); break;
    case 2: rs_sim_start_v2(p, ctx, handle, ev); break;
    case 3: rs_sim_start_v3(p, ctx, handle, ev); break;
    case 4: rs_sim_start_v4(p, ctx, handle, ev); break;
    case 5: rs_sim_start_v5(p, ctx, handle, ev); break;
    case 6: rs_sim_start_v6(p, ctx, handle, ev); break;
    default: rs_sim_start_v7(p, ctx, handle, ev); break;
    }
    atomic_fetch_add(&p->counts->start[__builtin_ctzll(ev->type)], 1);
}

void rs_sim_call_stop(struct rs_sim_plugin *p, void *handle)
{
    if (!p) return;
    if (p->version > 0) p->v1->stopEvent(handle); /* the same in all versions */
    atomic_fetch_add(&p->counts->stop, 1);
}

static void record_v1(struct rs_sim_plugin *p, void *handle, int st, const struct rs_sim_args *args)
{
    union rs_nccl_args_v1 a;
    memset(&a, 0, sizeof a);
    if (!args && p->native == p->version) {
        p->v1->recordEventState(handle, st, NULL);
        return;
    }
    if (args && st <= RS_ST_OP_RECV_DONE) {
        a.proxyOp.transSize = args->trans;
        a.proxyOp.steps = args->steps;
    }
    if (args && st >= RS_ST_CTRL_IDLE && st <= RS_ST_CTRL_APPEND_END) a.proxyCtrl.appendedProxyOps = args->appended;
    p->v1->recordEventState(handle, st, &a); /* versions 1 to 3 agree */
}

static void record_v4(struct rs_sim_plugin *p, void *handle, int st, const struct rs_sim_args *args)
{
    union rs_nccl_args_v4 a;
    memset(&a, p->native == p->version ? 0 : 0xa5, sizeof a);
    if (!args && p->native == p->version) {
        p->v4->recordEventState(handle, st, NULL);
        return;
    }
    if (args) {
        if (st == RS_ST_NET_PLUGIN_UPDATE)
            a.netPlugin.data = args->data;
        else if (st == RS_ST_KERNEL_CH_STOP || st == RS_ST_KERNEL_PHASE_STOP)
            a.kernelCh.pTimer = args->ptimer;
        else if (st >= RS_ST_CTRL_IDLE && st <= RS_ST_CTRL_APPEND_END)
            a.proxyCtrl.appendedProxyOps = args->appended;
        else
            a.proxyStep.transSize = args->trans;
    }
    p->v4->recordEventState(handle, st, &a); /* versions 4 to 7 agree */
}

void rs_sim_call_record(struct rs_sim_plugin *p, void *handle, int st, const struct rs_sim_args *args)
{
    static const int last_state[8] = {31, 18, 18, 18, 22, 24, 30, 31};
    if (!p || st > last_state[p->version]) return;
    if (p->version >= 4)
        record_v4(p, handle, st, args);
    else if (p->version > 0)
        record_v1(p, handle, st, args);
    atomic_fetch_add(&p->counts->record, 1);
}

void rs_sim_stop_if(struct rs_sim_plugin *p, void *handle)
{
    if (handle) rs_sim_call_stop(p, handle);
}

void rs_sim_record_if(struct rs_sim_plugin *p, void *handle, int st, const struct rs_sim_args *args)
{
    if (handle) rs_sim_call_record(p, handle, st, args);
}
