/* The definitions of an OTF2 archive, when all events are written: clock, system tree, locations, regions, attributes,
 * metrics, and communicators with their groups and parents. */
#ifndef RS_EXPORT_OTF2_DEFINE_H
#define RS_EXPORT_OTF2_DEFINE_H

#include "export/otf2/state.h"

/* Writes them, and the archive's properties. */
enum rs_status rs_otf2_define(struct rs_otf2 *o, struct rs_err *err);

#endif
