#include "export/otf2/folder.h"

#include <string.h>

#include "export/output.h"

/* "12.evt": a number with the ending of events, definitions, or what otf2-snapshots adds. */
static bool is_of_location(const char *folder, const char *name)
{
    const char *ending = name + strspn(name, "0123456789");
    bool is = ending > name && (!strcmp(ending, ".evt") || !strcmp(ending, ".def") || !strcmp(ending, ".snap"));
    return is && rs_output_type(folder, name) == RS_PLACE_FILE;
}

/* "traces.otf2", "traces.def", and what otf2-marker and otf2-snapshots add: "traces.0.thumb". */
static bool is_of_archive(const char *folder, const char *name)
{
    size_t n = sizeof RS_OTF2_NAME - 1;
    if (!strcmp(name, RS_OTF2_NAME))
        return rs_output_type(folder, name) == RS_PLACE_FOLDER && rs_output_holds_only(folder, name, is_of_location);
    if (strncmp(name, RS_OTF2_NAME ".", n + 1) != 0) return false;
    const char *ending = name + n + 1, *number = ending + strspn(ending, "0123456789");
    bool is = !strcmp(ending, "otf2") || !strcmp(ending, "def") || !strcmp(ending, "marker") ||
              (number > ending && !strcmp(number, ".thumb"));
    return is && rs_output_type(folder, name) == RS_PLACE_FILE;
}

bool rs_otf2_folder_is_ours(const char *folder)
{
    return rs_output_holds_only(folder, NULL, is_of_archive);
}
