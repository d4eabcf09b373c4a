/* A Kineto trace copied byte by byte, with keys added to the `args` of some of its events.
 *
 * Events are counted as foreign/kineto/kineto.h counts them. Everything else is copied unchanged, also after damage. An
 * event that is to be changed is held in memory until it ends. Not changed are events that are larger than any that Kineto
 * writes, that differ from what Kineto writes (args that are no object, keys with escapes), or that have these keys
 * already. One thread at a time. */
#ifndef RS_EXPORT_KINETO_WEAVE_H
#define RS_EXPORT_KINETO_WEAVE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/strbuf.h"

/* Whether event number `event` is to be changed. They come in order. */
typedef bool (*rs_weave_wants)(void *of, uint64_t event);
/* The keys that it gets: "\"a\": 1, \"b\": 2", at least one. `has_comms_id`: it has a Comms Id already. */
typedef void (*rs_weave_keys)(void *of, uint64_t event, bool has_comms_id, struct rs_strbuf *keys);

/* Copies all of `from` to `to`; `name` is the output's, for messages. A stream that breaks off is copied as far as it
 * goes, and that is no failure here. *woven: events that were changed. */
enum rs_status rs_kineto_weave(struct rs_bytes *from, FILE *to, const char *name, rs_weave_wants wants,
                               rs_weave_keys keys, void *of, uint64_t *woven, struct rs_err *err);

#endif
