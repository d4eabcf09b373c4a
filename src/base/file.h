/* Files and folders: read-only mappings, whole writes, outputs that appear only when complete, sorted listings.
 *
 * Each struct is filled by its open or list function and owned by the caller until the matching close or free, which
 * a zeroed struct survives. Every message names the path. Any thread, each with its own structs. */
#ifndef RS_BASE_FILE_H
#define RS_BASE_FILE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* The bytes of a regular file. Mapped where possible, else read into memory (/proc, odd file systems): the user sees no
 * difference. What cannot be read later, of a mapped file that somebody cuts shorter meanwhile, reads as zeros (guard.h),
 * and rs_file_trouble() says so. */
struct rs_guard;
struct rs_file_map {
    const uint8_t *data; /* never NULL after success, also for an empty file */
    size_t size;
    bool mapped; /* else allocated */
    struct rs_guard *guard; /* of a mapped one */
};

enum rs_status rs_file_map(struct rs_file_map *map, const char *path, struct rs_err *err);
/* The same of an open file, which stays the caller's; `path` is for messages. */
enum rs_status rs_file_map_fd(struct rs_file_map *map, int fd, const char *path, struct rs_err *err);
/* The same, and pipes too, up to 1 GiB: for what the user named himself. */
enum rs_status rs_file_map_stream(struct rs_file_map *map, const char *path, struct rs_err *err);
/* What went wrong when it was looked at: "became shorter while it was read", say; NULL: nothing. */
const char *rs_file_trouble(const struct rs_file_map *map);
void rs_file_unmap(struct rs_file_map *map);
/* Lets go of the pages in memory; they come back from the file when they are looked at. */
void rs_file_drop_pages(const struct rs_file_map *map);

/* The length of the ending if the first `n` characters of a name have it, without regard to case; 0: they have not, or
 * are nothing else. */
size_t rs_name_ending(const char *name, size_t n, const char *ending);

/* Writes all bytes at the file's position, through interruptions and short writes. `path` is for the message. */
enum rs_status rs_write_all(int fd, const void *bytes, size_t n, const char *path, struct rs_err *err);

/* An output that other programs see only when it is whole: written beside its place under a temporary name and
 * renamed by rs_out_commit(). A path that is no regular file (a pipe, /dev/null) is written directly, and "-" or
 * NULL is standard output. Of a link to a file the link is replaced: what it leads to stays as it is. */
struct rs_out {
    FILE *file; /* write here */
    char *path; /* as the user gave it */
    char *temporary; /* NULL: written in place */
    bool force;
};

/* Fails when the path exists already, unless `force`. */
enum rs_status rs_out_open(struct rs_out *out, const char *path, bool force, struct rs_err *err);
/* Flushes, checks, and puts the file in its place. `out` is closed in any case; after a failure nothing is left. */
enum rs_status rs_out_commit(struct rs_out *out, struct rs_err *err);
/* Closes and removes what was written so far. Does nothing after rs_out_commit(). */
void rs_out_abort(struct rs_out *out);

/* A temporary name in the folder of `path`, hidden, with its name (or "ringscope", where that is long) and `behind` at
 * the end. The caller's to free. */
char *rs_temp_name(const char *path, const char *behind);
/* Renames a file; without force never over one that is there, which is a failure. */
enum rs_status rs_rename_into_place(const char *temporary, const char *path, bool force, struct rs_err *err);
/* Of a path that was free when the writing began. */
#define RS_CAME_MEANWHILE "%s: exists already: it came while this was written (--force overwrites it)"

/* Whether two paths lead to the same file or folder. */
bool rs_same_file(const char *a, const char *b);

/* The names in a folder that end with `suffix` (NULL = all), sorted bytewise, without "." and "..". */
struct rs_dir {
    char **names;
    size_t count;
};

enum rs_status rs_dir_list(struct rs_dir *dir, const char *path, const char *suffix, struct rs_err *err);
void rs_dir_free(struct rs_dir *dir);

/* Makes a folder and those above it, as far as they are missing. */
enum rs_status rs_dir_make(const char *path, struct rs_err *err);

#endif
