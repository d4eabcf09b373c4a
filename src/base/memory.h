/* Memory of the reader: what these functions return is never NULL.
 *
 * When memory runs out, the program ends: rs_memory_out() calls the function that the command line has set (one line on
 * stderr, unfinished files are removed, exit status of a failure); without one, as in tests, it writes a line and calls
 * abort(). Free memory with free(). Any thread.
 *
 * A size read from a file is compared with the bytes that the file has before anything is allocated: a damaged file is
 * RS_BAD_INPUT and not the end of the program. The recorder, inside other people's programs, uses none of this. */
#ifndef RS_BASE_MEMORY_H
#define RS_BASE_MEMORY_H

#include <stddef.h>

#define RS_NEVER_NULL __attribute__((returns_nonnull, warn_unused_result))

void *rs_alloc(size_t bytes) RS_NEVER_NULL __attribute__((malloc));
void *rs_zalloc(size_t count, size_t size) RS_NEVER_NULL __attribute__((malloc)); /* zeroed */
void *rs_realloc(void *old, size_t bytes) RS_NEVER_NULL;
char *rs_strdup(const char *text) RS_NEVER_NULL __attribute__((malloc));
char *rs_strndup(const char *text, size_t most) RS_NEVER_NULL __attribute__((malloc));
/* *text is the formatted text, to be freed; returns its length. */
size_t rs_asprintf(char **text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Ends the program: for libraries that report it by a value, and for what is too large. */
_Noreturn void rs_memory_out(void);
_Noreturn void rs_memory_end(const char *why);

/* `end` must not return or allocate. Called at most once, from the thread that failed first. */
void rs_memory_set_end(void (*end)(const char *why));

#endif
