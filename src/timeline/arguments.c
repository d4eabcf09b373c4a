#include "timeline/arguments.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const char *const names[RS_ARGUMENTS] = {
    [RS_ARG_FUNC] = "func",
    [RS_ARG_COUNT] = "count",
    [RS_ARG_DATATYPE] = "datatype",
    [RS_ARG_ROOT] = "root",
    [RS_ARG_STREAM] = "stream",
    [RS_ARG_CAPTURED] = "graphCaptured",
    [RS_ARG_DEPTH] = "groupDepth",
    [RS_ARG_CHUNK] = "chunkSize",
    [RS_ARG_PID] = "pid",
    [RS_ARG_PHASE] = "phaseName",
    [RS_ARG_QP] = "qpNum",
    [RS_ARG_WORK_REQUEST] = "wr_id",
    [RS_ARG_OPCODE] = "opcode",
    [RS_ARG_DEVICE] = "device",
    [RS_ARG_FD] = "fd",
    [RS_ARG_OP] = "op",
    [RS_ARG_ID] = "id",
    [RS_ARG_SYNC] = "syncStrategy",
    [RS_ARG_BATCHES] = "numBatches",
    [RS_ARG_RANKS] = "nRanks",
    [RS_ARG_COMPLETE] = "isComplete",
    [RS_ARG_COPIES] = "numOps",
    [RS_ARG_TOTAL] = "totalBytes",
    [RS_ARG_SEND_BUFFER] = "sendBuff",
    [RS_ARG_RECV_BUFFER] = "recvBuff",
    [RS_ARG_BUFFER] = "buff",
    [RS_ARG_WARPS] = "nWarps",
};

void rs_arguments_init(struct rs_arguments *a)
{
    *a = (struct rs_arguments){0};
    rs_kind_find_fields(names, RS_ARGUMENTS, &a->fields[0][0]);
}

void rs_arguments_free(struct rs_arguments *a)
{
    free(a->texts);
    *a = (struct rs_arguments){0};
}

static const struct rs_field *field_of(const struct rs_arguments *a, const struct rs_event *e, enum rs_argument which)
{
    if (!e->call || !rs_kind_is_start(e->call->kind)) return NULL;
    return a->fields[e->call->kind - RS_K_START][which];
}

int64_t rs_argument(const struct rs_arguments *a, const struct rs_event *e, enum rs_argument which)
{
    const struct rs_field *f = field_of(a, e, which);
    if (!f) return RS_BAR_NO_ARG;
    uint64_t value = rs_callback_field(e->call, f);
    if (f->format == RS_F_INT) return (int64_t)value == INT64_MIN ? RS_BAR_NO_ARG : (int64_t)value;
    if (f->format == RS_F_POINTER && !value) return RS_BAR_NO_ARG;
    return value <= INT64_MAX ? (int64_t)value : RS_BAR_NO_ARG;
}

void rs_argument_text(struct rs_arguments *a, struct rs_timeline *t, const struct rs_event *e, enum rs_argument which,
                      uint32_t *text)
{
    const struct rs_field *f = field_of(a, e, which);
    *text = 0;
    if (!f || f->format != RS_F_STRING || !e->process) return;
    if (!a->texts && e->process->nstrings) {
        a->texts = rs_alloc(e->process->nstrings * sizeof *a->texts);
        a->ntexts = e->process->nstrings;
        for (size_t i = 0; i < a->ntexts; i++) a->texts[i] = RS_NONE;
    }
    uint64_t id = rs_callback_field(e->call, f);
    if (id < a->ntexts && a->texts[id] != RS_NONE) {
        *text = a->texts[id];
        return;
    }
    const char *s = rs_process_string(e->process, id);
    if (!s) return;
    rs_texts_id(&t->texts, s, strlen(s), text);
    if (id < a->ntexts) a->texts[id] = *text;
}
