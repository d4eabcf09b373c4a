/* The timeline as bytes for the page: the bundle (viewer/FORMAT.md), in a separate file or inside an HTML page.
 *
 * Written process by process; bars, relations, parts and overviews go through unnamed temporary files, so that memory
 * does not grow with the run: it holds the bars of one process, the operations and the texts. One thread at a time. */
#ifndef RS_BUNDLE_BUNDLE_H
#define RS_BUNDLE_BUNDLE_H

#include <stdio.h>

#include "timeline/timeline.h"

/* Further data of the page, as JSON texts of the commands of that name; the caller's. */
struct rs_bundle_texts {
    const char *title;
    const char *comms; /* an array of what `comms --json` prints, in the order of the model, without merged ones:
                        * operations refer to them by position */
    const char *clocks; /* likewise of `clocks --json` */
    const char *report; /* `report --json` */
};

/* Where a step begins, on the common axis of its run. */
struct rs_bundle_step {
    uint32_t number;
    int64_t at;
};

/* One of two runs that are drawn above each other. All is the caller's. */
struct rs_bundle_run {
    struct rs_timeline *timeline;
    struct rs_bundle_texts texts; /* title: what the run is, above its rows */
    int64_t zero; /* on its common axis: both runs' are drawn at the same place */
    const struct rs_bundle_step *steps; /* by time; the page can align the runs at each step that both have */
    uint32_t nsteps;
};

struct rs_bundle_pair {
    const char *title;
    const char *const *sentences; /* what the comparison says; shown above the report */
    uint32_t nsentences;
    struct rs_bundle_run runs[2]; /* the first above the second, which was made beside it (timeline/timeline.h) */
};

struct rs_bundle_sizes {
    uint64_t bars, operations, parts, relations; /* rows */
    uint64_t bytes; /* of the bundle */
    uint64_t first_bytes; /* of these: what comes first, and is sufficient for the first picture */
};

typedef void (*rs_bundle_progress)(size_t done, size_t all);

/* The destination. */
struct rs_bundle_place {
    int fd; /* seekable, and empty */
    const char *name; /* for messages */
    const char *folder; /* for temporary files */
    uint64_t most; /* bytes: aborted as soon as more is certain; 0: no limit */
};

/* `progress` may be NULL. If place->most is exceeded: RS_BAD_INPUT, and sizes->bytes is more than that. */
enum rs_status rs_bundle_write(struct rs_timeline *t, const struct rs_bundle_texts *texts,
                               const struct rs_bundle_place *place, rs_bundle_progress progress,
                               struct rs_bundle_sizes *sizes, struct rs_err *err);

/* The same for two runs. */
enum rs_status rs_bundle_write_pair(const struct rs_bundle_pair *pair, const struct rs_bundle_place *place,
                                    rs_bundle_progress progress, struct rs_bundle_sizes *sizes, struct rs_err *err);

/* A page that contains the bundle in `fd`: `page` is the built page of bundle/page.h. */
enum rs_status rs_bundle_html(const char *page, size_t page_bytes, int fd, const struct rs_bundle_sizes *sizes,
                              FILE *out, const char *name, struct rs_err *err);
/* The size of that page. */
uint64_t rs_bundle_html_bytes(size_t page_bytes, const struct rs_bundle_sizes *sizes);

#endif
