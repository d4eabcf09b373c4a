/* Mappings of files that others may change: a page that cannot be read does not end the program.
 *
 * The kernel sends SIGBUS if a page of a mapped file cannot be read: the file was truncated, its disk failed, or it is
 * a hole of a file on a full tmpfs. The guard handles that signal. A hole reads as zeros; so does what is gone, which
 * is noted as trouble. Any thread. */
#ifndef RS_BASE_GUARD_H
#define RS_BASE_GUARD_H

#include <stddef.h>
#include <sys/stat.h>

struct rs_guard;

/* Guards the mapping of a whole file, whose status is `st` and which was opened as `path`. NULL: out of memory, not
 * guarded. */
struct rs_guard *rs_guard_take(const void *data, size_t bytes, const struct stat *st, const char *path);
/* To be called before unmapping: the addresses may be reused at once. NULL is fine. */
void rs_guard_give_back(struct rs_guard *guard);

/* What could not be read and why, to be printed after the name of the file; NULL: nothing so far, or no guard. */
const char *rs_guard_trouble(const struct rs_guard *guard);
/* The same for any mapping of `path`, including one that was unmapped. */
const char *rs_guard_trouble_of(const char *path);

#endif
