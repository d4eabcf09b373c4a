#include "join/classes.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/mix.h"
#include "join/overlay_facts.h"

bool rs_group_name(const char *name, size_t *length, const char **group)
{
    const char *colon = name ? strrchr(name, ':') : NULL; /* a description is free text, a name is not */
    if (!colon || colon == name || !colon[1]) return false;
    *length = (size_t)(colon - name);
    *group = colon + 1;
    return true;
}

/* Distance, in ranks of the job, between neighbours in the communicator; 0: not regular, or unknown. */
static int32_t stride_of(const struct rs_model *m, const struct rs_comm_row *c)
{
    int32_t stride = 0;
    for (uint32_t i = c->first_member; i != RS_NONE && m->members[i].next != RS_NONE; i = m->members[i].next) {
        const struct rs_member *a = &m->members[i], *b = &m->members[a->next];
        if (a->global_rank < 0 || b->global_rank < 0 || a->rank < 0 || b->rank <= a->rank) return 0;
        int64_t far = (int64_t)b->global_rank - a->global_rank, near = (int64_t)b->rank - a->rank;
        if (far <= 0 || far % near || (stride && far / near != stride)) return 0;
        stride = (int32_t)(far / near);
    }
    return stride;
}

static uint64_t key_of(int32_t nranks, int32_t stride, const char *text, size_t n)
{
    return rs_mix_bytes(rs_mix(rs_mix(1, (uint32_t)nranks), (uint32_t)stride), text, n);
}

/* "8th", "2nd", "11th", ... */
static const char *ending(int32_t n)
{
    int32_t tens = n % 100, ones = n % 10;
    if (tens >= 11 && tens <= 13) return "th";
    return ones == 1 ? "st" : ones == 2 ? "nd" : ones == 3 ? "rd" : "th";
}

static void say(const struct rs_model *m, const struct rs_class *k, char *text, size_t size)
{
    char shape[64], name[80] = "", times[32] = "";
    if (k->nranks < 0)
        snprintf(shape, sizeof shape, "an unknown number of ranks");
    else if (k->nranks == 1)
        snprintf(shape, sizeof shape, "1 rank");
    else if (k->nranks == m->world)
        snprintf(shape, sizeof shape, "all %d ranks", k->nranks);
    else if (k->stride == 1)
        snprintf(shape, sizeof shape, "%d consecutive ranks", k->nranks);
    else if (k->stride > 1)
        snprintf(shape, sizeof shape, "%d ranks, every %d%s", k->nranks, k->stride, ending(k->stride));
    else
        snprintf(shape, sizeof shape, "%d ranks", k->nranks);
    if (k->name) snprintf(name, sizeof name, " (%.64s)", k->name);
    if (k->comms > 1) snprintf(times, sizeof times, "%u x ", k->comms);
    snprintf(text, size, "%s%s%s", times, shape, name);
}

void rs_classes_find(struct rs_model *m)
{
    struct rs_map index = {0};
    m->nclasses = 0;
    for (uint32_t c = 0; c < m->ncomms; c++) {
        struct rs_comm_row *row = &m->comms[c];
        if (row->over != RS_NONE) continue; /* shown as its primary source */
        int32_t stride = stride_of(m, row);
        const char *name = rs_comm_name(m, c);
        size_t length = 0;
        const char *group;
        bool named = rs_group_name(name, &length, &group);
        uint64_t *at;
        uint32_t class = m->nclasses;
        rs_map_at(&index, key_of(row->nranks, stride, name, length), class, &at);
        if (*at == class) rs_model_class(m, &class);
        row->class = (uint32_t)*at;
        struct rs_class *k = &m->classes[row->class];
        if (k->comms++) {
            if (!named && k->name && (!name || strcmp(k->name, name))) k->name = NULL;
            continue;
        }
        *k = (struct rs_class){.nranks = row->nranks, .stride = stride, .comms = 1, .name = name};
        if (named) k->name = rs_arena_text(&m->arena, name, length);
        if (named && !k->name) rs_memory_out();
    }
    for (uint32_t c = 0; c < m->ncomms; c++)
        if (m->comms[c].over != RS_NONE) m->comms[c].class = m->comms[m->comms[c].over].class;
    rs_map_free(&index);
    for (uint32_t i = 0; i < m->nclasses; i++) {
        char text[192];
        say(m, &m->classes[i], text, sizeof text);
        m->classes[i].text = rs_arena_text(&m->arena, text, strlen(text));
    }
}
