/* What a hang is told in: the sentences of a verdict, for a person who has to act.
 *
 * Texts are in the arena of the struct that they describe. */
#ifndef RS_ANALYSE_HANG_WORDS_H
#define RS_ANALYSE_HANG_WORDS_H

#include "analyse/hang.h"
#include "analyse/hang_steps.h"
#include "base/strbuf.h"

/* What was found elsewhere, in words: the detail and what to do. Both are emptied. */
void rs_hang_tell(struct rs_hang *h, struct rs_strbuf *detail, struct rs_strbuf *act);
/* The detail of a stalled step, and what to look at. */
void rs_hang_say_stalled(struct rs_hang *h, const struct rs_model *m, const struct rs_stalled *s);
/* Of a circle: `op` waits for ranks that are in `next`, and that, in the end, for ranks in `op`. */
void rs_hang_say_cycle(struct rs_hang *h, const struct rs_model *m, uint32_t op, uint32_t next);
/* Everything else. `pending`: operations that were in flight; `open`: not all processes closed. */
void rs_hang_say(struct rs_hang *h, const struct rs_model *m, uint32_t pending, bool open);

#endif
