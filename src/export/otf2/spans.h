/* Regions of an OTF2 location that nest: spans that overlap without lying in each other go to further locations. */
#ifndef RS_EXPORT_OTF2_SPANS_H
#define RS_EXPORT_OTF2_SPANS_H

#include "export/otf2/state.h"

struct rs_otf2_span {
    int64_t start, end; /* ns from the begin of the timeline */
    uint32_t region, token; /* token: the caller's, for rs_otf2_put */
    uint32_t depth; /* set here: which of the locations */
};

/* Puts attributes onto the begin of a span, or onto its end. */
typedef enum rs_status (*rs_otf2_put)(struct rs_otf2 *o, void *with, uint32_t token, bool end, struct rs_err *err);

/* Writes the spans, which are put in order, onto as many new locations like `where` as they need. */
enum rs_status rs_otf2_write_spans(struct rs_otf2 *o, struct rs_otf2_span *spans, uint32_t n,
                                   const struct rs_otf2_location *where, rs_otf2_put put, void *with,
                                   struct rs_err *err);

#endif
