/* Inside an operation that every rank entered and none finished: the network step that all others wait for.
 *
 * Steps that were open at the end say, for each hop of data from a rank to the next, how far it came and what it waits
 * for. The hop with the fewest steps done is looked at first; where its sender's GPU has nothing to send because its own
 * data has not come, the search goes on at the hop it receives from. A step after which its process lost callbacks may
 * be over: it is not used where others say more. Pure; any thread. */
#ifndef RS_ANALYSE_HANG_STEPS_H
#define RS_ANALYSE_HANG_STEPS_H

#include "model/model.h"

enum rs_stall {
    RS_STALL_NONE, /* no step was open */
    RS_STALL_SOMEWHERE, /* all steps are at the same position: they do not show who is behind */
    RS_STALL_LINK, /* data left, or should have been asked for, and did not arrive: the network between the two */
    RS_STALL_GPU, /* the rank's own GPU gives no data, or takes none */
    RS_STALL_RANK, /* the rank's network thread does nothing for its peer */
};

struct rs_stalled {
    enum rs_stall kind;
    int32_t rank, peer; /* in the communicator: who is to blame, and towards whom */
    int32_t step, state, channel; /* the step as the rank or, where it has none, its peer recorded it; state -1: none */
    bool is_send; /* of the rank towards the peer */
    bool fed; /* of a GPU that gives no data: the rank was seen to receive, over the network, what the step needs */
    bool unsure; /* later records of the rank are lost: it may have gone on */
    int64_t since; /* latest change of that step */
};

void rs_hang_steps(const struct rs_model *m, uint32_t op, struct rs_stalled *out);

#endif
