#include "join/lifetimes.h"

struct rs_life rs_comms_life(const struct rs_model *m, uint32_t comm)
{
    struct rs_life life = {RS_TIME_NONE, RS_TIME_NONE, 0, 0};
    bool alive = false;
    for (uint32_t i = m->comms[comm].first_member; i != RS_NONE; i = m->members[i].next) {
        const struct rs_member *x = &m->members[i];
        if (x->created != RS_TIME_NONE && (life.created == RS_TIME_NONE || x->created < life.created)) {
            life.created = x->created;
            life.created_from = x->created_from;
        }
        if (x->destroyed > life.destroyed) {
            life.destroyed = x->destroyed;
            life.destroyed_from = x->destroyed_from;
        }
        alive |= x->destroyed == RS_TIME_NONE;
    }
    if (alive) life.destroyed = RS_TIME_NONE;
    return life;
}

const char *rs_life_source_text(uint8_t source, bool created)
{
    switch (source) {
    case RS_LIFE_FIRST_INIT: return "first init of the process";
    case RS_LIFE_LAST_SLEEP: return "end of the last proxy sleep";
    default: return created ? "init event" : "finalize event";
    }
}
