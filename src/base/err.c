#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum rs_status rs_fail(struct rs_err *err, enum rs_status code, const char *fmt, ...)
{
    if (err == NULL) return code;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
    va_end(ap);
    err->code = code;
    return code;
}

enum rs_status rs_fail_errno(struct rs_err *err, const char *fmt, ...)
{
    if (err == NULL) return RS_FAILED;
    int saved = errno;
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
    va_end(ap);
    size_t len = n < 0 ? 0 : (size_t)n;
    if (len < sizeof(err->msg)) {
        char text[128];
        /* strerror() may use a buffer that all threads share; the GNU strerror_r() does not. */
        snprintf(err->msg + len, sizeof(err->msg) - len, ": %s", strerror_r(saved, text, sizeof(text)));
    }
    err->code = RS_FAILED;
    return RS_FAILED;
}

enum rs_status rs_err_wrap(struct rs_err *err, const char *fmt, ...)
{
    if (err == NULL) return RS_FAILED;
    char head[sizeof(err->msg)];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(head, sizeof(head), fmt, ap);
    va_end(ap);
    size_t len = n < 0 ? 0 : (size_t)n;
    /* A long context must not push out the cause, which is worth more. */
    if (len > sizeof(head) / 2) len = sizeof(head) / 2;
    size_t old = strlen(err->msg);
    size_t room = sizeof(err->msg) - len - 3;
    if (old > room) old = room;
    memmove(err->msg + len + 2, err->msg, old);
    err->msg[len + 2 + old] = '\0';
    memcpy(err->msg, head, len);
    memcpy(err->msg + len, ": ", 2);
    return err->code;
}
