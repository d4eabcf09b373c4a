/* Any bytes as an example-profiler dump: rows that hang together, or a reason why there are none. */
#include <stdlib.h>
#include <string.h>

#include "import/example.h"
#include "model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int fine)
{
    if (!fine) abort();
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
    return 0;
}
