#include "hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OWN_FILES = 80, HIGHEST = 20000 };

void refuse_calls(const char *numbers)
{
    struct sock_filter f[64] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    unsigned short n = 1;
    for (const char *p = numbers; *p && n < 60;) {
        char *end;
        unsigned number = (unsigned)strtoul(p, &end, 10);
        f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
        f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
        p = *end ? end + 1 : end;
    }
    f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {n, f};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) exit(77);
}

static int listening(in_port_t *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = *port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, 1)) return -1;
    getsockname(fd, (struct sockaddr *)&at, &bytes);
    *port = at.sin_port;
    return fd;
}

static in_port_t port_number;

static int lock_file(void)
{
    int fd = open("belongings.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    return fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB) ? fd : -1;
}

void take_belongings(struct belongings *b)
{
    if (pipe(b->pipe) || (b->port = listening(&port_number)) < 0 || (b->locked = lock_file()) < 0) exit(9);
}

/* The number of the recording among the program's descriptors; -1: it is not there. */
static int recording_number(void)
{
    for (int fd = 3; fd < HIGHEST; fd++) {
        char path[64], file[4096];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(path, file, sizeof file);
        if (n > 4 && !memcmp(file + n - 4, ".rsc", 4)) return fd;
    }
    return -1;
}

void check_belongings(struct belongings *b)
{
    printf("descriptor=%d\n", recording_number());
    close(b->pipe[1]);
    close(b->port);
    close(b->locked);
    struct pollfd end = {.fd = b->pipe[0], .events = POLLIN};
    printf("pipe_held=%d\n", poll(&end, 1, 2000) != 1 || !(end.revents & POLLHUP));
    printf("port_held=%d\n", listening(&port_number) < 0);
    printf("lock_held=%d\n", lock_file() < 0);
}

void race_descriptors(const struct load *l, double seconds)
{
    unsigned long rounds = 0, written = 0;
    play_forever(l);
    for (double end = now_seconds() + seconds; now_seconds() < end; rounds++) {
        int fds[OWN_FILES];
        char path[64];
        if (close_range(3, ~0u, 0))
            for (int fd = 3; fd < HIGHEST; fd++) close(fd);
        for (int i = 0; i < OWN_FILES; i++) {
            snprintf(path, sizeof path, "own.%d", i);
            fds[i] = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        }
        usleep(300);
        for (int i = 0; i < OWN_FILES; i++) {
            struct stat st;
            written += !fstat(fds[i], &st) && st.st_size;
        }
    }
    printf("rounds=%lu\nwritten=%lu\n", rounds, written);
    fflush(stdout);
    _exit(0);
}

void play_timed(const struct load *l)
{
    enum { ROW = 16 };
    struct player p = {.plugin = l->plugin, .context = l->context, .truth = &l->truth->threads[0]};
    l->truth->nthreads = 1;
    p.truth->tid = (uint32_t)gettid();
    double worst = 0, begun = now_seconds();
    for (uint64_t done = 0; now_seconds() - begun < l->seconds; done += ROW) {
        double before = now_seconds();
        play(&p, done + ROW);
        double took = now_seconds() - before;
        if (took > worst) worst = took;
        usleep((useconds_t)(ROW / l->rate * 1e6));
    }
    printf("longest=%.3f\n", worst);
}
