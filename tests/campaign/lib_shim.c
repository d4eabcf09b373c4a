/* Preloaded into the driver: writes that fail, are short or slow, and a clock that is set. See shim.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "shim.h"

extern struct campaign_shim campaign_shim;
struct campaign_shim campaign_shim;

static uint32_t below(uint32_t n)
{
    static _Atomic uint32_t state = 12345;
    uint32_t s = atomic_fetch_add(&state, 0x9e3779b9u);
    s = (s ^ s >> 16) * 0x85ebca6bu;
    s = (s ^ s >> 13) * 0xc2b2ae35u;
    return (s ^ s >> 16) % n;
}

enum { FINE, SHORT, FAILED };

static int fate(void)
{
    static const int errors[] = {EINTR, EIO, ENOSPC};
    uint32_t delay = atomic_load(&campaign_shim.delay_us);
    if (delay) {
        struct timespec t = {.tv_nsec = (long)below(delay) * 1000};
        nanosleep(&t, NULL);
    }
    if (below(100) >= atomic_load(&campaign_shim.fail_percent)) return FINE;
    uint32_t k = below(5);
    if (k >= 3) return SHORT;
    errno = errors[k];
    return FAILED;
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
    int f = fate();
    if (f == FAILED) return -1;
    if (f == SHORT && n > 1) n = 1 + below((uint32_t)n - 1);
    return syscall(SYS_pwrite64, fd, bytes, n, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    return pwrite64(fd, bytes, n, at);
}

ssize_t pwritev64(int fd, const struct iovec *v, int n, off64_t at)
{
    int f = fate();
    if (f == FAILED) return -1;
    if (f == FINE || n < 1) return syscall(SYS_pwritev, fd, v, (long)n, (long)at, 0L);
    return syscall(SYS_pwrite64, fd, v->iov_base, v->iov_len > 1 ? 1 + below((uint32_t)v->iov_len - 1) : v->iov_len,
                   at);
}

ssize_t pwritev(int fd, const struct iovec *v, int n, off_t at)
{
    return pwritev64(fd, v, n, at);
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    long r = syscall(SYS_clock_gettime, clock, t);
    if (r || clock != CLOCK_REALTIME) return (int)r;
    int64_t ns = (int64_t)t->tv_sec * 1000000000 + t->tv_nsec + atomic_load(&campaign_shim.realtime_ns);
    t->tv_sec = ns / 1000000000;
    t->tv_nsec = ns % 1000000000;
    return 0;
}
