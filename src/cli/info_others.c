#include "cli/info_others.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/model_json.h"
#include "cli/output.h"
#include "cli/table.h"
#include "fields/process.h"
#include "foreign/formats.h"
#include "join/overlay.h"

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
    rs_table_column(&t, RS_LEFT, "file");
    rs_table_column(&t, RS_LEFT, "format");
    rs_table_column(&t, RS_LEFT, "read");
    for (size_t i = 0; i < in->nothers && i < MOST_ROWS; i++) {
        rs_table_cell(&t, "%s", in->others[i].path);
        rs_table_cell(&t, "%s", rs_format_at(in->others[i].format)->what);
        rs_table_cell(&t, "%s", in->others[i].complete ? "whole" : "in part");
    }
    print_table(&t);
    if (in->nothers > MOST_ROWS) printf("and %zu more (--json has all)\n", in->nothers - MOST_ROWS);
}

/* The columns of counts: those with nothing in any row are left out. */
enum { COUNTS = 8 };
static const char *const counted[COUNTS] = {"collectives", "sends, receives", "compute kernels", "comm kernels",
                                            "copies",      "ranges",          "host calls",      "statistics"};

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
    rs_table_column(&t, RS_LEFT, "process");
    rs_table_column(&t, RS_RIGHT, "rank");
    for (int k = 0; k < COUNTS; k++)
        if (any[k]) rs_table_column(&t, RS_RIGHT, counted[k]);
    rs_table_column(&t, RS_RIGHT, "span");
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
    printf("\n");
    print_table(&t);
    if (m->nprocs - first > MOST_ROWS) printf("and %u more (--json has all)\n", m->nprocs - first - MOST_ROWS);
}

void rs_info_others_print(const struct rs_inputs *in, const struct rs_info_who *who, bool alone)
{
    const struct rs_model *m = &who->model;
    if (!alone) printf("\n");
    uint32_t first = (uint32_t)in->n, n = m->nprocs - first, comms = 0;
    for (uint32_t i = 0; i < m->ncomms; i++) comms += !rs_tool_has(m->comms[i].tool, RS_CAP_OWN);
    printf("%zu file%s of other tools: %u process%s", in->nothers, in->nothers == 1 ? "" : "s", n, n == 1 ? "" : "es");
    if (alone && m->nranks) {
        printf(", %u rank%s", m->nranks, m->nranks == 1 ? "" : "s");
        if (m->world > 0 && (uint32_t)m->world > m->nranks) printf(" of %" PRId32, m->world);
    }
    if (comms) printf(", %u communicator%s", comms, comms == 1 ? "" : "s");
    printf("\n\n");
    print_files(in);
    print_processes(m, first, who->held);
    if (in->nleft_out)
        printf("\n%zu more file%s in the folder%s no trace that ringscope knows.\n", in->nleft_out,
               in->nleft_out == 1 ? "" : "s", in->nleft_out == 1 ? " is" : " are");
    printf("\n`ringscope explain FILE` says what a file holds, what it lacks, and why.\n");
}

/* ---- JSON ---- */

void rs_info_others_inputs_json(struct rs_json *j, const struct rs_inputs *in)
{
    for (size_t i = 0; i < in->nothers; i++) {
        const struct rs_other *o = &in->others[i];
        rs_json_object(j);
        rs_json_key_str(j, "path", o->path);
        rs_json_key_str(j, "format", rs_tool_name((uint8_t)rs_format_at(o->format)->tool));
        rs_json_key_bool(j, "complete", o->complete);
        rs_json_key_null(j, "crash_safe");
        rs_json_key_str(j, "why", o->why[0] ? o->why : NULL);
        rs_json_end(j);
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
    if (part == RS_PROCESS_EVENTS) events_json(j, row->of); /* nothing else is told of other tools */
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
    for (uint32_t i = 0; i < m->nnotes; i++) {
        rs_json_object(j);
        rs_json_key_str(j, "text", m->notes[i].text);
        rs_json_end(j);
    }
    rs_json_end(j);
    rs_json_key(j, "process_list");
    rs_json_array(j);
    rs_info_others_processes_json(j, in, who);
    rs_json_end(j);
    rs_json_end(j);
    rs_json_newline(j);
}
