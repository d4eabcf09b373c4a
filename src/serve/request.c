#include "serve/request.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

/* ---- the token ---- */

enum rs_status rs_token_make(char token[RS_SERVE_TOKEN + 1], struct rs_err *err)
{
    unsigned char bytes[RS_SERVE_TOKEN / 2];
    size_t have = 0;
    while (have < sizeof bytes) {
        ssize_t n = getrandom(bytes + have, sizeof bytes - have, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return rs_fail_errno(err, "the system gave no random numbers");
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
    } else if (strcasecmp(line, "Content-Length") == 0) {
        r->body = r->body || strcmp(value, "0") != 0;
    } else if (strcasecmp(line, "Transfer-Encoding") == 0) {
        r->body = true;
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

/* Nothing, or ":" and a port: through a tunnel it is that of the other end. */
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

/* Digits at *at; what is too large for 64 bits becomes the largest number. False when there are none. */
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
