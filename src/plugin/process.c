#include "plugin/process.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nccl/version.h"
#include "plugin/facts.h"

extern char **environ;

/* Recorded with their values; nothing else of the environment is. */
static const char *const prefixes[] = {"NCCL_", "CUDA_", "TORCH_", "RINGSCOPE_"};
static const char *const launchers[] = {
    "RANK",         "LOCAL_RANK",    "WORLD_SIZE",   "LOCAL_WORLD_SIZE", "GROUP_RANK",           "SLURM_JOB_ID",
    "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_NTASKS",     "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
    "PMI_RANK",     "PMI_SIZE",      "PMIX_RANK",    "MPI_LOCALRANKID",  "TORCHELASTIC_RUN_ID"};

static int wanted(const char *entry, size_t name)
{
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strncmp(entry, prefixes[i], strlen(prefixes[i]))) return 1;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (strlen(launchers[i]) == name && !strncmp(entry, launchers[i], name)) return 1;
    return 0;
}

static void environment(void)
{
    for (char **e = environ; e && *e; e++) {
        size_t name = strcspn(*e, "=");
        if (!(*e)[name] || name > 120 || !wanted(*e, name)) continue;
        char key[128], value[4096];
        snprintf(key, sizeof key, "env.%.*s", (int)name, *e);
        if ((size_t)snprintf(value, sizeof value, "%s", *e + name + 1) >= sizeof value)
            rs_fact_note("%s is truncated to 4095 bytes", key);
        rs_fact_info(key, value);
    }
}

void rs_process_find_nccl(struct rs_nccl_library *library, const void *in_nccl)
{
    Dl_info where;
    struct link_map *map;
    library->version[0] = library->path[0] = 0;
    if (!in_nccl || !dladdr1(in_nccl, &where, (void **)&map, RTLD_DL_LINKMAP) || !where.dli_fname) return;
    /* By the name under which it was loaded: with another the loader would open files (device.c). "": part of the
     * program. */
    void *lib = map->l_name[0] ? dlopen(map->l_name, RTLD_NOW | RTLD_NOLOAD) : dlopen(NULL, RTLD_NOW);
    if (lib) {
        int (*get)(int *), version;
        *(void **)&get = dlsym(lib, "ncclGetVersion");
        if (get && !get(&version)) rs_nccl_version_text(version, library->version, sizeof library->version);
        snprintf(library->path, sizeof library->path, "%s", where.dli_fname);
        dlclose(lib);
    }
    dlerror(); /* the program must not see our message */
}

void rs_process_facts(const struct rs_config *config, const struct rs_nccl_library *library)
{
    char text[4096];
    rs_fact_info("ringscope.version", RS_VERSION);
    ssize_t n = readlink("/proc/self/exe", text, sizeof text - 1);
    if (n > 0) {
        text[n] = 0;
        rs_fact_info("exe", text);
    }
    if (getcwd(text, sizeof text)) rs_fact_info("cwd", text);
    if (config->test_host[0]) rs_fact_info("test.host", config->test_host);
    if (config->test_clock) {
        snprintf(text, sizeof text, "%lld:%g", (long long)config->test_offset_ns, config->test_ppm);
        rs_fact_info("test.clock", text);
    }
    if (library->version[0]) rs_fact_info("nccl.version", library->version);
    if (library->path[0]) rs_fact_info("nccl.library", library->path);
    environment();
}
