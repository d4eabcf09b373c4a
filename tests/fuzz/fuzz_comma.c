/* Any bytes as CoMMA's latency file; and what is whole goes through the model and the join. */
#include <stdlib.h>
#include <string.h>

#include "foreign/comma/model.h"
#include "join/join.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int fine)
{
    if (!fine) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rs_comma p;
    struct rs_err err;
    enum rs_status status = rs_comma_read_memory(&p, "x", (const char *)data, size, &err);
    must(status == RS_OK || status == RS_BAD_INPUT);
    for (uint32_t i = 0; i < p.n_ops; i++) must(p.ops[i].start_ns >= -1 && strlen(p.ops[i].name) < 24);
    for (uint32_t i = 0; i < p.n_proxies; i++) {
        const struct rs_comma_proxy *x = &p.proxies[i];
        must((x->op == RS_COMMA_NONE || x->op < p.n_ops) && x->first_step + x->steps <= p.n_steps);
    }
    struct rs_model m = {0};
    uint32_t proc;
    must(rs_comma_to_model(&m, &p, "x", &proc, &err) == RS_OK && m.parts.n == p.n_ops);
    must(rs_model_link(&m, &err) == RS_OK && rs_join(&m, true, &err) == RS_OK);
    rs_model_free(&m);
    rs_comma_free(&p);
    return 0;
}
