#include "trace/summary.h"

#include <stdlib.h>

#include "base/memory.h"

static void add_gap(struct rs_summary *s, struct rs_source *source, const struct rs_callback *cb)
{
    struct rs_lost_span *grown = rs_realloc(s->gaps, (s->ngaps + 1) * sizeof *grown);
    s->gaps = grown;
    struct rs_lost_span *g = &grown[s->ngaps++];
    *g = (struct rs_lost_span){.from_ns = rs_clock_ns(&source->clock, cb->lost_first),
                               .to_ns = rs_clock_ns(&source->clock, cb->lost_last),
                               .tid = cb->tid};
    for (int i = 0; i < RS_LOST_COUNTS; i++) g->lost += cb->args[i];
}

static void count(struct rs_summary *s, struct rs_source *source, struct rs_cursor *cursor)
{
    struct rs_map tids = {0};
    struct rs_callback cb;
    uint64_t first = 0, first_event = 0, last = 0, last_tid = 0;
    while (rs_cursor_next(cursor, &cb)) {
        if (cb.call == RS_CALL_LOST) {
            add_gap(s, source, &cb);
            continue;
        }
        if (cb.recovered) continue; /* counted as overwritten */
        s->calls[cb.call]++;
        s->callbacks++;
        if (!first) first = cb.tick;
        if (!first_event && cb.call != RS_CALL_INIT && cb.call != RS_CALL_FINALIZE) first_event = cb.tick;
        if (cb.tick > last) last = cb.tick;
        if (cb.tid != last_tid) {
            last_tid = cb.tid;
            rs_map_put(&tids, cb.tid, 1);
        }
        if (cb.call != RS_CALL_START) continue;
        unsigned bit = cb.type && !(cb.type & (cb.type - 1)) ? (unsigned)__builtin_ctzll(cb.type) : RS_NCCL_TYPE_BITS;
        s->events[bit < RS_NCCL_TYPE_BITS ? bit : RS_NCCL_TYPE_BITS]++;
        uint64_t hash = rs_callback_comm_hash(&cb);
        if (hash) rs_map_put(&s->comm_hashes, hash, 1);
    }
    s->threads = rs_map_count(&tids);
    rs_map_free(&tids);
    if (first) s->from_ns = rs_clock_ns(&source->clock, first);
    if (first_event) s->events_from_ns = rs_clock_ns(&source->clock, first_event);
    if (last) s->to_ns = rs_clock_ns(&source->clock, last);
}

void rs_summary_init(struct rs_summary *s, struct rs_source *source)
{
    *s = (struct rs_summary){0};
    const struct rs_process *p = &source->process;
    for (size_t i = 0; i < p->ncomms; i++)
        if (p->comms[i].fact.comm_id) rs_map_put(&s->comm_hashes, p->comms[i].fact.comm_id, 1);
    struct rs_cursor *cursor;
    rs_cursor_open(&cursor, source->recording, p);
    count(s, source, cursor);
    rs_cursor_close(cursor);
}

void rs_summary_free(struct rs_summary *s)
{
    free(s->gaps);
    rs_map_free(&s->comm_hashes);
    *s = (struct rs_summary){0};
}
