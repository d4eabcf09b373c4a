#include "sim/loader.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct {
    pthread_mutex_t lock;
    int refs;
    bool off; /* until the process ends */
    void *lib;
    struct rs_sim_plugin plugin;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int mask;

int *rs_sim_mask_at(void)
{
    return &mask;
}

int rs_sim_mask(void)
{
    return __atomic_load_n(&mask, __ATOMIC_RELAXED);
}

static bool is_library_name(const char *name)
{
    size_t n = strlen(name);
    return n >= 6 && strncmp(name, "lib", 3) == 0 && strcmp(name + n - 3, ".so") == 0;
}

/* Appends what dlopen says to `why`. */
static void *open_lib(const char *name, char *why, size_t cap)
{
    void *lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!lib) {
        const char *e = dlerror();
        size_t used = strlen(why);
        snprintf(why + used, cap - used, "%s%s", used ? "; " : "", e ? e : "cannot be opened");
    }
    return lib;
}

static void *find_lib(char *why, size_t cap)
{
    const char *name = getenv("NCCL_PROFILER_PLUGIN");
    if (!name) return open_lib("libnccl-profiler.so", why, cap);
    /* Like NCCL, compares as many characters as the value has: any prefix matches. */
    if (strncasecmp(name, "STATIC_PLUGIN", strlen(name)) == 0) return open_lib(NULL, why, cap);
    void *lib = open_lib(name, why, cap);
    if (lib || strchr(name, '/') || is_library_name(name)) return lib;
    char longer[PATH_MAX];
    snprintf(longer, sizeof longer, "libnccl-profiler-%s.so", name);
    return open_lib(longer, why, cap);
}

/* Called with the lock held. */
static void load(const struct rs_sim_job *job)
{
    struct rs_sim_plugin *p = &state.plugin;
    *p = (struct rs_sim_plugin){.native = job->plan->cfg.api, .counts = &job->shared->procs[job->process].counts};
    if (job->plan->cfg.count_only) return;
    const char *name = getenv("NCCL_PROFILER_PLUGIN");
    if (name && strcasecmp(name, "none") == 0) {
        state.off = true;
        return;
    }
    char why[400] = "";
    state.lib = find_lib(why, sizeof why);
    if (!state.lib) {
        state.off = true;
        rs_sim_failure(job, "no profiler plugin could be loaded: %s", why);
        return;
    }
    for (int v = p->native; v >= 1; v--) {
        char symbol[32];
        snprintf(symbol, sizeof symbol, "ncclProfiler_v%d", v);
        void *found = dlsym(state.lib, symbol);
        if (!found) continue;
        p->version = v;
        p->v1 = found; /* all members of the union are pointers */
        atomic_store(&job->shared->procs[job->process].plugin_version, v);
        return;
    }
    dlclose(state.lib);
    state.lib = NULL;
    state.off = true;
    rs_sim_failure(job, "the profiler plugin %s has no ncclProfiler_v%d or older", name ? name : "libnccl-profiler.so",
                   p->native);
}

struct rs_sim_plugin *rs_sim_plugin_acquire(const struct rs_sim_job *job)
{
    struct rs_sim_plugin *p = NULL;
    pthread_mutex_lock(&state.lock);
    if (!state.off && state.refs == 0) load(job);
    if (!state.off) {
        state.refs++;
        p = &state.plugin;
    }
    pthread_mutex_unlock(&state.lock);
    return p;
}

void rs_sim_plugin_release(struct rs_sim_plugin *plugin)
{
    if (!plugin) return;
    pthread_mutex_lock(&state.lock);
    if (--state.refs == 0) {
        if (state.lib) dlclose(state.lib);
        state.lib = NULL;
        __atomic_store_n(&mask, 0, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&state.lock);
}
