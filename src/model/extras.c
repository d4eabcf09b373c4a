#include "model/extras.h"

#include "base/bisect.h"
#include "base/room.h"
#include "model/model.h"

void rs_model_stat(struct rs_model *m, const struct rs_stat *row)
{
    RS_ROOM(m->stats, m->nstats, m->cap_stats);
    m->stats[m->nstats++] = *row;
}

void rs_model_tag(struct rs_model *m, const struct rs_tag *row)
{
    RS_ROOM(m->tags, m->ntags, m->cap_tags);
    m->tags[m->ntags++] = *row;
}

const struct rs_tag *rs_part_tag(const struct rs_model *m, uint32_t part)
{
    uint32_t low = 0, high = m->ntags;
    RS_BISECT(low, high, mid, m->tags[mid].part < part);
    return low < m->ntags && m->tags[low].part == part ? &m->tags[low] : NULL;
}

void rs_model_spot(struct rs_model *m, const struct rs_spot *row)
{
    RS_ROOM(m->spots, m->nspots, m->cap_spots);
    m->spots[m->nspots++] = *row;
}

void rs_model_told(struct rs_model *m, const struct rs_told *row)
{
    RS_ROOM(m->told, m->ntold, m->cap_told);
    m->told[m->ntold++] = *row;
}

const struct rs_told *rs_part_told(const struct rs_model *m, uint32_t part)
{
    uint32_t low = 0, high = m->ntold;
    RS_BISECT(low, high, mid, m->told[mid].part < part);
    return low < m->ntold && m->told[low].part == part ? &m->told[low] : NULL;
}

enum rs_status rs_model_name(struct rs_model *m, const char *text, size_t n, uint32_t *id, struct rs_err *err)
{
    (void)err;
    rs_texts_id(&m->names, text, text ? n : 0, id);
    return RS_OK;
}

const char *rs_model_name_text(const struct rs_model *m, uint32_t id)
{
    return rs_texts_at(&m->names, id);
}
