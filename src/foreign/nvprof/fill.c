#include "foreign/formats.h"
#include "foreign/nvprof/model.h"

static enum rs_status add(struct rs_fill *fill, struct rs_other *file, struct rs_err *err)
{
    struct rs_nvprof log;
    file->proc = RS_NONE;
    enum rs_status status = rs_nvprof_read(&log, file->path, err);
    if (status == RS_OK && log.damage.code != RS_OK) rs_other_incomplete(file, &log.damage);
    if (status == RS_OK) status = rs_nvprof_to_model(fill->model, fill->state, file, &log, err);
    rs_nvprof_free(&log);
    return status;
}

enum rs_status rs_nvprof_fill(struct rs_fill *fill, struct rs_err *err)
{
    struct rs_nvprof_places places = {0};
    fill->state = &places;
    enum rs_status status = rs_fill_each(fill, add, err);
    if (status == RS_OK) status = rs_nvprof_trace_parts(&places, fill->model, err);
    rs_nvprof_places_free(&places);
    return status;
}
