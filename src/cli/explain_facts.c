#include "cli/explain_facts.h"

#include <stdlib.h>

struct rs_file_facts *rs_file_facts_find(const struct rs_model *m)
{
    struct rs_file_facts *all = calloc(m->nprocs + 1, sizeof *all);
    if (!all) return NULL;
    for (uint32_t i = 0; i < m->parts.n; i++) {
        struct rs_file_facts *f = &all[m->members[m->parts.member[i]].proc];
        bool ended = m->parts.end[i] != RS_TIME_NONE, started = m->parts.start[i] != RS_TIME_NONE;
        if (m->parts.kind[i] < 5) f->parts[m->parts.kind[i]]++;
        f->started += started;
        f->ended += ended;
        f->bounded += !ended && started && (m->parts.after[i] != RS_TIME_NONE || m->parts.before[i] != RS_TIME_NONE);
        f->net += (m->parts.flags[i] & RS_PART_NET) != 0;
    }
    for (uint32_t i = 0; i < m->ntags; i++) {
        struct rs_file_facts *f = &all[m->members[m->parts.member[m->tags[i].part]].proc];
        f->timed += m->tags[i].duration_ns != RS_TIME_NONE && m->parts.start[m->tags[i].part] == RS_TIME_NONE;
        f->ids += m->tags[i].has_comms_id;
        f->ids_read += m->tags[i].has_comms_id && m->tags[i].comms_id_read;
    }
    for (uint32_t i = 0; i < m->activities.n; i++)
        all[m->lanes[m->activities.lane[i]].proc].activities[m->activities.kind[i]]++;
    for (uint32_t i = 0; i < m->nstats; i++) all[m->stats[i].proc].stats++;
    for (uint32_t i = 0; i < m->nmembers; i++) {
        all[m->members[i].proc].members++;
        all[m->members[i].proc].made_up += m->comms[m->members[i].comm].made_up;
    }
    return all;
}

void rs_file_facts_add(struct rs_file_facts *sum, const struct rs_file_facts *row)
{
    for (int i = 0; i < 5; i++) sum->parts[i] += row->parts[i];
    for (int i = 0; i < RS_ACTIVITY_KINDS; i++) sum->activities[i] += row->activities[i];
    sum->started += row->started;
    sum->ended += row->ended;
    sum->bounded += row->bounded;
    sum->timed += row->timed;
    sum->ids += row->ids;
    sum->ids_read += row->ids_read;
    sum->net += row->net;
    sum->stats += row->stats;
    sum->members += row->members;
    sum->made_up += row->made_up;
}
