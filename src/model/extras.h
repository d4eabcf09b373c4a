/* Facts that only some inputs have: statistics without a time axis, a framework's facts about an operation, and what a
 * health service reported of ranks.
 *
 * Sparse tables, in addition to the columns of the model, which owns them. One thread at a time. */
#ifndef RS_MODEL_EXTRAS_H
#define RS_MODEL_EXTRAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct rs_model;

enum rs_stat_kind {
    RS_STAT_KERNEL, /* a kernel, not of NCCL */
    RS_STAT_COMM, /* a kernel of NCCL */
    RS_STAT_COPY, /* memory copy or set */
    RS_STAT_CALL, /* host call */
    RS_STAT_RANGE, /* annotation: time on the host */
    RS_STAT_RANGE_WORK, /* work on the GPU inside an annotation: `within` names it */
    RS_STAT_OPERATION, /* a NCCL operation as timed by a tool (Inspector, ncclsee): host and GPU may be mixed */
};

/* A row of a summary, without a time. */
struct rs_stat {
    uint32_t proc;
    uint32_t member; /* RS_NONE: the communicator is unknown */
    uint8_t kind; /* enum rs_stat_kind */
    uint16_t func; /* of an operation or NCCL kernel: NCCL's function name; 0: none */
    uint32_t name, within; /* see rs_model_name(); 0: none. Of a range, `within` is its NVTX domain */
    uint32_t thread; /* name or number of the thread, see rs_model_name(); 0: unknown */
    uint64_t calls, bytes; /* bytes in all; 0: unknown */
    int64_t total_ns, min_ns, max_ns; /* RS_TIME_NONE: unknown */
};

/* What a framework or a tool adds to NCCL's facts about one part. Rows are in the order of their parts. */
struct rs_tag {
    uint32_t part;
    uint32_t scope; /* innermost annotation around its call, see rs_model_name(); 0: none */
    uint32_t step; /* number of the step (ProfilerStep#12) around its call; RS_NONE */
    uint64_t comms_id; /* as read, or computed by PyTorch's formula; see has_comms_id */
    int64_t pg_seq; /* the framework's own number in its process group; -1: none */
    int64_t duration_ns; /* if a tool reports it without a time; RS_TIME_NONE */
    uint64_t in_count, out_count; /* elements of its inputs and outputs, if a framework reports both; 0: unknown */
    const char *frames; /* the program's stack at the call, innermost first: "file:line function", one per line; NULL */
    bool has_comms_id, comms_id_read; /* read: it was in the trace */
    bool is_p2p; /* according to the framework */
};

/* The event of a trace of another tool that reports a part. In no order. */
struct rs_spot {
    uint32_t proc;
    uint32_t event; /* from 0, over all files of the process: see first_event of trace/inputs.h */
    uint32_t part;
};
void rs_model_spot(struct rs_model *m, const struct rs_spot *row);

/* The numbers of a part's operation in the whole recording, if its recording is a cut. Rows are in the order of their
 * parts. */
struct rs_cut_number {
    uint64_t id; /* of its operation */
    uint32_t part;
    uint32_t index; /* of a pair */
    uint8_t confidence;
    bool twice; /* see RS_OP_DOUBLE */
};

void rs_model_cut_number(struct rs_model *m, const struct rs_cut_number *row); /* in the order of parts */
/* NULL: not from a cut. */
const struct rs_cut_number *rs_part_cut_number(const struct rs_model *m, uint32_t part);

/* What a health service (NCCL's RAS) said of one rank of a communicator when it was asked. */
enum rs_rank_condition {
    RS_RANK_UNKNOWN,
    RS_RANK_RUNNING,
    RS_RANK_INIT, /* in the initialisation of the communicator */
    RS_RANK_FINALIZE, /* has begun to destroy the communicator */
    RS_RANK_ABORT, /* has aborted the communicator */
    RS_RANK_LEFT, /* its process answers and is in no such communicator: it was destroyed there, or never made */
    RS_RANK_SILENT, /* its process did not answer */
    RS_RANK_DEAD, /* the service has given its process up: unreachable for a minute */
};
struct rs_condition {
    uint32_t comm;
    int32_t rank; /* in the communicator; it may have no member: its process is then not named */
    uint32_t answer; /* row of `answers` */
    uint8_t state; /* enum rs_rank_condition */
    uint8_t error; /* ncclResult_t of its initialisation, or that it would report now; 0: none */
};
/* How many collectives of a function a rank had launched by then. */
struct rs_progress {
    uint32_t comm;
    int32_t rank;
    uint32_t answer;
    uint16_t func; /* 0: all functions together */
    uint64_t n;
};
/* One query of the service: a moment. In the order of time, as far as it is known. */
struct rs_answer {
    const char *path;
    const char *time; /* as written, in an unknown time zone; NULL: none */
    int64_t time_s; /* the same as seconds, for differences between answers; -1: none */
    bool partial; /* only what is unusual is listed: a rank or communicator that is not there agrees with the others */
};
void rs_model_condition(struct rs_model *m, const struct rs_condition *row);
void rs_model_progress(struct rs_model *m, const struct rs_progress *row);
void rs_model_answer(struct rs_model *m, const struct rs_answer *row, uint32_t *index);

/* A row of a table of metrics that a tool or a program wrote, without a time. */
struct rs_metric {
    uint32_t proc; /* RS_NONE: unknown */
    uint32_t of, name, unit; /* see rs_model_name(): the kernel or table it is in; 0: none */
    uint64_t calls; /* 0: unknown */
    double min, max, mean; /* NAN: no number */
};
void rs_model_metric(struct rs_model *m, const struct rs_metric *row);

void rs_model_stat(struct rs_model *m, const struct rs_stat *row);
void rs_model_tag(struct rs_model *m, const struct rs_tag *row); /* in the order of parts */
/* NULL: it has none. */
const struct rs_tag *rs_part_tag(const struct rs_model *m, uint32_t part);

/* The id of a text of any length and number (kernels, annotations); 0 is "". */
enum rs_status rs_model_name(struct rs_model *m, const char *text, size_t n, uint32_t *id, struct rs_err *err);
const char *rs_model_name_text(const struct rs_model *m, uint32_t id);

#endif
