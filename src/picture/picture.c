#include "picture/picture.h"

enum rs_status rs_picture_draw(struct rs_timeline *t, const struct rs_picture_options *options, FILE *out,
                               const char *name, struct rs_err *err)
{
    (void)t, (void)options, (void)out, (void)name;
    return rs_fail(err, RS_FAILED, "not there yet");
}
