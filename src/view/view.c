#include "view/view.h"

enum rs_status rs_view_make(struct rs_view *v, struct rs_model *m, struct rs_inputs *in,
                            const struct rs_view_options *options, struct rs_err *err)
{
    (void)err;
    *v = (struct rs_view){.model = m, .inputs = in, .options = *options};
    return RS_OK;
}

enum rs_status rs_view_process(struct rs_view *v, uint32_t i, uint32_t first_bar, struct rs_bars *bars,
                               struct rs_err *err)
{
    (void)v, (void)i, (void)err;
    rs_bars_clear(bars);
    bars->first = first_bar;
    return RS_OK;
}

void rs_view_free(struct rs_view *v)
{
    *v = (struct rs_view){0};
}
