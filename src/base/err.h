/* Errors that carry where and why.
 *
 * A function that can fail returns `enum rs_status` (0 = fine) and takes the caller's `struct rs_err *` last; the
 * message says what failed, in which file and where, and what to do if that is known. Callers may prepend context with
 * rs_err_wrap(). Nothing below src/cli prints or exits. `err` may be NULL if the caller ignores it. No allocation; any
 * thread, each with its own struct.
 *
 * In the reader, running out of memory is no such failure: it ends the program (base/memory.h). */
#ifndef RS_BASE_ERR_H
#define RS_BASE_ERR_H

#include <stdint.h>

enum rs_status {
    RS_OK = 0,
    RS_FAILED, /* an operation on the system failed: errno's text is in the message */
    RS_BAD_INPUT, /* a file or an argument is not what it should be */
    RS_NOT_FOUND,
};

struct rs_err {
    enum rs_status code;
    char msg[1024];
};

/* Fills `err` and returns `code`, so that `return rs_fail(err, RS_BAD_INPUT, "%s: ...", path);` is one line. */
enum rs_status rs_fail(struct rs_err *err, enum rs_status code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* As rs_fail(RS_FAILED), with ": " and strerror(errno) appended. */
enum rs_status rs_fail_errno(struct rs_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Puts "context: " in front of what `err` says; returns err->code. */
enum rs_status rs_err_wrap(struct rs_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define RS_TRY(expr)                                                                                                   \
    do {                                                                                                               \
        enum rs_status rs_try_ = (expr);                                                                               \
        if (rs_try_ != RS_OK) return rs_try_;                                                                          \
    } while (0)

#endif
