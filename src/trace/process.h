/* The facts of a recording about its process.
 *
 * Everything is owned by the struct until rs_process_free(). Times are ticks; clock.h turns them into ns. */
#ifndef RS_TRACE_PROCESS_H
#define RS_TRACE_PROCESS_H

#include "trace/recording.h"

struct rs_info {
    char *key, *value;
};

/* A communicator as one process saw it. */
struct rs_comm {
    struct rs_fact_comm fact;
    char *name; /* NULL: none */
    uint64_t created_tick;
    uint64_t destroyed_tick; /* 0: not seen */
};

struct rs_finalize {
    uint64_t tick;
    struct rs_fact_comm_end fact;
};

struct rs_mask {
    uint64_t tick, mask;
};

/* An unusual interval between group calls that opened a window of detail. */
struct rs_trigger {
    uint64_t tick;
    struct rs_fact_trigger fact;
};

struct rs_note {
    uint64_t tick;
    char *text;
};

/* A captured parent: a start recorded as a fact, because its chunk may have been overwritten. */
struct rs_captured {
    uint64_t handle, tick_base;
    unsigned n;
    uint64_t words[RS_RECORD_MAX];
};

struct rs_process {
    struct rs_info *infos;
    size_t ninfos;
    struct rs_comm *comms;
    size_t ncomms;
    struct rs_finalize *finalizes;
    size_t nfinalizes;
    struct rs_mask *masks;
    size_t nmasks;
    struct rs_trigger *triggers;
    size_t ntriggers;
    struct rs_note *notes;
    size_t nnotes;
    struct rs_fact_clock *clocks;
    size_t nclocks;
    struct rs_captured *captured;
    size_t ncaptured;
    bool cut; /* cut out of a larger recording */
    uint64_t left_out; /* callbacks that are not in the cut */
    uint64_t cut_until; /* tick of the last of them; UINT64_MAX: unknown, perhaps the end; 0: none */
    bool ran_on; /* of a cut: the process was running when it was cut */
    char *cut_by; /* the filters, as text; NULL: none */
    struct rs_fact_cut_op *cut_ops; /* by handle */
    size_t ncut_ops;
    uint64_t *cut_stale; /* ascending */
    size_t ncut_stale;
    char **strings; /* by id; NULL: none */
    size_t nstrings;
};

/* Never fails: a fact that cannot be read is noted as damage of the recording. */
void rs_process_read(struct rs_process *process, struct rs_recording *recording);
void rs_process_free(struct rs_process *process);

/* The value of a key ("env.NCCL_DEBUG", "nccl.version", ...), or NULL. */
const char *rs_process_info(const struct rs_process *process, const char *key);
/* The text of a string id; NULL for RS_STRING_NULL; "?" if it was not recorded. */
const char *rs_process_string(const struct rs_process *process, uint64_t id);
/* What a cut says about an operation, by its handle; NULL: nothing. */
const struct rs_fact_cut_op *rs_process_cut_op(const struct rs_process *process, uint64_t handle);
/* Whether a cut says that the timers of a KernelCh event are of another operation. */
bool rs_process_cut_stale(const struct rs_process *process, uint64_t handle);
/* The communicator of a context, or NULL. */
const struct rs_comm *rs_process_comm(const struct rs_process *process, uint64_t context);

#endif
