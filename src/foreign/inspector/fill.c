#include <inttypes.h>

#include "foreign/formats.h"
#include "foreign/inspector/inspector.h"
#include "foreign/inspector/model.h"

static enum rs_status add(struct rs_fill *fill, struct rs_other *file, struct rs_err *err)
{
    struct rs_model *m = fill->model;
    bool *told = fill->state;
    struct rs_inspector log;
    uint64_t lost = 0;
    enum rs_status status = rs_inspector_read(&log, file->path, err);
    if (status == RS_OK) status = rs_inspector_to_model(m, &log, file->path, &file->proc, &lost, err);
    if (status == RS_OK && log.damage.code != RS_OK) rs_other_incomplete(file, &log.damage);
    if (status == RS_OK && lost)
        status = rs_model_note(m, err,
                               "%s: at least %" PRIu64 " operations are not in it, beside %" PRIu32
                               " that are: Inspector leaves out small ones, and drops what it cannot write in time",
                               file->path, lost, log.n_ops);
    if (status == RS_OK && log.n_ops && !log.verbose && !*told) {
        *told = true; /* once is enough */
        status = rs_model_note(m, err,
                               "%s: it tells how long operations took, not when; NCCL_INSPECTOR_DUMP_VERBOSE=1 has "
                               "times",
                               file->path);
    }
    rs_inspector_free(&log);
    return status;
}

enum rs_status rs_inspector_fill(struct rs_fill *fill, struct rs_err *err)
{
    bool told = false;
    fill->state = &told;
    return rs_fill_each(fill, add, err);
}
