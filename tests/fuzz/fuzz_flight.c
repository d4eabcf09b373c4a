/* Any bytes as a Flight Recorder dump, pickle and JSON: a message, or entries that can be walked. */
#include <stdlib.h>
#include <string.h>

#include "import/flight.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int fine)
{
    if (!fine) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rs_flight f;
    struct rs_err err = {0};
    rs_flight_is(data, size);
    if (rs_flight_parse(&f, data, size, "dump", &err) != RS_OK) {
        must(err.msg[0] != 0);
        return 0;
    }
    uint64_t sum = 0;
    for (uint32_t i = 0; i < f.n_entries; i++) {
        const struct rs_flight_entry *e = &f.entries[i];
        sum += strlen(e->name) + strlen(e->op) + strlen(e->pg_name) + strlen(e->pg_desc) + strlen(e->thread_name);
        sum += (uint64_t)rs_flight_elements(&e->in) + (uint64_t)rs_flight_elements(&e->out);
        for (uint32_t j = 0; j < e->in.n_dtypes; j++) sum += strlen(e->in.dtypes[j]);
    }
    for (uint32_t i = 0; i < f.n_groups; i++)
        for (uint32_t j = 0; j < f.groups[i].n; j++) must(f.groups[i].ranks[j] >= 0);
    must(f.n_entries || f.n_groups || *f.version || sum == 0);
    rs_flight_free(&f);
    return 0;
}
