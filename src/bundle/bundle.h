/* The timeline as bytes for the page: the bundle (viewer/FORMAT.md), in a file of its own or inside an HTML page.
 *
 * Written process by process; bars, relations and overviews go through temporary files without a name ($TMPDIR), so
 * that memory does not grow with the run. One thread at a time. */
#ifndef RS_BUNDLE_BUNDLE_H
#define RS_BUNDLE_BUNDLE_H

#include <stdio.h>

#include "timeline/timeline.h"

/* What the page is told besides, as JSON texts of the commands of that name; the caller's. */
struct rs_bundle_texts {
    const char *title;
    const char *comms; /* an array of what `comms --json` prints */
    const char *clocks, *report; /* `clocks --json`, `report --json` */
    const char *notes; /* an array of sentences */
};

struct rs_bundle_sizes {
    uint64_t bars, operations, parts, relations; /* rows */
    uint64_t bytes; /* of the bundle */
    uint64_t first_bytes; /* of it: what comes first, and is enough for the first picture */
};

typedef void (*rs_bundle_progress)(size_t done, size_t all);

/* Writes the bundle to a file descriptor that can be sought in and is empty. `progress` may be NULL. */
enum rs_status rs_bundle_write(struct rs_timeline *t, const struct rs_bundle_texts *texts, int fd, const char *name,
                               rs_bundle_progress progress, struct rs_bundle_sizes *sizes, struct rs_err *err);

/* A page that holds a bundle which lies at `fd`: `page` is the built page of bundle/page.h. */
enum rs_status rs_bundle_html(const char *page, size_t page_bytes, int fd, const struct rs_bundle_sizes *sizes,
                              FILE *out, const char *name, struct rs_err *err);

#endif
