/* drive: plays callbacks into the plugin ($PLUGIN) and keeps its own count of them.
 *
 *   drive [--mode MODE] [--api N] [--threads N] [--rate R] [--seconds S] [--count N] [--truth FILE] [--end HOW] ...
 *
 * Modes: load (threads play the row of truth.h), churn (short-lived threads), storm, reload, fork (lives.h), fields,
 * hazards (fields.h), captured (captured parents, then a load), watch (prints the mask as it changes, until it is
 * --until, --seconds at most), pause (regular calls and ever longer pauses, until KernelCh is requested), descriptors, belongings, timed (hostile.h).
 * Ends: finalize, exit (without finalize), _exit, exec, thread (main ends, not the process), over (finalize, then thread),
 * running (exit while threads play), abort; --kill-after USEC ends it by SIGKILL, counted from the start of the program,
 * --kill-playing USEC from the return of init. --refuse: system calls that fail. --second: another copy of the plugin, which
 * plays a little before the end. Prints what it did as key=value. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "fields.h"
#include "hostile.h"
#include "lives.h"

static struct {
    const char *mode, *end, *truth, *net, *refuse, *second;
    int api;
    unsigned threads, rounds, churn, at_once;
    double rate, seconds;
    uint64_t count, seed;
    long kill_after, kill_playing;
    int until;
} opt = {.mode = "load",
         .end = "finalize",
         .net = "mixed",
         .api = 7,
         .threads = 1,
         .rounds = 1,
         .at_once = 1,
         .seed = 1,
         .until = -1};

static void parse(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *v = argv[i + 1], *o = argv[i];
        if (!strcmp(o, "--mode"))
            opt.mode = v;
        else if (!strcmp(o, "--end"))
            opt.end = v;
        else if (!strcmp(o, "--truth"))
            opt.truth = v;
        else if (!strcmp(o, "--net"))
            opt.net = v;
        else if (!strcmp(o, "--refuse"))
            opt.refuse = v;
        else if (!strcmp(o, "--second"))
            opt.second = v;
        else if (!strcmp(o, "--api"))
            opt.api = atoi(v);
        else if (!strcmp(o, "--threads"))
            opt.threads = (unsigned)atoi(v);
        else if (!strcmp(o, "--rounds"))
            opt.rounds = (unsigned)atoi(v);
        else if (!strcmp(o, "--churn"))
            opt.churn = (unsigned)atoi(v);
        else if (!strcmp(o, "--at-once"))
            opt.at_once = (unsigned)atoi(v);
        else if (!strcmp(o, "--rate"))
            opt.rate = atof(v);
        else if (!strcmp(o, "--seconds"))
            opt.seconds = atof(v);
        else if (!strcmp(o, "--count"))
            opt.count = strtoull(v, NULL, 10);
        else if (!strcmp(o, "--seed"))
            opt.seed = strtoull(v, NULL, 10);
        else if (!strcmp(o, "--kill-after"))
            opt.kill_after = atol(v);
        else if (!strcmp(o, "--kill-playing"))
            opt.kill_playing = atol(v);
        else if (!strcmp(o, "--until"))
            opt.until = (int)strtol(v, NULL, 0);
        else
            fprintf(stderr, "drive: %s?\n", o), exit(2);
    }
    if (opt.threads < 1 || opt.threads > TRUTH_THREADS / 2 || opt.at_once < 1 || opt.at_once > 256) exit(2);
}

static struct truth *make_truth(const char *suffix)
{
    char path[4096];
    snprintf(path, sizeof path, "%s%s", opt.truth ? opt.truth : "", suffix);
    int fd = opt.truth ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
    if (opt.truth && (fd < 0 || ftruncate(fd, sizeof(struct truth)))) {
        perror(path);
        exit(9);
    }
    struct truth *t =
        mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, opt.truth ? MAP_SHARED : MAP_SHARED | MAP_ANONYMOUS, fd, 0);
    if (t == MAP_FAILED) exit(9);
    if (fd >= 0) close(fd);
    t->magic = TRUTH_MAGIC;
    return t;
}

static void *executioner(void *usec)
{
    const long *after = usec;
    nanosleep(&(struct timespec){.tv_sec = *after / 1000000, .tv_nsec = *after % 1000000 * 1000}, NULL);
    kill(getpid(), SIGKILL);
    return NULL;
}

static long resident_kib(void)
{
    FILE *f = fopen("/proc/self/status", "re");
    char line[256];
    long kib = 0;
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmRSS: %ld", &kib) == 1) break;
    if (f) fclose(f);
    return kib;
}

/* Starts that replays of a graph name as parents for ever after, then a load that the ring cannot hold. */
static void captured(struct load *l)
{
    for (unsigned i = 0; i < opt.rounds; i++) {
        struct rs_nccl_descr_v7 d = {
            .type = RS_COLL_API, .rank = 0, .collApi = {"AllReduce", i, "ncclInt8", 0, NULL, 1, 0}};
        if (i % 2) d = (struct rs_nccl_descr_v7){.type = RS_P2P_API, .p2pApi = {"Send", i, "ncclInt8", NULL, true, 0}};
        printf("captured=%p\n", plugin_start(l->plugin, l->context, &d));
        l->truth->extra++;
    }
    play_load(l);
}

/* A single call, as NCCL tells of it: masks change when group calls end. */
static void call_once(struct load *l)
{
    struct rs_nccl_descr_v7 d = {.type = RS_GROUP_API, .groupApi = {.groupDepth = 1}};
    struct rs_nccl_descr_v4 old = {.type = RS_GROUP};
    plugin_stop(l->plugin, plugin_start(l->plugin, l->context, l->plugin->version >= 5 ? (void *)&d : &old));
    l->truth->extra += 2;
}

static void watch(struct load *l, double seconds)
{
    int seen = -1;
    for (double end = now_seconds() + seconds; now_seconds() < end; usleep(20000)) {
        int mask = __atomic_load_n(&nccl_mask, __ATOMIC_RELAXED);
        if (mask != seen) printf("mask=0x%x\n", (unsigned)mask), fflush(stdout);
        seen = mask;
        if (mask == opt.until) break;
        call_once(l);
    }
}

/* What triggers of windows of detail wait for. The first calls tell the recorder what is usual. */
static void pause_and_call(struct load *l, double seconds)
{
    enum { CALLS = 300, CALL_US = 1000 };
    useconds_t pause_us = 300000;
    for (double end = now_seconds() + seconds; now_seconds() < end; pause_us *= 2) {
        for (int i = 0; i < CALLS; i++, usleep(CALL_US)) {
            if (__atomic_load_n(&nccl_mask, __ATOMIC_RELAXED) & RS_KERNEL_CH) return;
            call_once(l);
        }
        usleep(pause_us);
    }
}

/* Another NCCL in the process has loaded another copy. */
static void play_second(void)
{
    static struct plugin other;
    setenv("PLUGIN", opt.second, 1);
    plugin_open(&other, opt.api);
    void *context = plugin_init(&other, "second", 0xfeed, 1, 1, 0);
    for (int i = 0; i < 1000; i++) plugin_stop(&other, plugin_start_step(&other, context, NULL, 0, i));
    plugin_finalize(&other, context);
}

static struct belongings belongings;

static void play_mode(struct load *l)
{
    enum net_kind net = !strcmp(opt.net, "ib") ? NET_IB : !strcmp(opt.net, "sock") ? NET_SOCK : NET_MIXED;
    double took = 0;
    if (!strcmp(opt.mode, "fields"))
        play_fields(l->plugin, l->context, opt.rounds, opt.seed, net);
    else if (!strcmp(opt.mode, "hazards"))
        play_hazards(l->plugin, l->context);
    else if (!strcmp(opt.mode, "captured"))
        captured(l);
    else if (!strcmp(opt.mode, "watch"))
        watch(l, opt.seconds);
    else if (!strcmp(opt.mode, "pause"))
        pause_and_call(l, opt.seconds);
    else if (!strcmp(opt.mode, "fork"))
        live_fork(l, make_truth(".child"));
    else if (!strcmp(opt.mode, "close-files"))
        live_close_files(l);
    else if (!strcmp(opt.mode, "descriptors"))
        race_descriptors(l, opt.seconds);
    else if (!strcmp(opt.mode, "timed"))
        play_timed(l);
    else if (!strcmp(opt.mode, "belongings"))
        check_belongings(&belongings);
    else if (!strcmp(opt.mode, "churn")) {
        long before = resident_kib();
        play_churn(l, opt.churn / 10, opt.at_once);
        long warm = resident_kib();
        play_churn(l, opt.churn, opt.at_once);
        printf("rss_before=%ld\nrss_warm=%ld\nrss_after=%ld\n", before, warm, resident_kib());
    } else if (!strcmp(opt.end, "running")) {
        play_forever(l);
        usleep((useconds_t)(opt.seconds * 500000)); /* leaves while they play */
    } else {
        took = play_load(l);
    }
    if (took > 0) {
        uint64_t n = 0;
        for (unsigned i = 0; i < l->threads; i++) n += l->truth->threads[i].returned;
        printf("callbacks=%llu\nseconds=%.3f\nrate=%.0f\n", (unsigned long long)n, took, (double)n / took);
    }
}

static void end_of(const struct load *l, char **argv)
{
    printf("warnings=%d\n", atomic_load(&warnings));
    fflush(NULL);
    if (!strcmp(opt.end, "thread")) pthread_exit(NULL); /* the process ends with its last thread */
    if (!strcmp(opt.end, "_exit")) _exit(0);
    if (!strcmp(opt.end, "abort")) abort();
    if (!strcmp(opt.end, "exec")) {
        char other[4096]; /* another life, another count */
        snprintf(other, sizeof other, "%s.exec", opt.truth);
        execl("/proc/self/exe", argv[0], "--count", "6000", "--truth", other, (char *)NULL);
        _exit(9);
    }
    bool over = !strcmp(opt.end, "over");
    if (strcmp(opt.end, "finalize") && !over) return;
    plugin_finalize(l->plugin, l->context);
    l->truth->finalizes++;
    if (over) pthread_exit(NULL);
}

int main(int argc, char **argv)
{
    parse(argc, argv);
    struct truth *truth = make_truth("");
    pthread_t killer;
    if (opt.kill_after && pthread_create(&killer, NULL, executioner, &opt.kill_after)) return 9;
    static struct plugin plugin; /* threads may play on while main() has returned */
    static struct load load;
    load = (struct load){.plugin = &plugin,
                         .truth = truth,
                         .threads = opt.threads,
                         .rate = opt.rate,
                         .seconds = opt.seconds,
                         .count = opt.count};
    if (!strcmp(opt.mode, "reload")) {
        live_reload(&load, opt.api, opt.rounds);
        return 0;
    }
    plugin_open(&plugin, opt.api);
    if (!strcmp(opt.mode, "belongings")) take_belongings(&belongings);
    if (opt.refuse) refuse_calls(opt.refuse);
    if (!strcmp(opt.mode, "storm")) {
        live_storm(&load);
        return 0;
    }
    load.context = plugin_init(&plugin, "driven", 0xfeedbeef, 2, 16, 5);
    truth->inits++;
    if (opt.kill_playing && pthread_create(&killer, NULL, executioner, &opt.kill_playing)) return 9;
    play_mode(&load);
    if (opt.second) play_second();
    end_of(&load, argv);
    return 0;
}
