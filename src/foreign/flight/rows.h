/* One part of a Flight Recorder dump, from values into the structs of flight.h.
 *
 * Both forms of a dump come through here, so they mean the same. Rows and texts go into the dump's arena and arrays. */
#ifndef RS_FOREIGN_FLIGHT_ROWS_H
#define RS_FOREIGN_FLIGHT_ROWS_H

#include "base/map.h"
#include "foreign/flight/flight.h"
#include "foreign/flight/value.h"

struct rs_flight_rows {
    struct rs_flight *f;
    struct rs_map texts; /* hash -> text in the arena: names come again with every entry */
    uint64_t held; /* bytes kept */
    uint64_t steps; /* values and characters that may still be looked at: a pickle can name one value many times */
    const char *path;
};

/* A key of the dump other than entries; unknown ones are passed over. */
enum rs_status rs_flight_rows_top(struct rs_flight_rows *r, const struct rs_value *key, const struct rs_value *value,
                                  struct rs_err *err);
enum rs_status rs_flight_rows_entry(struct rs_flight_rows *r, const struct rs_value *entry, struct rs_err *err);
void rs_flight_rows_free(struct rs_flight_rows *r);

#endif
