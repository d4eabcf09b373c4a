/* OTF2, for Vampir, Scalasca, TAU and the like: an archive of the Open Trace Format 2 in a folder. */
#include "export/exporter.h"
#include "export/otf2/folder.h"

#ifndef RS_NO_OTF2

#include <stdlib.h>
#include <string.h>

#include "export/otf2/define.h"
#include "export/otf2/facts.h"
#include "export/otf2/operations.h"
#include "export/otf2/places.h"
#include "export/otf2/rows.h"

/* No group has more: every rank on every lane, and those that are not recorded. */
static uint64_t most_members(const struct rs_otf2_plan *p)
{
    uint64_t n = 0;
    for (uint32_t g = 0; g < p->t->ngroups; g++) n += (uint64_t)__builtin_popcount(p->lanes[g]);
    for (uint32_t i = 0; i < p->ncomms; i++) n += (uint64_t)p->comms[p->order[i]].size;
    return n;
}

static enum rs_status begin(struct rs_export *x, struct rs_err *err)
{
    struct rs_otf2 *o = x->state = calloc(1, sizeof *o);
    if (!o) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    o->t = x->timeline;
    o->title = x->title;
    o->offset = o->t->begin > 0 ? (uint64_t)o->t->begin : 0; /* no time of an archive is below zero */
    memset(o->args, 0xff, sizeof o->args);
    memset(o->marks, 0xff, sizeof o->marks);
    RS_TRY(rs_otf2_plan_init(&o->plan, o->t, err));
    RS_TRY(rs_otf2_open(&o->archive, x->path, x->name, most_members(&o->plan), err));
    RS_TRY(rs_otf2_facts_make(o, err));
    return rs_otf2_places_init(o, err);
}

static enum rs_status piece(struct rs_export *x, uint32_t proc, const struct rs_bars *bars, struct rs_err *err)
{
    struct rs_otf2 *o = x->state;
    if (o->t->options.rows >> RS_ROW_OPERATIONS & 1) RS_TRY(rs_otf2_write_operations(o, proc, err));
    return rs_otf2_write_rows(o, bars, err);
}

/* Readers expect a file of local definitions a location, which may be empty, and one of events, which may too. */
static enum rs_status write_locals(struct rs_otf2 *o, struct rs_err *err)
{
    struct rs_otf2_archive *a = &o->archive;
    for (uint32_t i = 0; i < a->nlocations; i++) {
        OTF2_EvtWriter *w;
        if (a->locations[i].events) continue;
        RS_TRY(rs_otf2_begin(a, i, &w, err));
        RS_TRY(rs_otf2_end(a, i, w, err));
    }
    a->files_open = false;
    RS_OTF2_TRY(a, OTF2_Archive_CloseEvtFiles(a->archive), err);
    RS_OTF2_TRY(a, OTF2_Archive_OpenDefFiles(a->archive), err);
    for (uint32_t i = 0; i < a->nlocations; i++) {
        OTF2_DefWriter *w = OTF2_Archive_GetDefWriter(a->archive, i);
        if (!w) return rs_otf2_check(a, OTF2_ERROR_MEM_ALLOC_FAILED, err);
        RS_OTF2_TRY(a, OTF2_Archive_CloseDefWriter(a->archive, w), err);
    }
    return rs_otf2_check(a, OTF2_Archive_CloseDefFiles(a->archive), err);
}

static enum rs_status end(struct rs_export *x, struct rs_err *err)
{
    struct rs_otf2 *o = x->state;
    RS_TRY(rs_otf2_places_finish(o, err));
    RS_TRY(write_locals(o, err));
    RS_TRY(rs_otf2_define(o, err));
    return rs_otf2_close(&o->archive, err);
}

static void release(struct rs_export *x)
{
    struct rs_otf2 *o = x->state;
    if (!o) return;
    rs_otf2_free(&o->archive);
    rs_otf2_plan_free(&o->plan);
    rs_otf2_places_free(o);
    free(o);
    x->state = NULL;
}

#endif

const struct rs_exporter rs_exporter_otf2 = {
    .name = "otf2",
    .what = "a folder, for Vampir, Scalasca, TAU, otf2-print",
    .suffixes = ".otf2",
    .titled = true,
    .output = RS_EXPORT_FOLDER,
    .may_replace = rs_otf2_folder_is_ours,
    /* Network steps would be a location for each that is in flight at a time: hundreds a rank, two files each. */
    .to_bound = true,
    .rows = ~(1u << RS_ROW_STEPS | 1u << RS_ROW_NETWORK) & ((1u << RS_ROWS) - 1),
#ifdef RS_NO_OTF2
    .lacks = "OTF2 (Debian: libopen-trace-format2-dev when it is built)",
#else
    .begin = begin,
    .piece = piece,
    .whole = true, /* a location is written from its begin to its end */
    .end = end,
    .free = release,
#endif
};
