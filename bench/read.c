/* Speed and memory of the reader: some commands on a recording.
 *
 *   read [-r rounds] [-o results] RINGSCOPE FOLDER COMMAND...      COMMAND: info, report, ops, jsonl (export --to jsonl)
 *
 * Each command runs in its own process; what it prints is counted on its way into /dev/null. Rates are of its CPU time
 * (a core's worth), best of the rounds; MB are of 10^6 bytes. */
#include <fcntl.h>
#include <getopt.h>
#include <sys/resource.h>

#include "measure.h"

struct reading {
    double cpu_s, wall_s;
    uint64_t printed;
    long rss_kib;
};

static struct reading read_once(char *const *command)
{
    int fd[2], nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0 || pipe2(fd, O_CLOEXEC)) die("pipe: %s", strerror(errno));
    struct reading r = {.printed = 0};
    fflush(NULL);
    double begin = ns_of(CLOCK_MONOTONIC);
    pid_t pid = fork();
    if (pid < 0) die("fork: %s", strerror(errno));
    if (!pid) {
        dup2(fd[1], STDOUT_FILENO);
        execv(command[0], command);
        _exit(127);
    }
    close(fd[1]);
    ssize_t n; /* moved, not copied: the reader should wait for nothing */
    while ((n = splice(fd[0], NULL, nowhere, NULL, 1 << 20, 0)) > 0) r.printed += (uint64_t)n;
    if (n < 0) die("splice: %s", strerror(errno));
    int status;
    struct rusage usage;
    if (wait4(pid, &status, 0, &usage) != pid || status) die("%s %s failed", command[0], command[1]);
    r.wall_s = (ns_of(CLOCK_MONOTONIC) - begin) / 1e9;
    r.cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
              (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    r.rss_kib = usage.ru_maxrss;
    close(fd[0]);
    close(nowhere);
    return r;
}

static void measure(const char *name, char *const *command, int rounds, const struct held *h)
{
    struct reading best = {.cpu_s = 1e9};
    for (int i = 0; i < rounds; i++) {
        struct reading r = read_once(command);
        if (r.cpu_s < best.cpu_s) best = r;
    }
    printf("  %-8s %7.1f M callbacks/s, %6.0f MB/s of memory records, %6.0f MB/s printed; %.2f s (%.2f s wall), "
           "peak %.0f MiB\n",
           name, (double)h->kept / best.cpu_s / 1e6, (double)h->words_bytes / best.cpu_s / 1e6,
           (double)best.printed / best.cpu_s / 1e6, best.cpu_s, best.wall_s, (double)best.rss_kib / 1024);
    char key[64];
    snprintf(key, sizeof key, "read_%s", name);
    result(key, "%.1f %.0f %.0f %.0f", (double)h->kept / best.cpu_s / 1e6, (double)h->words_bytes / best.cpu_s / 1e6,
           (double)best.rss_kib / 1024, (double)best.printed / best.cpu_s / 1e6);
}

int main(int argc, char **argv)
{
    int o, rounds = 3;
    while ((o = getopt(argc, argv, "r:o:")) != -1) switch (o) {
        case 'r': rounds = atoi(optarg); break;
        case 'o': bench_results = optarg; break;
        default: return 2;
        }
    if (argc - optind < 3 || rounds < 1) {
        fputs("usage: read [-r rounds] [-o results] RINGSCOPE FOLDER COMMAND...\n", stderr);
        return 2;
    }
    char *ringscope = argv[optind], *in = argv[optind + 1];
    struct held h;
    held_in(in, &h);
    printf("\nreading %.1f M callbacks, %.0f MB on disk, %.0f MB as they lay in memory; best of %d\n",
           (double)h.kept / 1e6, (double)h.file_bytes / 1e6, (double)h.words_bytes / 1e6, rounds);
    for (int i = optind + 2; i < argc; i++) {
        bool jsonl = !strcmp(argv[i], "jsonl");
        char *plain[] = {ringscope, argv[i], in, NULL}, *export[] = {ringscope, "export", "--to", "jsonl", in, NULL};
        measure(argv[i], jsonl ? export : plain, jsonl ? 1 : rounds, &h);
    }
    return 0;
}
