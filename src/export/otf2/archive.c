#ifndef RS_NO_OTF2

#include "export/otf2/archive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/room.h"
#include "base/utf8.h"
#include "export/otf2/folder.h"

/* ---- the library ---- */

/* The innermost failure comes first, and says most: it is kept. */
static OTF2_ErrorCode keep_error(void *user, const char *file, uint64_t line, const char *function, OTF2_ErrorCode code,
                                 const char *format, va_list args)
{
    struct rs_otf2_archive *a = user;
    (void)file, (void)line, (void)function;
    if (code <= OTF2_SUCCESS || a->said[0]) return code; /* warnings and deprecations are below it */
    int n = snprintf(a->said, sizeof a->said, "%s", OTF2_Error_GetDescription(code));
    if (format && *format && n > 0 && (size_t)n + 2 < sizeof a->said) {
        n += snprintf(a->said + n, sizeof a->said - (size_t)n, ": ");
        vsnprintf(a->said + n, sizeof a->said - (size_t)n, format, args);
    }
    return code;
}

static OTF2_FlushType flush_always(void *user, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool final)
{
    (void)user, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

enum rs_status rs_otf2_check(struct rs_otf2_archive *a, OTF2_ErrorCode code, struct rs_err *err)
{
    if (code == OTF2_SUCCESS && !a->said[0]) return RS_OK;
    return rs_fail(err, RS_FAILED, "%s: the OTF2 library cannot write it: %s", a->name,
                   a->said[0] ? a->said : OTF2_Error_GetDescription(code));
}

/* Bytes per chunk. The library clears two for each location, even if empty; a record must fit in one. */
static uint64_t chunk_of_definitions(uint64_t members)
{
    enum { A_MEMBER = 10, OTHERS = 128 << 10 };
    uint64_t need = OTHERS + members * A_MEMBER;
    return need < OTF2_CHUNK_SIZE_MIN ? OTF2_CHUNK_SIZE_MIN : need < OTF2_CHUNK_SIZE_MAX ? need : OTF2_CHUNK_SIZE_MAX;
}

enum rs_status rs_otf2_open(struct rs_otf2_archive *a, const char *folder, const char *name, uint64_t members,
                            struct rs_err *err)
{
    static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = flush_always};
    *a = (struct rs_otf2_archive){.name = name};
    uint32_t none;
    rs_texts_id(&a->texts, "", 0, &none);
    a->before = OTF2_Error_RegisterCallback(keep_error, a);
    a->archive = OTF2_Archive_Open(folder, RS_OTF2_NAME, OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_MIN,
                                   chunk_of_definitions(members), OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (!a->archive) return rs_otf2_check(a, OTF2_ERROR_FILE_CAN_NOT_OPEN, err);
    RS_OTF2_TRY(a, OTF2_Archive_SetFlushCallbacks(a->archive, &flush, NULL), err);
    RS_OTF2_TRY(a, OTF2_Archive_SetSerialCollectiveCallbacks(a->archive), err);
    RS_OTF2_TRY(a, OTF2_Archive_SetCreator(a->archive, "ringscope " RS_VERSION), err);
    RS_OTF2_TRY(a, OTF2_Archive_OpenEvtFiles(a->archive), err);
    a->files_open = true;
    a->list = OTF2_AttributeList_New();
    if (!a->list) rs_memory_out();
    return RS_OK;
}

enum rs_status rs_otf2_close(struct rs_otf2_archive *a, struct rs_err *err)
{
    OTF2_Archive *archive = a->archive;
    a->archive = NULL;
    return rs_otf2_check(a, OTF2_Archive_Close(archive), err);
}

void rs_otf2_free(struct rs_otf2_archive *a)
{
    if (a->archive) { /* after a failure: what it says now is of no use */
        if (a->files_open) OTF2_Archive_CloseEvtFiles(a->archive);
        OTF2_Archive_Close(a->archive);
    }
    if (a->list) OTF2_AttributeList_Delete(a->list);
    if (a->name)
        OTF2_Error_RegisterCallback(a->before,
                                    NULL); /* its argument is not known: in this program nobody else registers one */
    rs_texts_free(&a->texts);
    free(a->locations);
    free(a->groups);
    free(a->regions);
    free(a->attributes);
    rs_map_free(&a->region_index);
    rs_map_free(&a->attribute_index);
    *a = (struct rs_otf2_archive){0};
}

/* ---- rows ---- */

void rs_otf2_text(struct rs_otf2_archive *a, const char *text, uint32_t *index)
{
    enum { MOST = 64 << 10 }; /* bytes: it must fit in a chunk; names of kernels may have any length */
    struct rs_strbuf room = {0};
    size_t n = text ? strnlen(text, MOST) : 0;
    const char *whole = rs_utf8_whole(text ? text : "", &n, &room); /* strings of OTF2 are UTF-8 */
    rs_texts_id(&a->texts, whole, n, index);
    rs_strbuf_free(&room);
}

enum rs_status rs_otf2_group(struct rs_otf2_archive *a, const struct rs_otf2_group *row, uint32_t *index,
                             struct rs_err *err)
{
    (void)err;
    RS_ROOM(a->groups, a->ngroups, a->cap_groups);
    *index = a->ngroups;
    a->groups[a->ngroups++] = *row;
    return RS_OK;
}

enum rs_status rs_otf2_location(struct rs_otf2_archive *a, const struct rs_otf2_location *row, uint32_t *index,
                                struct rs_err *err)
{
    (void)err;
    RS_ROOM(a->locations, a->nlocations, a->cap_locations);
    *index = a->nlocations;
    a->locations[a->nlocations++] = *row;
    if (row->type == OTF2_LOCATION_TYPE_CPU_THREAD) a->groups[row->group].threads++;
    return RS_OK;
}

enum rs_status rs_otf2_region(struct rs_otf2_archive *a, uint64_t key, const char *name, const char *canonical,
                              const char *description, OTF2_RegionRole role, OTF2_Paradigm paradigm, uint32_t *index,
                              struct rs_err *err)
{
    (void)err;
    uint64_t *known;
    rs_map_at(&a->region_index, key, a->nregions, &known);
    *index = (uint32_t)*known;
    if (*index < a->nregions) return RS_OK;
    RS_ROOM(a->regions, a->nregions, a->cap_regions);
    struct rs_otf2_region row = {.role = role, .paradigm = paradigm};
    rs_otf2_text(a, name, &row.name);
    rs_otf2_text(a, canonical, &row.canonical);
    rs_otf2_text(a, description, &row.description);
    a->regions[a->nregions++] = row;
    return RS_OK;
}

enum rs_status rs_otf2_attribute(struct rs_otf2_archive *a, const char *name, const char *description, OTF2_Type type,
                                 uint32_t *index, struct rs_err *err)
{
    (void)err;
    uint32_t text;
    uint64_t *known;
    rs_otf2_text(a, name, &text);
    rs_map_at(&a->attribute_index, (uint64_t)text << 8 | type, a->nattributes, &known);
    *index = (uint32_t)*known;
    if (*index < a->nattributes) return RS_OK;
    RS_ROOM(a->attributes, a->nattributes, a->cap_attributes);
    struct rs_otf2_attribute row = {.name = text, .type = type};
    rs_otf2_text(a, description, &row.description);
    a->attributes[a->nattributes++] = row;
    return RS_OK;
}

/* ---- events ---- */

enum rs_status rs_otf2_begin(struct rs_otf2_archive *a, uint32_t location, OTF2_EvtWriter **writer, struct rs_err *err)
{
    *writer = OTF2_Archive_GetEvtWriter(a->archive, location);
    return *writer ? RS_OK : rs_otf2_check(a, OTF2_ERROR_MEM_ALLOC_FAILED, err);
}

enum rs_status rs_otf2_end(struct rs_otf2_archive *a, uint32_t location, OTF2_EvtWriter *writer, struct rs_err *err)
{
    RS_OTF2_TRY(a, OTF2_EvtWriter_GetNumberOfEvents(writer, &a->locations[location].events), err);
    return rs_otf2_check(a, OTF2_Archive_CloseEvtWriter(a->archive, writer), err);
}

enum rs_status rs_otf2_put_u64(struct rs_otf2_archive *a, uint32_t attribute, uint64_t value, struct rs_err *err)
{
    return rs_otf2_check(a, OTF2_AttributeList_AddUint64(a->list, attribute, value), err);
}

enum rs_status rs_otf2_put_text(struct rs_otf2_archive *a, uint32_t attribute, const char *text, struct rs_err *err)
{
    uint32_t id;
    rs_otf2_text(a, text, &id);
    return rs_otf2_check(a, OTF2_AttributeList_AddStringRef(a->list, attribute, id), err);
}

#endif
