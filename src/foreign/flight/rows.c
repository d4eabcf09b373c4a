#include "foreign/flight/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"

#define MOST_BYTES (UINT64_C(512) << 20)

static enum rs_status too_much(const struct rs_flight_rows *r, struct rs_err *err)
{
    return rs_fail(err, RS_NO_MEMORY, "%s: entry %u: the dump says more than fits in %u MiB", r->path, r->f->n_entries,
                   (unsigned)(MOST_BYTES >> 20));
}

/* Counts work before it is done. */
static bool may(struct rs_flight_rows *r, uint64_t steps)
{
    if (steps > r->steps) return false;
    r->steps -= steps;
    return true;
}

static void *keep(struct rs_flight_rows *r, uint64_t bytes)
{
    if (bytes > MOST_BYTES || r->held > MOST_BYTES - bytes) return NULL;
    r->held += bytes;
    return rs_arena_alloc(&r->f->arena, (size_t)bytes);
}

/* A text of the dump's own; "" for what is no text. The same text mostly comes from the same place. */
static enum rs_status text(struct rs_flight_rows *r, const struct rs_value *v, const char **to, struct rs_err *err)
{
    *to = "";
    if (!v || v->kind != RS_V_TEXT || !v->n) return RS_OK;
    if (!may(r, v->n)) return too_much(r, err);
    uint64_t hash = UINT64_C(14695981039346656037), *place;
    for (uint32_t i = 0; i < v->n; i++) hash = (hash ^ (unsigned char)v->text[i]) * UINT64_C(1099511628211);
    RS_TRY(rs_map_at(&r->texts, hash, 0, &place, err));
    const char *known = (const char *)(uintptr_t)*place;
    if (known && !strncmp(known, v->text, v->n) && !known[v->n]) {
        *to = known;
        return RS_OK;
    }
    char *copy = keep(r, (uint64_t)v->n + 1);
    if (!copy) return too_much(r, err);
    memcpy(copy, v->text, v->n);
    *place = (uint64_t)(uintptr_t)copy;
    *to = copy;
    return RS_OK;
}

/* ---- entries ---- */

static enum rs_status sizes(struct rs_flight_rows *r, const struct rs_value *v, struct rs_flight_tensors *t,
                            struct rs_err *err)
{
    if (!rs_value_is_list(v) || !v->n) return RS_OK;
    struct rs_flight_tensor *rows = may(r, v->n) ? keep(r, (uint64_t)v->n * sizeof *rows) : NULL;
    if (!rows) return too_much(r, err);
    for (uint32_t i = 0; i < v->n; i++) {
        const struct rs_value *dims = rs_value_plain(v->items[i]);
        if (!rs_value_is_list(dims) || !dims->n) continue;
        int64_t *d = may(r, dims->n) ? keep(r, (uint64_t)dims->n * sizeof *d) : NULL;
        if (!d) return too_much(r, err);
        for (uint32_t j = 0; j < dims->n; j++) d[j] = rs_value_i64(dims->items[j], -1);
        rows[i] = (struct rs_flight_tensor){d, dims->n};
    }
    t->rows = rows;
    t->n = v->n;
    return RS_OK;
}

static enum rs_status dtypes(struct rs_flight_rows *r, const struct rs_value *v, struct rs_flight_tensors *t,
                             struct rs_err *err)
{
    if (!rs_value_is_list(v) || !v->n) return RS_OK;
    const char **names = may(r, v->n) ? keep(r, (uint64_t)v->n * sizeof *names) : NULL;
    if (!names) return too_much(r, err);
    for (uint32_t i = 0; i < v->n; i++) RS_TRY(text(r, v->items[i], &names[i], err));
    t->dtypes = names;
    t->n_dtypes = v->n;
    return RS_OK;
}

/* Takes "nccl:send 1->2" or "nccl:recv 3<-0" apart. */
static enum rs_status name(struct rs_flight_rows *r, struct rs_flight_entry *e, struct rs_err *err)
{
    const char *colon = strchr(e->name, ':'), *word = colon ? colon + 1 : e->name;
    size_t n = strcspn(word, " ");
    char *end;
    if (n > UINT32_MAX || !may(r, n)) return too_much(r, err);
    RS_TRY(text(r, &(struct rs_value){.kind = RS_V_TEXT, .text = word, .n = (uint32_t)n}, &e->op, err));
    if (word[n] != ' ') return RS_OK;
    long mine = strtol(word + n + 1, &end, 10);
    bool sends = !strncmp(end, "->", 2), receives = !strncmp(end, "<-", 2);
    if (end == word + n + 1 || (!sends && !receives)) return RS_OK;
    const char *behind = end + 2;
    long other = strtol(behind, &end, 10);
    if (end == behind || mine < 0 || mine > INT32_MAX || other < 0 || other > INT32_MAX) return RS_OK;
    e->src = (int32_t)(sends ? mine : other);
    e->dst = (int32_t)(sends ? other : mine);
    return RS_OK;
}

static enum rs_flight_state state(const struct rs_value *v)
{
    return rs_value_is(v, "completed")   ? RS_FLIGHT_COMPLETED
           : rs_value_is(v, "started")   ? RS_FLIGHT_STARTED
           : rs_value_is(v, "scheduled") ? RS_FLIGHT_SCHEDULED
                                         : RS_FLIGHT_UNKNOWN;
}

static int64_t duration(const struct rs_value *v)
{
    double ns = rs_value_double(v, -1) * 1e6;
    return ns >= 0 && ns < 9e18 ? (int64_t)llround(ns) : -1;
}

enum rs_status rs_flight_rows_entry(struct rs_flight_rows *r, const struct rs_value *entry, struct rs_err *err)
{
    struct rs_flight *f = r->f;
    entry = rs_value_plain(entry);
    if (!entry || entry->kind != RS_V_DICT || entry->cut) {
        f->bad_entries++;
        return RS_OK;
    }
    /* One pass for each key below, and the keys of a real entry are few. */
    if (!may(r, 32 + (uint64_t)entry->n * 16)) return too_much(r, err);
    const struct rs_value *group = rs_value_get(entry, "process_group");
    const struct rs_value *seq = rs_value_get(entry, "collective_seq_id");
    struct rs_flight_entry e = {
        .record_id = rs_value_i64(rs_value_get(entry, "record_id"), -1),
        .pg_id = rs_value_i64(rs_value_get(entry, "pg_id"), -1),
        .collective_seq = rs_value_i64(seq ? seq : rs_value_get(entry, "seq_id"), -1), /* its name before 2.1 */
        .p2p_seq = rs_value_i64(rs_value_get(entry, "p2p_seq_id"), -1),
        .src = -1,
        .dst = -1,
        .pg_name = "",
        .pg_desc = "",
        .created_ns = rs_value_i64(rs_value_get(entry, "time_created_ns"), -1),
        .duration_ns = duration(rs_value_get(entry, "duration_ms")),
        .state = state(rs_value_get(entry, "state")),
        .is_p2p = rs_value_i64(rs_value_get(entry, "is_p2p"), 0) == 1,
        .retired = rs_value_i64(rs_value_get(entry, "retired"), 0) == 1,
        .discovered = {rs_value_i64(rs_value_get(entry, "time_discovered_started_ns"), 0),
                       rs_value_i64(rs_value_get(entry, "time_discovered_completed_ns"), 0)},
    };
    RS_TRY(text(r, rs_value_get(entry, "profiling_name"), &e.name, err));
    RS_TRY(name(r, &e, err));
    if (rs_value_is_list(group) && group->n >= 1) RS_TRY(text(r, group->items[0], &e.pg_name, err));
    if (rs_value_is_list(group) && group->n >= 2) RS_TRY(text(r, group->items[1], &e.pg_desc, err));
    RS_TRY(sizes(r, rs_value_get(entry, "input_sizes"), &e.in, err));
    RS_TRY(dtypes(r, rs_value_get(entry, "input_dtypes"), &e.in, err));
    RS_TRY(sizes(r, rs_value_get(entry, "output_sizes"), &e.out, err));
    RS_TRY(dtypes(r, rs_value_get(entry, "output_dtypes"), &e.out, err));
    if ((r->held += sizeof e) > MOST_BYTES) return too_much(r, err);
    RS_ROOM(f->entries, f->n_entries, f->cap_entries, err);
    f->entries[f->n_entries++] = e;
    return RS_OK;
}

/* ---- groups ---- */

static int by_rank(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Ranks as a list, or as the text of one: "[0, 1]". */
static enum rs_status ranks(struct rs_flight_rows *r, const struct rs_value *v, struct rs_flight_group *g,
                            struct rs_err *err)
{
    bool listed = rs_value_is_list(v);
    if (!listed && (!v || v->kind != RS_V_TEXT)) return RS_OK;
    uint32_t most = listed ? v->n : v->n / 2 + 1;
    int32_t *to = may(r, (uint64_t)v->n * 2) ? keep(r, (uint64_t)most * sizeof *to) : NULL;
    if (!to) return too_much(r, err);
    g->ranks = to;
    for (uint32_t i = 0; i < v->n;) {
        int64_t rank = 0;
        if (listed) {
            rank = rs_value_i64(v->items[i++], -1);
        } else {
            uint32_t begin = i;
            for (; i < v->n && v->text[i] >= '0' && v->text[i] <= '9'; i++)
                if (rank <= INT32_MAX) rank = rank * 10 + (v->text[i] - '0');
            if (i == begin) {
                i++;
                continue;
            }
        }
        if (rank >= 0 && rank <= INT32_MAX) to[g->n++] = (int32_t)rank;
    }
    qsort(to, g->n, sizeof *to, by_rank);
    return RS_OK;
}

static enum rs_status group(struct rs_flight_rows *r, const char *id, const struct rs_value *v, struct rs_err *err)
{
    struct rs_flight *f = r->f;
    struct rs_flight_group g = {.id = id};
    RS_TRY(text(r, rs_value_get(v, "name"), &g.name, err));
    RS_TRY(text(r, rs_value_get(v, "desc"), &g.desc, err));
    if (!*g.name) g.name = id;
    RS_TRY(ranks(r, rs_value_get(v, "ranks"), &g, err));
    RS_ROOM(f->groups, f->n_groups, f->cap_groups, err);
    f->groups[f->n_groups++] = g;
    return RS_OK;
}

static enum rs_status progress(struct rs_flight_rows *r, const char *id, const struct rs_value *v, struct rs_err *err)
{
    struct rs_flight *f = r->f;
    struct rs_flight_status s = {
        .id = id,
        .enqueued = rs_value_i64(rs_value_get(v, "last_enqueued_collective"), -1),
        .started = rs_value_i64(rs_value_get(v, "last_started_collective"), -1),
        .completed = rs_value_i64(rs_value_get(v, "last_completed_collective"), -1),
    };
    RS_ROOM(f->status, f->n_status, f->cap_status, err);
    f->status[f->n_status++] = s;
    return RS_OK;
}

enum rs_status rs_flight_rows_top(struct rs_flight_rows *r, const struct rs_value *key, const struct rs_value *value,
                                  struct rs_err *err)
{
    struct rs_flight *f = r->f;
    value = rs_value_plain(value);
    bool config = rs_value_is(key, "pg_config");
    if (rs_value_is(key, "version")) return text(r, value, &f->version, err);
    if (rs_value_is(key, "comm_lib_version") || rs_value_is(key, "nccl_version"))
        return text(r, value, &f->comm_version, err);
    if (rs_value_is(key, "rank")) f->rank_inside = rs_value_i64(value, -1);
    if ((!config && !rs_value_is(key, "pg_status")) || !value || value->kind != RS_V_DICT) return RS_OK;
    for (uint32_t i = 0; i + 1 < value->n; i += 2) {
        const struct rs_value *id = value->items[i], *v = rs_value_plain(value->items[i + 1]);
        char digits[24];
        const char *kept;
        struct rs_value number = {.kind = RS_V_TEXT, .text = digits};
        if (!v || v->kind != RS_V_DICT || v->cut) continue;
        if (!may(r, 32 + (uint64_t)v->n * 4)) return too_much(r, err);
        if ((r->held += sizeof(struct rs_flight_group)) > MOST_BYTES) return too_much(r, err);
        if (id->kind == RS_V_INT) { /* a pickle may have numbers where JSON has texts */
            number.n = (uint32_t)snprintf(digits, sizeof digits, "%lld", (long long)id->i);
            id = &number;
        }
        RS_TRY(text(r, id, &kept, err));
        RS_TRY(config ? group(r, kept, v, err) : progress(r, kept, v, err));
    }
    return RS_OK;
}

void rs_flight_rows_free(struct rs_flight_rows *r)
{
    rs_map_free(&r->texts);
}
