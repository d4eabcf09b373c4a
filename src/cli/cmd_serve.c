/* ringscope serve: the timeline of a run of any size, in a browser, from a web server on this machine alone. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/print/output.h"
#include "cli/reading.h"
#include "cli/serve_sql.h"
#include "cli/view_bundle.h"
#include "serve/serve.h"

/* ---- the browser ----
 * Opens an address with a secret in it in the browser of this machine.
 *
 * What a program is started with, everybody on the machine can read. So the browser is given the name of a file that
 * only this user can read, with a page in it that leads to the address. */

struct browser {
    char folder[PATH_MAX + 20], file[PATH_MAX + 40]; /* empty: there is none */
};

extern char **environ;

/* Where others can read nothing: the user's own folder for the time of the session, where there is one. */
static const char *place(const char *temporary)
{
    const char *session = getenv("XDG_RUNTIME_DIR");
    struct stat st;
    bool fine = session != NULL && session[0] == '/' && lstat(session, &st) == 0 && S_ISDIR(st.st_mode) &&
                st.st_uid == geteuid() && (st.st_mode & 077) == 0;
    return fine ? session : temporary;
}

static enum rs_status write_file(struct browser *b, const char *address, const char *temporary, struct rs_err *err)
{
    /* A path that begins with "-" would be taken for an option, and a relative one be looked for elsewhere. */
    char parent[PATH_MAX];
    if (realpath(place(temporary), parent) == NULL) return rs_fail_errno(err, "%s", place(temporary));
    snprintf(b->folder, sizeof b->folder, "%s/ringscope-XXXXXX", parent);
    if (mkdtemp(b->folder) == NULL) {
        b->folder[0] = 0;
        return rs_fail_errno(err, "%s", parent);
    }
    snprintf(b->file, sizeof b->file, "%s/timeline.html", b->folder);
    int fd = open(b->file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (file == NULL) return rs_fail_errno(err, "%s", b->file);
    fprintf(file,
            "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"
            "<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n<title>ringscope</title>\n"
            "<a href=\"%s\">the timeline</a>\n",
            address, address);
    bool fine = ferror(file) == 0;
    fine = fclose(file) == 0 && fine;
    return fine ? RS_OK : rs_fail_errno(err, "%s", b->file);
}

static enum rs_status start(char *file, struct rs_err *err)
{
    char program[] = "xdg-open", *const argv[] = {program, file, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawn_file_actions_init(&files);
    for (int fd = 0; fd < 3; fd++) posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &usual);
    pid_t child;
    errno = posix_spawnp(&child, argv[0], &files, &how, argv, environ);
    enum rs_status status = errno == 0 ? RS_OK : rs_fail_errno(err, "%s", argv[0]);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return status;
}

/* Writes the file, in a new folder in XDG_RUNTIME_DIR or else `temporary`, and starts xdg-open with its name. The file
 * is there until browser_forget(), which is to be called in any case. */
static enum rs_status browser_open(struct browser *b, const char *address, const char *temporary, struct rs_err *err)
{
    b->folder[0] = b->file[0] = 0;
    RS_TRY(write_file(b, address, temporary, err));
    return start(b->file, err);
}

static void browser_forget(struct browser *b)
{
    if (b->file[0]) unlink(b->file);
    if (b->folder[0]) rmdir(b->folder);
    b->folder[0] = b->file[0] = 0;
}

/* ---- the command ---- */

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

/* Those that end it, except those that our caller ignores (nohup). */
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
    struct browser browser;
    enum rs_status status = RS_OK;
    if (browser_open(&browser, address, rs_view_temporary_folder(), err) != RS_OK) {
        rs_warn(s->self->name, "no browser could be started (%s): open the address yourself", err->msg);
    } else {
        status = rs_serve_run(server, until, BROWSER_SECONDS, ended, err);
        if (status == RS_OK && !*ended && !rs_serve_page_given(server))
            rs_warn(s->self->name,
                    "the browser has not asked for the page within %d s: open the address yourself. A browser in a "
                    "sandbox (snap) cannot read %s",
                    BROWSER_SECONDS, browser.folder);
    }
    browser_forget(&browser);
    return status;
}

static int serve(struct serve *s, const char *page, size_t page_bytes, char **paths, int n)
{
    struct rs_serve_sql *sql = rs_serve_sql_new(s->self, &s->view, paths, n);
    struct rs_serve_options options = {.page = page,
                                       .page_bytes = page_bytes,
                                       .bundle = s->bundle,
                                       .bundle_bytes = s->sizes.bytes,
                                       .port = (unsigned)s->port,
                                       .job = rs_serve_sql_job(sql)};
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
    rs_serve_sql_free(sql); /* the signals are still blocked: nothing is left behind */
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
    if (!status) status = serve(&s, page, page_bytes, argv + 1, n);
    close(s.bundle);
    return status;
}

const struct rs_command rs_cmd_serve = {
    .name = "serve",
    .summary = "the timeline of a run of any size in a browser, from a web server on this machine",
    .usage = "[options] IN...",
    .text = "Shows the page of `ringscope view` for runs that are too large for one file: the page loads what it "
            "shows,\n"
            "and its panel SQL runs queries. The server accepts requests from this machine only, with the token in its "
            "URL.\n"
            "The URL goes to stdout, everything else to stderr. Ctrl-C ends it; nothing is left behind.",
    .examples = "ringscope serve rec                    # prints the URL, and the ssh line for another machine\n"
                "ringscope serve --port 8080 --open rec # in the browser of this machine\n"
                "ringscope serve --rank 0-7 --level all rec",
    .takes = "draw filter level reading",
    .run = run,
};
