/* A page with its bundle in it: what the first picture needs before the page's own element, the rest behind it, each as
 * base64 in a script element that is data. The alphabet of base64 has no "<", so nothing in it ends the element. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bundle/bundle.h"

#define APP "<div id=\"app\"></div>"
#define BODY_END "</body>"
#define DATA "<script type=\"application/octet-stream\" id=\"ringscope-data\">"
#define REST "<script type=\"application/octet-stream\" id=\"ringscope-rest\">"
#define SCRIPT_END "</script>"

enum { PIECE = 3 << 16 }; /* bytes at a time: a multiple of three has no padding */

struct base64 {
    uint8_t bytes[PIECE];
    char text[PIECE / 3 * 4];
};

static size_t encode(struct base64 *b, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *to = b->text;
    size_t i = 0;
    for (; i + 3 <= n; i += 3) {
        uint32_t v = (uint32_t)b->bytes[i] << 16 | (uint32_t)b->bytes[i + 1] << 8 | b->bytes[i + 2];
        *to++ = digits[v >> 18];
        *to++ = digits[v >> 12 & 63];
        *to++ = digits[v >> 6 & 63];
        *to++ = digits[v & 63];
    }
    if (i < n) {
        bool two = n - i == 2;
        uint32_t v = (uint32_t)b->bytes[i] << 16 | (two ? (uint32_t)b->bytes[i + 1] << 8 : 0);
        *to++ = digits[v >> 18];
        *to++ = digits[v >> 12 & 63];
        *to++ = two ? digits[v >> 6 & 63] : '=';
        *to++ = '=';
    }
    return (size_t)(to - b->text);
}

static enum rs_status put(FILE *out, const char *text, size_t n, const char *name, struct rs_err *err)
{
    if (fwrite(text, 1, n, out) != n) return rs_fail_errno(err, "%s: cannot write", name);
    return RS_OK;
}

static enum rs_status put_bytes(struct base64 *b, int fd, uint64_t from, uint64_t to, FILE *out, const char *name,
                                struct rs_err *err)
{
    while (from < to) {
        size_t want = to - from < PIECE ? (size_t)(to - from) : PIECE, n = 0;
        while (n < want) {
            ssize_t got = pread(fd, b->bytes + n, want - n, (off_t)(from + n));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return rs_fail_errno(err, "%s: cannot read the bundle again", name);
            if (got == 0) return rs_fail(err, RS_FAILED, "%s: the bundle is shorter than it was", name);
            n += (size_t)got;
        }
        RS_TRY(put(out, b->text, encode(b, n), name, err));
        from += n;
    }
    return RS_OK;
}

/* The last place of `what` in the page; NULL: it is not there. */
static const char *last(const char *page, size_t n, const char *what)
{
    size_t m = strlen(what);
    for (size_t i = n >= m ? n - m + 1 : 0; i-- > 0;)
        if (!memcmp(page + i, what, m)) return page + i;
    return NULL;
}

enum rs_status rs_bundle_html(const char *page, size_t page_bytes, int fd, const struct rs_bundle_sizes *sizes,
                              FILE *out, const char *name, struct rs_err *err)
{
    const char *app = last(page, page_bytes, APP), *end = last(page, page_bytes, BODY_END);
    if (!app || !end || app > end)
        return rs_fail(err, RS_FAILED, "the page that this ringscope was built with is damaged");
    struct base64 *b = malloc(sizeof *b);
    if (!b) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    enum rs_status status = put(out, page, (size_t)(app - page), name, err);
    if (status == RS_OK) status = put(out, DATA, strlen(DATA), name, err);
    if (status == RS_OK) status = put_bytes(b, fd, 0, sizes->first_bytes, out, name, err);
    if (status == RS_OK) status = put(out, SCRIPT_END, strlen(SCRIPT_END), name, err);
    if (status == RS_OK) status = put(out, app, (size_t)(end - app), name, err);
    if (status == RS_OK) status = put(out, REST, strlen(REST), name, err);
    if (status == RS_OK) status = put_bytes(b, fd, sizes->first_bytes, sizes->bytes, out, name, err);
    if (status == RS_OK) status = put(out, SCRIPT_END, strlen(SCRIPT_END), name, err);
    if (status == RS_OK) status = put(out, end, page_bytes - (size_t)(end - page), name, err);
    free(b);
    return status;
}

uint64_t rs_bundle_html_bytes(size_t page_bytes, const struct rs_bundle_sizes *sizes)
{
    uint64_t rest = sizes->bytes - sizes->first_bytes;
    return page_bytes + strlen(DATA REST SCRIPT_END SCRIPT_END) + (sizes->first_bytes + 2) / 3 * 4 + (rest + 2) / 3 * 4;
}
