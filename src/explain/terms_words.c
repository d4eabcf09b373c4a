/* The words that ringscope's reports use. */
#include "explain/terms.h"

static const struct rs_term terms[] = {
    {"operation", "word",
     "What the ranks of a communicator did together: a collective, a send with its receive, or a fan-out."},
    {"part", "word", "What one rank did in one operation."},
    {"pair", "word", "A send and its receive, found by order: the i-th send from a to b is b's i-th receive from a."},
    {"fan-out", "word",
     "Sends and receives that were called in one group, as one operation: an all-to-all, gather, scatter, or a ring."},
    {"wait", "word", "Time in an operation before its last rank started: nothing could move. Not the network's fault."},
    {"transfer", "word", "Time from the last rank's start to the end: what the network and the kernels took."},
    {"tie", "word", "The last rank came less than twice the clock error after the next: it is not called last."},
    {"clock error", "word", "How wrong a time may be on the common axis. Nothing smaller than it is claimed."},
    {"common axis", "word", "The one time that all clocks are brought onto; about the wall time of one host."},
    {"island", "word", "Clocks that can be compared, since they share operations; others are left apart."},
    {"cost", "word",
     "How much later a rank started than all others, summed over operations: what fixing it alone would save, at "
     "most."},
    {"straggler", "word", "A rank or host that the others wait for; ranked by cost, not by how often it is last."},
    {"inherited", "word",
     "Lateness that a rank brought along from an operation on another communicator; charged where it began."},
    {"exposed", "word",
     "Communication while nothing computes on that GPU: it makes the step longer. Hidden communication does not."},
    {"overlap", "word", "Communication while something computes: in percent of communication time."},
    {"critical path", "word",
     "What the end of a window had to wait for, back to its beginning, across ranks. Only what lies on it makes the "
     "run shorter when it gets shorter."},
    {"outside", "word",
     "Time of a rank on the critical path that is not in a NCCL operation. Recordings do not tell more; a profiler's "
     "trace does."},
    {"unsure", "word", "Time behind an operation whose end is only bounded: it may have been in it."},
    {"gap", "word", "Time in which nothing is known to have run; or a span in which callbacks were lost."},
    {"host", "word",
     "A machine, by the identity of its boot; on the critical path: the GPU had nothing to do, and the program was "
     "there."},
    {"bounded", "word",
     "An end that was not told lies between two times: after what it is known to outlast, before what must follow it."},
    {"not recorded", "word",
     "Nothing can be said of a rank there: lost, overwritten, not asked for, or no recording. Never called missing."},
    {"missing", "word", "A rank was recorded at that time, and did not come."},
    {"coverage", "word", "When which event types were recorded."},
    {"recording", "word", "What the ringscope plugin writes: HOST.PID.rsc, one a process."},
    {"live file", "word", "HOST.PID.live: the newest callbacks of a process that runs, or was killed."},
    {"bus bandwidth", "word",
     "Bandwidth times a factor of the function, as nccl-tests have it: what the hardware's links had to carry."},
    {"channel", "word", "A slice of an operation with its own blocks of the kernel and its own connections."},
    {"proxy", "word", "NCCL's host thread that moves data between GPU and network."},
    {"PXN", "word", "A process sends through another GPU's network card: that process's proxy does the work."},
    {"replay", "word", "A run of a CUDA graph; its operations were called once, at capture."},
    {"process group", "word", "PyTorch's name for a communicator, with a number and a description."},
    {"hull", "word", "How far a clock could be moved before an effect came before its cause."},
    {"step", "word", "A repetition of a training loop; or one chunk on its way through the network (ProxyStep)."},
};

const struct rs_term_table rs_terms_words = {"words", "words of ringscope's reports", NULL, terms,
                                             sizeof terms / sizeof *terms};
