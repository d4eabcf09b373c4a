/* Events and states of NCCL's profiler interface: what a recording of ringscope is made of. */
#include "explain/terms.h"

static const struct rs_term terms[] = {
    {"Group", "event",
     "One plan of work that NCCL launches as a kernel; parent of the operations in it. Gone from the example "
     "profiler's dumps since 2.28."},
    {"Coll", "event",
     "A collective of one rank, from being scheduled to being enqueued. Its stop is not its end: the work ends with "
     "its KernelCh or ProxyOp events."},
    {"P2p", "event",
     "A send or a receive of one rank. NCCL gives it no number, so its other end is found by order: the i-th send to a "
     "peer is the peer's i-th receive."},
    {"ProxyOp", "event",
     "What the proxy thread does for one channel and peer of an operation that crosses the network. Sends and receives "
     "have one each."},
    {"ProxyStep", "event",
     "One chunk of a ProxyOp on its way through the network; its states tell whom it waits for. Several are in flight "
     "at once."},
    {"ProxyCtrl", "event",
     "What the proxy thread does apart from moving data: idle, asleep, taking new work. Many, and rarely of use; left "
     "out by default."},
    {"KernelCh", "event",
     "One channel of an operation's kernel on the GPU, with the GPU's own timer at start and stop. The best start and "
     "end of an operation there is."},
    {"NetPlugin", "event",
     "Something that the network plugin itself reports below a ProxyStep, such as a queue pair's or a socket's "
     "transfer. Only where NCCL was built for it."},
    {"GroupApi", "event",
     "A group call of the program (ncclGroupStart to ncclGroupEnd, or the one around a single call). It is handed to "
     "one communicator even when it spans several."},
    {"CollApi", "event", "The program's call of a collective, on the host. When it was asked for, not when it ran."},
    {"P2pApi", "event",
     "The program's call of a send or receive, on the host. It does not name the peer; the P2p event below it does."},
    {"KernelLaunch", "event",
     "The launch of the kernel of a group, on the host. From here to the kernel's start it waits for its stream."},
    {"CeColl", "event",
     "A collective that copy engines do instead of a kernel. NCCL tells when it was enqueued and nothing of its end."},
    {"CeSync", "event", "A synchronisation between ranks of a copy-engine collective, as it is enqueued."},
    {"CeBatch", "event", "A batch of copies of a copy-engine collective, as it is enqueued."},
    {"KernelPhase", "event",
     "A phase of a kernel on one channel (first synchronisation, compute, last synchronisation), with GPU timers. From "
     "version 7 of the interface (NCCL 2.31)."},
    {"ProxyOpSendPosted", "state", "The send side has posted buffers. Only NCCL 2.23 to 2.26 tell this."},
    {"ProxyOpSendRemFifoWait", "state",
     "The send side waits for room at the receiver. Only NCCL 2.23 to 2.26 tell this."},
    {"ProxyOpSendTransmitted", "state", "A chunk was handed to the network. Only NCCL 2.23 to 2.26 tell this."},
    {"ProxyOpSendDone", "state", "The network is done with a chunk. Only NCCL 2.23 to 2.26 tell this."},
    {"ProxyOpRecvPosted", "state",
     "The receive side has posted a buffer to the network. Only NCCL 2.23 to 2.26 tell this."},
    {"ProxyOpRecvReceived", "state", "A chunk came in. Only NCCL 2.23 to 2.26 tell this."},
    {"ProxyOpRecvTransmitted", "state", "A chunk was made visible to the GPU. Only NCCL 2.23 to 2.26 tell this."},
    {"ProxyOpRecvDone", "state", "The GPU took a chunk. Only NCCL 2.23 to 2.26 tell this."},
    {"ProxyOpInProgress", "state",
     "The proxy thread began to move data for the operation; before, it was only scheduled. Since NCCL 2.27."},
    {"ProxyStepSendGPUWait", "state",
     "A send step waits for its own GPU to fill the buffer: the network is not to blame, the kernel (or what it waits "
     "for) is."},
    {"ProxyStepSendPeerWait", "state",
     "A send step waits for the receiver to say that it has room (credit): the receiver is behind."},
    {"ProxyStepSendWait", "state",
     "A send step's data is on the network and not acknowledged yet: time of the network itself."},
    {"ProxyStepRecvWait", "state",
     "A receive step waits for data: the sender has not sent, or the network is slow. The sender's steps tell which."},
    {"ProxyStepRecvFlushWait", "state", "Data arrived, and a flush makes it visible to the GPU (GPUDirect RDMA)."},
    {"ProxyStepRecvGPUWait", "state", "Data is there, and the own GPU has not consumed it yet."},
    {"ProxyCtrlIdle", "state", "The proxy thread has nothing to move forward."},
    {"ProxyCtrlActive", "state", "The proxy thread moves operations forward."},
    {"ProxyCtrlSleep", "state",
     "The proxy thread sleeps until new work is posted. The end of its last sleep is where destruction of the "
     "communicator begins."},
    {"ProxyCtrlWakeup", "state", "The proxy thread was woken."},
    {"ProxyCtrlAppend", "state", "The proxy thread begins to take over operations that were posted."},
    {"ProxyCtrlAppendEnd", "state", "The proxy thread has taken over posted operations, and says how many."},
    {"NetPluginUpdate", "state", "The network plugin says more of one of its events."},
    {"KernelChStop", "state",
     "Carries the GPU's timer at the end of a channel. The callback comes later than that, by the polling of the proxy "
     "thread."},
    {"GroupStartApiStop", "state", "ncclGroupStart returned."},
    {"GroupEndApiStart", "state", "ncclGroupEnd was called: the calls of the group are complete."},
    {"CeCollStart", "state", "Defined for copy-engine collectives; NCCL does not send it so far."},
    {"CeCollComplete", "state", "Defined for copy-engine collectives; NCCL does not send it so far."},
    {"CeSyncStart", "state", "Defined for synchronisations of copy-engine collectives; NCCL does not send it so far."},
    {"CeSyncComplete", "state",
     "Defined for synchronisations of copy-engine collectives; NCCL does not send it so far."},
    {"CeBatchStart", "state", "Defined for batches of copy-engine collectives; NCCL does not send it so far."},
    {"CeBatchComplete", "state", "Defined for batches of copy-engine collectives; NCCL does not send it so far."},
    {"KernelPhaseStop", "state", "Carries the GPU's timer at the end of a kernel's phase (version 7)."},
    {"seqNumber", "field",
     "NCCL's number of a collective: it counts per communicator and per function, from 0. Captured graphs do not "
     "advance it on every replay."},
    {"commHash", "field",
     "NCCL's 64-bit number of a communicator, the same on all its ranks. Above 2^53: tools that read numbers as "
     "doubles change it."},
    {"pTimer", "field",
     "A GPU's own nanosecond timer. Timers of two GPUs are not one clock, not even on one host: they may be seconds "
     "apart."},
    {"nChannels", "field",
     "How many channels (blocks of the kernel, each with its own ring or tree) an operation uses; as many KernelCh "
     "events are to be expected."},
    {"algo", "field", "Algorithm of a collective: RING, TREE, NVLS, NVLS_TREE, PAT, COLLNET_DIRECT, COLLNET_CHAIN."},
    {"proto", "field",
     "Protocol of a collective: LL (low latency, half the bandwidth), LL128, SIMPLE (full bandwidth, large messages)."},
    {"AllReduce", "value",
     "Every rank gets the reduction of all ranks' buffers. Its bus bandwidth is 2(n-1)/n times bytes over time."},
    {"AllGather", "value",
     "Every rank gets all ranks' shares. NCCL counts one rank's share; `bytes` of ringscope is that times n."},
    {"ReduceScatter", "value",
     "Every rank gets its share of the reduction. NCCL counts one rank's share; `bytes` of ringscope is that times n."},
    {"Broadcast", "value",
     "All ranks get the root's buffer; a rank waits for the root, not for others. Some versions of NCCL report the "
     "call and no more."},
    {"Reduce", "value", "The root gets the reduction; only the root waits for all."},
    {"Send", "value", "One side of a message between two ranks. With its receive it is a pair."},
    {"Recv", "value", "The other side of a send. It begins to wait as soon as its kernel starts."},
    {"SendRecv", "value", "Sends and receives of one group call together, or a send with its receive."},
    {"AlltoAll", "value",
     "Every rank sends a part to every other: as many sends and receives in one group, or one call of newer NCCL."},
    {"ncclFloat32", "value",
     "Element type of 4 bytes. Names are NCCL's; \"Unknown\" is what NCCL calls ncclUint8, so 1 byte."},
};

const struct rs_term_table rs_terms_nccl = {"ringscope",
                                            "recording of ringscope: callbacks of NCCL's profiler interface",
                                            "Every callback of the event types asked for, with losses counted; GPU "
                                            "timers, network steps. Not: kernels that are not "
                                            "NCCL's, host code, reduction operators.",
                                            terms, sizeof terms / sizeof *terms};
