/* Descriptors of the recorder, out of the program's way.
 *
 * Programs close descriptors that are not theirs and use the numbers again: a write of ours would then land in a file of
 * theirs. So the background thread has a descriptor table of its own, empty but for what it opens itself: nothing of the
 * program is held open by it (pipes, ports, locks), and nothing that the program does to its descriptors reaches it. Where a
 * container's profile refuses that, descriptors are as high as allowed, and looked at right before each write (files.h).
 * Threads that the background thread starts share its table. */
#ifndef RS_PLUGIN_TABLE_H
#define RS_PLUGIN_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/* In the background thread, before it opens anything. false: refused, it still shares the program's. */
bool rs_table_take(void);
/* Whether the background thread has a table of its own. */
bool rs_table_is_own(void);
/* In a forked child, which has a copy of the program's. */
void rs_table_forget(void);

/* open() with O_CLOEXEC and O_NOFOLLOW, for files that stay open; files that it creates are their owner's alone. The number
 * is a high one: not among the standard streams, which a library may write to. -1: errno says why. */
int rs_table_open(const char *path, int flags);
/* The first bytes of a file as text, without its newline; "" where it cannot be read. */
void rs_table_read_line(const char *path, char *to, size_t bytes);

#endif
