/* Whether the process is over but for threads of the recorder: main ended by pthread_exit() and so did the rest.
 *
 * The kernel keeps a process as long as it has a thread, so ours must end then. */
#ifndef RS_PLUGIN_ALONE_H
#define RS_PLUGIN_ALONE_H

#include <stdbool.h>

enum rs_thread { RS_THREAD_SEALER, RS_THREAD_LOG, RS_THREAD_TIDY, RS_THREADS };

/* Once, while the main thread runs. */
void rs_alone_start(void);
/* The calling thread is this one of ours: gives it its name, by which other copies of the recorder know it too. */
void rs_alone_begin(enum rs_thread which);
void rs_alone_end(enum rs_thread which);
/* In a forked child. */
void rs_alone_forget(void);
/* `idle`: no communicator is alive. It decides where there is no /proc: then a process whose main thread is gone, and of
 * whose other threads none has called in and not ended, is taken to be over; with a communicator alive, once nothing has
 * called in for 5 s. Costs one system call while main runs. */
bool rs_is_alone(bool idle);

#endif
