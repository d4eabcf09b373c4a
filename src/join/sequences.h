/* The operations of each communicator as comparable sequences: one per function, one per direction of sends and
 * receives. Owned by the struct until rs_sequences_free(). */
#ifndef RS_JOIN_SEQUENCES_H
#define RS_JOIN_SEQUENCES_H

#include "model/model.h"

struct rs_sequence {
    uint32_t comm;
    uint8_t kind; /* enum rs_op_kind */
    uint32_t a, b; /* of pairs: src and dst; else the function and 0 */
    uint32_t first, n; /* ops[first .. first + n) */
};

struct rs_sequences {
    struct rs_sequence *all; /* by communicator */
    uint32_t n, cap;
    uint32_t *ops;
    uint32_t *of; /* sequences of communicator c: all[of[c] .. of[c + 1]) */
};

/* All operations except those of CUDA graphs, which are reported at other times than they are called. In the order of
 * their numbers. */
void rs_sequences_init(struct rs_sequences *s, const struct rs_model *m);
void rs_sequences_free(struct rs_sequences *s);

/* The sequence of communicator `comm` of a kind; NULL: none. */
const struct rs_sequence *rs_sequences_find(const struct rs_sequences *s, uint32_t comm, uint8_t kind, uint32_t a,
                                            uint32_t b);

#endif
