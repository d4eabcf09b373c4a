#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/guard.h"
#include "base/memory.h"
#include "base/unfinished.h"

/* ---- maps ---- */

/* Reads to the end: for files that have no size or cannot be mapped. If the size is known, no more than that is read,
 * however fast the file grows. */
static enum rs_status read_whole(struct rs_file_map *map, int fd, const struct stat *st, const char *path,
                                 struct rs_err *err)
{
    enum { MOST = 1 << 30 };
    size_t size = 0, cap = 0, most = S_ISREG(st->st_mode) && st->st_size > 0 ? (size_t)st->st_size : MOST;
    uint8_t *data = NULL;
    for (;;) {
        if (size == cap) {
            cap = cap == 0 ? 65536 : cap * 2;
            uint8_t *more = rs_realloc(data, cap);
            data = more;
        }
        size_t room = cap - size < most - size ? cap - size : most - size;
        ssize_t n = read(fd, data + size, room);
        if (n == 0) break;
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            enum rs_status status = rs_fail_errno(err, "%s: cannot read at byte %zu", path, size);
            free(data);
            return status;
        }
        size += (size_t)n;
        if (size == MOST && most == MOST) {
            free(data);
            return rs_fail(err, RS_BAD_INPUT, "%s: has no size, and no end within %d bytes", path, MOST);
        }
    }
    map->data = data;
    map->size = map->stored = size;
    return RS_OK;
}

/* Where the file system knows holes; the position in the file changes. */
static void find_hole(struct rs_file_map *map, int fd, const struct stat *st)
{
    map->stored = (size_t)st->st_blocks * 512 < map->size ? (size_t)st->st_blocks * 512 : map->size;
    if (map->stored == map->size) return;
    off_t hole = lseek(fd, 0, SEEK_HOLE), data = hole < 0 ? -1 : lseek(fd, hole, SEEK_DATA);
    if (hole < 0 || (size_t)hole >= map->size) return;
    map->hole = (size_t)hole;
    map->data_again = data < 0 || (size_t)data > map->size ? map->size : (size_t)data;
}

/* `streams`: accept pipes too. */
static enum rs_status map_fd(struct rs_file_map *map, int fd, const char *path, bool streams, struct rs_err *err)
{
    *map = (struct rs_file_map){0};
    struct stat st;
    if (fstat(fd, &st) != 0) return rs_fail_errno(err, "%s: cannot stat", path);
    if (S_ISDIR(st.st_mode)) return rs_fail(err, RS_BAD_INPUT, "%s: is a folder, not a file", path);
    if (!streams && !S_ISREG(st.st_mode)) return rs_fail(err, RS_BAD_INPUT, "%s: not a file", path);
    void *data = MAP_FAILED;
    /* Files in /proc report a size of 0: read them. */
    if (S_ISREG(st.st_mode) && st.st_size > 0) data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED) return read_whole(map, fd, &st, path, err);
    *map = (struct rs_file_map){.data = data, .size = (size_t)st.st_size, .mapped = true};
    find_hole(map, fd, &st);
    map->guard = rs_guard_take(data, map->size, &st, path);
    return RS_OK;
}

static enum rs_status map_path(struct rs_file_map *map, const char *path, bool streams, struct rs_err *err)
{
    *map = (struct rs_file_map){0};
    /* Checked when it is open: the name may mean another file a moment later. A pipe without a writer must not
     * block. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (streams ? 0 : O_NONBLOCK));
    if (fd < 0) {
        enum rs_status status = rs_fail_errno(err, "%s: cannot open", path);
        if (errno == ENOENT && err != NULL) err->code = RS_NOT_FOUND;
        return errno == ENOENT ? RS_NOT_FOUND : status;
    }
    enum rs_status status = map_fd(map, fd, path, streams, err);
    close(fd);
    return status;
}

enum rs_status rs_file_map_fd(struct rs_file_map *map, int fd, const char *path, struct rs_err *err)
{
    return map_fd(map, fd, path, false, err);
}

enum rs_status rs_file_map(struct rs_file_map *map, const char *path, struct rs_err *err)
{
    return map_path(map, path, false, err);
}

enum rs_status rs_file_map_stream(struct rs_file_map *map, const char *path, struct rs_err *err)
{
    return map_path(map, path, true, err);
}

const char *rs_file_trouble(const struct rs_file_map *map)
{
    return rs_guard_trouble(map->guard);
}

void rs_file_drop_pages(const struct rs_file_map *map)
{
    if (map->mapped) madvise((void *)(uintptr_t)map->data, map->size, MADV_DONTNEED);
}

void rs_file_unmap(struct rs_file_map *map)
{
    if (map == NULL) return;
    rs_guard_give_back(map->guard);
    if (map->mapped) {
        munmap((void *)map->data, map->size);
    } else {
        free((void *)map->data);
    }
    *map = (struct rs_file_map){0};
}

enum rs_status rs_write_all(int fd, const void *bytes, size_t n, const char *path, struct rs_err *err)
{
    const uint8_t *p = bytes;
    while (n > 0) {
        ssize_t done = write(fd, p, n);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return rs_fail_errno(err, "%s: cannot write", path);
        p += done;
        n -= (size_t)done;
    }
    return RS_OK;
}

static void out_release(struct rs_out *out)
{
    rs_unfinished_drop(out->temporary);
    free(out->path);
    free(out->temporary);
    *out = (struct rs_out){0};
}

char *rs_temp_name(const char *path, const char *suffix)
{
    enum { LONGEST = 200 }; /* of the 255 characters of a name: leaves room for the suffix */
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/') end--; /* a folder may be called "dir/" */
    size_t from = end;
    while (from > 0 && path[from - 1] != '/') from--;
    bool fits = end - from <= LONGEST;
    char *text = NULL;
    rs_asprintf(&text, "%.*s.%.*s%s", (int)from, path, fits ? (int)(end - from) : 9, fits ? path + from : "ringscope",
                suffix);
    return text;
}

/* Opens a new file in the target's folder. The name contains the pid, and a number if a killed process of the same pid
 * left one; open(2) applies the umask, which mkstemp(3) would not. */
static int open_temporary(struct rs_out *out)
{
    for (int i = 0; i < 100; i++) {
        char suffix[48];
        snprintf(suffix, sizeof(suffix), ".tmp%ld-%d", (long)getpid(), i);
        out->temporary = rs_temp_name(out->path, suffix);
        if (out->temporary == NULL) {
            errno = ENOMEM;
            return -1;
        }
        sigset_t before = rs_unfinished_hold();
        int fd = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) rs_unfinished_add(out->temporary);
        rs_unfinished_release(&before);
        if (fd >= 0 || errno != EEXIST) return fd;
        free(out->temporary);
        out->temporary = NULL;
    }
    errno = EEXIST;
    return -1;
}

enum rs_status rs_out_open(struct rs_out *out, const char *path, bool force, struct rs_err *err)
{
    *out = (struct rs_out){.force = force};
    bool standard = path == NULL || strcmp(path, "-") == 0;
    out->path = rs_strdup(standard ? "standard output" : path);
    if (standard) {
        out->file = stdout;
        return RS_OK;
    }
    struct stat st;
    bool exists = stat(path, &st) == 0;
    enum rs_status status = RS_OK;
    int fd = -1;
    if (!exists && !force && lstat(path, &st) == 0) {
        status = rs_fail(err, RS_BAD_INPUT, "%s: exists already, as a dangling link (--force overwrites it)", path);
    } else if (exists && S_ISDIR(st.st_mode)) {
        status = rs_fail(err, RS_BAD_INPUT, "%s: is a folder", path);
    } else if (exists && S_ISREG(st.st_mode) && !force) {
        status = rs_fail(err, RS_BAD_INPUT, "%s: exists already (--force overwrites it)", path);
    } else {
        fd = exists && !S_ISREG(st.st_mode) ? open(path, O_WRONLY | O_CLOEXEC) : open_temporary(out);
        if (fd < 0) status = rs_fail_errno(err, "%s: cannot create", path);
    }
    if (status == RS_OK && (out->file = fdopen(fd, "w")) == NULL) {
        status = rs_fail_errno(err, "%s: cannot open", path);
        close(fd);
        if (out->temporary != NULL) unlink(out->temporary);
    }
    if (status != RS_OK) out_release(out);
    return status;
}

enum rs_status rs_rename_into_place(const char *temporary, const char *path, bool force, struct rs_err *err)
{
    bool done = renameat2(AT_FDCWD, temporary, AT_FDCWD, path, force ? 0 : RENAME_NOREPLACE) == 0;
    /* File systems without the flag return EINVAL, old kernels ENOSYS: a hard link does not replace either. */
    if (!done && !force && (errno == EINVAL || errno == ENOSYS)) {
        done = link(temporary, path) == 0;
        if (done) unlink(temporary);
        struct stat st;
        if (!done && errno != EEXIST && lstat(path, &st) != 0)
            done = rename(temporary, path) == 0; /* no links either */
    }
    if (done) return RS_OK;
    if (errno == EEXIST) return rs_fail(err, RS_BAD_INPUT, RS_CAME_MEANWHILE, path);
    return rs_fail_errno(err, "%s: cannot rename %s to it", path, temporary);
}

enum rs_status rs_out_commit(struct rs_out *out, struct rs_err *err)
{
    bool failed = fflush(out->file) != 0 || ferror(out->file);
    enum rs_status status = RS_OK;
    if (failed) status = rs_fail_errno(err, "%s: cannot write", out->path);
    /* Network file systems report a full disk at close. */
    if (out->file != stdout && fclose(out->file) != 0 && !failed)
        status = rs_fail_errno(err, "%s: cannot write", out->path);
    if (status == RS_OK && out->temporary != NULL)
        status = rs_rename_into_place(out->temporary, out->path, out->force, err);
    if (status != RS_OK && out->temporary != NULL) unlink(out->temporary);
    out_release(out);
    return status;
}

void rs_out_abort(struct rs_out *out)
{
    if (out == NULL || out->file == NULL) return;
    if (out->file != stdout) fclose(out->file);
    if (out->temporary != NULL) unlink(out->temporary);
    out_release(out);
}

bool rs_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool ends_with(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);
    return n >= m && memcmp(name + n - m, suffix, m) == 0;
}

size_t rs_name_ending(const char *name, size_t n, const char *ending)
{
    size_t m = strlen(ending);
    return n > m && !strncasecmp(name + n - m, ending, m) ? m : 0;
}

static void add_name(struct rs_dir *dir, size_t *cap, const char *name)
{
    if (dir->count == *cap) {
        size_t more = *cap == 0 ? 64 : *cap * 2;
        char **names = rs_realloc(dir->names, more * sizeof(*names));
        dir->names = names;
        *cap = more;
    }
    dir->names[dir->count] = rs_strdup(name);
    dir->count++;
}

enum rs_status rs_dir_list(struct rs_dir *dir, const char *path, const char *suffix, struct rs_err *err)
{
    *dir = (struct rs_dir){0};
    DIR *d = opendir(path);
    if (d == NULL) {
        enum rs_status code = errno == ENOENT ? RS_NOT_FOUND : RS_FAILED;
        rs_fail_errno(err, "%s: cannot open the folder", path);
        if (err != NULL) err->code = code;
        return code;
    }
    size_t cap = 0;
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(d);
        if (entry == NULL) {
            break;
        }
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        if (suffix != NULL && !ends_with(name, suffix)) continue;
        add_name(dir, &cap, name);
    }
    closedir(d);
    if (dir->count > 0) qsort(dir->names, dir->count, sizeof(*dir->names), by_name);
    return RS_OK;
}

void rs_dir_free(struct rs_dir *dir)
{
    if (dir == NULL) return;
    for (size_t i = 0; i < dir->count; i++) free(dir->names[i]);
    free(dir->names);
    *dir = (struct rs_dir){0};
}

enum rs_status rs_dir_make(const char *path, struct rs_err *err)
{
    char *part = rs_strdup(path);
    enum rs_status status = RS_OK;
    for (char *p = part; status == RS_OK && *p != '\0';) {
        p += strspn(p, "/");
        p += strcspn(p, "/");
        char end = *p;
        *p = '\0';
        if (*part != '\0' && mkdir(part, 0777) != 0) {
            /* Another process may create the same folder at the same moment. */
            int why = errno;
            struct stat st;
            bool exists = stat(part, &st) == 0;
            errno = exists ? ENOTDIR : why;
            if (!exists || !S_ISDIR(st.st_mode)) status = rs_fail_errno(err, "%s: cannot create the folder", part);
        }
        *p = end;
    }
    free(part);
    return status;
}
