#include "cli/matches.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/moment.h"
#include "base/strbuf.h"
#include "base/texts.h"
#include "cli/options/suggest.h"
#include "cli/print/output.h"
#include "cli/print/time_zero.h"

enum { MOST_NAMES = 12 }; /* of those that exist, in a message */

/* ---- names ---- */

static void add_lower(struct rs_texts *to, const char *name)
{
    struct rs_strbuf s = {0};
    uint32_t id;
    for (const char *p = name; *p; p++) rs_strbuf_putc(&s, (char)tolower((unsigned char)*p));
    rs_texts_id(to, rs_strbuf_borrow(&s), s.len, &id);
    rs_strbuf_free(&s);
}

/* The one of the names that is nearest, whatever its case; NULL: none is near. */
static const char *nearest(const char *typed, const struct rs_texts *names)
{
    struct rs_texts lower = {0}, word = {0};
    const char *found = NULL;
    add_lower(&word, typed);
    struct rs_suggest s = {.typed = rs_texts_at(&word, word.n - 1)};
    for (uint32_t i = 1; i < names->n; i++) {
        const char *before = s.best;
        add_lower(&lower, rs_texts_at(names, i));
        rs_suggest_offer(&s, rs_texts_at(&lower, lower.n - 1));
        if (s.best != before) found = rs_texts_at(names, i);
    }
    rs_texts_free(&lower);
    rs_texts_free(&word);
    return found;
}

static void list(struct rs_strbuf *s, const struct rs_texts *names)
{
    for (uint32_t i = 1; i < names->n && i <= MOST_NAMES; i++)
        rs_strbuf_printf(s, "%s%s", i > 1 ? ", " : "", rs_texts_at(names, i));
    if (names->n > MOST_NAMES + 1) rs_strbuf_printf(s, " and %" PRIu32 " more", names->n - 1 - MOST_NAMES);
}

/* "--func AllRduce matches nothing; did you mean AllReduce? Functions here: AllReduce, Broadcast" */
static void say_names(const struct rs_command *cmd, const char *option, const char *value, const char *what,
                      const struct rs_texts *names)
{
    struct rs_strbuf s = {0};
    const char *near = nearest(value, names);
    list(&s, names);
    rs_warn(cmd->name, "%s %s matches nothing%s%s%s %s here: %s", option, value, near ? "; did you mean " : ".",
            near ? near : "", near ? "?" : "", what, s.len ? rs_strbuf_borrow(&s) : "none");
    rs_strbuf_free(&s);
}

static bool check_funcs(const struct rs_command *cmd, const struct rs_filter *f, const struct rs_model *m)
{
    struct rs_texts names = {0};
    bool *seen = rs_zalloc(UINT16_MAX + 1, sizeof *seen), any = !f->nfuncs;
    uint32_t id;
    for (uint32_t i = 0; i < m->ops.n && f->nfuncs; i++) {
        const char *name = rs_model_text(m, m->ops.func[i]);
        if (!seen[m->ops.func[i]] && *name) rs_texts_id(&names, name, strlen(name), &id);
        seen[m->ops.func[i]] = true;
    }
    for (size_t i = 0; i < f->nfuncs; i++) {
        const struct rs_filter one = {.funcs = &f->funcs[i], .nfuncs = 1};
        bool found = false;
        for (uint32_t k = 1; k < names.n && !found; k++) found = rs_filter_func(&one, rs_texts_at(&names, k));
        if (!found) say_names(cmd, "--func", f->funcs[i], "Functions", &names);
        any |= found;
    }
    rs_texts_free(&names);
    free(seen);
    return any;
}

static bool check_comms(const struct rs_command *cmd, const struct rs_filter *f, const struct rs_model *m)
{
    struct rs_texts names = {0};
    bool any = !f->ncomms;
    uint32_t id;
    for (uint32_t i = 0; i < m->ncomms && f->ncomms; i++) {
        char hash[20];
        const char *name = m->comms[i].name;
        snprintf(hash, sizeof hash, "0x%016" PRIx64, m->comms[i].hash);
        if (!name || !*name) name = hash;
        rs_texts_id(&names, name, strlen(name), &id);
    }
    for (size_t i = 0; i < f->ncomms; i++) {
        const struct rs_filter one = {.comms = &f->comms[i], .ncomms = 1};
        bool found = false;
        for (uint32_t k = 0; k < m->ncomms && !found; k++) found = rs_filter_comm(&one, m, k);
        if (!found) say_names(cmd, "--comm", f->comms[i], "Communicators", &names);
        any |= found;
    }
    rs_texts_free(&names);
    return any;
}

/* ---- ranks ---- */

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* "0-3, 7" */
static void add_ranks(struct rs_strbuf *s, const struct rs_model *m)
{
    int32_t *numbers = rs_alloc(((size_t)m->nranks + 1) * sizeof *numbers);
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->nranks; i++)
        if (m->ranks[i].number >= 0) numbers[n++] = m->ranks[i].number;
    if (n) qsort(numbers, n, sizeof *numbers, by_number);
    for (uint32_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && numbers[next] <= numbers[next - 1] + 1;) next++;
        rs_strbuf_printf(s, "%s%" PRId32, i ? ", " : "", numbers[i]);
        if (numbers[next - 1] > numbers[i]) rs_strbuf_printf(s, "-%" PRId32, numbers[next - 1]);
    }
    if (!n) rs_strbuf_puts(s, "their numbers are unknown");
    free(numbers);
}

static bool has_rank(const struct rs_filter *one, const struct rs_model *m)
{
    for (uint32_t i = 0; i < m->nranks; i++)
        if (rs_filter_rank_row(one, m, i)) return true;
    for (uint32_t i = 0; i < m->nmembers; i++)
        if (rs_filter_rank(one, m, i)) return true;
    return false;
}

static bool check_ranks(const struct rs_command *cmd, const struct rs_filter *f, const struct rs_model *m)
{
    bool any = !f->nranks;
    for (size_t i = 0; i < f->nranks; i++) {
        const struct rs_filter one = {.ranks = &f->ranks[i], .nranks = 1};
        bool found = has_rank(&one, m);
        any |= found;
        if (found) continue;
        struct rs_strbuf s = {0};
        rs_filter_describe(&one, &s);
        rs_strbuf_puts(&s, " matches nothing. Ranks here: ");
        add_ranks(&s, m);
        rs_warn(cmd->name, "%s", rs_strbuf_borrow(&s));
        rs_strbuf_free(&s);
    }
    return any;
}

/* ---- time ---- */

static bool check_time(const struct rs_command *cmd, const struct rs_filter *f, const struct rs_model *m)
{
    int64_t begin = rs_model_begin(m), end = rs_model_end(m);
    if (begin == RS_TIME_NONE || !((f->has_from && f->from > end) || (f->has_to && f->to <= begin))) return true;
    char from[RS_MOMENT_ROOM], to[RS_MOMENT_ROOM];
    bool dated = rs_moment_utc(begin, from, sizeof from) && rs_moment_utc(end, to, sizeof to);
    rs_warn(cmd->name, "nothing is in this time window. The run is from %s to %s%s%s%s%s%s", rs_zero_moment(m, begin).s,
            rs_zero_moment(m, end).s, dated ? " (" : "", dated ? from : "", dated ? " to " : "", dated ? to : "",
            dated ? ")" : "");
    return false;
}

int rs_matches_check(const struct rs_command *cmd, struct rs_filter *filter, struct rs_model *model)
{
    rs_filter_resolve(filter, model);
    if (rs_filter_is_empty(filter) || !(model->nranks || model->ops.n)) return 0;
    bool any = check_ranks(cmd, filter, model);
    any &= check_comms(cmd, filter, model);
    any &= check_funcs(cmd, filter, model);
    any &= check_time(cmd, filter, model);
    return any ? 0 : RS_EXIT_FAILURE;
}
