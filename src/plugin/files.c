#include "plugin/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format/codec.h"
#include "plugin/buffers.h"
#include "plugin/places.h"
#include "plugin/table.h"
#include "plugin/tick.h"

enum { MAX_TRIES = 1000, IN_ORDER = 16 };

/* Creates the folder and its parents. Where all users may write, others could redirect us with links: only links of
 * root and of this user are followed. */
static bool make_folders(const char *dir)
{
    char path[sizeof((struct rs_config *)0)->dir];
    struct stat st;
    snprintf(path, sizeof path, "%s", dir);
    for (char *p = path + 1;; p++) {
        char was = *p;
        if (was && was != '/') continue;
        *p = 0;
        if (mkdir(path, 0700) && errno != EEXIST) return false;
        if (!lstat(path, &st) && S_ISLNK(st.st_mode) && st.st_uid && st.st_uid != geteuid()) {
            errno = ELOOP;
            return false;
        }
        if (!was) return true;
        *p = was;
    }
}

/* Field 22 of /proc/self/stat, in clock ticks since boot. The command in parentheses may hold spaces. */
static uint64_t process_start_ns(void)
{
    char stat[1024];
    rs_table_read_line("/proc/self/stat", stat, sizeof stat);
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
    /* Linux before 5.14. Others may be writing there already: add 0, atomically. */
    for (size_t at = from; at < to; at += RS_LIVE_PAGE) __atomic_fetch_add(map + at, 0, __ATOMIC_RELAXED);
}

bool rs_files_open(struct rs_files *f, const struct rs_config *config, char *why, size_t why_bytes, char *fallback,
                   size_t fallback_bytes)
{
    memset(f, 0, sizeof *f);
    f->fd = -1;
    fallback[0] = 0;
    if (!config->dir[0] || !make_folders(config->dir)) {
        snprintf(why, why_bytes, "cannot create the folder %.300s: %s", config->dir,
                 strerror(config->dir[0] ? errno : ENAMETOOLONG));
        return false;
    }
    struct rs_file_header *h = &f->header;
    host_name(h->host, sizeof h->host, config);
    rs_table_read_line("/proc/sys/kernel/random/boot_id", h->boot_id, sizeof h->boot_id);
    h->pid = (uint32_t)getpid();
    h->process_start_ns = process_start_ns();
    struct stat ns;
    if (!stat("/proc/self/ns/pid", &ns)) h->pid_namespace = ns.st_ino;
    bool done = false;
    for (unsigned n = 0; !done && n < MAX_TRIES; n++) {
        char name[128];
        unsigned number = n;
        /* Others may have taken the next numbers, but not a random one. */
        if (n >= IN_ORDER && getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
            number = n * 2654435761u ^ (unsigned)rs_tick();
        if (n)
            snprintf(name, sizeof name, "%s.%u.%u", h->host, h->pid, number);
        else
            snprintf(name, sizeof name, "%s.%u", h->host, h->pid);
        snprintf(f->path, sizeof f->path, "%s/%s.rsc", config->dir, name);
        f->fd = rs_table_open(f->path, O_RDWR | O_CREAT | O_EXCL);
        if (f->fd < 0 && errno == EEXIST) continue; /* an earlier process had this pid */
        if (f->fd < 0) break;
        done = rs_places_take(f, config, name, fallback, fallback_bytes);
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
    int fd = rs_table_open(f->path, O_RDWR);
    if (!is_recording(f, fd)) {
        if (fd >= 0) {
            close(fd);
            errno = ENOENT; /* the name is another file now */
        }
        f->fd = -1; /* not closed: it is not ours any more */
        return -1;
    }
    return f->fd = fd;
}

enum rs_files_change rs_files_look(struct rs_files *f, uint64_t end)
{
    struct stat st, named;
    struct rs_file_header h;
    int fd = rs_files_fd(f);
    if (fd < 0 || fstat(fd, &st)) return RS_FILES_DELETED;
    bool has_name = !stat(f->path, &named) && named.st_dev == f->device && named.st_ino == f->inode;
    bool begins = pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h && h.magic == f->header.magic &&
                  h.checksum == f->header.checksum;
    bool long_enough = (uint64_t)st.st_size >= end || end <= f->header.ring_end; /* nothing is after the ring yet */
    /* Also if it has no name: it may have been renamed. If there is no room: next time. */
    bool mended = begins || pwrite(rs_files_fd(f), &f->header, sizeof f->header, 0) == (ssize_t)sizeof f->header;
    if (!has_name) return RS_FILES_DELETED;
    return (begins && long_enough) || !mended ? RS_FILES_SAME : RS_FILES_CUT;
}

void rs_files_forget(struct rs_files *f)
{
    if (!rs_table_is_own() && is_recording(f, f->fd)) close(f->fd);
    f->fd = -1;
}

void rs_files_undo(struct rs_files *f)
{
    munmap(f->live, f->live_bytes);
    rs_files_drop_live(f);
    close(f->fd); /* opened a moment ago */
    unlink(f->path);
    f->fd = -1;
}

void rs_files_drop_live(struct rs_files *f)
{
    if (f->live_path[0]) unlink(f->live_path);
    f->live_path[0] = 0;
}
