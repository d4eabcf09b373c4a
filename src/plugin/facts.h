/* Facts: what is recorded once about the process, and never overwritten.
 *
 * Facts are written under a lock into buffers of their own, in the same mapping as the events, and sealed by the
 * background thread into chunks of their own. Any thread may call; nothing here is on the fast path. A fact that finds
 * no room is counted; so is one of a signal handler that interrupts its own thread in here, which must not wait. */
#ifndef RS_PLUGIN_FACTS_H
#define RS_PLUGIN_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/layout.h"

/* A fact whose payload is `a`, then `b` (which may be empty). false: no room, counted. */
bool rs_fact(enum rs_fact_type type, uint64_t tick, const void *a, size_t a_bytes, const void *b, size_t b_bytes);

bool rs_fact_info(const char *key, const char *value);
bool rs_fact_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The lock. It also protects the table of strings: with two locks, a signal handler that interrupts the holder of one
 * could wait for the other. false: this thread holds it already. */
bool rs_facts_lock(void);
void rs_facts_unlock(void);
/* With the lock held. */
bool rs_fact_string(uint32_t id, const char *text);

/* Once the pool is open: writes the facts recorded before. */
void rs_facts_open(void);

/* The current buffer of facts (index + 1; 0 = none): the background thread seals its filled part as well. */
uint32_t rs_facts_buffer(void);
/* Counts the facts of buffer `index` from word `from` on as lost: they could not be written, and the process ends. */
void rs_facts_discard(uint32_t index, uint32_t from);
/* Fills in lost_lives and lost_facts. */
void rs_facts_status(struct rs_status_block *status);
/* In a forked child. */
void rs_facts_reset(void);

#endif
