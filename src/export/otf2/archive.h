/* An OTF2 archive while it is written: events, one location at a time, and what they refer to, which is defined at the
 * end (otf2/define.c).
 *
 * Events of a location come in the order of their times and are flushed chunk by chunk, so that memory grows with the
 * number of locations, regions and names alone. Errors contain the library's message. Owns everything; the
 * library's error handler is this module's from open to free. One thread at a time. */
#ifndef RS_EXPORT_OTF2_ARCHIVE_H
#define RS_EXPORT_OTF2_ARCHIVE_H

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/texts.h"

struct rs_otf2_location {
    uint32_t name; /* text */
    uint32_t group; /* location group */
    OTF2_LocationType type;
    uint64_t events;
    int64_t error_ns; /* of its clock; INT64_MIN: cannot be compared with the others */
    int32_t job_rank, comm_rank; /* whose it is: rank of the job, and of the communicator; -1: none, or not known */
};

struct rs_otf2_group {
    uint32_t name; /* text */
    OTF2_LocationGroupType type;
    uint32_t node; /* of the system tree */
    uint32_t creator; /* location group; OTF2_UNDEFINED_LOCATION_GROUP: none */
    uint32_t threads; /* CPU threads that it has */
};

struct rs_otf2_region {
    uint32_t name, canonical, description; /* texts */
    OTF2_RegionRole role;
    OTF2_Paradigm paradigm;
};

struct rs_otf2_attribute {
    uint32_t name, description; /* texts */
    OTF2_Type type;
};

struct rs_otf2_archive {
    OTF2_Archive *archive;
    OTF2_AttributeList *list; /* of the next event; empty between two */
    const char *name; /* of the output, for messages */
    char said[512]; /* by the library, when it failed */
    OTF2_ErrorCallback before; /* who handled its errors */
    bool files_open;
    struct rs_texts texts; /* ids are those of OTF2's strings */
    struct rs_otf2_location *locations;
    struct rs_otf2_group *groups;
    struct rs_otf2_region *regions;
    struct rs_otf2_attribute *attributes;
    uint32_t nlocations, cap_locations, ngroups, cap_groups, nregions, cap_regions, nattributes, cap_attributes;
    struct rs_map region_index, attribute_index;
};

/* In an empty folder. `members`: the most that a group may have. */
enum rs_status rs_otf2_open(struct rs_otf2_archive *a, const char *folder, const char *name, uint64_t members,
                            struct rs_err *err);
/* Closes the archive: only then is it complete. */
enum rs_status rs_otf2_close(struct rs_otf2_archive *a, struct rs_err *err);
void rs_otf2_free(struct rs_otf2_archive *a); /* a zeroed one is fine, one that was not closed too */

/* What a call of the library came to. */
enum rs_status rs_otf2_check(struct rs_otf2_archive *a, OTF2_ErrorCode code, struct rs_err *err);
#define RS_OTF2_TRY(a, call, err) RS_TRY(rs_otf2_check(a, call, err))

/* Each adds a row and sets *index. */
void rs_otf2_text(struct rs_otf2_archive *a, const char *text, uint32_t *index);
enum rs_status rs_otf2_group(struct rs_otf2_archive *a, const struct rs_otf2_group *row, uint32_t *index,
                             struct rs_err *err);
enum rs_status rs_otf2_location(struct rs_otf2_archive *a, const struct rs_otf2_location *row, uint32_t *index,
                                struct rs_err *err);
/* Those of a key once. `description` may be NULL. */
enum rs_status rs_otf2_region(struct rs_otf2_archive *a, uint64_t key, const char *name, const char *canonical,
                              const char *description, OTF2_RegionRole role, OTF2_Paradigm paradigm, uint32_t *index,
                              struct rs_err *err);
enum rs_status rs_otf2_attribute(struct rs_otf2_archive *a, const char *name, const char *description, OTF2_Type type,
                                 uint32_t *index, struct rs_err *err);

/* The writer of a location's events: one is open at a time. */
enum rs_status rs_otf2_begin(struct rs_otf2_archive *a, uint32_t location, OTF2_EvtWriter **writer, struct rs_err *err);
enum rs_status rs_otf2_end(struct rs_otf2_archive *a, uint32_t location, OTF2_EvtWriter *writer, struct rs_err *err);

/* Puts a value onto the next event. */
enum rs_status rs_otf2_put_u64(struct rs_otf2_archive *a, uint32_t attribute, uint64_t value, struct rs_err *err);
enum rs_status rs_otf2_put_text(struct rs_otf2_archive *a, uint32_t attribute, const char *text, struct rs_err *err);

#endif
