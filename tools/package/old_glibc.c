/* Functions that glibc 2.17 does not have, for packages that run with any glibc since (stubs.sh). Compiled with
 * -fvisibility=hidden: each program or library has its own. Where the kernel is as old as the library, they fail with
 * ENOSYS, which the callers expect. 64-bit Linux: `struct stat` is the kernel's. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

struct stat; /* only passed on: the header would declare what is defined here, under other names */

/* ---- since glibc 2.33; before, its headers made calls of __xstat() ---- */

int fstatat(int dir, const char *path, struct stat *st, int flags);
int fstatat(int dir, const char *path, struct stat *st, int flags)
{
    return (int)syscall(SYS_newfstatat, dir, path, st, flags);
}

int stat(const char *path, struct stat *st);
int stat(const char *path, struct stat *st)
{
    return fstatat(AT_FDCWD, path, st, 0);
}

int lstat(const char *path, struct stat *st);
int lstat(const char *path, struct stat *st)
{
    return fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

int fstat(int fd, struct stat *st);
int fstat(int fd, struct stat *st)
{
    return (int)syscall(SYS_fstat, fd, st);
}

/* ---- names for large files, which are the usual ones here ---- */

int fstatat64(int, const char *, struct stat *, int) __attribute__((alias("fstatat")));
int stat64(const char *, struct stat *) __attribute__((alias("stat")));
int lstat64(const char *, struct stat *) __attribute__((alias("lstat")));
int fstat64(int, struct stat *) __attribute__((alias("fstat")));

int old_fcntl(int fd, int command, ...) __asm__("fcntl");
int rs_fcntl64(int fd, int command, ...) __asm__("fcntl64"); /* 2.28 */
int rs_fcntl64(int fd, int command, ...)
{
    va_list args;
    va_start(args, command);
    void *arg = va_arg(args, void *); /* an int, a pointer or nothing: one register */
    va_end(args);
    return old_fcntl(fd, command, arg);
}

/* ---- system calls that got their functions later ---- */

ssize_t getrandom(void *buffer, size_t bytes, unsigned flags); /* 2.25 */
ssize_t getrandom(void *buffer, size_t bytes, unsigned flags)
{
    return syscall(SYS_getrandom, buffer, bytes, flags);
}

int renameat2(int old_dir, const char *old_path, int new_dir, const char *new_path, unsigned flags); /* 2.28 */
int renameat2(int old_dir, const char *old_path, int new_dir, const char *new_path, unsigned flags)
{
    return (int)syscall(SYS_renameat2, old_dir, old_path, new_dir, new_path, flags);
}

ssize_t getdents64(int fd, void *buffer, size_t bytes); /* 2.30 */
ssize_t getdents64(int fd, void *buffer, size_t bytes)
{
    return syscall(SYS_getdents64, fd, buffer, bytes);
}

/* On arm64 libgcc calls it, to find out about atomic instructions. */
unsigned long __getauxval(unsigned long type); /* 2.26 */
unsigned long __getauxval(unsigned long type)
{
    return getauxval(type);
}

/* ---- arc4random, 2.36: libevent takes its random numbers from it ---- */

void arc4random_buf(void *buffer, size_t bytes);
void arc4random_buf(void *buffer, size_t bytes)
{
    unsigned char *to = buffer;
    int device = -1;
    while (bytes > 0) {
        ssize_t n = device < 0 ? getrandom(to, bytes, 0) : read(device, to, bytes);
        if (n > 0) {
            to += n;
            bytes -= (size_t)n;
        } else if (n < 0 && errno == ENOSYS && device < 0) {
            device = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
            if (device < 0) abort();
        } else if (n == 0 || errno != EINTR) {
            abort(); /* as glibc does: predictable numbers are worse than none */
        }
    }
    if (device >= 0) close(device);
}

uint32_t arc4random(void);
uint32_t arc4random(void)
{
    uint32_t number;
    arc4random_buf(&number, sizeof number);
    return number;
}

/* ---- C23, 2.38: the headers rename functions that read numbers, which then also take 0b101 ---- */

#define OLD_NUMBER(type, name)                                                                                         \
    type old_##name(const char *, char **, int) __asm__(#name);                                                        \
    type rs_##name(const char *, char **, int) __asm__("__isoc23_" #name);                                             \
    type rs_##name(const char *text, char **end, int base)                                                             \
    {                                                                                                                  \
        return old_##name(text, end, base);                                                                            \
    }
OLD_NUMBER(long, strtol)
OLD_NUMBER(unsigned long, strtoul)
OLD_NUMBER(long long, strtoll)
OLD_NUMBER(unsigned long long, strtoull)

int old_vsscanf(const char *, const char *, va_list) __asm__("__isoc99_vsscanf");
int rs_sscanf(const char *, const char *, ...) __asm__("__isoc23_sscanf");
int rs_sscanf(const char *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = old_vsscanf(text, format, args);
    va_end(args);
    return n;
}
