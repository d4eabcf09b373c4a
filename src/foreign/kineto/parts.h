/* Calls of Kineto traces into the model: communicators, members, parts and tags.
 *
 * Works on a trace whose rows are in the model already and whose calls are numbered. One thread at a time. */
#ifndef RS_FOREIGN_KINETO_PARTS_H
#define RS_FOREIGN_KINETO_PARTS_H

#include "foreign/kineto/rows.h"
#include "model/model.h"

/* A process that was profiled, in one window or in several. */
struct rs_kineto_process {
    uint32_t proc; /* in the model */
    uint32_t files; /* windows so far */
    struct rs_map gpus; /* device -> clock */
    struct rs_map lanes; /* hash of what a lane is -> lane of the model */
    struct rs_map members; /* hash of a group -> member */
    uint32_t events, rows, calls; /* of the windows so far: where numbers of the next begin */
    struct rs_kineto_process *next; /* another of the same rank */
};

/* A trace on its way into the model. */
struct rs_kineto_file {
    struct rs_kineto k; /* its rows are gone once they are in the model */
    const char *path; /* of its file: the inputs' */
    size_t order; /* in which it was read */
    uint32_t piece; /* which trace of a merged file it is, from 1; 0: it has a file of its own */
    struct rs_kineto_process *process;
    int64_t begin, end; /* of its events; begin > end: none */
    uint32_t first; /* activity of row 0 */
    uint32_t first_event, first_row, first_call; /* in the numbers of its process */
    struct rs_kineto_tied {
        uint32_t row, call, event; /* event: of the kernel in its file */
    } * kernels; /* NCCL's kernels that are tied */
    uint32_t nkernels;
    uint32_t *names; /* id of the trace -> rs_model_name(); UINT32_MAX: not asked for yet */
};

/* The name of the model for one of the trace. */
enum rs_status rs_kineto_model_name(struct rs_kineto_file *f, struct rs_model *m, uint32_t name, uint32_t *id,
                                    struct rs_err *err);
/* Root of a collective, peer of a send or receive: rank in the group; -1: none, or unknown. */
int32_t rs_kineto_peer(const struct rs_kineto_call *call, const struct rs_kineto_group *group);
/* Parts of all calls, by time, and their kernels' activities tied to them. */
enum rs_status rs_kineto_parts_add(struct rs_kineto_file *f, struct rs_model *m, struct rs_err *err);

#endif
