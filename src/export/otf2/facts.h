/* Attributes of OTF2 events: what `ringscope ops` tells of an operation beyond what OTF2's own records hold. */
#ifndef RS_EXPORT_OTF2_FACTS_H
#define RS_EXPORT_OTF2_FACTS_H

#include "export/otf2/state.h"

/* Defines them, before all others. */
enum rs_status rs_otf2_facts_make(struct rs_otf2 *o, struct rs_err *err);

/* Puts those of a part onto the event that begins it, or ends it. `flags`: of struct rs_stretch. */
enum rs_status rs_otf2_put_begin(struct rs_otf2 *o, uint32_t part, uint8_t flags, struct rs_err *err);
enum rs_status rs_otf2_put_end(struct rs_otf2 *o, uint32_t part, uint8_t flags, int64_t end, int64_t fade,
                               struct rs_err *err);

#endif
