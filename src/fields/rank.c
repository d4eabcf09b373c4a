#include "fields/rank.h"

static void time_json(struct rs_json *j, const char *key, int64_t ns)
{
    if (ns == RS_TIME_NONE)
        rs_json_key_null(j, key);
    else
        rs_json_key_i64(j, key, ns);
}

void rs_out_quantiles_json(struct rs_json *j, const struct rs_quantiles *q)
{
    rs_json_object(j);
    time_json(j, "p50", q->p50);
    time_json(j, "p90", q->p90);
    time_json(j, "p99", q->p99);
    rs_json_end(j);
}
