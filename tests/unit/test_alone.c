/* Whether only the recorder's threads are left, where /proc cannot be read: by its callers. */
#include "plugin/alone.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "plugin/buffers.h"

/* Ends the process, with the number of the first question that was answered wrong. */
static void *asks(void *unused)
{
    (void)unused;
    void *list;
    size_t n;
    while (!syscall(SYS_get_robust_list, getpid(), &list, &n) && list) /* main has not ended */
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, 0}); /* nothing can be opened, /proc/self/task neither */
    if (!rs_is_alone(true)) _exit(1);
    if (rs_is_alone(false)) _exit(2); /* a communicator is left, and it was not quiet for long */
    rs_pool.slots[0].tid = 4711;
    if (rs_is_alone(true)) _exit(3); /* a thread that called is left */
    rs_pool.slots[0].tid = 0;
    _exit(rs_is_alone(true) ? 0 : 4);
}

static void test_without_proc(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        size_t bytes = rs_pool_bytes((size_t)4 << 20);
        void *memory = aligned_alloc(4096, bytes);
        memset(memory, 0, bytes);
        pthread_t thread;
        if (!rs_pool_open(memory, bytes)) _exit(5);
        rs_pool.slots_made = 1;
        rs_alone_start();
        if (pthread_create(&thread, NULL, asks, NULL)) _exit(6);
        pthread_exit(NULL);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_without_proc)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
