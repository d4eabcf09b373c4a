#include "timeline/timeline.h"

enum rs_status rs_timeline_make(struct rs_timeline *t, struct rs_model *m, struct rs_inputs *in,
                                const struct rs_timeline_options *options, struct rs_err *err)
{
    (void)err;
    *t = (struct rs_timeline){.model = m, .inputs = in, .options = *options};
    return RS_OK;
}

enum rs_status rs_timeline_process(struct rs_timeline *t, uint32_t i, uint32_t first_bar, struct rs_bars *bars,
                                   struct rs_err *err)
{
    (void)t, (void)i, (void)err;
    rs_bars_clear(bars);
    bars->first = first_bar;
    return RS_OK;
}

void rs_timeline_free(struct rs_timeline *t)
{
    *t = (struct rs_timeline){0};
}
