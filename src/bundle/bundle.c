#include "bundle/bundle.h"

enum rs_status rs_bundle_write(struct rs_timeline *t, const struct rs_bundle_texts *texts, int fd, const char *name,
                               rs_bundle_progress progress, struct rs_bundle_sizes *sizes, struct rs_err *err)
{
    (void)t, (void)texts, (void)fd, (void)name, (void)progress;
    *sizes = (struct rs_bundle_sizes){0};
    return rs_fail(err, RS_FAILED, "not there yet");
}

enum rs_status rs_bundle_html(const char *page, size_t page_bytes, int fd, const struct rs_bundle_sizes *sizes,
                              FILE *out, const char *name, struct rs_err *err)
{
    (void)page, (void)page_bytes, (void)fd, (void)sizes, (void)out, (void)name;
    return rs_fail(err, RS_FAILED, "not there yet");
}
