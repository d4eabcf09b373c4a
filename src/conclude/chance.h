/* Whether a rank (or a host) is later than its equals beyond chance.
 *
 * Units of a group do the same work, so without a cause each of them is as likely to be the latest of a step as any
 * other: within a step they are exchangeable. Of each step only the order of the units counts, so that a few large
 * delays decide nothing; the statistic of a unit is the sum of its scores (its place in the order) over the steps. Of
 * few steps, those in which the units are further apart count more. Its
 * distribution over all permutations within steps is computed exactly, or, for many steps, by its normal limit, whose
 * tail is the larger one. A p-value is multiplied by the number of units: the level holds for naming anyone at all. If
 * scores of neighbouring steps are correlated (bursts), there are fewer independent steps, by the sum of the
 * autocorrelations.
 *
 * Chance is not all: equals differ a little for good, and a difference below the error of times is none. A unit is
 * found if, in addition, it is late in most steps, by more than the error, and by much more than its equals differ from
 * each other.
 *
 * Functions of numbers alone; deterministic. Owned until rs_chance_free(). One thread at a time. */
#ifndef RS_CONCLUDE_CHANCE_H
#define RS_CONCLUDE_CHANCE_H

#include <stdbool.h>
#include <stdint.h>

#define RS_CHANCE_LEVEL 0.005 /* of naming any unit by chance */
#define RS_CHANCE_MOST_STEPS 0.7 /* share of the steps in which a unit must be late */
enum { RS_CHANCE_LEAST_STEPS = 5 };

/* How late each unit is in each step, relative to anything that the units of a group share. */
struct rs_chance_table {
    const float *late; /* [unit * steps + step], ns; NAN: unknown */
    const uint32_t *group; /* by unit; RS_NONE: has no equals */
    uint32_t units, groups, steps;
    double error_ns; /* of a value */
};

struct rs_chance_row {
    uint32_t steps, late; /* steps in which it was compared; those in which it was late by more than twice the error */
    uint32_t equals; /* the other units of its group */
    double effect_ns, low_ns, high_ns; /* median of how much later than the median of its equals; 95 % interval */
    double least_ns; /* by how much it must be later than its equals to differ from their spread and from the error */
    double p; /* for all units; 1: not compared */
    bool found;
};

struct rs_chance {
    struct rs_chance_row *rows; /* by unit */
    uint32_t units;
    uint32_t compared; /* units with equals and enough steps */
    uint32_t steps; /* most that a unit was compared in */
    double correlated; /* steps that carry as much as one independent step; 1: independent */
    double seen_ns; /* a constant delay per step of this or more would have been found in any compared unit; NAN: none
                       would */
};

void rs_chance_init(struct rs_chance *c, const struct rs_chance_table *t);
void rs_chance_free(struct rs_chance *c);

#endif
