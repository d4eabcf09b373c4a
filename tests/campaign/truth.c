#include "truth.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct truth *truth_map(const char *path, bool make)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | (make ? O_CREAT | O_EXCL : 0), 0600);
    if (fd < 0) return NULL;
    void *map = MAP_FAILED;
    if (!make || !ftruncate(fd, sizeof(struct truth)))
        map = mmap(NULL, sizeof(struct truth), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return map == MAP_FAILED ? NULL : map;
}

void truth_wrong(struct truth *t, const char *fmt, ...)
{
    char text[WRONG_BYTES];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    for (uint32_t i = 0; i < WRONGS && i < atomic_load(&t->nwrong); i++)
        if (!strcmp(t->wrong[i], text)) return; /* once is enough */
    uint32_t n = atomic_fetch_add(&t->nwrong, 1);
    if (n < WRONGS) memcpy(t->wrong[n], text, sizeof text);
}

static unsigned used(const struct truth *t)
{
    uint32_t n = atomic_load(&t->cells_used);
    return n < CELLS ? n : CELLS;
}

struct emitted truth_emitted(const struct truth *t, int32_t pid)
{
    struct emitted e = {0};
    uint32_t copies[2] = {0}, opened[2] = {0};
    for (unsigned i = 0; i < used(t); i++) {
        const struct cell *c = &t->cells[i];
        if (atomic_load(&c->pid) != pid) continue;
        uint64_t before = atomic_load(&c->returned);
        uint32_t phase = atomic_load(&c->phase);
        e.low += before;
        e.high += before + atomic_load(&c->unsure) + (phase != PHASE_NONE && phase != PHASE_EXIT);
        opened[c->image & 1] |= atomic_load(&c->opened);
        copies[c->image & 1] |= atomic_load(&c->copies);
    }
    for (int i = 0; i < 2; i++) {
        e.opened += (unsigned)__builtin_popcount(opened[i]);
        e.recordings += (unsigned)__builtin_popcount(copies[i]);
    }
    return e;
}

int32_t truth_process(const struct truth *t, unsigned n)
{
    for (unsigned i = 0; i < used(t); i++) {
        int32_t pid = atomic_load(&t->cells[i].pid);
        bool seen = !pid || !truth_emitted(t, pid).recordings;
        for (unsigned k = 0; k < i && !seen; k++) seen = atomic_load(&t->cells[k].pid) == pid;
        if (!seen && !n--) return pid;
    }
    return 0;
}
