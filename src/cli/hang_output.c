#include "cli/hang_output.h"

#include <inttypes.h>
#include <string.h>

#include "analyse/hang_phrases.h"
#include "cli/json.h"
#include "join/ranks.h"
#include "nccl/names.h"

/* ---- one line ---- */

static void put_ranks(struct rs_strbuf *s, const struct rs_hang_who *who, uint32_t n)
{
    for (uint32_t i = 0; i < n && i < 8; i++)
        rs_strbuf_printf(s, "%s%d",
                         i        ? ", "
                         : n == 1 ? " rank "
                                  : " ranks ",
                         who[i].rank >= 0 ? who[i].rank : who[i].comm_rank);
    if (n > 8) rs_strbuf_printf(s, " and %" PRIu32 " more", n - 8);
    if (n && who[0].rank < 0) rs_strbuf_puts(s, " of the communicator");
}

void rs_hang_headline(struct rs_strbuf *s, const struct rs_model *m, const struct rs_hang_finding *f)
{
    static const char *const words[] = {
        [RS_VERDICT_NONE] = "no hang",
        [RS_VERDICT_UNKNOWN] = "these files cannot answer",
        [RS_VERDICT_RANK_DEAD] = "a process died",
        [RS_VERDICT_NOT_JOINED] = "not joined by",
        [RS_VERDICT_MISMATCH] = "calls that do not match",
        [RS_VERDICT_STREAM_BLOCKED] = "launched and never started by",
        [RS_VERDICT_STALLED_STEP] = "stalled in the transfer",
        [RS_VERDICT_DEADLOCK] = "deadlock of two communicators",
        [RS_VERDICT_OUTSIDE_NCCL] = "complete in NCCL, stuck outside",
    };
    rs_strbuf_puts(s, words[f->verdict]);
    if (f->nguilty && f->verdict != RS_VERDICT_NOT_JOINED && f->verdict != RS_VERDICT_STREAM_BLOCKED)
        rs_strbuf_putc(s, ',');
    put_ranks(s, f->guilty, f->nguilty);
    if (f->nsuspects) rs_strbuf_puts(s, ", suspected:");
    put_ranks(s, f->suspects, f->nsuspects);
    char op[160];
    if (rs_hang_finding_text(m, f, op, sizeof op)) rs_strbuf_printf(s, ": %s", op);
}

const char *rs_hang_mark(const struct rs_hang_finding *f)
{
    static const char *const words[] = {
        [RS_VERDICT_RANK_DEAD] = "process died",
        [RS_VERDICT_NOT_JOINED] = "did not join",
        [RS_VERDICT_MISMATCH] = "does not match the others in",
        [RS_VERDICT_STREAM_BLOCKED] = "launched and never started",
        [RS_VERDICT_STALLED_STEP] = "stalled in",
        [RS_VERDICT_DEADLOCK] = "deadlock in",
        [RS_VERDICT_OUTSIDE_NCCL] = "outside NCCL",
    };
    return f->verdict > RS_VERDICT_UNKNOWN ? words[f->verdict] : "";
}

/* ---- JSON ---- */

static void rank_json(struct rs_json *j, const char *key, int32_t rank)
{
    rs_json_key_number_or_null(j, key, rank);
}

static void who_json(struct rs_json *j, const struct rs_model *m, const struct rs_hang_who *who)
{
    rs_json_object(j);
    rank_json(j, "rank", who->rank);
    rank_json(j, "comm_rank", who->comm_rank);
    if (who->member != RS_NONE) {
        const struct rs_member *x = &m->members[who->member];
        rs_json_key_str(j, "host", rs_host_name(m, m->procs[x->proc].host));
        rs_pid_json(j, m->procs[x->proc].pid);
        rs_json_key_number_or_null(j, "device", x->device);
    } else {
        rs_json_key_null(j, "host");
        rs_json_key_null(j, "pid");
        rs_json_key_null(j, "device");
    }
    rs_json_end(j);
}

static void ranks_json(struct rs_json *j, const char *key, const struct rs_hang_who *who, uint32_t n)
{
    rs_json_key(j, key);
    rs_json_array(j);
    for (uint32_t i = 0; i < n; i++) {
        if (who[i].rank >= 0)
            rs_json_i64(j, who[i].rank);
        else
            rs_json_null(j);
    }
    rs_json_end(j);
}

static void op_json(struct rs_json *j, const struct rs_model *m, const struct rs_hang_finding *h, bool id)
{
    if (h->op == RS_NONE && h->seq != UINT64_MAX && h->comm != RS_NONE) { /* counted by a health service */
        rs_json_key_hex(j, "comm", m->comms[h->comm].hash);
        rs_json_key_str(j, "func", h->func ? rs_model_text(m, h->func) : NULL);
        rs_json_key_u64(j, "seq", h->seq);
        if (id) rs_json_key_null(j, "op");
        return;
    }
    if (h->op == RS_NONE) {
        static const char *const keys[] = {"comm", "func", "seq", "op"};
        for (size_t i = 0; i < sizeof keys / sizeof *keys - !id; i++) rs_json_key_null(j, keys[i]);
        return;
    }
    rs_json_key_hex(j, "comm", m->comms[h->comm].hash);
    rs_json_key_str(j, "func", rs_model_text(m, m->ops.func[h->op]));
    if (m->ops.seq[h->op] == UINT64_MAX)
        rs_json_key_null(j, "seq");
    else
        rs_json_key_u64(j, "seq", m->ops.seq[h->op]);
    if (id) rs_json_key_hex(j, "op", m->ops.id[h->op]);
}

/* The lines of a text. */
static void lines_json(struct rs_json *j, const char *key, const char *text)
{
    rs_json_key(j, key);
    rs_json_array(j);
    for (size_t n; text && *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        rs_json_strn(j, text, n);
    }
    rs_json_end(j);
}

static void headline_json(struct rs_json *j, const struct rs_model *m, const struct rs_hang_finding *f)
{
    struct rs_strbuf line = {0};
    rs_hang_headline(&line, m, f);
    rs_json_key_str(j, "headline", rs_strbuf_borrow(&line));
    rs_strbuf_free(&line);
}

static void culprit_json(struct rs_json *j, const struct rs_model *m, const struct rs_hang_finding *f)
{
    bool suspected = !f->nguilty;
    const struct rs_hang_who *who = suspected ? f->suspects : f->guilty;
    uint32_t n = suspected ? f->nsuspects : f->nguilty;
    rs_json_object(j);
    ranks_json(j, "ranks", who, n);
    rs_json_key(j, "hosts");
    rs_json_array(j);
    for (uint32_t i = 0; i < n; i++)
        rs_json_str(j,
                    who[i].member == RS_NONE ? NULL : rs_host_name(m, m->procs[m->members[who[i].member].proc].host));
    rs_json_end(j);
    rs_json_key(j, "pids");
    rs_json_array(j);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t pid = who[i].member == RS_NONE ? 0 : m->procs[m->members[who[i].member].proc].pid;
        if (pid)
            rs_json_u64(j, pid);
        else
            rs_json_null(j);
    }
    rs_json_end(j);
    rs_json_key_str(j, "verdict", rs_verdict_name(f->verdict));
    headline_json(j, m, f);
    rs_json_key_bool(j, "suspected", suspected || f->undecided);
    op_json(j, m, f, false);
    rs_json_key_str(j, "evidence", f->evidence);
    rs_json_key_str(j, "advice", f->advice);
    lines_json(j, "frames", f->frames);
    rs_json_end(j);
}

void rs_hang_json(struct rs_json *j, const struct rs_model *m, const struct rs_hang *h)
{
    const struct rs_hang_finding *f = &h->findings[0];
    rs_json_object(j);
    rs_json_key_str(j, "verdict", rs_verdict_name(f->verdict));
    headline_json(j, m, f);
    op_json(j, m, f, true);
    ranks_json(j, "ranks", f->guilty, f->nguilty);
    rank_json(j, "peer", f->peer.rank);
    rank_json(j, "step", f->step);
    rs_json_key_str(j, "state", f->state < 0 ? NULL : rs_nccl_state_name(f->state));
    rank_json(j, "channel", f->channel);
    rs_json_key_str(j, "detail", f->detail);
    rs_json_key(j, "unseen_ranks");
    rs_json_array(j);
    for (uint32_t i = 0; i < h->nunseen; i++) rs_json_i64(j, h->unseen[i]);
    rs_json_end(j);
    ranks_json(j, "waiting_ranks", f->waiting, f->nwaiting);
    rs_time_json(j, "since_ns", f->since);
    rs_json_key(j, "who");
    rs_json_array(j);
    for (uint32_t i = 0; i < f->nguilty; i++) who_json(j, m, &f->guilty[i]);
    rs_json_end(j);
    rs_json_key(j, "peer_who");
    if (f->peer.comm_rank < 0)
        rs_json_null(j);
    else
        who_json(j, m, &f->peer);
    rs_json_key(j, "culprits");
    rs_json_array(j);
    for (uint32_t i = 0; i < h->nfindings; i++)
        if (h->findings[i].nguilty || h->findings[i].nsuspects) culprit_json(j, m, &h->findings[i]);
    rs_json_end(j);
    rs_json_key_u64(j, "also_blocked", h->also_blocked);
    rs_json_key(j, "conclusion");
    rs_json_array(j);
    for (uint32_t i = 0; i < h->nconclusion; i++) rs_json_str(j, h->conclusion[i]);
    rs_json_end(j);
    rs_json_end(j);
    rs_json_newline(j);
}
