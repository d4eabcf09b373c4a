#include "watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEP_MOST_MS = 50, ENDS_IDLE_MS = 25000, ENDS_HELD_MS = 60000 };

/* Of one call, by phase: the promise, and as much again for what sleeps beside us. */
static const struct {
    const char *name;
    uint32_t asleep_ms, cpu_ms;
} most[PHASES] = {
    [PHASE_CALLBACK] = {"a callback", 2000, 2000},
    [PHASE_INIT] = {"init", 8000, 8000},
    [PHASE_FINALIZE] = {"finalize", 2000, 2000},
    [PHASE_EXIT] = {"the exit handler", 13000, 60000},
};

static bool read_small(const char *path, char *to, size_t bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, to, bytes - 1);
    if (fd >= 0) close(fd);
    to[n > 0 ? n : 0] = 0;
    return n > 0;
}

static char state_of(int pid, int tid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, tid);
    if (!read_small(path, text, sizeof text)) return 0;
    const char *p = strrchr(text, ')');
    return p && p[1] ? p[2] : 0;
}

static uint64_t cpu_of(int pid, int tid)
{
    char path[64], text[128];
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", pid, tid);
    return read_small(path, text, sizeof text) ? strtoull(text, NULL, 10) : 0;
}

static void look_at_cell(struct watch *w, struct truth *t, unsigned i, uint32_t step)
{
    struct cell *c = &t->cells[i];
    uint32_t phase = atomic_load(&c->phase), turn = atomic_load(&c->turn);
    int pid = atomic_load(&c->pid), tid = atomic_load(&c->tid);
    if (!pid || phase == PHASE_NONE || phase >= PHASES) return;
    char state = state_of(pid, tid);
    uint64_t cpu = cpu_of(pid, tid);
    if (atomic_load(&c->turn) != turn || atomic_load(&c->phase) != phase) return; /* it goes on */
    if (w->cells[i].turn != turn || w->cells[i].phase != phase) {
        w->cells[i].turn = turn;
        w->cells[i].phase = phase;
        w->cells[i].asleep_ms = 0;
        w->cells[i].said = false;
        w->cells[i].cpu_ns = cpu;
        return;
    }
    /* At the end callbacks count themselves in the recording: docs/safety.md, "What is not promised". */
    bool late = phase == PHASE_CALLBACK && atomic_load(&t->ending);
    bool waits = state == 'D' && (w->may_wait || late);
    if ((state == 'S' || state == 'D') && !waits) w->cells[i].asleep_ms += step;
    if (w->cells[i].said) return;
    if (w->cells[i].asleep_ms > most[phase].asleep_ms) {
        truth_wrong(t, "%s sleeps for more than %u ms (state %c)", most[phase].name, most[phase].asleep_ms, state);
        w->cells[i].said = true;
    } else if (cpu > w->cells[i].cpu_ns + most[phase].cpu_ms * UINT64_C(1000000)) {
        truth_wrong(t, "%s takes more than %u ms of CPU time", most[phase].name, most[phase].cpu_ms);
        w->cells[i].said = true;
    }
}

/* The most awake state of all threads: R, D, S, T; Z when none is left. */
static char most_awake(int pid)
{
    static const char order[] = "RDSTtIZX";
    char path[64], best = 'X';
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        char s = state_of(pid, atoi(e->d_name));
        const char *at = s ? strchr(order, s) : NULL;
        if (at && at < strchr(order, best)) best = s;
    }
    if (d) closedir(d);
    return best;
}

bool watch_look(struct watch *w, struct truth *t, int pid, uint64_t now_ms)
{
    /* Whoever watches may be kept from running, too. */
    uint32_t step = w->last_ms && now_ms - w->last_ms < STEP_MOST_MS ? (uint32_t)(now_ms - w->last_ms) : STEP_MOST_MS;
    w->last_ms = now_ms;
    uint32_t n = atomic_load(&t->cells_used);
    for (unsigned i = 0; i < n && i < CELLS; i++) look_at_cell(w, t, i, step);
    /* At the end, and before the beginning, there is nothing to wait for but us. */
    if (atomic_load(&t->ready) && !atomic_load(&t->ending)) return true;
    switch (most_awake(pid)) {
    case 'S': w->idle_ms += step; break;
    case 'D': w->held_ms += step; break;
    case 'R': break;
    default: return true;
    }
    return w->idle_ms < ENDS_IDLE_MS && w->held_ms < ENDS_HELD_MS;
}

void watch_dump(int pid, const char *to)
{
    char path[64], text[4096];
    FILE *f = fopen(to, "w");
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *d = f ? opendir(path) : NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        static const char *const files[] = {"comm", "stat", "wchan", "syscall", "stack"};
        for (unsigned i = 0; i < sizeof files / sizeof *files; i++) {
            char one[400];
            snprintf(one, sizeof one, "/proc/%d/task/%s/%s", pid, e->d_name, files[i]);
            if (read_small(one, text, sizeof text)) fprintf(f, "%s %s: %s\n", e->d_name, files[i], text);
        }
    }
    if (d) closedir(d);
    if (f) fclose(f);
}
