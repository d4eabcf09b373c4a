/* What a bundle says in JSON: section "meta" (interface Meta of the page's src/data/meta.ts). */
#ifndef RS_BUNDLE_META_H
#define RS_BUNDLE_META_H

#include "base/strbuf.h"
#include "bundle/bundle.h"

enum rs_status rs_meta_write(struct rs_strbuf *out, const struct rs_timeline *t, const struct rs_bundle_texts *texts,
                             struct rs_err *err);

#endif
