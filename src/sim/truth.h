/* What a simulated job really sent, for tests to compare recordings with: JSON Lines.
 *
 * One line per thing, told apart by "kind": job (what was asked for and how it ended), process (calls made and returned,
 * by kind; how it ended), gpu (its clock and identity), comm (members, and what a split was made from). Counts are exact
 * for killed processes too. Called after all processes have ended. */
#ifndef RS_SIM_TRUTH_H
#define RS_SIM_TRUTH_H

#include "sim/shared.h"

struct rs_sim_child {
    pid_t pid;
    bool ended;
    int status; /* from waitpid() */
};

uint64_t rs_sim_callbacks(const struct rs_sim_counts *counts);

enum rs_status rs_sim_truth_write(const char *path, const struct rs_sim_job *job, const struct rs_sim_child *children,
                                  const struct rs_sim_result *res, struct rs_err *err);

#endif
