/* Events of NCCL's example profiler, one line of its dump at a time.
 *
 * A dump is an array of begin ("b") and end ("e") lines. A begin line becomes one rs_example_event with its arguments
 * as written (64-bit integers exact, pointers as numbers, datatypes bare or quoted as text); an end line only
 * gives the time. What the versions call differently has one name here: nMaxChannels (2.23 to 2.26) is nchannels, a
 * datatype given as a number (2.23) becomes NCCL's name. Names and other texts are ids of a rs_texts, which owns
 * them. Times are ns since the plugin's first init in that process; "0.000000" is RS_TIME_NONE. One thread at a
 * time. */
#ifndef RS_FOREIGN_EXAMPLE_EVENTS_H
#define RS_FOREIGN_EXAMPLE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/scan.h"
#include "base/texts.h"

enum rs_example_kind {
    RS_EX_OTHER, /* a category that we do not know: name and times only */
    RS_EX_GROUP_API,
    RS_EX_COLL_API,
    RS_EX_P2P_API,
    RS_EX_LAUNCH, /* KERNEL_LAUNCH */
    RS_EX_GROUP, /* 2.23 to 2.27 */
    RS_EX_COLL,
    RS_EX_P2P,
    RS_EX_PROXY_OP, /* PROXY: Schedule... and Progress...; Send and Recv before 2.27 */
    RS_EX_PROXY_CTRL, /* PROXY: Idle, Sleep, Append */
    RS_EX_NET, /* a wait of a proxy step */
    RS_EX_KERNEL, /* GPU: KernelCh */
    RS_EX_IB, /* NET_IB */
    RS_EX_SOCKET, /* NET_SOCK */
    RS_EX_CE_COLL,
    RS_EX_CE_SYNC,
    RS_EX_CE_BATCH,
    RS_EX_KINDS
};

enum rs_example_phase { RS_EX_WHOLE, RS_EX_SCHEDULE, RS_EX_PROGRESS }; /* of a PROXY_OP; WHOLE: before 2.27 */
enum rs_example_ctrl { RS_EX_IDLE, RS_EX_SLEEP, RS_EX_APPEND };
enum rs_example_wait {
    RS_EX_WAIT_OTHER,
    RS_EX_SEND_BUFFER_WAIT, /* before 2.27: for a free buffer */
    RS_EX_RECV_BUFFER_WAIT,
    RS_EX_SEND_GPU_WAIT,
    RS_EX_SEND_PEER_WAIT,
    RS_EX_SEND_WAIT,
    RS_EX_RECV_WAIT,
    RS_EX_RECV_FLUSH_WAIT,
    RS_EX_RECV_GPU_WAIT,
};
enum {
    RS_EX_POSTED,
    RS_EX_WAITED,
    RS_EX_TRANSMITTED,
    RS_EX_DONE,
    RS_EX_STATES
}; /* WAITED: REM_FIFO_WAIT or RECEIVED */

/* How the rank of an event is known. */
enum rs_example_who {
    RS_EX_WHO_NONE, /* it is not */
    RS_EX_WHO_OWN, /* it has CommHash and Rank */
    RS_EX_WHO_PARENT, /* those of the operation around it */
    RS_EX_WHO_CHILD, /* a call: those of its operation */
    RS_EX_WHO_STREAM, /* a call or launch: those of the operations on the same stream */
    RS_EX_WHO_FILE, /* those of the file */
};

/* Numbers that were not in the line are -1 (signed) or 0; sequence: UINT64_MAX. Texts: 0. */
struct rs_example_event {
    int64_t begin, end;
    uint64_t offset; /* of the begin line in the unpacked bytes */
    uint64_t comm; /* with `rank`: the member; see `who` */
    int32_t rank; /* -1: not known */
    uint32_t parent; /* the event around it, by the order of the lines; RS_NONE: none */
    uint32_t op; /* the operation it is of, itself if it is one (COLL, P2P, CE_COLL); RS_NONE */
    uint32_t pid;
    int64_t id; /* as written: ids repeat and say nothing about nesting */
    uint16_t name, cat; /* texts */
    uint8_t kind; /* enum rs_example_kind */
    uint8_t who; /* enum rs_example_who */
    bool closed; /* its end line is there (with a time or without) */
    union {
        struct {
            int32_t id, depth; /* groupApiId or groupId, groupDepth */
        } group;
        struct {
            uint64_t count, stream;
            int32_t root, captured;
            uint16_t dtype;
        } call; /* COLL_API, P2P_API */
        struct {
            uint64_t stream;
            int32_t group;
        } launch;
        struct {
            uint64_t seq, count;
            int32_t peer, nchannels;
            uint16_t dtype, algo, proto;
            bool is_send; /* of P2P */
        } work; /* COLL, P2P; communicator and rank are the event's */
        struct {
            uint64_t bytes;
            int64_t at[RS_EX_STATES]; /* before 2.27 */
            int32_t done[RS_EX_STATES]; /* steps that had got so far */
            int32_t channel, peer, steps, chunk;
            uint8_t phase;
            bool is_send;
        } proxy;
        struct {
            int32_t appended;
            uint8_t what; /* enum rs_example_ctrl */
        } ctrl;
        struct {
            int32_t step;
            uint8_t wait; /* enum rs_example_wait */
        } net;
        struct {
            uint64_t start, stop; /* ns of the GPU's clock; 0: not known */
            int32_t channel;
        } kernel;
        struct {
            uint64_t wr_id, bytes;
            int32_t device, qp, opcode; /* IB */
            int32_t sock, op; /* SOCKET */
        } wire;
        struct {
            uint64_t id, count, bytes, gpu_us;
            int64_t cpu_begin, cpu_end, cpu_ns;
            int32_t nranks, nops;
            uint16_t dtype, strategy, type;
        } ce;
    };
};

enum rs_example_line {
    RS_EX_BEGIN, /* the event is whole, but for what it takes from other lines: end, parent, op, who */
    RS_EX_END, /* cat, name and kind say of what; `begin` is its time */
    RS_EX_EMPTY, /* {}: the writer's last line */
    RS_EX_DAMAGED, /* broken off, or another object where a key should be */
    RS_EX_STRANGE, /* an object, but not such a line */
};

/* Reads the rest of the line whose '{' the scanner gave last. *again: the scanner is after the '{' of the next
 * line already, because this one was broken. */
enum rs_status rs_example_line(struct rs_scan *s, struct rs_texts *texts, struct rs_example_event *event,
                               enum rs_example_line *line, bool *again, struct rs_err *err);

#endif
