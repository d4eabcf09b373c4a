/* What a folder with an archive of OTF2 holds, as the library lays it out: whether nothing else is in it. */
#ifndef RS_EXPORT_OTF2_FOLDER_H
#define RS_EXPORT_OTF2_FOLDER_H

#include <stdbool.h>

#define RS_OTF2_NAME "traces" /* of the archive: traces.otf2, traces.def and the folder of locations, traces */

/* Also when it is empty. False for a folder that cannot be read. */
bool rs_otf2_folder_is_ours(const char *folder);

#endif
