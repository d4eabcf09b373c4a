/* ringscope run: a job with the recorder in it. Sets the environment that NCCL and the plugin read, runs the command,
 * and says where the recording is. Under a launcher every process of the job may call it, with one folder. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "cli/commands.h"
#include "cli/print/output.h"
#include "cli/recorder.h"
#include "format/settings.h"
#include "trace/gather.h"

/* ---- running another program ----
 * Runs another program as if it had been called directly: same terminal, same signals, same end. */

enum { LAUNCH_NOT_EXECUTABLE = 126, LAUNCH_NOT_FOUND = 127 };

/* How the program ended. */
struct launch_end {
    int status; /* exit status; 128 + signal where a signal ended it */
    int signal; /* 0 = none */
};

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

/* The signals to wait for: those above, unless our caller ignores them (nohup), and SIGCHLD. */
static sigset_t signals_to_take(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++) {
        struct sigaction now;
        if (sigaction(passed_on[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN) sigaddset(&set, passed_on[i]);
    }
    return set;
}

/* In the child: becomes the program, or reports errno through the pipe, which closes itself on success. */
static _Noreturn void become(char *const *argv, const sigset_t *mask, const struct sigaction *chld, int report)
{
    sigaction(SIGCHLD, chld, NULL);
    rs_output_restore_signals();
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(argv[0], argv);
    int why = errno;
    ssize_t n = write(report, &why, sizeof(why));
    _exit(n == (ssize_t)sizeof(why) ? LAUNCH_NOT_FOUND : LAUNCH_NOT_EXECUTABLE);
}

static int wait_passing_signals(pid_t child, const sigset_t *set)
{
    int status;
    for (;;) {
        pid_t got = waitpid(child, &status, WNOHANG);
        if (got == child) return status;
        siginfo_t info;
        int sig = sigwaitinfo(set, &info);
        /* What the terminal sends (si_code SI_KERNEL) goes to the whole foreground group: the child has it already. */
        if (sig > 0 && sig != SIGCHLD && info.si_code != SI_KERNEL) kill(child, sig);
    }
}

/* Runs argv (ended by NULL; argv[0] is looked up in PATH) and waits for it. INT, TERM, HUP, QUIT, USR1 and USR2 are
 * passed on. Fails when it could not be started; end->status is then 126 or 127, as a shell would have it. */
static enum rs_status launch(char *const *argv, struct launch_end *end, struct rs_err *err)
{
    *end = (struct launch_end){.status = LAUNCH_NOT_EXECUTABLE};
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) return rs_fail_errno(err, "cannot make a pipe");

    /* Blocked before the fork, so that no signal falls between the child's birth and our waiting for it. A SIGCHLD
     * that our caller ignores would make the kernel reap the child unseen. */
    sigset_t set = signals_to_take(), mask_before;
    struct sigaction usual = {.sa_handler = SIG_DFL}, chld_before;
    sigaction(SIGCHLD, &usual, &chld_before);
    sigprocmask(SIG_BLOCK, &set, &mask_before);

    pid_t child = fork();
    if (child == 0) become(argv, &mask_before, &chld_before, report[1]);
    close(report[1]);
    enum rs_status status = RS_OK;
    int why = 0;
    if (child < 0) {
        status = rs_fail_errno(err, "cannot start another process");
    } else {
        ssize_t n;
        while ((n = read(report[0], &why, sizeof(why))) < 0 && errno == EINTR) continue;
        int wait_status = wait_passing_signals(child, &set);
        if (n == (ssize_t)sizeof(why)) {
            end->status = why == ENOENT || why == ENOTDIR ? LAUNCH_NOT_FOUND : LAUNCH_NOT_EXECUTABLE;
            errno = why;
            status = rs_fail_errno(err, "cannot run '%s'", argv[0]);
        } else if (WIFSIGNALED(wait_status)) {
            end->signal = WTERMSIG(wait_status);
            end->status = 128 + end->signal;
        } else {
            end->status = WEXITSTATUS(wait_status);
        }
    }
    close(report[0]);
    /* Signals that came for a child that was gone by then are no longer of use to anybody. */
    struct timespec now = {0};
    while (sigtimedwait(&set, NULL, &now) > 0) continue;
    sigprocmask(SIG_SETMASK, &mask_before, NULL);
    sigaction(SIGCHLD, &chld_before, NULL);
    return status;
}

/* Ends this process in the way the program ended: by its signal where there was one. Returns the status to exit with
 * otherwise. */
static int launch_mimic(const struct launch_end *end)
{
    if (end->signal != 0) {
        /* The program has left its core; ours would only be in the way. */
        struct rlimit none = {0};
        setrlimit(RLIMIT_CORE, &none);
        struct sigaction usual = {.sa_handler = SIG_DFL};
        sigaction(end->signal, &usual, NULL);
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, end->signal);
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        raise(end->signal);
    }
    return end->status;
}

/* ---- the command ---- */

struct options {
    const char *dir;
    const char *plugin;
    const char *events;
    const char *memory, *limit; /* sizes, as the recorder reads them */
    const char *keep;
    const char *buffers;
    bool print_env;
};

/* ---- the environment ---- */

/* The settings, in the order of --print-env. */
static const char *const variables[] = {
    "NCCL_PROFILER_PLUGIN", "RINGSCOPE_DIR",  "RINGSCOPE_EVENTS",  "RINGSCOPE_MEMORY",
    "RINGSCOPE_LIMIT",      "RINGSCOPE_KEEP", "RINGSCOPE_BUFFERS",
};

static const char *borrow_env(const char *name)
{
    const char *value = getenv(name);
    return value == NULL || *value == '\0' ? NULL : value;
}

static enum rs_status set_env(const char *name, const char *value, struct rs_err *err)
{
    return setenv(name, value, 1) == 0 ? RS_OK : rs_fail_errno(err, "cannot set %s", name);
}

/* A relative path means something else in a program that changes its folder, and on another host. */
static enum rs_status set_absolute(const char *name, const char *path, struct rs_err *err)
{
    if (path[0] == '/') return set_env(name, path, err);
    char *here = getcwd(NULL, 0);
    if (here == NULL) return rs_fail_errno(err, "cannot find the current folder");
    struct rs_strbuf s = {0};
    rs_strbuf_printf(&s, "%s/%s", strcmp(here, "/") == 0 ? "" : here, strncmp(path, "./", 2) == 0 ? path + 2 : path);
    free(here);
    enum rs_status status = RS_OK;
    status = set_env(name, s.data, err);
    rs_strbuf_free(&s);
    return status;
}

static enum rs_status set_plugin(const struct options *o, struct rs_err *err)
{
    char found[PATH_MAX];
    const char *old = borrow_env("NCCL_PROFILER_PLUGIN");
    char *before = old == NULL ? NULL : rs_strdup(old);
    enum rs_status status;
    if (o->plugin != NULL) {
        /* A bare name is looked up by the loader, and with --print-env the file may be in a container only. */
        bool bare = strchr(o->plugin, '/') == NULL;
        bool resolve = !bare && !o->print_env;
        if (resolve && realpath(o->plugin, found) == NULL) {
            status = rs_fail_errno(err, "--plugin %s", o->plugin);
        } else {
            status = set_env("NCCL_PROFILER_PLUGIN", resolve ? found : o->plugin, err);
        }
    } else {
        status = rs_plugin_path(found, err);
        if (status == RS_OK) status = set_env("NCCL_PROFILER_PLUGIN", found, err);
    }
    if (status == RS_OK && before != NULL && strcmp(before, borrow_env("NCCL_PROFILER_PLUGIN")) != 0)
        rs_warn("run", "NCCL_PROFILER_PLUGIN=%s is replaced: NCCL loads one profiler only", before);
    free(before);
    return status;
}

static enum rs_status set_dir(const struct options *o, struct rs_err *err)
{
    const char *dir = o->dir != NULL ? o->dir : borrow_env("RINGSCOPE_DIR");
    const char *job = borrow_env("SLURM_JOB_ID");
    if (dir != NULL) return set_absolute("RINGSCOPE_DIR", dir, err);
    if (job == NULL) return set_absolute("RINGSCOPE_DIR", "ringscope-run", err);
    char name[128];
    snprintf(name, sizeof(name), "ringscope-%s", job);
    return set_absolute("RINGSCOPE_DIR", name, err);
}

/* What the user has set already stays, unless the option is given. */
static enum rs_status set_environment(const struct options *o, struct rs_err *err)
{
    RS_TRY(set_plugin(o, err));
    RS_TRY(set_dir(o, err));
    if (o->events != NULL) RS_TRY(set_env("RINGSCOPE_EVENTS", o->events, err));
    if (o->memory != NULL) RS_TRY(set_env("RINGSCOPE_MEMORY", o->memory, err));
    if (o->limit != NULL) RS_TRY(set_env("RINGSCOPE_LIMIT", o->limit, err));
    if (o->keep != NULL) RS_TRY(set_env("RINGSCOPE_KEEP", o->keep, err));
    if (o->buffers != NULL) RS_TRY(set_env("RINGSCOPE_BUFFERS", o->buffers, err));
    return RS_OK;
}

static void print_environment(void)
{
    struct rs_strbuf s = {0};
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *value = borrow_env(variables[i]);
        if (value == NULL) continue;
        rs_strbuf_printf(&s, "export %s=", variables[i]);
        rs_strbuf_shell_quote(&s, value);
        rs_strbuf_putc(&s, '\n');
    }
    fputs(rs_strbuf_borrow(&s), stdout);
    rs_strbuf_free(&s);
}

/* ---- what was recorded ---- */

/* The recordings of a folder as they were seen: a file that is there afterwards and was not, or has changed, is of this run. Clocks
 * are not compared: the folder may be on a server with a clock of its own. */
struct folder {
    struct rs_dir dir;
    struct stat *st; /* one a name; zeroed where the file went away */
};

static enum rs_status look(struct folder *f, const char *path, struct rs_err *err)
{
    *f = (struct folder){0};
    RS_TRY(rs_dir_list(&f->dir, path, ".rsc", err));
    f->st = rs_zalloc(f->dir.count + 1, sizeof(*f->st));
    for (size_t i = 0; i < f->dir.count; i++) {
        struct rs_strbuf s = {0};
        rs_strbuf_printf(&s, "%s/%s", path, f->dir.names[i]);
        if (stat(s.data, &f->st[i]) != 0) f->st[i] = (struct stat){0};
        rs_strbuf_free(&s);
    }
    return RS_OK;
}

static void forget(struct folder *f)
{
    free(f->st);
    rs_dir_free(&f->dir);
}

/* How many files of `after` are new or changed since `before`. Both lists are sorted. */
static size_t count_new(const struct folder *before, const struct folder *after)
{
    size_t fresh = 0, b = 0;
    for (size_t a = 0; a < after->dir.count; a++) {
        while (b < before->dir.count && strcmp(before->dir.names[b], after->dir.names[a]) < 0) b++;
        bool there = b < before->dir.count && strcmp(before->dir.names[b], after->dir.names[a]) == 0;
        const struct stat *old = &before->st[b], *now = &after->st[a];
        fresh += !there || old->st_ino != now->st_ino || old->st_size != now->st_size ||
                 old->st_mtim.tv_sec != now->st_mtim.tv_sec || old->st_mtim.tv_nsec != now->st_mtim.tv_nsec;
    }
    return fresh;
}

/* Of the processes of a job only the first talks: that whose every rank, in all the words of all launchers, is 0.
 * (Under srun and torchrun together, eight workers have SLURM_PROCID=0, and one of them RANK=0.) */
static bool speaks(void)
{
    static const char *const names[] = {"SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "RANK"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *rank = borrow_env(names[i]);
        if (rank != NULL && strcmp(rank, "0") != 0) return false;
    }
    return true;
}

static void say_where(const char *dir, size_t fresh)
{
    if (fresh > 0) {
        struct rs_strbuf s = {0};
        rs_strbuf_shell_quote(&s, dir);
        /* Quotes only where a shell needs them. */
        bool plain =
            strspn(dir, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@%=") == strlen(dir);
        rs_warn("run", "recorded in %s (%zu process%s so far); next: ringscope report %s", dir, fresh,
                fresh == 1 ? "" : "es", plain ? dir : s.data);
        rs_strbuf_free(&s);
        return;
    }
    rs_warn("run", "nothing was recorded in %s. Likely reasons:", dir);
    fputs("  - the command made no NCCL communicator, or ended before it did\n"
          "  - its NCCL is older than 2.23, which knows no profiler plugins\n"
          "  - its NCCL or its container cannot load the plugin (wrong architecture, path not mounted)\n"
          "  - its processes were started elsewhere without this environment (mpirun: -x NAME; see --print-env)\n"
          "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV shows whether NCCL loaded it.\n",
          stderr);
}

/* ---- the command ---- */

static int check_options(const struct rs_command *self, const struct options *o, int noperands)
{
    uint64_t bytes;
    int bad = rs_event_sets_check(self, o->events);
    if (bad >= 0) return bad;
    if (o->memory != NULL &&
        (!rs_setting_bytes(o->memory, &bytes) || bytes < RS_MEMORY_LEAST || bytes > RS_MEMORY_MOST))
        return rs_opt_usage(self, "--memory %s: expected a size from 4M to 1G", o->memory);
    if (o->limit != NULL && (!rs_setting_bytes(o->limit, &bytes) || (bytes != 0 && bytes < RS_LIMIT_LEAST)))
        return rs_opt_usage(self, "--limit %s: expected a size of 1M or more", o->limit);
    if (o->keep != NULL && strcmp(o->keep, "first") != 0 && strcmp(o->keep, "last") != 0)
        return rs_opt_usage(self, "--keep %s: expected first or last", o->keep);
    if (o->buffers != NULL && strcmp(o->buffers, "shm") != 0 && strcmp(o->buffers, "disk") != 0 &&
        strcmp(o->buffers, "memory") != 0)
        return rs_opt_usage(self, "--buffers %s: expected shm, disk or memory", o->buffers);
    if (o->dir != NULL && *o->dir == '\0') return rs_opt_usage(self, "-o needs the name of a folder");
    if (o->print_env && noperands > 0) return rs_opt_usage(self, "--print-env runs no command");
    if (!o->print_env && noperands == 0) return rs_opt_usage(self, "no command to run");
    return -1;
}

static int run(const struct rs_command *self, int argc, char **argv)
{
    struct options o = {0};
    const struct rs_opt opts[] = {
        {RS_OPT_STRING, 'o', "output", &o.dir, "DIR",
         "folder of the recording (ringscope-$SLURM_JOB_ID or ringscope-run)"},
        RS_EVENTS_OPTION('e', &o.events),
        {RS_OPT_STRING, 0, "memory", &o.memory, "SIZE", "memory of the recorder per process (64M)"},
        {RS_OPT_STRING, 0, "limit", &o.limit, "SIZE", "largest recording of a process (no limit)"},
        {RS_OPT_STRING, 0, "keep", &o.keep, "WHICH", "past the limit keep the first (default) or the last events"},
        {RS_OPT_STRING, 0, "buffers", &o.buffers, "WHERE", "buffers in shm (default), on disk, or in private memory"},
        {RS_OPT_STRING, 0, "plugin", &o.plugin, "FILE", "use this plugin, not the one that came with ringscope"},
        {RS_OPT_FLAG, 0, "print-env", &o.print_env, NULL, "print the settings as shell commands, run nothing"},
        {0},
    };
    int n;
    int status = rs_opt_parse(self, opts, argc, argv, &n);
    if (status == -1) status = check_options(self, &o, n);
    if (status != -1) return status;

    struct rs_err err;
    if (set_environment(&o, &err) != RS_OK) return rs_print_err("run", &err);
    if (o.print_env) {
        print_environment();
        return RS_EXIT_FINE;
    }
    const char *dir = borrow_env("RINGSCOPE_DIR");
    struct folder before, after;
    if (rs_dir_make(dir, &err) != RS_OK || look(&before, dir, &err) != RS_OK) return rs_print_err("run", &err);

    if (access(dir, W_OK)) rs_warn("run", "%s cannot be written by this user: nothing will be recorded", dir);

    argv[1 + n] = NULL;
    struct launch_end end;
    enum rs_status launched = launch(argv + 1, &end, &err);
    if (launched != RS_OK) {
        rs_print_err("run", &err);
    } else {
        struct rs_gather_result brought;
        struct rs_err ignored; /* another rank may be bringing the same file; `ringscope gather` says what is wrong */
        if (rs_gather_needed()) rs_gather_dir(dir, &brought, &ignored);
    }
    if (launched == RS_OK && speaks()) {
        if (look(&after, dir, &err) == RS_OK) {
            say_where(dir, count_new(&before, &after));
            forget(&after);
        } else {
            rs_print_err("run", &err);
        }
    }
    forget(&before);
    return launch_mimic(&end);
}

const struct rs_command rs_cmd_run = {
    .name = "run",
    .summary = "run a job with the recorder in it",
    .usage = "[options] [--] CMD [ARG...]\n       ringscope run [options] --print-env",
    .text = "Runs CMD with the environment that makes NCCL load the recorder, passes signals and the exit status on,\n"
            "and says at the end where the recording is. Under srun, mpirun or torchrun each process calls it with\n"
            "the same folder. Settings that are in the environment already stay, unless the option is given.",
    .lists = rs_event_sets_list,
    .examples = "ringscope run -o rec -- python train.py\n"
                "srun ringscope run -o rec --events ops -- ./train            # one folder for all ranks\n"
                "torchrun --nproc-per-node 8 --no-python ringscope run -o rec -- python train.py\n"
                "ringscope run --limit 1G --keep last -- ./job                # a flight recorder\n"
                "eval \"$(ringscope run -o /data/rec --print-env)\"             # for another shell or a container",
    .run = run,
    .operands_last = true,
};
