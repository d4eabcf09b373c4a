#include "cli/print/output.h"
#include "base/memory.h"
#include "base/unfinished.h"
#include "cli/exit.h"
#include "cli/print/plain.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static struct sigaction sigpipe_before, sigxfsz_before;

/* Nothing here allocates. What stdout has buffered is not written: it could end anywhere. */
static void end_without_memory(const char *why)
{
    const struct iovec line[] = {{"ringscope: ", 11}, {(char *)(uintptr_t)why, strlen(why)}, {"\n", 1}};
    ssize_t said = writev(STDERR_FILENO, line, sizeof line / sizeof *line);
    (void)said;
    rs_unfinished_remove();
    _exit(RS_EXIT_FAILURE);
}

void rs_output_begin(void)
{
    rs_memory_set_end(end_without_memory);
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, &sigpipe_before);
    sigaction(SIGXFSZ, &ignore, &sigxfsz_before); /* a file that may not grow is an error with a message */
    rs_unfinished_watch();
}

struct rs_json *rs_output_json(void)
{
    static struct rs_json json; /* large: not for the stack */
    rs_json_to_file(&json, stdout, "standard output");
    return &json;
}

void rs_output_restore_signals(void)
{
    sigaction(SIGPIPE, &sigpipe_before, NULL);
    sigaction(SIGXFSZ, &sigxfsz_before, NULL);
}

/* True when stdout is a pipe or socket without a reader. A poll, because the errno of the write that
 * failed may be long gone. */
static bool reader_gone(void)
{
    struct pollfd p = {.fd = STDOUT_FILENO};
    return poll(&p, 1, 0) == 1 && (p.revents & POLLERR) != 0;
}

int rs_output_end(int status)
{
    errno = 0;
    bool failed = fflush(stdout) != 0 || ferror(stdout);
    int why = errno;
    if (!failed) return status;
    /* A command that failed has said why itself. All keep their status for a reader that had enough. */
    bool gone = reader_gone();
    if ((status == RS_EXIT_FINE || status == RS_EXIT_FOUND) && !gone) {
        fprintf(stderr, "ringscope: cannot write to standard output%s%s\n", why != 0 ? ": " : "",
                why != 0 ? strerror(why) : "");
        return RS_EXIT_FAILURE;
    }
    return status;
}

int rs_print_err(const char *command, const struct rs_err *err)
{
    const char *broken = strerror(EPIPE);
    size_t n = strlen(err->msg), m = strlen(broken);
    bool about_pipe = n >= m && strcmp(err->msg + n - m, broken) == 0;
    if (about_pipe && reader_gone()) return RS_EXIT_FINE;
    rs_warn(command, "%s", err->msg);
    return RS_EXIT_FAILURE;
}

void rs_warn(const char *command, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fflush(stdout); /* keeps the order on a terminal */
    char text[1024];
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fprintf(stderr, "ringscope %s: ", command);
    rs_plain_line(text, stderr);
}
