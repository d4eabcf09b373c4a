/* The same trace given more than once: one file under two names or by two ways, plain and packed beside each other, or
 * a copy. Each is read once, as every operation would be there twice otherwise. Owns nothing. */
#ifndef RS_FOREIGN_DEDUP_H
#define RS_FOREIGN_DEDUP_H

#include "trace/inputs.h"

/* A hash of bytes, block by block: begin with RS_TWICE_NOTHING. */
#define RS_TWICE_NOTHING UINT64_C(0xcbf29ce484222325)
uint64_t rs_dedup_hash(uint64_t before, const char *bytes, size_t n);

/* Takes those of in->others that are there already out of them, and notes each as unreadable, with the reason. `heads`
 * has a hash of the first bytes of each, unpacked: only files that are equal there are read through. */
enum rs_status rs_dedup_drop(struct rs_inputs *in, const uint64_t *heads, struct rs_err *err);

#endif
