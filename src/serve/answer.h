/* HTTP requests and answers, without sockets. serve.h describes what is served.
 *
 * Any thread. */
#ifndef RS_SERVE_ANSWER_H
#define RS_SERVE_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "serve/job.h"

/* ---- requests ----
 * The parts of a request that `serve` uses: its line, host, token, range, the length of its body. Nothing is allocated
 * or decoded.
 *
 * Strict where HTTP leaves a choice, so that no proxy can interpret a request differently: lines end in CR LF, no
 * control characters, no folded lines, HTTP/1.0 and 1.1 only. Only a POST to the path of struct rs_site_job may have a
 * body. */

enum {
    RS_SERVE_TOKEN = 32, /* hex digits: 128 bits */
    RS_REQUEST_MOST = 16 << 10, /* bytes of a request: its line and all headers */
};

/* Texts point into the bytes of the request. NULL: none. */
struct rs_request {
    const char *method, *path; /* not decoded */
    const char *query; /* without its "?" */
    const char *host, *range, *origin; /* the first ones */
    unsigned hosts; /* how many Host headers there are */
    bool if_range;
    bool body; /* it has a body */
    unsigned lengths; /* how many Content-Length headers there are */
    uint64_t length; /* of the first one */
    bool other_body; /* the length of the body is not a plain number, or in a Transfer-Encoding */
    bool close; /* close the connection after the answer */
};

/* The length of the request at the beginning of `n` bytes, with its empty line; 0: it is not complete. */
size_t rs_request_end(const char *bytes, size_t n);

/* Parses a whole request of rs_request_end() bytes, which are changed. False: invalid. */
bool rs_request_read(char *bytes, size_t n, struct rs_request *r);

/* A new token from the system's random numbers, with a final 0. */
enum rs_status rs_token_make(char token[RS_SERVE_TOKEN + 1], struct rs_err *err);

/* Whether the query (without its "?"; may be NULL) contains t=TOKEN, once; in constant time. */
bool rs_token_in_query(const char *query, const char token[RS_SERVE_TOKEN + 1]);

/* Whether a Host header (may be NULL) is a name of the loopback, with any port, since a tunnel may use another one. A
 * foreign page whose name resolves to this machine (DNS rebinding) has its own name in it. */
bool rs_host_is_loopback(const char *host);

enum rs_http_range {
    RS_HTTP_WHOLE, /* no range, several, or an invalid one: send everything */
    RS_HTTP_PART,
    RS_HTTP_NOTHING, /* 416: out of range */
};

/* The bytes that a Range header (may be NULL) requests, of `size`. `*from` and `*length` are always set; the length is
 * 0 only for RS_HTTP_NOTHING, or if `size` is. */
enum rs_http_range rs_http_range(const char *header, uint64_t size, uint64_t *from, uint64_t *length);

/* ---- answers ---- */

enum { RS_POLICY_MOST = 1024, RS_ANSWER_HEAD = 2048 }; /* bytes */

/* What is served. */
struct rs_site {
    const char *page; /* HTML; the caller's */
    size_t page_bytes;
    uint64_t bundle_bytes;
    struct rs_site_job job;
    char token[RS_SERVE_TOKEN + 1];
    char policy[RS_POLICY_MOST]; /* the page's, see rs_site_policy() */
};

/* Reads the page's policy from its text, to send it as a header, which can also forbid framing. */
void rs_site_policy(struct rs_site *site);

/* First `head`, then `text`, then a part of a file: the bundle, or the result of a job. */
struct rs_answer {
    char head[RS_ANSWER_HEAD];
    size_t head_bytes;
    const char *text; /* the page, or a constant */
    size_t text_bytes;
    uint64_t from, length; /* bytes of the file; length 0: none */
    bool known; /* the request had the token and a valid host */
    bool page; /* it contains the whole page */
    bool close; /* the connection is closed after it */
    bool job; /* there is no answer yet: it is to be computed from a body of `body_bytes` */
    size_t body_bytes;
};

/* `request` NULL: invalid or too long. */
void rs_answer_make(const struct rs_site *site, const struct rs_request *request, struct rs_answer *answer);
/* The answer to a job that ended: `bytes` of a file. `type` and `headers` ("": none) are lines of the header without and
 * with their ends. */
void rs_answer_job(struct rs_answer *answer, int status, const char *type, const char *headers, uint64_t bytes);
/* The answer to a job while another one runs, or (NULL) one that could not be started. */
void rs_answer_no_job(struct rs_answer *answer, const char *busy);

#endif
