#include "cli/explain_lacks.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/units.h"
#include "nccl/abi.h"
#include "nccl/names.h"

enum rs_status rs_explain_say(char ***list, uint32_t *n, struct rs_err *err, const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    int length = vasprintf(&text, fmt, args);
    va_end(args);
    char **grown = length >= 0 ? realloc(*list, (*n + 1) * sizeof **list) : NULL;
    if (!grown) {
        if (length >= 0) free(text);
        return rs_fail(err, RS_NO_MEMORY, "out of memory");
    }
    *list = grown;
    grown[(*n)++] = text;
    return RS_OK;
}

#define HOLDS(...) RS_TRY(rs_explain_say(&f->holds, &f->nholds, err, __VA_ARGS__))
#define LACKS(...) RS_TRY(rs_explain_say(&f->lacks, &f->nlacks, err, __VA_ARGS__))

/* ---- what it holds ---- */

/* "3 collectives, 1 send" */
static void count(struct rs_strbuf *s, uint64_t n, const char *one, const char *many)
{
    if (n) rs_strbuf_printf(s, "%s%s %s", s->len ? ", " : "", rs_text_count(n).s, n == 1 ? one : many);
}

static enum rs_status say_counts(struct rs_explained_file *f, struct rs_strbuf *s, const char *behind,
                                 struct rs_err *err)
{
    enum rs_status status = rs_strbuf_check(s, err);
    if (status == RS_OK && s->len)
        status = rs_explain_say(&f->holds, &f->nholds, err, "%s%s", rs_strbuf_borrow(s), behind);
    rs_strbuf_free(s);
    return status;
}

enum rs_status rs_explain_holds(struct rs_explained_file *f, const struct rs_file_facts *x, struct rs_err *err)
{
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
    count(&s, a[RS_ACT_COMM], "kernel of NCCL", "kernels of NCCL");
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
        HOLDS("PyTorch's Comms Id of operations: %s, of which %s were read and the others computed.",
              rs_text_count(x->ids).s, rs_text_count(x->ids_read).s);
    return RS_OK;
}

/* ---- what it lacks ---- */

static enum rs_status recording(struct rs_explained_file *f, const struct rs_model *m, struct rs_err *err)
{
    if (f->proc == RS_NONE) return RS_OK;
    const struct rs_proc *p = &m->procs[f->proc];
    uint64_t mask = 0;
    for (uint32_t i = 0; i < p->ncovers; i++) mask |= p->covers[i].mask;
    struct rs_strbuf s = {0};
    for (unsigned bit = 0; bit < RS_NCCL_TYPE_BITS; bit++)
        if (p->ncovers && !(mask >> bit & 1))
            rs_strbuf_printf(&s, "%s%s", s.len ? ", " : "", rs_nccl_type_name(UINT64_C(1) << bit));
    enum rs_status status = rs_strbuf_check(&s, err);
    if (status == RS_OK && s.len)
        status = rs_explain_say(&f->lacks, &f->nlacks, err,
                                "Events of these types, which were not asked for (RINGSCOPE_EVENTS): %s.",
                                rs_strbuf_borrow(&s));
    rs_strbuf_free(&s);
    RS_TRY(status);
    if (p->lost) LACKS("%s callbacks that found no room (lost, and counted).", rs_text_count(p->lost).s);
    if (p->overwritten)
        LACKS("%s callbacks from the beginning, which RINGSCOPE_KEEP=last wrote over.",
              rs_text_count(p->overwritten).s);
    if (p->damaged) LACKS("%s callbacks in places that cannot be read.", rs_text_count(p->damaged).s);
    if (p->cut_until != RS_TIME_NONE)
        LACKS("What was cut off: it was cut out of a larger recording (`ringscope export --to rsc`).");
    if (p->ended == RS_END_KILLED) LACKS("An end: the process was killed, or died, without closing it.");
    if (p->ended == RS_END_REPLACED) LACKS("An end: the process called execve, and went on as another program.");
    if (p->ended == RS_END_ALIVE) LACKS("An end: the process still runs.");
    LACKS("Kernels that are not NCCL's, and host code: NCCL does not see them. A trace of PyTorch's profiler of the "
          "same job "
          "can be read together with it.");
    return RS_OK;
}

static enum rs_status kineto(struct rs_explained_file *f, const struct rs_file_facts *x, struct rs_err *err)
{
    LACKS("What lies outside the window that was profiled: operations there are not missing, they are not recorded.");
    LACKS("The network: the profiler sees kernels, not what the proxy thread or the links do.");
    uint64_t all = x->parts[RS_PART_COLL] + x->parts[RS_PART_SEND] + x->parts[RS_PART_RECV];
    if (x->made_up) LACKS("NCCL's hash of communicators: process groups are told apart by name and ranks.");
    if (all && !x->ids)
        LACKS("Sequence numbers (Seq), so there is no Comms Id: operations are joined by their order in the group.");
    return RS_OK;
}

static enum rs_status inspector(struct rs_explained_file *f, const struct rs_file_facts *x, struct rs_err *err)
{
    if (x->timed)
        LACKS("Starts (of %s of its operations): only the verbose mode (NCCL_INSPECTOR_DUMP_VERBOSE=1) writes them, so "
              "these "
              "have no "
              "place in time.",
              rs_text_count(x->timed).s);
    LACKS("Operations that Inspector dropped: small and quick ones, without a count. Gaps in their numbers show some.");
    return RS_OK;
}

static enum rs_status nvprof(struct rs_explained_file *f, const struct rs_file_facts *x, struct rs_err *err)
{
    if (x->stats)
        LACKS("A time axis: a summary tells how often and how long. Who waited is what a process's NCCL kernels take "
              "above "
              "those of the fastest one.");
    uint64_t work = x->activities[RS_ACT_COMPUTE] + x->activities[RS_ACT_COMM] + x->activities[RS_ACT_COPY];
    if (work) LACKS("A clock shared by processes: starts count from each process's own beginning.");
    LACKS("Communicators, ranks and sizes of NCCL's operations: nvprof sees kernels by name alone.");
    return RS_OK;
}

enum rs_status rs_explain_lacks(struct rs_explained_file *f, const struct rs_file_facts *x, const struct rs_model *m,
                                int tool, struct rs_err *err)
{
    switch (tool) {
    case RS_TOOL_RINGSCOPE: return recording(f, m, err);
    case RS_TOOL_EXAMPLE:
        if (x->bounded)
            LACKS("The ends of %s operations of the process: the GPU's timer at the end of their kernels is 0 "
                  "(StopGpuClk), "
                  "so they are only bounded.",
                  rs_text_count(x->bounded).s);
        LACKS("A clock shared with other processes: ts counts from the process's first communicator. GPU timers of two "
              "devices are not one clock either.");
        LACKS("Lines that the profiler had no room for: its pools have a fixed size, and it does not count.");
        return RS_OK;
    case RS_TOOL_KINETO: return kineto(f, x, err);
    case RS_TOOL_NSYS:
        LACKS("The network, and NCCL's sequence numbers: operations are joined by their order on the communicator.");
        return RS_OK;
    case RS_TOOL_FLIGHT:
        LACKS("Starts and ends: it holds when operations were enqueued. The times at which its watchdog discovered "
              "starts "
              "and ends are late by its polling, and not used.");
        LACKS("What came before its first entry: the ring keeps the latest operations.");
        return RS_OK;
    case RS_TOOL_INSPECTOR: return inspector(f, x, err);
    case RS_TOOL_COMMA:
        LACKS("Kernels: times are the host's, as callbacks came. A clock shared with other processes.");
        return RS_OK;
    case RS_TOOL_NVPROF: return nvprof(f, x, err);
    case RS_TOOL_NCCL_TESTS:
        LACKS("A run: it is a measurement to hold runs against (`ringscope report --reference FILE`), with one mean a "
              "size. "
              "When calls were, what single ones took, and who waited for whom are not in it.");
        return RS_OK;
    case RS_TOOL_NCCLSEE:
        LACKS("A time axis, communicators and ranks: it sums calls and host time by function and size.");
        return RS_OK;
    default: return RS_OK;
    }
}
