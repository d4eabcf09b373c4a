/* The last lines of `ringscope overlap`: plain sentences that an operator can act on. Nothing below the clock error. */
#ifndef RS_ANALYSE_PROFILE_WORDS_H
#define RS_ANALYSE_PROFILE_WORDS_H

#include "analyse/profile.h"

/* Fills p->conclusion from the rest of it. */
enum rs_status rs_profile_conclude(struct rs_profile *p, struct rs_err *err);

#endif
