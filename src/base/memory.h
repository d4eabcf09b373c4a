/* Memory of the reader: what these functions return is never NULL.
 *
 * When memory runs out, the program ends: rs_memory_out() calls what the command line has set (one line on stderr, files
 * that are not finished are removed, exit status of a failure); without it, as in tests, a line is written and abort()
 * called. What they return is given back with free(). Any thread.
 *
 * Where a size is read from a file, nothing is allocated before it was compared with the bytes that the file has: a
 * damaged file is RS_BAD_INPUT and not the end of the program. The recorder runs inside other people's programs: it uses
 * none of this. */
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

/* For libraries that tell of it by a value, and for what is too large to have: the program ends. */
_Noreturn void rs_memory_out(void);
_Noreturn void rs_memory_end(const char *why);

/* `end` must not return or allocate. Called at most once, from the thread that met the end first. */
void rs_memory_set_end(void (*end)(const char *why));

#endif
