/* Dumps of PyTorch's Flight Recorder, pickle or JSON, as plain structs.
 *
 * A dump is what one rank knew when it was written: its process groups, how far each had come, and the last operations
 * it was asked for. The struct owns everything in it until rs_flight_free(). One thread at a time. There is one time
 * that is true: created_ns, when the host asked for the operation. `discovered` is when the watchdog looked, up to
 * hundreds of ms late: evidence that something had happened by then, never when. */
#ifndef RS_FOREIGN_FLIGHT_FLIGHT_H
#define RS_FOREIGN_FLIGHT_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum rs_flight_state { RS_FLIGHT_UNKNOWN, RS_FLIGHT_SCHEDULED, RS_FLIGHT_STARTED, RS_FLIGHT_COMPLETED };

struct rs_flight_tensor {
    const int64_t *sizes; /* as many as it has dimensions; none: one element */
    uint32_t n;
};

struct rs_flight_tensors {
    const struct rs_flight_tensor *rows;
    const char *const *dtypes; /* torch's names: Float, BFloat16 ... */
    uint32_t n, n_dtypes; /* equal in a dump that is whole */
};

/* Texts are "" and numbers -1 where the dump has none. */
struct rs_flight_entry {
    int64_t record_id, pg_id;
    int64_t collective_seq, p2p_seq;
    const char *pg_name, *pg_desc; /* names return with other ranks: a group is its name and its ranks */
    const char *name; /* "nccl:all_reduce", "nccl:send 1->2", "nccl:recv 3<-0", "nccl:coalesced" */
    const char *op; /* its word: "all_reduce", "send" */
    int32_t src, dst; /* of a send or recv: ranks in the group, in the order of its sorted ranks */
    int64_t created_ns; /* Unix time */
    int64_t duration_ns; /* measured on the GPU, where that was switched on */
    struct rs_flight_tensors in, out;
    const char *frames; /* the program's own, innermost first: "file:line function", one per line */
    enum rs_flight_state state;
    bool is_p2p, retired;
    struct {
        int64_t started_ns, completed_ns; /* 0: not seen */
    } discovered;
};

struct rs_flight_group {
    const char *id; /* its key in the dump */
    const char *name, *desc;
    const int32_t *ranks; /* of the world, sorted */
    uint32_t n;
};

struct rs_flight_status {
    const char *id;
    /* Number of the last operation; -1: none, or not known. Collectives and sends are counted apart, and the last one
     * counts, of whichever kind. `enqueued` rises when the call of NCCL has returned; `started` needs timing. */
    int64_t enqueued, started, completed;
};

struct rs_flight {
    const char *version, *comm_version; /* "2.10"; NCCL's */
    int64_t rank; /* of its name, else of its content; -1: not known */
    int64_t rank_inside; /* what the content says, -1: nothing; another one than `rank`: the file was renamed */
    bool pickle; /* else JSON */
    struct rs_flight_group *groups;
    struct rs_flight_status *status;
    struct rs_flight_entry *entries; /* in the order of the dump: by record_id */
    uint32_t n_groups, n_status, n_entries;
    bool active_only; /* operations that had completed are not listed: no ring has dropped them */
    uint32_t bad_entries; /* left out: no dict, or cut off within */
    struct rs_err damage; /* code RS_OK: the dump is whole; else file, place and reason; everything before it is here */
    struct rs_arena arena;
    uint32_t cap_groups, cap_status, cap_entries;
};

/* Fails when nothing can be read; a dump that is damaged further on is read up to there, see `damage`. */
enum rs_status rs_flight_read(struct rs_flight *f, const char *path, struct rs_err *err);
/* The same from memory; `path` gives the rank and is named in messages. */
enum rs_status rs_flight_parse(struct rs_flight *f, const void *bytes, size_t n, const char *path, struct rs_err *err);
void rs_flight_free(struct rs_flight *f);

/* The rank in a file's name ("nccl_trace_rank_3", "fr_rank3.json.gz", "/tmp/dump12"), -1: none. */
int64_t rs_flight_rank_of_name(const char *path);
/* Elements of all tensors; -1: more than 64 bits hold, or a size below 0. */
int64_t rs_flight_elements(const struct rs_flight_tensors *t);

#endif
