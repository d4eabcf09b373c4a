/* What many rows say of a rank of the job (model.ranks): each value is null where there is no rank (RS_NONE), or where the
 * value is not known. And quantiles of times, as an object of JSON. For the files fields/NAME.c. */
#ifndef RS_FIELDS_RANK_H
#define RS_FIELDS_RANK_H

#include "analyse/quantile.h"
#include "fields/field.h"

static inline struct rs_value rs_v_rank(const struct rs_model *m, uint32_t rank_id)
{
    return rank_id != RS_NONE ? rs_v_known(m->ranks[rank_id].number) : rs_v_null();
}
static inline struct rs_value rs_v_rank_host(const struct rs_model *m, uint32_t rank_id)
{
    return rank_id != RS_NONE ? rs_v_text(rs_host_name(m, m->ranks[rank_id].host)) : rs_v_null();
}
static inline struct rs_value rs_v_rank_pid(const struct rs_model *m, uint32_t rank_id)
{
    return rank_id != RS_NONE ? rs_v_pid(m->procs[m->ranks[rank_id].proc].pid) : rs_v_null();
}
static inline struct rs_value rs_v_rank_device(const struct rs_model *m, uint32_t rank_id)
{
    return rank_id != RS_NONE ? rs_v_known(m->ranks[rank_id].device) : rs_v_null();
}

/* {"p50","p90","p99"} in ns, each null where it is not known. */
void rs_out_quantiles_json(struct rs_json *j, const struct rs_quantiles *q);

#endif
