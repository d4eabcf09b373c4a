/* A small web server for one bundle: loopback only, a token in the address, GET only, HTTP ranges.
 *
 * It answers three addresses and nothing else: /?t=TOKEN (the page), /bundle?t=TOKEN (the bundle, in ranges), and
 * /favicon.ico with 204. civetweb does HTTP; nothing of the file system is ever served. rs_serve_stop() may be called from
 * any thread, all else from one. */
#ifndef RS_SERVE_SERVE_H
#define RS_SERVE_SERVE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct rs_server;

struct rs_serve_options {
    const char *page; /* HTML */
    size_t page_bytes;
    int bundle; /* file descriptor; stays the caller's, and open as long as the server runs */
    uint64_t bundle_bytes;
    unsigned port; /* 0: one that is free */
};

enum { RS_SERVE_TOKEN = 32 }; /* hex digits */

enum rs_status rs_serve_start(struct rs_server **server, const struct rs_serve_options *options, struct rs_err *err);
unsigned rs_serve_port(const struct rs_server *server);
const char *rs_serve_token(const struct rs_server *server);
void rs_serve_stop(struct rs_server *server);

#endif
