/* Terms in ringscope's reports. */
#include "explain/terms.h"

static const struct rs_term terms[] = {
    {"operation", "word",
     "What the ranks of a communicator did together: a collective, a send with its receive, or a fan-out."},
    {"part", "word", "What one rank did in one operation."},
    {"pair", "word", "A send and its receive, found by order: the i-th send from a to b is b's i-th receive from a."},
    {"fan-out", "word",
     "Sends and receives that were called in one group, as one operation: an all-to-all, gather, scatter, or a ring."},
    {"wait", "word", "Time in an operation before its last rank started. The network is not the cause."},
    {"transfer", "word", "Time from the last rank's start to the end: the time of the network and the kernels."},
    {"tie", "word", "The last rank's lead is less than twice the clock error: no rank is called last."},
    {"clock error", "word", "How wrong a time may be on the common axis. Smaller differences are not reported."},
    {"common axis", "word", "The time axis to which all clocks are aligned; about the wall time of one host."},
    {"island", "word", "Clocks that can be compared, since they share operations."},
    {"cost", "word",
     "How much later a rank started than all others, summed over operations: what fixing it alone could save, at "
     "most."},
    {"straggler", "word", "A rank or host that the others wait for; ranked by cost, not by how often it is last."},
    {"layout", "word",
     "How the ranks of a job are divided: tensor (tp), pipeline (pp), data (dp), expert (ep) and context (cp) parallel "
     "groups."},
    {"role", "word",
     "What a rank does per step: the collectives of its communicators, its sends and receives, its stage of the "
     "pipeline."},
    {"equals", "word",
     "Ranks of the same role. A rank is compared with its equals only; one without equals is not judged."},
    {"inherited", "word", "Lateness of a rank caused by an operation on another communicator; counted where it began."},
    {"exposed", "word",
     "Communication without concurrent compute on that GPU: it makes the step longer. Hidden communication does not."},
    {"overlap", "word", "Communication with concurrent compute, in percent of communication time."},
    {"critical path", "word",
     "The chain of work and waits, across ranks, that determines the end of a window. Only what is on it makes the "
     "run shorter when it gets shorter."},
    {"outside", "word",
     "Time of a rank on the critical path that is not in a NCCL operation. Recordings contain no more; a profiler's "
     "trace does."},
    {"unsure", "word", "Time after an operation whose end is only bounded: it may belong to the operation."},
    {"gap", "word", "Time in which nothing is known to have run; or a span in which callbacks were lost."},
    {"host", "word",
     "A machine, identified by its boot id; on the critical path: the GPU had nothing to do while the program ran on "
     "the host."},
    {"bounded", "word",
     "An unknown end that is between two times: after what it is known to outlast, before what must follow it."},
    {"not recorded", "word",
     "A rank is unknown there: lost, overwritten, not requested, or no recording. Never called missing."},
    {"missing", "word", "A rank was recorded at that time, and did not take part."},
    {"coverage", "word", "When which event types were recorded."},
    {"recording", "word", "What the ringscope plugin writes: HOST.PID.rsc, one file per process."},
    {"live file", "word", "HOST.PID.live: the newest callbacks of a process that is running, or was killed."},
    {"bus bandwidth", "word",
     "Bandwidth times a factor of the function, as in nccl-tests: the load on the hardware's links."},
    {"channel", "word", "A slice of an operation with its own blocks of the kernel and its own connections."},
    {"proxy", "word", "NCCL's host thread that moves data between GPU and network."},
    {"PXN", "word", "A process sends through another GPU's network card: that process's proxy does the work."},
    {"replay", "word", "A run of a CUDA graph; its operations were called once, at capture."},
    {"process group", "word", "PyTorch's name for a communicator, with a number and a description."},
    {"hull", "word", "How far a clock could be moved before an effect preceded its cause."},
    {"bar", "word", "On the timeline: one event from its start to its end; of an operation, what one rank did in it."},
    {"lane", "word",
     "On the timeline: bars of one channel, thread or stream that do not overlap; overlapping ones get a further "
     "lane."},
    {"row", "word", "On the timeline: lanes of one kind (operations, calls, GPU channels...): what --rows names."},
    {"fade", "word",
     "On the timeline: an end that is only bounded fades from its earliest to its latest possible time."},
    {"torn edge", "word",
     "On the timeline: the beginning of a bar is unknown, and it is drawn from its launch or call; or it had not "
     "ended."},
    {"last", "word",
     "The rank that started last in an operation, by more than the clock error: all others waited for it."},
    {"flag", "word", "On the timeline: when a communicator was created or destroyed."},
    {"bundle", "word", "The timeline as bytes for its page: what `view` writes into a file and `serve` serves."},
    {"step", "word", "A repetition of a training loop; or one chunk on its way through the network (ProxyStep)."},
};

const struct rs_term_table rs_terms_words = {"words", "words of ringscope's reports", NULL, terms,
                                             sizeof terms / sizeof *terms};
