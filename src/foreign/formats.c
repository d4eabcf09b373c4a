#include "foreign/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "foreign/fills.h"

static const struct rs_format formats[] = {
    {"nsys-sqlite", "Nsight Systems SQLite export", RS_TOOL_NSYS, rs_nsys_is, rs_nsys_fill},
    {"flight-recorder", "PyTorch Flight Recorder dump", RS_TOOL_FLIGHT, rs_flight_fits, rs_flight_fill},
    {"kineto", "PyTorch profiler trace (Kineto)", RS_TOOL_KINETO, rs_kineto_is, rs_kineto_fill},
    {"example-profiler", "dump of NCCL's example profiler", RS_TOOL_EXAMPLE, rs_example_is, rs_example_fill},
    {"inspector", "NCCL Inspector log", RS_TOOL_INSPECTOR, rs_inspector_fits, rs_inspector_fill},
    {"comma", "CoMMA latency file", RS_TOOL_COMMA, rs_comma_fits, rs_comma_fill},
    {"ncclsee", "ncclsee CSV", RS_TOOL_NCCLSEE, rs_ncclsee_fits, rs_ncclsee_fill},
    {"nvprof", "nvprof log", RS_TOOL_NVPROF, rs_nvprof_fits, rs_nvprof_fill},
};
enum { FORMATS = sizeof formats / sizeof *formats };

const struct rs_format *rs_format_at(int index)
{
    return index >= 0 && index < FORMATS ? &formats[index] : NULL;
}

/* -1: of none. `why` says what kept the file from being looked at, where something did. */
static int format_of(const char *path, char *head, struct rs_err *why)
{
    struct rs_bytes *bytes;
    why->code = RS_OK;
    if (rs_bytes_open(&bytes, path, why) != RS_OK) return -1;
    size_t n = rs_bytes_peek(bytes, head, RS_FORMAT_HEAD);
    rs_bytes_close(bytes);
    for (int i = 0; i < FORMATS; i++)
        if (formats[i].is(path, head, n)) return i;
    rs_fail(why, RS_BAD_INPUT,
            n ? "%s: no trace that ringscope knows (`ringscope explain formats` lists them)" : "%s: the file is empty",
            path);
    return -1;
}

enum rs_status rs_formats_recognise(struct rs_inputs *in, struct rs_err *err)
{
    char *head = malloc(RS_FORMAT_HEAD);
    if (!head) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    size_t kept = 0;
    enum rs_status status = RS_OK;
    for (size_t i = 0; i < in->nothers; i++) {
        struct rs_other *o = &in->others[i];
        struct rs_err why;
        o->format = format_of(o->path, head, &why);
        if (o->format < 0 && o->named && status == RS_OK) status = rs_inputs_unreadable(in, o->path, why.msg, err);
        in->nleft_out += o->format < 0 && !o->named;
        if (o->format < 0)
            free(o->path);
        else
            in->others[kept++] = *o;
    }
    in->nothers = kept;
    free(head);
    if (status != RS_OK || in->n || kept) return status;
    if (in->nunreadable) return rs_fail(err, RS_BAD_INPUT, "%s", in->unreadable[0].why);
    return rs_fail(err, RS_BAD_INPUT, "no recording (*.rsc) and no trace that ringscope knows among %zu files",
                   in->nleft_out);
}

enum rs_status rs_formats_fill(struct rs_model *m, struct rs_inputs *in, void (*progress)(size_t done, size_t all),
                               struct rs_err *err)
{
    if (!in->nothers) return RS_OK;
    struct rs_other **files = calloc(in->nothers, sizeof *files);
    if (!files) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    enum rs_status status = RS_OK;
    for (int f = 0; f < FORMATS && status == RS_OK; f++) {
        struct rs_fill fill = {.model = m, .files = files, .progress = progress};
        for (size_t i = 0; i < in->nothers; i++) {
            if (in->others[i].format != f) continue;
            in->others[i].complete = true;
            files[fill.n++] = &in->others[i];
        }
        if (fill.n) status = formats[f].fill(&fill, err);
    }
    free(files);
    return status;
}
