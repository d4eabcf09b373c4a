/* The sentences of a finding, for a person who has to act: what is the case, and what to do.
 *
 * Texts are in the arena of the struct rs_hang that is being made. Inner part of hang.c. */
#ifndef RS_ANALYSE_HANG_WORDS_H
#define RS_ANALYSE_HANG_WORDS_H

#include "analyse/hang_causes.h"
#include "analyse/hang_steps.h"
#include "base/strbuf.h"

/* Of one finding: the evidence in short, in sentences, and what to do. */
struct rs_hang_words {
    struct rs_strbuf detail, said, act;
};

/* These become the words of work->now, and are freed. */
void rs_hang_set_words(struct rs_hang_work *w, struct rs_hang_words *words);

void rs_hang_say_stalled(struct rs_hang_work *w, const struct rs_stalled *s);
/* Of a cycle: `op` waits for ranks that are in `next`, and that, in the end, for ranks in `op`. */
void rs_hang_say_cycle(struct rs_hang_work *w, uint32_t op, uint32_t next);
/* Of ranks that called `odd` where the others called `usual`. */
void rs_hang_say_instead(struct rs_hang_work *w, uint32_t odd, uint32_t usual);
/* Of ranks that gave other arguments than their equals in other groups, of which `usual` is a call. */
void rs_hang_say_odd(struct rs_hang_work *w, uint32_t usual);
/* Of a finding that has no words yet: dead, not joined, mismatch, stream blocked. */
void rs_hang_say_finding(struct rs_hang_work *w);
/* When all findings are made: their sentences one after the other, and what weakens them. `open`: not all processes
 * closed. */
void rs_hang_conclude(struct rs_hang_work *w, bool open);

#endif
