#include "model/extras.h"

#include <string.h>

#include "base/room.h"
#include "model/model.h"

enum rs_status rs_model_stat(struct rs_model *m, const struct rs_stat *row, struct rs_err *err)
{
    RS_ROOM(m->stats, m->nstats, m->cap_stats, err);
    m->stats[m->nstats++] = *row;
    return RS_OK;
}

enum rs_status rs_model_tag(struct rs_model *m, const struct rs_tag *row, struct rs_err *err)
{
    RS_ROOM(m->tags, m->ntags, m->cap_tags, err);
    m->tags[m->ntags++] = *row;
    return RS_OK;
}

const struct rs_tag *rs_part_tag(const struct rs_model *m, uint32_t part)
{
    uint32_t low = 0, high = m->ntags;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (m->tags[mid].part < part)
            low = mid + 1;
        else
            high = mid;
    }
    return low < m->ntags && m->tags[low].part == part ? &m->tags[low] : NULL;
}

static uint64_t text_hash(const char *text, size_t n)
{
    uint64_t h = 0xcbf29ce484222325;
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)text[i]) * 0x100000001b3;
    return h;
}

enum rs_status rs_model_name(struct rs_model *m, const char *text, size_t n, uint32_t *id, struct rs_err *err)
{
    *id = 0;
    if (!m->nnames) {
        RS_ROOM(m->names, m->nnames, m->cap_names, err);
        m->names[m->nnames++] = "";
    }
    if (!text || !n) return RS_OK;
    for (uint64_t key = text_hash(text, n);; key++) { /* texts with the same hash take the next keys */
        uint64_t *at;
        RS_TRY(rs_map_at(&m->name_ids, key, 0, &at, err));
        if (*at && (strncmp(m->names[*at], text, n) || m->names[*at][n])) continue;
        if (!*at) {
            RS_ROOM(m->names, m->nnames, m->cap_names, err);
            const char *copy = rs_arena_text(&m->arena, text, n);
            if (!copy) return rs_fail(err, RS_NO_MEMORY, "out of memory");
            *at = m->nnames;
            m->names[m->nnames++] = copy;
        }
        *id = (uint32_t)*at;
        return RS_OK;
    }
}

const char *rs_model_name_text(const struct rs_model *m, uint32_t id)
{
    return id < m->nnames ? m->names[id] : "";
}
