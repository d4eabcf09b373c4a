#include <stdlib.h>

#include "foreign/example/model.h"
#include "foreign/formats.h"

static enum rs_status open_all(struct rs_fill *fill, struct rs_example_procs *procs, uint32_t *file_of,
                               struct rs_err *err)
{
    for (size_t i = 0; i < fill->n; i++) {
        struct rs_other *file = fill->files[i];
        struct rs_example dump;
        struct rs_err why = {0};
        file->proc = RS_NONE;
        enum rs_status status = rs_example_open(&dump, file->path, &why);
        if (status == RS_NO_MEMORY) return rs_fail(err, status, "%s", why.msg);
        if (status != RS_OK) {
            rs_other_incomplete(file, &why);
        } else {
            if (dump.broken.code != RS_OK) rs_other_incomplete(file, &dump.broken);
            file_of[procs->ndumps] = (uint32_t)i;
            RS_TRY(rs_example_procs_add(procs, &dump, err));
        }
        if (fill->progress) fill->progress(i + 1, fill->n);
    }
    return RS_OK;
}

enum rs_status rs_example_fill(struct rs_fill *fill, struct rs_err *err)
{
    struct rs_example_procs procs = {0};
    uint32_t *file_of = malloc((fill->n + 1) * sizeof *file_of), *proc_of = malloc((fill->n + 1) * sizeof *proc_of);
    enum rs_status status =
        file_of && proc_of ? open_all(fill, &procs, file_of, err) : rs_fail(err, RS_NO_MEMORY, "out of memory");
    if (status == RS_OK) status = rs_example_to_model(fill->model, &procs, proc_of, err);
    for (uint32_t i = 0; status == RS_OK && i < procs.ndumps; i++) fill->files[file_of[i]]->proc = proc_of[i];
    for (uint32_t i = 0; status == RS_OK && i < procs.n; i++)
        for (uint32_t k = 0; k < procs.rows[i].n; k++) fill->files[file_of[procs.rows[i].dumps[k]]]->place = k;
    free(file_of);
    free(proc_of);
    rs_example_procs_free(&procs);
    return status;
}
