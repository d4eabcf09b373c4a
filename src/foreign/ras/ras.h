/* What NCCL's RAS answers to a status query (ncclras, or the same text from its port), as plain structs.
 *
 * Two layouts: text for people, normal or verbose (NCCL 2.24 on), and JSON (2.28.7 on). JSON has every rank of every
 * communicator. The text names a communicator only where its ranks differ or do not answer, and single ranks only where
 * few of them differ: what it says of "26 ranks" is given to the ranks of the communicator that it does not list, if
 * the numbers leave one choice. Rows and texts belong to the struct until rs_ras_free(). One thread at a time. */
#ifndef RS_FOREIGN_RAS_RAS_H
#define RS_FOREIGN_RAS_RAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "model/extras.h"

struct rs_ras_comm {
    uint64_t hash;
    int64_t size; /* ranks; -1: not known */
};

struct rs_ras_rank {
    uint32_t comm;
    int64_t rank;
    const char *host; /* an IP address; "": not known */
    int64_t pid, device; /* -1: not known */
    uint8_t state; /* enum rs_rank_condition */
    int64_t init_error, async_error; /* ncclResult_t; 0: none */
};

/* How many collectives of a function a rank has launched. */
struct rs_ras_count {
    uint32_t rank; /* of `ranks` */
    const char *func; /* NCCL's name; "": all functions together (2.24 and 2.25) */
    uint64_t launched;
};

/* A process that does not answer. */
struct rs_ras_process {
    const char *host;
    int64_t pid;
    bool dead; /* RAS has given up on it; else it did not answer this query */
};

struct rs_ras {
    const char *version; /* of NCCL; "": not known */
    const char *time; /* "2025-12-19 13:06:53", of the host's time zone; "": the text has none */
    int64_t time_s; /* the same as seconds, for differences; -1 */
    bool json;
    int64_t gpus; /* of the job, each a rank; -1: not known */
    struct rs_ras_comm *comms;
    struct rs_ras_rank *ranks;
    struct rs_ras_count *counts;
    struct rs_ras_process *processes_lost;
    uint32_t n_comms, n_ranks, n_counts, n_lost;
    uint32_t unnamed; /* communicators in the text's table without a section of their own: their ranks agree */
    struct rs_err damage; /* code RS_OK: it is whole */
    struct rs_arena arena;
    uint32_t cap_comms, cap_ranks, cap_counts, cap_lost;
};

/* RS_BAD_INPUT when it is no such output. Free in any case. */
enum rs_status rs_ras_read(struct rs_ras *r, const char *path, struct rs_err *err);
void rs_ras_free(struct rs_ras *r); /* a zeroed struct is fine */

#endif
