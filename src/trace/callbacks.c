#include "trace/callbacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The records of one slot. */
struct stream {
    struct rs_segment *segment, *end; /* the one in `words`, and the end of the slot's */
    uint64_t *words; /* a copy of the segment's, NULL until the first is needed */
    uint32_t at, n; /* next word, number of words */
    uint32_t skip; /* words that are in a chunk already */
    uint32_t length; /* words of the record at `at` */
    uint64_t tick_base, next_handle;
    uint32_t tid;
    char thread_name[17];
    uint64_t tick; /* of the record at `at` */
};

struct rs_cursor {
    struct rs_recording *recording;
    const struct rs_process *process;
    struct stream *streams;
    struct stream **heap; /* by tick; [0] is the earliest */
    size_t nstreams, nheap;
    uint64_t until; /* tick: records of heap[0] before it are before all others */
    struct rs_callback *lives; /* init, finalize and captured parents, in order */
    size_t nlives, at_life;
    struct stream *taken; /* whose record the caller has: it advances at the next call */
};

/* ---- one stream ---- */

static void name_thread(struct stream *s, uint32_t tid, const char *name)
{
    s->tid = tid;
    memcpy(s->thread_name, name, 16);
    s->thread_name[16] = 0;
}

/* Decodes the current segment. false: it cannot be decoded. */
static bool load(struct rs_cursor *c, struct stream *s)
{
    const struct rs_chunk_header *h = &s->segment->header;
    const uint64_t *words = rs_recording_words(c->recording, s->segment);
    if (!words) return false;
    if (!s->words) s->words = rs_alloc(RS_BUFFER_BYTES);
    s->n = h->to - h->from;
    memcpy(s->words, words, s->n * sizeof *words);
    s->at = 0;
    s->skip = s->segment->skip;
    s->tick_base = h->tick_base;
    s->next_handle = h->next_handle;
    name_thread(s, h->tid, h->thread_name);
    return true;
}

/* The next segment that can be decoded. false: there is none. */
static bool refill(struct rs_cursor *c, struct stream *s)
{
    if (s->words) s->segment++;
    for (; s->segment < s->end; s->segment++)
        if (load(c, s)) return true;
    return false;
}

/* Processes a record that is not a callback, `words` long. false: it is for the caller. */
static bool pass_over(struct rs_cursor *c, struct stream *s, unsigned words)
{
    const uint64_t *w = s->words + s->at;
    unsigned kind = (unsigned)w[0] & 0xff;
    if (!words) {
        const char *file = s->segment->copy ? c->recording->live_path : c->recording->path;
        rs_recording_damage(c->recording, file, s->segment->offset, (s->n - s->at) * 8,
                            "the rest of this chunk is not a whole record");
        c->recording->unknown |= s->segment->copy ? RS_UNKNOWN_LIVE : RS_UNKNOWN_END;
        words = s->n - s->at;
    } else if (kind == RS_K_TICK_BASE) {
        s->tick_base = w[1];
    } else if (kind == RS_K_HANDLE) {
        s->next_handle = w[1];
    } else if (kind == RS_K_THREAD) {
        name_thread(s, (uint32_t)w[1], (const char *)&w[2]);
    } else if (s->at >= s->skip) {
        return false;
    } else if (rs_kind_is_start(kind)) {
        s->next_handle++; /* it is in a chunk */
    }
    s->at += words;
    return true;
}

/* Advances to the next record that is for the caller. false: the stream has ended. Inlined, like take(): the two calls
 * per callback would be 5 % of reading. */
static inline __attribute__((always_inline)) bool settle(struct rs_cursor *c, struct stream *s)
{
    for (;;) {
        if (s->at >= s->n) {
            if (!refill(c, s)) return false;
            continue; /* the segment may be empty */
        }
        const uint64_t *w = s->words + s->at;
        unsigned words = rs_record_words(w, s->n - s->at);
        bool plain = words && rs_kind_has_handle((unsigned)w[0] & 0xff) && s->at >= s->skip;
        if (!plain && pass_over(c, s, words)) continue;
        s->tick = s->tick_base + (w[0] >> 32);
        s->length = words;
        return true;
    }
}

/* Field by field: compilers zero a struct of this size with a string instruction, which takes as long as the rest of
 * take(). */
static void clear(struct rs_callback *cb)
{
    cb->type = cb->handle = cb->parent = cb->context = 0;
    cb->rank = 0;
    cb->small = 0;
    cb->state = 0;
    cb->has_arg = cb->recovered = false;
    cb->lost_first = cb->lost_last = 0;
    cb->comm = NULL;
}

/* Reads the record at `at` and advances. */
static inline __attribute__((always_inline)) void take(struct stream *s, struct rs_callback *cb)
{
    const uint64_t *w = s->words + s->at;
    unsigned kind = (unsigned)w[0] & 0xff, i = 1;
    uint64_t ref = w[0] >> 8 & (RS_REF_LIMIT - 1);
    clear(cb);
    cb->tick = s->tick;
    cb->tid = s->tid;
    cb->thread_name = s->thread_name;
    cb->kind = kind;
    uint64_t handle = 0;
    if (rs_kind_has_handle(kind)) handle = ref ? s->next_handle - ref : w[i++];
    if (rs_kind_is_start(kind)) {
        uint64_t start = w[i++];
        cb->call = RS_CALL_START;
        cb->handle = s->next_handle++;
        cb->parent = handle;
        if ((start & 0xffff) == RS_CTX_ESCAPE) {
            cb->context = w[i++];
            cb->rank = (int64_t)w[i++];
        } else {
            cb->context = rs_handle(rs_handle_nonce(cb->handle), RS_SLOT_CONTEXT, start & 0xffff);
            cb->rank = (int64_t)(start >> 16 & 0xffffff);
        }
        cb->small = start >> 40 == RS_SMALL_ESCAPE ? w[i++] : start >> 40;
        cb->type = rs_kind_start(kind)->type;
        if (kind == RS_K_START_RAW) cb->type = w[i];
    } else if (kind == RS_K_STOP) {
        cb->call = RS_CALL_STOP;
        cb->handle = handle;
    } else if (kind == RS_K_LOST) {
        cb->call = RS_CALL_LOST;
        cb->lost_first = w[i++];
        cb->lost_last = w[i++];
    } else {
        cb->call = RS_CALL_STATE;
        cb->handle = handle;
        cb->has_arg = true;
        if (kind >= RS_K_STATE_ARG)
            cb->state = (int)(kind - RS_K_STATE_ARG);
        else if (kind >= RS_K_STATE)
            cb->state = (int)(kind - RS_K_STATE), cb->has_arg = false;
        else if (kind == RS_K_STATE_V1)
            cb->state = (int)(uint32_t)w[i];
        else if (kind == RS_K_STATE_RAW)
            cb->state = (int)(uint32_t)w[i], cb->has_arg = w[i] >> 32;
        else
            cb->state = 21; /* NetPluginUpdate with its payload */
    }
    cb->args = w + i;
    s->at += s->length;
}

/* ---- merging ---- */

static void sink(struct rs_cursor *c, size_t i)
{
    struct stream *s = c->heap[i];
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= c->nheap) break;
        if (child + 1 < c->nheap && c->heap[child + 1]->tick < c->heap[child]->tick) child++;
        if (c->heap[child]->tick >= s->tick) break;
        c->heap[i] = c->heap[child];
        i = child;
    }
    c->heap[i] = s;
}

static int life_order(const void *a, const void *b)
{
    const struct rs_callback *x = a, *y = b;
    return x->tick < y->tick ? -1 : x->tick > y->tick;
}

/* Whether the ring has overwritten the start of `handle`: its slot's oldest chunk begins after it. A cut contains only
 * facts of overwritten starts. */
static bool is_overwritten(const struct rs_recording *r, uint64_t handle)
{
    if (rs_recording_is_cut(r)) return true;
    for (size_t i = 0; i < r->nevents; i++) /* by slot, generation, from */
        if (r->events[i].header.slot == rs_handle_slot(handle))
            return (r->events[i].header.next_handle - handle - 1) < RS_COUNTER_MASK / 2;
    return true;
}

/* The start of a captured parent, from its fact. */
static void take_captured(struct rs_captured *kept, struct rs_callback *cb)
{
    struct stream s = {.words = kept->words,
                       .n = kept->n,
                       .tick_base = kept->tick_base,
                       .length = kept->n,
                       .next_handle = kept->handle, /* refs count back from the start's own handle */
                       .tick = kept->tick_base + (kept->words[0] >> 32)};
    take(&s, cb);
    cb->thread_name = "";
    cb->recovered = true;
}

static void collect_lives(struct rs_cursor *c)
{
    const struct rs_process *p = c->process;
    bool captured = c->recording->overwritten || rs_recording_is_cut(c->recording);
    size_t n = p->ncomms + p->nfinalizes + (captured ? p->ncaptured : 0);
    if (n) c->lives = rs_zalloc(n, sizeof *c->lives);
    for (size_t i = 0; i < p->ncomms; i++) {
        const struct rs_comm *comm = &p->comms[i];
        c->lives[c->nlives++] = (struct rs_callback){.call = RS_CALL_INIT,
                                                     .tick = comm->created_tick,
                                                     .tid = comm->fact.tid,
                                                     .thread_name = "",
                                                     .context = comm->fact.context,
                                                     .rank = comm->fact.rank,
                                                     .comm = comm};
    }
    for (size_t i = 0; i < p->nfinalizes; i++) {
        const struct rs_finalize *f = &p->finalizes[i];
        c->lives[c->nlives++] = (struct rs_callback){.call = RS_CALL_FINALIZE,
                                                     .tick = f->tick,
                                                     .tid = f->fact.tid,
                                                     .thread_name = "",
                                                     .context = f->fact.context};
    }
    for (size_t i = 0; i < p->ncaptured && captured; i++) {
        struct rs_captured *kept = &p->captured[i];
        bool start = rs_record_words(kept->words, kept->n) == kept->n && rs_kind_is_start(kept->words[0] & 0xff);
        if (start && is_overwritten(c->recording, kept->handle)) take_captured(kept, &c->lives[c->nlives++]);
    }
    if (c->nlives) qsort(c->lives, c->nlives, sizeof *c->lives, life_order);
}

static void collect_streams(struct rs_cursor *c)
{
    struct rs_recording *r = c->recording;
    size_t slots = 0;
    for (size_t i = 0; i < r->nevents; i++) slots += !i || r->events[i].header.slot != r->events[i - 1].header.slot;
    if (!slots) return;
    c->streams = rs_zalloc(slots, sizeof *c->streams);
    c->heap = rs_zalloc(slots, sizeof *c->heap);
    for (size_t i = 0, j; i < r->nevents; i = j) {
        for (j = i + 1; j < r->nevents && r->events[j].header.slot == r->events[i].header.slot;) j++;
        struct stream *s = &c->streams[c->nstreams++];
        s->segment = &r->events[i];
        s->end = &r->events[j];
        if (settle(c, s)) c->heap[c->nheap++] = s;
    }
    for (size_t i = c->nheap / 2; i-- > 0;) sink(c, i);
}

void rs_cursor_open(struct rs_cursor **out, struct rs_recording *r, const struct rs_process *p)
{
    struct rs_cursor *c = *out = rs_zalloc(1, sizeof *c);
    c->recording = r;
    c->process = p;
    collect_lives(c);
    collect_streams(c);
}

/* The stream whose record is next, and until when no other stream is. NULL: init or finalize is next, or nothing. */
static struct stream *earliest(struct rs_cursor *c)
{
    const struct rs_callback *life = c->at_life < c->nlives ? &c->lives[c->at_life] : NULL;
    if (!c->nheap) return NULL;
    sink(c, 0);
    if (life && life->tick <= c->heap[0]->tick) return NULL;
    c->until = life ? life->tick : UINT64_MAX;
    for (size_t i = 1; i < 3 && i < c->nheap; i++)
        if (c->heap[i]->tick < c->until) c->until = c->heap[i]->tick + 1;
    return c->heap[0];
}

bool rs_cursor_next(struct rs_cursor *c, struct rs_callback *cb)
{
    struct stream *s = c->taken;
    bool more = s && settle(c, s);
    if (!more || s->tick >= c->until) {
        if (s && !more) c->heap[0] = c->heap[--c->nheap];
        s = c->taken = earliest(c);
    }
    if (s)
        take(s, cb);
    else if (c->at_life < c->nlives)
        *cb = c->lives[c->at_life++];
    else
        return false;
    return true;
}

void rs_cursor_close(struct rs_cursor *c)
{
    if (!c) return;
    rs_recording_drop_memory(c->recording);
    for (size_t i = 0; i < c->nstreams; i++) free(c->streams[i].words);
    free(c->streams);
    free(c->heap);
    free(c->lives);
    free(c);
}

uint64_t rs_callback_field(const struct rs_callback *cb, const struct rs_field *f)
{
    uint64_t v = (f->source == RS_FROM_SMALL ? cb->small : cb->args[f->word]) >> f->shift;
    if (f->bits == 64) return v;
    v &= (UINT64_C(1) << f->bits) - 1;
    if (f->format == RS_F_INT && v >> (f->bits - 1)) v |= ~UINT64_C(0) << f->bits;
    return v;
}

const struct rs_field *rs_callback_fields(const struct rs_callback *cb)
{
    if (cb->call == RS_CALL_START) return rs_kind_start(cb->kind)->fields;
    return cb->call == RS_CALL_STATE ? rs_kind_state_fields(cb->kind) : NULL;
}

uint64_t rs_callback_comm_hash(const struct rs_callback *cb)
{
    bool old =
        (cb->kind >= RS_K_COLL_V1 && cb->kind <= RS_K_COLL_V3) || cb->kind == RS_K_P2P_V1 || cb->kind == RS_K_P2P_V2;
    for (const struct rs_field *f = old ? rs_callback_fields(cb) : NULL; f && f->name; f++)
        if (!strcmp(f->name, "commHash")) return rs_callback_field(cb, f);
    return 0;
}
