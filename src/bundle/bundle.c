#include "bundle/bundle.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "bundle/blocks.h"
#include "bundle/operations.h"
#include "bundle/overview.h"
#include "bundle/relations.h"
#include "bundle/table.h"

/* ---- groups, lanes and flags ----
 * Rows of the timeline as tables: sections "groups", "lanes" and "flags". Lanes are collected while processes are
 * drawn. */

struct lane_list {
    uint32_t n, cap; /* lanes */
    uint32_t *group, *sub, *label, *bars;
    uint8_t *row;
};

#define LANES(X)                                                                                                       \
    X(uint32_t, group)                                                                                                 \
    X(uint32_t, sub)                                                                                                   \
    X(uint32_t, label)                                                                                                 \
    X(uint32_t, bars)                                                                                                  \
    X(uint8_t, row)

/* `group`: of the bundle. */
static enum rs_status lane_list_add(struct lane_list *t, const struct rs_bar_lane *lane, uint32_t group,
                                    struct rs_err *err)
{
    uint32_t i;
    if (t->n && group < t->group[t->n - 1])
        return rs_fail(err, RS_FAILED, "internal error: lanes are not in the order of their groups");
    RS_COLUMNS_ADD(LANES, &i);
    t->group[i] = group;
    t->sub[i] = lane->sub;
    t->label[i] = lane->label;
    t->bars[i] = lane->n;
    t->row[i] = lane->row;
    return RS_OK;
}

static void lane_list_lanes(const struct lane_list *p, struct rs_packer *table)
{
    rs_packer_begin(table, p->n);
    rs_packer_u32(table, "group", p->group, RS_COLUMN_DELTA);
    rs_packer_u8(table, "kind", p->row);
    rs_packer_u32(table, "sub", p->sub, RS_COLUMN_PLANES);
    rs_packer_u32(table, "label", p->label, RS_COLUMN_PLANES);
    rs_packer_u32(table, "bars", p->bars, RS_COLUMN_PLANES);
}

struct groups {
    uint32_t n;
    uint32_t *parent, *label, *from, *to;
    int64_t *level;
    double *error;
};

/* Lanes of each group and of its subgroups. Groups are in drawing order, so the subgroups follow directly, and so do
 * the lanes. */
static void find_lanes(const struct lane_list *p, struct groups *g)
{
    uint32_t lane = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        while (lane < p->n && p->group[lane] < i) lane++;
        g->from[i] = lane;
        while (lane < p->n && p->group[lane] == i) lane++;
        g->to[i] = lane;
    }
    for (uint32_t i = g->n; i-- > 0;) { /* children before their parents */
        uint32_t parent = g->parent[i];
        if (parent < i && g->to[i] > g->to[parent]) g->to[parent] = g->to[i];
    }
}

enum { LEVEL_OF_RUN = -1 }; /* above those of enum rs_group_level */

static void fill_groups(const struct rs_run *run, uint32_t title, struct groups *g)
{
    if (run->root != RS_NONE) {
        g->parent[run->root] = RS_NONE;
        g->level[run->root] = LEVEL_OF_RUN;
        g->label[run->root] = title;
        g->error[run->root] = NAN;
    }
    for (uint32_t i = 0; i < run->t->ngroups; i++) {
        const struct rs_group *x = &run->t->groups[i];
        uint32_t at = run->first_group + i;
        g->parent[at] = x->parent == RS_NONE ? run->root : run->first_group + x->parent;
        g->level[at] = x->level;
        g->label[at] = x->label;
        g->error[at] = x->error_ns == RS_TIME_NONE ? NAN : (double)x->error_ns;
    }
}

/* The table of that name. */
static void lane_list_groups(const struct lane_list *p, struct rs_runs *runs, const struct rs_bundle_run *titled,
                             struct rs_packer *table)
{
    size_t n = (size_t)runs->ngroups + 1;
    struct groups g = {runs->ngroups,
                       rs_alloc(n * sizeof *g.parent),
                       rs_alloc(n * sizeof *g.label),
                       rs_alloc(n * sizeof *g.from),
                       rs_alloc(n * sizeof *g.to),
                       rs_alloc(n * sizeof *g.level),
                       rs_alloc(n * sizeof *g.error)};
    struct rs_texts *texts = &runs->rows[runs->holder].t->texts;
    for (uint32_t i = 0; i < runs->n; i++) {
        const char *title = titled[i].texts.title ? titled[i].texts.title : "";
        uint32_t label = 0;
        if (runs->n > 1) rs_texts_id(texts, title, strlen(title), &label);
        fill_groups(&runs->rows[i], label, &g);
    }
    find_lanes(p, &g);
    rs_packer_begin(table, g.n);
    rs_packer_u32(table, "parent", g.parent, RS_COLUMN_PLANES);
    rs_packer_i64(table, "level", g.level, 0, RS_COLUMN_PLANES);
    rs_packer_u32(table, "label", g.label, RS_COLUMN_PLANES);
    rs_packer_u32(table, "lane_from", g.from, RS_COLUMN_DELTA);
    rs_packer_u32(table, "lane_to", g.to, RS_COLUMN_DELTA);
    rs_packer_f32(table, "error", g.error);
    free(g.parent);
    free(g.label);
    free(g.from);
    free(g.to);
    free(g.level);
    free(g.error);
}

/* The flags of all runs, by time: each run's are. */
static uint32_t merge_flags(const struct rs_runs *runs, struct rs_timeline_flag **all)
{
    size_t most = 1;
    uint32_t n = 0;
    for (uint32_t i = 0; i < runs->n; i++) most += runs->rows[i].t->nflags;
    struct rs_timeline_flag *rows = *all = rs_alloc(most * sizeof *rows);
    for (uint32_t i = 0; i < runs->n; i++) {
        const struct rs_run *run = &runs->rows[i];
        uint32_t before = n, k = run->t->nflags;
        n += k;
        for (uint32_t to = n; to-- > 0 && k > 0;) { /* from the end, in place */
            const struct rs_timeline_flag *x = &run->t->flags[k - 1];
            if (before && rows[before - 1].at > x->at + run->delay) {
                rows[to] = rows[--before];
                continue;
            }
            rows[to] = *x;
            rows[to].at += run->delay;
            rows[to].group += run->first_group;
            k--;
        }
    }
    return n;
}

static void lane_list_flags(const struct rs_runs *runs, struct rs_packer *table)
{
    struct rs_timeline_flag *rows;
    uint32_t nflags = merge_flags(runs, &rows);
    size_t n = (size_t)nflags + 1;
    double *time = rs_alloc(n * sizeof *time);
    uint32_t *group = rs_alloc(n * sizeof *group), *label = rs_alloc(n * sizeof *label);
    uint8_t *kind = rs_alloc(n);
    for (uint32_t i = 0; i < nflags; i++) {
        time[i] = (double)rows[i].at;
        group[i] = rows[i].group;
        label[i] = rows[i].label;
        kind[i] = rows[i].destroyed;
    }
    rs_packer_begin(table, nflags);
    rs_packer_f64(table, "time", time);
    rs_packer_u32(table, "group", group, RS_COLUMN_PLANES);
    rs_packer_u32(table, "label", label, RS_COLUMN_PLANES);
    rs_packer_u8(table, "kind", kind);
    free(rows);
    free(time);
    free(group);
    free(label);
    free(kind);
}

static void lane_list_free(struct lane_list *t)
{
    RS_COLUMNS_FREE(LANES)
    *t = (struct lane_list){0};
}

/* ---- section meta ----
 * The JSON of a bundle: section "meta" (interface Meta of the page's src/data/meta.ts). */

static void argument(struct rs_json *j, const char *label, enum rs_bar_unit unit)
{
    rs_json_object(j);
    rs_json_key_str(j, "label", label);
    if (rs_bar_units[unit]) rs_json_key_str(j, "unit", rs_bar_units[unit]);
    rs_json_end(j);
}

static void kind_json(struct rs_json *j, const struct rs_bar_kind *k)
{
    rs_json_object(j);
    rs_json_key_str(j, "id", k->id);
    rs_json_key_str(j, "label", k->label);
    rs_json_key_u64(j, "row", k->row);
    rs_json_key_str(j, "colour", k->colour);
    if (k->explain) rs_json_key_str(j, "explain", k->explain);
    if (k->marks[0]) {
        rs_json_key(j, "marks");
        rs_json_array(j);
        for (int i = 0; i < RS_BAR_MARKS && k->marks[i]; i++) rs_json_str(j, k->marks[i]);
        rs_json_end(j);
    }
    if (k->args[0]) {
        rs_json_key(j, "arguments");
        rs_json_array(j);
        for (unsigned i = 0; i < RS_BAR_ARGS && k->args[i]; i++)
            argument(j, rs_bar_arg(k, i)->label, rs_bar_arg(k, i)->unit);
        rs_json_end(j);
    }
    rs_json_end(j);
}

static void rows_json(struct rs_json *j)
{
    rs_json_key(j, "rows");
    rs_json_array(j);
    for (unsigned i = 0; i < RS_ROWS; i++) {
        rs_json_object(j);
        rs_json_key_str(j, "id", rs_row_kinds[i].id);
        rs_json_key_str(j, "label", rs_row_kinds[i].label);
        rs_json_key_bool(j, "on", rs_row_kinds[i].on);
        rs_json_key_bool(j, "summary", rs_row_kinds[i].summary);
        rs_json_end(j);
    }
    rs_json_end(j);
}

/* Wall time of t = 0 of the page. */
static void begin_json(struct rs_json *j, const struct rs_run *run)
{
    char begin[24];
    snprintf(begin, sizeof begin, "%" PRId64, rs_time_minus(run->t->begin, run->delay));
    rs_json_key_str(j, "begin_ns", begin); /* exceeds 2^53 */
}

/* Of two runs: what each is, and where its steps begin. */
static void runs_json(struct rs_json *j, const struct rs_runs *runs, const struct rs_bundle_run *said)
{
    rs_json_key(j, "runs");
    rs_json_array(j);
    for (uint32_t i = 0; i < runs->n; i++) {
        rs_json_object(j);
        rs_json_key_str(j, "title", said[i].texts.title ? said[i].texts.title : "");
        rs_json_key_u64(j, "group", runs->rows[i].root);
        begin_json(j, &runs->rows[i]);
        rs_json_key(j, "steps");
        rs_json_array(j);
        for (uint32_t k = 0; k < said[i].nsteps; k++) {
            rs_json_array(j);
            rs_json_u64(j, said[i].steps[k].number);
            rs_json_i64(j, rs_run_time(&runs->rows[i], said[i].steps[k].at));
            rs_json_end(j);
        }
        rs_json_end(j);
        rs_json_end(j);
    }
    rs_json_end(j);
}

/* Notes of all runs: what both say, once. */
static void notes_json(struct rs_json *j, const struct rs_runs *runs)
{
    rs_json_key(j, "notes");
    rs_json_array(j);
    for (uint32_t i = 0; i < runs->n; i++) {
        const struct rs_model *m = runs->rows[i].t->model, *before = i ? runs->rows[i - 1].t->model : NULL;
        for (uint32_t k = 0; k < m->nnotes; k++) {
            bool again = false;
            for (uint32_t n = 0; before && n < before->nnotes && !again; n++)
                again = !strcmp(before->notes[n].text, m->notes[k].text);
            if (!again) rs_json_str(j, m->notes[k].text);
        }
    }
    rs_json_end(j);
}

/* Everything except what is passed as text. */
static void head_json(struct rs_json *j, const struct rs_runs *runs, const struct rs_bundle_pair *pair,
                      const struct rs_bundle_run *said)
{
    const struct rs_timeline *t = runs->rows[runs->holder].t;
    const char *title = pair ? pair->title : said->texts.title;
    int64_t from = INT64_MAX, to = 0;
    rs_json_object(j);
    rs_json_key_str(j, "title", title ? title : "");
    begin_json(j, &runs->rows[0]);
    for (uint32_t i = 0; i < runs->n; i++) {
        const struct rs_run *x = &runs->rows[i];
        if (x->t->focus_from + x->delay < from) from = x->t->focus_from + x->delay;
        if (x->t->focus_to + x->delay > to) to = x->t->focus_to + x->delay;
    }
    rs_json_key(j, "focus_ns");
    rs_json_array(j);
    rs_json_i64(j, from);
    rs_json_i64(j, to);
    rs_json_end(j);
    if (pair) {
        runs_json(j, runs, said);
        rs_json_key(j, "comparison");
        rs_json_array(j);
        for (uint32_t i = 0; i < pair->nsentences; i++) rs_json_str(j, pair->sentences[i]);
        rs_json_end(j);
    }
    rs_json_key(j, "kinds");
    rs_json_array(j);
    for (unsigned i = 0; i < t->kinds.n; i++) kind_json(j, &t->kinds.rows[i]);
    rs_json_end(j);
    rows_json(j);
    rs_json_key(j, "arguments");
    rs_json_object(j);
    for (unsigned i = 0; i < rs_operations_narguments; i++) {
        rs_json_key(j, rs_operations_arguments[i].column);
        argument(j, rs_operations_arguments[i].label, rs_operations_arguments[i].unit);
    }
    rs_json_end(j);
    notes_json(j, runs);
    rs_json_end(j);
}

static void put_text(struct rs_strbuf *out, const char *key, const char *text, const char *without)
{
    rs_strbuf_printf(out, ",\"%s\":", key);
    rs_strbuf_puts(out, text ? text : without);
}

/* Arrays of all runs as one. */
static void put_arrays(struct rs_strbuf *out, const char *key, const char *first, const char *second)
{
    size_t n = first ? strlen(first) : 0, more = second ? strlen(second) : 0;
    rs_strbuf_printf(out, ",\"%s\":[", key);
    if (n > 2) rs_strbuf_add(out, first + 1, n - 2); /* without its brackets */
    if (n > 2 && more > 2) rs_strbuf_putc(out, ',');
    if (more > 2) rs_strbuf_add(out, second + 1, more - 2);
    rs_strbuf_putc(out, ']');
}

static enum rs_status meta_write(struct rs_strbuf *out, const struct rs_runs *runs, const struct rs_bundle_pair *pair,
                                 const struct rs_bundle_run *said, struct rs_err *err)
{
    const struct rs_bundle_texts *a = &said[0].texts, *b = runs->n > 1 ? &said[1].texts : NULL;
    struct rs_json *j = rs_alloc(sizeof *j);
    rs_json_to_text(j, out, "the page's texts");
    head_json(j, runs, pair, said);
    enum rs_status status = rs_json_finish(j, err);
    free(j);
    if (status != RS_OK) return status;
    out->data[--out->len] = 0; /* its last brace follows the texts */
    put_arrays(out, "comms", a->comms, b ? b->comms : NULL);
    put_arrays(out, "clocks", a->clocks, b ? b->clocks : NULL);
    put_text(out, "report", a->report, "{}");
    if (b) {
        rs_strbuf_puts(out, ",\"reports\":[");
        rs_strbuf_puts(out, a->report ? a->report : "{}");
        rs_strbuf_putc(out, ',');
        rs_strbuf_puts(out, b->report ? b->report : "{}");
        rs_strbuf_putc(out, ']');
    }
    rs_strbuf_putc(out, '}');
    return RS_OK;
}

/* ---- the page ----
 * A page that contains its bundle: what the first picture needs before the page's own element, the rest after it, each
 * as base64 in a script element that is data. The alphabet of base64 has no "<", so nothing in it ends the element. */

#define APP "<div id=\"app\"></div>"
#define BODY_END "</body>"
#define DATA "<script type=\"application/octet-stream\" id=\"ringscope-data\">"
#define REST "<script type=\"application/octet-stream\" id=\"ringscope-rest\">"
#define SCRIPT_END "</script>"

enum { PIECE = 3 << 16 }; /* bytes at a time: a multiple of three needs no padding */

struct base64 {
    uint8_t bytes[PIECE];
    char text[PIECE / 3 * 4];
};

static size_t encode(struct base64 *b, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *to = b->text;
    size_t i = 0;
    for (; i + 3 <= n; i += 3) {
        uint32_t v = (uint32_t)b->bytes[i] << 16 | (uint32_t)b->bytes[i + 1] << 8 | b->bytes[i + 2];
        *to++ = digits[v >> 18];
        *to++ = digits[v >> 12 & 63];
        *to++ = digits[v >> 6 & 63];
        *to++ = digits[v & 63];
    }
    if (i < n) {
        bool two = n - i == 2;
        uint32_t v = (uint32_t)b->bytes[i] << 16 | (two ? (uint32_t)b->bytes[i + 1] << 8 : 0);
        *to++ = digits[v >> 18];
        *to++ = digits[v >> 12 & 63];
        *to++ = two ? digits[v >> 6 & 63] : '=';
        *to++ = '=';
    }
    return (size_t)(to - b->text);
}

static enum rs_status put(FILE *out, const char *text, size_t n, const char *name, struct rs_err *err)
{
    if (fwrite(text, 1, n, out) != n) return rs_fail_errno(err, "%s: cannot write", name);
    return RS_OK;
}

static enum rs_status put_bytes(struct base64 *b, int fd, uint64_t from, uint64_t to, FILE *out, const char *name,
                                struct rs_err *err)
{
    while (from < to) {
        size_t want = to - from < PIECE ? (size_t)(to - from) : PIECE, n = 0;
        while (n < want) {
            ssize_t got = pread(fd, b->bytes + n, want - n, (off_t)(from + n));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return rs_fail_errno(err, "%s: cannot read the bundle again", name);
            if (got == 0) return rs_fail(err, RS_FAILED, "%s: the bundle has become shorter", name);
            n += (size_t)got;
        }
        RS_TRY(put(out, b->text, encode(b, n), name, err));
        from += n;
    }
    return RS_OK;
}

/* The last position of `what` in the page; NULL: none. */
static const char *last(const char *page, size_t n, const char *what)
{
    size_t m = strlen(what);
    for (size_t i = n >= m ? n - m + 1 : 0; i-- > 0;)
        if (!memcmp(page + i, what, m)) return page + i;
    return NULL;
}

enum rs_status rs_bundle_html(const char *page, size_t page_bytes, int fd, const struct rs_bundle_sizes *sizes,
                              FILE *out, const char *name, struct rs_err *err)
{
    const char *app = last(page, page_bytes, APP), *end = last(page, page_bytes, BODY_END);
    if (!app || !end || app > end) return rs_fail(err, RS_FAILED, "the page built into this ringscope is damaged");
    struct base64 *b = rs_alloc(sizeof *b);
    enum rs_status status = put(out, page, (size_t)(app - page), name, err);
    if (status == RS_OK) status = put(out, DATA, strlen(DATA), name, err);
    if (status == RS_OK) status = put_bytes(b, fd, 0, sizes->first_bytes, out, name, err);
    if (status == RS_OK) status = put(out, SCRIPT_END, strlen(SCRIPT_END), name, err);
    if (status == RS_OK) status = put(out, app, (size_t)(end - app), name, err);
    if (status == RS_OK) status = put(out, REST, strlen(REST), name, err);
    if (status == RS_OK) status = put_bytes(b, fd, sizes->first_bytes, sizes->bytes, out, name, err);
    if (status == RS_OK) status = put(out, SCRIPT_END, strlen(SCRIPT_END), name, err);
    if (status == RS_OK) status = put(out, end, page_bytes - (size_t)(end - page), name, err);
    free(b);
    return status;
}

uint64_t rs_bundle_html_bytes(size_t page_bytes, const struct rs_bundle_sizes *sizes)
{
    uint64_t rest = sizes->bytes - sizes->first_bytes;
    return page_bytes + strlen(DATA REST SCRIPT_END SCRIPT_END) + (sizes->first_bytes + 2) / 3 * 4 + (rest + 2) / 3 * 4;
}

/* ---- the bundle ---- */

struct writer {
    struct rs_runs runs;
    const struct rs_bundle_run *said; /* by run */
    const struct rs_bundle_pair *pair; /* NULL: one run */
    struct rs_zip zip;
    struct rs_packer table;
    struct rs_bars bars; /* of the current process */
    struct rs_blocks blocks;
    struct rs_overviews overview;
    struct rs_edges relations;
    struct rs_operations operations;
    struct lane_list places;
    struct rs_container container;
};

static enum rs_status open_all(struct writer *w, double span, const struct rs_bundle_place *place, struct rs_err *err)
{
    RS_TRY(rs_zip_init(&w->zip, err));
    RS_TRY(rs_blocks_open(&w->blocks, place->folder, err));
    RS_TRY(rs_overviews_open(&w->overview, span, place->folder, err));
    RS_TRY(rs_edges_open(&w->relations, place->folder, err));
    return rs_operations_open(&w->operations, &w->runs, place->folder, err);
}

static void free_all(struct writer *w)
{
    rs_bars_free(&w->bars);
    rs_packer_free(&w->table);
    rs_blocks_free(&w->blocks);
    rs_overviews_free(&w->overview);
    rs_edges_free(&w->relations);
    rs_operations_free(&w->operations);
    lane_list_free(&w->places);
    rs_zip_free(&w->zip);
    rs_runs_free(&w->runs);
}

/* ---- process by process ---- */

/* Moves the bars of a run to where it is on the page. */
static void delay_bars(struct rs_bars *b, const struct rs_kinds *kinds, int64_t delay)
{
    int64_t *const arguments[RS_BAR_ARGS] = {b->a1, b->a2, b->a3, b->a4, b->a5, b->a6};
    for (uint32_t i = 0; i < b->n; i++) {
        b->start[i] += delay;
        for (unsigned k = 0; k < RS_BAR_ARGS; k++)
            if (arguments[k][i] != RS_BAR_NO_ARG && rs_bar_arg(&kinds->rows[b->kind[i]], k)->unit == RS_UNIT_TIME)
                arguments[k][i] += delay;
    }
}

static enum rs_status add_process(struct writer *w, uint32_t run, uint32_t i, uint64_t *bars, struct rs_err *err)
{
    struct rs_bars *b = &w->bars;
    struct rs_timeline *t = rs_runs_hold(&w->runs, run);
    RS_TRY(rs_timeline_process(t, i, (uint32_t)*bars, b, err));
    if (w->runs.rows[run].delay) delay_bars(b, &t->kinds, w->runs.rows[run].delay);
    *bars += b->n;
    if (*bars >= RS_BAR_NONE)
        return rs_fail(err, RS_BAD_INPUT,
                       "more than four billion bars: select less (--rank, --from, --to, --level ops)");
    for (uint32_t k = 0; k < b->nlanes; k++) {
        RS_TRY(rs_blocks_lane(&w->blocks, b, &b->lanes[k], w->places.n, &t->kinds, &w->table, &w->zip, err));
        RS_TRY(rs_overviews_lane(&w->overview, b, &b->lanes[k], err));
        RS_TRY(lane_list_add(&w->places, &b->lanes[k], w->runs.rows[run].first_group + b->lanes[k].group, err));
    }
    return rs_edges_process(&w->relations, b, &w->table, &w->zip, err);
}

static enum rs_status add_processes(struct writer *w, const struct rs_bundle_place *place, rs_bundle_progress progress,
                                    struct rs_bundle_sizes *sizes, struct rs_err *err)
{
    uint32_t all = 0, done = 0, run = 0;
    for (uint32_t i = 0; i < w->runs.n; i++) all += w->runs.rows[i].t->nprocs;
    for (uint32_t i = 0; done < all; i++, done++) {
        for (; i == w->runs.rows[run].t->nprocs; run++) i = 0;
        RS_TRY(add_process(w, run, i, &sizes->bars, err));
        sizes->bytes = w->blocks.pieces.spool.bytes; /* most of it */
        if (place->most && sizes->bytes > place->most)
            return rs_fail(err, RS_BAD_INPUT, "the bundle would be larger than %llu bytes",
                           (unsigned long long)place->most);
        if (progress) progress(done + 1, all);
    }
    rs_bars_free(&w->bars); /* the largest of all, and no longer needed */
    w->bars = (struct rs_bars){0};
    return RS_OK;
}

/* ---- the sections ---- */

static enum rs_status write_strings(struct writer *w, struct rs_err *err)
{
    const struct rs_texts *texts = &w->runs.rows[w->runs.holder].t->texts;
    struct rs_strbuf all = {0};
    uint32_t n = texts->n ? texts->n : 1; /* string 0 always exists */
    int64_t *end = rs_zalloc(n, sizeof *end);
    for (uint32_t i = 1; i < n; i++) {
        rs_strbuf_add(&all, texts->rows[i].text, texts->rows[i].n);
        end[i] = (int64_t)all.len;
    }
    rs_packer_begin(&w->table, n);
    rs_packer_i64(&w->table, "end", end, 0, RS_COLUMN_DELTA);
    free(end);
    enum rs_status status = RS_OK;
    status = rs_container_table(&w->container, &w->zip, "strings", &w->table, err);
    if (status == RS_OK)
        status = rs_container_bytes(&w->container, &w->zip, "strtext", rs_strbuf_borrow(&all), all.len, err);
    rs_strbuf_free(&all);
    return status;
}

static enum rs_status write_meta(struct writer *w, struct rs_err *err)
{
    struct rs_strbuf meta = {0};
    enum rs_status status = meta_write(&meta, &w->runs, w->pair, w->said, err);
    if (status == RS_OK)
        status = rs_container_bytes(&w->container, &w->zip, "meta", rs_strbuf_borrow(&meta), meta.len, err);
    rs_strbuf_free(&meta);
    return status;
}

/* What the page keeps in memory: small, or needed for the first picture. */
static enum rs_status write_tables(struct writer *w, struct rs_err *err)
{
    struct rs_container *c = &w->container;
    struct rs_packer *t = &w->table;
    RS_TRY(write_meta(w, err));
    lane_list_groups(&w->places, &w->runs, w->said, t);
    RS_TRY(rs_container_table(c, &w->zip, "groups", t, err));
    lane_list_lanes(&w->places, t);
    RS_TRY(rs_container_table(c, &w->zip, "lanes", t, err));
    rs_operations_members(&w->operations, t);
    RS_TRY(rs_container_table(c, &w->zip, "members", t, err));
    lane_list_flags(&w->runs, t);
    RS_TRY(rs_container_table(c, &w->zip, "flags", t, err));
    rs_operations_table(&w->operations, t);
    RS_TRY(rs_container_table(c, &w->zip, "ops", t, err));
    RS_TRY(write_strings(w, err)); /* includes those of the operations now */
    rs_blocks_index(&w->blocks, t);
    RS_TRY(rs_container_table(c, &w->zip, "blocks", t, err));
    rs_packer_begin(t, w->overview.pieces.n);
    rs_pieces_columns(&w->overview.pieces, t);
    RS_TRY(rs_container_table(c, &w->zip, "overidx", t, err));
    rs_operations_index(&w->operations, t);
    RS_TRY(rs_container_table(c, &w->zip, "partidx", t, err));
    rs_edges_index(&w->relations, t);
    return rs_container_table(c, &w->zip, "edgeidx", t, err);
}

static enum rs_status write_all(struct writer *w, double span, const struct rs_bundle_place *place,
                                struct rs_bundle_sizes *sizes, struct rs_err *err)
{
    struct rs_container *c = &w->container;
    uint32_t buckets;
    RS_TRY(rs_overviews_pack(&w->overview, &w->table, &w->zip, &buckets, err));
    RS_TRY(rs_operations_pack(&w->operations, &w->table, &w->zip, err));
    RS_TRY(rs_edges_end(&w->relations, &w->table, &w->zip, err));
    RS_TRY(rs_container_begin(c, place->fd, place->name, err));
    RS_TRY(write_tables(w, err));
    RS_TRY(rs_container_pieces(c, "overview", &w->overview.pieces, err));
    sizes->first_bytes = c->at;
    RS_TRY(rs_container_pieces(c, "parts", &w->operations.pieces, err));
    RS_TRY(rs_container_pieces(c, "edges", &w->relations.pieces, err));
    RS_TRY(rs_container_pieces(c, "bars", &w->blocks.pieces, err));
    sizes->bytes = c->at;
    sizes->operations = w->runs.nops;
    sizes->parts = w->operations.parts;
    sizes->relations = w->relations.n;
    return rs_container_end(c, span, buckets, err);
}

static enum rs_status write_bundle(struct writer *w, const struct rs_bundle_place *place, rs_bundle_progress progress,
                                   struct rs_bundle_sizes *sizes, struct rs_err *err)
{
    double span = (double)rs_runs_span(&w->runs);
    *sizes = (struct rs_bundle_sizes){0};
    enum rs_status status = open_all(w, span, place, err);
    if (status == RS_OK) status = add_processes(w, place, progress, sizes, err);
    if (status == RS_OK) status = write_all(w, span, place, sizes, err);
    free_all(w);
    free(w);
    return status;
}

enum rs_status rs_bundle_write(struct rs_timeline *t, const struct rs_bundle_texts *texts,
                               const struct rs_bundle_place *place, rs_bundle_progress progress,
                               struct rs_bundle_sizes *sizes, struct rs_err *err)
{
    const struct rs_bundle_run said = {.timeline = t, .texts = *texts};
    struct writer *w = rs_zalloc(1, sizeof *w); /* large: not for the stack */
    w->said = &said;
    rs_runs_init(&w->runs, &t, &(int64_t){0}, 1);
    return write_bundle(w, place, progress, sizes, err);
}

enum rs_status rs_bundle_write_pair(const struct rs_bundle_pair *pair, const struct rs_bundle_place *place,
                                    rs_bundle_progress progress, struct rs_bundle_sizes *sizes, struct rs_err *err)
{
    struct rs_timeline *const timelines[] = {pair->runs[0].timeline, pair->runs[1].timeline};
    int64_t zero[] = {rs_time_minus(pair->runs[0].zero, timelines[0]->begin),
                      rs_time_minus(pair->runs[1].zero, timelines[1]->begin)};
    int64_t later = zero[0] > zero[1] ? zero[0] : zero[1];
    struct writer *w = rs_zalloc(1, sizeof *w);
    w->said = pair->runs;
    w->pair = pair;
    rs_runs_init(&w->runs, timelines, (const int64_t[]){later - zero[0], later - zero[1]}, 2);
    return write_bundle(w, place, progress, sizes, err);
}
