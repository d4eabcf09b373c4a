#include "judge.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults.h"
#include "json.h"

#define SAY(R, ...) truth_wrong((R)->truth, __VA_ARGS__)

void bounds_take(const struct truth *t, struct bounds *b)
{
    *b = (struct bounds){0};
    for (int32_t pid; b->n < BOUND_PROCESSES && (pid = truth_process(t, b->n)); b->n++) {
        b->processes[b->n].pid = pid;
        b->processes[b->n].emitted = truth_emitted(t, pid);
    }
}

static struct emitted of_process(const struct bounds *b, int32_t pid)
{
    for (unsigned i = 0; i < b->n; i++)
        if (b->processes[i].pid == pid) return b->processes[i].emitted;
    return (struct emitted){0};
}

static char *slurp(const char *folder, const char *name, const char *ending, size_t *bytes)
{
    char path[700];
    snprintf(path, sizeof path, "%s/%s.%s", folder, name, ending);
    FILE *f = fopen(path, "r");
    char *text = NULL;
    *bytes = 0;
    if (!f) return NULL;
    if (!fseek(f, 0, SEEK_END)) {
        long n = ftell(f);
        rewind(f);
        text = n < 0 ? NULL : calloc(1, (size_t)n + 1);
        if (text) *bytes = fread(text, 1, (size_t)n, f);
    }
    fclose(f);
    return text;
}

static unsigned count_files(const char *dir, const char *ending)
{
    unsigned n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        size_t length = strlen(e->d_name), tail = strlen(ending);
        n += length > tail && !strcmp(e->d_name + length - tail, ending);
    }
    if (d) closedir(d);
    return n;
}

/* ---- what the reader says ---- */

static const struct json *input_of(const struct json *info, const struct json *process)
{
    const struct json *path = json_get(process, "path"), *inputs = json_get(info, "inputs");
    for (const struct json *i = inputs ? inputs->first : NULL; i && path; i = i->next) {
        const struct json *p = json_get(i, "path");
        if (p && p->text_bytes == path->text_bytes && !memcmp(p->text, path->text, p->text_bytes)) return i;
    }
    return NULL;
}

struct said {
    unsigned recordings, complete;
    uint64_t kept, all;
    bool unknown, unsafe, running;
};

static struct said said_of(const struct json *info, int32_t pid, struct totals *totals)
{
    struct said s = {0};
    const struct json *list = json_get(info, "process_list");
    for (const struct json *p = list ? list->first : NULL; p; p = p->next) {
        if (json_u64(p, "pid") != (uint64_t)pid) continue;
        const struct json *input = input_of(info, p);
        uint64_t kept = json_u64(p, "callbacks"), lost = json_u64(p, "lost"), over = json_u64(p, "overwritten"),
                 damaged = json_u64(p, "damaged");
        s.recordings++;
        s.kept += kept;
        s.all += kept + lost + over + damaged;
        s.unknown |= !json_is(p, "emitted", '0');
        s.complete += json_is(input, "complete", 't');
        s.unsafe |= json_is(input, "crash_safe", 'f');
        s.running |= json_text_is(p, "state", "running") || json_text_is(p, "state", "idle");
        totals->kept += kept;
        totals->lost += lost;
        totals->overwritten += over;
        totals->damaged += damaged;
    }
    return s;
}

static void judge_process(struct run *r, const char *name, int32_t pid, const struct said *s, struct emitted before,
                          struct emitted behind, unsigned flags, bool live)
{
    bool few = s->recordings < before.opened;
    if (few && !(flags & (MAY_BE_MUTE | MAY_DAMAGE)))
        SAY(r, "%s: pid %d has %u recordings of %u", name, pid, s->recordings, before.opened);
    if (s->recordings > behind.recordings)
        SAY(r, "%s: pid %d has %u recordings, more than %u", name, pid, s->recordings, behind.recordings);
    if (s->all > behind.high)
        SAY(r, "%s: pid %d emitted %" PRIu64 "..%" PRIu64 ", the reader says %" PRIu64 ": %" PRIu64 " too many", name,
            pid, before.low, behind.high, s->all, s->all - behind.high);
    if (few) return;
    if (!s->unknown && s->all < before.low)
        SAY(r, "%s: pid %d emitted %" PRIu64 "..%" PRIu64 ", the reader says %" PRIu64 ": %" PRIu64 " vanished", name,
            pid, before.low, behind.high, s->all, before.low - s->all);
    if (s->unknown && !s->unsafe && !live && !(flags & (MAY_NOT_KNOW | MAY_DAMAGE)))
        SAY(r, "%s: pid %d: the reader does not know how much was emitted, and could", name, pid);
    if (s->complete == s->recordings && s->recordings && s->kept < before.low)
        SAY(r, "%s: pid %d is called complete, and %" PRIu64 " of %" PRIu64 " are missing", name, pid,
            before.low - s->kept, before.low);
    bool copy = strcmp(name, "end") != 0 && strcmp(name, "gathered") != 0; /* a lock cannot be copied */
    bool hidden = flags & MAY_SEEM_ALIVE && (s->unsafe || copy || flags & NO_LOCK);
    if (s->running && !live && s->recordings && !hidden)
        SAY(r, "%s: pid %d is called running, and it ended", name, pid);
}

static bool reader_is_fine(struct run *r, const char *name, int status, const char *dir, unsigned flags)
{
    size_t bytes;
    char *errors = slurp(r->folder, name, "err", &bytes);
    bool fine = true;
    if (status < 0)
        SAY(r, "%s: the reader hangs", name);
    else if (WIFSIGNALED(status))
        SAY(r, "%s: the reader died of signal %d", name, WTERMSIG(status));
    else if (errors && strstr(errors, "Sanitizer"))
        SAY(r, "%s: the reader's sanitizer: %.200s", name, strstr(errors, "Sanitizer"));
    else if (WEXITSTATUS(status) > 1)
        SAY(r, "%s: the reader's exit status is %d", name, WEXITSTATUS(status));
    else if (WEXITSTATUS(status) == 1 && count_files(dir, ".rsc") && !(flags & (MAY_DAMAGE | MAY_BE_MUTE)))
        SAY(r, "%s: the reader can read nothing: %.200s", name, errors ? errors : "");
    else
        fine = !WEXITSTATUS(status);
    if (status < 0 || !WIFEXITED(status) || WEXITSTATUS(status)) fine = false;
    free(errors);
    return fine;
}

static struct totals judge_info(struct run *r, const char *name, const char *dir, const struct bounds *before,
                                const struct bounds *behind, unsigned flags, bool live)
{
    struct totals totals = {.known = true};
    struct bounds now;
    int status = run_program(r, name, (const char *[]){r->tools->reader, "info", "--json", "--run", "all", dir, NULL});
    if (!behind) {
        bounds_take(r->truth, &now);
        behind = &now;
    }
    if (!reader_is_fine(r, name, status, dir, flags)) return totals;
    size_t bytes;
    char *text = slurp(r->folder, name, "out", &bytes);
    struct json *info = text ? json_parse(text, bytes) : NULL;
    if (!info) SAY(r, "%s: what the reader writes is not JSON", name);
    const struct json *damages = json_get(info, "damages");
    totals.damaged_said = damages && damages->first;
    for (unsigned i = 0; info && i < behind->n; i++) {
        int32_t pid = behind->processes[i].pid;
        struct said s = said_of(info, pid, &totals);
        totals.read |= s.recordings != 0;
        totals.known &= !s.unknown;
        judge_process(r, name, pid, &s, of_process(before, pid), behind->processes[i].emitted, flags, live);
    }
    json_free(info);
    free(text);
    return totals;
}

struct totals judge_reading(struct run *r, const char *name, const char *dir, const struct bounds *before,
                            const struct bounds *behind, unsigned flags)
{
    return judge_info(r, name, dir, before, behind, flags, false);
}

void judge_live(struct run *r, const char *name, const char *dir, const struct bounds *before, unsigned flags)
{
    judge_info(r, name, dir, before, NULL, flags, true);
}

/* The text for people must not say more than the JSON. */
static void judge_text(struct run *r, const char *dir, const struct bounds *b, const struct totals *totals,
                       unsigned flags)
{
    int status = run_program(r, "text", (const char *[]){r->tools->reader, "info", "--run", "all", dir, NULL});
    uint64_t low = 0;
    unsigned wanted = 0;
    for (unsigned i = 0; i < b->n; i++) low += b->processes[i].emitted.low, wanted += b->processes[i].emitted.opened;
    if (!reader_is_fine(r, "text", status, dir, flags) || count_files(dir, ".rsc") < wanted) return;
    size_t bytes;
    char *text = slurp(r->folder, "text", "out", &bytes);
    if (text && strstr(text, "Nothing is missing") && totals->kept < low)
        SAY(r, "\"Nothing is missing\", and %" PRIu64 " of %" PRIu64 " are", low - totals->kept, low);
    free(text);
}

/* ---- what is left ---- */

static void judge_modes(struct run *r, const char *dir, bool live_may_stay)
{
    struct stat st;
    if (!stat(dir, &st) && (st.st_mode & 0777) != 0700) SAY(r, "the folder has mode %o", st.st_mode & 0777u);
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (fstatat(dirfd(d), e->d_name, &st, 0) || !S_ISREG(st.st_mode)) continue;
        bool rsc = strstr(e->d_name, ".rsc"), live = strstr(e->d_name, ".live");
        if ((rsc || live) && (st.st_mode & 0777) != 0600) SAY(r, "%s has mode %o", e->d_name, st.st_mode & 0777u);
        if (live && !live_may_stay) SAY(r, "%s was left behind by processes that ended well", e->d_name);
        if (!rsc && !live && strncmp(e->d_name, "control", 7) != 0 && strncmp(e->d_name, "filler", 6) != 0)
            SAY(r, "%s is in the folder, and nobody knows why", e->d_name);
    }
    if (d) closedir(d);
}

/* Only where /dev/shm is this run's own. */
static void judge_shm(struct run *r, const char *when)
{
    DIR *d = r->own_shm ? opendir("/dev/shm") : NULL;
    for (struct dirent *e; d && (e = readdir(d));)
        if (!strncmp(e->d_name, "ringscope", 9)) SAY(r, "%s: %s is left in /dev/shm", when, e->d_name);
    if (d) closedir(d);
}

static void judge_status(struct run *r)
{
    const struct planned *ending = &r->plan.faults[r->plan.nfaults - 1];
    int wanted = faults[ending->fault].status;
    if (r->status == wanted || (wanted < 0 && (r->status == SIGKILL || !r->status))) return;
    if (WIFSIGNALED(r->status))
        SAY(r, "the driver died of signal %d", WTERMSIG(r->status));
    else
        SAY(r, "the driver's exit status is %d", WEXITSTATUS(r->status));
}

static void judge_damages(struct run *r, const struct bounds *b, const struct totals *whole)
{
    for (int i = 0; i < r->plan.nfaults; i++) {
        const struct planned *p = &r->plan.faults[i];
        const struct fault *f = &faults[p->fault];
        if (f->when != WHEN_AFTER) continue;
        char copy[600];
        run_copy_name(r, "damaged", p->arg, copy, sizeof copy);
        run_copy(r->dir, copy, p->arg, 0);
        f->outside(r, p);
        struct totals t = judge_reading(r, f->name, copy, b, b, r->plan.flags | MAY_DAMAGE);
        if (t.read && t.overwritten > whole->overwritten && !t.damaged_said)
            SAY(r, "%s: %" PRIu64 " more are called overwritten, and no damage is said", f->name,
                t.overwritten - whole->overwritten);
    }
}

void judge_end(struct run *r)
{
    struct bounds b;
    unsigned flags = r->plan.flags;
    for (int i = 0; i < r->plan.nfaults; i++) /* those come to copies, later */
        if (faults[r->plan.faults[i].fault].when == WHEN_AFTER) flags &= ~(unsigned)MAY_DAMAGE;
    for (int i = 0; i < r->plan.nfaults; i++)
        if (faults[r->plan.faults[i].fault].when != WHEN_AFTER) flags |= faults[r->plan.faults[i].fault].flags;
    bounds_take(r->truth, &b);
    if (r->hung)
        flags |= ENDS_KILLED;
    else
        judge_status(r);
    bool stays = flags & (ENDS_KILLED | MAY_LEAVE | MAY_DAMAGE);
    judge_modes(r, r->dir, stays);
    if (!stays) judge_shm(r, "at the end");
    struct totals first = judge_reading(r, "end", r->dir, &b, &b, flags);
    judge_text(r, r->dir, &b, &first, flags);
    if (first.read) {
        int status = run_program(r, "gather", (const char *[]){r->tools->reader, "gather", r->dir, NULL});
        bool full = flags & MAY_LEAVE; /* a copy may find no room */
        if (status < 0 || !WIFEXITED(status) || (WEXITSTATUS(status) && !full))
            SAY(r, "gather ended with status 0x%x", (unsigned)status);
        struct totals again = judge_reading(r, "gathered", r->dir, &b, &b, flags);
        if (!(flags & MAY_DAMAGE) && (again.kept != first.kept || again.lost != first.lost))
            SAY(r, "gather changed what is read: %" PRIu64 " kept, then %" PRIu64, first.kept, again.kept);
        if (!(flags & (MAY_DAMAGE | MAY_LEAVE | MAY_BE_MUTE))) judge_shm(r, "after gather");
    }
    judge_damages(r, &b, &first);
}
