/* Any bytes as a log of nvprof, read and brought into the model as two files of one job. What is read must hang
 * together, and times are never negative. */
#include <stdlib.h>
#include <string.h>

#include "analyse/statistics.h"
#include "foreign/formats.h"
#include "foreign/nvprof/model.h"
#include "join/join.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t looked_at; /* so that everything is */

static void must(int fine)
{
    if (!fine) abort();
}

static void to_model(const struct rs_nvprof *p)
{
    struct rs_model m = {0};
    struct rs_nvprof_places places = {0};
    struct rs_statistics s;
    struct rs_err err;
    for (int i = 0; i < 2; i++) {
        struct rs_other file = {.path = (char *)(i ? "b" : "a")};
        must(rs_nvprof_to_model(&m, &places, &file, p, &err) == RS_OK);
    }
    must(rs_nvprof_trace_parts(&places, &m, &err) == RS_OK);
    for (uint32_t i = 0; i < m.activities.n; i++) {
        must(m.activities.end[i] >= m.activities.start[i] && m.activities.lane[i] < m.nlanes);
        must(m.activities.part[i] == RS_NONE || m.activities.part[i] < m.parts.n);
    }
    must(rs_model_link(&m, &err) == RS_OK && rs_join(&m, true, &err) == RS_OK);
    must(rs_statistics_make(&s, &m, &err) == RS_OK);
    struct rs_strbuf text = {0};
    for (unsigned next = 0; rs_statistics_say(&s, &next, &text);) looked_at += text.len;
    rs_strbuf_free(&text);
    rs_statistics_free(&s);
    rs_nvprof_places_free(&places);
    rs_model_free(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rs_nvprof p;
    struct rs_err err;
    const char *text = (const char *)data;
    looked_at += rs_nvprof_is("", text, size);
    enum rs_status status = rs_nvprof_read_memory(&p, "x", text, size, &err);
    must(status == RS_OK || status == RS_BAD_INPUT);
    for (uint32_t i = 0; i < p.n_processes; i++) looked_at += strlen(p.processes[i].command);
    for (uint32_t i = 0; i < p.n_rows; i++) {
        const struct rs_nvprof_row *r = &p.rows[i];
        must(r->process < p.n_processes && (r->range == RS_NVPROF_NONE || r->range < p.n_ranges));
        must(r->time_ns >= 0 && r->avg_ns >= 0 && r->min_ns >= 0 && r->max_ns >= 0 && r->offset < size);
        looked_at += strlen(r->type) + strlen(r->name);
    }
    for (uint32_t i = 0; i < p.n_ranges; i++) {
        const struct rs_nvprof_range *g = &p.ranges[i];
        must(g->process < p.n_processes && g->time_ns >= 0 && g->gpu_ns >= 0 && g->api_ns >= 0);
        looked_at += strlen(g->thread_name) + strlen(g->domain) + strlen(g->name);
    }
    for (uint32_t i = 0; i < p.n_traces; i++) {
        const struct rs_nvprof_trace *t = &p.traces[i];
        must(t->process < p.n_processes && t->start_ns >= 0 && t->duration_ns >= 0 && t->bytes >= -1);
        looked_at += strlen(t->device_name) + strlen(t->stream_name) + strlen(t->name);
    }
    for (uint32_t i = 0; i < p.n_notes; i++) {
        must(p.notes[i].process == RS_NVPROF_NONE || p.notes[i].process < p.n_processes);
        looked_at += strlen(p.notes[i].text);
    }
    if (status == RS_OK) to_model(&p);
    rs_nvprof_free(&p);
    return 0;
}
