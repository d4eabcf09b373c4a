/* What is being written under a temporary name: it goes away also when the program is ended by a signal.
 *
 * Who makes a temporary file or folder adds it and drops it when it is done or removed. rs_unfinished_watch(), which only
 * the command line calls, makes SIGINT, SIGTERM and SIGHUP remove what is in the list before they end the program as
 * they always do. Without it the list does nothing. A list is of the process that made it: a child that was forked
 * removes nothing. Any thread. */
#ifndef RS_BASE_UNFINISHED_H
#define RS_BASE_UNFINISHED_H

#include <signal.h>

void rs_unfinished_watch(void);

/* Between these two the signals wait (for this thread; nothing that writes files has more): what is made in between is
 * noted as well, or neither. */
sigset_t rs_unfinished_hold(void);
void rs_unfinished_release(const sigset_t *before);

/* The text stays the caller's, unchanged until rs_unfinished_drop(). Where the list is full it is not in it. */
void rs_unfinished_add(const char *path);
void rs_unfinished_drop(const char *path); /* NULL, and what is not in the list, is fine */

/* Removes what is in the list, for a program that ends at once; makes only calls that a signal handler may make. */
void rs_unfinished_remove(void);

#endif
