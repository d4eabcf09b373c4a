/* Where an export goes: a stream, a file that a library writes, or a folder; it gets its final name when it is complete.
 *
 * Written next to its final name under a temporary one and renamed by rs_output_commit(); a failure, or a signal that ends
 * the program (base/unfinished.h), leaves nothing. Existing output is not overwritten without force, and a folder even then
 * only if it contains nothing but files that such an export writes. A link to a file is replaced itself. A stream whose
 * name ends in .gz or .zst is compressed. One thread at a time. */
#ifndef RS_EXPORT_OUTPUT_H
#define RS_EXPORT_OUTPUT_H

#include "base/file.h"
#include "export/exporter.h"

struct rs_output {
    enum rs_export_output kind;
    const char *path; /* the user's; owned by the caller */
    bool force;
    struct rs_out out; /* of a stream */
    FILE *file; /* write here; of a stream */
    bool (*may_replace)(const char *folder); /* NULL: only when it is empty */
    char *temporary; /* of a file or folder */
};

/* `path` NULL or "-": standard output, for streams only. `may_replace`: with force, whether an existing folder may be
 * replaced; called now, and again before it is replaced. */
enum rs_status rs_output_open(struct rs_output *p, enum rs_export_output kind, const char *path, bool force,
                              bool (*may_replace)(const char *folder), struct rs_err *err);
enum rs_status rs_output_commit(struct rs_output *p, struct rs_err *err);
/* Removes what was written. Does nothing after rs_output_commit(). */
void rs_output_abort(struct rs_output *p);

/* ---- for may_replace ---- */

enum rs_output_type { RS_PLACE_FILE, RS_PLACE_FOLDER, RS_PLACE_OTHER };
/* Of a name in a folder; a link is RS_PLACE_OTHER. */
enum rs_output_type rs_output_type(const char *folder, const char *name);
/* Whether `ours` is true of each name in `folder`, or in `below` there (NULL: in the folder itself). */
bool rs_output_holds_only(const char *folder, const char *below, bool (*ours)(const char *folder, const char *name));

#endif
