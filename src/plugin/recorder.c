#include "plugin/recorder.h"

#include <errno.h>
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
#include "plugin/device.h"
#include "plugin/facts.h"
#include "plugin/log.h"
#include "plugin/masks.h"
#include "plugin/process.h"
#include "plugin/sealer.h"
#include "plugin/strings.h"
#include "plugin/tick.h"

enum {
    OPEN_WAIT_MS = 5000, /* a hanging file system must not block the job */
    CLOSE_WAIT_MS = 10000,
    NAME_BYTES = 4096, /* of a communicator's name */
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
    bool late = rs_sealer_start(&config, OPEN_WAIT_MS) == RS_SEALER_OPENING;
    if (late)
        rs_warn_once(RS_MESSAGE_LATE, "the file system of %s does not answer; recording begins when it does",
                     config.dir);
    if (config.bad[0])
        rs_warn_once(RS_MESSAGE_SETTING, "invalid or out of range: %s. The default or the nearest bound is used",
                     config.bad);
}

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
    struct rs_nccl_library library = {0};
    if (!rs_masks_known(mask)) {
        rs_process_find_nccl(&library, mask);
        rs_device_find_driver();
    }
    pthread_mutex_lock(&lock);
    open_if_needed();
    uint64_t called = rs_tick();
    enum rs_sealer_state state = rs_sealer_state();
    bool mute = state == RS_SEALER_FAILED || state == RS_SEALER_NONE;
    if (!mute && !described) {
        described = 1;
        rs_process_facts(&config, &library);
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
    rs_device_of_thread(&comm);
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
