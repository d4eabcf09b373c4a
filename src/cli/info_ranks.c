#include "cli/info_ranks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/notes.h"
#include "cli/output.h"
#include "cli/reading.h"
#include "foreign/formats.h"
#include "import/import.h"
#include "join/join.h"
#include "join/ranks.h"

static void take_time(struct rs_holding *h, int64_t t)
{
    if (t == RS_TIME_NONE) return;
    if (h->from == RS_TIME_NONE || t < h->from) h->from = t;
    if (h->to == RS_TIME_NONE || t > h->to) h->to = t;
}

/* By process. */
static struct rs_holding *count(const struct rs_model *m)
{
    struct rs_holding *all = rs_zalloc((size_t)m->nprocs + 1, sizeof *all);
    for (uint32_t i = 0; all && i < m->nprocs; i++) {
        all[i].from = all[i].to = RS_TIME_NONE;
        all[i].rank = -1;
        take_time(&all[i], m->procs[i].first);
        take_time(&all[i], m->procs[i].last);
    }
    for (uint32_t i = 0; all && i < m->parts.n; i++) {
        struct rs_holding *h = &all[m->members[m->parts.member[i]].proc];
        uint8_t kind = m->parts.kind[i];
        ++*(kind == RS_PART_SEND || kind == RS_PART_RECV ? &h->p2ps : kind == RS_PART_API ? &h->calls : &h->colls);
    }
    for (uint32_t i = 0; all && i < m->activities.n; i++) {
        struct rs_holding *h = &all[m->lanes[m->activities.lane[i]].proc];
        h->kinds[m->activities.kind[i]]++;
        h->activities++;
    }
    for (uint32_t i = 0; all && i < m->nstats; i++) all[m->stats[i].proc].stats++;
    return all;
}

/* The numbers of processes that have one rank. */
static void name_ranks(struct rs_info_who *who)
{
    enum { NONE = INT32_MIN, SEVERAL = -2 };
    const struct rs_model *m = &who->model;
    for (uint32_t p = 0; p < m->nprocs; p++) who->held[p].rank = NONE;
    for (uint32_t i = 0; i < m->nranks; i++) {
        int32_t *at = &who->held[m->ranks[i].proc].rank;
        *at = *at == NONE ? m->ranks[i].number : SEVERAL;
    }
    for (uint32_t p = 0; p < m->nprocs; p++)
        if (m->procs[p].same != RS_NONE) who->held[p].rank = who->held[rs_proc_lead(m, p)].rank;
    for (uint32_t p = 0; p < m->nprocs; p++)
        if (who->held[p].rank < 0) who->held[p].rank = -1;
}

static bool has_several_tools(const struct rs_inputs *in)
{
    for (size_t i = 0; i < in->nothers; i++)
        if (in->n || in->others[i].format != in->others[0].format) return true;
    return false;
}

static enum rs_status read_all(struct rs_info_who *who, struct rs_inputs *in, struct rs_err *err)
{
    struct rs_model *m = &who->model;
    bool several = has_several_tools(in);
    if (several)
        RS_TRY(rs_import(m, in, rs_reading_progress, err));
    else
        rs_import_facts(m, in);
    if (in->nothers) RS_TRY(rs_formats_fill(m, in, rs_reading_progress, err));
    rs_model_link(m);
    who->held = count(m);
    if (!who->held) rs_memory_out();
    if (several) return rs_join(m, true, err);
    rs_ranks_settle(m);
    return RS_OK;
}

int rs_info_who_read(const struct rs_command *cmd, struct rs_inputs *in, struct rs_info_who *who)
{
    struct rs_err err;
    *who = (struct rs_info_who){0};
    enum rs_status status = read_all(who, in, &err);
    if (in->nothers) rs_notes_say(cmd->name, in, &who->model, true);
    if (status != RS_OK) return rs_print_err(cmd->name, &err);
    name_ranks(who);
    return 0;
}

void rs_info_who_free(struct rs_info_who *who)
{
    rs_model_free(&who->model);
    free(who->held);
    *who = (struct rs_info_who){0};
}

void rs_info_ranks_text(const struct rs_model *m, uint32_t proc, char *to, size_t bytes)
{
    size_t at = 0;
    proc = rs_proc_lead(m, proc);
    snprintf(to, bytes, "?");
    for (uint32_t i = 0; i < m->nranks && at + 16 < bytes; i++)
        if (m->ranks[i].number >= 0 && m->ranks[i].proc == proc)
            at += (size_t)snprintf(to + at, bytes - at, "%s%" PRId32, at ? " " : "", m->ranks[i].number);
}
