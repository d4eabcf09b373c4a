#include "trace/gather.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/alive.h"
#include "trace/live.h"

/* Copies the file sparsely: most buffers are empty. */
static enum rs_status copy(const char *from, const char *to, struct rs_err *err)
{
    enum { BLOCK = 4096 };
    struct rs_file_map map = {0};
    RS_TRY(rs_file_map(&map, from, err));
    struct rs_out out;
    enum rs_status status = rs_out_open(&out, to, false, err);
    if (status != RS_OK) {
        rs_file_unmap(&map);
        return status;
    }
    static const char zeros[BLOCK];
    for (size_t at = 0; status == RS_OK && at < map.size; at += BLOCK) {
        size_t n = map.size - at < BLOCK ? map.size - at : BLOCK;
        bool last = at + n == map.size;
        if (!last && !memcmp(map.data + at, zeros, n)) {
            if (fseek(out.file, (long)n, SEEK_CUR)) status = rs_fail_errno(err, "%s", to);
        } else if (fwrite(map.data + at, 1, n, out.file) != n) {
            status = rs_fail_errno(err, "%s", to);
        }
    }
    rs_file_unmap(&map);
    if (status == RS_OK) return rs_out_commit(&out, err);
    rs_out_abort(&out);
    return status;
}

static enum rs_status gather_one(const char *path, struct rs_gather_result *result, struct rs_err *err)
{
    struct rs_recording *r;
    struct rs_err ignored;
    if (rs_recording_open(&r, path, &ignored) != RS_OK)
        return RS_OK; /* the reading commands say what is wrong with it */
    result->recordings++;
    enum rs_status status = RS_OK;
    const struct rs_file_header *h = &r->header;
    if (r->live_path && rs_process_may_run(h)) {
        result->running++;
    } else if (r->live_missing) {
        result->missing++;
    } else if (r->live_path && h->live_name[0] == '/' && !strcmp(r->live_path, h->live_name)) {
        char *beside = rs_live_path_beside(path);
        if (beside)
            status = copy(r->live_path, beside, err);
        else
            status = rs_fail(err, RS_NO_MEMORY, "out of memory");
        if (status == RS_OK) {
            result->brought++;
            unlink(r->live_path);
        } else if (beside && !access(beside, F_OK)) {
            status = RS_OK; /* another process that gathers was faster */
        }
        free(beside);
    }
    rs_recording_close(r);
    return status;
}

bool rs_gather_needed(void)
{
    struct rs_dir shm = {0};
    if (rs_dir_list(&shm, "/dev/shm", ".live", NULL) != RS_OK) return false;
    bool needed = false;
    for (size_t i = 0; i < shm.count; i++) needed |= !strncmp(shm.names[i], "ringscope-", 10);
    rs_dir_free(&shm);
    return needed;
}

enum rs_status rs_gather_dir(const char *dir, struct rs_gather_result *result, struct rs_err *err)
{
    *result = (struct rs_gather_result){0};
    struct rs_dir list = {0};
    RS_TRY(rs_dir_list(&list, dir, ".rsc", err));
    enum rs_status status = RS_OK;
    for (size_t i = 0; status == RS_OK && i < list.count; i++) {
        size_t bytes = strlen(dir) + strlen(list.names[i]) + 2;
        char *path = malloc(bytes);
        if (!path)
            status = rs_fail(err, RS_NO_MEMORY, "out of memory");
        else
            snprintf(path, bytes, "%s/%s", dir, list.names[i]);
        if (path) status = gather_one(path, result, err);
        free(path);
    }
    rs_dir_free(&list);
    return status;
}
