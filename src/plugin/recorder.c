#include "plugin/recorder.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "plugin/buffers.h"
#include "plugin/config.h"
#include "plugin/control.h"
#include "plugin/detail.h"
#include "plugin/facts.h"
#include "plugin/log.h"
#include "plugin/masks.h"
#include "plugin/sealer.h"
#include "plugin/strings.h"
#include "plugin/tick.h"

extern char **environ;

enum {
    OPEN_WAIT_MS = 5000, /* a hanging file system must not block the job */
    CLOSE_WAIT_MS = 10000,
    NAME_BYTES = 4096, /* of a communicator's name */
    PATH_BYTES = 4096,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rs_config config;
static int described; /* the process facts are written */
static uint64_t contexts; /* given out */
static pid_t owner; /* the process that opened the recording; 0 = none */
int rs_keep_captured;

static void choose_nonce(void)
{
    uint16_t nonce = 0;
    if (getrandom(&nonce, sizeof nonce, GRND_NONBLOCK) != sizeof nonce || !nonce) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        nonce = (uint16_t)((uint64_t)t.tv_nsec * 2654435761u >> 16 ^ (uint64_t)getpid());
    }
    rs_nonce = nonce ? nonce : 1;
    rs_context_base = rs_handle(rs_nonce, RS_SLOT_CONTEXT, 0);
}

static void child_after_fork(void)
{
    /* Other threads of the parent may have held any lock: all are initialized again. */
    pthread_mutex_init(&lock, NULL);
    rs_sealer_forget();
    rs_pool_forget();
    rs_facts_reset();
    rs_strings_reset();
    rs_masks_reset();
    rs_control_reset();
    rs_detail_reset();
    rs_log_reset();
    contexts = 0;
    described = 0;
    owner = 0;
}

static void register_fork_handler(void)
{
    pthread_atfork(NULL, NULL, child_after_fork);
}

/* With the lock held. */
static void open_if_needed(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (owner) return;
    owner = getpid();
    pthread_once(&once, register_fork_handler);
    rs_tick_choose();
    choose_nonce();
    rs_config_read(&config);
    rs_log_start();
    rs_keep_captured = config.keep_last;
    rs_detail_start(&config);
    bool late = rs_sealer_start(&config, OPEN_WAIT_MS) == RS_SEALER_OPENING;
    if (late)
        rs_warn_once(RS_MESSAGE_LATE, "the file system of %s does not answer; recording begins when it does",
                     config.dir);
    if (config.bad[0])
        rs_warn_once(RS_MESSAGE_SETTING, "invalid or out of range: %s. The default or the nearest bound is used",
                     config.bad);
}

/* ---- facts about the process ---- */

/* Recorded with their values; nothing else of the environment is. */
static const char *const prefixes[] = {"NCCL_", "CUDA_", "TORCH_", "RINGSCOPE_"};
static const char *const launchers[] = {
    "RANK",         "LOCAL_RANK",    "WORLD_SIZE",   "LOCAL_WORLD_SIZE", "GROUP_RANK",           "SLURM_JOB_ID",
    "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_NTASKS",     "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
    "PMI_RANK",     "PMI_SIZE",      "PMIX_RANK",    "MPI_LOCALRANKID",  "TORCHELASTIC_RUN_ID"};

static int is_recorded(const char *entry, size_t name)
{
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strncmp(entry, prefixes[i], strlen(prefixes[i]))) return 1;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (strlen(launchers[i]) == name && !strncmp(entry, launchers[i], name)) return 1;
    return 0;
}

static void write_environment(void)
{
    for (char **e = environ; e && *e; e++) {
        size_t name = strcspn(*e, "=");
        if (!(*e)[name] || name > 120 || !is_recorded(*e, name)) continue;
        char key[128], value[4096];
        snprintf(key, sizeof key, "env.%.*s", (int)name, *e);
        if ((size_t)snprintf(value, sizeof value, "%s", *e + name + 1) >= sizeof value)
            rs_fact_note("%s is truncated to 4095 bytes", key);
        rs_fact_info(key, value);
    }
}

struct nccl_library {
    char version[32], path[PATH_BYTES]; /* "" = unknown */
};

/* 22809 -> "2.28.9", and before 2.9 2804 -> "2.8.4". */
static void version_text(int version, char *text, size_t bytes)
{
    int unit = version >= 10000 ? 10000 : 1000;
    snprintf(text, bytes, "%d.%d.%d", version / unit, version % unit / 100, version % 100);
}

/* The library that contains `in_nccl`, an address inside NCCL (its mask). Calls the loader: no lock of ours may be
 * held, since another thread may create a communicator inside dlopen(). */
static void find_nccl(struct nccl_library *library, const void *in_nccl)
{
    Dl_info where;
    struct link_map *map;
    library->version[0] = library->path[0] = 0;
    if (!in_nccl || !dladdr1(in_nccl, &where, (void **)&map, RTLD_DL_LINKMAP) || !where.dli_fname) return;
    /* By the name under which it was loaded: with another the loader would open files (see find_driver_library()).
     * "": part of the program. */
    void *lib = map->l_name[0] ? dlopen(map->l_name, RTLD_NOW | RTLD_NOLOAD) : dlopen(NULL, RTLD_NOW);
    if (lib) {
        int (*get)(int *), version;
        *(void **)&get = dlsym(lib, "ncclGetVersion");
        if (get && !get(&version)) version_text(version, library->version, sizeof library->version);
        snprintf(library->path, sizeof library->path, "%s", where.dli_fname);
        dlclose(lib);
    }
    dlerror(); /* the program must not see our message */
}

/* Reads the environment, so it runs inside NCCL's init (which reads it as well) and not in the background. */
static void write_process_facts(const struct nccl_library *library)
{
    char text[4096];
    rs_fact_info("ringscope.version", RS_VERSION);
    ssize_t n = readlink("/proc/self/exe", text, sizeof text - 1);
    if (n > 0) {
        text[n] = 0;
        rs_fact_info("exe", text);
    }
    if (getcwd(text, sizeof text)) rs_fact_info("cwd", text);
    if (config.test_host[0]) rs_fact_info("test.host", config.test_host);
    if (config.test_clock) {
        snprintf(text, sizeof text, "%lld:%g", (long long)config.test_offset_ns, config.test_ppm);
        rs_fact_info("test.clock", text);
    }
    if (library->version[0]) rs_fact_info("nccl.version", library->version);
    if (library->path[0]) rs_fact_info("nccl.library", library->path);
    write_environment();
}

/* ---- the GPU of a communicator ----
 *
 * From the CUDA driver that is already in the process: looked up by name at run time, never linked or loaded by us.
 * Called at init only: in other callbacks CUDA calls may deadlock. */

/* The name under which the driver library was loaded, if it was. Given its short name the loader would search folders
 * and open files in the program's descriptor table, where another thread may close them or reuse their numbers. */
static int find_driver_library(struct dl_phdr_info *info, size_t bytes, void *path)
{
    (void)bytes;
    const char *file = strrchr(info->dlpi_name, '/');
    file = file ? file + 1 : info->dlpi_name;
    if (strncmp(file, "libcuda.so", strlen("libcuda.so")) != 0) return 0;
    return snprintf(path, PATH_BYTES, "%s", info->dlpi_name) < PATH_BYTES;
}

/* A driver function, in the program itself or in the driver library if that is loaded. */
static void *driver_function(const char *name)
{
    char path[PATH_BYTES];
    void *f = dlsym(RTLD_DEFAULT, name);
    if (f) return f;
    void *lib = dl_iterate_phdr(find_driver_library, path) ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (!lib) return NULL;
    f = dlsym(lib, name);
    dlclose(lib); /* drops the reference that NOLOAD took; NCCL holds its own */
    return f;
}

/* dlsym returns void *, which POSIX allows to convert to a function pointer */
static _Atomic(void *) current_f, bus_id_f, uuid_f;

/* Looks up the driver's functions, once. Calls the loader: see find_nccl(). */
static void find_driver(void)
{
    if (!current_f) {
        void *uuid = driver_function("cuDeviceGetUuid_v2");
        bus_id_f = driver_function("cuDeviceGetPCIBusId");
        uuid_f = uuid ? uuid : driver_function("cuDeviceGetUuid");
        current_f = driver_function("cuCtxGetDevice");
    }
    dlerror(); /* the program must not see our message */
}

/* Fills in device, bus_id and uuid of the calling thread's current device; leaves -1 and zeros if unknown. */
static void get_device(struct rs_fact_comm *comm)
{
    int (*current)(int *), (*bus_id)(char *, int, int), (*uuid)(void *, int), device;
    comm->device = -1;
    *(void **)&current = current_f;
    *(void **)&bus_id = bus_id_f;
    *(void **)&uuid = uuid_f;
    if (!current || current(&device)) return;
    comm->device = device;
    if (bus_id && bus_id(comm->bus_id, sizeof comm->bus_id, device)) comm->bus_id[0] = 0;
    if (uuid && uuid(comm->uuid, device)) memset(comm->uuid, 0, sizeof comm->uuid);
}

/* ---- init and finalize ---- */

/* Init and finalize restore the thread's state. */
struct entered {
    int error, cancellable; /* a thread cancelled in here would leave a lock held */
};

static struct entered enter(void)
{
    struct entered e = {.error = errno};
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &e.cancellable);
    rs_log_enter();
    return e;
}

static void leave(struct entered e, rs_nccl_logger logger)
{
    rs_log_leave(logger);
    pthread_setcancelstate(e.cancellable, &e.cancellable);
    errno = e.error;
}

rs_nccl_result rs_recorder_init(void **context, int *mask, const struct rs_comm_args *args)
{
    struct entered e = enter();
    struct nccl_library library = {0};
    if (!rs_masks_known(mask)) {
        find_nccl(&library, mask);
        find_driver();
    }
    pthread_mutex_lock(&lock);
    open_if_needed();
    uint64_t called = rs_tick();
    enum rs_sealer_state state = rs_sealer_state();
    bool mute = state == RS_SEALER_FAILED || state == RS_SEALER_NONE;
    if (!mute && !described) {
        described = 1;
        write_process_facts(&library);
    }
    uint64_t index = ++contexts;
    pthread_mutex_unlock(&lock);

    /* A mute recorder requests nothing from NCCL: that costs the job least. */
    if (mute || state == RS_SEALER_CLOSED) rs_masks_mute();
    rs_masks_join(mask, args->api, args->logger, index, config.mask);
    /* An index that does not fit in a start word is written in full. */
    struct rs_fact_comm comm = {.context = rs_context_base + index,
                                .comm_id = args->comm_id,
                                .tid = (uint32_t)syscall(SYS_gettid),
                                .rank = args->rank,
                                .nranks = args->nranks,
                                .nnodes = args->nnodes,
                                .api = (uint8_t)args->api,
                                .has_name = args->name != NULL};
    get_device(&comm);
    comm.return_tick = rs_tick();
    char name[NAME_BYTES] = ""; /* truncated rather than lost */
    if (args->name) snprintf(name, sizeof name, "%s", args->name);
    if (!mute) rs_fact(RS_FACT_COMM, called, &comm, sizeof comm, name, strlen(name) + 1);
    if (state == RS_SEALER_OPEN) rs_sealer_flush(false);
    *context = (void *)(uintptr_t)comm.context;
    leave(e, args->logger);
    return RS_NCCL_SUCCESS;
}

rs_nccl_result rs_recorder_finalize(void *context)
{
    struct entered e = enter();
    struct rs_fact_comm_end end = {.context = (uintptr_t)context, .tid = (uint32_t)syscall(SYS_gettid)};
    rs_nccl_logger logger;
    bool last;
    rs_fact(RS_FACT_COMM_END, rs_tick(), &end, sizeof end, NULL, 0);
    if (rs_masks_leave((uintptr_t)context - rs_context_base, &logger, &last) && last &&
        rs_sealer_state() == RS_SEALER_OPEN)
        rs_sealer_flush(true);
    leave(e, logger);
    return RS_NCCL_SUCCESS;
}

__attribute__((destructor)) static void at_exit(void)
{
    if (!owner || owner != getpid()) return;
    rs_sealer_close(CLOSE_WAIT_MS);
    rs_log_rest();
}
