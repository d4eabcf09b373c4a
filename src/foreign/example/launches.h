/* Kernel launches of one dump, and which operation each is of.
 *
 * A launch and its operations lie in the same group call and are of the same rank; operations are told after their
 * launch. The struct is the caller's to free. One thread at a time. */
#ifndef RS_FOREIGN_EXAMPLE_LAUNCHES_H
#define RS_FOREIGN_EXAMPLE_LAUNCHES_H

#include "foreign/example/example.h"

struct rs_example_launch {
    uint64_t comm;
    int32_t rank;
    uint32_t group; /* outermost event around it */
    uint32_t event;
    int64_t begin, end; /* host ns; begin RS_TIME_NONE: not told */
    int64_t low; /* it cannot have begun before this; RS_TIME_NONE: not known */
};

struct rs_example_launches {
    struct rs_example_launch *rows; /* by group, communicator, rank and end */
    uint32_t n;
};

enum rs_status rs_example_launches_find(struct rs_example_launches *x, const struct rs_example *d, struct rs_err *err);
void rs_example_launches_free(struct rs_example_launches *x);

/* The launch of an operation; NULL: not known. */
const struct rs_example_launch *rs_example_launch_of(const struct rs_example_launches *x, const struct rs_example *d,
                                                     uint32_t event);
/* The outermost event around one; itself where nothing is. */
uint32_t rs_example_outermost(const struct rs_example *d, uint32_t event);

#endif
