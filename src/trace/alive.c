#include "trace/alive.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void read_text(const char *path, char *to, size_t bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, to, bytes - 1);
    if (fd >= 0) close(fd);
    to[n > 0 ? n : 0] = 0;
}

enum rs_alive rs_process_alive(const struct rs_file_header *h)
{
    char boot[40], path[64], text[1024];
    read_text("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    boot[strcspn(boot, "\n")] = 0;
    if (!boot[0] || strcmp(boot, h->boot_id)) return RS_ALIVE_ELSEWHERE;
    struct stat ns;
    if (h->pid_namespace && !stat("/proc/self/ns/pid", &ns) && ns.st_ino != h->pid_namespace) return RS_ALIVE_ELSEWHERE;
    snprintf(path, sizeof path, "/proc/%u/stat", h->pid);
    read_text(path, text, sizeof text);
    const char *p = strrchr(text, ')'); /* the command before it may hold anything */
    if (!p || p[1] != ' ' || p[2] == 'Z' || p[2] == 'X') return RS_ALIVE_NO;
    for (int field = 2; p && field < 22; field++) p = strchr(p + 1, ' ');
    long hz = sysconf(_SC_CLK_TCK);
    bool same = p && hz > 0 && strtoull(p, NULL, 10) * (1000000000u / (uint64_t)hz) == h->process_start_ns;
    return same ? RS_ALIVE_YES : RS_ALIVE_NO; /* pids are used again */
}

bool rs_process_may_run(const struct rs_file_header *h)
{
    enum rs_alive alive = rs_process_alive(h);
    if (alive != RS_ALIVE_ELSEWHERE) return alive == RS_ALIVE_YES;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t age = (int64_t)now.tv_sec - (int64_t)(h->status.heartbeat_ns / 1000000000u);
    return age >= -10 && age <= 10;
}
