#include "plugin/control.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "format/settings.h"
#include "nccl/abi.h"
#include "plugin/facts.h"
#include "plugin/log.h"
#include "plugin/tick.h"

enum { SHM_LEAST_MIB = 256 }; /* with less NCCL crashes when KernelCh is on */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *target; /* NCCL's mask; NULL: no communicator */
static int wanted, ordered = -1; /* by the environment; by the control file (-1: nothing) */
static int recorded = -1; /* what the last mask fact said */
static struct timespec seen; /* the control file's mtime */
static off_t seen_size;

/* KernelCh needs shared memory in NCCL itself. */
static int mask_for_machine(int mask)
{
    struct statvfs shm;
    int kernel = RS_KERNEL_CH | RS_KERNEL_PHASE;
    if (!(mask & kernel) || statvfs("/dev/shm", &shm)) return mask;
    uint64_t mib = (uint64_t)shm.f_bavail * shm.f_frsize >> 20;
    if (mib >= SHM_LEAST_MIB) return mask;
    rs_warn_once(
        RS_SAID_SHM,
        "only %llu MiB are free in /dev/shm: GPU times (KernelCh) are left out, since NCCL may crash with them. Give "
        "the container a larger /dev/shm (--shm-size).",
        (unsigned long long)mib);
    return mask & ~kernel;
}

/* With the lock held. */
static void apply(void)
{
    int mask = mask_for_machine(ordered >= 0 ? ordered : wanted);
    if (target) __atomic_store_n(target, mask, __ATOMIC_RELAXED);
    if (mask == recorded) return;
    uint64_t word = (uint64_t)mask;
    if (rs_fact(RS_FACT_MASK, rs_tick(), &word, sizeof word, NULL, 0)) recorded = mask;
}

void rs_control_attach(int *nccl_mask, int mask)
{
    pthread_mutex_lock(&lock);
    target = nccl_mask;
    wanted = mask;
    apply();
    pthread_mutex_unlock(&lock);
}

void rs_control_detach(void)
{
    pthread_mutex_lock(&lock);
    target = NULL;
    pthread_mutex_unlock(&lock);
}

/* "events=WORD" on a line of its own; spaces around are fine. */
static bool parse(char *text, int *mask)
{
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char word[32];
        if (sscanf(line, " events = %31s", word) == 1) return rs_setting_mask(word, mask);
    }
    return false;
}

static void order(int mask)
{
    pthread_mutex_lock(&lock);
    ordered = mask;
    apply();
    pthread_mutex_unlock(&lock);
}

void rs_control_mute(void)
{
    order(0);
}

void rs_control_look(const char *dir, bool first)
{
    char path[3200], text[512];
    snprintf(path, sizeof path, "%s/control", dir);
    struct stat st = {0};
    if (stat(path, &st)) {
        if (seen.tv_sec) order(-1); /* it is gone again, and so is what it said */
        seen = (struct timespec){0};
        return;
    }
    /* The size too: a shell empties a file and then writes it, both within one tick of the file system's clock. */
    if (st.st_mtim.tv_sec == seen.tv_sec && st.st_mtim.tv_nsec == seen.tv_nsec && st.st_size == seen_size) return;
    seen = st.st_mtim;
    seen_size = st.st_size;
    if (first) return; /* an earlier job's */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    if (n <= 0) return; /* nothing yet */
    text[n] = 0;
    int mask;
    if (parse(text, &mask))
        order(mask);
    else
        rs_fact_note("%s was changed but has no line events=ops|net|all|off|MASK", path);
}

void rs_control_reset(void)
{
    pthread_mutex_init(&lock, NULL);
    target = NULL;
    ordered = recorded = -1;
    seen = (struct timespec){0};
}
