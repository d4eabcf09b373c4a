/* Any bytes as what a client of `ringscope serve` sends: requests are found, read and answered. Without the token nothing
 * is given; with it never more than there is. The first byte chooses whether the beginning of a good request is put in. */
#include <stdlib.h>
#include <string.h>

#include "serve/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int fine)
{
    if (!fine) abort();
}

static const char token[RS_SERVE_TOKEN + 1] = "0123456789abcdef0123456789abcdef";
static const char page[] = "<!doctype html>";

static void answer(const struct rs_site *site, const struct rs_request *r)
{
    static struct rs_answer a;
    rs_answer_make(site, r, &a);
    if (a.job) {
        must(a.known && a.body_bytes <= site->job.most && r->lengths == 1 && r->length == a.body_bytes);
        must(strcmp(r->path, "/sql") == 0 && strcmp(r->method, "POST") == 0 && strstr(r->query, token) != NULL);
        return;
    }
    must(a.head_bytes > 20 && a.head_bytes < sizeof a.head && strlen(a.head) == a.head_bytes);
    must(memcmp(a.head, "HTTP/1.1 ", 9) == 0 && rs_request_end(a.head, a.head_bytes) == a.head_bytes);
    must(a.from <= site->bundle_bytes && a.length <= site->bundle_bytes - a.from);
    must(strstr(a.head, token) == NULL);
    if (!a.known) must(a.close && !a.page && a.length == 0 && a.head[9] == '4' && a.text != site->page);
    if (a.known) must(r != NULL && strstr(r->query, token) != NULL && rs_host_is_loopback(r->host));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct rs_site site = {.page = page,
                                  .page_bytes = sizeof page - 1,
                                  .bundle_bytes = 1000,
                                  .job = {.path = "/sql", .about = "", .most = 100}};
    static char bytes[RS_REQUEST_MOST];
    if (size == 0) return 0;
    memcpy(site.token, token, sizeof token);
    rs_site_policy(&site);
    size_t have = 0;
    if (data[0] & 1) {
        static const char bundle[] = "GET /bundle?t=0123456789abcdef0123456789abcdef HTTP/1.1\r\nHost: localhost\r\n";
        static const char job[] = "POST /sql?t=0123456789abcdef0123456789abcdef HTTP/1.1\r\nHost: localhost\r\n";
        const char *begin = data[0] & 2 ? job : bundle;
        memcpy(bytes, begin, have = strlen(begin));
    }
    size_t more = size - 1 < sizeof bytes - have ? size - 1 : sizeof bytes - have;
    memcpy(bytes + have, data + 1, more);
    have += more;
    for (size_t at = 0, n; (n = rs_request_end(bytes + at, have - at)) > 0; at += n) {
        /* A block of its own: reading beyond it is seen. */
        struct rs_request r;
        char *one = malloc(n);
        must(one != NULL);
        memcpy(one, bytes + at, n);
        bool fine = rs_request_read(one, n, &r);
        must(!fine || (r.method != NULL && r.path != NULL && (r.host != NULL) == (r.hosts > 0)));
        answer(&site, fine ? &r : NULL);
        free(one);
    }
    return 0;
}
