#include "foreign/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/guard.h"
#include "base/memory.h"

/* ---- traces that are there twice ----
 * The same trace given more than once: one file under two names, plain and packed, or a copy. Each is read once:
 * every operation would be there twice otherwise. */

/* A hash of bytes, block by block: begin with TWICE_NOTHING. */
#define TWICE_NOTHING UINT64_C(0xcbf29ce484222325)

struct candidate {
    uint64_t head, whole; /* hashes */
    uint64_t size; /* unpacked bytes */
    size_t index; /* of in->others */
    bool read; /* whole and size are known */
};

static uint64_t dedup_hash(uint64_t before, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) before = (before ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return before;
}

static int by_head(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->head != y->head) return x->head < y->head ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static int by_whole(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->read != y->read) return x->read ? -1 : 1;
    if (x->whole != y->whole) return x->whole < y->whole ? -1 : 1;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* A file that cannot be read to its end is like no other. */
static void read_through(struct candidate *c, const char *path)
{
    struct rs_bytes *bytes;
    struct rs_err err;
    const char *block;
    size_t n = 0;
    if (rs_bytes_open(&bytes, path, &err) != RS_OK) return;
    c->whole = TWICE_NOTHING;
    enum rs_status status;
    while ((status = rs_bytes_next(bytes, &block, &n, &err)) == RS_OK && n) {
        c->whole = dedup_hash(c->whole, block, n);
        c->size += n;
    }
    c->read = status == RS_OK;
    rs_bytes_close(bytes);
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Of two files with the same bytes. Some formats have the rank and the process only in the name of the file: there, two
 * ranks that had nothing to write are equal. */
static bool are_one(const struct rs_other *a, const struct rs_other *b)
{
    if (rs_tool_has((uint8_t)rs_format_at(a->format)->tool, RS_CAP_FILE_PROCESS)) return true;
    size_t n = rs_compression_stem(a->path);
    return (n == rs_compression_stem(b->path) && !memcmp(a->path, b->path, n)) || same_file(a->path, b->path);
}

/* Of candidates with the same bytes, by index. */
static void drop_of(struct rs_inputs *in, const struct candidate *c, size_t n, bool *dropped)
{
    enum { LOOK_BACK = 16 }; /* under names of their own, as many equal files as there are ranks are no copies */
    for (size_t i = 1; i < n; i++)
        for (size_t k = i > LOOK_BACK ? i - LOOK_BACK : 0; k < i; k++) {
            const struct rs_other *o = &in->others[c[i].index], *first = &in->others[c[k].index];
            struct rs_err why;
            if (dropped[c[k].index] || !are_one(first, o)) continue;
            rs_fail(&why, RS_BAD_INPUT, "%s: the same trace as %s; read once", o->path, first->path);
            rs_inputs_unreadable(in, o->path, why.msg);
            dropped[c[i].index] = true;
            break;
        }
}

/* Of candidates with the same first bytes. */
static void drop_among(struct rs_inputs *in, struct candidate *c, size_t n, bool *dropped)
{
    for (size_t i = 0; i < n; i++) read_through(&c[i], in->others[c[i].index].path);
    qsort(c, n, sizeof *c, by_whole);
    for (size_t from = 0, to; from < n && c[from].read; from = to) {
        for (to = from + 1; to < n && c[to].read && c[to].whole == c[from].whole && c[to].size == c[from].size;) to++;
        drop_of(in, &c[from], to - from, dropped);
    }
}

/* Takes those of in->others that are there already out of them, and notes each as unreadable, with the reason. `heads`
 * has a hash of the first bytes of each, unpacked: only files that are equal there are read through. */
static void dedup_drop(struct rs_inputs *in, const uint64_t *heads)
{
    struct candidate *all = rs_zalloc(in->nothers + 1, sizeof *all);
    bool *dropped = rs_zalloc(in->nothers + 1, sizeof *dropped);
    for (size_t i = 0; i < in->nothers; i++) all[i] = (struct candidate){.head = heads[i], .index = i};
    qsort(all, in->nothers, sizeof *all, by_head);
    for (size_t from = 0, to; from < in->nothers; from = to) {
        for (to = from + 1; to < in->nothers && all[to].head == all[from].head;) to++;
        if (to - from > 1) drop_among(in, &all[from], to - from, dropped);
    }
    size_t kept = 0;
    for (size_t i = 0; i < in->nothers; i++) {
        if (dropped[i])
            free(in->others[i].path);
        else
            in->others[kept++] = in->others[i];
    }
    in->nothers = kept;
    free(all);
    free(dropped);
}

/* ---- formats ---- */

static const struct rs_format *const formats[] = {
#define X(id, folder, name, reading, caps) [reading] = &rs_##folder##_format,
    RS_EACH_FORMAT(X)
#undef X
};
enum { FORMATS = sizeof formats / sizeof *formats };
_Static_assert(FORMATS == RS_TOOLS - 1, "the places in the order of reading are 0, 1, 2, ...");

const struct rs_format *rs_format_at(int index)
{
    return index >= 0 && index < FORMATS ? formats[index] : NULL;
}

const struct rs_format *rs_format_of(uint8_t tool)
{
    for (int i = 0; i < FORMATS; i++)
        if (formats[i]->tool == tool) return formats[i];
    return NULL;
}

/* ---- files of other kinds ---- */

static bool is_our_database(const char *head, size_t n)
{
    enum { ID_AT = 68 }; /* big-endian, in the header of a database */
    const unsigned char *id = (const unsigned char *)head + ID_AT;
    return n >= ID_AT + 4 && !memcmp(head, "SQLite format 3", 16) &&
           ((uint32_t)id[0] << 24 | (uint32_t)id[1] << 16 | (uint32_t)id[2] << 8 | id[3]) == RS_SQLITE_ID;
}

/* Of JAX and XLA on CPUs or TPUs. */
static bool is_gpuless_profile(const char *head, size_t n)
{
    bool device = memmem(head, n, "\"/host:CPU", 10) || memmem(head, n, "\"/device:TPU:", 13);
    return device && memmem(head, n, "\"traceEvents\"", 13) && !memmem(head, n, "\"/device:GPU:", 13);
}

/* Files that users of the formats above also have, and that ringscope does not read: what they are, and what to give
 * instead. They are recognised before the formats, some of which would accept them. */
static const struct rs_refused refused[] = {
    {.what = "a database written by `ringscope export`",
     .is = is_our_database,
     .instead = "query it with `ringscope sql`, or give the recordings or traces it was made from"},
    {.what = "an Nsight Systems report",
     .suffixes = {".nsys-rep", ".qdrep"},
     .instead = "convert it: nsys export --type sqlite FILE"},
    {.what = "unprocessed data of Nsight Systems",
     .suffixes = {".qdstrm"},
     .instead = "convert it: QdstrmImporter FILE, then nsys export --type sqlite"},
    {.what = "an Nsight Compute report",
     .suffixes = {".ncu-rep"},
     .instead = "it profiles single kernels; record with Nsight Systems or the PyTorch profiler"},
    {.what = "a PyTorch Execution Trace",
     .has = {"\"schema\"", "\"nodes\""},
     .instead = "it has no GPU times; give the PyTorch profiler trace (Kineto) of the same run"},
    {.what = "a Chakra graph",
     .suffixes = {".et", ".chakra"},
     .instead = "it has no times of ranks; give the PyTorch profiler trace (Kineto) that it was made from"},
    {.what = "a Chakra graph",
     .has = {"\"workload_graph\""},
     .instead = "it has no times of ranks; give the PyTorch profiler trace (Kineto) that it was made from"},
    {.what = "a JAX/XLA profile (XPlane)",
     .suffixes = {".xplane.pb"},
     .instead = "give the .trace.json.gz beside it, or record the job with ringscope's plugin (ringscope run)"},
    {.what = "a JAX/XLA profile without a GPU",
     .is = is_gpuless_profile,
     .instead = "give the profile of a GPU, or record the job with ringscope's plugin (ringscope run)"},
    {.what = "output of rocprofv3",
     .has = {"\"rocprofiler-sdk-tool\""},
     .instead = "give the PyTorch profiler trace (Kineto) of the same run"},
    {.what = "Prometheus metrics of NCCL's Inspector",
     .has = {"nccl_bus_bandwidth_gbs{"},
     .instead = "they are averages; give its JSON logs (NCCL_INSPECTOR_PROM_DUMP=0)"},
    {.what = "a Perfetto trace",
     .suffixes = {".pftrace", ".perfetto-trace", ".perfetto"},
     .instead = "give the recordings or traces it was made from"},
};

const struct rs_refused *rs_refused_at(size_t index)
{
    return index < sizeof refused / sizeof *refused ? &refused[index] : NULL;
}

static bool is_refused(const struct rs_refused *r, const char *path, const char *head, size_t n)
{
    size_t stem = rs_compression_stem(path);
    if (r->is) return r->is(head, n);
    for (int i = 0; i < RS_REFUSED_TEXTS && r->suffixes[i]; i++) {
        size_t length = strlen(r->suffixes[i]);
        if (stem > length && !memcmp(path + stem - length, r->suffixes[i], length)) return true;
    }
    for (int i = 0; i < RS_REFUSED_TEXTS && r->has[i]; i++)
        if (!memmem(head, n, r->has[i], strlen(r->has[i]))) return false;
    return r->has[0] != NULL;
}

/* -1: of none. `why` says what kept the file from being looked at, and *unread is set where something did: it may have
 * been the trace of a rank; *known where it is of a kind that is not read. `hash` is of its first bytes. */
static int format_of(const char *path, char *head, uint64_t *hash, bool *unread, bool *known, struct rs_err *why)
{
    struct rs_bytes *bytes;
    why->code = RS_OK;
    *unread = true;
    *known = false;
    if (rs_bytes_open(&bytes, path, why) != RS_OK) return -1;
    const char *block;
    size_t n = rs_bytes_peek(bytes, head, RS_FORMAT_HEAD), none = 0;
    if (!n && rs_bytes_next(bytes, &block, &none, why) == RS_OK)
        rs_fail(why, RS_BAD_INPUT, "%s: the file is empty", path);
    rs_bytes_close(bytes);
    if (!n) return -1;
    *unread = false;
    *hash = dedup_hash(TWICE_NOTHING, head, n);
    for (const struct rs_refused *r = refused; r < refused + sizeof refused / sizeof *refused; r++) {
        if (!is_refused(r, path, head, n)) continue;
        rs_fail(why, RS_BAD_INPUT, "%s: %s, which ringscope does not read: %s", path, r->what, r->instead);
        *known = true;
        return -1;
    }
    for (int i = 0; i < FORMATS; i++)
        if (formats[i]->is(path, head, n)) return i;
    rs_fail(why, RS_BAD_INPUT, "%s: no trace that ringscope knows (`ringscope explain formats` lists them)", path);
    return -1;
}

bool rs_formats_is_trace(const char *path)
{
    char *head = rs_alloc(RS_FORMAT_HEAD);
    uint64_t hash;
    bool unread, known;
    struct rs_err why;
    int format = format_of(path, head, &hash, &unread, &known, &why);
    free(head);
    return format >= 0;
}

/* `left_out`: why the first file of a folder was left out, if it was recognised. */
static enum rs_status nothing_left(const struct rs_inputs *in, const struct rs_err *left_out, struct rs_err *err)
{
    if (in->nunreadable) return rs_fail(err, RS_BAD_INPUT, "%s", in->unreadable[0].why);
    if (left_out->code != RS_OK) return rs_fail(err, RS_BAD_INPUT, "%s", left_out->msg);
    return rs_fail(err, RS_BAD_INPUT, "no recording (*.rsc) and no trace that ringscope knows among %zu file%s%s",
                   in->nleft_out, in->nleft_out == 1 ? "" : "s",
                   in->nfolders ? " (folders further inside are not searched: name them)" : "");
}

enum rs_status rs_formats_recognise(struct rs_inputs *in, struct rs_err *err)
{
    char *head = rs_alloc(RS_FORMAT_HEAD);
    uint64_t *hashes = rs_zalloc(in->nothers + 1, sizeof *hashes);
    struct rs_err left_out = {.code = RS_OK};
    size_t kept = 0;
    for (size_t i = 0; i < in->nothers; i++) {
        struct rs_other *o = &in->others[i];
        struct rs_err why;
        bool unread, known;
        o->format = format_of(o->path, head, &hashes[kept], &unread, &known, &why);
        bool said = o->named || unread;
        if (known && !said && left_out.code == RS_OK) left_out = why;
        if (o->format < 0 && said) rs_inputs_unreadable(in, o->path, why.msg);
        in->nleft_out += o->format < 0 && !said;
        if (o->format < 0)
            free(o->path);
        else
            in->others[kept++] = *o;
    }
    in->nothers = kept;
    dedup_drop(in, hashes);
    free(head);
    free(hashes);
    return in->n || in->nothers ? RS_OK : nothing_left(in, &left_out, err);
}

void rs_fill_each(struct rs_fill *fill, rs_fill_add add)
{
    for (size_t i = 0; i < fill->n; i++) {
        struct rs_err why = {0};
        enum rs_status status = add(fill, fill->files[i], &why);
        if (status != RS_OK) rs_other_incomplete(fill->files[i], &why);
        if (fill->progress) fill->progress(i + 1, fill->n);
    }
}

enum rs_status rs_formats_fill(struct rs_model *m, struct rs_inputs *in, void (*progress)(size_t done, size_t all),
                               struct rs_err *err)
{
    if (!in->nothers) return RS_OK;
    struct rs_other **files = rs_zalloc(in->nothers, sizeof *files);
    enum rs_status status = RS_OK;
    for (int f = 0; f < FORMATS && status == RS_OK; f++) {
        struct rs_fill fill = {.model = m, .files = files, .progress = progress};
        for (size_t i = 0; i < in->nothers; i++) {
            if (in->others[i].format != f) continue;
            in->others[i].complete = true;
            files[fill.n++] = &in->others[i];
        }
        if (fill.n) status = formats[f]->fill(&fill, err);
    }
    free(files);
    for (size_t i = 0; i < in->nothers; i++) {
        struct rs_err why;
        const char *trouble = rs_guard_trouble_of(in->others[i].path);
        if (!trouble) continue;
        rs_fail(&why, RS_BAD_INPUT, "%s: %s", in->others[i].path, trouble);
        rs_other_incomplete(&in->others[i], &why);
    }
    return status;
}
