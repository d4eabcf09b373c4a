/* A program that does to its descriptors what it likes, and looks whether the recorder minds, or gets in its way. */
#ifndef RS_TESTS_HOSTILE_H
#define RS_TESTS_HOSTILE_H

#include "play.h"

/* Those system calls (numbers, separated by commas) fail with EPERM from here on, as in a strict container. */
void refuse_calls(const char *numbers);

/* What was opened before the recorder began. */
struct belongings {
    int pipe[2], port, locked;
};
void take_belongings(struct belongings *b);
/* Prints which descriptor the recording has here. Then closes its own, and prints what is still held: a pipe that does not
 * end, a port or a lock that is taken. */
void check_belongings(struct belongings *b);

/* Closes all files and opens others in their place, over and over for `seconds` while threads play; prints how many of its
 * own empty files were written into. */
void race_descriptors(const struct load *load, double seconds);

/* Plays one thread's load at its rate, and prints the longest time that 16 callbacks took. */
void play_timed(const struct load *load);

#endif
