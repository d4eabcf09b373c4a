#include "serve/serve.h"

#ifdef RS_NO_LIBEVENT

enum rs_status rs_serve_check(unsigned port, struct rs_err *err)
{
    (void)port;
    return rs_fail(err, RS_FAILED, "this ringscope was built without its web server (Debian: libevent-dev)");
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

enum rs_status rs_serve_run(struct rs_server *server, const sigset_t *until, unsigned seconds, bool *ended,
                            struct rs_err *err)
{
    (void)server, (void)until, (void)seconds;
    *ended = true;
    return rs_serve_check(0, err);
}

bool rs_serve_page_given(const struct rs_server *server)
{
    (void)server;
    return false;
}

void rs_serve_stop(struct rs_server *server)
{
    (void)server;
}

#else

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "serve/answer.h"

enum {
    MOST = 768, /* connections; fewer if fewer files may be open */
    SPARE = 64, /* files left for the rest of the program */
    FEWEST = 16, /* connections, however few files may be open */
    ACCEPTED = 8, /* at a time, fewer than FEWEST: others are served in between */
    BACKLOG = 4096, /* connections that the kernel queues; it may lower the number */
    PIECE = 1 << 20, /* bytes sent at a time, so that others get their turn */
    SEND_BUFFER = 512 << 10, /* bytes that the kernel buffers for a client that does not read */
};

/* Seconds. */
enum {
    TO_ASK = 5, /* for a whole request, from connecting */
    TO_ASK_AGAIN = 30, /* the same, after a request with the token */
    TO_READ = 30, /* without progress of an answer */
    TO_LEAVE = 2, /* for a client to close, after its last answer */
};

enum state {
    ASKING, /* the request is not complete */
    BODY, /* the body of a job is not complete */
    WAITING, /* for the job */
    ANSWERED, /* bytes of the answer are left to send */
    LEAVING, /* all is sent. Unread bytes are discarded: closing with them would reset the connection */
};

struct connection {
    TAILQ_ENTRY(connection) link;
    struct rs_server *server;
    struct event io, timer;
    int fd;
    enum state state;
    bool known; /* a request had the token: it is in server->known, else in ->unknown */
    size_t have; /* bytes */
    char bytes[RS_REQUEST_MOST];
    char *body; /* of a job; NULL: none */
    size_t body_have;
    struct rs_answer answer; /* the rest of it: */
    const char *head;
    int file; /* of the answer, if it is not the bundle; else -1 */
};

TAILQ_HEAD(connections, connection); /* the oldest first */

struct rs_server {
    struct rs_site site;
    int bundle, listening; /* file descriptors */
    unsigned port;
    struct event_base *base;
    struct event *accept, *again; /* new connections; the end of a pause in accepting them */
    struct connections known, unknown;
    unsigned open, most; /* connections */
    struct rs_serve_job job;
    struct event *job_end; /* NULL: no job runs */
    struct connection *waiting; /* for the job; NULL: nobody */
    bool page_given, ended; /* since rs_serve_run() began */
};

/* ---- a connection ---- */

/* What an answer needed. */
static void forget_job(struct connection *c)
{
    free(c->body);
    c->body = NULL;
    if (c->file >= 0) close(c->file);
    c->file = -1;
}

static void drop(struct connection *c)
{
    struct rs_server *s = c->server;
    if (s->waiting == c) s->waiting = NULL;
    forget_job(c);
    event_del(&c->io);
    event_del(&c->timer);
    close(c->fd);
    TAILQ_REMOVE(c->known ? &s->known : &s->unknown, c, link);
    s->open--;
    free(c);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    drop(arg);
}

static void on_io(evutil_socket_t fd, short what, void *arg);

static void set_time(struct connection *c, int seconds)
{
    event_add(&c->timer, &(struct timeval){.tv_sec = seconds});
}

static void enter(struct connection *c, enum state state, short direction, int seconds)
{
    c->state = state;
    event_del(&c->io);
    event_assign(&c->io, c->server->base, c->fd, (short)(direction | EV_PERSIST), on_io, c);
    event_add(&c->io, NULL);
    set_time(c, seconds);
}

static void send_answer(struct connection *c)
{
    c->head = c->answer.head;
    enter(c, ANSWERED, EV_WRITE, TO_READ);
}

/* ---- jobs ---- */

static void stop_waiting(struct rs_server *s)
{
    if (s->job_end == NULL) return;
    close(event_get_fd(s->job_end));
    event_free(s->job_end);
    s->job_end = NULL;
}

static void on_job_end(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    struct rs_server *s = arg;
    struct connection *c = s->waiting;
    struct rs_serve_result r;
    stop_waiting(s);
    s->waiting = NULL;
    s->job.end(s->job.context, &r);
    if (c == NULL) { /* the client is gone */
        close(r.file);
        return;
    }
    c->file = r.file;
    rs_answer_job(&c->answer, r.status, r.type, r.headers, r.bytes);
    send_answer(c);
}

/* The whole body is there. A client that leaves does not end the job: it ends by itself. */
static void start_job(struct connection *c)
{
    struct rs_server *s = c->server;
    bool busy = s->job_end != NULL;
    int end = busy ? -1 : s->job.start(s->job.context, c->body, c->body_have);
    if (end < 0) {
        rs_answer_no_job(&c->answer, busy ? s->job.site.busy : NULL);
        send_answer(c);
        return;
    }
    s->job_end = event_new(s->base, end, EV_READ, on_job_end, s);
    if (s->job_end == NULL || event_add(s->job_end, NULL) != 0) rs_memory_out();
    s->waiting = c;
    c->state = WAITING;
    event_del(&c->io);
    event_del(&c->timer);
}

/* Moves what has come of the body. */
static void take_body(struct connection *c)
{
    size_t lacks = c->answer.body_bytes - c->body_have, n = c->have < lacks ? c->have : lacks;
    memcpy(c->body + c->body_have, c->bytes, n);
    c->body_have += n;
    c->have -= n;
    memmove(c->bytes, c->bytes + n, c->have);
    if (n == lacks) start_job(c);
}

/* ---- requests ---- */

static void begin_answer(struct connection *c, const struct rs_request *request)
{
    struct rs_server *s = c->server;
    rs_answer_make(&s->site, request, &c->answer);
    if (c->answer.known && !c->known) {
        TAILQ_REMOVE(&s->unknown, c, link);
        TAILQ_INSERT_TAIL(&s->known, c, link);
        c->known = true;
    }
    if (c->answer.job) {
        c->body = rs_alloc(c->answer.body_bytes + 1);
        c->body_have = 0;
        enter(c, BODY, EV_READ, TO_ASK_AGAIN);
    } else {
        send_answer(c);
    }
}

/* Answers the next request, if it is complete. */
static void look_for_request(struct connection *c)
{
    size_t n = rs_request_end(c->bytes, c->have);
    if (n > 0) {
        struct rs_request request;
        begin_answer(c, rs_request_read(c->bytes, n, &request) ? &request : NULL);
        c->have -= n;
        memmove(c->bytes, c->bytes + n, c->have);
        if (c->state == BODY) take_body(c);
    } else if (c->have == sizeof c->bytes) {
        c->have = 0;
        begin_answer(c, NULL);
    }
}

/* False: the connection is over. */
static bool receive(struct connection *c)
{
    ssize_t n = recv(c->fd, c->bytes + c->have, sizeof c->bytes - c->have, 0);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    if (c->state == ASKING) {
        c->have += (size_t)n;
        look_for_request(c);
    } else if (c->state == BODY) {
        c->have += (size_t)n;
        take_body(c);
    }
    return n > 0;
}

/* Sends one piece of what is left. */
static ssize_t send_piece(struct connection *c)
{
    struct rs_answer *a = &c->answer;
    ssize_t n;
    if (a->head_bytes > 0) {
        n = send(c->fd, c->head, a->head_bytes, a->text_bytes > 0 || a->length > 0 ? MSG_MORE : 0);
        if (n > 0) c->head += n, a->head_bytes -= (size_t)n;
    } else if (a->text_bytes > 0) {
        n = send(c->fd, a->text, a->text_bytes < PIECE ? a->text_bytes : PIECE, 0);
        if (n > 0) a->text += n, a->text_bytes -= (size_t)n;
    } else {
        off_t from = (off_t)a->from;
        n = sendfile(c->fd, c->file >= 0 ? c->file : c->server->bundle, &from,
                     a->length < PIECE ? (size_t)a->length : PIECE);
        if (n > 0) a->from += (uint64_t)n, a->length -= (uint64_t)n;
    }
    return n;
}

/* False: the client is gone, or the bundle cannot be read: less was sent than announced. */
static bool transmit(struct connection *c)
{
    struct rs_answer *a = &c->answer;
    ssize_t n = send_piece(c);
    if (n <= 0) return n < 0 && (errno == EAGAIN || errno == EINTR);
    if (a->head_bytes + a->text_bytes + a->length > 0) {
        set_time(c, TO_READ);
        return true;
    }
    if (a->page) {
        c->server->page_given = true;
        event_base_loopbreak(c->server->base); /* rs_serve_run() continues unless it waits for this */
    }
    forget_job(c);
    if (a->close) {
        shutdown(c->fd, SHUT_WR);
        c->have = 0;
        enter(c, LEAVING, EV_READ, TO_LEAVE);
    } else {
        enter(c, ASKING, EV_READ, c->known ? TO_ASK_AGAIN : TO_ASK);
        look_for_request(c); /* it may be there already */
    }
    return true;
}

static void on_io(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    struct connection *c = arg;
    if (!(c->state == ANSWERED ? transmit(c) : receive(c))) drop(c);
}

/* ---- new connections ---- */

/* The connection to close for a new one: the oldest that never had the token, else an idle one. NULL: all are in
 * use. */
static struct connection *least(struct rs_server *s)
{
    struct connection *c = TAILQ_FIRST(&s->unknown);
    if (c != NULL) return c;
    TAILQ_FOREACH(c, &s->known, link)
    {
        if (c->state != ANSWERED && c->state != WAITING) return c;
    }
    return NULL;
}

static void add_connection(struct rs_server *s, int fd)
{
    struct connection *c = rs_alloc(sizeof *c);
    c->server = s;
    c->fd = fd;
    c->known = false;
    c->have = 0;
    c->body = NULL;
    c->file = -1;
    TAILQ_INSERT_TAIL(&s->unknown, c, link);
    s->open++;
    event_assign(&c->io, s->base, fd, EV_READ | EV_PERSIST, on_io, c);
    evtimer_assign(&c->timer, s->base, on_timer, c);
    enter(c, ASKING, EV_READ, TO_ASK);
    if (!receive(c)) drop(c); /* a request with the token that is already here protects it from being closed */
}

/* New ones wait in the kernel's queue. */
static void pause_accepting(struct rs_server *s)
{
    event_del(s->accept);
    event_add(s->again, &(struct timeval){.tv_usec = 50000});
}

static void on_accept(evutil_socket_t listening, short what, void *arg)
{
    (void)what;
    struct rs_server *s = arg;
    for (int i = 0; i < ACCEPTED; i++) {
        struct connection *goes = least(s);
        if (s->open >= s->most && goes == NULL) {
            pause_accepting(s);
            return;
        }
        int fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
            if (goes != NULL) drop(goes);
            pause_accepting(s);
        }
        if (fd < 0) return; /* also if one is gone already: the others are accepted in the next round */
        if (s->open >= s->most) drop(goes);
        add_connection(s, fd);
    }
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    event_add(((struct rs_server *)arg)->accept, NULL);
}

/* ---- start, run and stop ---- */

/* Nothing below src/cli prints. */
static void say_nothing(int severity, const char *message)
{
    (void)severity, (void)message;
}

static enum rs_status listen_on(unsigned port, int *listening, struct rs_err *err)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1, bytes = SEND_BUFFER;
    if (fd < 0) return rs_fail_errno(err, "no socket");
    /* Connections inherit these. */
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, BACKLOG) == 0) {
        *listening = fd;
        return RS_OK;
    }
    enum rs_status status = rs_fail_errno(err, "port %u of 127.0.0.1", port);
    close(fd);
    return status;
}

enum rs_status rs_serve_check(unsigned port, struct rs_err *err)
{
    int fd;
    RS_TRY(listen_on(port, &fd, err));
    close(fd);
    return RS_OK;
}

static unsigned most_connections(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= MOST + SPARE) return MOST;
    return files.rlim_cur > FEWEST + SPARE ? (unsigned)files.rlim_cur - SPARE : FEWEST;
}

static enum rs_status start(struct rs_server *s, struct rs_err *err)
{
    RS_TRY(rs_token_make(s->site.token, err));
    RS_TRY(listen_on(s->port, &s->listening, err));
    struct sockaddr_in at;
    socklen_t n = sizeof at;
    if (getsockname(s->listening, (struct sockaddr *)&at, &n) != 0) return rs_fail_errno(err, "the port");
    s->port = ntohs(at.sin_port);

    event_set_log_callback(say_nothing);
    struct event_config *config = event_config_new();
    if (config != NULL) {
        event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_IGNORE_ENV);
        s->base = event_base_new_with_config(config);
        event_config_free(config);
    }
    if (s->base == NULL) return rs_fail(err, RS_FAILED, "libevent does not start");
    s->accept = event_new(s->base, s->listening, EV_READ | EV_PERSIST, on_accept, s);
    s->again = evtimer_new(s->base, on_again, s);
    if (s->accept == NULL || s->again == NULL || event_add(s->accept, NULL) != 0) rs_memory_out();
    return RS_OK;
}

enum rs_status rs_serve_start(struct rs_server **server, const struct rs_serve_options *options, struct rs_err *err)
{
    *server = NULL;
    struct rs_server *s = rs_zalloc(1, sizeof *s);
    s->site.page = options->page;
    s->site.page_bytes = options->page_bytes;
    s->site.bundle_bytes = options->bundle_bytes;
    s->site.job = options->job.site;
    s->job = options->job;
    rs_site_policy(&s->site);
    s->bundle = options->bundle;
    s->port = options->port;
    s->listening = -1;
    s->most = most_connections();
    TAILQ_INIT(&s->known);
    TAILQ_INIT(&s->unknown);
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
    return server->site.token;
}

static void on_signal(evutil_socket_t fd, short what, void *arg)
{
    (void)what;
    struct rs_server *s = arg;
    struct signalfd_siginfo taken; /* a signal not read here is delivered when the caller unblocks it */
    while (read(fd, &taken, sizeof taken) == sizeof taken) s->ended = true;
    event_base_loopbreak(s->base);
}

static void on_end_of_time(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    struct rs_server *s = arg;
    event_base_loopbreak(s->base);
}

enum rs_status rs_serve_run(struct rs_server *s, const sigset_t *until, unsigned seconds, bool *ended,
                            struct rs_err *err)
{
    s->page_given = s->ended = *ended = false;
    int signals = signalfd(-1, until, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0) return rs_fail_errno(err, "no signals");
    struct event *on_signals = event_new(s->base, signals, EV_READ, on_signal, s);
    struct event *time = evtimer_new(s->base, on_end_of_time, s);
    enum rs_status status = RS_OK;
    if (on_signals == NULL || time == NULL || event_add(on_signals, NULL) != 0 ||
        (seconds > 0 && event_add(time, &(struct timeval){.tv_sec = seconds}) != 0))
        rs_memory_out();
    while (status == RS_OK && !s->ended) {
        if (event_base_dispatch(s->base) < 0) status = rs_fail_errno(err, "waiting for clients");
        if (seconds > 0 && (s->page_given || !evtimer_pending(time, NULL))) break;
    }
    *ended = s->ended;
    if (on_signals != NULL) event_free(on_signals);
    if (time != NULL) event_free(time);
    close(signals);
    return status;
}

bool rs_serve_page_given(const struct rs_server *server)
{
    return server->page_given;
}

void rs_serve_stop(struct rs_server *s)
{
    if (s == NULL) return;
    struct connection *c;
    while ((c = TAILQ_FIRST(&s->unknown)) != NULL || (c = TAILQ_FIRST(&s->known)) != NULL) drop(c);
    stop_waiting(s);
    if (s->accept != NULL) event_free(s->accept);
    if (s->again != NULL) event_free(s->again);
    if (s->base != NULL) event_base_free(s->base);
    if (s->listening >= 0) close(s->listening);
    libevent_global_shutdown();
    free(s);
}

#endif
