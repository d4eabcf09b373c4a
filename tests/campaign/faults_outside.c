#include "faults_outside.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults.h"
#include "judge.h"

/* ---- places ---- */

static void mount_place(struct run *r, const char *type, const char *options)
{
    if (mount(type, r->place, type, 0, options)) truth_wrong(r->truth, "%s cannot be mounted", type);
}

void place_tmpfs(struct run *r, const struct planned *p)
{
    (void)p;
    mount_place(r, "tmpfs", "mode=755,size=512m"); /* more than any run fills */
}

void place_tiny(struct run *r, const struct planned *p)
{
    char options[64];
    snprintf(options, sizeof options, "mode=755,size=%uk", 4 + p->arg % 3000);
    mount_place(r, "tmpfs", options);
}

void place_ramfs(struct run *r, const struct planned *p)
{
    (void)p;
    mount_place(r, "ramfs", "mode=755");
}

void place_loop(struct run *r, const struct planned *p)
{
    (void)p;
    char image[600];
    snprintf(image, sizeof image, "%s/image", r->folder);
    int fd = open(image, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    bool made = fd >= 0 && !ftruncate(fd, 96 << 20);
    if (fd >= 0) close(fd);
    int status = made ? run_program(r, "mkfs", (const char *[]){"/sbin/mkfs.ext4", "-q", "-F", image, NULL}) : 1;
    if (!status) status = run_program(r, "mount", (const char *[]){"/bin/mount", "-o", "loop", image, r->place, NULL});
    /* Loop devices are few, and others may have them: then it is a plain folder. */
}

void out_no_proc(struct run *r, const struct planned *p)
{
    (void)p;
    if (unshare(CLONE_NEWNS) || mount("tmpfs", "/proc", "tmpfs", 0, NULL))
        truth_wrong(r->truth, "/proc cannot be covered");
}

/* ---- while it runs ---- */

/* The k-th file with this ending in the folder of the recording. */
static bool find(const char *dir, const char *ending, uint32_t k, char *path, size_t bytes)
{
    for (uint32_t pass = 0, n = 0; pass < 2 && (!pass || n); pass++) {
        uint32_t wanted = pass ? k % n : 0, at = 0;
        DIR *d = opendir(dir);
        for (struct dirent *e; d && (e = readdir(d));) {
            size_t length = strlen(e->d_name), tail = strlen(ending);
            if (length <= tail || strcmp(e->d_name + length - tail, ending) != 0) continue;
            if (!pass)
                n++;
            else if (at++ == wanted) {
                snprintf(path, bytes, "%s/%s", dir, e->d_name);
                closedir(d);
                return true;
            }
        }
        if (d) closedir(d);
    }
    return false;
}

void out_stop(struct run *r, const struct planned *p)
{
    run_signal(r, SIGSTOP);
    sleep_ms(p->arg % 600);
    run_signal(r, SIGCONT);
}

static void write_control(struct run *r, const char *text)
{
    char path[600];
    snprintf(path, sizeof path, "%s/control", r->dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return;
    ssize_t n = write(fd, text, strlen(text));
    (void)n; /* a full disk is one of the faults */
    close(fd);
}

void out_control(struct run *r, const struct planned *p)
{
    static const char *const words[] = {"off", "all", "ops", "net", "0x2", "0x42"};
    char text[32];
    for (uint32_t i = 0; i < 1 + p->arg % 3; i++) {
        snprintf(text, sizeof text, "events=%s\n", words[(p->arg / 3 + i) % 6]);
        write_control(r, text);
        sleep_ms(p->arg % 1300);
    }
}

void out_control_garbage(struct run *r, const struct planned *p)
{
    char text[900];
    uint64_t seed = p->arg;
    for (unsigned i = 0; i < sizeof text - 1; i++) text[i] = (char)(1 + random_below(&seed, 255));
    text[sizeof text - 1] = 0;
    write_control(r, text);
}

void out_control_link(struct run *r, const struct planned *p)
{
    char path[600];
    snprintf(path, sizeof path, "%s/control", r->dir);
    unlink(path);
    if (symlink(p->arg & 1 ? "/dev/zero" : "/nowhere/at/all", path)) return;
}

void out_read(struct run *r, const struct planned *p)
{
    struct bounds before;
    bounds_take(r->truth, &before);
    (void)p;
    judge_live(r, "live", r->dir, &before, r->plan.flags);
}

void out_gather(struct run *r, const struct planned *p)
{
    (void)p;
    int status = run_program(r, "gather-live", (const char *[]){r->tools->reader, "gather", r->dir, NULL});
    if (status < 0 || !WIFEXITED(status) || WEXITSTATUS(status) > 1)
        truth_wrong(r->truth, "gather of a running job ended with status 0x%x", (unsigned)status);
}

void out_gather_stopped(struct run *r, const struct planned *p)
{
    run_signal(r, SIGSTOP);
    sleep_ms(11000);
    if (!unshare(CLONE_NEWPID)) out_gather(r, p);
    run_signal(r, SIGCONT);
}

void out_copy(struct run *r, const struct planned *p)
{
    struct bounds before;
    char copy[600];
    run_copy_name(r, "copy", p->arg, copy, sizeof copy);
    bounds_take(r->truth, &before);
    run_copy(r->dir, copy, p->arg, p->arg % 300);
    judge_live(r, "copied", copy, &before, r->plan.flags | MAY_BE_MUTE);
}

static void freeze(struct run *r, uint32_t ms)
{
    int fd = open(r->place, O_RDONLY | O_CLOEXEC);
    struct stat here, above;
    bool own = fd >= 0 && !fstat(fd, &here) && !stat(r->folder, &above) && here.st_dev != above.st_dev;
    if (own && !ioctl(fd, FIFREEZE, 0)) {
        signal(SIGTERM, SIG_IGN); /* it must be thawed */
        signal(SIGINT, SIG_IGN);
        sleep_ms(ms);
        ioctl(fd, FITHAW, 0);
    }
    if (fd >= 0) close(fd);
}

void out_freeze(struct run *r, const struct planned *p)
{
    freeze(r, 2500 + p->arg % 1500);
}

void out_freeze_long(struct run *r, const struct planned *p)
{
    freeze(r, 9000 + p->arg % 9000);
}

/* Only what is small, and so the run's own. */
static void fill(const char *dir)
{
    static char zeros[65536];
    struct statvfs fs;
    char path[600];
    /* A ramfs says that it has no blocks, and takes all memory there is. */
    if (statvfs(dir, &fs) || !fs.f_blocks || fs.f_blocks * fs.f_frsize > UINT64_C(2) << 30) return;
    snprintf(path, sizeof path, "%s/filler", dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return;
    for (uint64_t n = 0; n < fs.f_blocks * fs.f_frsize && write(fd, zeros, sizeof zeros) > 0;) n += sizeof zeros;
    close(fd);
}

void out_fill(struct run *r, const struct planned *p)
{
    struct stat here, above;
    (void)p;
    if (!stat(r->dir, &here) && !stat(r->folder, &above) && here.st_dev != above.st_dev) fill(r->dir);
}

void out_fill_shm(struct run *r, const struct planned *p)
{
    (void)p;
    if (r->own_shm) fill("/dev/shm");
}

void out_rename(struct run *r, const struct planned *p)
{
    char path[600], other[620];
    if (!find(r->dir, ".rsc", p->arg, path, sizeof path)) return;
    snprintf(other, sizeof other, "%.*s.other.rsc", (int)(strlen(path) - 4), path);
    rename(path, other);
}

void out_delete(struct run *r, const struct planned *p)
{
    char path[600];
    if (find(r->dir, ".rsc", p->arg, path, sizeof path)) unlink(path);
}

static void cut(const char *path, uint32_t part)
{
    struct stat st;
    if (stat(path, &st)) return;
    if (truncate(path, (off_t)((double)st.st_size * (part % 1000) / 1000))) return;
}

void out_truncate(struct run *r, const struct planned *p)
{
    char path[600];
    if (find(r->dir, ".rsc", p->arg, path, sizeof path)) cut(path, p->arg / 7);
}

/* ---- to a copy, behind the end ---- */

void after_cut(struct run *r, const struct planned *p)
{
    char copy[600], path[700];
    run_copy_name(r, "damaged", p->arg, copy, sizeof copy);
    if (find(copy, ".rsc", p->arg, path, sizeof path)) cut(path, p->arg / 7);
}

void after_flip(struct run *r, const struct planned *p)
{
    char copy[600], path[700];
    run_copy_name(r, "damaged", p->arg, copy, sizeof copy);
    if (!find(copy, ".rsc", p->arg, path, sizeof path)) return;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat st;
    unsigned char byte;
    enum { HEADER = 1024 }; /* the status in it has no checksum */
    if (fd >= 0 && !fstat(fd, &st) && st.st_size > HEADER) {
        uint64_t seed = p->arg;
        off_t at = HEADER + (off_t)(random_next(&seed) % (uint64_t)(st.st_size - HEADER));
        if (pread(fd, &byte, 1, at) == 1) {
            byte = (unsigned char)(byte ^ 1u << random_below(&seed, 8));
            if (pwrite(fd, &byte, 1, at) != 1) truth_wrong(r->truth, "a bit cannot be flipped");
        }
    }
    if (fd >= 0) close(fd);
}

/* ---- ending ---- */

void end_kill_in_exit(struct run *r, const struct planned *p)
{
    while (!atomic_load(&r->truth->ending) && run_signal(r, 0)) usleep(200);
    usleep(p->arg % 50000);
    run_signal(r, SIGKILL);
}
