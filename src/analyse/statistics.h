/* Summaries without a time axis (nvprof, ncclsee, Inspector), side by side: one row per item, one cell per process.
 *
 * Waits in such summaries: all processes leave a collective at about the same time, so a process whose kernels take
 * longer than those of the fastest arrived earlier and waited for about the difference. Given only if all processes of
 * the row made the same number of calls. Borrows the model; owns its rows until rs_statistics_free(). One thread at a
 * time. */
#ifndef RS_ANALYSE_STATISTICS_H
#define RS_ANALYSE_STATISTICS_H

#include "base/strbuf.h"
#include "model/model.h"

enum rs_table_of { RS_TABLE_OPERATIONS, RS_TABLE_CALLS, RS_TABLE_RANGES, RS_TABLE_KERNELS, RS_TABLES };

/* A process in a row. Times: RS_TIME_NONE is unknown. */
struct rs_cell {
    uint32_t proc, member; /* member RS_NONE: unknown */
    uint64_t calls, bytes;
    int64_t total_ns, min_ns, max_ns;
    int64_t wait_ns; /* above the fastest process */
    int64_t gpu_ns; /* of a range: work on the GPU inside it */
    uint64_t gpu_calls;
};

struct rs_stat_row {
    uint8_t kind; /* enum rs_stat_kind */
    uint8_t tool; /* enum rs_tool */
    uint16_t func; /* 0: none */
    uint32_t name, within, thread, comm; /* names of the model, 0: none; comm RS_NONE: unknown */
    uint32_t first, n; /* its cells, by process */
    int64_t total_ns; /* of all processes */
    int64_t wait_ns; /* likewise; RS_TIME_NONE: unknown */
    int64_t spread_ns; /* of the processes that ran kernels, the largest total minus the smallest; RS_TIME_NONE: fewer
                        * than two of them */
    uint32_t most, least; /* their cells; RS_NONE: a process without it */
};

struct rs_stat_process {
    int64_t gpu_ns, comm_ns; /* all kernels and copies; NCCL's kernels */
    int64_t wait_ns; /* RS_TIME_NONE: unknown */
    bool has_rows, has_kernels;
};

struct rs_statistics {
    const struct rs_model *model;
    struct rs_stat_row *rows[RS_TABLES]; /* operations by wait and time, calls by spread, the others by time */
    uint32_t nrows[RS_TABLES];
    struct rs_cell *cells;
    uint32_t ncells;
    struct rs_stat_process *procs; /* by process of the model */
};

/* Empty if the model has no statistics. */
void rs_statistics_init(struct rs_statistics *s, const struct rs_model *m);
void rs_statistics_free(struct rs_statistics *s);

/* The share of a time in the GPU time of a process, 0 to 1; NAN: it has none. */
double rs_statistics_share(const struct rs_statistics *s, uint32_t proc, int64_t ns);

/* Appends the next sentence of the conclusion to `text`; *next is 0 at first. False: no more. */
bool rs_statistics_say(const struct rs_statistics *s, unsigned *next, struct rs_strbuf *text);

#endif
