/* What the modules of the OTF2 exporter share while a run is written. Owned by export/otf2/otf2.c. */
#ifndef RS_EXPORT_OTF2_STATE_H
#define RS_EXPORT_OTF2_STATE_H

#include "export/exporter.h"
#include "export/otf2/archive.h"
#include "export/otf2/plan.h"

/* Attributes of events. */
enum rs_otf2_fact {
#define ATTRIBUTE(id, ...) RS_OTF2_##id,
#include "export/otf2/attributes.inc"
#undef ATTRIBUTE
    RS_OTF2_FACTS,
    RS_OTF2_MORE = RS_OTF2_FACTS + 8 /* with those of fields of the operation */
};

struct rs_otf2 {
    struct rs_timeline *t;
    const char *title;
    struct rs_otf2_archive archive;
    struct rs_otf2_plan plan;
    uint64_t offset; /* added to ns of the timeline: wall ns where the run has them */
    uint32_t facts[RS_OTF2_MORE]; /* attributes */
    uint32_t *host_node; /* by host of the model: node of the system tree */
    uint32_t *proc_group; /* by process of the model: location group */
    uint32_t *location_of; /* by group of the timeline: location of its lowest lane; the others follow */
    uint32_t comm_locations; /* those below are communicators' members; those behind are not */
    struct rs_map absent; /* ranks that are not recorded -> location; see otf2/places.c */
    uint32_t absences; /* locations of those */
    uint32_t args[RS_BAR_KINDS][RS_BAR_ARGS], marks[RS_BAR_KINDS][RS_BAR_MARKS]; /* attributes; RS_NONE: not yet */
    struct rs_map gpu_groups; /* group of a rank on the timeline -> location group of its GPU */
};

static inline uint64_t rs_otf2_time(const struct rs_otf2 *o, int64_t at)
{
    return o->offset + (uint64_t)at;
}

#endif
