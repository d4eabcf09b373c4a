/* Clients of `ringscope serve`, many at a time, polite and not.
 *
 *   crowd PORT hold N              N that never complete a request: a third says nothing, a third stops in the middle,
 *                                  a third sends a byte now and then. Who is put out comes back. Until it is killed.
 *   crowd PORT deaf N REQUEST      N that send REQUEST many times over and never read. Until it is killed.
 *   crowd PORT get N REQUEST       N that connect, then all send REQUEST, and read until the server closes.
 *   crowd PORT pipeline N REQUEST  one that sends REQUEST N times at once, and reads until the server closes.
 *
 * "ready" is printed when all are connected and have sent what they send first; of `get` and `pipeline` then how many
 * answers began with "HTTP/1.1 2", how many bytes came in all, and the milliseconds that the slowest took. Escapes \r and
 * \n in REQUEST are understood. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 4096, TIMES = 64, SLOWLY_MS = 250, GIVE_UP_MS = 300000 };

static struct pollfd clients[MOST];
static char request[8192];
static int port;

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void must(int fine, const char *what)
{
    if (fine) return;
    fprintf(stderr, "crowd: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int connected(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    must(fd >= 0, "socket");
    must(connect(fd, (struct sockaddr *)&at, sizeof at) == 0, "connect");
    return fd;
}

static void unescape(const char *text)
{
    size_t n = 0;
    for (; *text && n + 1 < sizeof request; text++) {
        if (text[0] == '\\' && (text[1] == 'r' || text[1] == 'n'))
            request[n++] = *++text == 'r' ? '\r' : '\n';
        else
            request[n++] = *text;
    }
}

static void say(int fd, const char *bytes, size_t n)
{
    ssize_t done = send(fd, bytes, n, MSG_DONTWAIT);
    (void)done; /* put out meanwhile: seen when it is looked at */
}

static void begin_hold(int i)
{
    static const char part[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Y: ";
    clients[i] = (struct pollfd){connected(), POLLIN, 0};
    if (i % 3 != 0) say(clients[i].fd, part, sizeof part - 1);
}

static void hold(int n)
{
    for (int i = 0; i < n; i++) begin_hold(i);
    puts("ready");
    fflush(stdout);
    for (;;) {
        poll(clients, (nfds_t)n, SLOWLY_MS);
        for (int i = 0; i < n; i++) {
            if (clients[i].revents != 0) {
                close(clients[i].fd);
                begin_hold(i);
            } else if (i % 3 == 2) {
                say(clients[i].fd, "y", 1);
            }
        }
        usleep(SLOWLY_MS * 1000);
    }
}

static void deaf(int n)
{
    for (int i = 0; i < n; i++) {
        clients[i].fd = connected();
        for (int k = 0; k < TIMES; k++) say(clients[i].fd, request, strlen(request));
    }
    puts("ready");
    fflush(stdout);
    for (;;) pause();
}

/* Reads all until the server closes. */
static void read_all(int n, int64_t from)
{
    static char bytes[1 << 16];
    uint64_t good = 0, all = 0;
    int left = n;
    int64_t slowest = 0;
    while (left > 0 && now_ms() - from < GIVE_UP_MS) {
        poll(clients, (nfds_t)n, 1000);
        for (int i = 0; i < n; i++) {
            if (clients[i].fd < 0 || clients[i].revents == 0) continue;
            ssize_t got = recv(clients[i].fd, bytes, sizeof bytes, MSG_DONTWAIT);
            for (const char *at = bytes; got > 0 && (at = memmem(at, (size_t)(bytes + got - at), "HTTP/1.1 2", 10));
                 at++)
                good++;
            if (got > 0) all += (uint64_t)got;
            if (got > 0 || (got < 0 && errno == EAGAIN)) continue;
            close(clients[i].fd);
            clients[i].fd = -1;
            slowest = now_ms() - from;
            left--;
        }
    }
    printf("%llu %llu %lld\n", (unsigned long long)good, (unsigned long long)all, (long long)slowest);
}

static void get(int n)
{
    for (int i = 0; i < n; i++) clients[i] = (struct pollfd){connected(), POLLIN, 0};
    puts("ready");
    int64_t from = now_ms();
    for (int i = 0; i < n; i++) say(clients[i].fd, request, strlen(request));
    read_all(n, from);
}

static void pipeline(size_t n)
{
    int64_t from = now_ms();
    clients[0] = (struct pollfd){connected(), POLLIN, 0};
    puts("ready");
    fflush(stdout);
    if (fork() == 0) { /* one writes, one reads: neither waits for the other */
        for (size_t i = 0; i < n; i++)
            for (size_t done = 0; done < strlen(request);) {
                ssize_t k = write(clients[0].fd, request + done, strlen(request) - done);
                must(k > 0, "write");
                done += (size_t)k;
            }
        shutdown(clients[0].fd, SHUT_WR);
        exit(0);
    }
    read_all(1, from);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    struct rlimit files;
    must(argc > 3 && getrlimit(RLIMIT_NOFILE, &files) == 0, "usage: crowd PORT hold|deaf|get|pipeline N [REQUEST]");
    files.rlim_cur = files.rlim_max < 2 * MOST ? files.rlim_max : 2 * MOST;
    setrlimit(RLIMIT_NOFILE, &files);
    port = atoi(argv[1]);
    int n = atoi(argv[3]);
    if (argc > 4) unescape(argv[4]);
    if (strcmp(argv[2], "pipeline") == 0) {
        pipeline((size_t)n);
        return 0;
    }
    must(n > 0 && n <= MOST, "N");
    if (strcmp(argv[2], "hold") == 0) hold(n);
    if (strcmp(argv[2], "deaf") == 0) deaf(n);
    get(n);
    return 0;
}
