/* What is answered to a request: pure, no sockets. See serve.h for what there is.
 *
 * Any thread. */
#ifndef RS_SERVE_ANSWER_H
#define RS_SERVE_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* ---- requests ----
 * What stands in a request, as far as `serve` looks at it: its line, host, token, range. Nothing is allocated or
 * decoded.
 *
 * Strict where HTTP leaves a choice, so that nobody in between can read a request in another way: lines end in CR
 * LF, no control characters, no folded lines, HTTP/1.0 and 1.1 only. A body is never read: who announces one is
 * refused. */

enum {
    RS_SERVE_TOKEN = 32, /* hex digits: 128 bits */
    RS_REQUEST_MOST = 16 << 10, /* bytes of a request: its line and all headers */
};

/* Texts lie in the bytes of the request. NULL: it has none. */
struct rs_request {
    const char *method, *path; /* as they came */
    const char *query; /* without its "?" */
    const char *host, *range; /* the first of them */
    unsigned hosts; /* how many Host headers there are */
    bool if_range;
    bool body; /* one is announced */
    bool close; /* the connection is to end with the answer */
};

/* The bytes of the request at the beginning of `n` bytes, its empty line included; 0: it is not complete. */
size_t rs_request_end(const char *bytes, size_t n);

/* Reads a whole request, as long as rs_request_end() says; its bytes are changed. False: it is not one. */
bool rs_request_read(char *bytes, size_t n, struct rs_request *r);

/* A new token from the system's random numbers, with a final 0. */
enum rs_status rs_token_make(char token[RS_SERVE_TOKEN + 1], struct rs_err *err);

/* Does the query (without its "?"; may be NULL) hold t=TOKEN, once? How long this takes tells nothing of the token. */
bool rs_token_in_query(const char *query, const char token[RS_SERVE_TOKEN + 1]);

/* Is this the value of a Host header with which somebody asks this machine for itself: a name of the loopback, with any
 * port, since a tunnel may begin at another one? A page from elsewhere whose name was made to lead here (DNS
 * rebinding) has its own name in it. May be NULL. */
bool rs_host_is_loopback(const char *host);

enum rs_http_range {
    RS_HTTP_WHOLE, /* no range, several, or one that is not understood: all of it is to be sent */
    RS_HTTP_PART,
    RS_HTTP_NOTHING, /* 416: outside of what there is */
};

/* The bytes that a Range header (may be NULL) asks for, of `size`. `*from` and `*length` are always set; the length
 * is 0 for RS_HTTP_NOTHING alone, or where there is nothing at all. */
enum rs_http_range rs_http_range(const char *header, uint64_t size, uint64_t *from, uint64_t *length);

/* ---- answers ---- */

enum { RS_POLICY_MOST = 1024, RS_ANSWER_HEAD = 2048 }; /* bytes */

/* What there is to give. */
struct rs_site {
    const char *page; /* HTML; the caller's */
    size_t page_bytes;
    uint64_t bundle_bytes;
    char token[RS_SERVE_TOKEN + 1];
    char policy[RS_POLICY_MOST]; /* the page's own, see rs_site_policy() */
};

/* Takes the policy of the page out of it, to be sent as a header, where it can also say that nobody may frame it. */
void rs_site_policy(struct rs_site *site);

/* First `head`, then `text`, then a part of the bundle. */
struct rs_answer {
    char head[RS_ANSWER_HEAD];
    size_t head_bytes;
    const char *text; /* the page, or a constant */
    size_t text_bytes;
    uint64_t from, length; /* bytes of the bundle; the length is 0 where none are sent */
    bool known; /* the request had the token, and a host of ours */
    bool page; /* all of the page is in it */
    bool close; /* the connection ends with it */
};

/* `request` NULL: what came could not be read, or is too long. */
void rs_answer_make(const struct rs_site *site, const struct rs_request *request, struct rs_answer *answer);

#endif
