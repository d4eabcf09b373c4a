/* Where each operation goes in an OTF2 archive, so that tools for MPI interpret it correctly.
 *
 * OTF2 finds the partners of a record by communicator, rank and order: a communicator's member is one location, regions
 * of a location nest, and the n-th collective of a communicator is the same one on all its members. NCCL's operations
 * of a communicator may overlap (one launch runs many). So a communicator has lanes: operations that overlap on a rank
 * go to different ones, the same on all ranks; each lane is a separate communicator of the archive, like a duplicate,
 * and a rank has a location for each lane that it uses. Sends and receives that overlap more than
 * RS_OTF2_LANES deep (a large all-to-all), and collectives that do, share one more lane, RS_OTF2_GROUPED, as
 * non-blocking ones inside one region.
 *
 * Operations in which all recorded ranks of a communicator took part, and sends with their receives, have records. The
 * others are regions only, and counted. Computed once from the timeline, which must stay valid; then only read. */
#ifndef RS_EXPORT_OTF2_PLAN_H
#define RS_EXPORT_OTF2_PLAN_H

#include "timeline/stretch.h"

enum { RS_OTF2_LANES = 16, RS_OTF2_GROUPED = RS_OTF2_LANES, RS_OTF2_NO_LANE = 255 };

/* A part on the timeline. */
struct rs_otf2_place {
    int64_t start, dur, fade; /* ns from the begin of the timeline */
    uint32_t group; /* of its communicator on the timeline */
    uint8_t flags; /* of struct rs_stretch */
};

struct rs_otf2_counts {
#define PROPERTY(name, member, description) uint64_t member;
#include "export/otf2/properties.inc"
#undef PROPERTY
};

struct rs_otf2_comm {
    uint32_t lanes; /* bits; 0: not in the archive */
    uint32_t ref; /* of its lowest lane in the archive; the others follow */
    int32_t size; /* positions of its group; 0: more than can be, its group holds those recorded alone */
    uint32_t shown; /* ranks that are recorded and not filtered away */
};

struct rs_otf2_plan {
    const struct rs_timeline *t;
    uint8_t *lane; /* by place in t->ops */
    bool *record; /* by place in t->ops */
    uint32_t *turn; /* by place in t->ops: operations of a lane are in this order on all its locations */
    uint32_t *lanes; /* by group of the timeline: bits that it uses; 0: not a communicator's */
    struct rs_otf2_comm *comms; /* by comm of the model */
    uint32_t *order; /* comms that are in the archive, parents first */
    uint32_t ncomms; /* of order */
    struct rs_otf2_counts counts;
};

void rs_otf2_plan_init(struct rs_otf2_plan *p, const struct rs_timeline *t);
void rs_otf2_plan_free(struct rs_otf2_plan *p);

/* False: it is not drawn. */
bool rs_otf2_place(const struct rs_timeline *t, uint32_t part, struct rs_otf2_place *place);
/* The group of a rank of a communicator; RS_NONE: it is not recorded, or filtered away. */
uint32_t rs_otf2_group_of(const struct rs_timeline *t, uint32_t comm, int32_t rank);
/* The rank of a communicator that is the root of a collective; -1: it has none, or that is not known. */
int32_t rs_otf2_root(const struct rs_otf2_plan *p, uint32_t op, uint32_t comm);
/* The place of a lane among the bits of those that are used. */
static inline uint32_t rs_otf2_nth(uint32_t lanes, unsigned lane)
{
    return (uint32_t)__builtin_popcount(lanes & ((1u << lane) - 1));
}

#endif
