/* Any bytes as an export of Nsight Systems: opened in memory, read into the model twice (two ranks), joined. */
#include <stdlib.h>

#include "foreign/nsys/model.h"
#include "join/join.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int fine)
{
    if (!fine) abort();
}

static void check(const struct rs_model *m)
{
    for (uint32_t i = 0; i < m->activities.n; i++) {
        must(m->activities.end[i] >= m->activities.start[i] && m->activities.lane[i] < m->nlanes);
        must(m->activities.part[i] == RS_NONE || m->activities.part[i] < m->parts.n);
        must(m->activities.launch[i] == RS_NONE || m->activities.launch[i] < m->activities.n);
    }
    for (uint32_t i = 0; i < m->parts.n; i++) {
        must(m->parts.member[i] < m->nmembers);
        must(m->parts.start[i] == RS_TIME_NONE || m->members[m->parts.member[i]].gpu < m->ndomains);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rs_model m = {0};
    struct rs_err err;
    for (int i = 0; i < 2; i++) {
        struct rs_nsys n = {.m = &m, .path = i ? "b" : "a"};
        enum rs_status status = rs_nsys_open_memory(&n.db, n.path, data, size, &err);
        if (status == RS_OK) status = rs_nsys_to_model(&n, &err);
        must(status != RS_NO_MEMORY);
        rs_nsys_free(&n);
    }
    check(&m);
    must(rs_model_link(&m, &err) == RS_OK && rs_join(&m, true, &err) == RS_OK);
    rs_model_free(&m);
    return 0;
}
