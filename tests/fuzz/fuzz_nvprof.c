/* Any bytes as a log of nvprof. What is read must hang together, and times are never negative. */
#include <stdlib.h>
#include <string.h>

#include "import/nvprof.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t looked_at; /* so that everything is */

static void must(int fine)
{
    if (!fine) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rs_nvprof p;
    struct rs_err err;
    const char *text = (const char *)data;
    looked_at += rs_nvprof_recognise(text, size);
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
    rs_nvprof_free(&p);
    return 0;
}
