#include "model/extras.h"

#include "base/bisect.h"
#include "base/room.h"
#include "model/model.h"

void rs_model_metric(struct rs_model *m, const struct rs_metric *row)
{
    RS_ROOM(m->metrics, m->nmetrics, m->cap_metrics);
    m->metrics[m->nmetrics++] = *row;
}

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

void rs_model_cut_number(struct rs_model *m, const struct rs_cut_number *row)
{
    RS_ROOM(m->cut_numbers, m->ncut_numbers, m->cap_cut_numbers);
    m->cut_numbers[m->ncut_numbers++] = *row;
}

const struct rs_cut_number *rs_part_cut_number(const struct rs_model *m, uint32_t part)
{
    uint32_t low = 0, high = m->ncut_numbers;
    RS_BISECT(low, high, mid, m->cut_numbers[mid].part < part);
    return low < m->ncut_numbers && m->cut_numbers[low].part == part ? &m->cut_numbers[low] : NULL;
}

void rs_model_condition(struct rs_model *m, const struct rs_condition *row)
{
    RS_ROOM(m->conditions, m->nconditions, m->cap_conditions);
    m->conditions[m->nconditions++] = *row;
}

void rs_model_progress(struct rs_model *m, const struct rs_progress *row)
{
    RS_ROOM(m->progress, m->nprogress, m->cap_progress);
    m->progress[m->nprogress++] = *row;
}

void rs_model_answer(struct rs_model *m, const struct rs_answer *row, uint32_t *index)
{
    RS_ROOM(m->answers, m->nanswers, m->cap_answers);
    *index = m->nanswers;
    m->answers[m->nanswers++] = *row;
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
