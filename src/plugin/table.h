/* The recorder's own descriptor table.
 *
 * Programs close descriptors that are not theirs and reuse the numbers: our writes would then go to their files. So the
 * background thread has its own table, which contains only what it opens itself: it keeps none of the program's pipes,
 * ports or locks open, and the program cannot close its descriptors. If a container's profile refuses that, descriptors
 * are as high as allowed, and checked right before each write (files.h). Threads started by the background thread share
 * its table. */
#ifndef RS_PLUGIN_TABLE_H
#define RS_PLUGIN_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/* In the background thread, before it opens anything. false: refused, the table is shared with the program. */
bool rs_table_take(void);
/* Whether the background thread has a table of its own. */
bool rs_table_is_own(void);
/* In a forked child, which has a copy of the program's table. */
void rs_table_forget(void);

/* open() with O_CLOEXEC and O_NOFOLLOW, for files that stay open; created files are private to the user. The number is
 * high, to avoid the standard streams, which a library may write to. -1: errno says why. */
int rs_table_open(const char *path, int flags);
/* The first bytes of a file as text, without its newline; "" if it cannot be read. */
void rs_table_read_line(const char *path, char *to, size_t bytes);

#endif
