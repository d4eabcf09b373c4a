#include "cli/watch.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/mix.h"
#include "base/room.h"
#include "base/strbuf.h"
#include "cli/nccl_library.h"

enum {
    FIRST_MS = 20, /* between the first looks; doubled each time */
    EARLY_MS = 500, /* at most, until EARLY_END_MS */
    EARLY_END_MS = 10000,
    USUAL_MS = 2000, /* until USUAL_END_MS */
    USUAL_END_MS = 60000,
    RARE_MS = 10000,
    MOST_PROCESSES = 4096, /* more tell nothing new */
    MOST_NCCLS = 64,
    MOST_FILES = 4096,
};

/* A program or library that a process maps, and is no libnccl.so. */
struct rs_watched_file {
    char *path;
    uint32_t proc; /* the first process that had it */
};

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void rs_watch_init(struct rs_watch *w, const char *plugin, bool until_recorder)
{
    *w = (struct rs_watch){.plugin = rs_strdup(plugin), .until_recorder = until_recorder};
}

void rs_watch_free(struct rs_watch *w)
{
    for (uint32_t i = 0; i < w->nprocs; i++) {
        free(w->procs[i].setting);
        free(w->procs[i].other);
    }
    for (uint32_t i = 0; i < w->nnccls; i++) {
        free(w->nccls[i].path);
        if (w->nccls[i].fd >= 0) close(w->nccls[i].fd);
    }
    for (uint32_t i = 0; i < w->nfiles; i++) free(w->files[i].path);
    free(w->procs);
    free(w->nccls);
    free(w->files);
    free(w->plugin);
    rs_map_free(&w->proc_of);
    rs_map_free(&w->file_of);
    *w = (struct rs_watch){0};
}

/* ---- /proc ---- */

/* A whole file of /proc/PID as text; its length excludes the final 0. Empty if it cannot be read. */
static void read_proc(struct rs_strbuf *text, pid_t pid, const char *file)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    rs_strbuf_clear(text);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    char some[16384];
    for (ssize_t n; (n = read(fd, some, sizeof some)) > 0;) rs_strbuf_add(text, some, (size_t)n);
    close(fd);
}

struct row {
    pid_t pid, parent;
    uint64_t started;
    char name[32];
    bool ours;
};

/* From "PID (NAME) STATE PPID ...": the name may contain anything. */
static bool read_stat(struct rs_strbuf *text, struct row *r)
{
    read_proc(text, r->pid, "stat");
    const char *open = strchr(rs_strbuf_borrow(text), '('), *close = strrchr(rs_strbuf_borrow(text), ')');
    if (open == NULL || close == NULL || close < open) return false;
    char state;
    int parent;
    unsigned long long started;
    if (sscanf(close + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &state,
               &parent, &started) != 3)
        return false;
    snprintf(r->name, sizeof r->name, "%.*s", (int)(close - open - 1), open + 1);
    for (char *c = r->name; *c; c++)
        if (iscntrl((unsigned char)*c)) *c = '?';
    r->parent = parent;
    r->started = started;
    return state != 'Z' && state != 'X';
}

static int by_pid(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* All processes of the host, those of the command marked. Sorted by pid. */
static struct row *list_processes(pid_t command, uint32_t *n)
{
    struct row *rows = NULL;
    uint32_t cap = 0;
    struct rs_strbuf text = {0};
    *n = 0;
    DIR *list = opendir("/proc");
    const struct dirent *e;
    while (list != NULL && (e = readdir(list)) != NULL) {
        if (!isdigit((unsigned char)e->d_name[0])) continue;
        struct row r = {.pid = (pid_t)strtol(e->d_name, NULL, 10)};
        if (!read_stat(&text, &r)) continue;
        RS_ROOM(rows, *n, cap);
        rows[(*n)++] = r;
    }
    if (list != NULL) closedir(list);
    rs_strbuf_free(&text);
    if (*n > 0) qsort(rows, *n, sizeof *rows, by_pid);
    /* Parents mark their children until nothing changes: as many rounds as the tree is deep. */
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < *n; i++) {
            if (rows[i].ours) continue;
            const struct row *parent = bsearch(&(struct row){.pid = rows[i].parent}, rows, *n, sizeof *rows, by_pid);
            if (rows[i].pid == command || (parent != NULL && parent->ours)) rows[i].ours = changed = true;
        }
    }
    return rows;
}

/* ---- one process ---- */

static uint32_t process_at(struct rs_watch *w, const struct row *r)
{
    uint64_t *at;
    rs_map_at(&w->proc_of, rs_mix(rs_mix(1, (uint64_t)r->pid), r->started), w->nprocs, &at);
    if (*at < w->nprocs || w->nprocs == MOST_PROCESSES) return (uint32_t)*at;
    RS_ROOM(w->procs, w->nprocs, w->procs_cap);
    w->procs[w->nprocs] = (struct rs_watched){.pid = r->pid, .started = r->started, .nccl = -1};
    return w->nprocs++;
}

static void read_environment(struct rs_watched *p, struct rs_strbuf *text)
{
    static const char name[] = "NCCL_PROFILER_PLUGIN=";
    read_proc(text, p->pid, "environ");
    if (text->len == 0) return;
    p->environment_known = true;
    free(p->setting);
    p->setting = NULL;
    for (const char *at = text->data; at < text->data + text->len; at += strlen(at) + 1)
        if (strncmp(at, name, sizeof name - 1) == 0) {
            p->setting = rs_strdup(at + sizeof name - 1);
            return;
        }
}

/* The path of a file of the process, as we can open it. */
static char *seen_from_here(pid_t pid, const char *path)
{
    struct rs_strbuf s = {0};
    rs_strbuf_printf(&s, "/proc/%d/root%s", (int)pid, path);
    char *there;
    rs_strbuf_take(&s, &there);
    return there;
}

static int nccl_at(struct rs_watch *w, pid_t pid, const char *path, dev_t device, ino_t inode)
{
    for (uint32_t i = 0; i < w->nnccls; i++) /* one or two */
        if (w->nccls[i].device == device && w->nccls[i].inode == inode) return (int)i;
    if (w->nnccls == MOST_NCCLS) return -1;
    char *there = seen_from_here(pid, path);
    int fd = open(there, O_RDONLY | O_CLOEXEC);
    free(there);
    RS_ROOM(w->nccls, w->nnccls, w->nccls_cap);
    w->nccls[w->nnccls] = (struct rs_watched_nccl){.path = rs_strdup(path), .device = device, .inode = inode, .fd = fd};
    return (int)w->nnccls++;
}

static void file_at(struct rs_watch *w, uint32_t proc, const char *path, dev_t device, ino_t inode)
{
    uint64_t *at;
    rs_map_at(&w->file_of, rs_mix(rs_mix(1, device), inode), w->nfiles, &at);
    if (*at < w->nfiles || w->nfiles == MOST_FILES) return;
    RS_ROOM(w->files, w->nfiles, w->files_cap);
    w->files[w->nfiles++] = (struct rs_watched_file){.path = rs_strdup(path), .proc = proc};
}

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The program and the libraries, by the mapping of their code: "FROM-TO PERMISSIONS OFFSET MAJOR:MINOR INODE PATH". */
static void read_maps(struct rs_watch *w, uint32_t at, struct rs_strbuf *text)
{
    struct rs_watched *p = &w->procs[at];
    char *save = NULL;
    read_proc(text, p->pid, "maps");
    for (char *line = text->len > 0 ? strtok_r(text->data, "\n", &save) : NULL; line != NULL;
         line = strtok_r(NULL, "\n", &save)) {
        char permissions[5];
        unsigned major, minor;
        unsigned long long inode;
        int path = 0;
        if (sscanf(line, "%*x-%*x %4s %*x %x:%x %llu %n", permissions, &major, &minor, &inode, &path) != 4) continue;
        if (permissions[2] != 'x' || path == 0 || line[path] != '/') continue;
        const char *whole = line + path, *name = strrchr(whole, '/') + 1;
        dev_t device = makedev(major, minor);
        const char *own = strrchr(w->plugin, '/');
        if (strcmp(name, own != NULL ? own + 1 : w->plugin) == 0 ||
            strcmp(name, "libnccl-profiler-ringscope.so") == 0) {
            p->recorder = true;
        } else if (has_prefix(name, "libnccl-profiler")) {
            free(p->other);
            p->other = rs_strdup(whole);
        } else if (has_prefix(name, "libnccl.so")) {
            p->nccl = nccl_at(w, p->pid, whole, device, (ino_t)inode);
        } else {
            file_at(w, at, whole, device, (ino_t)inode);
        }
    }
}

static void look_at(struct rs_watch *w, const struct row *r, struct rs_strbuf *text)
{
    uint32_t at = process_at(w, r);
    if (at == MOST_PROCESSES) return;
    struct rs_watched *p = &w->procs[at];
    if (p->recorder) return; /* nothing more to learn, and reading its maps costs it a little */
    memcpy(p->name, r->name, sizeof p->name);
    read_environment(p, text);
    read_maps(w, at, text);
    p->file_missing = false;
    if (p->nccl >= 0 && !p->recorder && p->setting != NULL && p->setting[0] == '/') {
        char *there = seen_from_here(p->pid, p->setting), *root = seen_from_here(p->pid, "/");
        p->file_missing = access(root, F_OK) == 0 && access(there, F_OK) != 0;
        free(there);
        free(root);
    }
    if (p->recorder && w->until_recorder) w->done = true;
}

int rs_watch_look(struct rs_watch *w, pid_t command)
{
    if (w->done) return -1;
    uint64_t now = now_ms();
    if (w->looks == 0) w->begin_ms = w->next_ms = now;
    if (now < w->next_ms) return (int)(w->next_ms - now);

    uint32_t n;
    struct row *rows = list_processes(command, &n);
    struct rs_strbuf text = {0};
    for (uint32_t i = 0; i < n && !w->done; i++)
        if (rows[i].ours) look_at(w, &rows[i], &text);
    rs_strbuf_free(&text);
    free(rows);

    uint64_t age = now - w->begin_ms;
    int pause = w->looks < 5 ? FIRST_MS << w->looks : age < EARLY_END_MS ? EARLY_MS : USUAL_MS;
    if (age >= USUAL_END_MS) pause = RARE_MS;
    w->looks++;
    w->next_ms = now_ms() + (uint64_t)pause;
    return w->done ? -1 : pause;
}

/* ---- afterwards ---- */

void rs_watch_finish(struct rs_watch *w)
{
    w->end_ms = now_ms();
    for (uint32_t i = 0; i < w->nnccls; i++) {
        struct rs_watched_nccl *l = &w->nccls[i];
        if (l->fd >= 0) l->version = rs_nccl_version_in(l->fd, l->path);
    }
    if (w->nnccls > 0) return;
    for (uint32_t i = 0; i < w->nfiles && w->nnccls < MOST_NCCLS; i++) {
        const struct rs_watched_file *f = &w->files[i];
        int fd = open(f->path, O_RDONLY | O_CLOEXEC);
        int version = fd < 0 ? 0 : rs_nccl_version_in(fd, f->path);
        w->unread += fd < 0;
        if (fd >= 0) close(fd);
        if (version == 0) continue;
        RS_ROOM(w->nccls, w->nnccls, w->nccls_cap);
        w->nccls[w->nnccls] =
            (struct rs_watched_nccl){.path = rs_strdup(f->path), .fd = -1, .version = version, .linked_in = true};
        w->procs[f->proc].nccl = (int)w->nnccls++;
    }
}

char *rs_watched_reason(const struct rs_watch *w, const struct rs_watched *p)
{
    if (p->nccl < 0) return NULL;
    const struct rs_watched_nccl *l = &w->nccls[p->nccl];
    struct rs_text version = rs_nccl_version_text(l->version);
    struct rs_strbuf s = {0};
    if (l->linked_in) {
        rs_strbuf_printf(&s, "has NCCL %s linked in (%s)", version.s, l->path);
    } else {
        rs_strbuf_printf(&s, "loaded libnccl %s", version.s);
    }
    if (l->version > 0 && l->version < RS_NCCL_FIRST_PROFILER) {
        rs_strbuf_puts(&s, ": too old for profiler plugins (2.23 or newer is needed)");
    } else if (p->recorder) {
        rs_strbuf_puts(&s, " and the recorder, which wrote nothing: is the folder writable there?");
    } else if (p->other != NULL) {
        rs_strbuf_printf(&s, " and another profiler plugin, %s: NCCL loads only one", p->other);
    } else if (p->environment_known && p->setting == NULL) {
        rs_strbuf_puts(&s, ", but was started without NCCL_PROFILER_PLUGIN: pass the environment on (see ringscope run "
                           "--print-env)");
    } else if (p->environment_known && strcmp(p->setting, w->plugin) != 0) {
        rs_strbuf_printf(&s, ", but NCCL_PROFILER_PLUGIN was overwritten by '%s'", p->setting);
    } else if (p->file_missing) {
        rs_strbuf_printf(&s, ", but %s does not exist in its container: mount it, or name it with --plugin",
                         p->setting);
    } else if (rs_nccl_refuses_paths(l->version) && strchr(w->plugin, '/') != NULL) {
        rs_strbuf_puts(&s, ", which refuses plugins that are named by a path: use 2.27.5 or newer, or --plugin "
                           "libnccl-profiler-ringscope.so with its folder in LD_LIBRARY_PATH");
    } else {
        rs_strbuf_puts(&s, ", but not the plugin: it created no communicator, or the plugin cannot be loaded there");
    }
    char *text;
    rs_strbuf_take(&s, &text);
    return text;
}

/* Starts processes that are not descendants. */
static bool is_launcher(const char *name)
{
    static const char *const names[] = {"srun", "mpirun", "mpiexec", "orterun", "prterun",
                                        "prun", "ssh",    "docker",  "podman",  "kubectl"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

struct reasons {
    char **texts;
    uint32_t n, cap;
};

static void add(struct reasons *to, struct rs_strbuf *s)
{
    RS_ROOM(to->texts, to->n, to->cap);
    rs_strbuf_take(s, &to->texts[to->n++]);
}

/* One sentence for all processes with the same reason. */
static void add_processes(const struct rs_watch *w, struct reasons *to)
{
    struct same {
        char *reason;
        const struct rs_watched *first;
        size_t others;
    } *each = NULL;
    uint32_t n = 0, cap = 0;
    struct rs_map known = {0};
    for (uint32_t i = 0; i < w->nprocs; i++) {
        char *reason = rs_watched_reason(w, &w->procs[i]);
        if (reason == NULL) continue;
        uint64_t *at;
        rs_map_at(&known, rs_mix_bytes(1, reason, strlen(reason)), n, &at);
        if (*at < n) {
            each[*at].others++;
            free(reason);
            continue;
        }
        RS_ROOM(each, n, cap);
        each[n++] = (struct same){.reason = reason, .first = &w->procs[i]};
    }
    for (uint32_t i = 0; i < n; i++) {
        struct rs_strbuf s = {0};
        rs_strbuf_printf(&s, "pid %d (%s) ", (int)each[i].first->pid, each[i].first->name);
        if (each[i].others > 0)
            rs_strbuf_printf(&s, "and %zu other%s ", each[i].others, each[i].others == 1 ? "" : "s");
        rs_strbuf_puts(&s, each[i].reason);
        free(each[i].reason);
        add(to, &s);
    }
    free(each);
    rs_map_free(&known);
}

char **rs_watch_reasons(const struct rs_watch *w, size_t *n)
{
    struct reasons all = {0};
    add_processes(w, &all);
    struct rs_strbuf s = {0};
    if (all.n == 0) {
        const struct rs_watched *launcher = NULL;
        for (uint32_t i = 0; i < w->nprocs && launcher == NULL; i++)
            if (is_launcher(w->procs[i].name)) launcher = &w->procs[i];
        uint64_t ms = w->end_ms - w->begin_ms;
        if (w->looks == 0) {
            rs_strbuf_puts(&s, "the command ended before its processes could be watched");
        } else if (w->nprocs == 0) {
            rs_strbuf_puts(&s, "the processes of the command could not be watched: /proc does not show them");
        } else if (ms < 3 * FIRST_MS) {
            rs_strbuf_printf(&s, "the command ended after %d ms: no process loaded libnccl until then", (int)ms);
        } else {
            rs_strbuf_puts(&s, "no process loaded libnccl");
            if (w->unread == 0) rs_strbuf_puts(&s, ", and none has it linked in");
            rs_strbuf_printf(&s, " (%u process%s watched", w->nprocs, w->nprocs == 1 ? "" : "es");
            if (w->unread > 0) rs_strbuf_printf(&s, "; %u of their files could not be read", w->unread);
            rs_strbuf_putc(&s, ')');
        }
        add(&all, &s);
        if (launcher != NULL) {
            rs_strbuf_printf(&s,
                             "pid %d (%s) starts processes that cannot be watched from here: they need the settings of "
                             "ringscope run --print-env (mpirun: -x NAME)",
                             (int)launcher->pid, launcher->name);
            add(&all, &s);
        }
    }
    *n = all.n;
    return all.texts;
}
