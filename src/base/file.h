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

/* The bytes of a regular file, mapped if possible, else read into memory (/proc, some file systems). If a mapped file
 * is truncated meanwhile, the rest reads as zeros (guard.h), and rs_file_trouble() says so. */
struct rs_guard;
struct rs_file_map {
    const uint8_t *data; /* never NULL after success, also for an empty file */
    size_t size;
    size_t stored; /* bytes that it takes on disk: less than `size` if it has holes */
    size_t hole, data_again; /* its first hole, where nothing was ever written: all zeros; equal: none */
    bool mapped; /* else allocated */
    struct rs_guard *guard; /* if mapped */
};

enum rs_status rs_file_map(struct rs_file_map *map, const char *path, struct rs_err *err);
/* The same for an open file, which stays the caller's; `path` is for messages. */
enum rs_status rs_file_map_fd(struct rs_file_map *map, int fd, const char *path, struct rs_err *err);
/* The same, and pipes too, up to 1 GiB: for paths that the user named. */
enum rs_status rs_file_map_stream(struct rs_file_map *map, const char *path, struct rs_err *err);
/* What went wrong when it was accessed, e.g. "became shorter while it was read"; NULL: nothing. */
const char *rs_file_trouble(const struct rs_file_map *map);
void rs_file_unmap(struct rs_file_map *map);
/* Drops the pages from memory; they are read again when accessed. */
void rs_file_drop_pages(const struct rs_file_map *map);

/* The length of the ending if the first `n` characters of a name have it, case-insensitively; 0: they do not, or have
 * nothing before it. */
size_t rs_name_ending(const char *name, size_t n, const char *ending);

/* Writes all bytes at the file's position, through interruptions and short writes. `path` is for the message. */
enum rs_status rs_write_all(int fd, const void *bytes, size_t n, const char *path, struct rs_err *err);

/* An output that other programs see only when it is complete: written in the same folder under a temporary name and
 * renamed by rs_out_commit(). A path that is not a regular file (a pipe, /dev/null) is written directly, and "-" or
 * NULL is standard output. A link is replaced; its target stays as it is. */
struct rs_out {
    FILE *file; /* write here */
    char *path; /* as the user gave it */
    char *temporary; /* NULL: written in place */
    bool force;
};

/* Fails when the path exists already, unless `force`. */
enum rs_status rs_out_open(struct rs_out *out, const char *path, bool force, struct rs_err *err);
/* Flushes, checks, and renames the file. `out` is closed in any case; after a failure nothing is left. */
enum rs_status rs_out_commit(struct rs_out *out, struct rs_err *err);
/* Closes and removes what was written so far. Does nothing after rs_out_commit(). */
void rs_out_abort(struct rs_out *out);

/* A hidden temporary name in the folder of `path`: its name (or "ringscope", if that is long), then `suffix`. The
 * caller frees it. */
char *rs_temp_name(const char *path, const char *suffix);
/* Renames a file; without `force`, fails if the target exists. */
enum rs_status rs_rename_into_place(const char *temporary, const char *path, bool force, struct rs_err *err);
/* For a path that did not exist when the writing began. */
#define RS_CAME_MEANWHILE "%s: exists already: it was created while this was written (--force overwrites it)"

/* Whether two paths name the same file or folder. */
bool rs_same_file(const char *a, const char *b);

/* The names in a folder that end with `suffix` (NULL = all), sorted bytewise, without "." and "..". */
struct rs_dir {
    char **names;
    size_t count;
};

enum rs_status rs_dir_list(struct rs_dir *dir, const char *path, const char *suffix, struct rs_err *err);
void rs_dir_free(struct rs_dir *dir);

/* Creates a folder and its parents, as mkdir -p does. */
enum rs_status rs_dir_make(const char *path, struct rs_err *err);

#endif
