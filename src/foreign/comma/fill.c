#include "foreign/comma/comma.h"
#include "foreign/comma/model.h"
#include "foreign/formats.h"

static enum rs_status add(struct rs_fill *fill, struct rs_other *file, struct rs_err *err)
{
    struct rs_model *m = fill->model;
    struct rs_comma rows;
    enum rs_status status = rs_comma_read(&rows, file->path, err);
    if (status == RS_OK) status = rs_comma_to_model(m, &rows, file->path, &file->proc, err);
    if (status == RS_OK && rows.damage.code != RS_OK) rs_other_incomplete(file, &rows.damage);
    rs_comma_free(&rows);
    return status;
}

enum rs_status rs_comma_fill(struct rs_fill *fill, struct rs_err *err)
{
    RS_TRY(rs_fill_each(fill, add, err));
    return rs_model_note(fill->model, err,
                         "CoMMA sees no kernels: starts and ends are those of network operations, and what it left out "
                         "(small operations, most receives) was not recorded");
}
