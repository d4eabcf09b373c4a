#include "join/replays.h"

#include <stdlib.h>

#include "base/mix.h"
#include "join/presence.h"
#include "nccl/abi.h"

static bool is_coll(const struct rs_parts *t, uint32_t i)
{
    return t->member[i] != RS_NONE && t->kind[i] == RS_PART_COLL;
}

static uint64_t func_key(const struct rs_model *m, uint32_t part)
{
    return (uint64_t)m->members[m->parts.member[part]].comm << 16 | m->parts.func[part];
}

/* Numbers advance with each replay exactly when no number is used twice on a member, by replays or by eager calls. */
static enum rs_status find_frozen(struct rs_replays *f, const struct rs_model *m, struct rs_err *err)
{
    const struct rs_parts *t = &m->parts;
    struct rs_map used = {0}; /* hash of (member, func, seq): a collision only makes a key more careful */
    enum rs_status status = RS_OK;
    for (int pass = 0; pass < 2 && status == RS_OK; pass++) {
        bool eager = pass == 1;
        for (uint32_t i = 0; i < t->n && status == RS_OK; i++) {
            if (!is_coll(t, i) || (t->captured[i] == 0) != eager) continue;
            uint64_t *state = rs_map_find(&f->funcs, func_key(m, i));
            uint64_t use = rs_mix(rs_mix(rs_mix(0, t->member[i]), t->func[i]), t->seq[i]);
            if (eager) {
                if (state && *state == 1 && rs_map_find(&used, use)) *state = 2;
                continue;
            }
            status = rs_map_at(&f->funcs, func_key(m, i), 1, &state, err);
            if (status != RS_OK) break;
            if (t->seq[i] == UINT64_MAX || rs_map_find(&used, use)) *state = 2;
            if (*state == 1) status = rs_map_put(&used, use, 1, err);
        }
        if (!rs_map_count(&f->funcs)) break;
    }
    rs_map_free(&used);
    return status;
}

/* A captured part whose number stands still. */
struct replayed {
    uint64_t func; /* func_key() */
    uint64_t seq;
    uint32_t captured, member, part;
    bool whole; /* its process has all of them */
};

static int by_bucket(const void *a, const void *b)
{
    const struct replayed *x = a, *y = b;
    if (x->func != y->func) return x->func < y->func ? -1 : 1;
    if (x->captured != y->captured) return x->captured < y->captured ? -1 : 1;
    if (x->seq != y->seq) return x->seq < y->seq ? -1 : 1;
    if (x->whole != y->whole) return x->whole ? -1 : 1;
    if (x->member != y->member) return x->member < y->member ? -1 : 1;
    return x->part < y->part ? -1 : x->part > y->part;
}

/* Rows of one bucket: replays of one captured call while the number stood at one value. Where a member that lost records
 * has as many as the whole ones have, none of them is lost, and the order tells which is which. */
static void match_bucket(struct rs_model *m, struct rs_replays *f, const struct replayed *rows, size_t n)
{
    uint32_t first = 0;
    size_t count = 0;
    bool agree = true;
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && rows[next].member == rows[i].member;) next++;
        if (rows[i].whole) {
            uint32_t replay = m->parts.replay[rows[i].part];
            if (count && (count != next - i || first != replay)) agree = false;
            count = next - i;
            first = replay;
            continue;
        }
        uint32_t member = rows[i].member, comm = m->members[member].comm;
        /* A captured call that was lost would shift the numbers of those behind it. */
        bool same = agree && count == next - i && f->most[member] == f->whole_most[comm];
        for (size_t k = i; k < next; k++) {
            uint32_t part = rows[k].part;
            if (same)
                m->parts.replay[part] = first + (uint32_t)(k - i);
            else if (m->parts.enqueued[part] == RS_TIME_NONE || m->parts.enqueued[part] >= f->sure[member])
                f->lonely[part] = 1;
        }
    }
}

static size_t gather_replayed(const struct rs_model *m, struct rs_replays *f, struct replayed *rows)
{
    const struct rs_parts *t = &m->parts;
    size_t n = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        if (!is_coll(t, i) || rs_map_get(&f->funcs, func_key(m, i), 0) != 2) continue;
        if (!t->captured[i]) {
            /* Its call was lost: it may be a replay, with a number that eager calls have too. */
            if (t->enqueued[i] == RS_TIME_NONE) f->lonely[i] = 1;
            continue;
        }
        uint32_t member = t->member[i], comm = m->members[member].comm;
        bool whole = f->sure[member] == INT64_MAX;
        rows[n++] = (struct replayed){func_key(m, i), t->seq[i], t->captured[i], member, i, whole};
        if (t->captured[i] > f->most[member]) f->most[member] = t->captured[i];
        if (whole && t->captured[i] > f->whole_most[comm]) f->whole_most[comm] = t->captured[i];
    }
    return n;
}

static enum rs_status settle(struct rs_model *m, struct rs_replays *f, struct rs_err *err)
{
    const struct rs_parts *t = &m->parts;
    size_t n = 0;
    if (!rs_map_count(&f->funcs)) return RS_OK;
    for (uint32_t i = 0; i < t->n; i++)
        n += is_coll(t, i) && t->captured[i] && rs_map_get(&f->funcs, func_key(m, i), 0) == 2;
    if (!n) return RS_OK;
    struct replayed *rows = malloc(n * sizeof *rows);
    f->lonely = calloc(t->n, 1);
    f->sure = calloc(m->nmembers, sizeof *f->sure);
    f->most = calloc(m->nmembers, sizeof *f->most);
    f->whole_most = calloc(m->ncomms, sizeof *f->whole_most);
    if (!rows || !f->lonely || !f->sure || !f->most || !f->whole_most) {
        free(rows);
        return rs_fail(err, RS_NO_MEMORY, "out of memory");
    }
    for (uint32_t i = 0; i < m->nmembers; i++)
        f->sure[i] = rs_recorded_until(&m->procs[m->members[i].proc], m->members[i].created, RS_COLL);
    n = gather_replayed(m, f, rows);
    qsort(rows, n, sizeof *rows, by_bucket);
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && rows[next].func == rows[i].func && rows[next].captured == rows[i].captured &&
                           rows[next].seq == rows[i].seq;)
            next++;
        match_bucket(m, f, rows + i, next - i);
    }
    free(rows);
    return RS_OK;
}

enum rs_status rs_replays_find(struct rs_replays *r, struct rs_model *m, struct rs_err *err)
{
    *r = (struct rs_replays){0};
    RS_TRY(find_frozen(r, m, err));
    return settle(m, r, err);
}

void rs_replays_free(struct rs_replays *r)
{
    rs_map_free(&r->funcs);
    free(r->lonely);
    free(r->sure);
    free(r->most);
    free(r->whole_most);
    *r = (struct rs_replays){0};
}

bool rs_replays_frozen(const struct rs_replays *r, const struct rs_model *m, uint32_t part)
{
    return r->lonely && m->parts.captured[part] && is_coll(&m->parts, part) &&
           rs_map_get(&r->funcs, func_key(m, part), 0) == 2;
}
