/* The headings of all tables that ringscope prints, each with its meaning: the table printer (cli/print/table.h) takes no
 * others, so that `ringscope explain` knows all of them. A heading of several tables has one row. Constant data; any
 * thread. */
#ifndef RS_EXPLAIN_HEADINGS_H
#define RS_EXPLAIN_HEADINGS_H

#include "explain/terms.h"

/* clang-format off: a table */
/* id, heading, meaning */
#define RS_HEADINGS(X)                                                                                                 \
    X(RS_H_RANK, "rank", "Rank of the job; \"?\": unknown, \"all\": all ranks of a host.")                             \
    X(RS_H_HOST, "host", "Host name, as recorded; of traces that name none, the file or the process.")                 \
    X(RS_H_PID, "pid", "Process id; \"?\": unknown.")                                                                  \
    X(RS_H_GPU, "GPU", "CUDA device of the rank; \"?\": unknown.")                                                     \
    X(RS_H_DEVICE, "device", "CUDA device of the rank; \"?\": unknown.")                                               \
    X(RS_H_PROCESS, "process", "Process: its host and pid, as far as they are known.")                                 \
    X(RS_H_THREAD, "thread", "Host thread, as the trace names it.")                                                    \
    X(RS_H_FUNCTION, "function",                                                                                       \
      "NCCL function. The sends and receives of one group call are one function, such as AlltoAll or SendRecv.")       \
    X(RS_H_FUNC, "func", "NCCL function of an operation.")                                                             \
    X(RS_H_BYTES, "bytes",                                                                                             \
      "Size of an operation as NCCL counts it; with ~: mean of sizes within a factor of two. In the network table: "   \
      "bytes sent to the peer.")                                                                                       \
    X(RS_H_SIZE, "size", "Size of an operation, as bytes in JSON.")                                                    \
    X(RS_H_TYPE, "type", "Element type, where data is reduced.")                                                       \
    X(RS_H_CALLS, "calls",                                                                                             \
      "In report: operations of the function and size. In overlap and tables of other tools: calls.")                  \
    X(RS_H_P50, "p50", "Median of the time from start to end on a rank, waiting included.")                            \
    X(RS_H_P90, "p90", "Nine of ten are shorter: of the time of a call on a rank; in pipelines of the period.")        \
    X(RS_H_P99, "p99", "99 of 100 are shorter: of the time of a call on a rank; in pipelines of the period.")          \
    X(RS_H_MEAN_WAIT, "mean wait",                                                                                     \
      "Mean time of a rank in the operation before its last rank started; \"<\": below the clock error.")              \
    X(RS_H_MAX_WAIT, "max wait",                                                                                       \
      "Longest wait of a rank for the last rank of the operation; \"<\": below the clock error.")                      \
    X(RS_H_MAX_TIME, "max time", "Longest time of a rank in the operation, from its start to its end.")                \
    X(RS_H_TRANSFER, "transfer",                                                                                       \
      "From the last rank's start to the end: time of network and kernels. In overlap: such time without concurrent "  \
      "compute.")                                                                                                      \
    X(RS_H_BUSBW, "busbw GB/s",                                                                                        \
      "Bus bandwidth as nccl-tests define it, over the transfer; in changes over time, of the leading function.")      \
    X(RS_H_INCL_WAIT, "incl. wait",                                                                                    \
      "Bus bandwidth over the whole time, as a rank saw it: waiting for late ranks makes it smaller.")                 \
    X(RS_H_COMMUNICATOR, "communicator", "NCCL's hash of a communicator, and its name where one is known.")            \
    X(RS_H_COMMUNICATORS, "communicators",                                                                             \
      "In report: on which communicators, by their shape. In comms: how many have this shape.")                        \
    X(RS_H_COMM, "comm",                                                                                               \
      "In ops: the communicator. In overlap: time in which at least one kernel of communication ran on the GPU.")      \
    X(RS_H_COST, "cost",                                                                                               \
      "How much later the rank started than all others, summed over operations: what fixing it alone saves, at most.") \
    X(RS_H_INHERITED, "inherited",                                                                                     \
      "Lateness of the rank that an operation on another communicator caused: not part of its cost.")                  \
    X(RS_H_PASSED_ON, "passed on",                                                                                     \
      "Lateness of other ranks that began with this one, through operations on other communicators; part of nobody's " \
      "cost.")                                                                                                         \
    X(RS_H_GPU_TIME_LOST, "GPU time lost", "What all other ranks waited for this one, added up over their GPUs.")      \
    X(RS_H_LAST, "last",                                                                                               \
      "In report: share of its operations in which the rank was last, with the 95 % interval. In ops: the last rank, " \
      "or tie.")                                                                                                       \
    X(RS_H_WHY, "why",                                                                                                 \
      "Reason for lateness: launched late, queued behind compute, held by an earlier collective. For compute: slower " \
      "or more kernels.")                                                                                              \
    X(RS_H_EQUALS, "equals", "Number of ranks that do the same work, with which the rank is compared.")                \
    X(RS_H_COMPUTE, "compute", "Time of kernels that do not communicate. In report: of the rank, in a step.")          \
    X(RS_H_OF_EQUALS, "of equals",                                                                                     \
      "Time of the same kernels per step on the ranks that do the same work, in the median.")                          \
    X(RS_H_LONGER_BY, "longer by", "How much longer than its equals the rank computes per step, in the median.")       \
    X(RS_H_RATIO, "ratio", "Compute time of the rank over that of its equals, with the 95 % interval.")                \
    X(RS_H_STEPS, "steps", "Number of steps; for compute: in how many of them the rank took longer.")                  \
    X(RS_H_PEER, "peer", "Rank at the other end of the connection; \"?\": unknown.")                                   \
    X(RS_H_MESSAGES, "messages", "Network transfers sent to the peer; \"-\": it only received.")                       \
    X(RS_H_NET_RATE, "net GB/s",                                                                                       \
      "Bytes over the time on the network, of single messages: several are in flight at once.")                        \
    X(RS_H_OWN_GPU, "own GPU",                                                                                         \
      "Network steps: the sender's GPU had not filled the buffer yet (ProxyStepSendGPUWait).")                         \
    X(RS_H_CREDIT, "credit",                                                                                           \
      "Network steps: the receiver had no free buffer, so that the sender had to wait (ProxyStepSendPeerWait).")       \
    X(RS_H_NET, "net", "Network steps: data was on the network and not acknowledged (ProxyStepSendWait).")             \
    X(RS_H_RECEIVE, "receive",                                                                                         \
      "Network steps: the receiver waited for data from the sender or the network (ProxyStepRecvWait).")               \
    X(RS_H_FLUSH, "flush",                                                                                             \
      "Network steps: data had arrived, and was made visible to the GPU (ProxyStepRecvFlushWait).")                    \
    X(RS_H_CONSUME, "consume",                                                                                         \
      "Network steps: data had arrived, and the receiver's GPU had not consumed it (ProxyStepRecvGPUWait).")           \
    X(RS_H_STEP, "step",                                                                                               \
      "Number of the step in the run, from 0; (#12): the framework's own number. In whatif: its length after the "     \
      "change.")                                                                                                       \
    X(RS_H_AT, "at", "Time after the run's first event, as --at, --from and --to take it.")                            \
    X(RS_H_TOOK, "took", "How long the step, or the compilations, took.")                                              \
    X(RS_H_USUAL, "usual", "Median length of a step of this run.")                                                     \
    X(RS_H_WHAT_DIFFERED, "what differed",                                                                             \
      "What was longer in this step than in the others: a transfer, a pause of ranks outside NCCL, a wait.")           \
    X(RS_H_FROM, "from", "In report --every: begin of the window. In comms: the communicator that it was split from.") \
    X(RS_H_WAIT, "wait",                                                                                               \
      "Time before the last rank started. In report --every: share of GPU time. In statistics: time above the "        \
      "fastest process.")                                                                                              \
    X(RS_H_WORST_RANK, "worst rank", "Rank with the largest cost in the window; \"-\": none.")                         \
    X(RS_H_TIME, "time", "Total time of the row; of critical: time on the path.")                                      \
    X(RS_H_AVG, "avg", "Mean time of a call.")                                                                         \
    X(RS_H_MIN, "min", "Shortest call.")                                                                               \
    X(RS_H_MAX, "max", "Longest call.")                                                                                \
    X(RS_H_NAME, "name", "Name as in the trace, long ones cut in the middle; of a communicator, its name.")            \
    X(RS_H_DIFFERS_BY, "differs by", "Largest minus smallest time of this host call among the processes.")             \
    X(RS_H_RANGE, "range", "Annotation (NVTX) of the program.")                                                        \
    X(RS_H_GPU_TIME_INSIDE, "GPU time inside", "Time of GPU work that was launched in the range; \"-\": none.")        \
    X(RS_H_GPU_TIME, "GPU time",                                                                                       \
      "Time on the GPU: of a kernel, per rank; of work launched inside an annotation, over all ranks.")                \
    X(RS_H_RANKS, "ranks",                                                                                             \
      "Number of ranks; in comms, of those, how many left a recording; in clocks: ranks of the process.")              \
    X(RS_H_REFERENCE, "reference",                                                                                     \
      "Bus bandwidth of the reference table (nccl-tests), for this function, size and number of ranks, in GB/s.")      \
    X(RS_H_ACHIEVED, "achieved", "Bus bandwidth in GB/s after the last rank started.")                                 \
    X(RS_H_OF_REF, "of ref", "Share of the reference bandwidth that the column before it reaches.")                    \
    X(RS_H_SPAN, "span", "From the first to the last event.")                                                          \
    X(RS_H_OVERLAP, "overlap", "Part of communication with concurrent compute, in percent of communication.")          \
    X(RS_H_EXPOSED, "exposed",                                                                                         \
      "Communication without concurrent compute: wait + transfer + unknown. It makes the step longer.")                \
    X(RS_H_UNKNOWN, "unknown",                                                                                         \
      "Exposed communication that cannot be divided: operation not joined, clocks apart, or below the error.")         \
    X(RS_H_IDLE, "idle", "No kernel, copy or memory set runs; in pipelines: between two chunks.")                      \
    X(RS_H_CHUNKS, "chunks", "Number of chunks that went through the pipeline, without those of the warm-up.")         \
    X(RS_H_PERIOD, "period", "Median time from the start of one chunk of a pipeline to that of the next.")             \
    X(RS_H_HIDDEN, "hidden", "Sum of the stages minus the period, of the medians: what chunks do at the same time.")   \
    X(RS_H_BUBBLE, "bubble", "Period minus the sum of the stages, of the medians: no stage is busy then.")             \
    X(RS_H_SCORE, "score",                                                                                             \
      "(sum of stages - period) / (sum - longest stage): 0 one stage after the other, 1 perfectly pipelined.")         \
    X(RS_H_LOWEST_MEDIAN, "lowest median", "Median time of a call on the rank on which it is shortest.")               \
    X(RS_H_HIGHEST, "highest", "Median time of a call on the rank on which it is longest.")                            \
    X(RS_H_ON_RANK, "on rank", "Rank on which the annotation or kernel takes longest.")                                \
    X(RS_H_OF_STEP, "of step", "Share of a step that the annotation takes on that rank.")                              \
    X(RS_H_ANNOTATION, "annotation",                                                                                   \
      "Range of the program on a host thread (record_function, NVTX), cut in its middle where long.")                  \
    X(RS_H_KERNELS_PER_STEP, "kernels per step", "Compute kernels that a rank ran in a step, in the mean.")            \
    X(RS_H_MEDIAN_KERNEL, "median kernel", "Median duration of compute kernels: short ones make launches matter.")     \
    X(RS_H_LAUNCH_GAPS, "launch gaps",                                                                                 \
      "GPU idle for 2 to 100 us because the next launch came late: the host cannot launch faster.")                    \
    X(RS_H_HOST_GAPS, "host gaps", "GPU idle for more than 100 us because the host launched nothing.")                 \
    X(RS_H_OTHER_GAPS, "other gaps", "GPU idle although work was launched: it waited for another stream or a copy.")   \
    X(RS_H_SERIALISING_CALLS, "serialising calls",                                                                     \
      "Time of host calls that wait for the GPU, or allocate or free its memory.")                                     \
    X(RS_H_MOSTLY, "mostly", "The serialising call that took most of that time, and how often it was called.")         \
    X(RS_H_STAGES, "stages", "Consecutive stages of a pipeline on one rank.")                                          \
    X(RS_H_OF_PERIOD, "of period", "Idle time before a chunk, in percent of the period of the pipeline.")              \
    X(RS_H_WAITS_FOR, "waits for",                                                                                     \
      "Stages that caused the idle time, with their share of it; itself: its input was there.")                        \
    X(RS_H_BOUND_BY, "bound by",                                                                                       \
      "Why the GPU is idle: launches (many short kernels), or the host, which launches nothing.")                      \
    X(RS_H_HOST_WAS_IN, "the host was in",                                                                             \
      "Innermost call or annotation of the host that covers half of the stretch.")                                     \
    X(RS_H_KERNELS, "kernels", "Kernels, copies and memory sets in the stretch.")                                      \
    X(RS_H_COMPILED_CALLS, "compiled calls", "Calls of code that torch.compile made.")                                 \
    X(RS_H_GRAPH_BREAKS, "graph breaks", "How often a call of compiled code went on in another graph.")                \
    X(RS_H_COMPILATIONS, "compilations", "Compilations by torch.compile during the profile.")                          \
    X(RS_H_RECOMPILATIONS, "recompilations", "Of the compilations, those of code that had been compiled before.")      \
    X(RS_H_LONGEST, "longest", "Longest single call or compilation.")                                                  \
    X(RS_H_MEDIAN, "median", "Median time of a call.")                                                                 \
    X(RS_H_KERNEL, "kernel", "Name of a kernel, or what was copied or set; long ones are cut in the middle.")          \
    X(RS_H_OF_GPU, "of GPU", "Share of the time of all kernels and copies of the process.")                            \
    X(RS_H_METRIC, "metric", "Name of a metric in the log of a tool.")                                                 \
    X(RS_H_MEAN, "mean", "Mean of a metric.")                                                                          \
    X(RS_H_OF, "of", "Kernel, or table, that a metric is of.")                                                         \
    X(RS_H_OF_LINK, "of link", "Share of the nominal rate of a link (--link) that the column before it reaches.")      \
    X(RS_H_PPM, "ppm",                                                                                                 \
      "Rate of the clock before it relative to the common axis, in parts per million; positive: it runs fast.")        \
    X(RS_H_OFFSET, "offset", "From the host's clock to the common axis, in the middle of the run.")                    \
    X(RS_H_ERROR, "error", "How wrong a time of the host's clock may be on the common axis.")                          \
    X(RS_H_GPU_OFFSET, "GPU offset", "From the GPU's timer to the common axis, in the middle of the run.")             \
    X(RS_H_GPU_ERROR, "GPU error", "How wrong a time of the GPU's timer may be on the common axis.")                   \
    X(RS_H_READ_LATE, "read late",                                                                                     \
      "Median time from a GPU timer's value to the callback that brought it: the polling of NCCL's proxy thread.")     \
    X(RS_H_P99_LATE, "p99 late", "99 of 100 GPU timers were read within this time by NCCL's proxy thread.")            \
    X(RS_H_STALE, "stale", "GPU timers that belong to other work: recognised, counted and not used.")                  \
    X(RS_H_METHOD, "method", "What the clock was aligned by.")                                                         \
    X(RS_H_JOB_RANKS, "job ranks", "Ranks of the job in the communicator, in its order.")                              \
    X(RS_H_NODES, "nodes", "Hosts of the communicator.")                                                               \
    X(RS_H_CREATED, "created", "When the communicator was created, after the run's first event.")                      \
    X(RS_H_LIFETIME, "lifetime", "From its creation to its destruction; \"-\": not destroyed, or not recorded.")       \
    X(RS_H_SPLIT_FROM_OTHERS, "split from others", "How many of them were split from another communicator.")           \
    X(RS_H_EACH, "each",                                                                                               \
      "What communicators of this row have in common: number of ranks, their distance, and the name.")                 \
    X(RS_H_SHARE, "share", "Of a path, of the time in steps (whatif), or of the GPU time (top kernels).")              \
    X(RS_H_SEGMENTS, "segments", "Pieces of the critical path that this row adds up.")                                 \
    X(RS_H_KIND, "kind",                                                                                               \
      "What the path is made of: compute, copy, transfer, host, outside NCCL...; (tie): another rank may have been "   \
      "the last.")                                                                                                     \
    X(RS_H_DURATION, "duration", "Length of the segment.")                                                             \
    X(RS_H_HERE, "here", "Rank in the communicator of the operation; `rank` is that of the job.")                      \
    X(RS_H_STATE, "state", "How far the rank came in the pending operation; <--: it is held by nothing in NCCL.")      \
    X(RS_H_FOR, "for", "How long; in hang: when its recording ends; \"-\": unknown, or not so any more.")              \
    X(RS_H_CALLED_LAST, "called last, or is in",                                                                       \
      "The operation that the rank is in instead, else the last that it called.")                                      \
    X(RS_H_CALLBACKS, "callbacks", "Calls of NCCL that the process recorded.")                                         \
    X(RS_H_LOST, "lost",                                                                                               \
      "Callbacks that found no room in memory or on disk: they are counted, and not in the recording.")                \
    X(RS_H_THREADS, "threads", "Threads that made callbacks.")                                                         \
    X(RS_H_CLOCK_SAMPLES, "clock samples", "How often the process compared its clocks.")                               \
    X(RS_H_CLOCK_ERROR, "clock error",                                                                                 \
      "How wrong a time may be: of the clocks of a process, or of the comparison of ranks.")                           \
    X(RS_H_RECORDER_SHARE, "recorder share",                                                                           \
      "Callbacks times the measured cost of one, and the CPU time of the recorder\'s thread, over the time that the "  \
      "process recorded.")                                                                                             \
    X(RS_H_ENDED, "ended",                                                                                             \
      "How the process ended: cleanly, killed, replaced by execve; or running, idle (no communicator is left).")       \
    X(RS_H_FILE, "file", "Path of the input.")                                                                         \
    X(RS_H_FORMAT, "format", "Format of the file, as recognised by its contents.")                                     \
    X(RS_H_READ, "read", "Whether the file could be read to its end.")                                                 \
    X(RS_H_COLLECTIVES, "collectives", "Collectives of the process, and calls of them.")                               \
    X(RS_H_SENDS, "sends, receives", "Sends and receives of the process.")                                             \
    X(RS_H_COMPUTE_KERNELS, "compute kernels", "Kernels that do not communicate.")                                     \
    X(RS_H_COMM_KERNELS, "comm kernels", "Kernels of NCCL and of other communication libraries.")                      \
    X(RS_H_COPIES, "copies", "Memory copies and sets.")                                                                \
    X(RS_H_RANGES, "ranges", "Annotations of the program, and steps.")                                                 \
    X(RS_H_HOST_CALLS, "host calls", "Calls of CUDA on the host.")                                                     \
    X(RS_H_STATISTICS, "statistics", "Rows of tables without a time axis.")                                            \
    X(RS_H_OP, "op", "Id of an operation, the same in all commands: --op takes its first digits.")                     \
    X(RS_H_SEQ, "seq", "Number of the operation in its communicator and function.")                                    \
    X(RS_H_FRAMEWORK, "framework", "What the framework calls it: process group, and its number there.")                \
    X(RS_H_ACTIVITY, "activity",                                                                                       \
      "What the rank did at that time: waiting, transferring, running, nothing in NCCL, unknown.")                     \
    X(RS_H_OPERATION, "operation", "Id of the operation that the rank was in; \"-\": none.")                           \
    X(RS_H_TAKEN_OUT, "taken out", "Whose lateness the replay leaves out.")                                            \
    X(RS_H_SAVES, "saves", "How much less time the run takes in the replay.")                                          \
    X(RS_H_AT_LEAST, "at least", "Lower end of the interval: of a saving (95 %); in diff, of a change.")               \
    X(RS_H_AT_MOST, "at most", "Upper end of the interval: of a saving (95 %); in diff, of a change.")                 \
    X(RS_H_SIDE_A, "A", "Side A of diff: the mean of its runs; of a setting, its value there.")                        \
    X(RS_H_SIDE_B, "B", "Side B of diff: the mean of its runs; of a setting, its value there.")                        \
    X(RS_H_CHANGE, "change", "B against A; of waits, shares and scores in percent of the whole, not of A.")            \
    X(RS_H_VERDICT, "verdict",                                                                                         \
      "Faster, slower (better, worse) if the interval does not contain 0; \"-\": not judged.")                         \
    X(RS_H_SETTING, "setting", "Environment variable or version; or what NCCL chose for a function.")                  \
    X(RS_H_MAY_EXPLAIN, "may explain", "What differs beyond noise that the setting influences.")                       \
    X(RS_H_RUN, "run", "Length of the replayed run.")
/* clang-format on */

enum rs_heading {
    RS_H_NONE, /* "" */
#define X(id, heading, meaning) id,
    RS_HEADINGS(X)
#undef X
};

const char *rs_heading_text(enum rs_heading heading);

#endif
