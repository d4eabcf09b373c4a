/* The fault campaign: random runs of a driver that counts its own calls, and what must hold after each.
 *
 *   campaign [--seconds N | --runs N] [--seed N] [--jobs N] [--fault NAME] [--keep DIR] [--list]
 *
 * PLUGIN and RINGSCOPE name the programs under test. `--seed N` alone replays one run, as far as timing allows. The
 * folders of runs with a violation are kept in DIR. Exit status: 0, 1 with violations, 2 for wrong usage. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"
#include "faults.h"
#include "run.h"

enum { MOST_JOBS = 64, LONG_SECONDS = 300 };

struct job {
    pid_t pid;
    struct plan plan;
};

struct campaign {
    struct tools tools;
    uint64_t seed, runs, seconds;
    int jobs, wanted;
    struct outcome *outcomes; /* shared with the runs, one a job */
    struct job running[MOST_JOBS];
    uint64_t done, violations, bad, counts[128];
};

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

/* What this machine allows, tried out. */
static unsigned machine_allows(void)
{
    pid_t pid = fork();
    if (!pid) {
        bool root = !geteuid() && !access("/dev/loop-control", R_OK | W_OK) && !access("/sbin/mkfs.ext4", X_OK);
        bool mounts = run_namespace() && !mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=1m");
        _exit((mounts ? NEED_MOUNT : 0) | (mounts && root ? NEED_ROOT : 0));
    }
    int status;
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? (unsigned)WEXITSTATUS(status) : 0;
}

static void start(struct campaign *c, int slot)
{
    struct job *j = &c->running[slot];
    plan_make(&j->plan, c->seed++, c->tools.needs, c->wanted);
    c->outcomes[slot] = (struct outcome){0};
    j->pid = fork();
    if (j->pid) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_IGN); /* what began comes to its end */
    signal(SIGTERM, SIG_IGN);
    run_one(&c->tools, &j->plan, &c->outcomes[slot]);
    _exit(0);
}

static void ended(struct campaign *c, int slot)
{
    struct job *j = &c->running[slot];
    struct outcome *o = &c->outcomes[slot];
    j->pid = 0;
    c->done++;
    for (int i = 0; i < j->plan.nfaults; i++) c->counts[j->plan.faults[i].fault]++;
    if (!o->done) {
        o->nwrong = 1;
        snprintf(o->wrong[0], WRONG_BYTES, "the run itself died");
    }
    if (isatty(2)) fprintf(stderr, "\r%" PRIu64 " runs, %" PRIu64 " with violations ", c->done, c->bad);
    if (!o->nwrong) return;
    c->bad++;
    c->violations += o->nwrong;
    if (isatty(2)) fprintf(stderr, "\r");
    plan_print(&j->plan, stdout);
    for (uint32_t i = 0; i < o->nwrong && i < 4; i++) printf("    %s\n", o->wrong[i]);
    if (o->nwrong > 4) printf("    and %u more\n", o->nwrong - 4);
    printf("    kept: %s/%" PRIu64 "\n", c->tools.base, j->plan.seed);
    fflush(stdout);
}

static void loop(struct campaign *c)
{
    uint64_t until = clock_ms() + c->seconds * 1000, began = 0;
    for (;;) {
        bool more = !interrupted && (c->runs ? began < c->runs : clock_ms() < until);
        int busy = 0;
        for (int i = 0; i < c->jobs; i++) {
            if (!c->running[i].pid && more && (!c->runs || began < c->runs)) {
                start(c, i);
                began++;
            }
            busy += c->running[i].pid > 0;
        }
        if (!busy && !more) return;
        int status;
        pid_t pid = waitpid(-1, &status, 0);
        for (int i = 0; i < c->jobs; i++)
            if (pid > 0 && c->running[i].pid == pid) ended(c, i);
    }
}

static void print_table(const struct campaign *c, uint64_t took_ms)
{
    static const char *const titles[] = {"recorded", "set up", "inside", "outside", "afterwards", "ended"};
    printf("%" PRIu64 " runs in %" PRIu64 " s, %" PRIu64 " violations in %" PRIu64 " runs\n", c->done, took_ms / 1000,
           c->violations, c->bad);
    for (int when = WHEN_PLACE; when <= WHEN_ENDING; when++) {
        int column = printf("  %-10s", titles[when]);
        for (int i = 0; i < nfaults; i++) {
            if ((int)faults[i].when != when) continue;
            char text[64];
            int n = snprintf(text, sizeof text, "  %s %" PRIu64, faults[i].name, c->counts[i]);
            if (column + n > 118) column = printf("\n  %-10s", "") - 1;
            column += printf("%s", text);
        }
        printf("\n");
    }
}

static void list(unsigned needs)
{
    for (int i = 0; i < nfaults; i++)
        printf("%-28s%s\n", faults[i].name, faults[i].needs & ~needs ? "  (not here)" : "");
}

int main(int argc, char **argv)
{
    static struct campaign c = {.seconds = 60, .jobs = 2, .wanted = -1};
    if (argc == 3 && !strcmp(argv[1], "--drive")) return driver_main(argv[2], 0);
    if (argc == 3 && !strcmp(argv[1], "--drive-again")) return driver_main(argv[2], 1);

    static const struct option options[] = {{"seconds", 1, 0, 's'}, {"runs", 1, 0, 'r'},  {"seed", 1, 0, 'S'},
                                            {"jobs", 1, 0, 'j'},    {"fault", 1, 0, 'f'}, {"keep", 1, 0, 'k'},
                                            {"list", 0, 0, 'l'},    {0, 0, 0, 0}};
    bool seeded = false, timed = false;
    const char *keep = "campaign";
    c.tools.needs = machine_allows();
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) >= 0;) switch (o) {
        case 's': c.seconds = strtoull(optarg, NULL, 10), timed = true; break;
        case 'r': c.runs = strtoull(optarg, NULL, 10); break;
        case 'S': c.seed = strtoull(optarg, NULL, 10), seeded = true; break;
        case 'j': c.jobs = atoi(optarg); break;
        case 'f': c.wanted = fault_named(optarg); break;
        case 'k': keep = optarg; break;
        case 'l': list(c.tools.needs); return 0;
        default: return 2;
        }
    if (c.jobs < 1 || c.jobs > MOST_JOBS || optind < argc) return 2;
    if (!seeded) c.seed = (uint64_t)clock_ms() * 1000003 % 1000000000;
    if (seeded && !timed && !c.runs) c.runs = 1;
    if (c.wanted >= 0 || (seeded && c.runs) || c.seconds >= LONG_SECONDS) c.tools.needs |= NEED_LONG;

    static char self[PATH_MAX], libraries[PATH_MAX], base[PATH_MAX];
    c.tools.self = realpath("/proc/self/exe", self);
    c.tools.plugin = getenv("PLUGIN");
    c.tools.reader = getenv("RINGSCOPE");
    if (!c.tools.self || !c.tools.plugin || !c.tools.reader) {
        fprintf(stderr, "campaign: set PLUGIN and RINGSCOPE to the programs under test\n");
        return 2;
    }
    snprintf(libraries, sizeof libraries, "%s", self);
    *strrchr(libraries, '/') = 0;
    c.tools.libraries = libraries;
    if ((mkdir(keep, 0755) && errno != EEXIST) || !realpath(keep, base)) {
        fprintf(stderr, "campaign: %s: %s\n", keep, strerror(errno));
        return 2;
    }
    c.tools.base = base;
    c.outcomes = mmap(NULL, MOST_JOBS * sizeof *c.outcomes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (c.outcomes == MAP_FAILED) return 2;
    signal(SIGINT, interrupt);
    signal(SIGTERM, interrupt);
    printf("seeds from %" PRIu64 "\n", c.seed);
    fflush(stdout);
    uint64_t began = clock_ms();
    loop(&c);
    if (isatty(2)) fprintf(stderr, "\r%40s\r", "");
    rmdir(base); /* nothing is kept */
    print_table(&c, clock_ms() - began);
    return c.bad > 0;
}
