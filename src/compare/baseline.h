/* A baseline: the figures of several runs as a file, for comparing later runs with them where the recordings are gone.
 *
 * One JSON object; docs/diff.md has its keys. Keys and measures that are not known are skipped, so a reader accepts files
 * with more in them; a higher version is refused. One thread at a time. */
#ifndef RS_COMPARE_BASELINE_H
#define RS_COMPARE_BASELINE_H

#include "base/bytes.h"
#include "base/json.h"
#include "compare/figures.h"

enum { RS_BASELINE_VERSION = 1, RS_BASELINE_RUNS = 1000 /* at most */ };

struct rs_baseline {
    struct rs_run_figures *runs;
    uint32_t n, cap;
};

void rs_baseline_write(struct rs_json *j, const struct rs_run_figures *runs, uint32_t n);
/* Whether the first bytes of a file are those of a baseline. */
bool rs_baseline_is(const char *head, size_t n);
/* Fails, with the path and the place, if it is no baseline, has no runs, or ends early. */
enum rs_status rs_baseline_read(struct rs_baseline *b, struct rs_bytes *bytes, struct rs_err *err);
void rs_baseline_free(struct rs_baseline *b);

#endif
