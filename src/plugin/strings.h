/* Strings that callbacks point at: names of functions, types, algorithms.
 *
 * NCCL passes pointers to static strings, the same few all the time. Each text gets a 16-bit id, written once as a fact;
 * a record carries the id. Lookups go by pointer through a small table and compare the text, so a pointer that came to
 * mean something else is noticed. Lookups take no lock once a pointer is known; any thread may call. */
#ifndef RS_PLUGIN_STRINGS_H
#define RS_PLUGIN_STRINGS_H

#include <stdint.h>

/* The id of `text`; RS_STRING_NULL for NULL, RS_STRING_UNKNOWN when the table is full. */
uint64_t rs_string_id(const char *text);

/* In a forked child, whose recording needs the texts again. */
void rs_strings_reset(void);

#endif
