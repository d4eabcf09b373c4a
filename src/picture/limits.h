/* Not more rows and bars than a picture can show: which are kept, and what becomes of the others. Of picture/rows.h. */
#ifndef RS_PICTURE_LIMITS_H
#define RS_PICTURE_LIMITS_H

#include "picture/rows.h"

/* Leaves out GPUs beyond take.most: those that waited most are kept, and some of those that came last most often. */
enum rs_status rs_limit_rows(struct rs_picture_rows *r, struct rs_err *err);
/* Folds the narrowest bars into pixels until `most` are left at most. Bars are sorted by start. */
enum rs_status rs_limit_bars(struct rs_picture_rows *r, uint32_t most, struct rs_err *err);

#endif
