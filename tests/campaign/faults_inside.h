/* Faults that the driver does to itself: functions for the table. */
#ifndef RS_CAMPAIGN_FAULTS_INSIDE_H
#define RS_CAMPAIGN_FAULTS_INSIDE_H

#include "driver.h"

#define INSIDE(NAME) void NAME(struct driver *d, const struct planned *p)

INSIDE(in_seccomp); /* EPERM or ENOSYS from some system calls */
INSIDE(in_failing_writes);
INSIDE(in_slow_writes);
INSIDE(in_few_descriptors);
INSIDE(in_small_files);
INSIDE(in_first_in_constructor); /* while the workers make theirs */

INSIDE(in_fork_silent); /* the child calls, and has no communicator of its own */
INSIDE(in_fork_recording);
INSIDE(in_fork_raw);
INSIDE(in_vfork);
INSIDE(in_close_all);
INSIDE(in_churn); /* threads that come and go */
INSIDE(in_cancel);
INSIDE(in_signals);
INSIDE(in_hold); /* threads stay inside callbacks for milliseconds */
INSIDE(in_constructor);
INSIDE(in_clock_step);
INSIDE(in_communicators);

INSIDE(end_exit);
INSIDE(end_exit_calling);
INSIDE(end_quick);
INSIDE(end_quick_calling);
INSIDE(end_abort);
INSIDE(end_kill);
INSIDE(end_kill_calling);
INSIDE(end_execve);
INSIDE(end_execve_calling);
INSIDE(end_pthread_exit);
INSIDE(end_exit_elsewhere); /* by a thread that is not main */

#endif
