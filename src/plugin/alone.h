/* Whether the process is over but for threads of the recorder: main ended by pthread_exit() and so did the rest.
 *
 * The kernel keeps a process as long as it has a thread, so ours must end then. */
#ifndef RS_PLUGIN_ALONE_H
#define RS_PLUGIN_ALONE_H

#include <stdbool.h>

/* Once, while the main thread runs. */
void rs_alone_start(void);
/* `idle`: no communicator is alive. It decides where there is no /proc: then a process whose main thread is gone, and of
 * whose other threads none has called in and not ended, is taken to be over. Costs one system call while main runs. */
bool rs_is_alone(bool idle);

#endif
