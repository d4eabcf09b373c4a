#include "serve/answer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define HEADERS                                                                                                        \
    "Cache-Control: no-store\r\n"                                                                                      \
    "X-Content-Type-Options: nosniff\r\n"                                                                              \
    "X-Frame-Options: DENY\r\n"                                                                                        \
    "Referrer-Policy: no-referrer\r\n"                                                                                 \
    "Cross-Origin-Resource-Policy: same-origin\r\n"

/* For all but the page: whoever shows it as a page, it may do nothing. */
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

/* A refusal ends the connection: what may follow in it, as the body of a POST, is never taken for a request. */
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
    /* If-Range asks for all of it unless it is the same as before: nothing here has a name to compare. */
    enum rs_http_range kind = rs_http_range(r->if_range ? NULL : r->range, size, &from, &length);
    if (kind == RS_HTTP_NOTHING) {
        snprintf(range, sizeof range, "Content-Range: bytes */%" PRIu64 "\r\n", size);
        refuse(a, r, 416, range, "there are not so many bytes\n");
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

/* What is refused is told nothing of what there is: without the token all addresses are alike. */
void rs_answer_make(const struct rs_site *s, const struct rs_request *r, struct rs_answer *a)
{
    *a = (struct rs_answer){.close = r == NULL || r->close};
    if (r == NULL) {
        refuse(a, r, 400, "", "");
    } else if (r->hosts > 1) {
        refuse(a, r, 400, "", "a request has one host\n");
    } else if (!rs_host_is_loopback(r->host)) {
        refuse(a, r, 403, "", "this server answers to its own address alone, as ringscope printed it\n");
    } else if (strcmp(r->method, "GET") != 0 && !is_head(r)) {
        refuse(a, r, 405, "Allow: GET, HEAD\r\n", "GET only\n");
    } else if (!rs_token_in_query(r->query, s->token)) {
        refuse(a, r, 403, "", "the address has no valid token: take the whole of it, as ringscope printed it\n");
    } else {
        a->known = true;
        if (r->body)
            refuse(a, r, 413, "", "nothing is taken\n");
        else if (strcmp(r->path, "/") ==
                 0) /* as it came, nothing decoded: of all ways to write an address one is known */
            give_page(a, r, s);
        else if (strcmp(r->path, "/bundle") == 0)
            give_bundle(a, r, s);
        else
            refuse(a, r, 404, "", "not here\n");
    }
}
