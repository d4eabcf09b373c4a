#include "analyse/reached.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/words.h"
#include "base/memory.h"

enum { MOST_SAID = 2 };

static void hold_against(struct rs_reached_row *to, const struct rs_reference *reference, const struct rs_model *m,
                         const struct rs_func_row *x)
{
    const char *func = rs_model_text(m, x->func);
    bool alike = rs_func_row_alike(m, x);
    enum rs_reference_lack lack = alike ? RS_LACKS_SIZE : RS_LACKS_LIKENESS;
    *to = (struct rs_reached_row){NAN, NAN, NAN, NAN, 0};
    if (alike && !x->unsized)
        to->possible = rs_reference_find(reference, func, rs_model_text(m, x->dtype), x->nranks, x->bytes, &lack);
    to->lack = (uint8_t)lack;
    if (isnan(to->possible)) return;
    to->share = x->busbw / to->possible;
    to->share_seen = x->busbw_seen / to->possible;
    /* Time per byte: seen = reference + waiting + the rest. */
    double above = 1 / x->busbw_seen - 1 / to->possible, waited = 1 / x->busbw_seen - 1 / x->busbw;
    if (!isfinite(above) || !isfinite(waited) || above <= 0) return;
    to->waiting = waited <= 0 ? 0 : waited >= above ? 1 : waited / above;
}

void rs_reached_find(struct rs_reached *r, const struct rs_reference *reference, const struct rs_model *m,
                     const struct rs_bandwidth *b)
{
    *r = (struct rs_reached){.n = b->nrows, .rows = rs_zalloc((size_t)b->nrows + 1, sizeof *r->rows)};
    for (uint32_t i = 0; i < b->nrows; i++) hold_against(&r->rows[i], reference, m, &b->rows[i]);
}

void rs_reached_free(struct rs_reached *r)
{
    free(r->rows);
    *r = (struct rs_reached){0};
}

/* ---- sentences ---- */

/* Below ten times the clock error the last start, and therefore the transfer time, is not known well enough. */
static bool is_clear(const struct rs_func_row *x, int64_t clock_error_ns)
{
    if (x->clock_free == x->calls || clock_error_ns <= 0) return true;
    return x->transferred && x->transfer_sum_ns / (int64_t)x->transferred / 10 >= clock_error_ns;
}

/* The share that decides: as the ranks saw it, which needs no clock but their own. */
static double share_of(const struct rs_reached_row *x)
{
    return isnan(x->share_seen) ? x->share : x->share_seen;
}

/* What all ranks would have saved at the reference's bandwidth. */
static double lost_ns(const struct rs_reached_row *x, const struct rs_func_row *row)
{
    double share = share_of(x);
    return isnan(share) ? 0 : (1 - share) * (double)row->total_ns;
}

/* Rows below a hundredth of all time are not mentioned. */
static bool is_little(const struct rs_reached_row *x, const struct rs_func_row *row, double all_ns,
                      int64_t clock_error_ns)
{
    bool known = !isnan(x->share_seen) || is_clear(row, clock_error_ns);
    return known && share_of(x) < RS_REACHED_LITTLE && (double)row->total_ns > all_ns / 100;
}

static void say_why(const struct rs_reached_row *x, bool clear, struct rs_strbuf *s)
{
    if (!clear && !isnan(x->waiting)) {
        rs_strbuf_puts(s, "; how much of it is waiting is unknown: its transfer is below ten times the clock error.");
        return;
    }
    if (isnan(x->share) || isnan(x->waiting)) {
        rs_strbuf_puts(s, "; whether waiting explains it is unknown.");
        return;
    }
    rs_strbuf_printf(s, ", and %.0f %% after the last start: ", 100 * x->share);
    if (x->waiting >= 0.8)
        rs_strbuf_printf(s, "waiting for late ranks explains it (%.0f %% of the time above the reference).",
                         100 * x->waiting);
    else if (x->waiting >= 0.2)
        rs_strbuf_printf(s,
                         "waiting for late ranks explains %.0f %% of the time above the reference, the transfer itself "
                         "the rest.",
                         100 * x->waiting);
    else
        rs_strbuf_puts(s,
                       "waiting does not explain it. Check what shares the links and the GPU with it (compute, other "
                       "communicators), the network, and algorithm, protocol and channels.");
}

static void say_little(const struct rs_model *m, const struct rs_func_row *row, const struct rs_reached_row *x,
                       bool clear, struct rs_strbuf *s)
{
    bool seen = !isnan(x->share_seen);
    rs_words_func(s, m, row);
    if (row->nranks > 0) rs_strbuf_printf(s, " on %" PRId32 " ranks", row->nranks);
    rs_strbuf_printf(s, " reaches %.0f %% of the reference bus bandwidth (%.3g of %.3g GB/s)",
                     100 * (seen ? x->share_seen : x->share), seen ? row->busbw_seen : row->busbw, x->possible);
    if (seen) rs_strbuf_puts(s, " as the ranks saw it");
    say_why(x, clear, s);
}

/* If nothing is far below: what was compared, and the lowest share. */
static void say_all(const struct rs_reached *r, const struct rs_model *m, const struct rs_bandwidth *b, double all_ns,
                    struct rs_strbuf *s)
{
    uint32_t known = 0, least = RS_NONE;
    for (uint32_t i = 0; i < r->n; i++) {
        if (isnan(share_of(&r->rows[i]))) continue;
        known++;
        if ((double)b->rows[i].total_ns <= all_ns / 100) continue;
        if (least == RS_NONE || share_of(&r->rows[i]) < share_of(&r->rows[least])) least = i;
    }
    if (!known) {
        rs_strbuf_puts(s, "the reference has none of these functions with these ranks, types and sizes: nothing can be "
                          "compared.");
        return;
    }
    rs_strbuf_printf(s, "%" PRIu32 " of %" PRIu32 " rows of functions are in the reference", known, r->n);
    if (least == RS_NONE) {
        rs_strbuf_puts(s, "; none of these takes 1 % of the time.");
        return;
    }
    rs_strbuf_printf(s, "; none that takes 1 %% of the time or more is below %.0f %% of it, the lowest is ",
                     100 * RS_REACHED_LITTLE);
    rs_words_func(s, m, &b->rows[least]);
    rs_strbuf_printf(s, " with %.0f %%.", 100 * share_of(&r->rows[least]));
}

bool rs_reached_say(const struct rs_reached *r, const struct rs_model *m, const struct rs_bandwidth *b,
                    int64_t clock_error_ns, unsigned *next, struct rs_strbuf *text)
{
    double all = 0, before = INFINITY;
    if (!r->rows || *next >= MOST_SAID) return false;
    for (uint32_t i = 0; i < r->n; i++) all += (double)b->rows[i].total_ns;
    uint32_t most = RS_NONE;
    for (unsigned said = 0; said <= *next; said++) { /* in the order of lost time */
        uint32_t last = most;
        most = RS_NONE;
        for (uint32_t i = 0; i < r->n; i++) {
            double lost = lost_ns(&r->rows[i], &b->rows[i]);
            if (!is_little(&r->rows[i], &b->rows[i], all, clock_error_ns)) continue;
            if (lost > before || (lost == before && (last == RS_NONE || i <= last))) continue;
            if (most == RS_NONE || lost > lost_ns(&r->rows[most], &b->rows[most])) most = i;
        }
        if (most == RS_NONE) break;
        before = lost_ns(&r->rows[most], &b->rows[most]);
    }
    if (most == RS_NONE && *next) return false;
    if (most == RS_NONE) {
        say_all(r, m, b, all, text);
        *next = MOST_SAID;
    } else {
        say_little(m, &b->rows[most], &r->rows[most], is_clear(&b->rows[most], clock_error_ns), text);
        ++*next;
    }
    return true;
}
