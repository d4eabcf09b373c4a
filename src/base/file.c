#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unfinished.h"

/* Reads to the end: for what has no size or cannot be mapped. */
static enum rs_status read_whole(struct rs_file_map *map, int fd, const char *path, struct rs_err *err)
{
    uint8_t *data = NULL;
    size_t size = 0, cap = 0;
    for (;;) {
        if (size == cap) {
            cap = cap == 0 ? 65536 : cap * 2;
            uint8_t *more = realloc(data, cap);
            if (more == NULL) {
                free(data);
                return rs_fail(err, RS_NO_MEMORY, "%s: out of memory after %zu bytes", path, size);
            }
            data = more;
        }
        ssize_t n = read(fd, data + size, cap - size);
        if (n == 0) break;
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            enum rs_status status = rs_fail_errno(err, "%s: cannot read at byte %zu", path, size);
            free(data);
            return status;
        }
        size += (size_t)n;
    }
    map->data = data;
    map->size = size;
    return RS_OK;
}

/* ---- files that become shorter while they are mapped ---- */

/* Guards are never freed, so that the signal handler may walk the list at any time. */
struct rs_file_guard {
    struct rs_file_guard *next; /* of all; set before it is in the list */
    struct rs_file_guard *next_free;
    _Atomic uintptr_t begin; /* 0: not in use; stored behind `bytes` */
    _Atomic size_t bytes;
    _Atomic bool shrunk; /* such a guard keeps its path, and is not used again */
    char *path;
};

static _Atomic(struct rs_file_guard *) guards;
static struct rs_file_guard *free_guards; /* with the lock */
static pthread_mutex_t guards_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction bus_before;
static uintptr_t page_bytes;

/* Puts zeros in the place of what is gone. Only calls that a signal handler may make: mmap() is a plain system call. */
static void on_bus(int sig, siginfo_t *info, void *context)
{
    (void)context;
    int kept = errno;
    uintptr_t at = (uintptr_t)info->si_addr;
    for (struct rs_file_guard *g = atomic_load(&guards); g; g = g->next) {
        uintptr_t begin = atomic_load(&g->begin), end = begin + atomic_load(&g->bytes);
        if (!begin || at < begin || at >= end) continue;
        at &= ~(page_bytes - 1);
        void *zeros = mmap((void *)at, end - at, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        if (zeros == MAP_FAILED) break;
        atomic_store(&g->shrunk, true);
        errno = kept;
        return;
    }
    sigaction(sig, &bus_before, NULL); /* not ours: the next try gets what it would have got */
    errno = kept;
}

/* With the lock. At every map, since others may take the signal over too. */
static void watch_bus(void)
{
    struct sigaction now, ours = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    if (sigaction(SIGBUS, NULL, &now) || (now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_bus)) return;
    bus_before = now;
    sigaction(SIGBUS, &ours, NULL);
}

static struct rs_file_guard *guard_take(const void *data, size_t bytes, const char *path)
{
    pthread_mutex_lock(&guards_lock);
    watch_bus();
    struct rs_file_guard *g = free_guards;
    if (g) {
        free_guards = g->next_free;
    } else if ((g = calloc(1, sizeof *g))) {
        g->next = atomic_load(&guards);
        atomic_store(&guards, g);
    }
    pthread_mutex_unlock(&guards_lock);
    if (!g) return NULL;
    g->path = strdup(path);
    atomic_store(&g->bytes, bytes);
    atomic_store(&g->begin, (uintptr_t)data);
    return g;
}

/* Before the map goes: its addresses may mean something else at once. */
static void guard_give_back(struct rs_file_guard *g)
{
    if (!g) return;
    atomic_store(&g->begin, 0);
    if (atomic_load(&g->shrunk)) return;
    pthread_mutex_lock(&guards_lock);
    free(g->path);
    g->path = NULL;
    g->next_free = free_guards;
    free_guards = g;
    pthread_mutex_unlock(&guards_lock);
}

bool rs_file_shrunk(const struct rs_file_map *map)
{
    return map->guard && atomic_load(&map->guard->shrunk);
}

bool rs_file_became_shorter(const char *path)
{
    bool found = false;
    pthread_mutex_lock(&guards_lock);
    for (struct rs_file_guard *g = atomic_load(&guards); g && !found; g = g->next)
        found = atomic_load(&g->shrunk) && g->path && !strcmp(g->path, path);
    pthread_mutex_unlock(&guards_lock);
    return found;
}

/* ---- maps ---- */

enum rs_status rs_file_map_fd(struct rs_file_map *map, int fd, const char *path, struct rs_err *err)
{
    *map = (struct rs_file_map){0};
    struct stat st;
    if (fstat(fd, &st) != 0) return rs_fail_errno(err, "%s: cannot stat", path);
    if (S_ISDIR(st.st_mode)) return rs_fail(err, RS_BAD_INPUT, "%s: is a folder, not a file", path);
    void *data = MAP_FAILED;
    /* A size of 0 may be a lie (/proc), so such files are read. */
    if (S_ISREG(st.st_mode) && st.st_size > 0) data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED) return read_whole(map, fd, path, err);
    *map = (struct rs_file_map){.data = data, .size = (size_t)st.st_size, .mapped = true};
    map->guard = guard_take(data, map->size, path);
    return RS_OK;
}

enum rs_status rs_file_map(struct rs_file_map *map, const char *path, struct rs_err *err)
{
    *map = (struct rs_file_map){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        enum rs_status status = rs_fail_errno(err, "%s: cannot open", path);
        if (errno == ENOENT && err != NULL) err->code = RS_NOT_FOUND;
        return errno == ENOENT ? RS_NOT_FOUND : status;
    }
    enum rs_status status = rs_file_map_fd(map, fd, path, err);
    close(fd);
    return status;
}

void rs_file_rest(const struct rs_file_map *map)
{
    if (map->mapped) madvise((void *)(uintptr_t)map->data, map->size, MADV_DONTNEED);
}

void rs_file_unmap(struct rs_file_map *map)
{
    if (map == NULL) return;
    guard_give_back(map->guard);
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

char *rs_beside(const char *path, const char *behind)
{
    enum { LONGEST = 200 }; /* of the 255 that a name may have: what is put behind it fits */
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/') end--; /* a folder may be called "dir/" */
    size_t from = end;
    while (from > 0 && path[from - 1] != '/') from--;
    bool fits = end - from <= LONGEST;
    char *text = NULL;
    if (asprintf(&text, "%.*s.%.*s%s", (int)from, path, fits ? (int)(end - from) : 9, fits ? path + from : "ringscope",
                 behind) < 0)
        return NULL;
    return text;
}

/* Opens a new file beside the target. The name carries the pid, and a number where a killed process of the same pid
 * left one behind; open(2) applies the umask, which mkstemp(3) would not. */
static int open_temporary(struct rs_out *out)
{
    for (int i = 0; i < 100; i++) {
        char behind[48];
        snprintf(behind, sizeof(behind), ".tmp%ld-%d", (long)getpid(), i);
        out->temporary = rs_beside(out->path, behind);
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
    out->path = strdup(standard ? "standard output" : path);
    if (out->path == NULL) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    if (standard) {
        out->file = stdout;
        return RS_OK;
    }
    struct stat st;
    bool exists = stat(path, &st) == 0;
    enum rs_status status = RS_OK;
    int fd = -1;
    if (!exists && !force && lstat(path, &st) == 0) {
        status = rs_fail(err, RS_BAD_INPUT, "%s: exists already, as a link to nowhere (--force overwrites it)", path);
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

enum rs_status rs_put_in_place(const char *temporary, const char *path, bool force, struct rs_err *err)
{
    bool done = renameat2(AT_FDCWD, temporary, AT_FDCWD, path, force ? 0 : RENAME_NOREPLACE) == 0;
    /* File systems that lack the flag say EINVAL, old kernels ENOSYS: a hard link refuses to replace as well. */
    if (!done && !force && (errno == EINVAL || errno == ENOSYS)) {
        done = link(temporary, path) == 0;
        if (done) unlink(temporary);
        struct stat st;
        if (!done && errno != EEXIST && lstat(path, &st) != 0)
            done = rename(temporary, path) == 0; /* no links either */
    }
    if (done) return RS_OK;
    if (errno == EEXIST) return rs_fail(err, RS_BAD_INPUT, RS_CAME_MEANWHILE, path);
    return rs_fail_errno(err, "%s: cannot put %s in its place", path, temporary);
}

enum rs_status rs_out_commit(struct rs_out *out, struct rs_err *err)
{
    bool failed = fflush(out->file) != 0 || ferror(out->file);
    enum rs_status status = RS_OK;
    if (failed) status = rs_fail_errno(err, "%s: cannot write", out->path);
    /* Network file systems report a full disk at close. */
    if (out->file != stdout && fclose(out->file) != 0 && !failed)
        status = rs_fail_errno(err, "%s: cannot write", out->path);
    if (status == RS_OK && out->temporary != NULL) status = rs_put_in_place(out->temporary, out->path, out->force, err);
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

static bool add_name(struct rs_dir *dir, size_t *cap, const char *name)
{
    if (dir->count == *cap) {
        size_t more = *cap == 0 ? 64 : *cap * 2;
        char **names = realloc(dir->names, more * sizeof(*names));
        if (names == NULL) return false;
        dir->names = names;
        *cap = more;
    }
    dir->names[dir->count] = strdup(name);
    if (dir->names[dir->count] == NULL) return false;
    dir->count++;
    return true;
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
    enum rs_status status = RS_OK;
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(d);
        if (entry == NULL) {
            if (errno != 0) status = rs_fail_errno(err, "%s: cannot read the folder", path);
            break;
        }
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        if (suffix != NULL && !ends_with(name, suffix)) continue;
        if (!add_name(dir, &cap, name)) {
            status = rs_fail(err, RS_NO_MEMORY, "%s: out of memory for %zu names", path, dir->count);
            break;
        }
    }
    closedir(d);
    if (status != RS_OK) rs_dir_free(dir);
    if (dir->count > 0) qsort(dir->names, dir->count, sizeof(*dir->names), by_name);
    return status;
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
    char *part = strdup(path);
    if (part == NULL) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    enum rs_status status = RS_OK;
    for (char *p = part; status == RS_OK && *p != '\0';) {
        p += strspn(p, "/");
        p += strcspn(p, "/");
        char end = *p;
        *p = '\0';
        if (*part != '\0' && mkdir(part, 0777) != 0) {
            /* Another process may make the same folder at the same moment: what counts is that it is there. */
            int why = errno;
            struct stat st;
            bool exists = stat(part, &st) == 0;
            errno = exists ? ENOTDIR : why;
            if (!exists || !S_ISDIR(st.st_mode)) status = rs_fail_errno(err, "%s: cannot make the folder", part);
        }
        *p = end;
    }
    free(part);
    return status;
}
