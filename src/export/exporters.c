#include "export/exporter.h"

#include <string.h>

#define RS_EXPORTER(name) &rs_exporter_##name,
static const struct rs_exporter *const exporters[] = {RS_EXPORTERS(RS_EXPORTER) NULL};
#undef RS_EXPORTER

const struct rs_exporter *rs_exporter_at(size_t index)
{
    return index < sizeof exporters / sizeof *exporters ? exporters[index] : NULL;
}

const struct rs_exporter *rs_exporter_find(const char *name)
{
    for (size_t i = 0; exporters[i]; i++)
        if (!strcmp(exporters[i]->name, name)) return exporters[i];
    return NULL;
}

struct running {
    const struct rs_exporter *e;
    struct rs_export *x;
    uint32_t proc;
};

static enum rs_status export_piece(void *to, const struct rs_bars *bars, struct rs_err *err)
{
    const struct running *r = to;
    return r->e->piece(r->x, r->proc, bars, err);
}

enum rs_status rs_export_run(const struct rs_exporter *e, struct rs_export *x, struct rs_err *err)
{
    struct rs_timeline *t = x->timeline;
    uint32_t bars = 0;
    enum rs_status status = e->begin(x, err);
    for (uint32_t i = 0; e->piece && i < t->nprocs && status == RS_OK; i++) {
        struct running r = {e, x, t->procs[i]};
        status = rs_timeline_pieces(t, i, e->whole, &bars, export_piece, &r, err);
        if (x->progress) x->progress(i + 1, t->nprocs);
    }
    if (status == RS_OK && e->end) status = e->end(x, err);
    if (e->free) e->free(x);
    return status;
}
