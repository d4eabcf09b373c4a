#include "export/kineto/weave.h"

#include <string.h>

enum { LARGEST = 16 << 20 }; /* bytes of an event */

/* ---- one event ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Position after the string that begins at `at`; n: it does not end. */
static size_t behind_string(const char *s, size_t n, size_t at)
{
    for (at++; at < n && s[at] != '"'; at++)
        if (s[at] == '\\') at++;
    return at < n ? at + 1 : n;
}

static bool is_key(const char *s, size_t from, size_t to, const char *key)
{
    return to - from == strlen(key) + 2 && !memcmp(s + from + 1, key, strlen(key));
}

/* Where keys go into an event, and what is around them. */
struct place {
    size_t at; /* insert them before this byte */
    bool args; /* else there are no args: they have to be made */
    bool first; /* nothing precedes them that needs a comma */
    bool last; /* nothing follows them in the args that needs one */
    bool has_comms_id;
};

/* Parses an event, its bytes from bracket to bracket. False: it is none, or must not be changed. */
static bool find_place(const char *s, size_t n, struct place *p)
{
    unsigned depth = 0, args_depth = 0;
    size_t last = 0; /* byte that is no space */
    bool args_next = false;
    *p = (struct place){0};
    for (size_t i = 0; i < n;) {
        char c = s[i];
        if (c == '"') {
            size_t to = behind_string(s, n, i), colon = to;
            while (colon < n && is_space(s[colon])) colon++;
            bool key = colon < n && s[colon] == ':';
            if (key && depth == 1 && memchr(s + i, '\\', to - i)) return false; /* an escaped name may be any name */
            if (args_next) return false; /* args that are a text */
            if (key && depth == 1) args_next = is_key(s, i, to, "args");
            if (args_next && p->args) return false; /* twice: ambiguous */
            if (key && args_depth && depth == args_depth) {
                p->has_comms_id |= is_key(s, i, to, "Comms Id");
                if (is_key(s, i, to, "ringscope op")) return false;
            }
            last = to - 1;
            i = key ? colon + 1 : to;
            if (key) last = colon;
            continue;
        }
        if (c == '{' || c == '[') {
            depth++;
            if (args_next && c != '{') return false;
            if (args_next) {
                size_t next = i + 1;
                while (next < n && is_space(s[next])) next++;
                p->args = true;
                p->at = i + 1;
                p->last = next < n && s[next] == '}';
                args_depth = depth;
            }
            args_next = false;
        } else if (c == '}' || c == ']') {
            if (depth == args_depth) args_depth = 0;
            if (!depth || !--depth) {
                if (!p->args) {
                    p->at = last + 1;
                    p->first = s[last] == '{' || s[last] == ',';
                }
                return i + 1 == n && c == '}';
            }
        } else if (args_next && !is_space(c)) {
            return false; /* args that are a number, or null */
        }
        if (!is_space(c)) last = i;
        i++;
    }
    return false;
}

/* ---- the trace ---- */

struct weaver {
    FILE *to;
    const char *name;
    rs_weave_wants wants;
    rs_weave_keys keys;
    void *of;
    struct rs_strbuf held, text;
    bool holding; /* the current event is to be changed */
    uint64_t event, woven; /* events so far; those that were changed */
    unsigned depth, events_depth; /* of brackets; of the list of events, 0: not in one */
    bool in_string, escaped;
    char key[16]; /* the latest string of the outermost object, as far as it fits */
    size_t nkey;
    bool is_events; /* the value that comes is the list of events */
    struct rs_err err;
};

static void put(struct weaver *w, const char *bytes, size_t n)
{
    if (n && w->err.code == RS_OK && fwrite(bytes, 1, n, w->to) != n)
        rs_fail_errno(&w->err, "cannot write %s", w->name);
}

/* Bytes that are passed: out, or held. */
static void pass(struct weaver *w, const char *bytes, size_t n)
{
    if (!w->holding) {
        put(w, bytes, n);
        return;
    }
    rs_strbuf_add(&w->held, bytes, n);
    if (w->held.len < LARGEST) return;
    put(w, rs_strbuf_borrow(&w->held), w->held.len);
    rs_strbuf_clear(&w->held);
    w->holding = false;
}

static void end_event(struct weaver *w)
{
    const char *s = rs_strbuf_borrow(&w->held);
    struct place p;
    w->holding = false;
    if (find_place(s, w->held.len, &p)) {
        rs_strbuf_clear(&w->text);
        w->keys(w->of, w->event - 1, p.has_comms_id, &w->text);
        const char *keys = rs_strbuf_borrow(&w->text);
        put(w, s, p.at);
        if (!p.args) put(w, p.first ? "\"args\": {" : ", \"args\": {", p.first ? 9 : 11);
        put(w, keys, w->text.len);
        if (!p.args) put(w, "}", 1);
        if (p.args && !p.last) put(w, ", ", 2);
        put(w, s + p.at, w->held.len - p.at);
        w->woven++;
    } else {
        put(w, s, w->held.len);
    }
    rs_strbuf_clear(&w->held);
}

/* In a string: returns where it ends, or n. */
static size_t through_string(struct weaver *w, const char *s, size_t i, size_t n)
{
    for (; i < n; i++) {
        char c = s[i];
        if (!w->escaped && c == '"') {
            w->in_string = false;
            return i;
        }
        w->escaped = !w->escaped && c == '\\';
        if (w->depth == 1 && w->nkey < sizeof w->key) w->key[w->nkey++] = c;
    }
    return n;
}

/* One byte outside of strings; everything before it is passed already. True: the event ends with it. */
static bool step(struct weaver *w, char c)
{
    switch (c) {
    case '"':
        w->in_string = true;
        w->escaped = false;
        if (w->depth == 1) w->nkey = 0;
        return false;
    case ':':
        if (w->depth == 1 && !w->events_depth) w->is_events = w->nkey == 11 && !memcmp(w->key, "traceEvents", 11);
        return false;
    case '[':
        w->depth++;
        if ((w->depth == 1 && !w->event) || (w->depth == 2 && w->is_events)) w->events_depth = w->depth;
        w->is_events = false;
        return false;
    case '{':
        if (w->events_depth && w->depth == w->events_depth) w->holding = w->wants(w->of, w->event++);
        w->depth++;
        w->is_events = false;
        return false;
    case ']':
    case '}':
        if (w->depth) w->depth--;
        if (w->depth < w->events_depth) w->events_depth = 0;
        return c == '}' && w->holding && w->depth == w->events_depth;
    case ',': w->is_events = false; return false;
    default: return false;
    }
}

static void block(struct weaver *w, const char *s, size_t n)
{
    size_t from = 0; /* what is passed already */
    for (size_t i = 0; i < n;) {
        if (w->in_string) {
            i = through_string(w, s, i, n);
            i += i < n;
            continue;
        }
        bool was = w->holding;
        bool ends = step(w, s[i]);
        if (!was && w->holding) { /* the event begins with this byte */
            put(w, s + from, i - from);
            from = i;
        }
        i++;
        if (ends) {
            pass(w, s + from, i - from);
            from = i;
            if (w->holding) end_event(w);
        }
    }
    pass(w, s + from, n - from);
}

enum rs_status rs_kineto_weave(struct rs_bytes *from, FILE *to, const char *name, rs_weave_wants wants,
                               rs_weave_keys keys, void *of, uint64_t *woven, struct rs_err *err)
{
    struct weaver w = {.to = to, .name = name, .wants = wants, .keys = keys, .of = of};
    enum { STEP = 1 << 20 };
    struct rs_err broken;
    const char *bytes;
    size_t n;
    while (w.err.code == RS_OK && rs_bytes_next(from, &bytes, &n, &broken) == RS_OK && n)
        for (size_t at = 0; at < n && w.err.code == RS_OK; at += STEP) {
            block(&w, bytes + at, n - at < STEP ? n - at : STEP);
            rs_bytes_drop_pages(from, bytes + at);
        }
    if (w.holding) put(&w, rs_strbuf_borrow(&w.held), w.held.len); /* it breaks off */
    enum rs_status status = w.err.code;
    if (status != RS_OK) *err = w.err;
    rs_strbuf_free(&w.held);
    rs_strbuf_free(&w.text);
    *woven = w.woven;
    return status;
}
