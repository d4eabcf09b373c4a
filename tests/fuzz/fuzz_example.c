/* Any bytes as example-profiler dumps: rows that hang together, or a reason why there are none; then through the model
 * and the join, as two files of one process or of two. */
#include <stdlib.h>
#include <string.h>

#include "foreign/example/example.h"
#include "foreign/example/model.h"
#include "foreign/formats.h"
#include "join/join.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int fine)
{
    if (!fine) abort();
}

/* The whole as rank 0's file, and its second half as rank 1's. */
static void fill(const char *text, size_t size)
{
    struct rs_model m = {0};
    struct rs_example_procs procs = {0};
    struct rs_example d;
    struct rs_err err = {0};
    uint32_t proc_of[2] = {RS_NONE, RS_NONE};
    if (rs_example_parse(&d, "d/dump_12715772615376301750_0.json", text, size, &err) == RS_OK)
        must(rs_example_procs_add(&procs, &d, &err) == RS_OK);
    if (rs_example_parse(&d, "d/dump_12715772615376301750_1.json", text + size / 2, size - size / 2, &err) == RS_OK)
        must(rs_example_procs_add(&procs, &d, &err) == RS_OK);
    must(rs_example_to_model(&m, &procs, proc_of, &err) == RS_OK);
    for (uint32_t i = 0; i < procs.ndumps; i++) must(proc_of[i] < m.nprocs);
    for (uint32_t i = 0; i < m.parts.n; i++) {
        must(m.parts.member[i] < m.nmembers);
        must(m.parts.start_source[i] != RS_FROM_KERNEL || m.members[m.parts.member[i]].gpu < m.ndomains);
    }
    must(rs_model_link(&m, &err) == RS_OK);
    must(rs_join(&m, true, &err) == RS_OK);
    rs_example_procs_free(&procs);
    rs_model_free(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *path = size % 3 ? "d/dump_12715772615376301750_0.json" : "dump-host-77.txt";
    struct rs_example d;
    struct rs_err err = {0};
    if (size > 1 << 20) return 0;
    bool is = rs_example_is(path, text, size < 4096 ? size : 4096);
    if (rs_example_parse(&d, path, text, size, &err) != RS_OK) {
        must(err.code != RS_OK && *err.msg && !d.events && !is);
        return 0;
    }
    must(d.closed || d.broken.code != RS_OK);
    uint64_t closed = 0, ranks = 0, kinds = 0;
    for (uint32_t i = 0; i < d.n; i++) {
        const struct rs_example_event *e = &d.events[i];
        must(e->kind < RS_EX_KINDS && (e->parent == RS_NONE || e->parent < i));
        must(e->op == RS_NONE || e->op <= i);
        must(e->offset < size && (e->who == RS_EX_WHO_NONE || e->rank >= 0));
        must(e->closed || e->end == RS_TIME_NONE);
        must(e->name && e->name < d.texts.n && e->cat < d.texts.n);
        closed += e->closed;
    }
    for (uint32_t i = 0; i < d.nranks; i++) ranks += d.ranks[i].colls + d.ranks[i].p2ps;
    for (int i = 0; i < RS_EX_KINDS; i++) kinds += d.counts[i];
    must(closed + d.unclosed == d.n && kinds == d.n && ranks <= d.n);
    for (uint32_t i = 0; i < d.nsleeps; i++)
        must(rs_example_sleep_after(&d, d.events[d.sleeps[i]].begin) == d.events[d.sleeps[i]].begin);
    rs_example_destroyed(&d);
    rs_example_close(&d);
    fill(text, size);
    return 0;
}
