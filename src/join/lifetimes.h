/* When a communicator was created and destroyed, and the source of that. Functions that only read the model. */
#ifndef RS_JOIN_LIFETIMES_H
#define RS_JOIN_LIFETIMES_H

#include "model/model.h"

struct rs_life {
    int64_t created, destroyed; /* RS_TIME_NONE: unknown */
    uint8_t created_from, destroyed_from; /* enum rs_life_source */
};

/* Over all its members: earliest creation; latest destruction, once all recorded ranks have destroyed it. */
struct rs_life rs_comms_life(const struct rs_model *m, uint32_t comm);
/* "init event": the source of a creation (else a destruction). */
const char *rs_life_source_text(uint8_t source, bool created);

#endif
