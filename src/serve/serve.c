#include "serve/serve.h"

enum rs_status rs_serve_start(struct rs_server **server, const struct rs_serve_options *options, struct rs_err *err)
{
    (void)options;
    *server = NULL;
    return rs_fail(err, RS_FAILED, "not there yet");
}

unsigned rs_serve_port(const struct rs_server *server)
{
    (void)server;
    return 0;
}

const char *rs_serve_token(const struct rs_server *server)
{
    (void)server;
    return "";
}

void rs_serve_stop(struct rs_server *server)
{
    (void)server;
}
