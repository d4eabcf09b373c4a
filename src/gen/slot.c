#include "gen/slot.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct rs_gen_slot *rs_gen_slot_new(struct rs_gen_file *file, uint32_t index, uint32_t tid, const char *name)
{
    struct rs_gen_slot *s = rs_zalloc(1, sizeof *s);
    s->words = rs_alloc(RS_GEN_WORDS * sizeof *s->words);
    s->file = file;
    s->dump = file->dump;
    s->index = index;
    s->tid = tid;
    strncpy(s->name, name, sizeof s->name - 1);
    s->next_handle = rs_handle(file->header.nonce, index, 0);
    return s;
}

void rs_gen_slot_free(struct rs_gen_slot *s)
{
    if (!s) return;
    free(s->words);
    free(s->loss);
    free(s);
}

void rs_gen_slot_lossy(struct rs_gen_slot *s, double part, uint64_t seed)
{
    s->loss = rs_zalloc(1, sizeof *s->loss);
    /* Short bursts, so that a small run has losses too; those of the recorder are longer, but of the same form. */
    s->loss->lose = part < 0.5 ? 40 : 40 * part / (1 - part + 1e-9);
    s->loss->keep = s->loss->lose * (1 - part) / part;
    s->loss->rng.state = seed;
    s->loss->left = (int64_t)(s->loss->keep * rs_gen_exponential(&s->loss->rng)) + 1;
}

static void put_plain(struct rs_gen_slot *s, unsigned kind, uint64_t tick, const uint64_t *args)
{
    s->words[s->n] = kind | (tick - s->tick_now) << 32;
    memcpy(s->words + s->n + 1, args, rs_kind_args[kind] * sizeof *args);
    s->n += 1u + rs_kind_args[kind];
}

/* A new buffer: its owner, and earlier losses. */
static void begin(struct rs_gen_slot *s, uint64_t tick)
{
    uint64_t base = tick > 100 ? tick - 100 : 0;
    s->generation++;
    s->n = s->sealed = 0;
    s->limit = s->file->slot_limit;
    s->tick_now = s->buffer_tick = s->chunk_tick = base;
    s->buffer_handle = s->chunk_handle = s->next_handle;
    uint64_t thread[3] = {s->tid};
    memcpy(&thread[1], s->name, sizeof s->name);
    put_plain(s, RS_K_THREAD, base + 40, thread);
    struct rs_gen_loss *l = s->loss;
    if (!l || !l->first_tick) return;
    uint64_t lost[2 + RS_LOST_COUNTS] = {l->first_tick, l->last_tick};
    memcpy(lost + 2, l->unmarked, sizeof l->unmarked);
    put_plain(s, RS_K_LOST, base + 60, lost);
    memset(l->unmarked, 0, sizeof l->unmarked);
    l->first_tick = 0;
}

void rs_gen_slot_seal(struct rs_gen_slot *s)
{
    if (s->sealed == s->n) return;
    const uint64_t *w = s->words + s->sealed;
    uint64_t first = (w[0] & 0xff) == RS_K_TICK_BASE ? w[1] : s->chunk_tick + (w[0] >> 32);
    struct rs_chunk_header h = {.kind = RS_CHUNK_EVENTS,
                                .records = s->chunk_records,
                                .slot = (uint16_t)s->index,
                                .generation = s->generation,
                                .from = s->sealed,
                                .to = s->n,
                                .tid = s->tid,
                                .first_tick = first,
                                .last_tick = s->last_tick > first ? s->last_tick : first,
                                .tick_base = s->chunk_tick,
                                .next_handle = s->chunk_handle};
    memcpy(h.thread_name, s->name, sizeof h.thread_name);
    rs_gen_chunk(s->file, &h, w, s->n - s->sealed);
    s->sealed = s->n;
    s->chunk_records = 0;
    s->chunk_tick = s->tick_now;
    s->chunk_handle = s->next_handle;
}

void rs_gen_slot_next(struct rs_gen_slot *s, uint64_t tick)
{
    if (s->n < s->limit) { /* heads count ticks in 32 bits */
        put_plain(s, RS_K_TICK_BASE, s->tick_now, &tick);
        s->tick_now = tick;
        if (s->n < s->limit) return;
    }
    rs_gen_slot_seal(s);
    begin(s, tick);
}

static unsigned class_of(unsigned kind)
{
    if (kind == RS_K_STOP) return RS_LOST_STOP;
    if (!rs_kind_is_start(kind)) return RS_LOST_STATE;
    return (unsigned)__builtin_ctz(rs_kind_start(kind)->type);
}

bool rs_gen_slot_loses(struct rs_gen_slot *s, unsigned kind, uint64_t tick)
{
    struct rs_gen_loss *l = s->loss;
    if (l->left-- <= 0) {
        l->losing = !l->losing;
        l->left = (int64_t)((l->losing ? l->lose : l->keep) * rs_gen_exponential(&l->rng)) + 1;
        if (l->losing) { /* no buffer is free: the full one is handed over */
            rs_gen_slot_seal(s);
            s->limit = 0;
            s->n = s->sealed = 0;
        }
    }
    if (!l->losing) return false;
    unsigned c = class_of(kind);
    l->lost[c]++;
    l->unmarked[c]++;
    l->total++;
    l->last_tick = tick;
    if (!l->first_tick) l->first_tick = tick;
    return true;
}

void rs_gen_slot_mark(struct rs_gen_slot *s)
{
    if (!s->loss || !s->loss->first_tick) return;
    rs_gen_slot_seal(s);
    begin(s, s->last_tick + 1000);
    rs_gen_slot_seal(s);
}
