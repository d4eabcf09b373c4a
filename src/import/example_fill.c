#include "import/fills.h"

enum rs_status rs_example_fill(struct rs_fill *fill, struct rs_err *err)
{
    (void)fill;
    (void)err;
    return RS_OK;
}
