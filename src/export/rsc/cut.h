/* The words of a recording without what a cut leaves out.
 *
 * Records are copied as they are; where starts between two were left out, RS_K_HANDLE says which handle comes next, so
 * that every event keeps its own, also in the eyes of other processes. Losses stay losses. One thread at a time. */
#ifndef RS_EXPORT_RSC_CUT_H
#define RS_EXPORT_RSC_CUT_H

#include "export/kept_callbacks.h"
#include "export/rsc/file.h"

/* What is not in a cut: how many callbacks, and the tick of the last of them (0: none is missing). */
struct rs_cut_off {
    uint64_t left_out, until;
};

/* Writes the events of `from` that are kept; *off: of those that are not. */
enum rs_status rs_rsc_cut_events(struct rs_rsc_file *to, struct rs_recording *from, struct rs_keep *keep,
                                 struct rs_cut_off *off, struct rs_err *err);
/* Writes its facts; what is told of the cut anew is left out, and captured parents
 * that are not kept, or whose starts are. */
void rs_rsc_cut_facts(struct rs_rsc_file *to, struct rs_recording *from, struct rs_keep *keep);

#endif
