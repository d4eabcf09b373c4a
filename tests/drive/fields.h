/* One event of each type of a version, with values that tell every member apart. */
#ifndef RS_TESTS_FIELDS_H
#define RS_TESTS_FIELDS_H

#include "load.h"

enum net_kind { NET_MIXED, NET_IB, NET_SOCK };

/* Prints what the recording must hold (expect.h). `net`: which payloads network events carry. */
void play_fields(const struct plugin *plugin, void *context, unsigned rounds, uint64_t seed, enum net_kind net);
/* Calls that no careful caller would make (H1 to H11 of the interface's hazards). */
void play_hazards(const struct plugin *plugin, void *context);

#endif
