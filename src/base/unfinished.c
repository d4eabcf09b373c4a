#include "base/unfinished.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { PLACES = 8, DEPTH = 4 };

static _Atomic(const char *) places[PLACES];
static _Atomic pid_t owner;

/* Async-signal-safe, unlike opendir(3) and nftw(3). */
static void remove_below(int folder, const char *name, unsigned depth)
{
    if (unlinkat(folder, name, 0) == 0 || unlinkat(folder, name, AT_REMOVEDIR) == 0 || !depth) return;
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return;
    _Alignas(struct dirent64) char some[4096];
    for (bool more = true; more;) {
        more = false; /* removing moves the other entries: read again from the start until nothing is removed */
        lseek(fd, 0, SEEK_SET);
        for (ssize_t n; (n = getdents64(fd, some, sizeof some)) > 0;)
            for (ssize_t at = 0; at < n;) {
                const struct dirent64 *e = (const struct dirent64 *)(some + at);
                at += e->d_reclen;
                if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
                remove_below(fd, e->d_name, depth - 1);
                more |= faccessat(fd, e->d_name, F_OK, 0) != 0;
            }
    }
    close(fd);
    unlinkat(folder, name, AT_REMOVEDIR);
}

void rs_unfinished_remove(void)
{
    if (atomic_load(&owner) != getpid()) return;
    for (unsigned i = 0; i < PLACES; i++) {
        const char *path = atomic_load(&places[i]);
        if (path) remove_below(AT_FDCWD, path, DEPTH);
    }
}

static void end(int sig)
{
    rs_unfinished_remove();
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(sig, &usual, NULL);
    raise(sig); /* blocked until this returns */
}

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

sigset_t rs_unfinished_hold(void)
{
    sigset_t ours, before;
    sigemptyset(&ours);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) sigaddset(&ours, signals[i]);
    pthread_sigmask(SIG_BLOCK, &ours, &before);
    return before;
}

void rs_unfinished_release(const sigset_t *before)
{
    int why = errno;
    pthread_sigmask(SIG_SETMASK, before, NULL);
    errno = why;
}

void rs_unfinished_watch(void)
{
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction now, ours = {.sa_handler = end, .sa_flags = SA_RESTART};
        /* Stays ignored if it was: nohup, a background job of a script. */
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL) sigaction(signals[i], &ours, NULL);
    }
}

void rs_unfinished_add(const char *path)
{
    atomic_store(&owner, getpid());
    for (unsigned i = 0; i < PLACES; i++) {
        const char *none = NULL;
        if (atomic_compare_exchange_strong(&places[i], &none, path)) return;
    }
}

void rs_unfinished_drop(const char *path)
{
    for (unsigned i = 0; i < PLACES; i++) {
        const char *it = path;
        if (path && atomic_compare_exchange_strong(&places[i], &it, NULL)) return;
    }
}
