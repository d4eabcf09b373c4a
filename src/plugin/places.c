#include "plugin/places.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "plugin/buffers.h"
#include "plugin/clock.h"
#include "plugin/stale.h"
#include "plugin/table.h"
#include "plugin/tick.h"

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

enum {
    SHM_PROCESS = 32, /* one process takes at most this part of /dev/shm, */
    SHM_FREE = 8, /* at most this part of what is free there, */
    SHM_ALL = 4, /* and all recordings of this user together at most this part */
    SHM_LEAST = 2 << 20, /* less is useless */
    STALE_WAIT_MS = 1000, /* for room that dead processes occupy */
    DISK_TEST_MS = 1000, /* for the first page on a disk */
    LOCK_TRIES = 100, /* of 10 ms */
    NAME_TRIES = 8,
};

/* A reader that checks whether the process is alive may hold the lock for a moment. */
static bool take_lock(int fd)
{
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (!flock(fd, LOCK_EX | LOCK_NB)) return true;
        if (errno != EWOULDBLOCK && errno != EINTR) return false;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return false;
}

/* Identifies the owner. Written before space is reserved, which takes a while: a kill in between leaves a file that the
 * clean-up recognises. */
static bool put_owner(int fd, const struct rs_files *f, bool locked)
{
    struct rs_live_header h = {.nonce = rs_nonce, .pid = f->header.pid, .locked = locked};
    h.process_start_ns = f->header.process_start_ns;
    memcpy(h.boot_id, f->header.boot_id, sizeof h.boot_id);
    struct stat st;
    if (!stat("/proc/self/ns/mnt", &st)) h.mount_namespace = st.st_ino;
    if (!fstat(f->fd, &st)) h.recording_device = st.st_dev;
    if (f->path[0] == '/' && strlen(f->path) < sizeof h.recording) strcpy(h.recording, f->path);
    ssize_t n = pwrite(fd, &h, sizeof h, 0);
    if (n >= 0 && n < (ssize_t)sizeof h) errno = ENOSPC;
    return n == (ssize_t)sizeof h;
}

/* Reserves `bytes` in the open file and maps them. The mapping keeps the open file, and with it the lock. */
static void *reserve(int fd, size_t bytes, bool tested)
{
    uint64_t begun = rs_clock_ms();
    if (fallocate(fd, 0, 0, (off_t)bytes)) return NULL;
    if (tested) {
        if (fdatasync(fd)) return NULL;
        if (rs_clock_ms() - begun > DISK_TEST_MS) return errno = ETIMEDOUT, NULL;
    }
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return map == MAP_FAILED ? NULL : map;
}

static bool live_file(struct rs_files *f, const char *path, size_t bytes, enum rs_live_place place)
{
    int fd = rs_table_open(path, O_RDWR | O_CREAT | O_EXCL);
    if (fd < 0) return false;
    f->live = put_owner(fd, f, take_lock(fd)) ? reserve(fd, bytes, place == RS_LIVE_DISK) : NULL;
    int failed = errno;
    struct stat st;
    f->header.live_inode = fstat(fd, &st) ? 0 : st.st_ino;
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

/* In the recording's folder, with its name. */
static bool take_beside(struct rs_files *f, const char *dir, const char *name, size_t bytes, enum rs_live_place place)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.live", dir, name);
    if (!live_file(f, path, bytes, place)) return false;
    snprintf(f->header.live_name, sizeof f->header.live_name, "%s.live", name);
    return true;
}

/* Bytes of this user's recordings in /dev/shm. */
static uint64_t held(void)
{
    DIR *list = opendir(RS_SHM);
    uint64_t sum = 0;
    const struct dirent *e;
    while (list && (e = readdir(list))) {
        struct stat st;
        if (strncmp(e->d_name, RS_SHM_PREFIX, strlen(RS_SHM_PREFIX))) continue;
        if (fstatat(dirfd(list), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || st.st_uid != geteuid()) continue;
        sum += (uint64_t)st.st_blocks * 512;
    }
    if (list) closedir(list);
    return sum;
}

/* How much of `bytes` may be used there now; 0: nothing. */
static size_t share_of_shm(size_t bytes, uint64_t *all)
{
    struct statfs fs;
    *all = UINT64_MAX;
    if (statfs(RS_SHM, &fs) || fs.f_type != TMPFS_MAGIC) return 0; /* not shared memory */
    if (!fs.f_blocks) return bytes; /* a tmpfs without a limit */
    uint64_t unit = (uint64_t)fs.f_bsize, size = fs.f_blocks * unit, some = bytes;
    *all = size / SHM_ALL;
    if (some > size / SHM_PROCESS) some = size / SHM_PROCESS;
    if (some > fs.f_bavail * unit / SHM_FREE) some = fs.f_bavail * unit / SHM_FREE;
    some &= ~(uint64_t)(RS_BUFFER_BYTES - 1);
    bool enough = (some >= SHM_LEAST || some == bytes) && held() + some <= *all;
    return enough ? (size_t)some : 0;
}

static uint64_t unpredictable(void)
{
    uint64_t number;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) == sizeof number) return number;
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (rs_tick() ^ (uint64_t)t.tv_nsec << 32 ^ (uint64_t)getpid()) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Under a random name, which others cannot create first. */
static bool take_shm(struct rs_files *f, size_t bytes, char *why, size_t why_bytes)
{
    uint64_t all;
    size_t some = share_of_shm(bytes, &all);
    if (!some && rs_stale_wait(STALE_WAIT_MS)) some = share_of_shm(bytes, &all);
    if (!some) {
        snprintf(why, why_bytes, "too little room in " RS_SHM);
        return false;
    }
    for (int i = 0; i < NAME_TRIES; i++) {
        char path[64];
        snprintf(path, sizeof path, RS_SHM "/" RS_SHM_PREFIX "%u-%016llx.live", geteuid(),
                 (unsigned long long)unpredictable());
        if (live_file(f, path, some, RS_LIVE_SHM)) {
            if (held() <= all) {
                snprintf(f->header.live_name, sizeof f->header.live_name, "%s", path);
                return true;
            }
            munmap(f->live, f->live_bytes); /* others took room at the same time */
            f->live = NULL;
            rs_files_drop_live(f);
            snprintf(why, why_bytes, "too little room in " RS_SHM);
            return false;
        }
        if (errno != EEXIST) break;
    }
    snprintf(why, why_bytes, "cannot reserve %zu MiB in " RS_SHM " (%s)", some >> 20, strerror(errno));
    return false;
}

bool rs_places_take(struct rs_files *f, const struct rs_config *config, const char *name, char *why, size_t why_bytes)
{
    size_t bytes = rs_pool_bytes(config->memory);
    struct statfs fs = {0};
    bool file = config->buffers != RS_BUFFERS_MEMORY && !statfs(config->dir, &fs);
    unsigned long type = (unsigned long)fs.f_type;
    if (!file)
        snprintf(why, why_bytes, "RINGSCOPE_BUFFERS=memory");
    else if (type == TMPFS_MAGIC) {
        if (take_beside(f, config->dir, name, bytes, RS_LIVE_TMPFS)) return true;
        if (errno == EEXIST) return false; /* the caller tries another name */
        snprintf(why, why_bytes, "cannot reserve %zu MiB in %s (%s)", bytes >> 20, config->dir, strerror(errno));
    } else if (config->buffers == RS_BUFFERS_DISK) {
        bool local = type == EXT4_SUPER_MAGIC || type == XFS_SUPER_MAGIC || type == OVERLAYFS_SUPER_MAGIC;
        if (local && take_beside(f, config->dir, name, bytes, RS_LIVE_DISK)) return true;
        if (local && errno == EEXIST) return false;
        if (local)
            snprintf(why, why_bytes, "cannot use the disk of %s (%s)", config->dir, strerror(errno));
        else
            snprintf(why, why_bytes, "file system type 0x%lx of %s is not local or cannot reserve space", type,
                     config->dir);
    }
    if (file && take_shm(f, bytes, why, why_bytes)) return true;
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) return false;
    f->live = map;
    f->live_bytes = bytes;
    f->header.live_place = RS_LIVE_ANONYMOUS;
    return true;
}
