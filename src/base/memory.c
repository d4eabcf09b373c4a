#include "base/memory.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Atomic(void (*)(const char *)) ends;

void rs_memory_set_end(void (*end)(const char *why))
{
    atomic_store(&ends, end);
}

void rs_memory_end(const char *why)
{
    static atomic_flag ending = ATOMIC_FLAG_INIT;
    while (atomic_flag_test_and_set(&ending)) pause(); /* another thread reports it: one message */
    void (*end)(const char *) = atomic_load(&ends);
    if (end) end(why);
    ssize_t said = write(STDERR_FILENO, why, strlen(why));
    said = write(STDERR_FILENO, "\n", 1);
    (void)said;
    abort();
}

void rs_memory_out(void)
{
    rs_memory_end("out of memory");
}

void *rs_alloc(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p) rs_memory_out();
    return p;
}

void *rs_zalloc(size_t count, size_t size)
{
    void *p = count && size ? calloc(count, size) : calloc(1, 1);
    if (!p) rs_memory_out();
    return p;
}

void *rs_realloc(void *old, size_t bytes)
{
    void *p = realloc(old, bytes ? bytes : 1);
    if (!p) rs_memory_out();
    return p;
}

char *rs_strdup(const char *text)
{
    size_t n = strlen(text) + 1;
    return memcpy(rs_alloc(n), text, n);
}

char *rs_strndup(const char *text, size_t most)
{
    size_t n = strnlen(text, most);
    char *copy = rs_alloc(n + 1);
    memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

size_t rs_asprintf(char **text, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vasprintf(text, fmt, ap);
    va_end(ap);
    if (n < 0) rs_memory_out();
    return (size_t)n;
}
