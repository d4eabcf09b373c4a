/* Files and folders that are written under a temporary name: a signal that ends the program removes them.
 *
 * Code that creates a temporary file or folder adds it to the list, and drops it when it is complete or removed.
 * rs_unfinished_watch(), which only the command line calls, makes SIGINT, SIGTERM and SIGHUP remove what is in the list
 * before they end the program. Without it the list has no effect. A forked child removes nothing. Any thread. */
#ifndef RS_BASE_UNFINISHED_H
#define RS_BASE_UNFINISHED_H

#include <signal.h>

void rs_unfinished_watch(void);

/* Between these two the signals are blocked (in this thread; programs that write files have no other), so that creating
 * and adding are one step. */
sigset_t rs_unfinished_hold(void);
void rs_unfinished_release(const sigset_t *before);

/* The text stays the caller's, unchanged until rs_unfinished_drop(). Not added if the list is full. */
void rs_unfinished_add(const char *path);
void rs_unfinished_drop(const char *path); /* NULL, and what is not in the list, is fine */

/* Removes what is in the list, for a program that ends at once; async-signal-safe. */
void rs_unfinished_remove(void);

#endif
