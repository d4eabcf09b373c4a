/* Locations of an OTF2 archive: one location group per process (and GPU), one location per rank and lane of a communicator,
 * host thread, channel... A rank of a communicator that was not recorded, or is filtered away, has an empty location, so
 * that the ranks after it keep their number. */
#ifndef RS_EXPORT_OTF2_PLACES_H
#define RS_EXPORT_OTF2_PLACES_H

#include "export/otf2/state.h"

/* Location groups of all processes; locations of all communicators' members, which are the first ones. */
enum rs_status rs_otf2_places_init(struct rs_otf2 *o, struct rs_err *err);
void rs_otf2_places_free(struct rs_otf2 *o);

/* The location of a rank of a communicator on a lane. */
uint32_t rs_otf2_member(const struct rs_otf2 *o, uint32_t comm, int32_t rank, unsigned lane);
/* Fills in *row for a location of a group of the timeline, except `events`. `what` is appended to the group's name; NULL:
 * nothing. */
enum rs_status rs_otf2_place_row(struct rs_otf2 *o, uint32_t group, bool on_gpu, const char *what,
                                 struct rs_otf2_location *row, struct rs_err *err);
/* A location group of a process needs a CPU thread: adds an empty one to groups without. */
enum rs_status rs_otf2_places_finish(struct rs_otf2 *o, struct rs_err *err);

#endif
