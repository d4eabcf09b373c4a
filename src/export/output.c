#include "export/output.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/strbuf.h"
#include "base/unfinished.h"
#include "export/compress.h"

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void remove_all(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- what is there ---- */

enum rs_output_type rs_output_type(const char *folder, const char *name)
{
    struct rs_strbuf path = {0};
    struct stat st;
    rs_strbuf_printf(&path, "%s/%s", folder, name);
    bool there = lstat(rs_strbuf_borrow(&path), &st) == 0;
    rs_strbuf_free(&path);
    if (!there) return RS_PLACE_OTHER;
    return S_ISREG(st.st_mode) ? RS_PLACE_FILE : S_ISDIR(st.st_mode) ? RS_PLACE_FOLDER : RS_PLACE_OTHER;
}

bool rs_output_holds_only(const char *folder, const char *below, bool (*ours)(const char *folder, const char *name))
{
    struct rs_strbuf path = {0};
    struct rs_dir dir;
    rs_strbuf_printf(&path, below ? "%s/%s" : "%s", folder, below);
    bool is = rs_dir_list(&dir, rs_strbuf_borrow(&path), NULL, NULL) == RS_OK;
    for (size_t i = 0; is && i < dir.count; i++) is = ours(rs_strbuf_borrow(&path), dir.names[i]);
    rs_dir_free(&dir);
    rs_strbuf_free(&path);
    return is;
}

static bool nothing(const char *folder, const char *name)
{
    (void)folder, (void)name;
    return false;
}

static enum rs_status check_folder(const struct rs_output *p, struct rs_err *err)
{
    if (p->may_replace ? p->may_replace(p->path) : rs_output_holds_only(p->path, NULL, nothing)) return RS_OK;
    return rs_fail(err, RS_BAD_INPUT, "%s: holds other files than such an export writes: name another folder", p->path);
}

static enum rs_status check_free(const struct rs_output *p, struct rs_err *err)
{
    struct stat st;
    if (lstat(p->path, &st) != 0) return RS_OK;
    bool folder = S_ISDIR(st.st_mode);
    if (p->kind == RS_EXPORT_FOLDER && !folder) return rs_fail(err, RS_BAD_INPUT, "%s: is not a folder", p->path);
    if (p->kind == RS_EXPORT_PATH && folder) return rs_fail(err, RS_BAD_INPUT, "%s: is a folder", p->path);
    if (p->kind == RS_EXPORT_PATH && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
        return rs_fail(err, RS_BAD_INPUT, "%s: this format needs a regular file", p->path);
    if (!p->force) return rs_fail(err, RS_BAD_INPUT, "%s: exists already (--force overwrites it)", p->path);
    return folder ? check_folder(p, err) : RS_OK;
}

/* ---- making it ---- */

static void forget_temporary(struct rs_output *p)
{
    rs_unfinished_drop(p->temporary);
    free(p->temporary);
    p->temporary = NULL;
}

static enum rs_status open_stream(struct rs_output *p, struct rs_err *err)
{
    int packing = rs_compression_of(p->path);
    RS_TRY(rs_out_open(&p->out, p->path, p->force, err));
    p->file = p->out.file;
    if (packing == RS_PLAIN) return RS_OK;
    enum rs_status status = rs_compress_open(&p->file, p->out.file, packing, p->path, err);
    if (status != RS_OK) rs_out_abort(&p->out);
    return status;
}

/* The end of what was packed. */
static enum rs_status close_packed(struct rs_output *p, struct rs_err *err)
{
    bool packed = p->file && p->file != p->out.file;
    FILE *file = p->file;
    p->file = NULL;
    if (!packed || fclose(file) == 0) return RS_OK;
    return rs_fail_errno(err, "cannot write %s", p->path);
}

enum rs_status rs_output_open(struct rs_output *p, enum rs_export_output kind, const char *path, bool force,
                              bool (*may_replace)(const char *folder), struct rs_err *err)
{
    *p = (struct rs_output){.kind = kind, .path = path, .force = force, .may_replace = may_replace};
    if (kind == RS_EXPORT_STREAM) return open_stream(p, err);
    if (!path || !strcmp(path, "-"))
        return rs_fail(err, RS_BAD_INPUT, "this format cannot go to a pipe: name a %s with -o",
                       kind == RS_EXPORT_FOLDER ? "folder" : "file");
    if (kind == RS_EXPORT_PATH && rs_compression_of(path) != RS_PLAIN)
        return rs_fail(err, RS_BAD_INPUT, "%s: this format cannot be packed on its way: name it without %s", path,
                       path + rs_compression_stem(path));
    RS_TRY(check_free(p, err));
    p->temporary = rs_temp_name(path, ".XXXXXX");
    if (!p->temporary) rs_memory_out();
    /* A library opens it by name; an empty file is as good as none to it. */
    sigset_t before = rs_unfinished_hold();
    int fd = kind == RS_EXPORT_FOLDER ? -1 : mkstemp(p->temporary);
    bool made = kind == RS_EXPORT_FOLDER ? mkdtemp(p->temporary) != NULL : fd >= 0;
    if (made) rs_unfinished_add(p->temporary);
    rs_unfinished_release(&before);
    if (!made) {
        enum rs_status status = rs_fail_errno(err, "%s: cannot create", path);
        forget_temporary(p); /* nothing of that name is ours */
        return status;
    }
    mode_t mask = umask(0); /* both are private */
    umask(mask);
    bool fine = chmod(p->temporary, (kind == RS_EXPORT_FOLDER ? 0777 : 0666) & ~mask) == 0;
    if (fd >= 0) close(fd);
    if (fine) return RS_OK;
    enum rs_status status = rs_fail_errno(err, "%s: cannot create", path);
    rs_output_abort(p);
    return status;
}

/* ---- putting it in its place ---- */

/* The old folder and the new one change names; where the file system cannot do that, the old one is moved aside first. */
static bool swap_folders(struct rs_output *p)
{
    if (renameat2(AT_FDCWD, p->temporary, AT_FDCWD, p->path, RENAME_EXCHANGE) == 0) return true;
    if (errno != EINVAL && errno != ENOSYS) return false;
    char *aside = rs_temp_name(p->path, ".XXXXXX");
    sigset_t before = rs_unfinished_hold(); /* between the two there would be nothing */
    bool done = aside && mkdtemp(aside) && rename(p->path, aside) == 0;
    if (done && rename(p->temporary, p->path) != 0) {
        int why = errno;
        (void)!rename(aside, p->path);
        done = false;
        errno = why;
    }
    if (done) {
        rs_unfinished_drop(p->temporary);
        rs_unfinished_add(aside);
        free(p->temporary);
        p->temporary = aside;
    }
    rs_unfinished_release(&before);
    if (done || !aside) return done;
    int why = errno;
    rmdir(aside); /* where nothing was moved into it */
    free(aside);
    errno = why;
    return false;
}

static enum rs_status put_folder(struct rs_output *p, struct rs_err *err)
{
    if (rename(p->temporary, p->path) == 0) return RS_OK;
    bool there = errno == ENOTEMPTY || errno == EEXIST;
    if (there && !p->force) return rs_fail(err, RS_BAD_INPUT, RS_CAME_MEANWHILE, p->path);
    if (!there) return rs_fail_errno(err, "%s: cannot create", p->path);
    RS_TRY(check_folder(p, err)); /* what the user put there meanwhile stays */
    if (!swap_folders(p)) return rs_fail_errno(err, "%s: cannot replace", p->path);
    remove_all(p->temporary); /* the old one has this name now */
    return RS_OK;
}

enum rs_status rs_output_commit(struct rs_output *p, struct rs_err *err)
{
    if (p->kind == RS_EXPORT_STREAM) {
        enum rs_status packed = close_packed(p, err);
        if (packed == RS_OK) return rs_out_commit(&p->out, err);
        rs_out_abort(&p->out);
        return packed;
    }
    enum rs_status status =
        p->kind == RS_EXPORT_FOLDER ? put_folder(p, err) : rs_rename_into_place(p->temporary, p->path, p->force, err);
    if (status != RS_OK) {
        rs_output_abort(p);
        return status;
    }
    forget_temporary(p);
    return RS_OK;
}

void rs_output_abort(struct rs_output *p)
{
    if (p->kind == RS_EXPORT_STREAM) {
        struct rs_err ignored;
        close_packed(p, &ignored);
        rs_out_abort(&p->out);
        return;
    }
    if (p->temporary && *p->temporary) remove_all(p->temporary);
    forget_temporary(p);
}
