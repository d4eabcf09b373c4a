/* When a communicator was made and destroyed, and how that is known. Functions that only read the model. */
#ifndef RS_JOIN_LIVES_H
#define RS_JOIN_LIVES_H

#include "model/model.h"

struct rs_life {
    int64_t created, destroyed; /* RS_TIME_NONE: not known */
    uint8_t created_from, destroyed_from; /* enum rs_life_source */
};

/* Of all its members: earliest creation; latest destruction, once all recorded ranks have destroyed it. */
struct rs_life rs_comms_life(const struct rs_model *m, uint32_t comm);
/* "init event": what a creation (else a destruction) is known by. */
const char *rs_life_source_text(uint8_t source, bool created);

#endif
