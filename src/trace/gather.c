#include "trace/gather.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "trace/live.h"

static const char place[] = "/dev/shm/ringscope-";

/* Whether `path` is a file in /dev/shm that a recorder may have created: a header may contain anything. */
static bool is_ours(const char *path)
{
    size_t n = strlen(path), before = sizeof place - 1;
    return n > before + strlen(".live") && !strncmp(path, place, before) && !strchr(path + before, '/') &&
           !strcmp(path + n - strlen(".live"), ".live");
}

/* Copies the file sparsely: most buffers are empty. The copy is marked, since a lock cannot be copied: its process has
 * ended. */
static enum rs_status copy(int from, const char *from_path, const char *to, struct rs_err *err)
{
    enum { BLOCK = RS_LIVE_PAGE };
    static const uint32_t ended = 2;
    struct rs_file_map map = {0};
    RS_TRY(rs_file_map_fd(&map, from, from_path, err));
    struct rs_out out;
    mode_t mask = umask(0077); /* private to the user */
    enum rs_status status = rs_out_open(&out, to, false, err);
    umask(mask);
    if (status != RS_OK) {
        rs_file_unmap(&map);
        return status;
    }
    static const char zeros[BLOCK];
    char block[BLOCK];
    for (size_t at = 0; status == RS_OK && at < map.size; at += BLOCK) {
        size_t n = map.size - at < BLOCK ? map.size - at : BLOCK;
        bool last = at + n == map.size;
        memcpy(block, map.data + at, n);
        if (!at && n == BLOCK) memcpy(block + offsetof(struct rs_live_header, locked), &ended, sizeof ended);
        if (!last && !memcmp(block, zeros, n)) {
            if (fseek(out.file, (long)n, SEEK_CUR)) status = rs_fail_errno(err, "%s", to);
        } else if (fwrite(block, 1, n, out.file) != n) {
            status = rs_fail_errno(err, "%s", to);
        }
    }
    const char *trouble = rs_file_trouble(&map);
    if (status == RS_OK && trouble) status = rs_fail(err, RS_FAILED, "%s: %s", from_path, trouble);
    rs_file_unmap(&map);
    if (status == RS_OK) return rs_out_commit(&out, err);
    rs_out_abort(&out);
    return status;
}

/* Opens a live file to move it: of this user, and of a process that has certainly ended. The lock is held until it is
 * closed. -1: it stays where it is. */
static int open_dead(const struct rs_recording *r, bool *held)
{
    *held = false;
    int fd = open(r->live_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    struct rs_live_header l;
    bool good = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
                pread(fd, &l, sizeof l, 0) == (ssize_t)sizeof l && l.nonce == r->header.nonce;
    if (good && l.locked == 1) {
        enum { TRIES = 20, PAUSE_US = 5000 }; /* a reader holds it for a moment */
        for (int i = 0; i < TRIES && !*held; i++) {
            *held = !flock(fd, LOCK_EX | LOCK_NB);
            if (!*held) usleep(PAUSE_US);
        }
        good = *held;
    } else if (good) {
        good = r->alive == RS_ALIVE_NO || r->alive == RS_ALIVE_REPLACED;
    }
    if (good) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

static enum rs_status bring(const struct rs_recording *r, struct rs_gather_result *result, struct rs_err *err)
{
    bool held;
    int fd = open_dead(r, &held);
    if (fd < 0) {
        result->unproven++;
        return RS_OK;
    }
    char *copied = rs_live_path_of(r->path);
    if (!copied) rs_memory_out();
    enum rs_status status = copy(fd, r->live_path, copied, err);
    struct stat open_one, named;
    if (status == RS_OK) {
        result->brought++;
        /* The name may be another file by now. */
        if (!fstat(fd, &open_one) && !lstat(r->live_path, &named) && named.st_ino == open_one.st_ino &&
            named.st_dev == open_one.st_dev)
            unlink(r->live_path);
    } else if (copied && !access(copied, F_OK)) {
        status = RS_OK; /* another `gather` was faster */
    }
    free(copied);
    close(fd);
    return status;
}

static enum rs_status gather_one(const char *path, struct rs_gather_result *result, struct rs_err *err)
{
    struct rs_recording *r;
    struct rs_err ignored;
    if (rs_recording_open(&r, path, &ignored) != RS_OK)
        return RS_OK; /* the reading commands report what is wrong with it */
    result->recordings++;
    enum rs_status status = RS_OK;
    if (r->live_path && rs_may_run(r->alive))
        result->running++;
    else if (r->live_missing)
        result->missing++;
    else if (r->live_path && !strcmp(r->live_path, r->header.live_name) && is_ours(r->live_path))
        status = bring(r, result, err);
    rs_recording_close(r);
    return status;
}

bool rs_gather_needed(void)
{
    struct rs_dir shm = {0};
    if (rs_dir_list(&shm, "/dev/shm", ".live", NULL) != RS_OK) return false;
    bool needed = false;
    for (size_t i = 0; i < shm.count; i++) needed |= !strncmp(shm.names[i], "ringscope-", 10);
    rs_dir_free(&shm);
    return needed;
}

enum rs_status rs_gather_dir(const char *dir, struct rs_gather_result *result, struct rs_err *err)
{
    *result = (struct rs_gather_result){0};
    struct rs_dir list = {0};
    RS_TRY(rs_dir_list(&list, dir, ".rsc", err));
    enum rs_status status = RS_OK;
    for (size_t i = 0; status == RS_OK && i < list.count; i++) {
        size_t bytes = strlen(dir) + strlen(list.names[i]) + 2;
        char *path = rs_alloc(bytes);
        snprintf(path, bytes, "%s/%s", dir, list.names[i]);
        status = gather_one(path, result, err);
        free(path);
    }
    rs_dir_free(&list);
    return status;
}
