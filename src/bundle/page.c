#include "bundle/page.h"

const char *rs_page(size_t *bytes)
{
    *bytes = 0;
    return NULL;
}
