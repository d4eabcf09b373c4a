#include "join/retime.h"

static void move(struct rs_axis *axis, int64_t *t)
{
    *t = rs_axis_common(axis, *t);
}

static void retime_parts(struct rs_model *m)
{
    struct rs_parts *p = &m->parts;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct rs_member *x = &m->members[p->member[i]];
        struct rs_axis *host = &m->domains[rs_member_host_domain(m, p->member[i])].axis;
        struct rs_axis *gpu = x->gpu == RS_NONE ? host : &m->domains[x->gpu].axis;
        move(host, &p->enqueued[i]);
        move(host, &p->launched[i]);
        move(p->start_source[i] == RS_FROM_KERNEL ? gpu : host, &p->start[i]);
        move(p->end_source[i] == RS_FROM_KERNEL ? gpu : host, &p->end[i]);
        move(p->after_source[i] == RS_FROM_KERNEL ? gpu : host, &p->after[i]);
        move(host, &p->before[i]);
    }
}

static void retime_activities(struct rs_model *m)
{
    struct rs_activities *a = &m->activities;
    for (uint32_t i = 0; i < a->n; i++) {
        struct rs_axis *axis = &m->domains[m->lanes[a->lane[i]].domain].axis;
        move(axis, &a->start[i]);
        move(axis, &a->end[i]);
    }
}

static void retime_proc(struct rs_model *m, struct rs_proc *p)
{
    struct rs_axis *host = &m->domains[m->hosts[p->host].domain].axis;
    move(host, &p->begin);
    move(host, &p->end);
    move(host, &p->first);
    move(host, &p->last);
    move(host, &p->overwritten_until);
    move(host, &p->cut_until);
    for (uint32_t i = 0; i < p->ncovers; i++) {
        move(host, &p->covers[i].from);
        if (p->covers[i].to != INT64_MAX) move(host, &p->covers[i].to); /* it has no end */
    }
    for (uint32_t i = 0; i < p->ngaps; i++) {
        move(host, &p->gaps[i].from);
        move(host, &p->gaps[i].to);
    }
}

void rs_retime(struct rs_model *m)
{
    retime_parts(m);
    retime_activities(m);
    for (uint32_t i = 0; i < m->nprocs; i++) retime_proc(m, &m->procs[i]);
    for (uint32_t i = 0; i < m->nmembers; i++) {
        struct rs_axis *host = &m->domains[rs_member_host_domain(m, i)].axis;
        move(host, &m->members[i].created);
        move(host, &m->members[i].destroyed);
    }
    for (uint32_t i = 0; i < m->nopens; i++)
        move(&m->domains[m->hosts[m->procs[m->opens[i].proc].host].domain].axis, &m->opens[i].since);
    for (uint32_t i = 0; i < m->nnets; i++) {
        struct rs_axis *host = &m->domains[rs_member_host_domain(m, m->nets[i].member)].axis;
        move(host, &m->nets[i].from);
        move(host, &m->nets[i].to);
    }
}
