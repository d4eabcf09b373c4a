#include "cli/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

/* Where others can read nothing: the user's own folder for the time of the session, where there is one. */
static const char *place(const char *temporary)
{
    const char *session = getenv("XDG_RUNTIME_DIR");
    struct stat st;
    bool fine = session != NULL && session[0] == '/' && lstat(session, &st) == 0 && S_ISDIR(st.st_mode) &&
                st.st_uid == geteuid() && (st.st_mode & 077) == 0;
    return fine ? session : temporary;
}

static enum rs_status write_file(struct rs_browser *b, const char *address, const char *temporary, struct rs_err *err)
{
    /* A path that begins with "-" would be taken for an option, and a relative one be looked for elsewhere. */
    char parent[PATH_MAX];
    if (realpath(place(temporary), parent) == NULL) return rs_fail_errno(err, "%s", place(temporary));
    snprintf(b->folder, sizeof b->folder, "%s/ringscope-XXXXXX", parent);
    if (mkdtemp(b->folder) == NULL) {
        b->folder[0] = 0;
        return rs_fail_errno(err, "%s", parent);
    }
    snprintf(b->file, sizeof b->file, "%s/timeline.html", b->folder);
    int fd = open(b->file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (file == NULL) return rs_fail_errno(err, "%s", b->file);
    fprintf(file,
            "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"
            "<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n<title>ringscope</title>\n"
            "<a href=\"%s\">the timeline</a>\n",
            address, address);
    bool fine = ferror(file) == 0;
    fine = fclose(file) == 0 && fine;
    return fine ? RS_OK : rs_fail_errno(err, "%s", b->file);
}

static enum rs_status start(char *file, struct rs_err *err)
{
    char program[] = "xdg-open", *const argv[] = {program, file, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawn_file_actions_init(&files);
    for (int fd = 0; fd < 3; fd++) posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &usual);
    pid_t child;
    errno = posix_spawnp(&child, argv[0], &files, &how, argv, environ);
    enum rs_status status = errno == 0 ? RS_OK : rs_fail_errno(err, "%s", argv[0]);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return status;
}

enum rs_status rs_browser_open(struct rs_browser *b, const char *address, const char *temporary, struct rs_err *err)
{
    b->folder[0] = b->file[0] = 0;
    RS_TRY(write_file(b, address, temporary, err));
    return start(b->file, err);
}

void rs_browser_forget(struct rs_browser *b)
{
    if (b->file[0]) unlink(b->file);
    if (b->folder[0]) rmdir(b->folder);
    b->folder[0] = b->file[0] = 0;
}
