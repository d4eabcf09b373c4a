#include "foreign/formats.h"
#include "foreign/nvprof/model.h"

static enum rs_status add_file(struct rs_model *m, struct rs_nvprof_places *places, struct rs_other *file,
                               struct rs_err *err)
{
    struct rs_nvprof log;
    struct rs_err why;
    file->proc = RS_NONE;
    enum rs_status status = rs_nvprof_read(&log, file->path, &why);
    if (status != RS_OK)
        rs_other_incomplete(file, &why);
    else if (log.damage.code != RS_OK)
        rs_other_incomplete(file, &log.damage);
    if (status == RS_NO_MEMORY)
        status = rs_fail(err, status, "%s", why.msg);
    else
        status = status == RS_OK ? rs_nvprof_to_model(m, places, file, &log, err) : RS_OK;
    rs_nvprof_free(&log);
    return status;
}

enum rs_status rs_nvprof_fill(struct rs_fill *fill, struct rs_err *err)
{
    struct rs_nvprof_places places = {0};
    enum rs_status status = RS_OK;
    for (size_t i = 0; i < fill->n && status == RS_OK; i++) {
        status = add_file(fill->model, &places, fill->files[i], err);
        if (fill->progress) fill->progress(i + 1, fill->n);
    }
    if (status == RS_OK) status = rs_nvprof_trace_parts(&places, fill->model, err);
    rs_nvprof_places_free(&places);
    return status;
}
