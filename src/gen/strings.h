/* The texts of generated callbacks and their ids, the same in all recordings of a run. */
#ifndef RS_GEN_STRINGS_H
#define RS_GEN_STRINGS_H

#include "gen/file.h"

enum rs_gen_string {
    RS_GEN_S_NULL,
    RS_GEN_S_FUNC, /* + enum rs_gen_func */
    RS_GEN_S_INT8 = RS_GEN_S_FUNC + 6,
    RS_GEN_S_BF16,
    RS_GEN_S_FLOAT,
    RS_GEN_S_RING,
    RS_GEN_S_LL,
    RS_GEN_S_SIMPLE,
    RS_GEN_STRINGS,
};

/* "" for an unknown id. */
const char *rs_gen_string_text(uint64_t id);
/* Writes them as facts. */
void rs_gen_strings(struct rs_gen_file *file, int64_t t);

#endif
