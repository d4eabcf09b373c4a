/* Any bytes as a Flight Recorder dump, pickle and JSON: a message, or entries that can be walked; and from there
 * through the model and the join to a verdict. The same bytes are the dump of two ranks, so that there is something to
 * join. */
#include <stdlib.h>
#include <string.h>

#include "analyse/hang.h"
#include "foreign/flight/model.h"
#include "foreign/formats.h"
#include "join/join.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int fine)
{
    if (!fine) abort();
}

static void walk(const struct rs_flight *f)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < f->n_entries; i++) {
        const struct rs_flight_entry *e = &f->entries[i];
        sum += strlen(e->name) + strlen(e->op) + strlen(e->pg_name) + strlen(e->pg_desc);
        sum += (uint64_t)rs_flight_elements(&e->in) + (uint64_t)rs_flight_elements(&e->out);
        for (uint32_t j = 0; j < e->in.n_dtypes; j++) sum += strlen(e->in.dtypes[j]);
    }
    for (uint32_t i = 0; i < f->n_groups; i++)
        for (uint32_t j = 0; j < f->groups[i].n; j++) must(f->groups[i].ranks[j] >= 0);
    must(f->n_entries || f->n_groups || *f->version || sum == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"fr_rank0", "fr_rank1"};
    struct rs_err err = {0};
    struct rs_model m = {0};
    rs_flight_is("", (const char *)data, size);
    for (int i = 0; i < 2; i++) {
        struct rs_flight f;
        uint32_t proc;
        if (rs_flight_parse(&f, data, size, names[i], &err) != RS_OK) {
            must(err.msg[0] != 0);
            rs_model_free(&m);
            return 0;
        }
        walk(&f);
        if (i) f.n_entries -= f.n_entries > 1; /* the second is one behind */
        must(rs_flight_to_model(&m, &f, names[i], &proc, &err) == RS_OK);
        must(proc < m.nprocs && m.procs[proc].end >= m.procs[proc].begin);
        rs_flight_free(&f);
    }
    for (uint32_t i = 0; i < m.parts.n; i++) must(m.parts.member[i] < m.nmembers && m.parts.end[i] == RS_TIME_NONE);
    for (uint32_t i = 1; i < m.ntags; i++) must(m.tags[i].part > m.tags[i - 1].part);
    struct rs_hang h;
    struct rs_filter filter = {0};
    must(rs_model_link(&m, &err) == RS_OK && rs_join(&m, true, &err) == RS_OK);
    must(rs_hang_find(&m, &filter, &h, &err) == RS_OK && h.nconclusion > 0);
    rs_hang_free(&h);
    rs_model_free(&m);
    return 0;
}
