/* Small runs, real ones changed and described ones (made_runs.h), through the join and all analyses. */
#include "join/join.h"

#include "looks.h"
#include "made_runs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the join promises to all that look at the model. */
static void check(const struct rs_model *m)
{
    must(m->joined);
    for (uint32_t i = 0; i < m->parts.n; i++) must(m->parts.op[i] == RS_NONE || m->parts.op[i] < m->ops.n);
    for (uint32_t i = 0; i < m->ops.n; i++) {
        must(m->ops.comm[i] < m->ncomms && m->ops.part[i] + m->ops.nparts[i] <= m->norder);
        must(m->ops.over[i] == RS_NONE || m->ops.over[m->ops.over[i]] == RS_NONE); /* it leads */
        must(m->ops.last_part[i] == RS_NONE || m->ops.last_part[i] < m->parts.n);
    }
    for (uint32_t i = 0; i < m->nmembers; i++)
        must(m->members[i].rank_id == RS_NONE || m->members[i].rank_id < m->nranks);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    return mutate_run(data, size, max, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rs_model m;
    struct rs_inputs *in;
    struct rs_err err = {0};
    if (!make_run(&m, &in, data, size, REAL_RUNS)) return 0;
    rs_model_link(&m);
    enum rs_status status = RS_OK;
    if (status == RS_OK) status = rs_join(&m, data[1] % 8 != 7, &err);
    must(status == RS_OK || err.msg[0]);
    if (status == RS_OK) {
        check(&m);
        analyse(&m);
    }
    rs_model_free(&m);
    return 0;
}
