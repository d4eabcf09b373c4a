/* Whether only threads of the recorder are left in the process: main and all others ended by pthread_exit().
 *
 * The kernel keeps a process as long as it has a thread, so ours must end then. */
#ifndef RS_PLUGIN_ALONE_H
#define RS_PLUGIN_ALONE_H

#include <stdbool.h>

enum rs_thread { RS_THREAD_SEALER, RS_THREAD_LOG, RS_THREAD_TIDY, RS_THREADS };

/* Once, while the main thread runs. */
void rs_alone_start(void);
/* The calling thread is this one: gives it its name, by which other copies of the recorder recognise it too. */
void rs_alone_begin(enum rs_thread which);
void rs_alone_end(enum rs_thread which);
/* In a forked child. */
void rs_alone_forget(void);
/* `idle`: no communicator is alive. It matters only without /proc: then a process is considered over if its main thread
 * is gone and no thread that made a callback is left; with a communicator alive, once there was no callback for 5 s.
 * Costs one system call while main runs. */
bool rs_is_alone(bool idle);

#endif
