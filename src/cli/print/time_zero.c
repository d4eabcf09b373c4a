#include "cli/print/time_zero.h"

#include "base/moment.h"
#include "cli/print/screen.h"

struct rs_text rs_zero_moment(const struct rs_model *m, int64_t ns)
{
    int64_t zero = rs_model_begin(m);
    struct rs_text text = {"?"};
    if (ns != RS_TIME_NONE && zero != RS_TIME_NONE) rs_moment_text(rs_time_minus(ns, zero), text.s, sizeof text.s);
    return text;
}

void rs_zero_print(const struct rs_model *m)
{
    int64_t zero = rs_model_begin(m);
    char utc[RS_MOMENT_ROOM];
    bool dated = rs_moment_utc(zero, utc, sizeof utc);
    if (zero != RS_TIME_NONE) rs_screen_print("Times count from the run's first event%s%s.\n", dated ? ", " : "", utc);
}
