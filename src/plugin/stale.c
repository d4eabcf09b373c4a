#include "plugin/stale.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format/layout.h"
#include "plugin/alone.h"
#include "plugin/clock.h"
#include "plugin/places.h"
#include "plugin/table.h"

enum { MOST_FILES = 64, MOST_MS = 2000, BLOCK = 4096, BLOCKS = 16, POLL_MS = 5 };

static atomic_bool started, done;

enum fate { LEAVE, REMOVE, COPY };

/* Whether a recording that cannot be found is really gone: another container has other paths. */
static bool is_gone(const struct rs_live_header *h)
{
    struct stat st;
    if (h->mount_namespace && !stat("/proc/self/ns/mnt", &st) && st.st_ino == h->mount_namespace) return true;
    char folder[sizeof h->recording];
    snprintf(folder, sizeof folder, "%s", h->recording);
    *strrchr(folder, '/') = 0;
    return !stat(folder[0] ? folder : "/", &st) && st.st_dev == h->recording_device;
}

/* For a live file whose process is dead. */
static enum fate decide(const struct rs_live_header *h)
{
    if (!h->magic) return REMOVE; /* killed before it recorded anything */
    if (h->recording[0] != '/' || !memchr(h->recording, 0, sizeof h->recording)) return LEAVE;
    int fd = open(h->recording, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return (errno == ENOENT || errno == ENOTDIR) && is_gone(h) ? REMOVE : LEAVE;
    struct rs_file_header r;
    ssize_t n = pread(fd, &r, sizeof r, 0);
    close(fd);
    if (n < 0) return LEAVE;
    bool same = n == (ssize_t)sizeof r && r.magic == RS_FILE_MAGIC && r.nonce == h->nonce && r.pid == h->pid &&
                !strncmp(r.boot_id, h->boot_id, sizeof r.boot_id);
    if (!same) return is_gone(h) ? REMOVE : LEAVE; /* the name is another recording's now */
    bool whole = r.status.state == RS_STATE_CLOSED && !r.status.live_left; /* killed between closing and removing */
    return whole ? REMOVE : COPY;
}

/* Sparsely: most buffers are empty. The copy begins with `h`. */
static bool copy_bytes(int from, int to, const struct rs_live_header *h, off_t size, uint64_t until_ms)
{
    static const char zeros[BLOCK];
    char block[BLOCKS * BLOCK];
    if (ftruncate(to, size)) return false;
    for (off_t at = 0; at < size;) {
        ssize_t n = pread(from, block, sizeof block, at);
        if (n <= 0 || rs_clock_ms() >= until_ms) return false;
        if (!at) memcpy(block, h, sizeof *h);
        for (ssize_t i = 0; i < n; i += BLOCK) {
            size_t part = n - i < BLOCK ? (size_t)(n - i) : BLOCK;
            if (memcmp(block + i, zeros, part) && pwrite(to, block + i, part, at + i) != (ssize_t)part) return false;
        }
        at += n;
    }
    return !fsync(to);
}

/* Whether `path` is a complete copy already, by a process that was killed before it removed the original. */
static bool is_copied(const char *path, const struct rs_live_header *h)
{
    struct rs_live_header there;
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return false;
    bool same = !fstat(fd, &st) && st.st_uid == geteuid() && pread(fd, &there, sizeof there, 0) == sizeof there &&
                !memcmp(&there, h, sizeof there);
    close(fd);
    return same;
}

/* To NAME.live next to the recording NAME.rsc. Only the holder of the lock does this, so one temporary name is
 * enough. */
static bool copy_beside(int from, const struct rs_live_header *h, off_t size, uint64_t until_ms)
{
    char to[sizeof h->recording + 8], between[sizeof to + 8];
    snprintf(to, sizeof to, "%s", h->recording);
    size_t n = strlen(to);
    if (n > 4 && !strcmp(to + n - 4, ".rsc")) to[n - 4] = 0;
    strcat(to, ".live");
    snprintf(between, sizeof between, "%s.new", to);
    if (is_copied(to, h)) return true;
    unlink(between);
    int fd = rs_table_open(between, O_RDWR | O_CREAT | O_EXCL);
    if (fd < 0) return false;
    struct stat st;
    bool copied = copy_bytes(from, fd, h, size, until_ms);
    copied = !close(fd) && copied;
    copied = copied && lstat(to, &st) && errno == ENOENT && !rename(between, to);
    if (!copied) unlink(between);
    return copied;
}

static void look_at(int dir, const char *name, uint64_t until_ms)
{
    struct stat st, named;
    struct rs_live_header h;
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return;
    /* The lock is held until the file is removed: no other process does the same, and the name is still this file's. */
    bool dead = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB) &&
                pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h && h.locked == 1 &&
                (h.magic == RS_LIVE_MAGIC || !h.magic) && !fstatat(dir, name, &named, AT_SYMLINK_NOFOLLOW) &&
                named.st_dev == st.st_dev && named.st_ino == st.st_ino;
    enum fate fate = dead ? decide(&h) : LEAVE;
    h.locked = 2; /* a lock cannot be copied: the copy says that there was proof */
    if (fate == COPY) fate = copy_beside(fd, &h, st.st_size, until_ms) ? REMOVE : LEAVE;
    if (fate == REMOVE) unlinkat(dir, name, 0);
    close(fd);
}

static void *tidy(void *unused)
{
    (void)unused;
    rs_alone_begin(RS_THREAD_TIDY);
    uint64_t until = rs_clock_ms() + MOST_MS;
    char prefix[32];
    int n = snprintf(prefix, sizeof prefix, RS_SHM_PREFIX "%u-", geteuid());
    DIR *list = opendir(RS_SHM);
    const struct dirent *e;
    for (int files = 0; list && files < MOST_FILES && rs_clock_ms() < until && (e = readdir(list));) {
        if (strncmp(e->d_name, prefix, (size_t)n)) continue;
        files++;
        look_at(dirfd(list), e->d_name, until);
    }
    if (list) closedir(list);
    atomic_store(&done, true);
    rs_alone_end(RS_THREAD_TIDY);
    return NULL;
}

void rs_stale_start(void)
{
    pthread_t thread;
    if (!rs_table_is_own() || pthread_create(&thread, NULL, tidy, NULL)) return;
    pthread_detach(thread);
    atomic_store(&started, true);
}

bool rs_stale_wait(unsigned ms)
{
    if (!atomic_load(&started)) return false;
    for (uint64_t until = rs_clock_ms() + ms; !atomic_load(&done) && rs_clock_ms() < until;)
        nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000}, NULL);
    return true;
}

void rs_stale_forget(void)
{
    atomic_store(&started, false);
    atomic_store(&done, false);
}
