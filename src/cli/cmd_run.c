/* ringscope run: a job with the recorder in it. Sets the environment that NCCL and the plugin read, runs the command,
 * and says where the recording is. Under a launcher every process of the job may call it, with one folder. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "cli/commands.h"
#include "cli/launch.h"
#include "cli/print/output.h"
#include "cli/recorder.h"
#include "format/settings.h"
#include "trace/gather.h"

/* ---- the command ---- */

struct options {
    struct rs_recorder_settings set;
    bool print_env;
};

/* ---- --print-env ---- */

/* The settings, in the order of --print-env. */
static const char *const variables[] = {
    "NCCL_PROFILER_PLUGIN", "RINGSCOPE_DIR",   "RINGSCOPE_EVENTS", "RINGSCOPE_DETAIL",  "RINGSCOPE_TRIGGERS",
    "RINGSCOPE_MEMORY",     "RINGSCOPE_LIMIT", "RINGSCOPE_KEEP",   "RINGSCOPE_BUFFERS",
};

static const char *borrow_env(const char *name)
{
    const char *value = getenv(name);
    return value == NULL || *value == '\0' ? NULL : value;
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

static void say_where(const char *dir, size_t fresh, struct rs_watch *watch)
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
    rs_warn("run", "nothing was recorded in %s:", dir);
    rs_watch_finish(watch);
    size_t n;
    char **reasons = rs_watch_reasons(watch, &n);
    for (size_t i = 0; i < n; i++) {
        fprintf(stderr, "  - %s\n", reasons[i]);
        free(reasons[i]);
    }
    free(reasons);
    fputs("ringscope doctor -- CMD checks this host and the command; NCCL_DEBUG=INFO shows what NCCL loads.\n", stderr);
}

/* ---- the command ---- */

static int check_options(const struct rs_command *self, const struct options *o, int noperands)
{
    uint64_t bytes;
    int bad = rs_event_sets_check(self, o->set.events);
    if (bad < 0) bad = rs_detail_check(self, o->set.detail);
    if (bad >= 0) return bad;
    if (o->set.memory != NULL &&
        (!rs_setting_bytes(o->set.memory, &bytes) || bytes < RS_MEMORY_LEAST || bytes > RS_MEMORY_MOST))
        return rs_opt_usage(self, "--memory %s: expected a size from 4M to 1G", o->set.memory);
    if (o->set.limit != NULL && (!rs_setting_bytes(o->set.limit, &bytes) || (bytes != 0 && bytes < RS_LIMIT_LEAST)))
        return rs_opt_usage(self, "--limit %s: expected a size of 1M or more", o->set.limit);
    if (o->set.keep != NULL && strcmp(o->set.keep, "first") != 0 && strcmp(o->set.keep, "last") != 0)
        return rs_opt_usage(self, "--keep %s: expected first or last", o->set.keep);
    if (o->set.buffers != NULL && strcmp(o->set.buffers, "shm") != 0 && strcmp(o->set.buffers, "disk") != 0 &&
        strcmp(o->set.buffers, "memory") != 0)
        return rs_opt_usage(self, "--buffers %s: expected shm, disk or memory", o->set.buffers);
    if (o->set.dir != NULL && *o->set.dir == '\0') return rs_opt_usage(self, "-o needs the name of a folder");
    if (o->print_env && noperands > 0) return rs_opt_usage(self, "--print-env runs no command");
    if (!o->print_env && noperands == 0) return rs_opt_usage(self, "no command to run");
    return -1;
}

static int run(const struct rs_command *self, int argc, char **argv)
{
    struct options o = {0};
    const struct rs_opt opts[] = {
        {RS_OPT_STRING, 'o', "output", &o.set.dir, "DIR",
         "folder of the recording (ringscope-$SLURM_JOB_ID or ringscope-run)"},
        RS_EVENTS_OPTION('e', &o.set.events),
        RS_DETAIL_OPTION(&o.set.detail),
        {RS_OPT_STRING, 0, "memory", &o.set.memory, "SIZE", "memory of the recorder per process (64M)"},
        {RS_OPT_STRING, 0, "limit", &o.set.limit, "SIZE", "largest recording of a process (no limit)"},
        {RS_OPT_STRING, 0, "keep", &o.set.keep, "WHICH", "past the limit keep the first (default) or the last events"},
        {RS_OPT_STRING, 0, "buffers", &o.set.buffers, "WHERE",
         "buffers in shm (default), on disk, or in private memory"},
        {RS_OPT_STRING, 0, "plugin", &o.set.plugin, "FILE", "use this plugin, not the one that came with ringscope"},
        {RS_OPT_FLAG, 0, "print-env", &o.print_env, NULL, "print the settings as shell commands, run nothing"},
        {0},
    };
    int n;
    int status = rs_opt_parse(self, opts, argc, argv, &n);
    if (status == -1) status = check_options(self, &o, n);
    if (status != -1) return status;

    struct rs_err err;
    o.set.elsewhere = o.print_env;
    if (rs_recorder_set(self->name, &o.set, &err) != RS_OK) return rs_print_err("run", &err);
    if (o.print_env) {
        print_environment();
        return RS_EXIT_FINE;
    }
    const char *dir = borrow_env("RINGSCOPE_DIR");
    struct folder before, after;
    if (rs_dir_make(dir, &err) != RS_OK || look(&before, dir, &err) != RS_OK) return rs_print_err("run", &err);

    if (access(dir, W_OK)) rs_warn("run", "%s cannot be written by this user: nothing will be recorded", dir);

    argv[1 + n] = NULL;
    struct rs_launch_end end;
    struct rs_watch watch;
    rs_watch_init(&watch, borrow_env("NCCL_PROFILER_PLUGIN"), true);
    enum rs_status launched = rs_launch(argv + 1, speaks() ? &watch : NULL, &end, &err);
    if (launched != RS_OK) {
        rs_print_err("run", &err);
    } else {
        struct rs_gather_result brought;
        struct rs_err ignored; /* another rank may be bringing the same file; `ringscope gather` says what is wrong */
        if (rs_gather_needed()) rs_gather_dir(dir, &brought, &ignored);
    }
    if (launched == RS_OK && speaks()) {
        if (look(&after, dir, &err) == RS_OK) {
            say_where(dir, count_new(&before, &after), &watch);
            forget(&after);
        } else {
            rs_print_err("run", &err);
        }
    }
    forget(&before);
    rs_watch_free(&watch);
    return rs_launch_mimic(&end);
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
                "srun ringscope run -o rec --detail 200ms:10s -- ./train      # cheap enough to leave on\n"
                "ringscope run --limit 1G --keep last -- ./job                # a flight recorder\n"
                "eval \"$(ringscope run -o /data/rec --print-env)\"             # for another shell or a container",
    .run = run,
    .operands_last = true,
};
