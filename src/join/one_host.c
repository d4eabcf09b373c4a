#include "join/one_host.h"

#include <stdlib.h>
#include <string.h>

/* Hosts without a name, as far as their processes give wall time, become the first of them. */
static void take_as_one(struct rs_model *m, uint32_t *host_of)
{
    uint32_t first = RS_NONE;
    for (uint32_t i = 0; i < m->nprocs; i++) {
        uint32_t host = m->procs[i].host;
        if (host == first || *m->hosts[host].name || m->procs[i].begin < RS_TIME_WALL) continue;
        if (first == RS_NONE) m->hosts[first = host].name = "host"; /* the file of one of them is no name for all */
        host_of[host] = first;
    }
    for (uint32_t i = 0; i < m->nprocs; i++) m->procs[i].host = host_of[m->procs[i].host];
}

/* Which clock stands for each: a host's for that of its own host, the first rigid one of a host for all of it. */
static void find_clocks(struct rs_model *m, const uint32_t *host_of, uint32_t *rigid, uint32_t *clock_of)
{
    for (uint32_t i = 0; i < m->nhosts; i++) rigid[i] = RS_NONE;
    for (uint32_t i = 0; i < m->ndomains; i++) {
        struct rs_domain *d = &m->domains[i];
        d->host = host_of[d->host];
        clock_of[i] = i;
        if (d->kind == RS_DOMAIN_HOST) {
            clock_of[i] = m->hosts[d->host].domain;
            continue;
        }
        d->host_domain = m->hosts[d->host].domain;
        if (!d->rigid || memcmp(d->uuid, (const uint8_t[16]){0}, sizeof d->uuid))
            continue; /* one that is known by itself */
        if (rigid[d->host] == RS_NONE) rigid[d->host] = i;
        clock_of[i] = rigid[d->host];
    }
}

enum rs_status rs_one_host(struct rs_model *m, bool same_host, struct rs_err *err)
{
    uint32_t *host_of = calloc((size_t)m->nhosts + 1, sizeof *host_of);
    uint32_t *rigid = calloc((size_t)m->nhosts + 1, sizeof *rigid);
    uint32_t *clock_of = calloc((size_t)m->ndomains + 1, sizeof *clock_of);
    bool room = host_of && rigid && clock_of;
    if (room) {
        for (uint32_t i = 0; i < m->nhosts; i++) host_of[i] = i;
        if (same_host) take_as_one(m, host_of);
        find_clocks(m, host_of, rigid, clock_of);
        for (uint32_t i = 0; i < m->nmembers; i++)
            if (m->members[i].gpu != RS_NONE) m->members[i].gpu = clock_of[m->members[i].gpu];
        for (uint32_t i = 0; i < m->nlanes; i++)
            if (m->lanes[i].domain < m->ndomains) m->lanes[i].domain = clock_of[m->lanes[i].domain];
    }
    free(host_of);
    free(rigid);
    free(clock_of);
    return room ? RS_OK : rs_fail(err, RS_NO_MEMORY, "out of memory");
}
