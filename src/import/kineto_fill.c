#include "import/fills.h"

bool rs_kineto_is(const char *path, const char *head, size_t n)
{
    (void)path;
    (void)head;
    (void)n;
    return false;
}

enum rs_status rs_kineto_fill(struct rs_fill *fill, struct rs_err *err)
{
    (void)fill;
    (void)err;
    return RS_OK;
}
