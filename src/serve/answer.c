#include "serve/answer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

/* ---- requests ---- */

/* ---- the token ---- */

enum rs_status rs_token_make(char token[RS_SERVE_TOKEN + 1], struct rs_err *err)
{
    unsigned char bytes[RS_SERVE_TOKEN / 2];
    size_t have = 0;
    while (have < sizeof bytes) {
        ssize_t n = getrandom(bytes + have, sizeof bytes - have, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return rs_fail_errno(err, "no random numbers from the system");
        have += (size_t)n;
    }
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return RS_OK;
}

bool rs_token_in_query(const char *query, const char token[RS_SERVE_TOKEN + 1])
{
    unsigned found = 0;
    bool equal = true;
    for (const char *at = query; at != NULL && *at;) {
        size_t n = strcspn(at, "&");
        if (n >= 2 && at[0] == 't' && at[1] == '=') {
            unsigned char differs = n != RS_SERVE_TOKEN + 2;
            for (size_t i = 0; i < RS_SERVE_TOKEN && i + 2 < n; i++) differs |= (unsigned char)(at[i + 2] ^ token[i]);
            equal = equal && differs == 0;
            found++;
        }
        at += n + (at[n] == '&');
    }
    return found == 1 && equal;
}

/* ---- the request ---- */

size_t rs_request_end(const char *bytes, size_t n)
{
    static const char mark[] = "\r\n\r\n";
    const char *end = n == 0 ? NULL : memmem(bytes, n, mark, sizeof mark - 1);
    return end == NULL ? 0 : (size_t)(end - bytes) + sizeof mark - 1;
}

/* Of methods and names of headers (RFC 9110, token). */
static bool is_token(const char *text)
{
    static const char marks[] = "!#$%&'*+-.^_`|~";
    const char *at = text;
    for (; *at; at++) {
        bool letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9');
        if (!letter && strchr(marks, *at) == NULL) return false;
    }
    return at != text;
}

/* METHOD SP TARGET SP VERSION */
static bool read_line(char *line, struct rs_request *r)
{
    char *target = strchr(line, ' '), *version = target == NULL ? NULL : strchr(target + 1, ' ');
    if (version == NULL || version == target + 1) return false;
    *target++ = 0;
    *version++ = 0;
    r->close = strcmp(version, "HTTP/1.0") == 0;
    if ((!r->close && strcmp(version, "HTTP/1.1") != 0) || !is_token(line) || strchr(target, '\t') != NULL)
        return false;
    r->method = line;
    r->path = target;
    char *query = strchr(target, '?');
    if (query != NULL) {
        *query = 0;
        r->query = query + 1;
    }
    return true;
}

/* Digits at *at; saturates at 64 bits. False: there are none. */
static bool number(const char **at, uint64_t *value)
{
    const char *start = *at;
    *value = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++) {
        unsigned digit = (unsigned)(**at - '0');
        *value = *value > (UINT64_MAX - digit) / 10 ? UINT64_MAX : *value * 10 + digit;
    }
    return *at != start;
}

static void read_length(const char *value, struct rs_request *r)
{
    const char *at = value;
    uint64_t length;
    bool plain = number(&at, &length) && *at == 0;
    if (r->lengths++ == 0) r->length = length;
    r->other_body = r->other_body || !plain;
    r->body = r->body || strcmp(value, "0") != 0;
}

static bool read_header(char *line, struct rs_request *r)
{
    char *value = strchr(line, ':');
    if (value == NULL) return false;
    *value++ = 0;
    if (!is_token(line)) return false;
    value += strspn(value, " \t");
    for (size_t n = strlen(value); n > 0 && (value[n - 1] == ' ' || value[n - 1] == '\t'); n--) value[n - 1] = 0;

    if (strcasecmp(line, "Host") == 0) {
        if (r->hosts++ == 0) r->host = value;
    } else if (strcasecmp(line, "Range") == 0) {
        if (r->range == NULL) r->range = value;
    } else if (strcasecmp(line, "If-Range") == 0) {
        r->if_range = true;
    } else if (strcasecmp(line, "Connection") == 0) {
        r->close = r->close || strcasestr(value, "close") != NULL;
    } else if (strcasecmp(line, "Origin") == 0) {
        if (r->origin == NULL) r->origin = value;
    } else if (strcasecmp(line, "Content-Length") == 0) {
        read_length(value, r);
    } else if (strcasecmp(line, "Transfer-Encoding") == 0) {
        r->body = r->other_body = true;
    }
    return true;
}

bool rs_request_read(char *bytes, size_t n, struct rs_request *r)
{
    memset(r, 0, sizeof *r);
    char *line = bytes, *last = bytes + n - 2; /* the empty line */
    for (bool first = true; line < last; first = false) {
        char *end = line;
        while ((unsigned char)*end >= ' ' ? *end != 0x7f : *end == '\t') end++;
        if (end[0] != '\r' || end[1] != '\n') return false;
        *end = 0;
        if (!(first ? read_line(line, r) : read_header(line, r))) return false;
        line = end + 2;
    }
    return line == last;
}

/* ---- the host ---- */

/* Nothing, or ":" and a port: through a tunnel, that of the other end. */
static bool is_port(const char *text)
{
    if (*text == 0) return true;
    if (*text++ != ':') return false;
    unsigned port = 0;
    size_t n = 0;
    for (; text[n] >= '0' && text[n] <= '9' && n < 5; n++) port = port * 10 + (unsigned)(text[n] - '0');
    return n > 0 && text[n] == 0 && port > 0 && port <= 65535;
}

bool rs_host_is_loopback(const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    for (size_t i = 0; host != NULL && i < sizeof names / sizeof names[0]; i++) {
        size_t n = strlen(names[i]);
        if (strncasecmp(host, names[i], n) == 0 && is_port(host + n)) return true;
    }
    return false;
}

/* ---- the range ---- */

enum rs_http_range rs_http_range(const char *header, uint64_t size, uint64_t *from, uint64_t *length)
{
    *from = 0;
    *length = size;
    if (header == NULL || strncasecmp(header, "bytes=", 6) != 0) return RS_HTTP_WHOLE;
    const char *at = header + 6;
    while (*at == ' ' || *at == '\t') at++;
    uint64_t first, last;
    bool has_first = number(&at, &first);
    if (*at++ != '-') return RS_HTTP_WHOLE;
    bool has_last = number(&at, &last);
    while (*at == ' ' || *at == '\t') at++;
    if (*at != 0 || (!has_first && !has_last) || (has_first && has_last && last < first)) return RS_HTTP_WHOLE;

    if (!has_first) { /* the last bytes */
        *length = last < size ? last : size;
        *from = size - *length;
    } else if (first >= size) {
        *length = 0;
    } else {
        *from = first;
        *length = (has_last && last < size ? last + 1 : size) - first;
    }
    return *length > 0 ? RS_HTTP_PART : RS_HTTP_NOTHING;
}

/* ---- answers ---- */

#define HEADERS                                                                                                        \
    "Cache-Control: no-store\r\n"                                                                                      \
    "X-Content-Type-Options: nosniff\r\n"                                                                              \
    "X-Frame-Options: DENY\r\n"                                                                                        \
    "Referrer-Policy: no-referrer\r\n"                                                                                 \
    "Cross-Origin-Resource-Policy: same-origin\r\n"

/* For all but the page: if shown as a page, it may do nothing. */
#define NO_POLICY "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"

void rs_site_policy(struct rs_site *s)
{
    static const char mark[] = "http-equiv=\"Content-Security-Policy\" content=\"";
    const char *text = memmem(s->page, s->page_bytes, mark, sizeof mark - 1), *end = NULL;
    if (text != NULL) {
        text += sizeof mark - 1;
        end = memchr(text, '"', s->page_bytes - (size_t)(text - s->page));
    }
    bool fine = end != NULL && end - text < RS_POLICY_MOST && memchr(text, '\r', (size_t)(end - text)) == NULL &&
                memchr(text, '\n', (size_t)(end - text)) == NULL;
    snprintf(s->policy, sizeof s->policy, "%.*s", fine ? (int)(end - text) : 0, fine ? text : "");
    if (!fine) snprintf(s->policy, sizeof s->policy, "default-src 'none'");
}

static const char *name_of(int status)
{
    switch (status) {
    case 200: return "OK";
    case 206: return "Partial Content";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 413: return "Content Too Large";
    case 416: return "Range Not Satisfiable";
    case 500: return "Internal Server Error";
    case 503: return "Service Unavailable";
    default: return "Error";
    }
}

static bool is_head(const struct rs_request *r)
{
    return r != NULL && strcmp(r->method, "HEAD") == 0;
}

/* `length` is that of the body, which HEAD does not get. */
__attribute__((format(printf, 4, 5))) static void put_head(struct rs_answer *a, int status, uint64_t length,
                                                           const char *headers, ...)
{
    va_list arguments;
    va_start(arguments, headers);
    int n = snprintf(a->head, sizeof a->head, "HTTP/1.1 %d %s\r\nContent-Length: %" PRIu64 "\r\n" HEADERS "%s", status,
                     name_of(status), length, a->close ? "Connection: close\r\n" : "");
    n += vsnprintf(a->head + n, sizeof a->head - (size_t)n, headers, arguments);
    n += snprintf(a->head + n, sizeof a->head - (size_t)n, "\r\n");
    va_end(arguments);
    a->head_bytes = (size_t)n;
}

/* A refusal closes the connection: what follows, such as the body of a POST, is never parsed as a request. */
static void refuse(struct rs_answer *a, const struct rs_request *r, int status, const char *header,
                   const char *sentence)
{
    a->close = true;
    put_head(a, status, strlen(sentence), "Content-Type: text/plain; charset=utf-8\r\n%s" NO_POLICY, header);
    if (is_head(r)) return;
    a->text = sentence;
    a->text_bytes = strlen(sentence);
}

static void give_page(struct rs_answer *a, const struct rs_request *r, const struct rs_site *s)
{
    put_head(a, 200, s->page_bytes,
             "Content-Type: text/html; charset=utf-8\r\nContent-Security-Policy: %s; frame-ancestors 'none'\r\n",
             s->policy);
    if (is_head(r)) return;
    a->text = s->page;
    a->text_bytes = s->page_bytes;
    a->page = true;
}

static void give_bundle(struct rs_answer *a, const struct rs_request *r, const struct rs_site *s)
{
    uint64_t from, length, size = s->bundle_bytes;
    char range[96] = "";
    /* If-Range requests everything unless a validator matches: there are none here. */
    enum rs_http_range kind = rs_http_range(r->if_range ? NULL : r->range, size, &from, &length);
    if (kind == RS_HTTP_NOTHING) {
        snprintf(range, sizeof range, "Content-Range: bytes */%" PRIu64 "\r\n", size);
        refuse(a, r, 416, range, "range not satisfiable\n");
        return;
    }
    if (kind == RS_HTTP_PART)
        snprintf(range, sizeof range, "Content-Range: bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64 "\r\n", from,
                 from + length - 1, size);
    put_head(a, kind == RS_HTTP_PART ? 206 : 200, length,
             "Content-Type: application/octet-stream\r\nAccept-Ranges: bytes\r\n%s" NO_POLICY, range);
    if (is_head(r)) return;
    a->from = from;
    a->length = length;
}

/* The page itself asks, or a program that is no browser: pages of others have their own origin. */
static bool is_own_origin(const struct rs_request *r)
{
    static const char scheme[] = "http://";
    return r->origin == NULL || (strncmp(r->origin, scheme, sizeof scheme - 1) == 0 &&
                                 strcasecmp(r->origin + sizeof scheme - 1, r->host) == 0);
}

static void begin_job(struct rs_answer *a, const struct rs_request *r, const struct rs_site_job *job)
{
    if (!is_own_origin(r)) {
        refuse(a, r, 403, "", "use the address that ringscope printed\n");
    } else if (r->other_body || r->lengths != 1) {
        refuse(a, r, 400, "", "a body needs one Content-Length\n");
    } else if (r->length > job->most) {
        refuse(a, r, 413, "", "the body is too long\n");
    } else {
        a->job = true;
        a->body_bytes = (size_t)r->length;
    }
}

static void describe_job(struct rs_answer *a, const struct rs_request *r, const struct rs_site_job *job)
{
    put_head(a, 200, job->about_bytes, "Content-Type: application/jsonl\r\n" NO_POLICY);
    if (is_head(r)) return;
    a->text = job->about;
    a->text_bytes = job->about_bytes;
}

void rs_answer_job(struct rs_answer *a, int status, const char *type, const char *headers, uint64_t bytes)
{
    put_head(a, status, bytes, "Content-Type: %s\r\n%s" NO_POLICY, type, headers);
    a->from = 0;
    a->length = bytes;
}

void rs_answer_no_job(struct rs_answer *a, const char *busy)
{
    refuse(a, NULL, busy ? 503 : 500, "", busy ? busy : "no process could be started for this\n");
}

/* A refusal reveals nothing: without the token all addresses get the same answer. */
void rs_answer_make(const struct rs_site *s, const struct rs_request *r, struct rs_answer *a)
{
    *a = (struct rs_answer){.close = r == NULL || r->close};
    if (r == NULL) {
        refuse(a, r, 400, "", "");
    } else if (r->hosts > 1) {
        refuse(a, r, 400, "", "a request needs exactly one Host header\n");
    } else if (!rs_host_is_loopback(r->host)) {
        refuse(a, r, 403, "", "use the address that ringscope printed\n");
    } else if (!rs_token_in_query(r->query, s->token)) {
        refuse(a, r, 403, "", "the address has no valid token: use the whole address that ringscope printed\n");
    } else {
        bool job = s->job.path != NULL && strcmp(r->path, s->job.path) == 0;
        a->known = true;
        if (job && strcmp(r->method, "POST") == 0)
            begin_job(a, r, &s->job);
        else if (strcmp(r->method, "GET") != 0 && !is_head(r))
            refuse(a, r, 405, job ? "Allow: GET, HEAD, POST\r\n" : "Allow: GET, HEAD\r\n",
                   job ? "GET or POST only\n" : "GET only\n");
        else if (r->body)
            refuse(a, r, 413, "", "requests with a body are not accepted\n");
        else if (strcmp(r->path, "/") == 0) /* not decoded: an address has one spelling */
            give_page(a, r, s);
        else if (strcmp(r->path, "/bundle") == 0)
            give_bundle(a, r, s);
        else if (job)
            describe_job(a, r, &s->job);
        else
            refuse(a, r, 404, "", "not found\n");
    }
}
