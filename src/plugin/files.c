#include "plugin/files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "format/codec.h"
#include "plugin/buffers.h"
#include "plugin/tick.h"

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

enum { LOWEST_FD = 64, MAX_TRIES = 1000, SHM_SHARE = 8, LEAST_LIVE = 1 << 20 };

static bool make_folders(const char *dir)
{
    char path[3072];
    snprintf(path, sizeof path, "%s", dir);
    for (char *p = path + 1; *p; p++) {
        if (*p != '/') continue;
        *p = 0;
        if (mkdir(path, 0777) && errno != EEXIST) return false;
        *p = '/';
    }
    return !mkdir(path, 0777) || errno == EEXIST;
}

static void read_line(const char *path, char *to, size_t bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, to, bytes - 1);
    if (fd >= 0) close(fd);
    to[n > 0 ? n : 0] = 0;
    to[strcspn(to, "\n")] = 0;
}

/* Field 22 of /proc/self/stat, in clock ticks since boot. The command in parentheses may hold spaces. */
static uint64_t process_start_ns(void)
{
    char stat[1024];
    read_line("/proc/self/stat", stat, sizeof stat);
    const char *p = strrchr(stat, ')');
    for (int field = 2; p && field < 22; field++) p = strchr(p + 1, ' ');
    long hz = sysconf(_SC_CLK_TCK);
    return p && hz > 0 ? strtoull(p, NULL, 10) * (1000000000u / (uint64_t)hz) : 0;
}

static void host_name(char *to, size_t bytes, const struct rs_config *config)
{
    if (config->test_host[0])
        snprintf(to, bytes, "%s", config->test_host);
    else if (gethostname(to, bytes))
        snprintf(to, bytes, "unknown");
    to[bytes - 1] = 0;
    for (char *p = to; *p; p++)
        if (*p == '/') *p = '_';
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

void rs_files_prefault(struct rs_files *f, size_t from, size_t to)
{
    char *map = f->live;
    if (to > f->live_bytes) to = f->live_bytes;
    if (from >= to || !madvise(map + from, to - from, MADV_POPULATE_WRITE)) return;
    /* Linux before 5.14. Others may be writing there already: add nothing, atomically. */
    for (size_t at = from; at < to; at += RS_LIVE_PAGE) __atomic_fetch_add(map + at, 0, __ATOMIC_RELAXED);
}

/* Reserves `bytes` in the open file and maps them. */
static void *reserve(int fd, size_t bytes)
{
    if (fallocate(fd, 0, 0, (off_t)bytes)) return NULL;
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return map == MAP_FAILED ? NULL : map;
}

static bool reserving_file_system(const char *dir, char *why, size_t why_bytes)
{
    struct statfs fs;
    if (statfs(dir, &fs)) return false;
    switch ((unsigned long)fs.f_type) {
    case EXT4_SUPER_MAGIC:
    case XFS_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case OVERLAYFS_SUPER_MAGIC: return true;
    }
    snprintf(why, why_bytes, "file system type 0x%lx of %s is not local or cannot reserve space",
             (unsigned long)fs.f_type, dir);
    return false;
}

static bool live_file(struct rs_files *f, const char *path, size_t bytes, enum rs_live_place place)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0) return false;
    f->live = reserve(fd, bytes);
    int failed = errno;
    close(fd);
    if (!f->live) {
        unlink(path);
        errno = failed;
        return false;
    }
    snprintf(f->live_path, sizeof f->live_path, "%s", path);
    f->live_bytes = bytes;
    f->header.live_place = place;
    return true;
}

/* The first place that will have the buffers. */
static bool open_live(struct rs_files *f, const struct rs_config *config, const char *name, char *fallback,
                      size_t fallback_bytes)
{
    char path[4096];
    size_t bytes = rs_pool_bytes(config->memory);
    if (reserving_file_system(config->dir, fallback, fallback_bytes)) {
        snprintf(path, sizeof path, "%s/%s.live", config->dir, name);
        if (live_file(f, path, bytes, RS_LIVE_BESIDE)) {
            snprintf(f->header.live_name, sizeof f->header.live_name, "%s.live", name);
            return true;
        }
        if (errno == EEXIST) return false; /* another name, then */
        snprintf(fallback, fallback_bytes, "cannot reserve %zu MiB in %s (%s)", bytes >> 20, config->dir,
                 strerror(errno));
    }
    struct statvfs shm;
    errno = 0; /* EEXIST below is that of the live file */
    if (!statvfs("/dev/shm", &shm)) {
        size_t share = (size_t)shm.f_bavail * shm.f_frsize / SHM_SHARE & ~(size_t)(RS_BUFFER_BYTES - 1);
        size_t some = share < bytes ? share : bytes;
        snprintf(path, sizeof path, "/dev/shm/ringscope-%s.live", name);
        if (some >= LEAST_LIVE && live_file(f, path, some, RS_LIVE_SHM)) {
            snprintf(f->header.live_name, sizeof f->header.live_name, "/dev/shm/ringscope-%.120s.live", name);
            return true;
        }
        if (errno == EEXIST) return false;
    }
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) return false;
    f->live = map;
    f->live_bytes = bytes;
    f->header.live_place = RS_LIVE_ANONYMOUS;
    return true;
}

/* Opens where no program expects anything: not among the standard streams, which may be closed now and taken later. */
static int open_high(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0644);
    if (fd < 0 || fd >= LOWEST_FD) return fd;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, LOWEST_FD);
    if (high < 0) return fd; /* few are allowed: better low than none */
    close(fd);
    return high;
}

bool rs_files_open(struct rs_files *f, const struct rs_config *config, char *why, size_t why_bytes, char *fallback,
                   size_t fallback_bytes)
{
    memset(f, 0, sizeof *f);
    f->fd = -1;
    fallback[0] = 0;
    if (!make_folders(config->dir)) {
        snprintf(why, why_bytes, "cannot make the folder %s: %s", config->dir, strerror(errno));
        return false;
    }
    struct rs_file_header *h = &f->header;
    host_name(h->host, sizeof h->host, config);
    read_line("/proc/sys/kernel/random/boot_id", h->boot_id, sizeof h->boot_id);
    h->pid = (uint32_t)getpid();
    h->process_start_ns = process_start_ns();
    struct stat ns;
    if (!stat("/proc/self/ns/pid", &ns)) h->pid_namespace = ns.st_ino;
    bool done = false;
    for (int n = 0; !done && n < MAX_TRIES; n++) {
        char name[128];
        if (n)
            snprintf(name, sizeof name, "%s.%u.%d", h->host, h->pid, n);
        else
            snprintf(name, sizeof name, "%s.%u", h->host, h->pid);
        snprintf(f->path, sizeof f->path, "%s/%s.rsc", config->dir, name);
        f->fd = open_high(f->path, O_RDWR | O_CREAT | O_EXCL);
        if (f->fd < 0 && errno == EEXIST) continue; /* an earlier process had this pid */
        if (f->fd < 0) break;
        done = open_live(f, config, name, fallback, fallback_bytes);
        if (done) break;
        int failed = errno;
        close(f->fd);
        unlink(f->path);
        f->fd = -1;
        if ((errno = failed) != EEXIST) break;
    }
    if (!done) {
        snprintf(why, why_bytes, "cannot create %s: %s", f->path, strerror(errno));
        return false;
    }
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    h->magic = RS_FILE_MAGIC;
    h->header_bytes = sizeof *h;
    h->features = 0;
    h->nonce = rs_nonce;
    h->created_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    h->created_tick = rs_tick();
    h->tick_source = rs_tick_source;
    if (config->keep_last) {
        h->ring_begin = sizeof *h;
        h->ring_end = config->limit & ~UINT64_C(7);
    }
    h->checksum = rs_header_checksum(h);
    h->status.state = RS_STATE_RUNNING;
    h->status.file_end = h->header_bytes;
    h->status.heartbeat_tick = h->created_tick;
    h->status.heartbeat_ns = h->created_ns;
    if (pwrite(f->fd, h, sizeof *h, 0) != (ssize_t)sizeof *h) {
        snprintf(why, why_bytes, "cannot write %s: %s", f->path, strerror(errno));
        rs_files_undo(f);
        return false;
    }
    struct stat st;
    if (!fstat(f->fd, &st)) {
        f->device = st.st_dev;
        f->inode = st.st_ino;
    }
    return true;
}

static bool is_recording(const struct rs_files *f, int fd)
{
    struct stat st;
    return fd >= 0 && !fstat(fd, &st) && st.st_dev == f->device && st.st_ino == f->inode;
}

int rs_files_fd(struct rs_files *f)
{
    if (is_recording(f, f->fd)) return f->fd;
    int fd = open_high(f->path, O_RDWR);
    if (!is_recording(f, fd)) {
        if (fd >= 0) {
            close(fd);
            errno = ENOENT; /* the name means another file now */
        }
        f->fd = -1; /* not closed: it is not ours any more */
        return -1;
    }
    return f->fd = fd;
}

bool rs_files_named(struct rs_files *f)
{
    struct stat st;
    return !stat(f->path, &st) && st.st_dev == f->device && st.st_ino == f->inode;
}

void rs_files_undo(struct rs_files *f)
{
    munmap(f->live, f->live_bytes);
    rs_files_drop_live(f);
    close(f->fd);
    unlink(f->path);
    f->fd = -1;
}

void rs_files_drop_live(struct rs_files *f)
{
    if (f->live_path[0]) unlink(f->live_path);
    f->live_path[0] = 0;
}
