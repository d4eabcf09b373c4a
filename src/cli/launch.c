#include "cli/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/print/output.h"

enum { LAUNCH_NOT_EXECUTABLE = 126, LAUNCH_NOT_FOUND = 127 };

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

/* The signals to wait for: those above, unless our caller ignores them (nohup), and SIGCHLD. */
static sigset_t signals_to_take(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++) {
        struct sigaction now;
        if (sigaction(passed_on[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN) sigaddset(&set, passed_on[i]);
    }
    return set;
}

/* In the child: becomes the program, or reports errno through the pipe, which closes itself on success. */
static _Noreturn void become(char *const *argv, const sigset_t *mask, const struct sigaction *chld, int report)
{
    sigaction(SIGCHLD, chld, NULL);
    rs_output_restore_signals();
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(argv[0], argv);
    int why = errno;
    ssize_t n = write(report, &why, sizeof(why));
    _exit(n == (ssize_t)sizeof(why) ? LAUNCH_NOT_FOUND : LAUNCH_NOT_EXECUTABLE);
}

static int wait_passing_signals(pid_t child, struct rs_watch *watch, const sigset_t *set)
{
    int status;
    for (;;) {
        pid_t got = waitpid(child, &status, WNOHANG);
        if (got == child) return status;
        siginfo_t info;
        int ms = watch == NULL ? -1 : rs_watch_look(watch, child);
        struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
        int sig = ms < 0 ? sigwaitinfo(set, &info) : sigtimedwait(set, &info, &pause);
        /* What the terminal sends (si_code SI_KERNEL) goes to the whole foreground group: the child has it already. */
        if (sig > 0 && sig != SIGCHLD && info.si_code != SI_KERNEL) kill(child, sig);
    }
}

enum rs_status rs_launch(char *const *argv, struct rs_watch *watch, struct rs_launch_end *end, struct rs_err *err)
{
    *end = (struct rs_launch_end){.status = LAUNCH_NOT_EXECUTABLE};
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) return rs_fail_errno(err, "cannot make a pipe");

    /* Blocked before the fork, so that no signal falls between the child's birth and our waiting for it. A SIGCHLD
     * that our caller ignores would make the kernel reap the child unseen. */
    sigset_t set = signals_to_take(), mask_before;
    struct sigaction usual = {.sa_handler = SIG_DFL}, chld_before;
    sigaction(SIGCHLD, &usual, &chld_before);
    sigprocmask(SIG_BLOCK, &set, &mask_before);

    pid_t child = fork();
    if (child == 0) become(argv, &mask_before, &chld_before, report[1]);
    close(report[1]);
    enum rs_status status = RS_OK;
    int why = 0;
    if (child < 0) {
        status = rs_fail_errno(err, "cannot start another process");
    } else {
        ssize_t n;
        while ((n = read(report[0], &why, sizeof(why))) < 0 && errno == EINTR) continue;
        int wait_status = wait_passing_signals(child, watch, &set);
        if (n == (ssize_t)sizeof(why)) {
            end->status = why == ENOENT || why == ENOTDIR ? LAUNCH_NOT_FOUND : LAUNCH_NOT_EXECUTABLE;
            errno = why;
            status = rs_fail_errno(err, "cannot run '%s'", argv[0]);
        } else if (WIFSIGNALED(wait_status)) {
            end->signal = WTERMSIG(wait_status);
            end->status = 128 + end->signal;
        } else {
            end->status = WEXITSTATUS(wait_status);
        }
    }
    close(report[0]);
    /* Signals that came for a child that was gone by then are no longer of use to anybody. */
    struct timespec now = {0};
    while (sigtimedwait(&set, NULL, &now) > 0) continue;
    sigprocmask(SIG_SETMASK, &mask_before, NULL);
    sigaction(SIGCHLD, &chld_before, NULL);
    return status;
}

int rs_launch_mimic(const struct rs_launch_end *end)
{
    if (end->signal != 0) {
        /* The program has left its core; ours would only be in the way. */
        struct rlimit none = {0};
        setrlimit(RLIMIT_CORE, &none);
        struct sigaction usual = {.sa_handler = SIG_DFL};
        sigaction(end->signal, &usual, NULL);
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, end->signal);
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        raise(end->signal);
    }
    return end->status;
}
