/* Maps of files that others may change: what cannot be read through the map does not end the program.
 *
 * The kernel sends SIGBUS where a page of a mapped file cannot be had: somebody cut the file shorter, its disk failed, or
 * it is a hole of a file on a full tmpfs. Guarding takes that signal over. A hole reads as the zeros that it is; what is
 * gone reads as zeros too, and is noted as trouble. Any thread. */
#ifndef RS_BASE_GUARD_H
#define RS_BASE_GUARD_H

#include <stddef.h>
#include <sys/stat.h>

struct rs_guard;

/* Guards the map of a whole file, which is `st` and was opened as `path`. NULL: out of memory, it is not guarded. */
struct rs_guard *rs_guard_take(const void *data, size_t bytes, const struct stat *st, const char *path);
/* Before it is unmapped: the addresses may mean something else at once. NULL is fine. */
void rs_guard_give_back(struct rs_guard *guard);

/* What could not be read and why, to stand behind the name of the file; NULL: nothing so far, or no guard. */
const char *rs_guard_trouble(const struct rs_guard *guard);
/* The same of any map of `path`, also of one that is gone by now. */
const char *rs_guard_trouble_of(const char *path);

#endif
