#include "analyse/critical_words.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyse/words.h"
#include "base/memory.h"
#include "join/ranks.h"

/* A rank stands out if the others waited for it for this share of the window, and this many times its fair share of
 * such time and what the next rank has. */
static const double LEAST = 0.02, TIMES = 1.5;

static void say(struct rs_critical *c, struct rs_strbuf *s)
{
    char *text = NULL;
    rs_strbuf_take(s, &text);
    rs_strbuf_free(s);
    char **grown = rs_realloc(c->conclusion, (c->nconclusion + 1) * sizeof *grown);
    if (*text >= 'a' && *text <= 'z') *text = (char)(*text - 'a' + 'A');
    c->conclusion = grown;
    c->conclusion[c->nconclusion++] = text;
}

static int64_t window(const struct rs_critical *c)
{
    return rs_time_minus(c->to, c->from);
}

static void share(struct rs_strbuf *s, const struct rs_critical *c, int64_t ns)
{
    double pct = 100 * (double)ns / (double)window(c);
    rs_strbuf_printf(s, pct >= 9.95 ? "%.0f %%" : "%.1f %%", pct);
}

/* In operations: of all ranks. */
static bool is_common(uint8_t kind)
{
    return kind == RS_CRITICAL_TRANSFER || kind == RS_CRITICAL_OPERATION || kind == RS_CRITICAL_WAIT ||
           kind == RS_CRITICAL_UNSURE;
}

/* ---- whose time it is ---- */

struct owner {
    uint32_t rank_id; /* the rank that the others waited for the longest; RS_NONE: none */
    int64_t ns, next, alone; /* how long; for the next; for all ranks */
    int64_t all; /* time of the path outside operations, whether waited for or not */
    const struct rs_critical_row *most; /* the row with the longest wait */
};

static void find_owner(const struct rs_critical *c, const struct rs_view *v, struct owner *o)
{
    int64_t *own = rs_zalloc(v->model->nranks + 1, sizeof *own);
    *o = (struct owner){.rank_id = RS_NONE};
    for (uint32_t i = 0; i < c->nrows; i++) {
        const struct rs_critical_row *r = &c->rows[i];
        if (is_common(r->kind)) continue;
        own[r->rank_id] += r->alone_ns;
        o->alone += r->alone_ns;
        o->all += r->ns;
    }
    for (uint32_t i = 0; i < v->model->nranks; i++) {
        if (own[i] > o->ns) {
            o->next = o->ns;
            o->rank_id = i;
            o->ns = own[i];
        } else if (own[i] > o->next) {
            o->next = own[i];
        }
    }
    for (uint32_t i = 0; i < c->nrows; i++)
        if (c->rows[i].rank_id == o->rank_id && (!o->most || c->rows[i].alone_ns > o->most->alone_ns))
            o->most = &c->rows[i];
    free(own);
}

static void advice(struct rs_strbuf *s, const struct rs_critical *c, const struct rs_critical_row *r)
{
    const char *name = c->names[r->name];
    switch (r->kind) {
    case RS_CRITICAL_COMPUTE: rs_strbuf_printf(s, "mostly computing (%s)", name); break;
    case RS_CRITICAL_COPY: rs_strbuf_printf(s, "mostly copying (%s)", name); break;
    case RS_CRITICAL_LAUNCH: rs_strbuf_puts(s, "mostly launching kernels that its GPU waits for"); break;
    case RS_CRITICAL_HOST: rs_strbuf_printf(s, "mostly with an idle GPU while its program is in '%s'", name); break;
    case RS_CRITICAL_OUTSIDE: rs_strbuf_printf(s, "mostly %s", name); break;
    default: rs_strbuf_puts(s, "mostly with an idle GPU and no event that says why"); break;
    }
}

static void say_owner(struct rs_critical *c, const struct rs_view *v)
{
    struct owner o = {0};
    find_owner(c, v, &o);
    if (!o.all) return;
    double fair = c->ranks ? 1.0 / c->ranks : 1;
    bool stands_out = o.most && (double)o.ns >= LEAST * (double)window(c) &&
                      (double)o.ns >= TIMES * fair * (double)o.alone && (double)o.ns >= TIMES * (double)o.next;
    if (o.ns / 2 < c->error_ns) stands_out = false; /* nothing is claimed below the clock error */
    struct rs_strbuf s = {0};
    if (!stands_out || c->ranks < 2) {
        rs_strbuf_puts(&s, "No rank stands out: time outside operations is ");
        share(&s, c, o.all);
        rs_strbuf_puts(&s, " of the path");
        if (o.alone) {
            rs_strbuf_puts(&s, ", and during ");
            share(&s, c, o.alone);
            rs_strbuf_puts(&s, " of it the others waited for some rank");
        }
        rs_strbuf_putc(&s, '.');
        say(c, &s);
        return;
    }
    rs_rank_words(&s, v->model, o.rank_id);
    rs_strbuf_puts(&s, " delays the others: for ");
    share(&s, c, o.ns);
    rs_strbuf_puts(&s, " of the path (");
    rs_words_ns(&s, o.ns);
    rs_strbuf_puts(&s, " of ");
    rs_words_ns(&s, window(c));
    rs_strbuf_puts(&s, ") they waited for it, ");
    advice(&s, c, o.most);
    rs_strbuf_puts(&s, ". At most that can be saved on this rank; then another one is the last.");
    say(c, &s);
}

/* ---- other sentences ---- */

static void say_transfers(struct rs_critical *c)
{
    int64_t all = 0, mixed = 0;
    const struct rs_critical_row *most = NULL;
    for (uint32_t i = 0; i < c->nrows; i++) {
        const struct rs_critical_row *r = &c->rows[i];
        if (r->kind == RS_CRITICAL_OPERATION) mixed += r->ns;
        if (r->kind != RS_CRITICAL_TRANSFER) continue;
        all += r->ns;
        if (!most) most = r;
    }
    struct rs_strbuf s = {0};
    if (all) {
        rs_strbuf_puts(&s, "Transfers are ");
        share(&s, c, all);
        rs_strbuf_printf(&s, " of it, most of them %s.", c->names[most->name]);
        say(c, &s);
    }
    if (!mixed) return;
    share(&s, c, mixed);
    rs_strbuf_puts(&s, " of it is in operations whose ranks cannot be compared (not all recorded, no starts, or clocks "
                       "not aligned): which rank they waited for is unknown.");
    say(c, &s);
}

static void say_ties(struct rs_critical *c)
{
    int64_t ties = 0;
    for (uint32_t i = 0; i < c->nrows; i++)
        if (!is_common(c->rows[i].kind)) ties += c->rows[i].tie_ns;
    if ((double)ties < 0.05 * (double)window(c)) return;
    struct rs_strbuf s = {0};
    rs_strbuf_puts(&s, "For ");
    share(&s, c, ties);
    rs_strbuf_puts(&s, " of it several ranks were equally late, within the clock error");
    if (c->error_ns > 0) {
        rs_strbuf_puts(&s, " of up to ");
        rs_words_ns(&s, c->error_ns);
    }
    rs_strbuf_puts(&s, ": there the path could as well run over another of them.");
    say(c, &s);
}

void rs_critical_conclude(struct rs_critical *c, const struct rs_view *v)
{
    struct rs_strbuf s = {0};
    if (c->from == RS_TIME_NONE) {
        if (c->unended)
            rs_strbuf_puts(&s, "The ends of the operations in this window are unknown: "
                               "there is no path.");
        else if (c->timeless && v->nops)
            rs_strbuf_puts(&s, "These files do not contain the starts of operations: there is no path.");
        else if (c->timeless && c->placeless)
            rs_strbuf_printf(&s,
                             "%" PRIu64 " kernel%s and copies, but no communicator: which rank a process is, "
                             "and what ranks waited for, is unknown, and there is no path.",
                             c->placeless, c->placeless == 1 ? "" : "s");
        else
            rs_strbuf_puts(&s, "This window contains nothing with a start time: there is no path.");
        say(c, &s);
        return;
    }
    say_owner(c, v);
    say_transfers(c);
    say_ties(c);
    if (c->unended) {
        rs_strbuf_printf(&s,
                         "The path ends at the last known end; after it, %" PRIu64
                         " time%s a rank began an operation whose end is unknown.",
                         c->unended, c->unended == 1 ? "" : "s");
        say(c, &s);
    }
    if (c->left_out) {
        rs_strbuf_printf(&s, "%" PRIu32 " rank%s left out: %s clocks cannot be aligned with the others.", c->left_out,
                         c->left_out == 1 ? " is" : "s are", c->left_out == 1 ? "its" : "their");
        say(c, &s);
        return;
    }
}
