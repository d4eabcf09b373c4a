#include "cli/serve_sql.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/exit.h"
#include "cli/sql.h"

/* Limits of a query. docs/man/ringscope-serve.1.scd lists them. */
enum {
    MOST_BYTES = 64 << 10, /* of its text */
    MOST_ROWS = 1000,
    MOST_SECONDS = 10, /* not counting the reading of the inputs */
    MOST_FILE = 1 << 30, /* bytes of its result, and of what is sorted on disk */
};

enum { CUT = 100 }; /* exit status of a child: fine, but there are more rows */

struct rs_serve_sql {
    const struct rs_command *self;
    struct rs_view_options *view;
    char **paths;
    int n;
    char folder[PATH_MAX], database[PATH_MAX + 16], part[PATH_MAX + 32]; /* folder empty: not made yet */
    struct rs_strbuf tables; /* description */
    pid_t child; /* 0: none */
    int out, said; /* files without names: its stdout and stderr */
};

/* ---- the child ---- */

/* Descriptors of the server, such as connections, must not stay open because of a child. The pipe is 3 then. */
static bool keep_only(int in, int out, int said, int end)
{
    enum { MOST_FILES = 2048 }; /* more than the server opens */
    bool fine = dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && dup2(said, 2) >= 0 && dup2(end, 3) >= 0;
    for (int fd = 4; fd < MOST_FILES; fd++) close(fd);
    return fine;
}

/* RINGSCOPE_TEST_QUERY_SECONDS: fewer, for tests. */
static unsigned seconds(void)
{
    const char *text = getenv("RINGSCOPE_TEST_QUERY_SECONDS");
    unsigned long n = text ? strtoul(text, NULL, 10) : 0;
    return n > 0 && n < MOST_SECONDS ? (unsigned)n : MOST_SECONDS;
}

/* From here on the kernel ends what takes too long or writes too much. */
static void limit(void)
{
    const struct rlimit file = {MOST_FILE, MOST_FILE}, no_core = {0, 0};
    setrlimit(RLIMIT_FSIZE, &file);
    setrlimit(RLIMIT_CORE, &no_core);
    alarm(seconds());
}

static int work(struct rs_serve_sql *s, const char *sql)
{
    bool cut;
    if (access(s->database, F_OK) != 0) {
        unlink(s->part); /* of a child that was killed */
        int bad = rs_sql_make(s->self, s->view, s->paths, s->n, s->part);
        if (bad) return RS_EXIT_FAILURE; /* the query is not to blame */
        if (rename(s->part, s->database) != 0) return RS_EXIT_FAILURE;
    }
    limit();
    int status = rs_sql_ask(s->self, s->database, sql, MOST_ROWS, &cut);
    return status ? status : cut ? CUT : RS_EXIT_FINE;
}

static _Noreturn void run_child(struct rs_serve_sql *s, pid_t server, int end, const char *body, size_t bytes)
{
    sigset_t none;
    sigemptyset(&none);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != server) _exit(RS_EXIT_FAILURE);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (!keep_only(nothing, s->out, s->said, end)) _exit(RS_EXIT_FAILURE);
    signal(SIGALRM, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (memchr(body, 0, bytes) != NULL) {
        fputs("the query contains a 0 byte\n", stderr);
        _exit(RS_EXIT_USAGE);
    }
    struct rs_strbuf sql = {0};
    rs_strbuf_add(&sql, body, bytes);
    int status = work(s, rs_strbuf_borrow(&sql));
    fflush(NULL);
    _exit(status);
}

/* ---- the server's side ---- */

static bool make_folder(struct rs_serve_sql *s)
{
    if (s->folder[0]) return true;
    int n = snprintf(s->folder, sizeof s->folder, "%s/ringscope-XXXXXX", rs_view_temporary_folder());
    if (n < 0 || (size_t)n >= sizeof s->folder || mkdtemp(s->folder) == NULL) {
        s->folder[0] = 0;
        return false;
    }
    snprintf(s->database, sizeof s->database, "%s/run.sqlite", s->folder);
    snprintf(s->part, sizeof s->part, "%s.part", s->database);
    return true;
}

static void close_files(struct rs_serve_sql *s)
{
    if (s->out >= 0) close(s->out);
    if (s->said >= 0) close(s->said);
    s->out = s->said = -1;
}

static int start(void *context, const char *body, size_t bytes)
{
    struct rs_serve_sql *s = context;
    int end[2] = {-1, -1};
    pid_t server = getpid();
    s->out = rs_view_temporary(s->self);
    s->said = rs_view_temporary(s->self);
    bool fine = s->out >= 0 && s->said >= 0 && make_folder(s) && pipe2(end, O_CLOEXEC) == 0;
    s->child = fine ? fork() : -1;
    if (s->child == 0) run_child(s, server, end[1], body, bytes);
    if (end[1] >= 0) close(end[1]);
    if (s->child > 0) return end[0];
    if (end[0] >= 0) close(end[0]);
    s->child = 0;
    close_files(s);
    return -1;
}

/* What went wrong, if the query could not say it itself. */
static void explain(int said, int status)
{
    if (!WIFSIGNALED(status)) return;
    if (WTERMSIG(status) == SIGALRM)
        dprintf(said, "the query was stopped after %u s\n", seconds());
    else if (WTERMSIG(status) == SIGXFSZ)
        dprintf(said, "the query was stopped: it writes more than %d MiB\n", MOST_FILE >> 20);
    else
        dprintf(said, "the query was ended by signal %d\n", WTERMSIG(status));
}

static void end(void *context, struct rs_serve_result *r)
{
    struct rs_serve_sql *s = context;
    int status = 0;
    while (waitpid(s->child, &status, 0) < 0 && errno == EINTR) continue;
    s->child = 0;
    bool cut = WIFEXITED(status) && WEXITSTATUS(status) == CUT;
    bool fine = cut || (WIFEXITED(status) && WEXITSTATUS(status) == RS_EXIT_FINE);
    bool mistake = WIFEXITED(status) && WEXITSTATUS(status) == RS_EXIT_USAGE;
    bool stopped = WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXFSZ);
    explain(s->said, status);
    *r = (struct rs_serve_result){
        .status = fine                 ? 200
                  : mistake || stopped ? 400
                                       : 500,
        .type = fine ? "application/jsonl" : "text/plain; charset=utf-8",
        .headers = cut ? "Ringscope-More-Rows: yes\r\n" : "",
        .file = fine ? s->out : s->said,
    };
    struct stat st;
    if (fstat(r->file, &st) == 0) r->bytes = (uint64_t)st.st_size;
    *(fine ? &s->out : &s->said) = -1; /* the server's now */
    close_files(s);
}

struct rs_serve_sql *rs_serve_sql_new(const struct rs_command *self, struct rs_view_options *view, char **paths, int n)
{
    if (!rs_sql_is_there()) return NULL;
    struct rs_serve_sql *s = rs_zalloc(1, sizeof *s);
    s->self = self;
    s->view = view;
    s->paths = paths;
    s->n = n;
    s->out = s->said = -1;
    rs_sql_describe(&s->tables);
    return s;
}

struct rs_serve_job rs_serve_sql_job(struct rs_serve_sql *s)
{
    if (s == NULL) return (struct rs_serve_job){0};
    return (struct rs_serve_job){
        .site = {.path = "/sql",
                 .about = rs_strbuf_borrow(&s->tables),
                 .about_bytes = s->tables.len,
                 .most = MOST_BYTES,
                 .busy = "another query is still running; try again when it has ended\n"},
        .start = start,
        .end = end,
        .context = s,
    };
}

void rs_serve_sql_free(struct rs_serve_sql *s)
{
    if (s == NULL) return;
    if (s->child > 0) {
        kill(s->child, SIGKILL);
        while (waitpid(s->child, NULL, 0) < 0 && errno == EINTR) continue;
    }
    close_files(s);
    if (s->folder[0]) {
        unlink(s->part);
        unlink(s->database);
        rmdir(s->folder);
    }
    rs_strbuf_free(&s->tables);
    free(s);
}
