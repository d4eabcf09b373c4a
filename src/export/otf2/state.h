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
    uint32_t comm_locations; /* locations below this number are members of communicators */
    struct rs_map absent; /* ranks that are not recorded -> location; see otf2/places.c */
    uint32_t absences; /* locations of those */
    uint32_t args[RS_BAR_KINDS][RS_BAR_ARGS], marks[RS_BAR_KINDS][RS_BAR_MARKS]; /* attributes; RS_NONE: not yet */
    struct rs_map gpu_groups; /* group of a rank on the timeline -> location group of its GPU */
};

static inline uint64_t rs_otf2_time(const struct rs_otf2 *o, int64_t at)
{
    return o->offset + (uint64_t)at;
}

/* ---- otf2/facts.c: attributes and metrics, i.e. what `ringscope ops` has of an operation beyond OTF2's records ---- */

/* Defines the attributes, before all others. */
enum rs_status rs_otf2_facts_make(struct rs_otf2 *o, struct rs_err *err);
/* Adds those of a part to the event that begins it, or ends it. `flags`: of struct rs_stretch. */
enum rs_status rs_otf2_put_begin(struct rs_otf2 *o, uint32_t part, uint8_t flags, struct rs_err *err);
enum rs_status rs_otf2_put_end(struct rs_otf2 *o, uint32_t part, uint8_t flags, int64_t end, int64_t fade,
                               struct rs_err *err);

enum rs_otf2_metric {
#define METRIC(id, ...) RS_OTF2_METRIC_##id,
#include "export/otf2/metrics.inc"
#undef METRIC
    RS_OTF2_METRICS
};
extern const struct rs_otf2_metric_row {
    const char *name, *unit, *description;
    uint64_t (*get)(const struct rs_otf2 *o, uint32_t part); /* what a part adds */
} rs_otf2_metrics[RS_OTF2_METRICS];

/* ---- otf2/define.c ---- */

/* Writes the definitions, when all events are written: clock, system tree, locations, regions, attributes, metrics,
 * communicators with their groups and parents; and the archive's properties. */
enum rs_status rs_otf2_define(struct rs_otf2 *o, struct rs_err *err);

#endif
