/* Strings in callbacks: names of functions, types, algorithms.
 *
 * NCCL passes pointers to static strings, the same few all the time. Each text gets a 16-bit id, written once as a
 * fact; records contain the id. Lookups use the pointer as a key and compare the text, so a pointer whose text changed
 * is noticed. Lookups of a known pointer take no lock; any thread may call. */
#ifndef RS_PLUGIN_STRINGS_H
#define RS_PLUGIN_STRINGS_H

#include <stdint.h>

/* The id of `text`; RS_STRING_NULL for NULL, RS_STRING_UNKNOWN when the table is full. */
uint64_t rs_string_id(const char *text);

/* In a forked child, whose recording needs the texts again. */
void rs_strings_reset(void);

#endif
