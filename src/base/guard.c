#include "base/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"

enum trouble { NONE, SHORTER, UNREADABLE };
static const char *const troubles[] = {NULL, "became shorter while it was read", "cannot be read completely"};

/* Never freed, so that the signal handler may walk the list at any time. */
struct rs_guard {
    struct rs_guard *next; /* in the list of all; set before it is in the list */
    struct rs_guard *next_free;
    _Atomic uintptr_t begin; /* 0: not in use; stored last */
    _Atomic size_t bytes;
    dev_t device;
    ino_t inode;
    char *path; /* a guard with trouble keeps it, and is not used again */
    _Atomic int trouble; /* enum trouble */
};

static _Atomic(struct rs_guard *) guards;
static struct rs_guard *free_guards; /* under the lock */
static pthread_mutex_t guards_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction bus_before;
static uintptr_t page_bytes;

/* ---- in the signal handler: only calls that it may make; mmap(), mremap() and lseek() are plain system calls ---- */

static bool put_zeros(uintptr_t at, size_t bytes)
{
    return mmap((void *)at, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

/* Replaces one page by a copy, in shared memory, which madvise(MADV_DONTNEED) keeps. */
static bool put_copy(uintptr_t at, int fd, off_t offset)
{
    char *copy = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED) return false;
    ssize_t n = pread(fd, copy, page_bytes, offset);
    bool done = n > 0 && !mprotect(copy, page_bytes, PROT_READ) &&
                mremap(copy, page_bytes, page_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)at) != MAP_FAILED;
    if (!done) munmap(copy, page_bytes);
    return done;
}

/* Replaces the page at `offset`, or the hole that begins there, by what the open file contains. */
static bool put_right(const struct rs_guard *g, int fd, off_t offset, enum trouble *trouble)
{
    uintptr_t begin = atomic_load(&g->begin);
    size_t bytes = atomic_load(&g->bytes), left = bytes - (size_t)offset;
    struct stat st;
    *trouble = UNREADABLE;
    if (fd < 0 || fstat(fd, &st) || st.st_dev != g->device || st.st_ino != g->inode)
        return put_zeros(begin + (uintptr_t)offset, left);
    if (st.st_size <= offset) {
        *trouble = SHORTER;
        return put_zeros(begin + (uintptr_t)offset, left);
    }
    off_t data = lseek(fd, offset, SEEK_DATA);
    size_t hole = data >= offset ? (size_t)(data - offset) & ~(page_bytes - 1) : errno == ENXIO ? left : 0;
    if (hole > left) hole = left;
    bool done = hole ? put_zeros(begin + (uintptr_t)offset, hole) : put_copy(begin + (uintptr_t)offset, fd, offset);
    if (!done) return put_zeros(begin + (uintptr_t)offset, left < page_bytes ? left : page_bytes);
    *trouble = NONE;
    return true;
}

static void on_bus(int sig, siginfo_t *info, void *context)
{
    (void)context;
    int kept = errno;
    bool done = false;
    uintptr_t at = (uintptr_t)info->si_addr;
    for (struct rs_guard *g = atomic_load(&guards); g; g = g->next) {
        uintptr_t begin = atomic_load(&g->begin), end = begin + atomic_load(&g->bytes);
        if (!begin || at < begin || at >= end) continue;
        enum trouble trouble;
        /* Opened again: a descriptor for each of thousands of mappings would be too many. */
        int fd = g->path ? open(g->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
        done = put_right(g, fd, (off_t)((at & ~(page_bytes - 1)) - begin), &trouble);
        if (fd >= 0) close(fd);
        if (trouble != NONE) atomic_store(&g->trouble, trouble);
        break;
    }
    if (!done) sigaction(sig, &bus_before, NULL); /* not ours: the access is repeated with the previous handler */
    errno = kept;
}

/* ---- outside the handler ---- */

/* Under the lock. At every mapping, since others may replace the handler. */
static void watch_bus(void)
{
    struct sigaction now, ours = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    if (sigaction(SIGBUS, NULL, &now) || (now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_bus)) return;
    bus_before = now;
    sigaction(SIGBUS, &ours, NULL);
}

struct rs_guard *rs_guard_take(const void *data, size_t bytes, const struct stat *st, const char *path)
{
    pthread_mutex_lock(&guards_lock);
    watch_bus();
    struct rs_guard *g = free_guards;
    if (g) {
        free_guards = g->next_free;
    } else {
        g = rs_zalloc(1, sizeof *g);
        g->next = atomic_load(&guards);
        atomic_store(&guards, g);
    }
    pthread_mutex_unlock(&guards_lock);
    g->path = rs_strdup(path);
    g->device = st->st_dev;
    g->inode = st->st_ino;
    atomic_store(&g->bytes, bytes);
    atomic_store(&g->begin, (uintptr_t)data);
    return g;
}

void rs_guard_give_back(struct rs_guard *g)
{
    if (!g) return;
    atomic_store(&g->begin, 0);
    if (atomic_load(&g->trouble)) return;
    pthread_mutex_lock(&guards_lock);
    free(g->path);
    g->path = NULL;
    g->next_free = free_guards;
    free_guards = g;
    pthread_mutex_unlock(&guards_lock);
}

const char *rs_guard_trouble(const struct rs_guard *g)
{
    return g ? troubles[atomic_load(&g->trouble)] : NULL;
}

const char *rs_guard_trouble_of(const char *path)
{
    const char *found = NULL;
    pthread_mutex_lock(&guards_lock);
    for (struct rs_guard *g = atomic_load(&guards); g && !found; g = g->next)
        if (g->path && !strcmp(g->path, path)) found = rs_guard_trouble(g);
    pthread_mutex_unlock(&guards_lock);
    return found;
}
