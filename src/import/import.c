#include "import/import.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "import/folding.h"
#include "import/members.h"
#include "nccl/abi.h"
#include "trace/alive.h"

/* The rank set by the launcher: the first of these variables. */
static int32_t launcher_rank(const struct rs_process *p)
{
    static const char *const keys[] = {"env.RANK", "env.OMPI_COMM_WORLD_RANK", "env.PMIX_RANK", "env.PMI_RANK",
                                       "env.SLURM_PROCID"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *text = rs_process_info(p, keys[i]);
        char *end;
        if (!text || !*text) continue;
        long v = strtol(text, &end, 10);
        if (!*end && v >= 0 && v < INT32_MAX) return (int32_t)v;
    }
    return -1;
}

/* The boot id is the host's identity, whatever the names of containers. A host of a test has only its name. */
static void find_host(struct rs_model *m, const struct rs_source *s, uint32_t *host)
{
    const struct rs_file_header *h = &s->recording->header;
    char boot[sizeof h->boot_id + sizeof h->host + 2];
    bool named = rs_process_info(&s->process, "test.host") || !h->boot_id[0];
    snprintf(boot, sizeof boot, "%.*s%s%.*s", (int)sizeof h->boot_id, h->boot_id, named ? "/" : "",
             named ? (int)sizeof h->host : 0, h->host);
    rs_model_host(m, h->host, boot, host);
}

static void add_covers(struct rs_proc *p, struct rs_source *s)
{
    const struct rs_process *q = &s->process;
    if (!q->nmasks) return;
    p->covers = rs_zalloc(q->nmasks, sizeof *p->covers);
    for (size_t i = 0; i < q->nmasks; i++) {
        int64_t from = rs_clock_ns(&s->clock, q->masks[i].tick);
        if (i) p->covers[i - 1].to = from;
        p->covers[i] = (struct rs_cover){from, INT64_MAX, q->masks[i].mask};
    }
    p->ncovers = (uint32_t)q->nmasks;
    uint64_t any = 0, all = UINT64_MAX;
    for (size_t i = 0; i < q->nmasks; i++) {
        any |= q->masks[i].mask;
        all &= q->masks[i].mask;
    }
    p->windows = any & ~all & RS_KERNEL_CH;
}

static uint8_t end_of(const struct rs_recording *r, bool ran_on)
{
    uint32_t state = r->header.status.state;
    if (state == RS_STATE_CLOSED) return RS_END_WELL;
    if (ran_on || rs_may_run(r->alive)) return RS_END_ALIVE;
    if (state == RS_STATE_IDLE) return RS_END_IDLE;
    return r->alive == RS_ALIVE_REPLACED ? RS_END_REPLACED : RS_END_KILLED;
}

static void add_process(struct rs_model *m, struct rs_source *s, uint32_t *proc)
{
    const struct rs_recording *r = s->recording;
    const struct rs_file_header *h = &r->header;
    uint32_t host;
    find_host(m, s, &host);
    rs_model_proc(m, proc);
    struct rs_proc *p = &m->procs[*proc];
    p->host = host;
    p->pid = h->pid;
    p->nonce = h->nonce;
    p->pid_namespace = h->pid_namespace;
    p->launcher_rank = launcher_rank(&s->process);
    p->begin = rs_source_begin_ns(s);
    p->end = rs_source_end_ns(s);
    p->ended = end_of(r, s->process.ran_on);
    p->complete = rs_source_complete(s);
    p->end_missing = !rs_source_accounted(s);
    p->lost = rs_recording_lost(r);
    p->overwritten = r->overwritten;
    p->damaged = r->damaged;
    if (s->process.cut_until)
        p->cut_until = s->process.cut_until == UINT64_MAX ? p->end : rs_clock_ns(&s->clock, s->process.cut_until);
    p->clock_error_ns = s->clock.n ? s->clock.error_ns : RS_TIME_NONE;
    const char *version = rs_process_info(&s->process, "nccl.version");
    p->path = rs_arena_text(&m->arena, r->path, strlen(r->path));
    if (version) p->nccl_version = rs_arena_text(&m->arena, version, strlen(version));
    add_covers(p, s);
}

enum { SET_NS = 100000000 }; /* a smaller change of the wall clock is slewing */

/* Processes of a host share its clock, and so one offset to wall time: that of the first. */
static enum rs_status share_wall(struct rs_model *m, struct rs_source *s, uint32_t host, int64_t *walls,
                                 struct rs_err *err)
{
    if (!s->clock.n) return RS_OK;
    if (walls[host] == RS_TIME_NONE) walls[host] = s->clock.wall;
    int64_t moved = rs_time_minus(s->clock.wall, walls[host]);
    s->clock.wall = walls[host];
    if (moved <= SET_NS && moved >= -SET_NS) return RS_OK;
    return rs_model_note(
        m, err,
        "%s: the wall clock of %s was changed by %.3f s before it began; its times follow those of the "
        "earlier processes",
        s->recording->path, m->hosts[host].name, (double)moved / 1e9);
}

/* Notes about the clock samples of a process. */
static enum rs_status note_clocks(struct rs_model *m, const struct rs_source *s, struct rs_err *err)
{
    const char *path = s->recording->path;
    const struct rs_fact_clock *c = s->process.clocks;
    uint32_t jumps = 0;
    bool back = false;
    int64_t set = 0;
    for (size_t i = 1; i < s->process.nclocks; i++) {
        back |= c[i].raw.ns < c[i - 1].raw.ns || c[i].raw.before < c[i - 1].raw.before;
        jumps += c[i].rate_jump != 0;
        int64_t wall = rs_time_minus((int64_t)c[i].real.ns, (int64_t)c[i].raw.ns);
        int64_t moved = rs_time_minus(wall, rs_time_minus((int64_t)c[0].real.ns, (int64_t)c[0].raw.ns));
        if (moved > SET_NS || moved < -SET_NS) set = moved;
    }
    if (back)
        RS_TRY(rs_model_note(
            m, err, "%s: its clock went backwards between two samples; times around that point are unreliable", path));
    if (jumps)
        RS_TRY(rs_model_note(m, err,
                             "%s: the rate of its tick counter changed %" PRIu32 " time%s by more than 100 ppm; times "
                             "around these changes are less certain than stated",
                             path, jumps, jumps == 1 ? "" : "s"));
    if (set)
        RS_TRY(rs_model_note(m, err,
                             "%s: the host's wall clock was changed by %.3f s while it ran; times follow the monotonic "
                             "clock",
                             path, (double)set / 1e9));
    return RS_OK;
}

struct import {
    struct rs_folding folding;
    struct rs_pxn pxn;
    int64_t *walls; /* by host */
};

static enum rs_status add_source(struct rs_model *m, struct import *im, struct rs_source *s, struct rs_err *err)
{
    uint32_t proc, host;
    find_host(m, s, &host);
    RS_TRY(share_wall(m, s, host, im->walls, err));
    RS_TRY(note_clocks(m, s, err));
    add_process(m, s, &proc);
    rs_members_add(m, s, proc);
    return rs_folding_read(&im->folding, s, proc, err);
}

static void add_facts(struct rs_model *m, struct rs_source *s)
{
    uint32_t proc;
    add_process(m, s, &proc);
    rs_members_add(m, s, proc);
}

void rs_import_facts(struct rs_model *m, struct rs_inputs *in)
{
    for (size_t i = 0; i < in->n; i++) add_facts(m, &in->sources[i]);
}

static enum rs_status add_all(struct rs_model *m, struct import *im, struct rs_inputs *in,
                              void (*progress)(size_t done, size_t all), struct rs_err *err)
{
    for (size_t i = 0; i < in->n; i++) {
        RS_TRY(add_source(m, im, &in->sources[i], err));
        if (progress) progress(i + 1, in->n);
    }
    return rs_pxn_return(&im->pxn, m, err);
}

enum rs_status rs_import(struct rs_model *m, struct rs_inputs *in, void (*progress)(size_t done, size_t all),
                         struct rs_err *err)
{
    struct import im = {.walls = rs_alloc((in->n + 1) * sizeof *im.walls)};
    rs_folding_init(&im.folding, m, &im.pxn);
    enum rs_status status = RS_OK;
    if (!im.walls) rs_memory_out();
    for (size_t i = 0; i <= in->n; i++) im.walls[i] = RS_TIME_NONE;
    status = add_all(m, &im, in, progress, err);
    rs_folding_free(&im.folding);
    rs_pxn_free(&im.pxn);
    free(im.walls);
    return status;
}
