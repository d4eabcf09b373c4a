/* Locations of an OTF2 archive: a location group a process (and GPU), a location a rank and lane of a communicator, a
 * host thread, a channel... A rank of a communicator that was not recorded, or is left out, has an empty location, so that the ranks
 * behind it keep their number. */
#ifndef RS_EXPORT_OTF2_PLACES_H
#define RS_EXPORT_OTF2_PLACES_H

#include "export/otf2/state.h"

/* Location groups of all processes; locations of all communicators' members, which are the first ones. */
enum rs_status rs_otf2_places_init(struct rs_otf2 *o, struct rs_err *err);
void rs_otf2_places_free(struct rs_otf2 *o);

/* The location of the rank at a place of a communicator on a lane. */
uint32_t rs_otf2_member(const struct rs_otf2 *o, uint32_t comm, int32_t rank, unsigned lane);
/* What a location of a group of the timeline would be like; *row is complete but for `events`. `what` is put behind
 * the group's name; NULL: nothing. */
enum rs_status rs_otf2_place_row(struct rs_otf2 *o, uint32_t group, bool on_gpu, const char *what,
                                 struct rs_otf2_location *row, struct rs_err *err);
/* A group of processes needs a CPU thread: gives an empty one to those that have none. */
enum rs_status rs_otf2_places_finish(struct rs_otf2 *o, struct rs_err *err);

#endif
