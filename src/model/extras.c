#include "model/extras.h"

#include "base/bisect.h"
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
    RS_BISECT(low, high, mid, m->tags[mid].part < part);
    return low < m->ntags && m->tags[low].part == part ? &m->tags[low] : NULL;
}

enum rs_status rs_model_spot(struct rs_model *m, const struct rs_spot *row, struct rs_err *err)
{
    RS_ROOM(m->spots, m->nspots, m->cap_spots, err);
    m->spots[m->nspots++] = *row;
    return RS_OK;
}

enum rs_status rs_model_told(struct rs_model *m, const struct rs_told *row, struct rs_err *err)
{
    RS_ROOM(m->told, m->ntold, m->cap_told, err);
    m->told[m->ntold++] = *row;
    return RS_OK;
}

const struct rs_told *rs_part_told(const struct rs_model *m, uint32_t part)
{
    uint32_t low = 0, high = m->ntold;
    RS_BISECT(low, high, mid, m->told[mid].part < part);
    return low < m->ntold && m->told[low].part == part ? &m->told[low] : NULL;
}

enum rs_status rs_model_name(struct rs_model *m, const char *text, size_t n, uint32_t *id, struct rs_err *err)
{
    return rs_texts_id(&m->names, text, text ? n : 0, id, err);
}

const char *rs_model_name_text(const struct rs_model *m, uint32_t id)
{
    return rs_texts_at(&m->names, id);
}
