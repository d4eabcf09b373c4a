/* A small web server for one bundle: loopback only, a token in the address, GET (and HEAD) only, HTTP ranges.
 *
 * It answers two addresses and nothing else: /?t=TOKEN (the page) and /bundle?t=TOKEN (the bundle, whole or a range of
 * it). civetweb does HTTP; nothing of the file system is ever served. Several connections are answered at a time, by
 * threads of civetweb's. rs_serve_stop() may be called from any thread, all else from one. */
#ifndef RS_SERVE_SERVE_H
#define RS_SERVE_SERVE_H

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
 * Fails, too, where ringscope was built without civetweb. */
enum rs_status rs_serve_check(unsigned port, struct rs_err *err);
enum rs_status rs_serve_start(struct rs_server **server, const struct rs_serve_options *options, struct rs_err *err);
unsigned rs_serve_port(const struct rs_server *server);
const char *rs_serve_token(const struct rs_server *server);
/* Ends all connections, waits for the threads, and frees the server. NULL is fine. */
void rs_serve_stop(struct rs_server *server);

#endif
