/* Real runs, for fuzzers of the join and of what is behind it: read once, and then copied in memory for each input.
 *
 * A copy is a model as importers leave it, with a window of the parts of each communicator's members: a join of some
 * hundred parts takes a fraction of a millisecond, where reading the files takes a hundred. */
#ifndef RS_TESTS_FUZZ_REAL_RUNS_H
#define RS_TESTS_FUZZ_REAL_RUNS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "foreign/formats.h"
#include "import/import.h"
#include "model/model.h"

static void must(bool fine)
{
    if (!fine) abort();
}

struct real_run {
    char *paths[8]; /* files and folders; NULL behind the last */
    bool small; /* so few callbacks that exporters may read them for every input */
    bool read;
    struct rs_inputs inputs;
    struct rs_model whole; /* owns texts of the one below */
    struct rs_model model; /* MOST_OF_MEMBER parts of each member */
};
enum {
    MOST_OF_MEMBER = 48,
    WINDOW = 12,
    MOST_COPIED = 80
}; /* parts: of a member; of a window, by member and about in all */

/* The last ones are only joined. */
static struct real_run real_runs[] = {
    {.small = true}, /* nothing: what the input describes is all there is */
    {.small = true, .paths = {"tests/data/fuzz/runs/ring"}},
    {.small = true, .paths = {"tests/data/fuzz/runs/p2p"}},
    {.small = true, .paths = {"tests/data/fuzz/runs/graph"}},
    {.small = true,
     .paths = {"tests/data/kineto/formats", "tests/data/flight/fr_rank0.json", "tests/data/flight/fr_rank1.json"}},
    {.small = true,
     .paths = {"tests/data/example/nccl_example_7f8c496ae9f661_0.json", "tests/data/nvprof/nvprof_gpu_trace.csv",
               "tests/data/nvprof/nvprof_summary.txt", "tests/data/comma", "tests/data/ncclsee",
               "tests/data/nccl_tests/all_reduce.txt", "tests/data/inspector/inspector_rank0.log"}},
    {.small = true, .paths = {"tests/data/nsys", "tests/data/kineto/formats"}},
    {.paths = {"tests/data/h200-mix"}},
    {.paths = {"tests/data/h200-overlay/rec", "tests/data/h200-overlay/flight", "tests/data/h200-overlay/kineto"}},
    {.paths = {"tests/data/h200-tp2pp2dp2/rec", "tests/data/h200-tp2pp2dp2/flight"}},
    {.paths = {"tests/data/example/ring4", "tests/data/example/oneprocess4"}},
    {.paths = {"tests/data/flight/hang-real/recv"}},
    {.paths = {"tests/data/flight/hang-real/size"}},
    {.paths = {"tests/data/inspector"}},
    {.paths = {"tests/data/sim-aggregate"}},
    {.paths = {"tests/data/sim-one-thread"}},
    {.paths = {"tests/data/sim-threads"}},
};
enum { REAL_RUNS = sizeof real_runs / sizeof *real_runs, SMALL_RUNS = 7 };

static void *copied(const void *from, size_t bytes)
{
    void *to = bytes ? malloc(bytes) : NULL;
    must(to || !bytes);
    if (bytes) memcpy(to, from, bytes);
    return to;
}

#define COPY_TABLE(to, from, name)                                                                                     \
    ((to)->name = copied((from)->name, (from)->n##name * sizeof *(from)->name),                                        \
     (to)->n##name = (to)->cap_##name = (from)->n##name)

/* Hosts, clocks, processes, communicators, members and lanes. Texts and lists of ranks stay with the original. */
static void copy_places(struct rs_model *to, const struct rs_model *from)
{
    COPY_TABLE(to, from, domains);
    COPY_TABLE(to, from, hosts);
    COPY_TABLE(to, from, procs);
    COPY_TABLE(to, from, comms);
    COPY_TABLE(to, from, members);
    COPY_TABLE(to, from, lanes);
    for (uint32_t i = 0; i < to->ndomains; i++)
        if (to->domains[i].bounds) to->domains[i].bounds = copied(to->domains[i].bounds, sizeof(struct rs_bounds));
    for (uint32_t i = 0; i < to->nprocs; i++) {
        struct rs_proc *p = &to->procs[i];
        p->covers = copied(p->covers, p->ncovers * sizeof *p->covers);
        p->gaps = copied(p->gaps, p->ngaps * sizeof *p->gaps);
        p->callers = copied(p->callers, p->ncallers * sizeof *p->callers);
        p->stale = copied(p->stale, p->nstale * sizeof *p->stale);
    }
}

static uint16_t copy_string(struct rs_model *to, const struct rs_model *from, uint16_t id)
{
    rs_model_string(to, rs_model_text(from, id), &id);
    return id;
}

static uint32_t copy_name(struct rs_model *to, const struct rs_model *from, uint32_t id)
{
    const char *text = rs_model_name_text(from, id);
    must(rs_model_name(to, text, strlen(text), &id, NULL) == RS_OK);
    return id;
}

/* Of the parts of each member `n` behind the first `skip`; moved[part] is its new number, or RS_NONE. */
static void copy_parts(struct rs_model *to, const struct rs_model *from, uint32_t skip, uint32_t n, uint32_t *moved)
{
    const struct rs_parts *f = &from->parts;
    struct rs_parts *t = &to->parts;
    uint32_t *seen = calloc(from->nmembers + 1, sizeof *seen), i;
    must(seen != NULL);
    for (uint32_t k = 0; k < f->n; k++) {
        uint32_t nth = seen[f->member[k]]++;
        moved[k] = RS_NONE;
        if (nth < skip || nth - skip >= n) continue;
        rs_model_part(to, &i);
        moved[k] = i;
#define COPY_COLUMN(type, name) t->name[i] = f->name[k];
        RS_PART_COLUMNS(COPY_COLUMN)
        t->func[i] = copy_string(to, from, f->func[k]);
        t->dtype[i] = copy_string(to, from, f->dtype[k]);
        t->algo[i] = copy_string(to, from, f->algo[k]);
        t->proto[i] = copy_string(to, from, f->proto[k]);
    }
    free(seen);
}

/* What ran on lanes: the first `n` of each lane, and what parts of the window ran in. */
static void copy_activities(struct rs_model *to, const struct rs_model *from, uint32_t n, const uint32_t *part_moved)
{
    const struct rs_activities *f = &from->activities;
    struct rs_activities *t = &to->activities;
    uint32_t *seen = calloc(from->nlanes + 1, sizeof *seen), *moved = malloc((f->n + 1) * sizeof *moved), i;
    must(seen && moved);
    for (uint32_t k = 0; k < f->n; k++) {
        uint32_t part = f->part[k] == RS_NONE ? RS_NONE : part_moved[f->part[k]];
        moved[k] = RS_NONE;
        if (part == RS_NONE && seen[f->lane[k]]++ >= n) continue;
        rs_model_activity(to, &i);
        moved[k] = i;
#define COPY_ACTIVITY(type, name) t->name[i] = f->name[k];
        RS_ACTIVITY_COLUMNS(COPY_ACTIVITY)
        t->part[i] = part;
        t->name[i] = copy_name(to, from, f->name[k]);
    }
    for (i = 0; i < t->n; i++) t->launch[i] = t->launch[i] == RS_NONE ? RS_NONE : moved[t->launch[i]];
    free(seen);
    free(moved);
}

/* What is told of parts, beside them, and of members. */
static void copy_extras(struct rs_model *to, const struct rs_model *from, uint32_t n, const uint32_t *moved)
{
    for (uint32_t i = 0; i < from->ntags; i++) {
        struct rs_tag row = from->tags[i];
        row.part = moved[row.part];
        row.scope = row.part == RS_NONE ? 0 : copy_name(to, from, row.scope);
        if (row.part != RS_NONE) rs_model_tag(to, &row);
    }
    for (uint32_t i = 0; i < from->ncut_numbers; i++) {
        struct rs_cut_number row = from->cut_numbers[i];
        row.part = moved[row.part];
        if (row.part != RS_NONE) rs_model_cut_number(to, &row);
    }
    for (uint32_t i = 0; i < from->nspots; i++) {
        struct rs_spot row = from->spots[i];
        row.part = row.part == RS_NONE ? RS_NONE : moved[row.part];
        if (row.part != RS_NONE) rs_model_spot(to, &row);
    }
    for (uint32_t i = 0; i < from->nopens && i < n; i++) {
        struct rs_open row = from->opens[i];
        row.part = row.part == RS_NONE ? RS_NONE : moved[row.part];
        rs_model_open(to, &row);
    }
    for (uint32_t i = 0; i < from->nnets && i < n; i++) rs_model_net(to, &from->nets[i]);
    for (uint32_t i = 0; i < from->nnet_samples && i < n; i++) rs_model_net_sample(to, &from->net_samples[i]);
    for (uint32_t i = 0; i < from->nstats && i < n; i++) {
        struct rs_stat row = from->stats[i];
        row.func = copy_string(to, from, row.func);
        row.name = copy_name(to, from, row.name);
        row.within = copy_name(to, from, row.within);
        row.thread = copy_name(to, from, row.thread);
        rs_model_stat(to, &row);
    }
}

/* An empty model becomes a window of a run. */
static void copy_run(struct rs_model *to, const struct rs_model *from, uint32_t skip, uint32_t n)
{
    uint32_t *moved = malloc((from->parts.n + 1) * sizeof *moved);
    must(moved != NULL);
    copy_places(to, from);
    copy_parts(to, from, skip, n, moved);
    copy_activities(to, from, n, moved);
    copy_extras(to, from, n, moved);
    to->callbacks = from->callbacks;
    free(moved);
}

/* Read when it is asked for first. */
static const struct real_run *real_run(unsigned number)
{
    struct real_run *r = &real_runs[number];
    size_t n = 0;
    struct rs_err err;
    if (r->read) return r;
    r->read = true;
    while (n < 8 && r->paths[n]) n++;
    if (!n) return r;
    must(rs_inputs_open(&r->inputs, r->paths, n, NULL, &err) == RS_OK &&
         rs_formats_recognise(&r->inputs, &err) == RS_OK);
    must(rs_import(&r->whole, &r->inputs, NULL, &err) == RS_OK);
    must(rs_formats_fill(&r->whole, &r->inputs, NULL, &err) == RS_OK);
    copy_run(&r->model, &r->whole, 0, MOST_OF_MEMBER);
    return r;
}

#endif
