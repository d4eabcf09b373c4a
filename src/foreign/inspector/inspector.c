#include "foreign/inspector/inspector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "base/room.h"
#include "foreign/formats.h"
#include "foreign/inspector/line.h"
#include "foreign/lines.h"

static bool same_member(const struct rs_inspector_member *m, const struct rs_inspector_line *l)
{
    const struct rs_inspector_member *o = &l->member;
    return m->comm == o->comm && m->rank == o->rank && m->n_ranks == o->n_ranks && m->n_nodes == o->n_nodes &&
           m->pid == o->pid && !strcmp(m->host, l->host) && !strcmp(m->comm_name, l->comm_name) &&
           !strcmp(m->version, l->version) && !strcmp(m->git_rev, l->git_rev);
}

static enum rs_status member_of(struct rs_inspector *p, const struct rs_inspector_line *l, uint32_t *index,
                                struct rs_err *err)
{
    /* Nearly always the one of the line before. */
    if (p->n_ops && same_member(&p->members[p->ops[p->n_ops - 1].member], l)) {
        *index = p->ops[p->n_ops - 1].member;
        return RS_OK;
    }
    char key[96];
    snprintf(key, sizeof key, "%llx %lld %lld %lld %lld", (unsigned long long)l->member.comm, (long long)l->member.rank,
             (long long)l->member.n_ranks, (long long)l->member.n_nodes, (long long)l->member.pid);
    uint64_t hash = rs_mix_text(rs_mix_text(rs_mix_text(0, key), l->host), l->comm_name), *known;
    hash = rs_mix_text(rs_mix_text(hash, l->version), l->git_rev);
    RS_TRY(rs_map_at(&p->by_key, hash, 0, &known, err));
    if (*known && same_member(&p->members[*known - 1], l)) {
        *index = (uint32_t)(*known - 1);
        return RS_OK;
    }
    struct rs_inspector_member m = l->member;
    m.comm_name = rs_arena_text(&p->texts, l->comm_name, strlen(l->comm_name));
    m.host = rs_arena_text(&p->texts, l->host, strlen(l->host));
    m.version = rs_arena_text(&p->texts, l->version, strlen(l->version));
    m.git_rev = rs_arena_text(&p->texts, l->git_rev, strlen(l->git_rev));
    if (!m.comm_name || !m.host || !m.version || !m.git_rev) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    RS_ROOM(p->members, p->n_members, p->members_cap, err);
    *index = p->n_members;
    p->members[p->n_members++] = m;
    *known = p->n_members;
    return RS_OK;
}

static enum rs_status keep_line(struct rs_inspector *p, struct rs_inspector_line *l, struct rs_err *err)
{
    struct rs_inspector_op *op = &l->op;
    uint64_t *place;
    RS_TRY(member_of(p, l, &op->member, err));
    RS_TRY(rs_map_at(&p->funcs, rs_mix_text(0, l->func), 0, &place, err));
    op->func = (const char *)(uintptr_t)*place;
    if (!op->func || strcmp(op->func, l->func) != 0) {
        op->func = rs_arena_text(&p->texts, l->func, strlen(l->func));
        if (!op->func) return rs_fail(err, RS_NO_MEMORY, "out of memory");
        *place = (uint64_t)(uintptr_t)op->func;
    }
    op->first_kernel = p->n_kernels;
    op->n_kernels = l->n_kernels;
    for (unsigned i = 0; i < l->n_kernels; i++) {
        RS_ROOM(p->kernels, p->n_kernels, p->kernels_cap, err);
        p->kernels[p->n_kernels++] = l->kernels[i];
        p->verbose |= l->kernels[i].start_us >= 0;
    }
    p->verbose |= op->start_us >= 0;
    RS_ROOM(p->ops, p->n_ops, p->ops_cap, err);
    p->ops[p->n_ops++] = *op;
    p->members[op->member].ops++;
    return RS_OK;
}

static enum rs_status read_lines(struct rs_inspector *p, struct rs_lines *lines, const char *path, struct rs_err *err)
{
    struct rs_inspector_line *l = calloc(1, sizeof *l);
    enum rs_status status = l ? RS_OK : rs_fail(err, RS_NO_MEMORY, "out of memory");
    while (status == RS_OK && rs_lines_next(lines)) {
        if (!rs_slice_trim((struct rs_slice){lines->text, lines->n}).n) continue;
        const char *why = lines->shortened ? "the line is longer than any of Inspector"
                                           : rs_inspector_parse(l, lines->text, lines->n);
        p->lines++;
        l->op.offset = lines->offset;
        if (why) {
            if (!p->bad_lines++)
                rs_fail(&p->damage, RS_BAD_INPUT, "%s: at byte %llu: %s", path, (unsigned long long)lines->offset, why);
        } else if (l->has_op) {
            status = keep_line(p, l, err);
        } else {
            p->other_lines++;
        }
    }
    if (status != RS_OK) rs_err_wrap(err, "%s", path);
    if (status == RS_OK && lines->err.code != RS_OK && p->damage.code == RS_OK) p->damage = lines->err;
    free(l);
    rs_lines_free(lines);
    if (status == RS_OK && p->lines == p->bad_lines)
        status = p->damage.code != RS_OK ? rs_fail(err, RS_BAD_INPUT, "%s", p->damage.msg)
                                         : rs_fail(err, RS_BAD_INPUT, "%s: at byte 0: the file is empty", path);
    return status;
}

enum rs_status rs_inspector_read(struct rs_inspector *p, const char *path, struct rs_err *err)
{
    struct rs_bytes *bytes;
    struct rs_lines lines;
    *p = (struct rs_inspector){0};
    RS_TRY(rs_bytes_open(&bytes, path, err));
    rs_lines_bytes(&lines, bytes);
    enum rs_status status = read_lines(p, &lines, path, err);
    rs_bytes_close(bytes);
    return status;
}

enum rs_status rs_inspector_read_memory(struct rs_inspector *p, const char *path, const char *text, size_t n,
                                        struct rs_err *err)
{
    struct rs_lines lines;
    *p = (struct rs_inspector){0};
    rs_lines_memory(&lines, text, n);
    return read_lines(p, &lines, path, err);
}

void rs_inspector_free(struct rs_inspector *p)
{
    free(p->members);
    free(p->ops);
    free(p->kernels);
    rs_arena_free(&p->texts);
    rs_map_free(&p->by_key);
    rs_map_free(&p->funcs);
    *p = (struct rs_inspector){0};
}

bool rs_inspector_is(const char *path, const char *head, size_t n)
{
    (void)path;
    static const char *const words[] = {"\"inspector_output_format_version\"", "\"coll_perf\"", "\"p2p_perf\""};
    struct rs_slice f = rs_slice_trim((struct rs_slice){head, n});
    if (!f.n || f.text[0] != '{' || !memmem(f.text, f.n, "\"header\"", 8)) return false;
    for (size_t i = 0; i < 3; i++)
        if (memmem(f.text, f.n, words[i], strlen(words[i]))) return true;
    return false;
}
