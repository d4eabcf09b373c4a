/* The page of the timeline, as built by vite (viewer/dist/index.html), inside the program. */
#ifndef RS_BUNDLE_PAGE_H
#define RS_BUNDLE_PAGE_H

#include <stddef.h>

/* NULL (and 0): this ringscope was built without it. */
const char *rs_page(size_t *bytes);

#endif
