/* ringscope serve: the timeline of a run of any size, in a browser, from a web server on this machine alone. */
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/browser.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/reading.h"
#include "cli/view_bundle.h"
#include "serve/serve.h"

enum { BROWSER_SECONDS = 60 }; /* that a browser has to come up and to ask */

struct serve {
    const struct rs_command *self;
    struct rs_view_options view;
    int64_t port;
    bool open;
    int bundle; /* a file without a name */
    struct rs_bundle_sizes sizes;
};

/* ---- what is said ---- */

/* The line that makes the address work on the machine in front of the user. */
static void print_tunnel(unsigned port)
{
    char host[256] = "HOST", option[16] = "";
    const char *connection = getenv("SSH_CONNECTION"); /* client, its port, server, its port */
    const struct passwd *user = getpwuid(getuid());
    gethostname(host, sizeof host - 1);
    host[sizeof host - 1] = 0;
    unsigned ssh = 22;
    if (connection && sscanf(connection, "%*s %*s %*s %u", &ssh) == 1 && ssh != 22)
        snprintf(option, sizeof option, "-p %u ", ssh & 0xffff);
    fprintf(stderr, "%s\n  ssh -N -L %u:127.0.0.1:%u %s%s@%s\n",
            connection ? "You are on another machine; first run this on yours:"
                       : "From another machine, run this there first:",
            port, port, option, user ? user->pw_name : "USER", host);
}

/* The address alone goes to stdout, for scripts. */
static bool print_address(const struct serve *s, const char *address, unsigned port)
{
    bool far = getenv("SSH_CONNECTION") != NULL;
    fprintf(stderr, "%s bars, %s operations, %s\n", rs_text_count(s->sizes.bars).s,
            rs_text_count(s->sizes.operations).s, rs_text_bytes(s->sizes.bytes).s);
    if (far) print_tunnel(port);
    fprintf(stderr, "%s open this address in a browser; Ctrl-C here ends it:\n", far ? "Then" : "Now");
    printf("%s\n", address);
    if (fflush(stdout) != 0) return false;
    if (!far) print_tunnel(port);
    return true;
}

/* ---- the work ---- */

/* Those that end it, but not what our caller wants ignored (nohup). */
static sigset_t signals_to_take(void)
{
    static const int all[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct sigaction now;
        if (sigaction(all[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN) sigaddset(&set, all[i]);
    }
    return set;
}

/* The file that leads the browser here is there until it was used. */
static enum rs_status serve_browser(const struct serve *s, struct rs_server *server, const char *address,
                                    const sigset_t *until, bool *ended, struct rs_err *err)
{
    struct rs_browser browser;
    enum rs_status status = RS_OK;
    if (rs_browser_open(&browser, address, rs_view_temporary_folder(), err) != RS_OK) {
        rs_warn(s->self->name, "no browser could be started (%s): open the address yourself", err->msg);
    } else {
        status = rs_serve_run(server, until, BROWSER_SECONDS, ended, err);
        if (status == RS_OK && !*ended && !rs_serve_page_given(server))
            rs_warn(s->self->name,
                    "the browser has not asked for the page within %d s: open the address yourself. A browser in a "
                    "sandbox (snap) cannot read %s",
                    BROWSER_SECONDS, browser.folder);
    }
    rs_browser_forget(&browser);
    return status;
}

static int serve(struct serve *s, const char *page, size_t page_bytes)
{
    struct rs_serve_options options = {page, page_bytes, s->bundle, s->sizes.bytes, (unsigned)s->port};
    struct rs_server *server;
    struct rs_err err;
    sigset_t set = signals_to_take(), before;
    pthread_sigmask(SIG_BLOCK, &set, &before);
    int status = RS_EXIT_FINE;
    if (rs_serve_start(&server, &options, &err) != RS_OK) {
        status = rs_print_err(s->self->name, &err);
    } else {
        char address[128];
        bool ended = false;
        snprintf(address, sizeof address, "http://127.0.0.1:%u/?t=%s", rs_serve_port(server), rs_serve_token(server));
        if (print_address(s, address, rs_serve_port(server))) {
            enum rs_status bad = s->open ? serve_browser(s, server, address, &set, &ended, &err) : RS_OK;
            if (!bad && !ended) bad = rs_serve_run(server, &set, 0, &ended, &err);
            if (bad) status = rs_print_err(s->self->name, &err);
        } else {
            status = RS_EXIT_FAILURE; /* rs_output_end() says why */
        }
        rs_serve_stop(server);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

/* The bundle is made before the server starts: a browser that asks finds all of it. */
static int make_bundle(const struct rs_command *self, struct rs_inputs *in, void *to)
{
    struct serve *s = to;
    return rs_view_bundle(self, in, &s->view, s->bundle, &s->sizes);
}

static int run(const struct rs_command *self, int argc, char **argv)
{
    struct serve s = {.self = self};
    const struct rs_opt opts[] = {
        {RS_OPT_INT, 'p', "port", &s.port, "N", "the port on 127.0.0.1 (default: one that is free)"},
        {RS_OPT_FLAG, 0, "open", &s.open, NULL, "open the address in the browser of this machine (xdg-open)"},
        {.kind = RS_OPT_END},
    };
    int n, done = rs_common_parse(self, &s.view.common, opts, argc, argv, &n);
    if (done < 0) done = rs_view_options_check(self, &s.view);
    if (done >= 0) return done;
    if (s.port < 0 || s.port > 65535) return rs_opt_usage(self, "--port: 0 to 65535");

    size_t page_bytes;
    const char *page = rs_view_page(self, &page_bytes);
    struct rs_err err;
    if (page == NULL) return RS_EXIT_FAILURE;
    if (rs_serve_check((unsigned)s.port, &err) != RS_OK) return rs_print_err(self->name, &err);
    s.bundle = rs_view_temporary(self);
    if (s.bundle < 0) return RS_EXIT_FAILURE;
    int status = rs_reading_inputs(self, argv + 1, n, s.view.common.run, make_bundle, &s);
    if (!status) status = serve(&s, page, page_bytes);
    close(s.bundle);
    return status;
}

const struct rs_command rs_cmd_serve = {
    .name = "serve",
    .summary = "the timeline of a run of any size in a browser, from a web server on this machine",
    .usage = "[options] IN...",
    .text =
        "Shows what `ringscope view` puts into a file, for runs that are too large for one: the page asks for what it\n"
        "shows, piece by piece. The server answers this machine alone, and only who knows the token in the address.\n"
        "The address goes to stdout, everything else to stderr. Ctrl-C ends it; nothing is left behind.",
    .examples = "ringscope serve rec                    # prints the address, and the ssh line for another machine\n"
                "ringscope serve --port 8080 --open rec # in the browser of this machine\n"
                "ringscope serve --rank 0-7 --level all rec",
    .takes = "draw filter level reading",
    .run = run,
};
