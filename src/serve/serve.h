/* A small web server for one bundle: loopback only, a token in the address, HTTP ranges.
 *
 * It serves two addresses with GET and HEAD: /?t=TOKEN (the page) and /bundle?t=TOKEN (the bundle, whole or a range), and
 * nothing of the file system. A third one, if the caller wants it, is answered by child processes of the caller, one at a
 * time: a POST starts one, and its answer is a file that the child wrote. libevent waits for sockets and timers; answer.h parses requests and makes answers. One thread, which
 * never waits for a client: the bundle goes from the page cache to the socket, a piece at a time (a piece that must be
 * read from the disk delays the others).
 *
 * Clients need not be well-behaved: a request must be complete within a few seconds, the number of connections is
 * limited, and when the limit is reached the oldest ones without the token are closed.
 *
 * Call it from one thread. SIGPIPE must be ignored: a client may disconnect at any time. */
#ifndef RS_SERVE_SERVE_H
#define RS_SERVE_SERVE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "serve/job.h"

struct rs_server;

struct rs_serve_options {
    const char *page; /* HTML; the caller's, as long as the server runs */
    size_t page_bytes;
    int bundle; /* file descriptor; stays the caller's, and open as long as the server runs */
    uint64_t bundle_bytes;
    unsigned port; /* 0: any free one */
    struct rs_serve_job job;
};

/* Whether this port is free (0: any): to be checked before the long work of making a bundle. Fails, too, if ringscope
 * was built without libevent. */
enum rs_status rs_serve_check(unsigned port, struct rs_err *err);
/* Clients can connect from now on; they are answered while rs_serve_run() runs. */
enum rs_status rs_serve_start(struct rs_server **server, const struct rs_serve_options *options, struct rs_err *err);
unsigned rs_serve_port(const struct rs_server *server);
const char *rs_serve_token(const struct rs_server *server);
/* Answers until one of the signals in `until` arrives, which the caller has blocked: then `*ended`. With `seconds` > 0
 * it also returns once the page was sent, or after that time; it can be called again. */
enum rs_status rs_serve_run(struct rs_server *server, const sigset_t *until, unsigned seconds, bool *ended,
                            struct rs_err *err);
/* Whether the page was sent during the last rs_serve_run(). */
bool rs_serve_page_given(const struct rs_server *server);
/* Ends all connections and frees the server; a child that runs is left to the caller. NULL is fine. */
void rs_serve_stop(struct rs_server *server);

#endif
