#include "timeline/group_labels.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "join/ranks.h"
#include "timeline/index.h"

enum rs_status rs_label_proc(struct rs_timeline *t, uint32_t proc, uint32_t *label, struct rs_err *err)
{
    const struct rs_proc *p = &t->model->procs[proc];
    const char *file = p->path ? strrchr(p->path, '/') : NULL;
    file = file ? file + 1 : p->path ? p->path : "process";
    if (!p->pid) return rs_timeline_text(t, label, err, "%s", file);
    if (rs_tool_has(p->tool, RS_CAP_OWN)) return rs_timeline_text(t, label, err, "pid %" PRIu32, p->pid);
    return rs_timeline_text(t, label, err, "pid %" PRIu32 " (%s)", p->pid, rs_tool_name(p->tool));
}

enum rs_status rs_label_rank(struct rs_timeline *t, uint32_t rank_id, uint32_t *label, struct rs_err *err)
{
    struct rs_strbuf text = {0};
    rs_rank_label(&text, t->model, rank_id);
    enum rs_status status = rs_timeline_text(t, label, err, "%s", rs_strbuf_borrow(&text));
    rs_strbuf_free(&text);
    return status;
}

enum rs_status rs_label_device(struct rs_timeline *t, int32_t device, uint32_t *label, struct rs_err *err)
{
    if (device >= 0) return rs_timeline_text(t, label, err, "GPU %" PRId32, device);
    return rs_timeline_text(t, label, err, "GPU");
}

enum rs_status rs_label_comm(struct rs_timeline *t, uint32_t member, uint32_t *label, struct rs_err *err)
{
    const struct rs_model *m = t->model;
    const struct rs_member *x = &m->members[member];
    const struct rs_comm_row *c = &m->comms[x->comm];
    const char *name = c->name;
    uint32_t view = c->view;
    for (uint32_t i = 0; !name && view < m->ncomms && i < m->ncomms; i++, view = m->comms[view].view)
        name = m->comms[view].name;
    char hash[40] = "", again[24] = "", rank[48] = "";
    if (c->hash && !(c->made_up && name)) snprintf(hash, sizeof hash, " %08" PRIx64, c->hash >> 32);
    if (c->incarnation) snprintf(again, sizeof again, " (%" PRIu32 ". life)", c->incarnation + 1);
    if (x->rank >= 0 && c->nranks > 0)
        snprintf(rank, sizeof rank, ", rank %" PRId32 " of %" PRId32, x->rank, c->nranks);
    else if (x->rank >= 0)
        snprintf(rank, sizeof rank, ", rank %" PRId32, x->rank);
    RS_TRY(rs_timeline_text(t, &t->index->member_text[member], err, "comm%s%s%.200s%s", hash, name ? " " : "",
                            name ? name : "", again));
    return rs_timeline_text(t, label, err, "comm%s%s%.200s%s%s", hash, name ? " " : "", name ? name : "", again, rank);
}
