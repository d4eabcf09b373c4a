#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/mix.h"
#include "foreign/formats.h"
#include "foreign/ras/ras.h"

/* All answers together: processes and ranks return in each. */
struct work {
    struct rs_model *m;
    struct rs_map procs; /* host and pid -> process */
    struct rs_map members; /* communicator and rank -> member */
};

struct answer {
    struct rs_other *file;
    struct rs_ras ras;
    bool read;
};

static uint32_t find_proc(struct work *w, const struct rs_ras *r, const struct rs_ras_rank *x, const char *path)
{
    struct rs_model *m = w->m;
    uint64_t *at;
    rs_map_at(&w->procs, rs_mix_text((uint64_t)x->pid, x->host), RS_NONE, &at);
    if (*at != RS_NONE) return (uint32_t)*at;
    uint32_t host, proc;
    char boot[192];
    snprintf(boot, sizeof boot, "ras:%s", x->host);
    rs_model_host(m, x->host, boot, &host);
    rs_model_proc(m, &proc);
    *at = proc;
    struct rs_proc *p = &m->procs[proc];
    p->host = host;
    p->tool = RS_TOOL_RAS;
    p->pid = (uint32_t)x->pid;
    p->path = rs_arena_text(&m->arena, path, strlen(path));
    if (*r->version) p->nccl_version = rs_arena_text(&m->arena, r->version, strlen(r->version));
    p->ended = RS_END_ALIVE; /* whether it answers is in the conditions */
    p->drops = true;
    return proc;
}

/* Ranks of which the process is known are members; of the others there is the number only. */
static void find_member(struct work *w, const struct rs_ras *r, const struct rs_ras_rank *x, uint32_t comm,
                        const char *path)
{
    uint64_t *at;
    if (!*x->host || x->pid <= 0 || x->pid > UINT32_MAX) return;
    rs_map_at(&w->members, (uint64_t)comm << 32 | (uint64_t)x->rank, RS_NONE, &at);
    if (*at != RS_NONE) return;
    uint32_t member;
    rs_model_member(w->m, comm, &member);
    *at = member;
    uint32_t proc = find_proc(w, r, x, path);
    struct rs_member *y = &w->m->members[member];
    y->proc = proc;
    y->rank = (int32_t)x->rank;
    y->device = x->device >= 0 && x->device <= INT32_MAX ? (int32_t)x->device : -1;
}

static uint32_t comm_of(struct work *w, const struct rs_ras_comm *x)
{
    uint32_t comm;
    rs_model_comm_of(w->m, RS_TOOL_RAS, x->hash, &comm);
    struct rs_comm_row *c = &w->m->comms[comm];
    if (c->nranks < 0 && x->size > 0 && x->size < INT32_MAX) c->nranks = (int32_t)x->size;
    return comm;
}

static bool is_rank(const struct rs_ras *r, const struct rs_ras_rank *x)
{
    int64_t size = r->comms[x->comm].size;
    return r->comms[x->comm].hash && x->rank >= 0 && x->rank < (size > 0 ? size : INT32_MAX);
}

static uint8_t error_of(const struct rs_ras_rank *x)
{
    int64_t error = x->init_error ? x->init_error : x->async_error;
    return error > 0 && error < UINT8_MAX ? (uint8_t)error : error ? UINT8_MAX : 0;
}

static void add(struct work *w, const struct answer *a)
{
    struct rs_model *m = w->m;
    const struct rs_ras *r = &a->ras;
    uint32_t answer, *comms = rs_alloc(((size_t)r->n_comms + 1) * sizeof *comms);
    const char *path = rs_arena_text(&m->arena, a->file->path, strlen(a->file->path));
    const char *time = *r->time ? rs_arena_text(&m->arena, r->time, strlen(r->time)) : NULL;
    rs_model_answer(m, &(struct rs_answer){path, time, r->time_s, !r->json}, &answer);
    if (r->gpus > m->least_ranks) m->least_ranks = (int32_t)r->gpus;
    for (uint32_t i = 0; i < r->n_comms; i++) comms[i] = r->comms[i].hash ? comm_of(w, &r->comms[i]) : RS_NONE;
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        const struct rs_ras_rank *x = &r->ranks[i];
        if (!is_rank(r, x)) continue;
        find_member(w, r, x, comms[x->comm], path);
        rs_model_condition(m, &(struct rs_condition){comms[x->comm], (int32_t)x->rank, answer, x->state, error_of(x)});
    }
    for (uint32_t i = 0; i < r->n_counts; i++) {
        const struct rs_ras_count *c = &r->counts[i];
        const struct rs_ras_rank *x = &r->ranks[c->rank];
        if (!is_rank(r, x)) continue;
        struct rs_progress row = {comms[x->comm], (int32_t)x->rank, answer, 0, c->launched};
        if (*c->func) rs_model_string(m, c->func, &row.func);
        rs_model_progress(m, &row);
    }
    free(comms);
}

static int by_time(const void *a, const void *b)
{
    const struct answer *x = a, *y = b;
    if (x->ras.time_s != y->ras.time_s) return x->ras.time_s < y->ras.time_s ? -1 : 1;
    return strcmp(x->file->path, y->file->path);
}

enum rs_status rs_ras_fill(struct rs_fill *fill, struct rs_err *err)
{
    (void)err;
    struct work w = {.m = fill->model};
    struct answer *answers = rs_zalloc(fill->n + 1, sizeof *answers);
    for (size_t i = 0; i < fill->n; i++) {
        struct rs_err why = {0};
        answers[i].file = fill->files[i];
        answers[i].file->proc = RS_NONE;
        answers[i].read = rs_ras_read(&answers[i].ras, fill->files[i]->path, &why) == RS_OK;
        if (answers[i].read) why = answers[i].ras.damage;
        if (why.code != RS_OK) rs_other_incomplete(fill->files[i], &why);
        if (fill->progress) fill->progress(i + 1, fill->n);
    }
    qsort(answers, fill->n, sizeof *answers, by_time);
    for (size_t i = 0; i < fill->n; i++) {
        if (answers[i].read) add(&w, &answers[i]);
        rs_ras_free(&answers[i].ras);
    }
    free(answers);
    rs_map_free(&w.procs);
    rs_map_free(&w.members);
    return RS_OK;
}
