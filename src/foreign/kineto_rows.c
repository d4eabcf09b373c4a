#include "foreign/kineto_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "base/room.h"
#include "model/activities.h"

/* ---- names ---- */

/* Eight bytes at a time: names of kernels are hundreds of bytes long. */
static uint64_t hash_of(const char *text, size_t n)
{
    uint64_t a = n, b = ~(uint64_t)n, w;
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        memcpy(&w, text + i, 8);
        a = (a ^ w) * 0x9e3779b97f4a7c15u;
        a ^= a >> 32;
        memcpy(&w, text + i + 8, 8);
        b = (b ^ w) * 0xd6e8feb86659fd93u;
        b ^= b >> 29;
    }
    for (; i < n; i++) a = rs_mix(a, (unsigned char)text[i]);
    return rs_mix(a, b);
}

static bool has(const char *text, size_t n, const char *word)
{
    return memmem(text, n, word, strlen(word)) != NULL;
}

/* What a host call does, by its name: cudaX of the runtime, cuX of the driver. */
static uint8_t kind_of_call(const char *text, size_t n)
{
    static const struct {
        const char *word;
        uint8_t kind;
    } words[] = {
        {"Launch", RS_ACT_LAUNCH},       {"Memcpy", RS_ACT_LAUNCH},         {"Memset", RS_ACT_LAUNCH},
        {"Synchronize", RS_ACT_SYNC},    {"Malloc", RS_ACT_MEMORY},         {"Free", RS_ACT_MEMORY},
        {"MemAlloc", RS_ACT_MEMORY},     {"HostAlloc", RS_ACT_MEMORY},      {"MemCreate", RS_ACT_MEMORY},
        {"MemRelease", RS_ACT_MEMORY},   {"MemMap", RS_ACT_MEMORY},         {"MemUnmap", RS_ACT_MEMORY},
        {"HostRegister", RS_ACT_MEMORY}, {"HostUnregister", RS_ACT_MEMORY},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has(text, n, words[i].word)) return words[i].kind;
    return RS_ACT_CALL;
}

static enum rs_status new_name(struct rs_kineto *k, const char *text, size_t n, struct rs_err *err)
{
    RS_ROOM(k->names, k->nnames, k->cap_names, err);
    const char *copy = rs_arena_text(&k->arena, text, n);
    if (!copy) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    struct rs_kineto_name *name = &k->names[k->nnames++];
    *name = (struct rs_kineto_name){.text = copy, .n = (uint32_t)n, .call_kind = kind_of_call(text, n)};
    name->is_nccl = rs_kernel_name(text, n, &name->kernel);
    return RS_OK;
}

enum rs_status rs_kineto_name(struct rs_kineto *k, const char *text, size_t n, uint32_t *id, struct rs_err *err)
{
    *id = 0;
    if (!k->nnames) RS_TRY(new_name(k, "", 0, err));
    if (!n) return RS_OK;
    for (uint64_t key = hash_of(text, n);; key++) { /* texts with the same hash take the next keys */
        uint64_t *at;
        RS_TRY(rs_map_at(&k->name_ids, key, 0, &at, err));
        if (*at && (k->names[*at].n != n || memcmp(k->names[*at].text, text, n))) continue;
        if (!*at) {
            *at = k->nnames;
            *id = k->nnames;
            return new_name(k, text, n, err);
        }
        *id = (uint32_t)*at;
        return RS_OK;
    }
}

/* ---- lanes ---- */

static bool is_lane(const struct rs_kineto *k, uint64_t i, bool is_stream, int32_t device, int64_t number)
{
    return i < k->nlanes && k->lanes[i].id == number && k->lanes[i].device == device &&
           k->lanes[i].is_stream == is_stream;
}

enum rs_status rs_kineto_lane(struct rs_kineto *k, bool is_stream, int32_t device, int64_t number, uint32_t *lane,
                              struct rs_err *err)
{
    *lane = k->last_lane;
    if (is_lane(k, k->last_lane, is_stream, device, number)) return RS_OK;
    uint64_t key = rs_mix(rs_mix(is_stream, (uint32_t)device), (uint64_t)number), *at;
    for (;; key++) {
        RS_TRY(rs_map_at(&k->lane_ids, key, k->nlanes, &at, err));
        if (*at == k->nlanes || is_lane(k, *at, is_stream, device, number)) break;
    }
    *lane = k->last_lane = (uint32_t)*at;
    if (*lane < k->nlanes) return RS_OK;
    RS_ROOM(k->lanes, k->nlanes, k->cap_lanes, err);
    k->lanes[k->nlanes++] = (struct rs_kineto_lane){is_stream, device, number, 0};
    return RS_OK;
}

/* ---- rows ---- */

enum rs_status rs_kineto_row(struct rs_kineto *k, const struct rs_kineto_row *row, struct rs_err *err)
{
    RS_ROOM(k->rows, k->nrows, k->cap_rows, err);
    k->rows[k->nrows++] = *row;
    k->of_kind[row->kind]++;
    return RS_OK;
}

enum rs_status rs_kineto_call(struct rs_kineto *k, const struct rs_kineto_call *call, struct rs_err *err)
{
    RS_ROOM(k->calls, k->ncalls, k->cap_calls, err);
    k->calls[k->ncalls++] = *call;
    return RS_OK;
}

void rs_kineto_free(struct rs_kineto *k)
{
    rs_arena_free(&k->arena);
    rs_map_free(&k->name_ids);
    rs_map_free(&k->lane_ids);
    rs_map_free(&k->group_ids);
    free(k->names);
    free(k->lanes);
    free(k->rows);
    free(k->calls);
    free(k->groups);
    *k = (struct rs_kineto){0};
}
