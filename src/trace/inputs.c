#include "trace/inputs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/texts.h"
#include "trace/callbacks.h"

/* ---- opening ---- */

struct paths {
    char **names;
    size_t n;
};

static void add_path(struct paths *p, const char *name)
{
    char **grown = rs_realloc(p->names, (p->n + 1) * sizeof *grown), *path = rs_strdup(name);
    p->names = grown;
    p->names[p->n++] = path;
}

void rs_inputs_unreadable(struct rs_inputs *in, const char *path, const char *why)
{
    struct rs_unreadable *grown = rs_realloc(in->unreadable, (in->nunreadable + 1) * sizeof *grown);
    in->unreadable = grown;
    struct rs_unreadable *u = &grown[in->nunreadable];
    u->path = rs_strdup(path);
    snprintf(u->why, sizeof u->why, "%s", why);
    in->nunreadable++;
}

static bool ends_in(const char *path, const char *end)
{
    size_t n = strlen(path), k = strlen(end);
    return n > k && !strcmp(path + n - k, end);
}

/* HOST.PID.live next to HOST.PID.rsc, from a shell pattern: it is read with its recording. */
static bool is_live_of_another(const char *path)
{
    size_t n = strlen(path), bare = n - strlen("live");
    if (n < strlen("x.live") || strcmp(path + bare - 1, ".live")) return false;
    char recording[4096];
    int length = snprintf(recording, sizeof recording, "%.*srsc", (int)bare, path);
    return length > 0 && (size_t)length < sizeof recording && !access(recording, F_OK);
}

/* By the first bytes or the name. */
static bool is_recording(const char *path)
{
    if (ends_in(path, ".rsc") || ends_in(path, ".live")) return true;
    char head[64];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = fd < 0 ? 0 : read(fd, head, sizeof head);
    if (fd >= 0) close(fd);
    return got > 0 && rs_recording_recognise(head, (size_t)got);
}

static void add_other(struct rs_inputs *in, const char *path, bool named)
{
    struct rs_other *grown = rs_realloc(in->others, (in->nothers + 1) * sizeof *grown);
    in->others = grown;
    struct rs_other *o = &grown[in->nothers];
    *o = (struct rs_other){.path = rs_strdup(path), .named = named, .format = -1, .proc = UINT32_MAX};
    if (!o->path) rs_memory_out();
    in->nothers++;
}

static void add_file(struct rs_inputs *in, struct paths *to, const char *path, bool named)
{
    struct rs_err why;
    struct stat st;
    if (ends_in(path, ".live") && (!named || is_live_of_another(path))) return; /* read with its recording */
    if (ends_in(path, ".live.new") && !named) return; /* the recorder of a later job is copying it */
    if (!stat(path, &st) && !S_ISREG(st.st_mode)) { /* a pipe or a device may never end */
        in->nfolders += !named && S_ISDIR(st.st_mode);
        if (!named && !ends_in(path, ".rsc")) return;
        rs_fail(&why, RS_BAD_INPUT, "%s: not a file", path);
        rs_inputs_unreadable(in, path, why.msg);
        return;
    }
    if (is_recording(path))
        add_path(to, path);
    else
        add_other(in, path, named);
}

/* ---- folders ---- */

struct expanding {
    struct rs_inputs *in;
    struct paths *to; /* recordings */
    rs_is_trace_fn *is_trace; /* NULL: folders in folders are not searched */
};

/* The files of one folder, without those in folders below: how many. */
static size_t add_files(struct expanding *e, const char *path, const struct rs_dir *dir)
{
    size_t before = e->to->n + e->in->nothers + e->in->nunreadable;
    for (size_t i = 0; i < dir->count; i++) {
        char *file;
        rs_asprintf(&file, "%s/%s", path, dir->names[i]);
        add_file(e->in, e->to, file, false);
        free(file);
    }
    return e->to->n + e->in->nothers + e->in->nunreadable - before;
}

/* The name that traces in different folders have, behind the first `from` of the others; NULL: each has its own. Ranks of
 * one job have different names, while each of several jobs has a rank 0. */
static const char *same_name(const struct expanding *e, size_t from)
{
    const char *found = NULL;
    struct rs_texts names = {0};
    for (size_t i = from; i < e->in->nothers && !found; i++) {
        const char *path = e->in->others[i].path, *name = strrchr(path, '/') + 1;
        uint32_t id, before = names.n;
        rs_texts_id(&names, name, strlen(name), &id);
        if (names.n == before && e->is_trace(path)) found = name;
    }
    rs_texts_free(&names);
    return found;
}

static void drop_others(struct rs_inputs *in, size_t from)
{
    while (in->nothers > from) free(in->others[--in->nothers].path);
}

static bool has_trace(const struct expanding *e, size_t recordings, size_t others)
{
    if (e->to->n > recordings) return true;
    for (size_t i = others; i < e->in->nothers; i++)
        if (e->is_trace(e->in->others[i].path)) return true;
    return false;
}

static void add_folder(struct expanding *e, const char *path, unsigned depth);

/* The folders in a folder that has nothing to read itself. Links are not followed. */
static void add_folders(struct expanding *e, const char *path, const struct rs_dir *dir, unsigned depth)
{
    for (size_t i = 0; i < dir->count; i++) {
        struct stat st;
        char *folder;
        if (dir->names[i][0] == '.') continue;
        rs_asprintf(&folder, "%s/%s", path, dir->names[i]);
        if (!lstat(folder, &st) && S_ISDIR(st.st_mode)) add_folder(e, folder, depth);
        free(folder);
    }
}

static void add_folder(struct expanding *e, const char *path, unsigned depth)
{
    struct rs_inputs *in = e->in;
    struct rs_dir dir = {0};
    struct rs_err why;
    if (rs_dir_list(&dir, path, NULL, &why) != RS_OK) {
        rs_inputs_unreadable(in, path, why.msg);
        return;
    }
    size_t recordings = e->to->n, others = in->nothers, folders = in->nfolders, found = add_files(e, path, &dir);
    if (in->nfolders > folders && e->is_trace && depth < RS_INPUTS_DEPTH && !has_trace(e, recordings, others)) {
        drop_others(in, others); /* a README, a script */
        in->nfolders = folders;
        add_folders(e, path, &dir, depth + 1);
        const char *twice = depth ? NULL : same_name(e, others);
        if (twice) {
            rs_fail(&why, RS_BAD_INPUT,
                    "%s: several of the folders in it have a file %s, as those of different jobs do: name one", path,
                    twice);
            drop_others(in, others);
            rs_inputs_unreadable(in, path, why.msg);
        }
        found = e->to->n - recordings + in->nothers - others + (twice != NULL);
        if (found && !depth && !in->deep) in->deep = rs_strdup(path);
    } else if (depth && found) {
        in->ndeep++;
    }
    if (!found && !depth) {
        rs_fail(&why, RS_BAD_INPUT,
                dir.count ? "%s: no recording (*.rsc) and no trace in this folder and the folders in it"
                          : "%s: no recording (*.rsc) in this folder, nor anything else",
                path);
        rs_inputs_unreadable(in, path, why.msg);
    }
    rs_dir_free(&dir);
}

/* A file, or the files in a folder. */
static void expand(struct expanding *e, const char *path)
{
    struct stat st;
    struct rs_err why;
    if (stat(path, &st)) {
        rs_fail_errno(&why, "%s", path);
        rs_inputs_unreadable(e->in, path, why.msg);
    } else if (S_ISDIR(st.st_mode)) {
        add_folder(e, path, 0);
    } else {
        add_file(e->in, e->to, path, true);
    }
}

static void open_one(struct rs_inputs *in, const char *path)
{
    struct rs_recording *recording;
    struct rs_err why;
    if (rs_recording_open(&recording, path, &why) != RS_OK) {
        rs_inputs_unreadable(in, path, why.msg);
        return;
    }
    for (size_t i = 0; i < in->n; i++) {
        const struct rs_file_header *h = &recording->header, *g = &in->sources[i].recording->header;
        if (h->nonce != g->nonce || h->pid != g->pid || h->created_tick != g->created_tick ||
            strcmp(h->boot_id, g->boot_id))
            continue;
        rs_fail(&why, RS_BAD_INPUT, "%s: the same recording as %s; read once", path, in->sources[i].recording->path);
        rs_recording_close(recording);
        rs_inputs_unreadable(in, path, why.msg);
        return;
    }
    struct rs_source *s = &in->sources[in->n++];
    *s = (struct rs_source){.recording = recording};
    rs_process_read(&s->process, recording);
    rs_recording_drop_memory(recording);
}

/* ---- runs ---- */

static size_t root_of(size_t *parent, size_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static void join(size_t *parent, size_t a, size_t b)
{
    parent[root_of(parent, a)] = root_of(parent, b);
}

static int by_host_and_time(const void *a, const void *b)
{
    struct rs_source *x = *(struct rs_source *const *)a, *y = *(struct rs_source *const *)b;
    int host = strcmp(x->recording->header.host, y->recording->header.host);
    if (host) return host;
    int64_t s = rs_source_begin_ns(x), t = rs_source_begin_ns(y);
    return s < t ? -1 : s > t;
}

/* A process whose communicators are unknown (it created none, or NCCL gave no hashes) belongs to those of its host that
 * ran at the same time. */
static void join_by_time(struct rs_inputs *in, size_t *parent, const bool *known)
{
    struct rs_source **order = rs_zalloc(in->n, sizeof *order);
    for (size_t i = 0; i < in->n; i++) order[i] = &in->sources[i];
    qsort(order, in->n, sizeof *order, by_host_and_time);
    struct rs_source *latest = order[0]; /* of the earlier ones on this host: the one that ended last */
    for (size_t i = 1; i < in->n; i++) {
        struct rs_source *s = order[i];
        bool same = !strcmp(s->recording->header.host, latest->recording->header.host);
        size_t a = (size_t)(s - in->sources), b = (size_t)(latest - in->sources);
        if (same && !(known[a] && known[b]) && rs_source_begin_ns(s) <= rs_source_end_ns(latest)) join(parent, a, b);
        if (!same || rs_source_end_ns(s) > rs_source_end_ns(latest)) latest = s;
    }
    free(order);
}

/* The communicators of a process, by hash. v1 to v3 name them only in operations; the first ones suffice. */
static void hashes_of(struct rs_source *s, struct rs_map *hashes)
{
    enum { LOOK_AT = 20000 };
    const struct rs_process *p = &s->process;
    bool old = false;
    for (size_t i = 0; i < p->ncomms; i++) {
        if (p->comms[i].fact.comm_id)
            rs_map_put(hashes, p->comms[i].fact.comm_id, 1);
        else
            old = true;
    }
    if (!old) return;
    struct rs_cursor *cursor;
    rs_cursor_open(&cursor, s->recording, p);
    struct rs_callback cb;
    for (int i = 0; i < LOOK_AT && rs_cursor_next(cursor, &cb); i++) {
        uint64_t hash = rs_callback_comm_hash(&cb);
        if (hash) rs_map_put(hashes, hash, 1);
    }
    rs_cursor_close(cursor);
}

static void join_by_communicator(struct rs_inputs *in, size_t *parent, bool *known)
{
    struct rs_map first = {0}; /* communicator -> a source that has it */
    for (size_t i = 0; i < in->n; i++) {
        struct rs_map hashes = {0};
        hashes_of(&in->sources[i], &hashes);
        known[i] = rs_map_count(&hashes) > 0;
        uint64_t hash, one, *at;
        for (size_t pos = 0; rs_map_next(&hashes, &pos, &hash, &one);) {
            rs_map_at(&first, hash, i, &at);
            join(parent, i, (size_t)*at);
        }
        rs_map_free(&hashes);
    }
    rs_map_free(&first);
}

static int by_run(const void *a, const void *b)
{
    const struct rs_source *x = a, *y = b;
    if (x->run != y->run) return x->run < y->run ? -1 : 1;
    const struct rs_file_header *h = &x->recording->header, *g = &y->recording->header;
    int host = strcmp(h->host, g->host);
    if (host) return host;
    if (h->pid != g->pid) return h->pid < g->pid ? -1 : 1;
    return strcmp(x->recording->path, y->recording->path);
}

/* Numbers the sets by the time of their first process. */
static void number_runs(struct rs_inputs *in, size_t *parent)
{
    struct {
        int64_t begin;
        size_t number;
    } *sets = rs_zalloc(in->n, sizeof *sets);
    for (size_t i = 0; i < in->n; i++) sets[i].begin = INT64_MAX;
    for (size_t i = 0; i < in->n; i++) {
        int64_t begin = rs_source_begin_ns(&in->sources[i]);
        size_t root = root_of(parent, i);
        if (begin < sets[root].begin) sets[root].begin = begin;
    }
    for (size_t i = 0; i < in->n; i++) {
        if (parent[i] != i) continue;
        in->nruns++;
        for (size_t k = 0; k < in->n; k++)
            sets[i].number += parent[k] == k && k != i &&
                              (sets[k].begin < sets[i].begin || (sets[k].begin == sets[i].begin && k < i));
    }
    for (size_t i = 0; i < in->n; i++) in->sources[i].run = sets[root_of(parent, i)].number;
    free(sets);
    qsort(in->sources, in->n, sizeof *in->sources, by_run);
}

static void find_runs(struct rs_inputs *in)
{
    size_t *parent = rs_zalloc(in->n, sizeof *parent);
    bool *known = rs_zalloc(in->n, sizeof *known);
    for (size_t i = 0; i < in->n; i++) parent[i] = i;
    join_by_communicator(in, parent, known);
    join_by_time(in, parent, known);
    number_runs(in, parent);
    free(parent);
    free(known);
}

/* ---- the module ---- */

enum rs_status rs_inputs_open(struct rs_inputs *in, char *const *paths, size_t npaths,
                              void (*progress)(size_t done, size_t all), struct rs_err *err)
{
    return rs_inputs_open_deep(in, paths, npaths, NULL, progress, err);
}

enum rs_status rs_inputs_open_deep(struct rs_inputs *in, char *const *paths, size_t npaths, rs_is_trace_fn *is_trace,
                                   void (*progress)(size_t done, size_t all), struct rs_err *err)
{
    *in = (struct rs_inputs){0};
    struct paths files = {0};
    enum rs_status status = RS_OK;
    for (size_t i = 0; i < npaths; i++) expand(&(struct expanding){in, &files, is_trace}, paths[i]);
    if (files.n) in->sources = rs_zalloc(files.n, sizeof *in->sources);
    for (size_t i = 0; i < files.n; i++) {
        open_one(in, files.names[i]);
        if (progress) progress(i + 1, files.n);
    }
    for (size_t i = 0; i < files.n; i++) free(files.names[i]);
    free(files.names);
    if (!in->n && !in->nothers)
        status = rs_fail(err, RS_BAD_INPUT, "%s", in->nunreadable ? in->unreadable[0].why : "nothing to read");
    for (size_t i = 0; i < in->n; i++) /* sources move only when they are sorted */
        rs_clock_prepare(&in->sources[i].clock, in->sources[i].recording, &in->sources[i].process);
    if (status == RS_OK && in->n) find_runs(in);
    if (status != RS_OK) rs_inputs_close(in);
    return status;
}

static void source_close(struct rs_source *s)
{
    rs_process_free(&s->process);
    rs_recording_close(s->recording);
}

void rs_inputs_close(struct rs_inputs *in)
{
    for (size_t i = 0; i < in->n; i++) source_close(&in->sources[i]);
    for (size_t i = 0; i < in->nunreadable; i++) free(in->unreadable[i].path);
    for (size_t i = 0; i < in->nothers; i++) free(in->others[i].path);
    free(in->others);
    free(in->sources);
    free(in->unreadable);
    free(in->deep);
    *in = (struct rs_inputs){0};
}

void rs_other_incomplete(struct rs_other *file, const struct rs_err *why)
{
    file->complete = false;
    snprintf(file->why, sizeof file->why, "%s", why->msg);
}

enum rs_status rs_inputs_choose(struct rs_inputs *in, long run, struct rs_err *err)
{
    if (run == RS_RUN_ALL || !in->n) return RS_OK;
    if (run == RS_RUN_NEWEST) run = (long)in->nruns - 1;
    if (run < 0 || (size_t)run >= in->nruns)
        return rs_fail(err, RS_NOT_FOUND,
                       in->nruns == 1 ? "there is no run %ld: there is only run 0"
                                      : "there is no run %ld: runs are 0 to %zu",
                       run, in->nruns - 1);
    size_t kept = 0;
    for (size_t i = 0; i < in->n; i++) {
        if (in->sources[i].run == (size_t)run)
            in->sources[kept++] = in->sources[i];
        else
            source_close(&in->sources[i]);
    }
    in->n = kept;
    return RS_OK;
}

bool rs_source_accounted(const struct rs_source *s)
{
    return !s->recording->unknown;
}

bool rs_source_complete(const struct rs_source *s)
{
    const struct rs_recording *r = s->recording;
    return rs_source_accounted(s) && !r->ndamages && !r->damaged && !rs_recording_lost(r) && !r->overwritten &&
           !r->header.status.lost_facts;
}

int64_t rs_source_begin_ns(struct rs_source *s)
{
    return rs_clock_ns(&s->clock, s->recording->header.created_tick);
}

int64_t rs_source_end_ns(struct rs_source *s)
{
    return rs_clock_ns(&s->clock, s->recording->header.status.heartbeat_tick);
}
