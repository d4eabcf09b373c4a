#include "foreign/nsys/nsys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum rs_status rs_nsys_proc(struct rs_nsys *n, uint64_t pid, uint32_t *proc, struct rs_err *err)
{
    uint64_t *at;
    RS_TRY(rs_map_at(&n->procs, pid, RS_NONE, &at, err));
    if (*at == RS_NONE) {
        RS_TRY(rs_model_proc(n->m, proc, err));
        *at = *proc;
        struct rs_proc *p = &n->m->procs[*proc];
        p->host = n->host;
        p->tool = RS_TOOL_NSYS;
        p->pid = (uint32_t)pid;
        p->ended = RS_END_WELL; /* an export does not tell how its processes ended */
        p->complete = true;
        p->path = rs_arena_text(&n->m->arena, n->path, strlen(n->path));
        if (!p->path) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    }
    *proc = (uint32_t)*at;
    return RS_OK;
}

/* "GPU-5fe6ba1c-a69c-...", or 32 digits. */
static bool parse_uuid(const char *text, size_t n, uint8_t uuid[16])
{
    unsigned digits = 0;
    if (n > 4 && !memcmp(text, "GPU-", 4)) {
        text += 4;
        n -= 4;
    }
    memset(uuid, 0, 16);
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        int v = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
        if (v < 0 && c == '-') continue;
        if (v < 0 || digits == 32) return false;
        uuid[digits / 2] = (uint8_t)(uuid[digits / 2] << 4 | v);
        digits++;
    }
    return digits == 32;
}

/* Which GPU a device number of a process is, where the export says that (newer ones by process, older by number). */
static void find_uuid(struct rs_nsys *n, uint64_t pid, int32_t device, uint8_t uuid[16])
{
    static const char *const by_process[] = {"cudaId", "pid", "uuid", NULL}, *const by_number[] = {"id", "uuid", NULL};
    struct rs_nsys_rows rows;
    size_t length;
    bool blob, found = false;
    memset(uuid, 0, 16);
    rs_nsys_select(&rows, &n->db, "TARGET_INFO_CUDA_DEVICE", by_process);
    while (!found && rs_nsys_next(&rows)) {
        int64_t id = -1, of = (int64_t)pid;
        rs_nsys_i64(&rows, 0, &id);
        rs_nsys_i64(&rows, 1, &of);
        const char *text = id == device && of == (int64_t)pid ? rs_nsys_text(&rows, 2, &length, &blob) : NULL;
        found = text && parse_uuid(text, length, uuid);
    }
    rs_nsys_stop(&rows);
    if (!found) rs_nsys_select(&rows, &n->db, "TARGET_INFO_GPU", by_number);
    while (!found && rs_nsys_next(&rows)) {
        int64_t id = -1;
        rs_nsys_i64(&rows, 0, &id);
        const char *text = id == device ? rs_nsys_text(&rows, 1, &length, &blob) : NULL;
        found = text && parse_uuid(text, length, uuid);
    }
    rs_nsys_stop(&rows);
    if (!found) memset(uuid, 0, 16);
}

enum rs_status rs_nsys_gpu(struct rs_nsys *n, uint64_t pid, int32_t device, uint32_t *domain, struct rs_err *err)
{
    uint64_t *at;
    RS_TRY(rs_map_at(&n->gpus, rs_nsys_key(pid, (uint32_t)device), RS_NONE, &at, err));
    if (*at == RS_NONE) {
        uint8_t uuid[16];
        find_uuid(n, pid, device, uuid);
        RS_TRY(rs_model_gpu(n->m, n->host, uuid, domain, err));
        n->m->domains[*domain].rigid = true; /* Nsight Systems brings GPU times onto the session's clock */
        *at = *domain;
    }
    *domain = (uint32_t)*at;
    return RS_OK;
}

enum rs_status rs_nsys_name(struct rs_nsys *n, const struct rs_nsys_rows *rows, int text, int id, uint32_t *name,
                            struct rs_err *err)
{
    size_t length = 0;
    bool blob;
    int64_t number;
    const char *found = text >= 0 ? rs_nsys_text(rows, text, &length, &blob) : NULL;
    *name = 0;
    if (found && length) return rs_model_name(n->m, found, length, name, err);
    if (id >= 0 && rs_nsys_i64(rows, id, &number)) *name = (uint32_t)rs_map_get(&n->strings, (uint64_t)number, 0);
    return RS_OK;
}

void rs_nsys_free(struct rs_nsys *n)
{
    rs_nsys_close(&n->db);
    rs_map_free(&n->strings);
    rs_map_free(&n->procs);
    rs_map_free(&n->lanes);
    rs_map_free(&n->gpus);
    rs_map_free(&n->members);
    rs_map_free(&n->launches);
    rs_nsys_schemas_free(&n->schemas);
    free(n->calls);
    free(n->kernels);
    free(n->nodes);
    *n = (struct rs_nsys){0};
}
