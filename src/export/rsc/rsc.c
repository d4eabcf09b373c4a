/* rsc: recordings cut out of larger ones with the filters: one file a process, in a folder. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "export/exporter.h"
#include "export/kept_callbacks.h"
#include "export/output.h"
#include "format/fact.h"
#include "trace/alive.h"
#include "trace/recording.h"

/* ---- the file ----
 * A recording that is written by the reader: header, facts and event chunks of what was cut out of another.
 *
 * Opened by name, written front to back, finished with the header. The first failure is kept and reported by
 * rsc_finish(). */

struct rsc_file {
    char *path; /* as it is called now */
    char *name; /* as it will be called: for messages */
    int fd;
    struct rs_codec *codec;
    struct rs_file_header header;
    uint64_t end; /* bytes so far */
    uint64_t sequence[3]; /* by chunk kind */
    uint64_t records; /* callbacks in event chunks */
    uint64_t *facts;
    uint32_t nwords, nfacts, generation; /* of facts that are not written yet */
    struct rs_err err;
};

enum { FACT_WORDS = RS_BUFFER_BYTES / 8 };

/* A name that is free: recordings of several folders may be called the same. */
static int create(struct rsc_file *f, const char *folder, const char *name)
{
    size_t stem = strlen(name);
    if (stem > 4 && !strcmp(name + stem - 4, ".rsc")) stem -= 4;
    for (unsigned i = 1; i < 10000; i++) {
        char number[16] = "";
        if (i > 1) snprintf(number, sizeof number, "-%u", i);
        free(f->path);
        rs_asprintf(&f->path, "%s/%.*s%s.rsc", folder, (int)stem, name, number);
        int fd = open(f->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

static void rsc_abandon(struct rsc_file *f);

/* Begins a file in `folder`, which will be called `out`, that takes over what the header of `of` says of the process. */
static enum rs_status rsc_open(struct rsc_file *f, const char *folder, const char *out, const struct rs_recording *of,
                               struct rs_err *err)
{
    const char *slash = strrchr(of->path, '/'), *name = slash ? slash + 1 : of->path;
    *f = (struct rsc_file){.fd = -1, .header = of->header, .end = sizeof f->header};
    struct rs_file_header *h = &f->header;
    h->features |= RS_FEATURE_CUT;
    h->ring_begin = h->ring_end = 0;
    memset(h->live_name, 0, sizeof h->live_name);
    h->status.live_left = 0;
    memcpy(h->status.lost, of->lost, sizeof h->status.lost);
    f->codec = rs_codec_new();
    f->facts = rs_alloc(FACT_WORDS * sizeof *f->facts);
    rs_asprintf(&f->name, "%s/%s", out, name);
    if (!f->codec || !f->facts || !f->name) rs_memory_out();
    f->fd = create(f, folder, name);
    if (f->fd >= 0 && lseek(f->fd, (off_t)f->end, SEEK_SET) == (off_t)f->end) return RS_OK;
    enum rs_status status = rs_fail_errno(err, "%s: cannot create", f->name);
    rsc_abandon(f);
    return status;
}

static void put(struct rsc_file *f, const void *bytes, size_t n)
{
    if (f->err.code == RS_OK) rs_write_all(f->fd, bytes, n, f->name, &f->err);
    f->end += n;
}

/* One chunk; what does not depend on its content is filled in. */
static void rsc_chunk(struct rsc_file *f, struct rs_chunk_header *h, const uint64_t *words, uint32_t n)
{
    static const char zeros[8];
    enum rs_chunk_coding coding;
    const void *stored = rs_codec_encode(f->codec, h->kind, words, n, &h->stored_bytes, &coding);
    h->magic = RS_CHUNK_MAGIC;
    h->coding = (uint8_t)coding;
    h->header_bytes = sizeof *h;
    h->nonce = f->header.nonce;
    h->sequence = f->sequence[h->kind]++;
    h->records_before = f->records;
    h->from = 0;
    h->to = n;
    h->checksum = rs_chunk_checksum(h, stored);
    put(f, h, sizeof *h);
    put(f, stored, h->stored_bytes);
    put(f, zeros, -h->stored_bytes & 7);
    if (h->kind == RS_CHUNK_EVENTS) f->records += h->records;
}

static void seal_facts(struct rsc_file *f)
{
    if (!f->nfacts) return;
    struct rs_chunk_header h = {
        .kind = RS_CHUNK_FACTS, .records = f->nfacts, .slot = RS_SLOT_FACTS, .generation = ++f->generation};
    rsc_chunk(f, &h, f->facts, f->nwords);
    f->nwords = f->nfacts = 0;
}

/* One fact of at most 32 KiB, in two pieces. */
static void rsc_fact(struct rsc_file *f, enum rs_fact_type type, uint64_t tick, const void *a, size_t a_bytes,
                     const void *b, size_t b_bytes)
{
    size_t bytes = a_bytes + b_bytes;
    uint32_t words = rs_fact_words(bytes);
    if (f->nwords + words > FACT_WORDS) seal_facts(f);
    if (words > FACT_WORDS) { /* no recorder writes such a one */
        if (f->err.code == RS_OK)
            rs_fail(&f->err, RS_BAD_INPUT, "%s: a fact of %zu bytes is too large", f->name, bytes);
        return;
    }
    rs_fact_encode(f->facts + f->nwords, type, tick, a, a_bytes, b, b_bytes);
    f->nwords += words;
    f->nfacts++;
}

static enum rs_status rsc_finish(struct rsc_file *f, struct rs_err *err)
{
    struct rs_file_header *h = &f->header;
    seal_facts(f);
    h->status.file_end = f->end;
    h->status.sealed_records = f->records;
    h->status.event_chunks = (uint32_t)f->sequence[RS_CHUNK_EVENTS];
    h->status.fact_chunks = (uint32_t)f->sequence[RS_CHUNK_FACTS];
    h->checksum = rs_header_checksum(h);
    if (f->err.code == RS_OK && lseek(f->fd, 0, SEEK_SET) != 0) rs_fail_errno(&f->err, "%s: cannot write", f->name);
    put(f, h, sizeof *h);
    if (close(f->fd) != 0 && f->err.code == RS_OK) rs_fail_errno(&f->err, "%s: cannot write", f->name);
    f->fd = -1;
    enum rs_status status = f->err.code;
    if (status != RS_OK) *err = f->err;
    rsc_abandon(f);
    return status;
}

static void rsc_abandon(struct rsc_file *f)
{
    if (f->fd >= 0) close(f->fd);
    rs_codec_free(f->codec);
    free(f->facts);
    free(f->path);
    free(f->name);
    *f = (struct rsc_file){.fd = -1};
}

/* ---- the words that are kept ----
 * The words of a recording without what a cut leaves out.
 *
 * Records are copied as they are; where starts between two were left out, RS_K_HANDLE says which handle comes next,
 * so that every event keeps its own, also in the eyes of other processes. Losses stay losses. */

/* What is not in a cut: how many callbacks, and the tick of the last of them (0: none is missing). */
struct cut_off {
    uint64_t left_out, until;
};

/* Words of a chunk after which a record, and what may have to precede it, still fits. */
enum { CHUNK_WORDS = RS_BUFFER_BYTES / 8, CHUNK_FULL = CHUNK_WORDS - RS_RECORD_MAX - 16 };

/* Position in a sequence of records: of the input, and of the output. */
struct place {
    uint64_t tick_base, next_handle;
    uint32_t tid;
    char thread_name[16];
};

struct cutter {
    struct rsc_file *to;
    struct rs_keep *keep;
    struct cut_off off;
    uint64_t first; /* the earliest tick of all that is read */
    uint64_t *words; /* of the current chunk */
    uint32_t n;
    struct rs_chunk_header header; /* of the current chunk */
    struct place in, out;
    uint32_t generation;
};

static void seal(struct cutter *c)
{
    if (c->n) {
        c->header.generation = ++c->generation;
        rsc_chunk(c->to, &c->header, c->words, c->n);
    }
    c->n = 0;
}

static void begin_chunk(struct cutter *c, uint16_t slot, uint64_t tick)
{
    c->header = (struct rs_chunk_header){.kind = RS_CHUNK_EVENTS,
                                         .slot = slot,
                                         .tid = c->in.tid,
                                         .tick_base = c->in.tick_base,
                                         .next_handle = c->in.next_handle,
                                         .first_tick = tick};
    memcpy(c->header.thread_name, c->in.thread_name, sizeof c->header.thread_name);
    c->out = c->in;
}

/* Says what has changed since the record before: thread, tick base. */
static void catch_up(struct cutter *c)
{
    if (c->out.tid != c->in.tid || memcmp(c->out.thread_name, c->in.thread_name, sizeof c->in.thread_name) != 0) {
        c->words[c->n++] = RS_K_THREAD;
        c->words[c->n++] = c->in.tid;
        memcpy(c->words + c->n, c->in.thread_name, sizeof c->in.thread_name);
        c->n += sizeof c->in.thread_name / sizeof *c->words;
    }
    if (c->out.tick_base != c->in.tick_base) {
        c->words[c->n++] = RS_K_TICK_BASE;
        c->words[c->n++] = c->in.tick_base;
    }
    uint64_t next = c->out.next_handle;
    c->out = c->in;
    c->out.next_handle = next;
}

/* `handle`: of a start its own, else the one that it is about. */
static void put_record(struct cutter *c, uint16_t slot, const uint64_t *w, unsigned n, uint64_t handle)
{
    unsigned kind = (unsigned)w[0] & 0xff;
    uint64_t ref = w[0] >> 8 & (RS_REF_LIMIT - 1), tick = c->in.tick_base + (w[0] >> 32);
    if (c->n > CHUNK_FULL) seal(c);
    if (!c->n) begin_chunk(c, slot, tick);
    catch_up(c);
    if (rs_kind_is_start(kind) && c->out.next_handle != handle) {
        c->words[c->n++] = RS_K_HANDLE;
        c->words[c->n++] = c->out.next_handle = handle;
    }
    uint64_t *head = &c->words[c->n++];
    *head = w[0];
    if (rs_kind_has_handle(kind) && ref && !rs_kind_is_start(kind)) { /* counted back from what would come next here */
        uint64_t back = c->out.next_handle - handle;
        bool fits = back && back < RS_REF_LIMIT;
        *head = (w[0] & ~((uint64_t)(RS_REF_LIMIT - 1) << 8)) | (fits ? back << 8 : 0);
        if (!fits) c->words[c->n++] = handle;
    }
    memcpy(c->words + c->n, w + 1, (n - 1) * sizeof *w);
    c->n += n - 1;
    if (rs_kind_is_start(kind)) c->out.next_handle++;
    c->header.records += kind != RS_K_LOST;
    if (tick > c->header.last_tick) c->header.last_tick = tick;
}

/* Handles what is in the stream between records; else takes the record at w. */
static void take(struct cutter *c, uint16_t slot, const uint64_t *w, unsigned n, bool skipped)
{
    unsigned kind = (unsigned)w[0] & 0xff;
    uint64_t ref = w[0] >> 8 & (RS_REF_LIMIT - 1);
    if (kind == RS_K_TICK_BASE) {
        c->in.tick_base = w[1];
    } else if (kind == RS_K_HANDLE) {
        c->in.next_handle = w[1];
    } else if (kind == RS_K_THREAD) {
        c->in.tid = (uint32_t)w[1];
        memcpy(c->in.thread_name, &w[2], sizeof c->in.thread_name);
    } else if (kind == RS_K_LOST) {
        if (!skipped) put_record(c, slot, w, n, 0);
    } else {
        bool start = rs_kind_is_start(kind);
        uint64_t handle = start ? c->in.next_handle : ref ? c->in.next_handle - ref : w[1];
        uint64_t tick = c->in.tick_base + (w[0] >> 32);
        if (!skipped && tick < c->first) c->first = tick;
        if (!skipped && rs_keep_has(c->keep, handle)) {
            put_record(c, slot, w, n, handle);
        } else if (!skipped) {
            c->off.left_out++;
            if (tick > c->off.until) c->off.until = tick;
        }
        if (start) c->in.next_handle++;
    }
}

static void cut_segment(struct cutter *c, struct rs_recording *from, struct rs_segment *segment)
{
    const struct rs_chunk_header *h = &segment->header;
    const uint64_t *words = rs_recording_words(from, segment);
    if (!words) return;
    c->in = (struct place){.tick_base = h->tick_base, .next_handle = h->next_handle, .tid = h->tid};
    memcpy(c->in.thread_name, h->thread_name, sizeof c->in.thread_name);
    for (uint32_t at = 0, n = h->to - h->from, size; at < n; at += size) {
        size = rs_record_words(words + at, n - at);
        if (!size) return; /* as readers do: the rest holds no record */
        take(c, h->slot, words + at, size, at < segment->skip);
    }
}

/* Writes the events of `from` that are kept; *off: of those that are not. */
static void rsc_cut_events(struct rsc_file *to, struct rs_recording *from, struct rs_keep *keep, struct cut_off *off)
{
    struct cutter c = {.to = to, .keep = keep, .first = UINT64_MAX, .words = rs_alloc(CHUNK_WORDS * sizeof *c.words)};
    for (size_t i = 0; i < from->nevents && to->err.code == RS_OK; i++) {
        if (i && from->events[i].header.slot != from->events[i - 1].header.slot) {
            seal(&c);
            c.generation = 0;
        }
        cut_segment(&c, from, &from->events[i]);
    }
    seal(&c);
    free(c.words);
    rs_recording_drop_memory(from);
    *off = c.off;
    /* What a ring has overwritten came before all that is left of it. */
    if (from->overwritten && c.first > off->until) off->until = c.first;
    off->left_out += from->overwritten + from->damaged;
    if (from->damaged) off->until = UINT64_MAX; /* when that was is not known */
}

/* ---- facts ---- */

/* A captured parent is kept apart for the time when its start is overwritten; here it is one or the other. */
static bool is_wanted(const struct rs_recording *from, struct rs_keep *keep, const struct rs_fact_head *head,
                      const char *payload)
{
    uint64_t handle;
    switch (head->type) {
    case RS_FACT_CUT:
    case RS_FACT_CUT_OPS:
    case RS_FACT_CUT_UNTIL:
    case RS_FACT_CUT_STALE: return false; /* written anew */
    case RS_FACT_CAPTURED:
        if (head->bytes < sizeof handle) return false;
        memcpy(&handle, payload, sizeof handle);
        if (!rs_keep_has(keep, handle)) return false;
        for (size_t i = 0; i < from->nevents && !rs_recording_is_cut(from); i++)
            if (from->events[i].header.slot == rs_handle_slot(handle))
                return (from->events[i].header.next_handle - handle - 1) < RS_COUNTER_MASK / 2;
        return true;
    default: return true;
    }
}

/* Writes its facts, except those of the cut itself, which are written anew, and captured parents that are not kept, or
 * whose starts are. */
static void rsc_cut_facts(struct rsc_file *to, struct rs_recording *from, struct rs_keep *keep)
{
    for (size_t i = 0; i < from->nfacts; i++) {
        struct rs_segment *segment = &from->facts[i];
        const uint64_t *words = rs_recording_words(from, segment);
        const char *bytes = (const char *)words;
        size_t n = words ? (size_t)(segment->header.to - segment->header.from) * 8 : 0, at = 0;
        struct rs_fact_head head;
        while (n - at >= sizeof head) {
            memcpy(&head, bytes + at, sizeof head);
            const char *payload = bytes + at + sizeof head;
            if (head.bytes > n - at - sizeof head) break;
            if (at >= (size_t)segment->skip * 8 && is_wanted(from, keep, &head, payload))
                rsc_fact(to, head.type, head.tick, payload, head.bytes, NULL, 0);
            at += sizeof head + (((size_t)head.bytes + 7) & ~(size_t)7);
            if (at > n) break;
        }
    }
}

/* ---- the exporter ---- */

struct state {
    uint8_t *ops; /* by operation of the model: kept */
    struct rs_strbuf by; /* the filters */
    uint32_t *first; /* by process, and one more: its parts in `parts` */
    uint32_t *parts; /* kept, process by process */
};

/* ---- what is kept ---- */

static bool is_kept(const struct state *s, const struct rs_model *m, uint32_t part)
{
    return m->parts.member[part] != RS_NONE && m->parts.op[part] < m->ops.n && s->ops[m->parts.op[part]];
}

/* The parts that are kept, by process. */
static void sort_parts(struct state *s, const struct rs_model *m)
{
    uint32_t n = 0;
    s->first = rs_zalloc((size_t)m->nprocs + 2, sizeof *s->first);
    for (uint32_t i = 0; i < m->parts.n; i++) {
        if (!is_kept(s, m, i)) continue;
        s->first[m->members[m->parts.member[i]].proc + 2]++;
        n++;
    }
    s->parts = rs_alloc(((size_t)n + 1) * sizeof *s->parts);
    for (uint32_t p = 2; p <= m->nprocs + 1; p++) s->first[p] += s->first[p - 1];
    for (uint32_t i = 0; i < m->parts.n; i++)
        if (is_kept(s, m, i)) s->parts[s->first[m->members[m->parts.member[i]].proc + 1]++] = i;
}

/* ---- counts of the whole recording ---- */

static struct rs_fact_cut_op cut_op(const struct rs_model *m, uint32_t part)
{
    const struct rs_parts *p = &m->parts;
    uint32_t op = p->op[part];
    bool started = p->kind[part] != RS_PART_API;
    bool open = p->kind[part] == RS_PART_COLL && p->flags[part] & RS_PART_OPEN && !(p->flags[part] & RS_PART_STOPPED);
    return (struct rs_fact_cut_op){
        .handle = p->handle[part],
        .id = m->ops.id[op],
        .seq = p->seq[part],
        .index = m->ops.kind[op] == RS_OP_PAIR ? m->ops.index[op] : 0,
        .captured = p->captured[part],
        .replay = p->replay[part],
        .kind = open      ? RS_CUT_OPEN
                : started ? RS_CUT_STARTED
                          : RS_CUT_CALL,
        .confidence = m->ops.confidence[op],
        .twice = (m->ops.flags[op] & RS_OP_DOUBLE) != 0,
    };
}

static void put_told(struct rsc_file *f, const struct state *s, const struct rs_model *m, uint32_t proc,
                     const struct rs_keep *keep)
{
    enum { ROWS = 400, HANDLES = 2000 };
    uint64_t tick = f->header.created_tick;
    struct rs_fact_cut_op *rows = rs_alloc(ROWS * sizeof *rows);
    uint32_t n = 0;
    for (uint32_t k = s->first[proc]; k < s->first[proc + 1]; k++) {
        rows[n++] = cut_op(m, s->parts[k]);
        if (n < ROWS && k + 1 < s->first[proc + 1]) continue;
        rsc_fact(f, RS_FACT_CUT_OPS, tick, rows, n * sizeof *rows, NULL, 0);
        n = 0;
    }
    free(rows);
    for (uint32_t i = 0; i < keep->nstale; i += HANDLES) {
        size_t some = keep->nstale - i < HANDLES ? keep->nstale - i : HANDLES;
        rsc_fact(f, RS_FACT_CUT_STALE, tick, keep->stale + i, some * sizeof *keep->stale, NULL, 0);
    }
}

/* ---- files ---- */

static enum rs_status cut(struct rs_export *x, uint32_t proc, struct rs_err *err)
{
    struct state *s = x->state;
    struct rs_timeline *t = x->timeline;
    struct rs_source *source = &t->inputs->sources[proc];
    struct rs_keep keep;
    struct rsc_file f;
    enum rs_status status = rs_keep_find(&keep, t, proc, s->ops, err);
    if (status == RS_OK) status = rsc_open(&f, x->path, x->name, source->recording, err);
    if (status == RS_OK) {
        struct cut_off off = {0};
        rsc_cut_facts(&f, source->recording, &keep);
        rsc_cut_events(&f, source->recording, &keep, &off);
        put_told(&f, s, t->model, proc, &keep);
        {
            enum { LONGEST = 4096 }; /* of a text that people read: some hundred filters */
            char by[LONGEST];
            snprintf(by, sizeof by, "%s", rs_strbuf_borrow(&s->by));
            const struct rs_file_header *h = &source->recording->header;
            bool runs =
                h->status.state != RS_STATE_CLOSED && (source->process.ran_on || rs_may_run(source->recording->alive));
            const struct rs_fact_cut fact = {source->process.left_out + off.left_out, runs};
            if (source->process.cut_until > off.until) off.until = source->process.cut_until;
            if (!rs_source_accounted(source)) off.until = UINT64_MAX; /* its newest records died with the process */
            rsc_fact(&f, RS_FACT_CUT, f.header.created_tick, &fact, sizeof fact, by, strlen(by) + 1);
            if (off.until)
                rsc_fact(&f, RS_FACT_CUT_UNTIL, f.header.created_tick, &off.until, sizeof off.until, NULL, 0);
            status = rsc_finish(&f, err);
        }
    }
    rs_keep_free(&keep);
    return status;
}

static enum rs_status begin(struct rs_export *x, struct rs_err *err)
{
    struct rs_timeline *t = x->timeline;
    struct state *s = x->state = rs_zalloc(1, sizeof *s);
    if (t->options.filter) rs_filter_describe(t->options.filter, &s->by);
    rs_keep_ops(&s->ops, t);
    sort_parts(s, t->model);
    for (uint32_t i = 0; i < t->inputs->n; i++) {
        RS_TRY(cut(x, i, err));
        if (x->progress) x->progress(i + 1, t->inputs->n);
    }
    return RS_OK;
}

static void release(struct rs_export *x)
{
    struct state *s = x->state;
    if (!s) return;
    free(s->ops);
    free(s->first);
    free(s->parts);
    rs_strbuf_free(&s->by);
    free(s);
    x->state = NULL;
}

static bool is_cut(const char *folder, const char *name)
{
    struct rs_strbuf path = {0};
    struct rs_recording *r = NULL;
    struct rs_err ignored;
    rs_strbuf_printf(&path, "%s/%s", folder, name);
    bool is = rs_output_type(folder, name) == RS_PLACE_FILE &&
              rs_recording_open(&r, rs_strbuf_borrow(&path), &ignored) == RS_OK && rs_recording_is_cut(r);
    rs_recording_close(r);
    rs_strbuf_free(&path);
    return is;
}

/* Cuts may be written again; recordings that were made by a job may not. */
static bool holds_only_cuts(const char *folder)
{
    return rs_output_holds_only(folder, NULL, is_cut);
}

const struct rs_exporter rs_exporter_rsc = {
    .name = "rsc",
    .what = "a folder of recordings cut out of these with the filters, to share",
    .output = RS_EXPORT_FOLDER,
    .recordings = true,
    .may_replace = holds_only_cuts,
    .begin = begin,
    .free = release,
};
