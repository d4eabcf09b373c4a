/* The start of a program that runs with any glibc since 2.17 (stubs.sh). Before 2.34 a program called its own constructors:
 * its first code passed a function for that to __libc_start_main(). The first code that newer compilers link in passes NULL,
 * and relies on the library to do it. Linked with --wrap=__libc_start_main. */
#include <stddef.h>

typedef void (*init_fn)(int, char **, char **);

extern void (*__init_array_start[])(int, char **, char **);
extern void (*__init_array_end[])(int, char **, char **);
void _init(void);

static void construct(int argc, char **argv, char **envp)
{
    _init();
    for (size_t i = 0; i < (size_t)(__init_array_end - __init_array_start); i++)
        __init_array_start[i](argc, argv, envp);
}

int __real___libc_start_main(int (*)(int, char **, char **), int, char **, init_fn, void (*)(void), void (*)(void),
                             void *);
int __wrap___libc_start_main(int (*)(int, char **, char **), int, char **, init_fn, void (*)(void), void (*)(void),
                             void *);

int __wrap___libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, init_fn init,
                             void (*fini)(void), void (*loader_fini)(void), void *stack_end)
{
    return __real___libc_start_main(main, argc, argv, init != NULL ? init : construct, fini, loader_fini, stack_end);
}
