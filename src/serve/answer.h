/* What is answered to a request: pure, no sockets. See serve.h for what there is.
 *
 * Any thread. */
#ifndef RS_SERVE_ANSWER_H
#define RS_SERVE_ANSWER_H

#include "serve/request.h"

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
