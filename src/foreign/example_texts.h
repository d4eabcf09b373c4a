/* The texts of a dump, each kept once: names, categories, datatypes, algorithms.
 *
 * A zeroed struct is an empty one; it owns its texts until rs_example_texts_free(). One thread at a time. */
#ifndef RS_FOREIGN_EXAMPLE_TEXTS_H
#define RS_FOREIGN_EXAMPLE_TEXTS_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"

/* Id 0 is "". 65534 at most, the rest are "?". */
struct rs_example_texts {
    struct rs_arena arena;
    struct rs_map ids;
    const char **rows;
    uint32_t n, cap;
};
enum rs_status rs_example_text_id(struct rs_example_texts *texts, const char *text, uint16_t *id, struct rs_err *err);
void rs_example_texts_free(struct rs_example_texts *texts);

static inline const char *rs_example_text(const struct rs_example_texts *texts, uint16_t id)
{
    return id < texts->n ? texts->rows[id] : "";
}

#endif
