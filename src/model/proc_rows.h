/* The rows of one process in the model, and its parts by their handles.
 *
 * Importers add parts and members process by process, so those of a process are consecutive and are found by binary
 * search. The caller frees maps. */
#ifndef RS_MODEL_PROC_ROWS_H
#define RS_MODEL_PROC_ROWS_H

#include "model/model.h"

struct rs_proc_rows {
    uint32_t first, end; /* rows of the model, end excluded */
};

struct rs_proc_rows rs_parts_of(const struct rs_model *m, uint32_t proc);
struct rs_proc_rows rs_members_of(const struct rs_model *m, uint32_t proc);

/* Puts handle -> part of all parts of the process into an empty map. */
void rs_parts_index(struct rs_map *index, const struct rs_model *m, uint32_t proc);

#endif
