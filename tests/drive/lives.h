/* Lives of a process that loads the plugin: many inits at once, reloads, forks. */
#ifndef RS_TESTS_LIVES_H
#define RS_TESTS_LIVES_H

#include "play.h"

/* Every thread of `load` makes a communicator of its own, all at the same time, plays `count`, and ends it. */
void live_storm(const struct load *load);
/* Rounds of load, init, play, finalize, dlclose; each round's threads have rows of their own. */
void live_reload(struct load *load, int api, unsigned rounds);
/* Forks while threads are playing: children that only call, that init, that exec. Ends when the load has ended. */
void live_fork(struct load *load, struct truth *child_truth);

/* Closes all files in the middle of the load, as daemons do, and opens others: they must stay empty. Prints and exits with 9
 * if they do not. */
void live_close_files(struct load *l);

#endif
