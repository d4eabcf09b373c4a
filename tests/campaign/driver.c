#include "driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "faults.h"

enum { ODD_ERRNO = 4242, BLOCK = 1024, LOOK_EVERY = 64 };

static struct driver me;
static _Thread_local struct cell *current; /* of the thread's call */

/* ---- counting ---- */

static void enter(struct cell *c, enum phase phase)
{
    current = c;
    atomic_store_explicit(&c->turn, atomic_load_explicit(&c->turn, memory_order_relaxed) + 1, memory_order_relaxed);
    atomic_store_explicit(&c->phase, phase, memory_order_seq_cst);
}

static void leave(struct cell *c)
{
    atomic_store_explicit(&c->returned, atomic_load_explicit(&c->returned, memory_order_relaxed) + 1,
                          memory_order_release);
    atomic_store_explicit(&c->phase, PHASE_NONE, memory_order_release);
}

static struct cell *take_cell(struct driver *d)
{
    uint32_t n = atomic_fetch_add(&d->truth->cells_used, 1);
    if (n >= CELLS) _exit(98);
    struct cell *c = &d->truth->cells[n];
    c->image = d->image;
    atomic_store(&c->tid, (int32_t)syscall(SYS_gettid));
    atomic_store(&c->pid, (int32_t)syscall(SYS_getpid));
    return c;
}

/* ---- NCCL ---- */

static void logged(int level)
{
    (void)level;
    atomic_fetch_add(&me.truth->logged, 1);
    uint32_t phase = current ? atomic_load(&current->phase) : PHASE_NONE;
    static _Atomic bool said;
    if (phase != PHASE_INIT && phase != PHASE_FINALIZE && !atomic_exchange(&said, true))
        truth_wrong(me.truth, "NCCL's logger was called outside init and finalize");
}

static void *must_open(const char *folder, const char *name, int number)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s%d.so", folder, name, number);
    void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (lib) return lib;
    truth_wrong(me.truth, "the driver cannot load %s: %s", path, dlerror());
    _exit(99);
}

static struct nccl nccl_open(struct driver *d, int number)
{
    struct nccl n = {.lib = must_open(d->folder, "nccl", number)};
    n.mask = dlsym(n.lib, "campaign_mask");
    *(void **)&n.logger = dlsym(n.lib, "campaign_logger");
    void (**hook)(int) = dlsym(n.lib, "campaign_hook");
    *hook = logged;
    return n;
}

static void plugin_of(struct driver *d, struct caller *c, int copy, int version)
{
    char symbol[32];
    snprintf(symbol, sizeof symbol, "ncclProfiler_v%d", version);
    c->copy = copy;
    c->plugin = (struct plugin){.lib = d->copies[copy], .version = version};
    if ((c->plugin.any = dlsym(d->copies[copy], symbol))) return;
    truth_wrong(d->truth, "%s is not in the plugin", symbol);
    _exit(99);
}

void caller_make(struct driver *d, struct caller *c, const struct planned_thread *planned)
{
    c->driver = d; /* the rest of it is zero; `thread` may be written at this moment */
    c->number = planned->nccl;
    c->cell = take_cell(d);
    c->in_handler = take_cell(d);
    plugin_of(d, c, planned->copy, planned->version);
}

static rs_nccl_result init(struct caller *c, void **context)
{
    const struct plugin *p = &c->plugin;
    int *mask = c->nccl.mask;
    rs_nccl_logger logger = c->nccl.logger;
    uint64_t id = 77 + (uint64_t)c->number;
    switch (p->version) {
    case 1: return p->v1->init(context, mask);
    case 2: return p->v2->init(context, mask);
    case 3: return p->v3->init(context, mask);
    case 4: return p->v4->init(context, mask, "campaign", id, 1, 1, 0, logger);
    case 5: return p->v5->init(context, id, mask, "campaign", 1, 1, 0, logger);
    case 6: return p->v6->init(context, id, mask, "campaign", 1, 1, 0, logger);
    default: return p->v7->init(context, id, mask, "campaign", 1, 1, 0, logger);
    }
}

void caller_begin(struct caller *c)
{
    if (!c->nccl.lib) c->nccl = nccl_open(c->driver, c->number);
    void *context = NULL;
    dlerror();
    atomic_fetch_or(&c->cell->copies, 1u << c->copy);
    enter(c->cell, PHASE_INIT);
    errno = ODD_ERRNO;
    rs_nccl_result answer = init(c, &context);
    int after = errno;
    leave(c->cell);
    atomic_fetch_or(&c->cell->opened, 1u << c->copy);
    const char *text = dlerror();
    if (answer) truth_wrong(c->driver->truth, "init answered %d", answer);
    if (after != ODD_ERRNO) truth_wrong(c->driver->truth, "init left errno %d", after);
    if (text) truth_wrong(c->driver->truth, "init left a text in dlerror(): %s", text);
    c->context = context;
}

void caller_end(struct caller *c)
{
    void *context = c->context;
    c->context = NULL;
    enter(c->cell, PHASE_FINALIZE);
    errno = ODD_ERRNO;
    plugin_finalize(&c->plugin, context);
    int after = errno;
    leave(c->cell);
    if (after != ODD_ERRNO) truth_wrong(c->driver->truth, "finalize left errno %d", after);
    if (!(c->driver->plan.flags & UNLOADS)) return;
    dlclose(c->nccl.lib);
    c->nccl = (struct nccl){0};
}

/* ---- operations ---- */

static void *start(struct caller *c, void *descr)
{
    enter(c->cell, PHASE_CALLBACK);
    void *handle = plugin_start(&c->plugin, c->context, descr);
    leave(c->cell);
    return handle;
}

static void stop(struct caller *c, void *handle)
{
    enter(c->cell, PHASE_CALLBACK);
    plugin_stop(&c->plugin, handle);
    leave(c->cell);
}

static void state(struct caller *c, struct cell *cell, void *handle, int number)
{
    union rs_nccl_args_v4 args = {.proxyStep = {4096}};
    enter(cell, PHASE_CALLBACK);
    plugin_state(&c->plugin, handle, number, &args);
    leave(cell);
}

static void step(struct caller *c, struct cell *cell, int number)
{
    enter(cell, PHASE_CALLBACK);
    void *handle = plugin_start_step(&c->plugin, c->context, NULL, 0, number);
    leave(cell);
    state(c, cell, handle, RS_ST_STEP_SEND_WAIT);
    state(c, cell, handle, RS_ST_STEP_SEND_PEER_WAIT);
    enter(cell, PHASE_CALLBACK);
    plugin_stop(&c->plugin, handle);
    leave(cell);
}

static void *start_collective(struct caller *c)
{
#define COLL(V, ...)                                                                                                   \
    case V: {                                                                                                          \
        struct rs_nccl_descr_v##V d = {.type = RS_COLL,                                                                \
                                       .coll = {.seqNumber = c->operations, .count = 16, __VA_ARGS__}};                \
        return start(c, &d);                                                                                           \
    }
    static const char func[] = "AllReduce", datatype[] = "ncclFloat32";
    switch (c->plugin.version) {
        COLL(1, .func = 1)
        COLL(2, .func = func, .datatype = datatype)
        COLL(3, .func = func, .datatype = datatype)
        COLL(4, .func = func, .datatype = datatype)
        COLL(5, .func = func, .datatype = datatype)
        COLL(6, .func = func, .datatype = datatype)
        COLL(7, .func = func, .datatype = datatype)
    }
#undef COLL
    return NULL;
}

static void *start_group(struct caller *c)
{
    /* The head is the same in all of them. */
    struct rs_nccl_descr_v7 d = {.type = RS_GROUP_API, .groupApi = {.groupDepth = 1}};
    return start(c, &d);
}

static int mask_of(const struct caller *c)
{
    return __atomic_load_n(c->nccl.mask, __ATOMIC_RELAXED);
}

void caller_operation(struct caller *c, bool plain)
{
    c->operations++;
    errno = ODD_ERRNO;
    /* As NCCL does: a group is reported where it is asked for, and what kernels count must not change while it
     * is open: a proxy thread would wait for a counter that no kernel writes. */
    bool grouped = !plain && c->plugin.version >= 5 && mask_of(c) & RS_GROUP_API;
    void *group = grouped ? start_group(c) : NULL;
    int asked = mask_of(c);
    if (!plain) stop(c, start_collective(c));
    for (int k = 0; k < 3; k++) step(c, c->cell, k);
    if (grouped) {
        int now = mask_of(c);
        if ((now ^ asked) & (RS_KERNEL_CH | RS_KERNEL_PHASE))
            truth_wrong(c->driver->truth, "the mask changed from 0x%x to 0x%x inside a group", asked, now);
        stop(c, group);
    }
    if (errno != ODD_ERRNO) truth_wrong(c->driver->truth, "a callback left errno %d", errno);
}

/* ---- callbacks from handlers of signals ---- */

static _Thread_local struct caller *interrupted;

static void on_signal(int number)
{
    (void)number;
    int saved = errno;
    struct cell *before = current;
    struct caller *c = interrupted;
    if (c && c->context) step(c, c->in_handler, 0);
    current = before;
    errno = saved;
}

/* ---- workers ---- */

/* The program's own work beside the calls: memory, rounding and signal mask must stay what they are. */
struct own {
    uint64_t block[BLOCK / 8], seed;
    volatile double third;
};

static double a_third(void)
{
    volatile double one = 1, three = 3;
    return one / three;
}

static void own_begin(struct own *o, uint64_t seed)
{
    fesetround(FE_UPWARD);
    o->third = a_third();
    o->seed = seed;
    for (unsigned i = 0; i < BLOCK / 8; i++) o->block[i] = random_next(&seed);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void own_check(struct driver *d, const struct own *o)
{
    uint64_t seed = o->seed;
    sigset_t set;
    for (unsigned i = 0; i < BLOCK / 8; i++)
        if (o->block[i] != random_next(&seed)) truth_wrong(d->truth, "the driver's memory was changed");
    if (a_third() != o->third || fegetround() != FE_UPWARD) truth_wrong(d->truth, "the rounding mode was changed");
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    if (!sigismember(&set, SIGUSR2) || sigismember(&set, SIGUSR1)) truth_wrong(d->truth, "the signal mask was changed");
}

static void *work(void *arg)
{
    struct caller *c = arg;
    struct driver *d = c->driver;
    const struct planned_thread *t = &d->plan.threads[c - d->workers];
    struct own own;
    own_begin(&own, (uint64_t)(uintptr_t)c);
    caller_make(d, c, t);
    interrupted = c;
    bool first = true;
    while (first || !atomic_load_explicit(&d->stop, memory_order_relaxed)) {
        caller_begin(c);
        if (first) atomic_fetch_add(&d->begun, 1);
        first = false;
        for (uint32_t n = 0; n < t->life && !atomic_load_explicit(&d->stop, memory_order_relaxed); n++) {
            for (uint32_t i = 0; i < t->burst; i++) caller_operation(c, false);
            if (n % LOOK_EVERY == 0) own_check(d, &own);
            if (t->pace_us) usleep(t->pace_us);
        }
        if (t->life != UINT32_MAX || d->plan.seed % 2) caller_end(c);
    }
    own_check(d, &own);
    interrupted = NULL;
    return NULL;
}

void driver_join(struct driver *d)
{
    atomic_store(&d->stop, true);
    for (int i = 0; i < d->plan.nthreads && !d->joined; i++) pthread_join(d->workers[i].thread, NULL);
    d->joined = true;
}

void driver_exits(struct driver *d)
{
    enter(d->main.cell, PHASE_EXIT);
    atomic_store(&d->truth->ending, 1);
}

/* A constructor of a library calls this, while the loader is locked. */
void campaign_in_constructor(void);
void campaign_in_constructor(void)
{
    struct caller c = {0};
    caller_make(&me, &c, &me.plan.threads[0]);
    caller_begin(&c);
    for (int i = 0; i < 20; i++) caller_operation(&c, false);
    caller_end(&c);
}

/* ---- life ---- */

static void until_ms(const struct timespec *from, uint32_t ms)
{
    struct timespec t = *from;
    t.tv_sec += ms / 1000;
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) t.tv_sec++, t.tv_nsec -= 1000000000;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) continue;
}

static void call_faults(struct driver *d, enum when when, const struct timespec *from)
{
    for (int i = 0; i < d->plan.nfaults; i++) {
        const struct planned *p = &d->plan.faults[i];
        const struct fault *f = &faults[p->fault];
        if (f->when != when || !f->inside) continue;
        if (from) until_ms(from, p->at_ms);
        f->inside(d, p);
    }
}

static bool read_plan(const char *folder, struct plan *plan)
{
    char path[600];
    snprintf(path, sizeof path, "%s/plan", folder);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool whole = fd >= 0 && read(fd, plan, sizeof *plan) == (ssize_t)sizeof *plan;
    if (fd >= 0) close(fd);
    return whole;
}

int driver_main(const char *folder, int image)
{
    struct driver *d = &me;
    char path[600];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(d->folder, sizeof d->folder, "%s", folder);
    snprintf(path, sizeof path, "%s/truth", folder);
    d->image = image;
    d->truth = truth_map(path, false);
    if (!d->truth || !read_plan(folder, &d->plan)) return 97;
    dlopen("libgcc_s.so.1", RTLD_NOW); /* pthread_cancel() needs it, and a descriptor to load it */
    if (!image) call_faults(d, WHEN_SETUP, NULL);
    for (int i = 0; i < PLAN_COPIES; i++) d->copies[i] = must_open(folder, "plugin", i);
    if (!(d->plan.flags & UNLOADS)) /* they stay */
        for (int i = 0; i < PLAN_NCCLS; i++) d->nccls[i] = must_open(folder, "nccl", i);
    caller_make(d, &d->main, &d->plan.threads[0]);
    if (image) { /* behind execve: a short life of its own, with a recording or without */
        if (d->plan.seed % 3) {
            caller_begin(&d->main);
            for (int i = 0; i < 1000; i++) caller_operation(&d->main, false);
        }
        usleep(150000);
        driver_exits(d);
        exit(7);
    }
    if (d->plan.flags & SIGNALS) {
        struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
        sigaction(SIGPROF, &action, NULL);
    }
    for (int i = 0; i < d->plan.nthreads; i++) {
        d->workers[i].driver = d;
        if (pthread_create(&d->workers[i].thread, NULL, work, &d->workers[i])) _exit(96);
    }
    struct timespec began;
    while (atomic_load(&d->begun) < d->plan.nthreads) usleep(500);
    atomic_store(&d->truth->ready, 1);
    clock_gettime(CLOCK_MONOTONIC, &began);
    call_faults(d, WHEN_INSIDE, &began);
    until_ms(&began, d->plan.milliseconds);
    call_faults(d, WHEN_ENDING, NULL);
    return 95;
}
