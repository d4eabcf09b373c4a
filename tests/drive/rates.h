/* For programs that count how often ringscope is right about generated runs: making and reading a run in this process,
 * and shares with the upper end of their 95 % interval. */
#ifndef RS_DRIVE_RATES_H
#define RS_DRIVE_RATES_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "analyse/stragglers.h"
#include "gen/gen.h"
#include "import/import.h"
#include "join/join.h"

static inline void rs_rates_die(const struct rs_err *err)
{
    fprintf(stderr, "%s\n", err->msg);
    exit(1);
}

/* Writes the run into the folder c->dir, reads and joins it, and removes the folder. */
static inline void rs_make_and_read(struct rs_model *m, struct rs_gen_config *c)
{
    struct rs_gen_result result;
    struct rs_inputs in;
    struct rs_err err;
    char command[4200], *dir = (char *)(uintptr_t)c->dir;
    c->no_truth = true;
    if (mkdir(c->dir, 0700)) rs_rates_die(&(struct rs_err){.msg = "cannot make the folder of a run"});
    if (rs_gen_run(c, &result, &err) != RS_OK) rs_rates_die(&err);
    *m = (struct rs_model){0};
    if (rs_inputs_open(&in, &dir, 1, NULL, &err) != RS_OK) rs_rates_die(&err);
    if (rs_inputs_choose(&in, RS_RUN_NEWEST, &err) != RS_OK) rs_rates_die(&err);
    if (rs_import(m, &in, NULL, &err) != RS_OK) rs_rates_die(&err);
    rs_model_link(m);
    if (rs_join(m, true, &err) != RS_OK) rs_rates_die(&err);
    rs_inputs_close(&in);
    snprintf(command, sizeof command, "rm -rf '%s'", c->dir);
    if (system(command)) exit(1);
}

struct rs_rate {
    uint64_t runs, hits;
};

static inline void rs_rate_print(const char *what, const struct rs_rate *c)
{
    double low, high;
    if (!c->runs) return;
    rs_wilson(c->hits, c->runs, &low, &high);
    printf("%-24s %5" PRIu64 " of %5" PRIu64 " (%.1f %%; at most %.1f %%)\n", what, c->hits, c->runs,
           100 * (double)c->hits / (double)c->runs, 100 * high);
}

static inline void rs_rate_add(struct rs_rate *c, bool hit)
{
    c->runs++;
    c->hits += hit;
}

#endif
