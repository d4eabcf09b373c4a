#include "cli/reading.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/commands.h"
#include "cli/matches.h"
#include "cli/notes.h"
#include "cli/print/output.h"
#include "foreign/formats.h"
#include "import/import.h"
#include "join/join.h"

void rs_reading_progress(size_t done, size_t all)
{
    static struct timespec begin;
    static bool shown;
    struct timespec now;
    if (!isatty(STDERR_FILENO)) return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (done <= 1 || !begin.tv_sec) begin = now;
    if (shown && done == all) {
        fprintf(stderr, "\r\033[K");
        shown = false;
    } else if (now.tv_sec - begin.tv_sec >= 1 && done < all) { /* short work shows nothing */
        fprintf(stderr, "\r\033[Kreading %zu of %zu files", done, all);
        shown = true;
    }
}

static enum rs_status choose(struct rs_inputs *in, const char *run, struct rs_err *err)
{
    int64_t number;
    if (!run) return rs_inputs_choose(in, RS_RUN_NEWEST, err);
    if (!strcmp(run, "all")) return rs_inputs_choose(in, RS_RUN_ALL, err);
    if (!rs_opt_int(run, &number) || number < 0)
        return rs_fail(err, RS_BAD_INPUT, "--run takes a number or 'all', not '%s'", run);
    return rs_inputs_choose(in, (long)number, err);
}

int rs_reading_open(const struct rs_command *cmd, struct rs_inputs *in, char *const *paths, size_t npaths,
                    const char *run)
{
    struct rs_err err;
    if (!npaths)
        return rs_opt_usage(cmd, "nothing to read: name recordings, traces of other tools, or folders of them");
    if (rs_inputs_open_deep(in, paths, npaths, rs_formats_is_trace, rs_reading_progress, &err) != RS_OK)
        return rs_print_err(cmd->name, &err);
    if (rs_formats_recognise(in, &err) != RS_OK) {
        rs_inputs_close(in);
        return rs_print_err(cmd->name, &err);
    }
    rs_notes_say_unreadable(cmd->name, in, cmd == &rs_cmd_info);
    if (in->deep)
        rs_warn(cmd->name, "%s: reading the %zu folder%s in it (%zu recording%s, %zu file%s of other tools)", in->deep,
                in->ndeep, in->ndeep == 1 ? "" : "s", in->n, in->n == 1 ? "" : "s", in->nothers,
                in->nothers == 1 ? "" : "s");
    size_t runs = in->nruns, before = in->n;
    int bad = rs_reading_choose(cmd, in, run);
    if (bad) {
        rs_inputs_close(in);
        return bad;
    }
    if (!run && runs > 1)
        rs_warn(cmd->name,
                "%zu runs here; reading the newest, %zu of %zu processes (--run 0..%zu for another, --run all)", runs,
                in->n, before, runs - 1);
    return 0;
}

int rs_reading_choose(const struct rs_command *cmd, struct rs_inputs *in, const char *run)
{
    struct rs_err err;
    enum rs_status status = choose(in, run, &err);
    if (status == RS_BAD_INPUT) return rs_opt_usage(cmd, "%s", err.msg);
    return status == RS_OK ? 0 : rs_print_err(cmd->name, &err);
}

/* Live files of ended processes keep the room that these had reserved. */
static void hint_at_gather(const struct rs_command *cmd, const struct rs_inputs *in)
{
    enum { MUCH = 32 << 20 }; /* bytes */
    size_t files = 0;
    uint64_t bytes = 0;
    const char *first = NULL;
    for (size_t i = 0; i < in->n; i++) {
        const struct rs_recording *r = in->sources[i].recording;
        struct stat st;
        if (!r->live_path || rs_may_run(r->alive) || stat(r->live_path, &st)) continue;
        if (!files++) first = r->path;
        bytes += (uint64_t)st.st_blocks * 512; /* as stat(2) counts them: copies are sparse */
    }
    const char *slash = first ? strrchr(first, '/') : NULL;
    if (bytes >= MUCH)
        rs_warn(cmd->name, "%zu live file%s of ended processes take%s %s: `ringscope gather %.*s` makes them small",
                files, files == 1 ? "" : "s", files == 1 ? "s" : "", rs_text_bytes(bytes).s,
                slash ? (int)(slash - first) : 1, slash ? first : ".");
}

void rs_reading_complaints(const struct rs_command *cmd, const struct rs_inputs *in)
{
    if (cmd == &rs_cmd_info || cmd == &rs_cmd_hang) hint_at_gather(cmd, in);
    rs_notes_say_damage(cmd->name, in, cmd == &rs_cmd_info);
    enum { MOST = 5 }; /* of one file; info --json has them all */
    size_t lives = 0;
    const struct rs_recording *first_live = NULL;
    for (size_t i = 0; i < in->n; i++) {
        const struct rs_recording *r = in->sources[i].recording;
        for (size_t k = 0; k < r->ndamages && k < MOST; k++)
            rs_warn(cmd->name, "%s: at byte %" PRIu64 ", %" PRIu64 " bytes: %s", r->damages[k].path,
                    r->damages[k].offset, r->damages[k].bytes, r->damages[k].why);
        if (r->ndamages > MOST)
            rs_warn(cmd->name, "%s: and %zu more places that cannot be read", r->path, r->ndamages - MOST);
        unsigned said = RS_UNKNOWN_LIVE_MISSING | (rs_may_run(r->alive) ? RS_UNKNOWN_PRIVATE : 0);
        for (unsigned bit = 1; cmd != &rs_cmd_info && bit <= RS_UNKNOWN_ALL; bit <<= 1)
            if (r->unknown & bit & ~said)
                rs_warn(cmd->name, "%s: number of missing callbacks unknown: %s", r->path, rs_unknown_text(bit));
        if (r->live_missing && !lives++) first_live = r;
    }
    if (lives == 1)
        rs_warn(
            cmd->name,
            "%s: the process did not close its recording, and its buffers (%s) were not found: its last moments are "
            "missing. On the host it ran on, `ringscope gather` may find them.",
            first_live->path, first_live->header.live_name);
    else if (lives)
        rs_warn(
            cmd->name,
            "%zu processes did not close their recordings, and their buffers were not found (the first: %s, %s): their "
            "last moments are missing. On the hosts they ran on, `ringscope gather` may find them.",
            lives, first_live->path, first_live->header.live_name);
}

uint32_t rs_reading_piece(void)
{
    const char *piece = getenv("RINGSCOPE_TEST_PIECE");
    return piece ? (uint32_t)strtoul(piece, NULL, 10) : 0;
}

int rs_reading_join(const struct rs_command *cmd, struct rs_inputs *in, struct rs_model *model,
                    const struct rs_common *how)
{
    struct rs_err err;
    *model = (struct rs_model){.same_host = how->same_host};
    enum rs_status status = rs_import(model, in, rs_reading_progress, &err);
    if (status == RS_OK) status = rs_formats_fill(model, in, rs_reading_progress, &err);
    if (status == RS_OK) rs_model_link(model);
    if (status == RS_OK) status = rs_join(model, how->align, &err);
    rs_notes_say(cmd->name, in, model, false);
    if (status == RS_OK) return 0;
    rs_model_free(model);
    return rs_print_err(cmd->name, &err);
}

int rs_reading_inputs(const struct rs_command *cmd, char *const *paths, int n, const char *run, rs_work_fn *work,
                      void *options)
{
    struct rs_inputs in = {0};
    int status = rs_reading_open(cmd, &in, paths, (size_t)n, run);
    if (status) return status;
    status = work(cmd, &in, options);
    rs_reading_complaints(cmd, &in);
    rs_inputs_close(&in);
    return status;
}

/* What is shown, and with what. */
struct shown {
    struct rs_model model;
    struct rs_common *how;
    rs_show_fn *show;
    void *options;
};

/* Dumps contain what was pending at one moment, which is little for those that look at times. */
static void hint_at_hang(const struct rs_command *cmd, const struct rs_model *m)
{
    const struct rs_command *const others[] = {&rs_cmd_report, &rs_cmd_overlap, &rs_cmd_critical, &rs_cmd_whatif};
    bool for_times = false, dumps = m->nprocs > 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) for_times |= cmd == others[i];
    for (uint32_t i = 0; i < m->nprocs; i++) dumps &= rs_tool_has(m->procs[i].tool, RS_CAP_DUMP);
    if (for_times && dumps)
        rs_warn(cmd->name, "these are dumps of pending operations: `ringscope hang` says why a job hangs");
}

static int show(const struct rs_command *cmd, struct shown *s, struct rs_inputs *in)
{
    struct rs_err err;
    int status = rs_matches_check(cmd, &s->how->filters.filter, &s->model);
    if (!status) hint_at_hang(cmd, &s->model);
    if (!status && s->show(cmd, &s->model, in, s->options, &status, &err) != RS_OK) {
        int failed = rs_print_err(cmd->name, &err);
        if (failed) status = failed;
    }
    rs_model_free(&s->model);
    return status;
}

static int join_only(const struct rs_command *cmd, struct rs_inputs *in, void *to)
{
    struct shown *s = to;
    return rs_reading_join(cmd, in, &s->model, s->how);
}

static int join_and_show(const struct rs_command *cmd, struct rs_inputs *in, void *to)
{
    int bad = join_only(cmd, in, to);
    return bad ? bad : show(cmd, to, in);
}

int rs_reading_model(const struct rs_command *cmd, char *const *paths, int n, struct rs_common *how, rs_show_fn *shows,
                     void *options)
{
    struct shown s = {.how = how, .show = shows, .options = options};
    int bad = rs_reading_inputs(cmd, paths, n, how->run, join_only, &s);
    return bad ? bad : show(cmd, &s, NULL);
}

int rs_reading_model_and_inputs(const struct rs_command *cmd, char *const *paths, int n, struct rs_common *how,
                                rs_show_fn *shows, void *options)
{
    struct shown s = {.how = how, .show = shows, .options = options};
    return rs_reading_inputs(cmd, paths, n, how->run, join_and_show, &s);
}

int rs_reading_command(const struct rs_command *cmd, int argc, char **argv, rs_show_fn *shows)
{
    struct rs_common common;
    int n, done = rs_common_parse(cmd, &common, RS_NO_OPTIONS, argc, argv, &n);
    return done >= 0 ? done : rs_reading_model(cmd, argv + 1, n, &common, shows, &common);
}
