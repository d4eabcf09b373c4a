#include "foreign/example/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foreign/example/kernels.h"

enum { ALL_TYPES = 0xffff };

static void earliest(int64_t *to, int64_t ns)
{
    if (ns != RS_TIME_NONE && (*to == RS_TIME_NONE || ns < *to)) *to = ns;
}

static enum rs_status add_covers(struct rs_proc *p, struct rs_err *err)
{
    p->covers = calloc(1, sizeof *p->covers);
    if (!p->covers) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    p->covers[0] = (struct rs_cover){0, INT64_MAX, ALL_TYPES};
    p->ncovers = 1;
    p->drops = true; /* its pools are small, and full ones drop silently */
    return RS_OK;
}

static enum rs_status add_proc(struct rs_model *m, const struct rs_example_procs *procs,
                               const struct rs_example_proc *row, uint32_t *proc, struct rs_err *err)
{
    const struct rs_example *first = &procs->dumps[row->dumps[0]];
    char boot[48];
    uint32_t host;
    /* Its clock is 0 at its own first init; two containers may have the same pid. Behind the '/': how it is called. */
    snprintf(boot, sizeof boot, "example:%u/pid %u", m->nprocs, first->pid);
    RS_TRY(rs_model_host(m, "", boot, &host, err));
    RS_TRY(rs_model_proc(m, proc, err));
    struct rs_proc *p = &m->procs[*proc];
    p->host = host;
    p->pid = first->pid;
    p->tool = RS_TOOL_EXAMPLE;
    p->ended = RS_END_IDLE; /* a dump is written when its communicator is destroyed; of the process it says nothing */
    p->complete = true;
    for (uint32_t k = 0; k < row->n; k++) {
        const struct rs_example *d = &procs->dumps[row->dumps[k]];
        p->callbacks += d->n;
        p->damaged += d->damaged;
        if (d->broken.code != RS_OK) p->complete = false;
        for (uint32_t i = 0; i < d->n; i++) {
            earliest(&p->first, d->events[i].begin);
            if (d->events[i].begin > p->last) p->last = d->events[i].begin;
            if (d->events[i].end > p->last) p->last = d->events[i].end;
        }
    }
    p->end = p->last == RS_TIME_NONE ? 0 : p->last;
    m->callbacks += p->callbacks;
    p->path = rs_arena_text(&m->arena, first->path, strlen(first->path));
    if (!p->path) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    return add_covers(p, err);
}

static enum rs_status fill_proc(struct rs_model *m, const struct rs_example_procs *procs,
                                const struct rs_example_proc *row, int64_t zero, uint32_t *proc, struct rs_err *err)
{
    struct rs_example_members members = {0};
    struct rs_example_parts parts = {0};
    RS_TRY(add_proc(m, procs, row, proc, err));
    enum rs_status status = rs_example_members_add(&members, m, procs, row, *proc, err);
    if (status == RS_OK) status = rs_example_parts_add(&parts, m, procs, row, &members, *proc, err);
    if (status == RS_OK) status = rs_example_kernels_add(m, procs, row, &members, &parts, zero, err);
    if (status == RS_OK && m->procs[*proc].lost) m->procs[*proc].complete = false;
    rs_example_parts_free(&parts);
    rs_example_members_free(&members);
    return status;
}

static enum rs_status note_losses(struct rs_model *m, uint32_t first_proc, struct rs_err *err)
{
    uint64_t lost = 0;
    uint32_t of = 0;
    for (uint32_t i = first_proc; i < m->nprocs; i++) {
        lost += m->procs[i].lost;
        of += m->procs[i].lost > 0;
    }
    if (!lost) return RS_OK;
    return rs_model_note(m, err,
                         "example profiler: %llu call%s of %u process%s without the operation: its pools were full "
                         "(NCCL_PROFILE_COLL_POOL_SIZE, NCCL_PROFILE_P2P_POOL_SIZE...)",
                         (unsigned long long)lost, lost == 1 ? "" : "s", of, of == 1 ? "" : "es");
}

enum rs_status rs_example_to_model(struct rs_model *m, struct rs_example_procs *procs, uint32_t *proc_of,
                                   struct rs_err *err)
{
    uint32_t first_proc = m->nprocs, first_part = m->parts.n, proc;
    RS_TRY(rs_example_procs_finish(procs, err));
    int64_t zero = rs_example_kernels_zero(procs);
    for (uint32_t i = 0; i < procs->n; i++) {
        RS_TRY(fill_proc(m, procs, &procs->rows[i], zero, &proc, err));
        for (uint32_t k = 0; k < procs->rows[i].n; k++) proc_of[procs->rows[i].dumps[k]] = proc;
    }
    RS_TRY(rs_example_number_calls(m, first_part, err));
    return note_losses(m, first_proc, err);
}
