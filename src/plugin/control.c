#include "plugin/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format/settings.h"
#include "plugin/detail.h"
#include "plugin/facts.h"
#include "plugin/masks.h"

static struct timespec seen; /* the file's mtime; 0 = no file */
static off_t seen_size;
static bool strange; /* a file of another user was noted */

struct orders {
    int mask; /* -1: not in the file */
    struct rs_detail detail;
    bool has_detail;
};

/* "events=WORD" and "detail=WORD", each on a line of its own; spaces around are fine. False: neither, or a bad word. */
static bool parse(char *text, struct orders *o)
{
    char *rest = NULL;
    *o = (struct orders){.mask = -1};
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char word[32];
        if (sscanf(line, " events = %31s", word) == 1 && !rs_setting_mask(word, &o->mask)) return false;
        if (sscanf(line, " detail = %31s", word) != 1) continue;
        if (!rs_setting_detail(word, &o->detail)) return false;
        o->has_detail = true;
    }
    return o->mask >= 0 || o->has_detail;
}

static void give(const struct orders *o)
{
    rs_masks_order(o->mask);
    rs_detail_order(o->has_detail ? &o->detail : NULL);
}

/* Opens the file: -1 = none that counts. Checks the descriptor, since the name may mean another file a moment later. */
static int open_own(const char *path, struct stat *st)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    bool there = fd >= 0 || errno == ELOOP || errno == EACCES;
    if (fd >= 0 && !fstat(fd, st) && S_ISREG(st->st_mode) && st->st_uid == geteuid()) return fd;
    if (fd >= 0) close(fd);
    if (there && !strange)
        strange = rs_fact_note("%s is not a regular file of the user that runs the job: it is ignored", path);
    return -1;
}

void rs_control_look(const char *dir, bool first)
{
    char path[3200], text[512];
    struct stat st;
    snprintf(path, sizeof path, "%s/control", dir);
    int fd = open_own(path, &st);
    if (fd < 0) {
        if (seen.tv_sec) give(&(struct orders){.mask = -1}); /* it was removed */
        seen = (struct timespec){0};
        return;
    }
    /* The size too: a shell empties a file and then writes it, both within one tick of the file system's clock. */
    bool same = st.st_mtim.tv_sec == seen.tv_sec && st.st_mtim.tv_nsec == seen.tv_nsec && st.st_size == seen_size;
    seen = st.st_mtim;
    seen_size = st.st_size;
    ssize_t n = same || first ? -1 : read(fd, text, sizeof text - 1); /* the first is an earlier job's */
    close(fd);
    if (n <= 0) return; /* nothing yet */
    text[n] = 0;
    struct orders orders;
    if (parse(text, &orders))
        give(&orders);
    else
        rs_fact_note("%s was changed but has no valid line events=ops|net|all|off|MASK or detail=WINDOW:PERIOD|always",
                     path);
}

void rs_control_reset(void)
{
    seen = (struct timespec){0};
    strange = false;
}
