#include "serve/serve.h"

#include "serve/request.h"

#ifdef RS_NO_CIVETWEB

enum rs_status rs_serve_check(unsigned port, struct rs_err *err)
{
    (void)port;
    return rs_fail(err, RS_FAILED, "this ringscope was built without its web server (Debian: libcivetweb-dev)");
}

enum rs_status rs_serve_start(struct rs_server **server, const struct rs_serve_options *options, struct rs_err *err)
{
    *server = NULL;
    return rs_serve_check(options->port, err);
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

#else

#include <arpa/inet.h>
#include <civetweb.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    PIECE = 128 << 10, /* bytes of the bundle that are read at a time */
    MOST_FILES = 4096, /* far more than connections are open at a time */
    POLICY = 1024, /* bytes */
};

struct rs_server {
    struct rs_serve_options options;
    struct mg_context *context;
    char token[RS_SERVE_TOKEN + 1];
    char policy[POLICY];
    unsigned port; /* 0 until it is known */
};

#define HEADERS                                                                                                        \
    "Cache-Control: no-store\r\n"                                                                                      \
    "X-Content-Type-Options: nosniff\r\n"                                                                              \
    "X-Frame-Options: DENY\r\n"                                                                                        \
    "Referrer-Policy: no-referrer\r\n"                                                                                 \
    "Cross-Origin-Resource-Policy: same-origin\r\n"

/* For all but the page: whoever shows it as a page, it may do nothing. */
#define NO_POLICY "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"

/* The page's own policy (viewer/index.html) as a header, where it can also say that nobody may frame it. */
static void take_policy(struct rs_server *s)
{
    static const char mark[] = "http-equiv=\"Content-Security-Policy\" content=\"";
    const char *text = memmem(s->options.page, s->options.page_bytes, mark, sizeof mark - 1), *end = NULL;
    if (text != NULL) {
        text += sizeof mark - 1;
        end = memchr(text, '"', s->options.page_bytes - (size_t)(text - s->options.page));
    }
    bool fine = end != NULL && end - text < POLICY && memchr(text, '\r', (size_t)(end - text)) == NULL &&
                memchr(text, '\n', (size_t)(end - text)) == NULL;
    snprintf(s->policy, sizeof s->policy, "%.*s", fine ? (int)(end - text) : 0, fine ? text : "");
    if (!fine) snprintf(s->policy, sizeof s->policy, "default-src 'none'");
}

/* ---- answers ---- */

static const char *name_of(int status)
{
    switch (status) {
    case 200: return "OK";
    case 206: return "Partial Content";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 413: return "Content Too Large";
    case 416: return "Range Not Satisfiable";
    default: return "Error";
    }
}

static bool is_head(const struct mg_connection *c)
{
    const struct mg_request_info *r = mg_get_request_info(c);
    return r != NULL && r->request_method != NULL && strcmp(r->request_method, "HEAD") == 0;
}

/* A refusal ends the connection: what may follow in it, as the body of a POST, is never read. */
static int refuse(struct mg_connection *c, int status, const char *header, const char *sentence)
{
    mg_disable_connection_keep_alive(c);
    mg_printf(c,
              "HTTP/1.1 %d %s\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n"
              "Content-Length: %zu\r\n%s" HEADERS NO_POLICY "\r\n%s",
              status, name_of(status), strlen(sentence), header, is_head(c) ? "" : sentence);
    return status;
}

static int send_page(struct mg_connection *c, const struct rs_server *s)
{
    mg_printf(c,
              "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %zu\r\n"
              "Content-Security-Policy: %s; frame-ancestors 'none'\r\n" HEADERS "\r\n",
              s->options.page_bytes, s->policy);
    if (!is_head(c)) mg_write(c, s->options.page, s->options.page_bytes);
    return 200;
}

/* False: the client has gone, or the file cannot be read; the connection must end: less came than was promised. */
static bool send_bytes(struct mg_connection *c, int fd, uint64_t from, uint64_t length)
{
    char *piece = malloc(PIECE);
    bool fine = piece != NULL;
    while (fine && length > 0) {
        ssize_t n = pread(fd, piece, length < PIECE ? (size_t)length : PIECE, (off_t)from);
        if (n < 0 && errno == EINTR) continue;
        fine = n > 0 && mg_write(c, piece, (size_t)n) == n;
        if (fine) {
            from += (uint64_t)n;
            length -= (uint64_t)n;
        }
    }
    free(piece);
    return fine;
}

static int send_bundle(struct mg_connection *c, const struct rs_server *s)
{
    uint64_t from, length, size = s->options.bundle_bytes;
    char range[96] = "";
    /* If-Range asks for all of it unless it is the same as before: nothing here has a name to compare. */
    const char *header = mg_get_header(c, "If-Range") != NULL ? NULL : mg_get_header(c, "Range");
    enum rs_http_range kind = rs_http_range(header, size, &from, &length);
    if (kind == RS_HTTP_NOTHING) {
        snprintf(range, sizeof range, "Content-Range: bytes */%" PRIu64 "\r\n", size);
        return refuse(c, 416, range, "there are not so many bytes\n");
    }
    if (kind == RS_HTTP_PART)
        snprintf(range, sizeof range, "Content-Range: bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64 "\r\n", from,
                 from + length - 1, size);
    int status = kind == RS_HTTP_PART ? 206 : 200;
    mg_printf(c,
              "HTTP/1.1 %d %s\r\nContent-Type: application/octet-stream\r\nAccept-Ranges: bytes\r\n"
              "Content-Length: %" PRIu64 "\r\n%s" HEADERS NO_POLICY "\r\n",
              status, name_of(status), length, range);
    if (!is_head(c) && !send_bytes(c, s->options.bundle, from, length)) mg_disable_connection_keep_alive(c);
    return status;
}

/* ---- requests ---- */

static unsigned count_headers(const struct mg_request_info *r, const char *name)
{
    unsigned n = 0;
    for (int i = 0; i < r->num_headers; i++) n += strcasecmp(r->http_headers[i].name, name) == 0;
    return n;
}

/* Every request comes here first, and none goes on to civetweb's own ways. What is refused is told nothing of what
 * there is: without the token all addresses are alike. */
static int answer(struct mg_connection *c)
{
    const struct mg_request_info *r = mg_get_request_info(c);
    const struct rs_server *s = r->user_data;
    if (count_headers(r, "Host") > 1) return refuse(c, 400, "", "a request has one host\n");
    if (!rs_host_is_loopback(mg_get_header(c, "Host")))
        return refuse(c, 403, "", "this server answers to its own address alone, as ringscope printed it\n");
    if (strcmp(r->request_method, "GET") != 0 && strcmp(r->request_method, "HEAD") != 0)
        return refuse(c, 405, "Allow: GET, HEAD\r\n", "GET only\n");
    if (!rs_token_in_query(r->query_string, s->token))
        return refuse(c, 403, "", "the address lacks its token: take the whole of it, as ringscope printed it\n");
    if (r->content_length > 0 || mg_get_header(c, "Transfer-Encoding") != NULL)
        return refuse(c, 413, "", "nothing is taken\n");
    /* As it came, before civetweb decodes and cleans it: of all ways to write an address one is known. */
    const char *path = r->request_uri;
    if (strcmp(path, "/") == 0) return send_page(c, s);
    if (strcmp(path, "/bundle") == 0) return send_bundle(c, s);
    return refuse(c, 404, "", "not here\n");
}

/* Requests that civetweb cannot read, or that take too long. */
static int refuse_unread(struct mg_connection *c, int status, const char *message)
{
    (void)message;
    refuse(c, status, "", "");
    return 0;
}

/* Nothing below src/cli prints. */
static int say_nothing(const struct mg_connection *c, const char *message)
{
    (void)c, (void)message;
    return 1;
}

/* ---- start and stop ---- */

/* civetweb would only say that it cannot have the port, not why. */
enum rs_status rs_serve_check(unsigned port, struct rs_err *err)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    if (fd < 0) return rs_fail_errno(err, "no socket");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    bool fine = bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 1) == 0;
    enum rs_status status = fine ? RS_OK : rs_fail_errno(err, "port %u of 127.0.0.1", port);
    close(fd);
    return status;
}

static enum rs_status start(struct rs_server *s, struct rs_err *err)
{
    char port[32], why[256] = "";
    snprintf(port, sizeof port, "127.0.0.1:%u", s->options.port);
    /* No document_root: there are no files. A connection that stands still gives its thread back after a while. */
    const char *settings[][2] = {
        {"listening_ports", port},
        {"num_threads", "128"}, /* a connection that is kept open has one */
        {"enable_keep_alive", "yes"},
        {"keep_alive_timeout_ms", "5000"},
        {"request_timeout_ms", "15000"},
        {"max_request_size", "16384"},
        {"tcp_nodelay", "1"},
        {"decode_url", "no"},
        {"enable_directory_listing", "no"},
        {"access_control_list", "-0.0.0.0/0,+127.0.0.0/8"},
        {NULL, NULL},
    };
    const struct mg_callbacks callbacks = {
        .begin_request = answer,
        .http_error = refuse_unread,
        .log_message = say_nothing,
        .log_access = say_nothing,
    };
    struct mg_init_data init = {.callbacks = &callbacks, .user_data = s, .configuration_options = &settings[0][0]};
    struct mg_error_data error = {.text = why, .text_buffer_size = sizeof why};
    RS_TRY(rs_token_make(s->token, err));
    RS_TRY(rs_serve_check(s->options.port, err));
    s->context = mg_start2(&init, &error);
    if (s->context == NULL) return rs_fail(err, RS_FAILED, "the web server does not start: %s", why);
    struct mg_server_port ports[1] = {{0}};
    if (mg_get_server_ports(s->context, 1, ports) != 1) return rs_fail(err, RS_FAILED, "the web server has no port");
    s->port = (unsigned)ports[0].port;
    return RS_OK;
}

enum rs_status rs_serve_start(struct rs_server **server, const struct rs_serve_options *options, struct rs_err *err)
{
    *server = NULL;
    struct rs_server *s = calloc(1, sizeof *s);
    if (s == NULL) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    s->options = *options;
    take_policy(s);
    mg_init_library(0);
    enum rs_status status = start(s, err);
    if (status == RS_OK)
        *server = s;
    else
        rs_serve_stop(s);
    return status;
}

unsigned rs_serve_port(const struct rs_server *server)
{
    return server->port;
}

const char *rs_serve_token(const struct rs_server *server)
{
    return server->token;
}

/* civetweb's threads look only every two seconds whether they are to stop while nobody says anything: they are made
 * to see their sockets go. No other socket of this process is bound to our port. */
static void hang_up(const struct rs_server *s)
{
    long most = sysconf(_SC_OPEN_MAX);
    for (int fd = 3; fd < most && fd < MOST_FILES; fd++) {
        struct sockaddr_in at;
        socklen_t n = sizeof at;
        if (getsockname(fd, (struct sockaddr *)&at, &n) == 0 && n == sizeof at && at.sin_family == AF_INET &&
            ntohs(at.sin_port) == s->port)
            shutdown(fd, SHUT_RDWR);
    }
}

void rs_serve_stop(struct rs_server *server)
{
    if (server == NULL) return;
    if (server->context != NULL) {
        hang_up(server);
        mg_stop(server->context);
    }
    mg_exit_library();
    free(server);
}

#endif
