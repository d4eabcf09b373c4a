/* A small web server for one bundle: loopback only, a token in the address, GET (and HEAD) only, HTTP ranges.
 *
 * It answers two addresses and nothing else: /?t=TOKEN (the page) and /bundle?t=TOKEN (the bundle, whole or a range of
 * it); nothing of the file system is ever served. libevent waits for sockets and times; answer.h reads what comes,
 * answer.h says what is answered. One thread, which never waits for a client: the bundle goes from the page cache to the
 * socket, a piece at a time (a piece that has to come from the disk does hold up the others).
 *
 * Nobody is needed to be polite: a client has a few seconds for its whole request, connections are bounded, and when the
 * bound is reached the oldest of those that never had the token make room.
 *
 * All of it from one thread. SIGPIPE must be ignored: a client may go away while it is sent something. */
#ifndef RS_SERVE_SERVE_H
#define RS_SERVE_SERVE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct rs_server;

struct rs_serve_options {
    const char *page; /* HTML; the caller's, as long as the server runs */
    size_t page_bytes;
    int bundle; /* file descriptor; stays the caller's, and open as long as the server runs */
    uint64_t bundle_bytes;
    unsigned port; /* 0: one that is free */
};

/* Whether rs_serve_start() would find this port free (0: any): to be asked before the long work of making a bundle.
 * Fails, too, where ringscope was built without libevent. */
enum rs_status rs_serve_check(unsigned port, struct rs_err *err);
/* Clients can connect from now on; they are answered while rs_serve_run() runs. */
enum rs_status rs_serve_start(struct rs_server **server, const struct rs_serve_options *options, struct rs_err *err);
unsigned rs_serve_port(const struct rs_server *server);
const char *rs_serve_token(const struct rs_server *server);
/* Answers until one of the signals in `until` comes, all of which the caller has blocked: then `*ended`. With `seconds`
 * over 0 it also returns once the page was given to somebody, or after that time; it can be called again. */
enum rs_status rs_serve_run(struct rs_server *server, const sigset_t *until, unsigned seconds, bool *ended,
                            struct rs_err *err);
/* Whether the page was given to somebody while rs_serve_run() last ran. */
bool rs_serve_page_given(const struct rs_server *server);
/* Ends all connections and frees the server. NULL is fine. */
void rs_serve_stop(struct rs_server *server);

#endif
