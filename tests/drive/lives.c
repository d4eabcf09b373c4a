#include "lives.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_barrier_t gate;

struct storm {
    const struct load *load;
    unsigned index;
    void *context;
    pthread_t thread;
};

static void *storm_thread(void *arg)
{
    struct storm *s = arg;
    const struct load *l = s->load;
    struct truth_thread *truth = &l->truth->threads[s->index];
    char name[32];
    snprintf(name, sizeof name, "storm %u", s->index);
    truth->tid = (uint32_t)syscall(SYS_gettid);
    pthread_barrier_wait(&gate);
    s->context = plugin_init(l->plugin, name, s->index, 1, (int)l->threads, (int)s->index);
    __atomic_fetch_add(&l->truth->inits, 1, __ATOMIC_RELAXED);
    struct player p = {.plugin = l->plugin, .context = s->context, .truth = truth, .rank = (int)s->index};
    play(&p, l->count);
    pthread_barrier_wait(&gate);
    plugin_finalize(l->plugin, s->context);
    __atomic_fetch_add(&l->truth->finalizes, 1, __ATOMIC_RELAXED);
    return NULL;
}

void live_storm(const struct load *l)
{
    struct storm *storms = calloc(l->threads, sizeof *storms);
    l->truth->nthreads = l->threads;
    pthread_barrier_init(&gate, NULL, l->threads);
    for (unsigned i = 0; i < l->threads; i++) {
        storms[i] = (struct storm){.load = l, .index = i};
        if (pthread_create(&storms[i].thread, NULL, storm_thread, &storms[i])) exit(9);
    }
    for (unsigned i = 0; i < l->threads; i++) pthread_join(storms[i].thread, NULL);
    for (unsigned i = 0; i < l->threads; i++)
        for (unsigned j = 0; j < i; j++)
            if (storms[i].context == storms[j].context || !storms[i].context) {
                fprintf(stderr, "contexts %u and %u are both %p\n", i, j, storms[i].context);
                exit(9);
            }
    free(storms);
}

void live_reload(struct load *l, int api, unsigned rounds)
{
    static struct plugin plugin;
    l->plugin = &plugin;
    for (unsigned i = 0; i < rounds; i++) {
        plugin_open(&plugin, api);
        l->context = plugin_init(&plugin, "again", 7, 1, 1, 0);
        l->truth->inits++;
        l->first = i * l->threads;
        play_load(l);
        plugin_finalize(&plugin, l->context);
        l->truth->finalizes++;
        plugin_close(&plugin);
    }
}

static void expect_exit(pid_t child)
{
    int status;
    if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status)) return;
    fprintf(stderr, "a child did not end well\n");
    exit(9);
}

void live_fork(struct load *l, struct truth *child_truth)
{
    /* The forking thread has a slot itself, and a step that is open. */
    struct truth_thread *own = &l->truth->threads[TRUTH_THREADS - 1];
    struct player p = {.plugin = l->plugin, .context = l->context, .truth = own, .rank = 0};
    own->tid = (uint32_t)syscall(SYS_gettid);
    play(&p, 3);
    play_forever(l);
    fflush(NULL);
    pid_t child = fork();
    if (!child) { /* calls with what it inherited: heard by nobody, and its exit closes nothing */
        struct truth_thread scratch;
        p.truth = &scratch;
        play(&p, 600);
        plugin_finalize(l->plugin, l->context);
        exit(0);
    }
    expect_exit(child);
    child = fork();
    if (!child) { /* a recording of its own */
        void *context = plugin_init(l->plugin, "child", 8, 1, 1, 0);
        child_truth->inits++;
        struct load mine = *l;
        mine.truth = child_truth;
        mine.context = context;
        mine.rate = 0;
        mine.seconds = 0;
        mine.count = 60000;
        play_load(&mine);
        plugin_finalize(l->plugin, context);
        child_truth->finalizes++;
        exit(0);
    }
    expect_exit(child);
    child = fork();
    if (!child) {
        execlp("true", "true", (char *)NULL);
        _exit(1);
    }
    expect_exit(child);
    play_join();
    play(&p, 30);
    l->truth->extra += (uint32_t)p.k;
}

void live_close_files(struct load *l)
{
    struct player p = {.plugin = l->plugin, .context = l->context, .truth = &l->truth->threads[0], .rank = 0};
    l->truth->nthreads = 1;
    p.truth->tid = (uint32_t)syscall(SYS_gettid);
    play(&p, l->count);
    usleep(200000); /* some of it is sealed */
    closefrom(3);
    int decoys[32]; /* whatever number the recording had is one of these now */
    for (int i = 0; i < 32; i++) decoys[i] = open("decoy", O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    play(&p, l->count);
    usleep(1500000);
    play(&p, l->count);
    if (lseek(decoys[0], 0, SEEK_END)) {
        fprintf(stderr, "the recorder wrote into a file of the program\n");
        exit(9);
    }
}
