#include "faults.h"

#include <signal.h>
#include <string.h>

#include "faults_inside.h"
#include "faults_outside.h"

#define KILLED SIGKILL /* as waitpid() has it */
#define ABORTED SIGABRT
#define EXITED(N) ((N) << 8)
#define ANY_STATUS (-1)

/* On a full tmpfs a hole in a file cannot even be read through a mapping: the reader may not know, there.
 *
 * name, when, needs, weight, flags, inside the driver, outside of it, status of the driver */
const struct fault faults[] = {
    {"on a disk", WHEN_PLACE, 0, 6, 0, NULL, NULL, 0},
    {"on a tmpfs", WHEN_PLACE, NEED_MOUNT, 4, MAY_LEAVE, NULL, place_tmpfs, 0},
    {"on a full disk", WHEN_PLACE, NEED_MOUNT, 2, MAY_BE_MUTE | MAY_LEAVE | MAY_NOT_KNOW, NULL, place_tiny, 0},
    {"on a ramfs", WHEN_PLACE, NEED_MOUNT, 3, 0, NULL, place_ramfs, 0},
    {"on an ext4 of its own", WHEN_PLACE, NEED_ROOT, 1, IS_LOOP | MAY_LEAVE, NULL, place_loop, 0},

    {"system calls refused", WHEN_SETUP, 0, 4, NO_LOCK, in_seccomp, NULL, 0},
    {"writes that fail", WHEN_SETUP, 0, 4, SHIMMED | MAY_BE_MUTE | MAY_LEAVE, in_failing_writes, NULL, 0},
    {"slow writes", WHEN_SETUP, 0, 3, SHIMMED | MAY_LEAVE, in_slow_writes, NULL, 0},
    {"few descriptors", WHEN_SETUP, 0, 2, MAY_BE_MUTE | MAY_LEAVE, in_few_descriptors, NULL, 0},
    {"limit on files", WHEN_SETUP, 0, 2, MAY_BE_MUTE | MAY_LEAVE, in_small_files, NULL, 0},
    {"no /proc", WHEN_SETUP, NEED_MOUNT, 2, MAY_SEEM_ALIVE, NULL, out_no_proc, 0},
    {"NCCL unloaded", WHEN_SETUP, 0, 6, UNLOADS, NULL, NULL, 0},
    {"first in a constructor", WHEN_SETUP, 0, 3, LOADS, in_first_in_constructor, NULL, 0},

    {"fork", WHEN_INSIDE, 0, 2, 0, in_fork_silent, NULL, 0},
    {"fork, child records", WHEN_INSIDE, 0, 3, 0, in_fork_recording, NULL, 0},
    {"_Fork", WHEN_INSIDE, 0, 2, 0, in_fork_raw, NULL, 0},
    {"vfork, execve", WHEN_INSIDE, 0, 2, 0, in_vfork, NULL, 0},
    {"all descriptors closed", WHEN_INSIDE, 0, 5, CLOSES, in_close_all, NULL, 0},
    {"short threads", WHEN_INSIDE, 0, 3, 0, in_churn, NULL, 0},
    {"threads cancelled", WHEN_INSIDE, 0, 3, 0, in_cancel, NULL, 0},
    {"callbacks in signals", WHEN_INSIDE, 0, 3, SIGNALS, in_signals, NULL, 0},
    {"held in callbacks", WHEN_INSIDE, 0, 3, 0, in_hold, NULL, 0},
    {"constructor", WHEN_INSIDE, 0, 2, LOADS, in_constructor, NULL, 0},
    {"clock set", WHEN_INSIDE, 0, 3, SHIMMED, in_clock_step, NULL, 0},
    {"many communicators", WHEN_INSIDE, 0, 3, 0, in_communicators, NULL, 0},

    {"stopped", WHEN_OUTSIDE, 0, 3, 0, NULL, out_stop, 0},
    {"control", WHEN_OUTSIDE, 0, 5, 0, NULL, out_control, 0},
    {"control: garbage", WHEN_OUTSIDE, 0, 2, 0, NULL, out_control_garbage, 0},
    {"control: link", WHEN_OUTSIDE, 0, 2, 0, NULL, out_control_link, 0},
    {"read while running", WHEN_OUTSIDE, 0, 5, 0, NULL, out_read, 0},
    {"gather while running", WHEN_OUTSIDE, 0, 4, 0, NULL, out_gather, 0},
    {"gather while stopped", WHEN_OUTSIDE, NEED_ROOT | NEED_LONG, 1, 0, NULL, out_gather_stopped, 0},
    {"copied while running", WHEN_OUTSIDE, 0, 4, 0, NULL, out_copy, 0},
    {"frozen disk", WHEN_OUTSIDE, NEED_ROOT, 2, NEEDS_LOOP | MAY_LEAVE, NULL, out_freeze, 0},
    {"frozen for long", WHEN_OUTSIDE, NEED_ROOT | NEED_LONG, 1, NEEDS_LOOP | MAY_LEAVE | MAY_BE_MUTE, NULL,
     out_freeze_long, 0},
    {"disk fills up", WHEN_OUTSIDE, NEED_MOUNT, 2, MAY_LEAVE | MAY_NOT_KNOW | MAY_BE_MUTE, NULL, out_fill, 0},
    {"/dev/shm fills up", WHEN_OUTSIDE, NEED_MOUNT, 2, 0, NULL, out_fill_shm, 0},
    {"recording renamed", WHEN_OUTSIDE, 0, 1, MAY_NOT_KNOW, NULL, out_rename, 0},
    {"recording deleted", WHEN_OUTSIDE, 0, 1, MAY_DAMAGE, NULL, out_delete, 0},
    {"recording truncated", WHEN_OUTSIDE, 0, 2, MAY_DAMAGE, NULL, out_truncate, 0},

    {"recording cut afterwards", WHEN_AFTER, 0, 1, 0, NULL, after_cut, 0},
    {"bit flipped afterwards", WHEN_AFTER, 0, 1, 0, NULL, after_flip, 0},

    {"exit", WHEN_ENDING, 0, 4, 0, end_exit, NULL, EXITED(0)},
    {"exit while calling", WHEN_ENDING, 0, 6, 0, end_exit_calling, NULL, EXITED(0)},
    {"exit in a thread", WHEN_ENDING, 0, 2, 0, end_exit_elsewhere, NULL, EXITED(0)},
    {"_exit", WHEN_ENDING, 0, 2, ENDS_KILLED, end_quick, NULL, EXITED(0)},
    {"_exit while calling", WHEN_ENDING, 0, 2, ENDS_KILLED, end_quick_calling, NULL, EXITED(0)},
    {"abort", WHEN_ENDING, 0, 2, ENDS_KILLED, end_abort, NULL, ABORTED},
    {"kill -9", WHEN_ENDING, 0, 3, ENDS_KILLED, end_kill, NULL, KILLED},
    {"kill -9 while calling", WHEN_ENDING, 0, 5, ENDS_KILLED, end_kill_calling, NULL, KILLED},
    {"kill -9 in exit", WHEN_ENDING, 0, 6, ENDS_KILLED, end_exit_calling, end_kill_in_exit, ANY_STATUS},
    {"execve", WHEN_ENDING, 0, 2, ENDS_KILLED, end_execve, NULL, EXITED(7)},
    {"execve while calling", WHEN_ENDING, 0, 2, ENDS_KILLED, end_execve_calling, NULL, EXITED(7)},
    {"pthread_exit of main", WHEN_ENDING, 0, 3, 0, end_pthread_exit, NULL, EXITED(0)},
};
const int nfaults = sizeof faults / sizeof *faults;

int fault_named(const char *name)
{
    for (int i = 0; i < nfaults; i++)
        if (!strcmp(faults[i].name, name)) return i;
    return -1;
}
