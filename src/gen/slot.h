/* A thread of a generated process: its buffer, and one function per kind of callback.
 *
 * As plugin/record.h and buffers.c in a job, but with given times (true ns): counts handles, forms refs and tick bases,
 * seals full buffers. Times that go backwards are moved up, since a thread's records are in order. A slot may lose
 * callbacks in bursts, counted and reported as by the recorder; or be off: then nothing is written or counted. */
#ifndef RS_GEN_SLOT_H
#define RS_GEN_SLOT_H

#include "format/handle.h"
#include "gen/dumps.h"
#include "gen/file.h"
#include "nccl/abi.h"

enum { RS_GEN_WORDS = (RS_BUFFER_BYTES - 64) / 8, RS_GEN_LIMIT = RS_GEN_WORDS - RS_RECORD_MAX };

/* Losses: alternately some callbacks are kept and some are lost. */
struct rs_gen_loss {
    struct rs_gen_rng rng;
    double keep, lose; /* mean lengths of the turns, in callbacks */
    int64_t left; /* of this turn */
    bool losing;
    uint64_t lost[RS_LOST_COUNTS]; /* since the beginning */
    uint64_t unmarked[RS_LOST_COUNTS]; /* for the next LOST record */
    uint64_t first_tick, last_tick; /* of those */
    uint64_t total, noted; /* noted: reported in the truth */
};

struct rs_gen_slot {
    struct rs_gen_file *file;
    struct rs_gen_dump *dump; /* gets the callbacks instead of records; NULL: none */
    uint64_t *words;
    uint32_t n; /* words in use */
    uint32_t limit; /* a record may begin below this; 0: no buffer */
    bool off;
    struct rs_gen_view view; /* of the host's tick counter */
    uint64_t tick_now, last_tick;
    uint64_t next_handle;
    uint64_t callbacks; /* kept */
    struct rs_gen_loss *loss; /* NULL: keeps all */
    uint64_t scratch[RS_RECORD_MAX]; /* lost records are written here */
    /* of the buffer */
    uint64_t buffer_tick, buffer_handle;
    uint32_t generation, index, tid;
    char name[16];
    /* of the chunk that begins at `sealed` */
    uint32_t sealed, chunk_records;
    uint64_t chunk_tick, chunk_handle;
};

struct rs_gen_slot *rs_gen_slot_new(struct rs_gen_file *file, uint32_t index, uint32_t tid, const char *name);
void rs_gen_slot_free(struct rs_gen_slot *slot);
/* `part` of the callbacks is lost. */
void rs_gen_slot_lossy(struct rs_gen_slot *slot, double part, uint64_t seed);
/* Writes what is in no chunk yet into one. */
void rs_gen_slot_seal(struct rs_gen_slot *slot);
/* Writes a LOST record for the losses that none reports. */
void rs_gen_slot_mark(struct rs_gen_slot *slot);

/* The rare paths of rs_gen_head(). */
void rs_gen_slot_next(struct rs_gen_slot *slot, uint64_t tick);
bool rs_gen_slot_loses(struct rs_gen_slot *slot, unsigned kind, uint64_t tick);

/* ---- records ---- */

/* Puts the head of a record, with its handle or parent; *w is where its next word goes. false: it is lost. */
static inline bool rs_gen_head(struct rs_gen_slot *s, int64_t t, unsigned kind, uint64_t handle, uint64_t **w)
{
    if (t < s->view.from || t >= s->view.to) rs_gen_host_view(s->file->host, t, &s->view);
    uint64_t tick = rs_gen_view_at(&s->view, t);
    if (tick < s->last_tick + 20) tick = s->last_tick + 20; /* reading the counter takes that long */
    s->last_tick = tick;
    uint64_t *to = s->scratch, back = s->next_handle - handle;
    bool kept = !(s->loss && rs_gen_slot_loses(s, kind, tick));
    if (kept) {
        if (s->n >= s->limit || (tick - s->tick_now) >> 32) rs_gen_slot_next(s, tick);
        to = s->words + s->n;
    }
    uint64_t head = kind | (tick - s->tick_now) << 32;
    if (back - 1 < RS_REF_LIMIT - 1) {
        *to++ = head | back << 8;
    } else {
        *to++ = head;
        *to++ = handle;
    }
    *w = to;
    return kept;
}

static inline void rs_gen_tail(struct rs_gen_slot *s, bool kept, const uint64_t *w)
{
    if (!kept) return;
    s->n = (uint32_t)(w - s->words);
    s->chunk_records++;
    s->callbacks++;
}

/* All starts: `small` fits 24 bits, the context is one of this process. Returns the handle. */
static inline uint64_t rs_gen_start(struct rs_gen_slot *s, int64_t t, unsigned kind, uint64_t parent, uint32_t ctx,
                                    int rank, uint64_t small, const uint64_t *args, int nargs)
{
    if (s->off) return 0;
    if (s->dump) {
        s->callbacks++;
        return rs_gen_dump_start(s->dump, t, kind, parent, ctx, rank, small, args, nargs);
    }
    uint64_t *w;
    bool kept = rs_gen_head(s, t, kind, parent, &w);
    *w++ = ctx | (uint64_t)(unsigned)rank << 16 | small << 40;
    for (int i = 0; i < nargs; i++) *w++ = args[i];
    rs_gen_tail(s, kept, w);
    return s->next_handle++;
}
static inline void rs_gen_stop(struct rs_gen_slot *s, int64_t t, uint64_t handle)
{
    if (s->off) return;
    if (s->dump) {
        s->callbacks++;
        rs_gen_dump_stop(s->dump, t, handle);
        return;
    }
    uint64_t *w;
    bool kept = rs_gen_head(s, t, RS_K_STOP, handle, &w);
    rs_gen_tail(s, kept, w);
}
static inline void rs_gen_state(struct rs_gen_slot *s, int64_t t, uint64_t handle, unsigned state)
{
    if (s->off) return;
    if (s->dump) {
        s->callbacks++;
        rs_gen_dump_state(s->dump, t, handle, state, 0);
        return;
    }
    uint64_t *w;
    bool kept = rs_gen_head(s, t, RS_K_STATE + state, handle, &w);
    rs_gen_tail(s, kept, w);
}
static inline void rs_gen_state_arg(struct rs_gen_slot *s, int64_t t, uint64_t handle, unsigned state, uint64_t arg)
{
    if (s->off) return;
    if (s->dump) {
        s->callbacks++;
        rs_gen_dump_state(s->dump, t, handle, state, arg);
        return;
    }
    uint64_t *w;
    bool kept = rs_gen_head(s, t, RS_K_STATE_ARG + state, handle, &w);
    *w++ = arg;
    rs_gen_tail(s, kept, w);
}

#endif
