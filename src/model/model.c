#include "model/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/room.h"

/* ---- tables ---- */

/* A new zeroed row of a table of the model. */
#define ADD(m, name, index)                                                                                            \
    do {                                                                                                               \
        RS_ROOM((m)->name, (m)->n##name, (m)->cap_##name);                                                             \
        *(index) = (m)->n##name++;                                                                                     \
        memset(&(m)->name[*(index)], 0, sizeof *(m)->name);                                                            \
    } while (0)

void rs_model_free(struct rs_model *m)
{
    for (uint32_t i = 0; i < m->ndomains; i++) free(m->domains[i].bounds);
    for (uint32_t i = 0; i < m->nprocs; i++) {
        free(m->procs[i].covers);
        free(m->procs[i].gaps);
        free(m->procs[i].callers);
        free(m->procs[i].stale);
    }
    rs_parts_free(&m->parts);
    rs_ops_free(&m->ops);
    rs_texts_free(&m->strings);
    rs_texts_free(&m->names);
    rs_map_free(&m->comm_index);
    rs_map_free(&m->member_index);
    rs_activities_free(&m->activities);
    free(m->domains);
    free(m->hosts);
    free(m->procs);
    free(m->comms);
    free(m->members);
    free(m->ranks);
    free(m->classes);
    free(m->opens);
    free(m->nets);
    free(m->net_samples);
    free(m->lanes);
    free(m->stats);
    free(m->metrics);
    free(m->tags);
    free(m->cut_numbers);
    free(m->spots);
    free(m->answers);
    free(m->conditions);
    free(m->progress);
    free(m->notes);
    free(m->order);
    rs_arena_free(&m->arena);
    *m = (struct rs_model){0};
}

/* ---- rows ---- */

static void add_domain(struct rs_model *m, enum rs_domain_kind kind, uint32_t host, uint32_t *index)
{
    ADD(m, domains, index);
    struct rs_domain *d = &m->domains[*index];
    d->kind = kind;
    d->host = host;
    d->host_domain = kind == RS_DOMAIN_HOST ? *index : m->hosts[host].domain;
    d->error_ns = d->spread_ns = d->hull_low_ns = d->hull_high_ns = RS_TIME_NONE;
    d->island = *index;
}

static void keep_text(struct rs_model *m, const char *text, const char **copy)
{
    *copy = rs_arena_text(&m->arena, text, strlen(text));
}

void rs_model_host(struct rs_model *m, const char *name, const char *boot, uint32_t *index)
{
    for (uint32_t i = 0; i < m->nhosts; i++) /* hosts are few */
        if (!strcmp(m->hosts[m->nhosts - 1 - i].boot, boot)) {
            *index = m->nhosts - 1 - i;
            return;
        }
    ADD(m, hosts, index);
    keep_text(m, name, &m->hosts[*index].name);
    keep_text(m, boot, &m->hosts[*index].boot);
    uint32_t domain;
    add_domain(m, RS_DOMAIN_HOST, *index, &domain);
    m->hosts[*index].domain = domain;
}

void rs_model_gpu(struct rs_model *m, uint32_t host, const uint8_t uuid[16], uint32_t *domain)
{
    static const uint8_t none[16];
    bool known = memcmp(uuid, none, sizeof none) != 0;
    for (uint32_t i = m->ndomains; known && i-- > 0;) {
        const struct rs_domain *d = &m->domains[i];
        if (d->kind != RS_DOMAIN_GPU || d->host != host || memcmp(d->uuid, uuid, sizeof d->uuid)) continue;
        *domain = i;
        return;
    }
    add_domain(m, RS_DOMAIN_GPU, host, domain);
    memcpy(m->domains[*domain].uuid, uuid, sizeof m->domains[*domain].uuid);
}

void rs_model_proc(struct rs_model *m, uint32_t *index)
{
    ADD(m, procs, index);
    struct rs_proc *p = &m->procs[*index];
    p->launcher_rank = -1;
    p->same = RS_NONE;
    p->first = p->last = p->overwritten_until = p->cut_until = RS_TIME_NONE;
}

void rs_proc_set_stale(struct rs_proc *p, uint64_t timer)
{
    size_t n = p->nstale ? p->nstale : 1;
    while (n <= timer / 64) n *= 2;
    if (n > p->nstale) {
        uint64_t *bits = rs_realloc(p->stale, n * sizeof *bits);
        memset(bits + p->nstale, 0, (n - p->nstale) * sizeof *bits);
        p->stale = bits;
        p->nstale = n;
    }
    p->stale[timer / 64] |= UINT64_C(1) << timer % 64;
}

/* Every tool has its own communicators; the join merges them. */
static uint64_t comm_key(uint8_t tool, uint64_t hash)
{
    return hash + tool * UINT64_C(0x9e3779b97f4a7c15);
}

static void add_comm(struct rs_model *m, uint8_t tool, uint64_t hash, uint32_t *index)
{
    ADD(m, comms, index);
    struct rs_comm_row *c = &m->comms[*index];
    c->hash = hash;
    c->tool = tool;
    c->nranks = c->nnodes = -1;
    c->first_member = c->parent.comm = c->class = c->over = c->view = RS_NONE;
    if (!hash) return;
    uint64_t *newest;
    rs_map_at(&m->comm_index, comm_key(tool, hash), *index, &newest);
    if (*newest != *index) c->incarnation = m->comms[*newest].incarnation + 1;
    *newest = *index;
}

void rs_model_comm(struct rs_model *m, uint64_t hash, uint32_t *index)
{
    add_comm(m, 0, hash, index);
}

void rs_model_comm_of(struct rs_model *m, enum rs_tool tool, uint64_t hash, uint32_t *index)
{
    uint64_t known = hash ? rs_map_get(&m->comm_index, comm_key((uint8_t)tool, hash), RS_NONE) : RS_NONE;
    *index = (uint32_t)known;
    if (!(known != RS_NONE)) add_comm(m, (uint8_t)tool, hash, index);
}

void rs_model_member(struct rs_model *m, uint32_t comm, uint32_t *index)
{
    ADD(m, members, index);
    struct rs_member *x = &m->members[*index];
    x->comm = comm;
    x->rank = x->global_rank = x->device = -1;
    x->gpu = x->next = x->rank_id = x->place = RS_NONE;
    x->created = x->destroyed = RS_TIME_NONE;
}

void rs_model_rank(struct rs_model *m, uint32_t *index)
{
    ADD(m, ranks, index);
    m->ranks[*index] = (struct rs_rank){
        .number = -1, .proc = RS_NONE, .host = RS_NONE, .member = RS_NONE, .gpu = RS_NONE, .device = -1};
}

void rs_model_class(struct rs_model *m, uint32_t *index)
{
    ADD(m, classes, index);
}

void rs_model_open(struct rs_model *m, const struct rs_open *row)
{
    uint32_t i;
    ADD(m, opens, &i);
    m->opens[i] = *row;
}

void rs_model_net(struct rs_model *m, const struct rs_net *row)
{
    uint32_t i;
    ADD(m, nets, &i);
    m->nets[i] = *row;
}

void rs_model_net_sample(struct rs_model *m, const struct rs_net_sample *row)
{
    uint32_t i;
    ADD(m, net_samples, &i);
    m->net_samples[i] = *row;
}

void rs_model_order(struct rs_model *m, uint32_t part)
{
    uint32_t i;
    ADD(m, order, &i);
    m->order[i] = part;
}

static int by_comm_and_rank(const void *a, const void *b, void *of)
{
    const struct rs_model *m = of;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct rs_member *x = &m->members[i], *y = &m->members[j];
    if (x->comm != y->comm) return x->comm < y->comm ? -1 : 1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return i < j ? -1 : i > j;
}

/* Removes communicators without members: with v1 to v3 they turned out to be others. */
static void drop_empty_comms(struct rs_model *m)
{
    uint32_t *moved = rs_zalloc(m->ncomms + 1, sizeof *moved), kept = 0;
    for (uint32_t i = 0; i < m->nmembers; i++) moved[m->members[i].comm] = 1;
    for (uint32_t i = 0; i < m->nconditions; i++) moved[m->conditions[i].comm] = 1;
    for (uint32_t i = 0; i < m->ncomms; i++) {
        if (!moved[i]) continue;
        moved[i] = kept;
        m->comms[kept++] = m->comms[i];
    }
    m->ncomms = kept;
    for (uint32_t i = 0; i < m->nmembers; i++) m->members[i].comm = moved[m->members[i].comm];
    for (uint32_t i = 0; i < m->nconditions; i++) m->conditions[i].comm = moved[m->conditions[i].comm];
    for (uint32_t i = 0; i < m->nprogress; i++) m->progress[i].comm = moved[m->progress[i].comm];
    for (uint32_t i = 0; i < kept; i++)
        if (m->comms[i].hash)
            rs_map_put(&m->comm_index, comm_key(m->comms[i].tool, m->comms[i].hash), i); /* the newest is last */
    free(moved);
}

void rs_model_link(struct rs_model *m)
{
    drop_empty_comms(m);
    if (!m->nmembers) return;
    uint32_t *order = rs_alloc(m->nmembers * sizeof *order);
    for (uint32_t i = 0; i < m->nmembers; i++) order[i] = i;
    qsort_r(order, m->nmembers, sizeof *order, by_comm_and_rank, m);
    for (uint32_t k = m->nmembers; k-- > 0;) {
        struct rs_member *x = &m->members[order[k]];
        struct rs_comm_row *c = &m->comms[x->comm];
        x->next = c->first_member;
        c->first_member = order[k];
        c->nmembers++;
        if (x->rank >= 0) rs_map_put(&m->member_index, (uint64_t)x->comm << 32 | (uint32_t)x->rank, order[k]);
    }
    free(order);
}

/* ---- texts ---- */

void rs_model_string(struct rs_model *m, const char *text, uint16_t *id)
{
    rs_texts_small_id(&m->strings, text, text ? strlen(text) : 0, id);
}

enum rs_status rs_model_note(struct rs_model *m, struct rs_err *err, const char *fmt, ...)
{
    (void)err;
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    uint32_t i;
    ADD(m, notes, &i);
    keep_text(m, text, &m->notes[i].text);
    return RS_OK;
}

/* ---- lookups ---- */

uint32_t rs_comm_member(const struct rs_model *m, uint32_t comm, int32_t rank)
{
    return (uint32_t)rs_map_get(&m->member_index, (uint64_t)comm << 32 | (uint32_t)rank, RS_NONE);
}

uint32_t rs_proc_lead(const struct rs_model *m, uint32_t proc)
{
    for (int hops = 0; hops < RS_TOOLS && m->procs[proc].same < m->nprocs; hops++) proc = m->procs[proc].same;
    return proc;
}

const char *rs_host_name(const struct rs_model *m, uint32_t host)
{
    return *m->hosts[host].name ? m->hosts[host].name : NULL;
}

const char *rs_host_label(const struct rs_model *m, uint32_t host)
{
    const struct rs_host *h = &m->hosts[host];
    const char *slash = strrchr(h->boot, '/'), *colon = strrchr(h->boot, ':');
    if (*h->name) return h->name;
    return slash ? slash + 1 : colon ? colon + 1 : h->boot;
}

static int64_t extreme(const struct rs_model *m, bool last)
{
    int64_t found = RS_TIME_NONE;
    for (uint32_t i = 0; i < m->nprocs; i++) {
        int64_t t = last ? m->procs[i].last : m->procs[i].first;
        if (t != RS_TIME_NONE && (found == RS_TIME_NONE || (last ? t > found : t < found))) found = t;
    }
    return found;
}

int64_t rs_model_begin(const struct rs_model *m)
{
    return m->joined ? m->begin : extreme(m, false);
}

int64_t rs_model_end(const struct rs_model *m)
{
    return m->joined ? m->end : extreme(m, true);
}
