#include "json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64 };

struct parser {
    const char *at, *end;
    int depth;
};

static void space(struct parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r')) p->at++;
}

static bool take(struct parser *p, char c)
{
    space(p);
    if (p->at >= p->end || *p->at != c) return false;
    p->at++;
    return true;
}

/* Behind the opening quote. */
static bool string(struct parser *p, const char **text, size_t *bytes)
{
    *text = p->at;
    for (; p->at < p->end && *p->at != '"'; p->at++) {
        if ((unsigned char)*p->at < 32) return false;
        if (*p->at != '\\') continue;
        if (++p->at >= p->end || !strchr("\"\\/bfnrtu", *p->at)) return false;
        for (int i = 0; *p->at == 'u' && i < 4; i++)
            if (p->end - p->at < 5 || !isxdigit((unsigned char)p->at[i + 1])) return false;
    }
    *bytes = (size_t)(p->at - *text);
    return p->at++ < p->end;
}

static bool digits(struct parser *p)
{
    const char *from = p->at;
    while (p->at < p->end && isdigit((unsigned char)*p->at)) p->at++;
    return p->at > from;
}

static bool number(struct parser *p)
{
    if (p->at < p->end && *p->at == '-') p->at++;
    const char *from = p->at;
    if (!digits(p) || (*from == '0' && p->at > from + 1)) return false;
    if (p->at < p->end && *p->at == '.' && (p->at++, !digits(p))) return false;
    if (p->at < p->end && (*p->at == 'e' || *p->at == 'E')) {
        p->at++;
        if (p->at < p->end && (*p->at == '+' || *p->at == '-')) p->at++;
        return digits(p);
    }
    return true;
}

static bool word(struct parser *p, const char *w)
{
    size_t n = strlen(w);
    if ((size_t)(p->end - p->at) < n || memcmp(p->at, w, n) != 0) return false;
    p->at += n;
    return true;
}

static bool value(struct parser *p, struct json *j);

static bool children(struct parser *p, struct json *j)
{
    char close = j->type == '{' ? '}' : ']';
    struct json **at = &j->first;
    if (take(p, close)) return true;
    do {
        struct json *c = *at = calloc(1, sizeof *c);
        if (!c) return false;
        at = &c->next;
        if (j->type == '{' && (!take(p, '"') || !string(p, &c->key, &c->key_bytes) || !take(p, ':'))) return false;
        if (!value(p, c)) return false;
    } while (take(p, ','));
    return take(p, close);
}

static bool value(struct parser *p, struct json *j)
{
    space(p);
    if (p->at >= p->end || ++p->depth > DEEPEST) return false;
    bool good;
    j->type = *p->at;
    j->text = p->at;
    switch (*p->at) {
    case '{':
    case '[': p->at++, good = children(p, j); break;
    case '"': p->at++, good = string(p, &j->text, &j->text_bytes); break;
    case 't': good = word(p, "true"); break;
    case 'f': good = word(p, "false"); break;
    case 'n': good = word(p, "null"); break;
    default:
        j->type = '0';
        good = number(p);
        j->text_bytes = (size_t)(p->at - j->text);
    }
    p->depth--;
    return good;
}

struct json *json_parse(const char *text, size_t bytes)
{
    struct parser p = {text, text + bytes, 0};
    struct json *j = calloc(1, sizeof *j);
    if (!j) return NULL;
    bool good = value(&p, j);
    space(&p);
    if (good && p.at == p.end) return j;
    json_free(j);
    return NULL;
}

void json_free(struct json *j)
{
    while (j) {
        struct json *next = j->next;
        json_free(j->first);
        free(j);
        j = next;
    }
}

const struct json *json_get(const struct json *object, const char *key)
{
    for (const struct json *c = object ? object->first : NULL; c; c = c->next)
        if (c->key && strlen(key) == c->key_bytes && !memcmp(c->key, key, c->key_bytes)) return c;
    return NULL;
}

uint64_t json_u64(const struct json *object, const char *key)
{
    const struct json *v = json_get(object, key);
    return v && v->type == '0' ? strtoull(v->text, NULL, 10) : 0;
}

bool json_is(const struct json *object, const char *key, char type)
{
    const struct json *v = json_get(object, key);
    return v && v->type == type;
}

bool json_text_is(const struct json *object, const char *key, const char *text)
{
    const struct json *v = json_get(object, key);
    return v && v->type == '"' && v->text_bytes == strlen(text) && !memcmp(v->text, text, v->text_bytes);
}
