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

/* ---- copying ---- */

/* Whether a buffer has words that no chunk of the recording has: all others add nothing to it (docs/format.md, "Reading a
 * recording that was not closed"). */
static bool is_needed(const struct rs_buffer *b)
{
    uint32_t words = (uint32_t)b->commit;
    return b->generation && words && b->sealed < words;
}

/* A live file without the buffers that add nothing: a process reserves 60 MB for them, and needs few. */
struct compact {
    struct rs_live_header header;
    struct rs_slot *slots;
    const struct rs_buffer **buffers; /* of the file */
};

static void compact_free(struct compact *c)
{
    free(c->slots);
    free(c->buffers);
    *c = (struct compact){0};
}

/* False: the file is damaged, and is kept as it is. */
static bool compact_make(struct compact *c, const struct rs_file_map *map)
{
    *c = (struct compact){0};
    if (map->size < sizeof c->header) return false;
    memcpy(&c->header, map->data, sizeof c->header);
    struct rs_live_header *l = &c->header;
    uint64_t slots_bytes = (uint64_t)l->slots * sizeof *c->slots,
             buffers_bytes = (uint64_t)l->buffers * RS_BUFFER_BYTES;
    if (l->magic != RS_LIVE_MAGIC || l->slots > RS_SLOT_LIMIT || l->slots_at != RS_LIVE_PAGE ||
        l->buffers_at % RS_LIVE_PAGE || l->buffers_at < l->slots_at + slots_bytes || l->buffers_at > map->size ||
        buffers_bytes > map->size - l->buffers_at)
        return false;
    uint32_t *moved = rs_zalloc((size_t)l->buffers + 1, sizeof *moved), kept = 0;
    c->slots = rs_alloc(slots_bytes + 1);
    c->buffers = rs_alloc(((size_t)l->buffers + 1) * sizeof *c->buffers);
    memcpy(c->slots, map->data + l->slots_at, slots_bytes);
    for (uint32_t i = 0; i < l->buffers; i++) {
        const struct rs_buffer *b = (const void *)(map->data + l->buffers_at + (uint64_t)i * RS_BUFFER_BYTES);
        if (!is_needed(b)) continue;
        c->buffers[kept++] = b;
        moved[i] = kept;
    }
    for (uint32_t i = 0; i < l->slots; i++)
        if (c->slots[i].buffer)
            c->slots[i].buffer = c->slots[i].buffer <= l->buffers ? moved[c->slots[i].buffer - 1] : 0;
    free(moved);
    l->buffers = kept;
    l->locked = 2; /* a lock cannot be copied: its process has ended */
    return true;
}

/* Zeros become holes, except at the end. */
static enum rs_status put(struct rs_out *out, const void *bytes, size_t n, const char *to, struct rs_err *err)
{
    static const char zeros[RS_LIVE_PAGE];
    for (size_t at = 0; at < n;) {
        size_t block = n - at < sizeof zeros ? n - at : sizeof zeros;
        const char *from = (const char *)bytes + at;
        if (memcmp(from, zeros, block) ? fwrite(from, 1, block, out->file) != block
                                       : fseek(out->file, (long)block, SEEK_CUR) != 0)
            return rs_fail_errno(err, "%s", to);
        at += block;
    }
    return RS_OK;
}

static enum rs_status put_compact(struct rs_out *out, const struct compact *c, const char *to, struct rs_err *err)
{
    const struct rs_live_header *l = &c->header;
    size_t slots_bytes = (size_t)l->slots * sizeof *c->slots;
    RS_TRY(put(out, l, sizeof *l, to, err));
    if (fseek(out->file, (long)l->slots_at, SEEK_SET)) return rs_fail_errno(err, "%s", to);
    RS_TRY(put(out, c->slots, slots_bytes, to, err));
    for (uint32_t i = 0; i < l->buffers; i++) {
        if (fseek(out->file, (long)(l->buffers_at + (uint64_t)i * RS_BUFFER_BYTES), SEEK_SET))
            return rs_fail_errno(err, "%s", to);
        RS_TRY(put(out, c->buffers[i], RS_BUFFER_BYTES, to, err));
    }
    /* The last byte is written in any case: a hole at the end is no part of a file. */
    uint64_t end = l->buffers_at + (uint64_t)l->buffers * RS_BUFFER_BYTES;
    char last = 0;
    if (l->buffers) last = ((const char *)c->buffers[l->buffers - 1])[RS_BUFFER_BYTES - 1];
    if (fseek(out->file, (long)end - 1, SEEK_SET) || fwrite(&last, 1, 1, out->file) != 1)
        return rs_fail_errno(err, "%s", to);
    return RS_OK;
}

/* Copies what the recording needs of a live file. The copy is marked: its process has ended. `force`: over `to`. */
static enum rs_status copy(int from, const char *from_path, const char *to, bool force, struct rs_err *err)
{
    struct rs_file_map map = {0};
    struct compact c;
    RS_TRY(rs_file_map_fd(&map, from, from_path, err));
    struct rs_out out;
    mode_t mask = umask(0077); /* private to the user */
    enum rs_status status = rs_out_open(&out, to, force, err);
    umask(mask);
    if (status != RS_OK) {
        rs_file_unmap(&map);
        return status;
    }
    if (compact_make(&c, &map)) {
        status = put_compact(&out, &c, to, err);
    } else { /* what is damaged may be of use to somebody */
        status = put(&out, map.data, map.size - 1, to, err);
        if (status == RS_OK && fwrite(map.data + map.size - 1, 1, 1, out.file) != 1)
            status = rs_fail_errno(err, "%s", to);
    }
    compact_free(&c);
    const char *trouble = rs_file_trouble(&map);
    if (status == RS_OK && trouble) status = rs_fail(err, RS_FAILED, "%s: %s", from_path, trouble);
    rs_file_unmap(&map);
    if (status == RS_OK) return rs_out_commit(&out, err);
    rs_out_abort(&out);
    return status;
}

/* ---- moving ---- */

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
    enum rs_status status = copy(fd, r->live_path, copied, false, err);
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

/* A live file next to its recording, of a process that has ended: without what it reserved and does not need. */
static enum rs_status shrink(const struct rs_recording *r, struct rs_gather_result *result, struct rs_err *err)
{
    bool held;
    struct stat before, after;
    struct rs_file_map map = {0};
    struct compact c = {0};
    struct rs_err ignored;
    int fd = open_dead(r, &held);
    if (fd < 0) {
        result->unproven++;
        return RS_OK;
    }
    bool smaller = !fstat(fd, &before) && rs_file_map_fd(&map, fd, r->live_path, &ignored) == RS_OK &&
                   compact_make(&c, &map) &&
                   c.header.buffers_at + (uint64_t)c.header.buffers * RS_BUFFER_BYTES < (uint64_t)before.st_size;
    compact_free(&c);
    rs_file_unmap(&map);
    enum rs_status status = smaller ? copy(fd, r->live_path, r->live_path, true, err) : RS_OK;
    if (smaller && status == RS_OK && !stat(r->live_path, &after)) {
        result->shrunk++;
        result->bytes_before += (uint64_t)before.st_size;
        result->bytes_after += (uint64_t)after.st_size;
    }
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
    else if (r->live_path)
        status = shrink(r, result, err);
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
