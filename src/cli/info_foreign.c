#include "cli/info_foreign.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"
#include "cli/notes.h"
#include "cli/print/output.h"
#include "cli/print/screen.h"
#include "cli/print/table.h"
#include "cli/reading.h"
#include "fields/info.h"
#include "fields/process.h"
#include "foreign/formats.h"
#include "import/import.h"
#include "join/join.h"
#include "join/overlay.h"
#include "join/ranks.h"

/* ---- the ranks of the job, and what processes contain ---- */

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

enum { MOST_ROWS = 40 }; /* of files, and of processes, in the text; --json has them all */

/* ---- text ---- */

static void print_table(struct rs_table *t)
{
    rs_table_print(t, "", stdout);
    rs_table_free(t);
}

static void print_files(const struct rs_inputs *in)
{
    struct rs_table t = {0};
    rs_table_column(&t, RS_LEFT, RS_H_FILE);
    rs_table_column(&t, RS_LEFT, RS_H_FORMAT);
    rs_table_column(&t, RS_LEFT, RS_H_READ);
    for (size_t i = 0; i < in->nothers && i < MOST_ROWS; i++) {
        rs_table_cell(&t, "%s", in->others[i].path);
        rs_table_cell(&t, "%s", rs_format_at(in->others[i].format)->what);
        rs_table_cell(&t, "%s", in->others[i].complete ? "completely" : "in part");
    }
    print_table(&t);
    if (in->nothers > MOST_ROWS) rs_screen_print("and %zu more (--json has all)\n", in->nothers - MOST_ROWS);
}

/* The columns of counts: those with nothing in any row are left out. */
enum { COUNTS = 8 };
static const enum rs_heading counted[COUNTS] = {RS_H_COLLECTIVES, RS_H_SENDS,  RS_H_COMPUTE_KERNELS, RS_H_COMM_KERNELS,
                                                RS_H_COPIES,      RS_H_RANGES, RS_H_HOST_CALLS,      RS_H_STATISTICS};

static void counts_of(const struct rs_holding *h, uint64_t *n)
{
    const uint64_t *k = h->kinds;
    const uint64_t all[COUNTS] = {h->colls + h->calls,
                                  h->p2ps,
                                  k[RS_ACT_COMPUTE],
                                  k[RS_ACT_COMM],
                                  k[RS_ACT_COPY] + k[RS_ACT_SET],
                                  k[RS_ACT_RANGE] + k[RS_ACT_STEP],
                                  k[RS_ACT_LAUNCH] + k[RS_ACT_SYNC] + k[RS_ACT_MEMORY] + k[RS_ACT_CALL],
                                  h->stats};
    memcpy(n, all, sizeof all);
}

static void print_processes(const struct rs_model *m, uint32_t first, const struct rs_holding *all)
{
    struct rs_table t = {0};
    uint64_t n[COUNTS], any[COUNTS] = {0};
    for (uint32_t i = first; i < m->nprocs; i++) {
        counts_of(&all[i], n);
        for (int k = 0; k < COUNTS; k++) any[k] |= n[k];
    }
    rs_table_column(&t, RS_LEFT, RS_H_PROCESS);
    rs_table_column(&t, RS_RIGHT, RS_H_RANK);
    for (int k = 0; k < COUNTS; k++)
        if (any[k]) rs_table_column(&t, RS_RIGHT, counted[k]);
    rs_table_column(&t, RS_RIGHT, RS_H_SPAN);
    for (uint32_t i = first; i < m->nprocs && i - first < MOST_ROWS; i++) {
        const struct rs_holding *h = &all[i];
        const char *host = rs_host_label(m, m->procs[i].host); /* where none is known, it may be the pid itself */
        char pid[24];
        snprintf(pid, sizeof pid, "pid %" PRIu32, m->procs[i].pid);
        bool both = m->procs[i].pid && strcmp(host, pid) != 0;
        rs_table_cell(&t, "%s%s%s", host, both ? ", " : "", both ? pid : "");
        if (h->rank >= 0)
            rs_table_cell(&t, "%" PRId32, h->rank);
        else
            rs_table_cell(&t, "?");
        counts_of(h, n);
        for (int k = 0; k < COUNTS; k++)
            if (any[k]) rs_table_cell(&t, "%s", n[k] ? rs_text_count(n[k]).s : "-");
        rs_table_cell(&t, "%s", h->from == RS_TIME_NONE ? "no times" : rs_text_ns(rs_time_minus(h->to, h->from)).s);
    }
    rs_screen_print("\n");
    print_table(&t);
    if (m->nprocs - first > MOST_ROWS) rs_screen_print("and %u more (--json has all)\n", m->nprocs - first - MOST_ROWS);
}

void rs_info_others_print(const struct rs_inputs *in, const struct rs_info_who *who, bool alone)
{
    const struct rs_model *m = &who->model;
    if (!alone) rs_screen_print("\n");
    uint32_t first = (uint32_t)in->n, n = m->nprocs - first, comms = 0;
    for (uint32_t i = 0; i < m->ncomms; i++) comms += !rs_tool_has(m->comms[i].tool, RS_CAP_OWN);
    rs_screen_print("%zu file%s of other tools: %u process%s", in->nothers, in->nothers == 1 ? "" : "s", n,
                    n == 1 ? "" : "es");
    if (alone && m->nranks) {
        rs_screen_print(", %u rank%s", m->nranks, m->nranks == 1 ? "" : "s");
        if (m->world > 0 && (uint32_t)m->world > m->nranks) rs_screen_print(" of %" PRId32, m->world);
    }
    if (comms) rs_screen_print(", %u communicator%s", comms, comms == 1 ? "" : "s");
    rs_screen_print("\n\n");
    print_files(in);
    print_processes(m, first, who->held);
    if (in->nleft_out)
        rs_screen_print("\n%zu more file%s in the folder%s not in a format that ringscope reads.\n", in->nleft_out,
                        in->nleft_out == 1 ? "" : "s", in->nleft_out == 1 ? " is" : " are");
    rs_screen_print("\n`ringscope explain FILE` reports what a file contains, what is missing, and why.\n");
}

/* ---- JSON ---- */

void rs_info_others_inputs_json(struct rs_json *j, const struct rs_inputs *in)
{
    for (size_t i = 0; i < in->nothers; i++) {
        const struct rs_other *o = &in->others[i];
        struct rs_input_row row = {
            .path = o->path,
            .format = rs_tool_name((uint8_t)rs_format_at(o->format)->tool),
            .complete = o->complete,
            .why = o->why[0] ? o->why : NULL,
        };
        rs_out_json(j, &rs_out_input, &row);
    }
}

static void events_json(struct rs_json *j, const struct rs_holding *h)
{
    rs_json_object(j);
    if (h->colls) rs_json_key_u64(j, "Coll", h->colls);
    if (h->p2ps) rs_json_key_u64(j, "P2p", h->p2ps);
    if (h->calls) rs_json_key_u64(j, "CollApi", h->calls);
    for (uint8_t k = 0; k < RS_ACTIVITY_KINDS; k++)
        if (h->kinds[k]) rs_json_key_u64(j, rs_activity_kind_name(k), h->kinds[k]);
    if (h->stats) rs_json_key_u64(j, "statistics", h->stats);
    rs_json_end(j);
}

static void process_part(struct rs_json *j, const struct rs_process_row *row, enum rs_process_part part)
{
    if (part == RS_PROCESS_EVENTS) events_json(j, row->of); /* the only part that other tools record */
}

static void process_json(struct rs_json *j, const struct rs_model *m, uint32_t proc, const struct rs_holding *h)
{
    const struct rs_proc *p = &m->procs[proc];
    struct rs_process_row row = {
        .host = rs_host_name(m, p->host),
        .pid = p->pid,
        .rank = h->rank,
        .tool = rs_tool_name(p->tool),
        .path = p->path,
        .complete = p->complete,
        .from = h->from,
        .to = h->to,
        .nccl_version = p->nccl_version,
        .write = process_part,
        .of = h,
    };
    rs_out_json(j, &rs_out_process, &row);
}

void rs_info_others_processes_json(struct rs_json *j, const struct rs_inputs *in, const struct rs_info_who *who)
{
    for (uint32_t i = (uint32_t)in->n; i < who->model.nprocs; i++) process_json(j, &who->model, i, &who->held[i]);
}

static void add(struct rs_holding *to, const struct rs_holding *h)
{
    to->colls += h->colls;
    to->p2ps += h->p2ps;
    to->calls += h->calls;
    to->stats += h->stats;
    for (int k = 0; k < RS_ACTIVITY_KINDS; k++) to->kinds[k] += h->kinds[k];
}

void rs_info_others_json(struct rs_json *j, const struct rs_inputs *in, const struct rs_info_who *who)
{
    const struct rs_model *m = &who->model;
    struct rs_holding sum = {.from = RS_TIME_NONE, .to = RS_TIME_NONE};
    const char *version = m->nprocs ? m->procs[0].nccl_version : NULL;
    for (uint32_t i = 0; i < m->nprocs; i++) {
        add(&sum, &who->held[i]);
        const char *v = m->procs[i].nccl_version;
        if (!v || !version || strcmp(v, version)) version = NULL;
    }
    uint32_t hosts = 0;
    for (uint32_t i = 0; i < m->nhosts; i++) hosts += rs_host_name(m, i) != NULL;
    rs_json_object(j);
    rs_json_key_u64(j, "processes", m->nprocs);
    rs_json_key_number_or_null(j, "ranks", m->nranks ? (int64_t)m->nranks : -1);
    rs_json_key_number_or_null(j, "hosts", hosts ? (int64_t)hosts : -1);
    rs_json_key_u64(j, "communicators", m->ncomms);
    rs_json_key_number_or_null(j, "world_size", m->world);
    rs_json_key_null(j, "callbacks"); /* only a recording counts them */
    rs_json_key_null(j, "lost");
    rs_json_key_null(j, "overwritten");
    rs_json_key(j, "events");
    events_json(j, &sum);
    rs_json_key_str(j, "nccl_version", version);
    rs_json_key_null(j, "from_ns"); /* clocks are each process's own: see process_list, and `ringscope clocks` */
    rs_json_key_null(j, "to_ns");
    static const char *const empty[] = {"runs", "coverage", "settings_that_differ"};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        rs_json_key(j, empty[i]);
        rs_json_array(j);
        rs_json_end(j);
    }
    rs_json_key(j, "inputs");
    rs_json_array(j);
    rs_info_others_inputs_json(j, in);
    rs_json_end(j);
    rs_json_key_u64(j, "files_left_out", in->nleft_out);
    rs_json_key(j, "notes");
    rs_json_array(j);
    for (uint32_t i = 0; i < m->nnotes; i++)
        rs_out_json(j, &rs_out_note, &(struct rs_note_row){.text = m->notes[i].text});
    rs_json_end(j);
    rs_json_key(j, "process_list");
    rs_json_array(j);
    rs_info_others_processes_json(j, in, who);
    rs_json_end(j);
    rs_json_end(j);
    rs_json_newline(j);
}
