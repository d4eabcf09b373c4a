#include "plugin/log.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plugin/alone.h"
#include "plugin/facts.h"

enum state { UNSAID, WRITTEN_NOW, WAITS, PASSED_ON };

static struct {
    _Atomic uint32_t state; /* enum state */
    int level;
    char text[480];
} said[RS_MESSAGES];
static _Atomic bool wanted; /* warnings on standard error */
static _Atomic uint32_t in_nccl; /* threads inside init or finalize: they pass on messages */
static _Atomic uint32_t news; /* counts; a futex of the thread */
static _Atomic bool closing;

static void pass_on(int i, rs_nccl_logger logger)
{
    uint32_t waits = WAITS;
    if (!logger && (said[i].level != RS_NCCL_LOG_WARN || !atomic_load(&wanted))) return;
    if (!atomic_compare_exchange_strong(&said[i].state, &waits, PASSED_ON)) return;
    if (logger) {
        logger(said[i].level, RS_NCCL_SUBSYS_PROFILE, "ringscope", 0, "ringscope: %s", said[i].text);
        return;
    }
    char line[512];
    int n = snprintf(line, sizeof line, "ringscope: %s\n", said[i].text);
    if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0) return; /* nothing can be done */
}

static void pass_all_on(rs_nccl_logger logger)
{
    for (int i = 0; i < RS_MESSAGES; i++) pass_on(i, logger);
}

/* ---- the thread ---- */

static void wake(void)
{
    int error = errno; /* a callback's */
    atomic_fetch_add(&news, 1);
    syscall(SYS_futex, &news, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
    errno = error;
}

static void *log_main(void *unused)
{
    rs_alone_begin(RS_THREAD_LOG);
    for (;;) {
        uint32_t heard = atomic_load(&news);
        bool last = atomic_load(&closing);
        if (!atomic_load(&in_nccl)) pass_all_on(NULL);
        if (last) break;
        syscall(SYS_futex, &news, FUTEX_WAIT_PRIVATE, heard, NULL, NULL, 0);
    }
    rs_alone_end(RS_THREAD_LOG);
    return unused;
}

void rs_log_start(void)
{
    pthread_t thread;
    sigset_t all, old;
    if (!atomic_load(&wanted)) return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* the thread inherits this */
    /* The default stack size: the program's thread-local variables are in it too, and may be large. */
    if (!pthread_create(&thread, NULL, log_main, NULL)) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void rs_log_close(void)
{
    atomic_store(&closing, true);
    wake();
}

void rs_log_rest(void)
{
    pass_all_on(NULL);
}

void rs_log_reset(void)
{
    memset(said, 0, sizeof said);
    atomic_store(&in_nccl, 0);
    atomic_store(&closing, false);
}

/* ---- init and finalize ---- */

void rs_log_enter(void)
{
    atomic_fetch_add(&in_nccl, 1);
    /* Read here, inside NCCL's init, which reads the environment too; not in the background. */
    const char *debug = getenv("NCCL_DEBUG");
    atomic_store(&wanted, debug && strcasecmp(debug, "NONE") && strcasecmp(debug, "VERSION"));
}

void rs_log_leave(rs_nccl_logger logger)
{
    pass_all_on(logger);
    atomic_fetch_sub(&in_nccl, 1);
    for (int i = 0; i < RS_MESSAGES; i++) {
        if (atomic_load(&said[i].state) != WAITS || said[i].level != RS_NCCL_LOG_WARN) continue;
        wake(); /* issued just now */
        return;
    }
}

/* ---- issuing ---- */

static void say(int level, enum rs_message what, const char *fmt, va_list ap)
{
    uint32_t unsaid = UNSAID;
    if (!atomic_compare_exchange_strong(&said[what].state, &unsaid, WRITTEN_NOW)) return;
    said[what].level = level;
    vsnprintf(said[what].text, sizeof said[what].text, fmt, ap);
    atomic_store(&said[what].state, WAITS);
    if (level != RS_NCCL_LOG_WARN) return;
    rs_fact_note("%s", said[what].text);
    if (!atomic_load(&in_nccl)) wake();
}

void rs_warn_once(enum rs_message what, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(RS_NCCL_LOG_WARN, what, fmt, ap);
    va_end(ap);
}

void rs_info_once(enum rs_message what, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(RS_NCCL_LOG_INFO, what, fmt, ap);
    va_end(ap);
}
