#include "gen/strings.h"

#include <string.h>

#include "gen/job.h"

_Static_assert((int)RS_GEN_S_INT8 - (int)RS_GEN_S_FUNC == (int)RS_GEN_FUNCS, "an id for each function");

static const char *const others[] = {"ncclInt8", "ncclBfloat16", "ncclFloat32", "RING", "LL", "SIMPLE"};

const char *rs_gen_string_text(uint64_t id)
{
    if (id < RS_GEN_S_FUNC || id >= RS_GEN_STRINGS) return "";
    return id < RS_GEN_S_INT8 ? rs_gen_func_names[id - RS_GEN_S_FUNC] : others[id - RS_GEN_S_INT8];
}

void rs_gen_strings(struct rs_gen_file *f, int64_t t)
{
    for (uint32_t id = RS_GEN_S_FUNC; id < RS_GEN_STRINGS; id++) {
        const char *text = rs_gen_string_text(id);
        rs_gen_fact(f, RS_FACT_STRING, rs_gen_host_tick(f->host, t), &id, sizeof id, text, strlen(text) + 1);
    }
}
